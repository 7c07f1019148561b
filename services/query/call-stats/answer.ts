// Writes the answer of a time series bucket by bucket, so that a long one neither fills the memory nor holds up others.
import type { Reply } from '../../core/http/route.ts'
import { pieceBytes, turn } from '../feedback/answer.ts'

type Line = Record<string, string | number | null>

async function* pieces(head: object, lists: Readonly<Record<string, Iterable<Line>>>): AsyncGenerator<Buffer> {
  let text = JSON.stringify(head).slice(0, -1)
  for (const [key, lines] of Object.entries(lists)) {
    text += `,"${key}":[`
    let before = ''
    for (const line of lines) {
      text += before + JSON.stringify(line)
      before = ','
      if (text.length < pieceBytes) continue
      yield Buffer.from(text)
      text = ''
      await turn()
    }
    text += ']'
  }
  yield Buffer.from(`${text}}`)
}

/** One JSON object: the members of `head`, then the lists, whose lines are made as they are written. */
export async function seriesReply(
  head: object,
  lists: Readonly<Record<string, Iterable<Line>>>,
  headers: Record<string, string>,
): Promise<Reply> {
  const rest = pieces(head, lists)
  const first = (await rest.next()).value as Buffer
  const second = await rest.next()
  if (second.done) return { jsonText: first, headers }
  async function* bytes(): AsyncGenerator<Buffer> {
    yield first
    yield second.value as Buffer
    yield* rest
  }
  return { bytes: bytes(), contentType: 'application/json', headers }
}
