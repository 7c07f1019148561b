// Turns light pages into JSON Lines: payloads are read in portions that are small at first and bounded by bytes.

import type { ProjectId } from '../../core/ids.ts'
import type { QueryOptions, Store } from '../../core/store/store.ts'
import { readFeedbackOfCalls } from '../feedback/of-calls.ts'
import { isTooLarge } from '../list-rows.ts'
import type { Expansion } from './expand.ts'
import { type LightRow, place } from './header.ts'
import { type Payload, type PayloadColumn, readPayloads, type Spread } from './payloads.ts'
import type { Page } from './reader.ts'
import { type RecordShape, writeLines } from './record.ts'
import { readTraceSizes } from './trace-sizes.ts'

/** Rows of the first portion of an export, so that its first line comes early; each portion may have four times more. */
const firstRows = 50
const mostRows = 2_000
/** Payload bytes of one portion, as stored; a single larger call goes alone. */
const portionBytes = 8 * 2 ** 20

export type Lines = {
  store: Pick<Store, 'bytes'>
  projectId: ProjectId
  documents: readonly PayloadColumn[]
  shape: RecordShape
  totalSize: boolean
  /** With the feedback of each call. */
  feedback: boolean
  /** Puts values in the places of refs; null = refs stay. */
  expansion: Expansion | null
  /** Long answers begin with a small portion. */
  isLong: boolean
  options: QueryOptions
}

const idOf = (row: LightRow): string => row[place.id]

/** Cuts rows into portions that are read at once. */
export function* portions(rows: readonly LightRow[], mostRowsOf: () => number): Generator<LightRow[]> {
  let start = 0
  while (start < rows.length) {
    const most = mostRowsOf()
    let end = start
    let bytes = 0
    while (end < rows.length && end - start < most) {
      bytes += (rows[end] as LightRow)[place.bytes]
      if (bytes > portionBytes && end > start) break
      end++
    }
    yield rows.slice(start, end)
    start = end
  }
}

type Portion = { shape: RecordShape; rows: readonly LightRow[]; payloads: readonly Payload[] }
type Reading = { rows: readonly LightRow[]; spread: Spread; portion: Promise<Portion> }

/** Lines of a portion; expanded payloads may be much larger than stored ones, so they go out in pieces. */
async function* written(
  { shape, rows, payloads }: Portion,
  expansion: Expansion | null,
  isFirst: boolean,
): AsyncGenerator<Buffer> {
  if (!expansion) {
    yield writeLines(shape, rows, payloads)
    return
  }
  await expansion.resolve(payloads, isFirst)
  let from = 0
  let bytes = 0
  let piece: Payload[] = []
  for (const [n, payload] of payloads.entries()) {
    const expanded = expansion.expanded(payload)
    piece.push(expanded)
    for (const text of Object.values(expanded)) bytes += text.length
    if (bytes < portionBytes && n < payloads.length - 1) continue
    yield writeLines(shape, rows.slice(from, n + 1), piece)
    from = n + 1
    bytes = 0
    piece = []
  }
}

/** One chunk of whole lines per portion; the next portion is read while the last one is written out. */
export async function* linesOf(pages: AsyncIterable<Page>, lines: Lines): AsyncGenerator<Buffer> {
  const { store, projectId, documents, shape, expansion, options } = lines
  let isFirst = true
  let most = (lines.isLong ? firstRows : mostRows) / 4
  const grow = () => {
    most = Math.min(mostRows, most * 4)
    return Math.ceil(most)
  }
  const chunk = async (rows: readonly LightRow[], spread: Spread): Promise<Portion> => {
    const [payloads, totalSizes, feedback] = await Promise.all([
      readPayloads(store, projectId, rows, documents, spread, options),
      lines.totalSize ? readTraceSizes({ store, options }, projectId, rows) : null,
      lines.feedback ? readFeedbackOfCalls({ store, options }, projectId, rows.map(idOf), shape.prefix) : null,
    ])
    return { shape: { ...shape, totalSizes, feedback }, rows, payloads }
  }
  const begin = (rows: readonly LightRow[], spread: Spread): Reading => {
    const portion = chunk(rows, spread)
    // It is awaited in its turn; until then a failure must not count as unhandled.
    portion.catch(() => {})
    return { rows, spread, portion }
  }
  /** What was given to calls is not among the bytes of a portion: one that has too much of it is read in halves. */
  async function* write({ rows, spread, portion }: Reading): AsyncGenerator<Buffer> {
    const read = await portion.catch((error: unknown) => {
      if (lines.feedback && rows.length > 1 && isTooLarge(error)) return null
      throw error
    })
    if (read !== null) {
      const pieces = written(read, expansion, isFirst)
      isFirst = false
      yield* pieces
      return
    }
    const half = Math.ceil(rows.length / 2)
    for (const some of [rows.slice(0, half), rows.slice(half)]) yield* write(begin(some, spread))
  }
  let pending: Reading | null = null
  try {
    for await (const { rows, spread } of pages) {
      for (const portion of portions(rows, documents.length === 0 ? () => mostRows : grow)) {
        const ready = pending
        pending = begin(portion, spread)
        if (ready) yield* write(ready)
      }
    }
    const last = pending
    pending = null
    if (last) yield* write(last)
  } finally {
    await pending?.portion.catch(() => {})
  }
}

/** The same lines, after the first chunk was found without error. */
export async function started(lines: AsyncGenerator<Buffer>): Promise<AsyncIterable<Buffer>> {
  const first = await lines.next()
  async function* rest(): AsyncGenerator<Buffer> {
    try {
      if (first.done) return
      yield first.value
      yield* lines
    } finally {
      await lines.return(undefined)
    }
  }
  return rest()
}
