// Long tuple types: a row of more than four values has names, so that no place of it has to be counted.

const rooms = /^(?:services|schemas|scripts)\//

/** Files whose tuples are older than the rule. The list only becomes shorter. */
const earlier = ['services/web/page/calls/value-menu.tsx']

const maxPlaces = 4

/** An element that is a type, with or without a label: it tells a tuple type from a list of values. */
const typed =
  /^(?:\.\.\.)?(?:\w+\??: *)?(?:readonly )?(?:string|number|boolean|bigint|unknown|never|Buffer|\d \| \d)\b(?![(.])/

/** Elements between the bracket at a place and its end. */
function elementsFrom(text: string, start: number): string[] {
  const elements: string[] = []
  let depth = 0
  let from = start + 1
  for (let at = start; at < text.length; at++) {
    const char = text[at] as string
    const isArrow = char === '>' && text[at - 1] === '='
    if ('[({<'.includes(char)) depth++
    else if ('])}>'.includes(char) && !isArrow) depth--
    if (depth === 0 || (char === ',' && depth === 1)) {
      elements.push(text.slice(from, at).trim())
      from = at + 1
    }
    if (depth === 0) break
  }
  return elements.filter((element) => element !== '')
}

/** One line for each tuple type of too many places. @param sources text of each file by its path */
export function tupleFaults(sources: ReadonlyMap<string, string>): string[] {
  return [...sources]
    .filter(([file]) => rooms.test(file) && !earlier.includes(file))
    .flatMap(([file, text]) =>
      [...text.matchAll(/\[/g)].flatMap(({ index }) => {
        const elements = elementsFrom(text, index)
        if (elements.length <= maxPlaces || !elements.some((element) => typed.test(element))) return []
        const line = text.slice(0, index).split('\n').length
        return [`${file}:${line} has a tuple of ${elements.length} places: give its values names`]
      }),
    )
}
