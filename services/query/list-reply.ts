// Answers whose list may be long: one JSON document, sent in pieces when it does not come in one.
import type { Reply } from '../core/http/route.ts'

/** Bytes of stored values that one statement reads. */
const batchBytes = 8 * 1024 * 1024

/** Splits what is to be read so that each batch stays small; a single large value is a batch by itself. */
export function batchesBySize<T>(
  all: readonly T[],
  sizeOf: (one: T) => number,
  most = 5_000,
  maxSize = batchBytes,
): T[][] {
  const found: T[][] = []
  let batch: T[] = []
  let total = 0
  for (const one of all) {
    const size = sizeOf(one)
    if (batch.length > 0 && (total + size > maxSize || batch.length >= most)) {
      found.push(batch)
      batch = []
      total = 0
    }
    batch.push(one)
    total += size
  }
  if (batch.length > 0) found.push(batch)
  return found
}

/**
 * `{"<key>":[…]}`. The first pieces are read before the answer begins, so that their faults have a status.
 * @param pieces texts of one or more items, separated by commas
 * @param tail further members, each after a comma, asked for once all items are known
 */
export async function listReply(
  key: string,
  pieces: AsyncGenerator<string | Buffer>,
  headers: Record<string, string>,
  tail: () => string | Promise<string> = () => '',
): Promise<Reply> {
  const first = await pieces.next()
  if (first.done) return { jsonText: `{"${key}":[]${await tail()}}`, headers }
  const second = await pieces.next()
  if (second.done) return { jsonText: `{"${key}":[${first.value}]${await tail()}}`, headers }
  const begin = [first.value, second.value]
  async function* bytes(): AsyncGenerator<Buffer> {
    yield Buffer.from(`{"${key}":[`)
    let isFirst = true
    const comma = Buffer.from(',')
    for (const piece of begin.splice(0)) {
      if (!isFirst) yield comma
      isFirst = false
      yield typeof piece === 'string' ? Buffer.from(piece) : piece
    }
    for await (const piece of pieces) {
      yield comma
      yield typeof piece === 'string' ? Buffer.from(piece) : piece
    }
    yield Buffer.from(`]${await tail()}}`)
  }
  return { bytes: bytes(), contentType: 'application/json', headers }
}

/** `application/jsonl`, unless the client lists only the other one. */
export const linesType = (
  accept: string | undefined,
  preferred: 'application/jsonl' | 'application/x-ndjson',
): 'application/jsonl' | 'application/x-ndjson' => {
  const other = preferred === 'application/jsonl' ? 'application/x-ndjson' : 'application/jsonl'
  return accept?.includes(other) && !accept.includes(preferred) ? other : preferred
}
