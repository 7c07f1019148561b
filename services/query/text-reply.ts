// Answers of JSON text that is made bit by bit: a long one neither fills the memory nor holds up others.
import { setImmediate as turn } from 'node:timers/promises'
import type { Reply } from '../core/http/route.ts'
import { chunkBytes } from './list-rows.ts'

async function* pieces(texts: Iterable<string>): AsyncGenerator<Buffer> {
  let piece = ''
  for (const text of texts) {
    piece += text
    if (piece.length < chunkBytes) continue
    yield Buffer.from(piece)
    piece = ''
    await turn()
  }
  yield Buffer.from(piece)
}

/** @param texts what the answer is made of, in order; those of a long answer are asked for as it is sent */
export async function textReply(texts: Iterable<string>, headers: Record<string, string>): Promise<Reply> {
  const rest = pieces(texts)
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
