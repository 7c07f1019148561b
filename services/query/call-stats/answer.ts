// The text of a time series, line by line.

export type Line = Record<string, string | number | null>

/** One JSON object: the members of `head`, then the lists, whose lines are made as they are written. */
export function* seriesTexts(head: object, lists: Readonly<Record<string, Iterable<Line>>>): Generator<string> {
  yield JSON.stringify(head).slice(0, -1)
  for (const [key, lines] of Object.entries(lists)) {
    yield `,"${key}":[`
    let before = ''
    for (const line of lines) {
      yield before + JSON.stringify(line)
      before = ','
    }
    yield ']'
  }
  yield '}'
}
