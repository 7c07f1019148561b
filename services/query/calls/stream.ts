// Turns pages of call headers into JSON Lines: payloads are read in batches that are small at first and bounded by bytes.

import type { ProjectId } from '../../core/ids.ts'
import { giveBack } from '../../core/memory/engine-bytes.ts'
import type { QueryOptions, Store } from '../../core/store/store.ts'
import { readFeedbackOfCalls } from '../feedback/of-calls.ts'
import { isTooLarge } from '../list-rows.ts'
import type { RefExpansion } from './expand.ts'
import type { CallHeader } from './header.ts'
import { type CallDocuments, type PayloadColumn, readPayloads, type Spread } from './payloads.ts'
import type { Page } from './reader.ts'
import { type RecordShape, writeLines } from './record.ts'
import { readTraceSizes } from './trace-sizes.ts'

/** Rows of the first batch of an export, so that its first line comes early; each batch may have four times more. */
const firstRows = 50
const maxRows = 2_000
/** Payload bytes of one batch, as stored; a single larger call goes alone. */
const batchBytes = 8 * 2 ** 20

export type Lines = {
  store: Pick<Store, 'bytes'>
  projectId: ProjectId
  documents: readonly PayloadColumn[]
  shape: RecordShape
  totalSize: boolean
  /** Whether to add the feedback of each call. */
  feedback: boolean
  /** Puts values in the places of refs; null = refs stay. */
  expansion: RefExpansion | null
  /** Long answers begin with a small batch. */
  isLong: boolean
  options: QueryOptions
}

/** Cuts rows into batches that are read at once. */
export function* batchesOf(rows: readonly CallHeader[], maxRowsOf: () => number): Generator<CallHeader[]> {
  let start = 0
  while (start < rows.length) {
    const most = maxRowsOf()
    let end = start
    let bytes = 0
    while (end < rows.length && end - start < most) {
      bytes += (rows[end] as CallHeader).bytes
      if (bytes > batchBytes && end > start) break
      end++
    }
    yield rows.slice(start, end)
    start = end
  }
}

type Batch = { shape: RecordShape; rows: readonly CallHeader[]; payloads: readonly CallDocuments[] }
type Reading = { rows: readonly CallHeader[]; spread: Spread; batch: Promise<Batch> }

/** Lines of a batch; expanded payloads may be much larger than stored ones, so they go out in pieces. */
async function* written(
  { shape, rows, payloads }: Batch,
  expansion: RefExpansion | null,
  isFirst: boolean,
): AsyncGenerator<Buffer> {
  if (!expansion) {
    const text = writeLines(shape, rows, payloads)
    giveBack(payloads.flatMap((documents) => Object.values(documents)))
    yield text
    return
  }
  await expansion.resolve(payloads, isFirst)
  let from = 0
  let bytes = 0
  let piece: CallDocuments[] = []
  for (const [n, payload] of payloads.entries()) {
    const expanded = expansion.expanded(payload)
    piece.push(expanded)
    for (const text of Object.values(expanded)) bytes += text.length
    if (bytes < batchBytes && n < payloads.length - 1) continue
    yield writeLines(shape, rows.slice(from, n + 1), piece)
    from = n + 1
    bytes = 0
    piece = []
  }
}

/** One chunk of whole lines per batch; the next batch is searched for and read while one is written out. */
export async function* recordLines(pages: AsyncIterable<Page<CallHeader>>, lines: Lines): AsyncGenerator<Buffer> {
  const { store, projectId, documents, shape, expansion, options } = lines
  let isFirst = true
  let most = (lines.isLong ? firstRows : maxRows) / 4
  const grow = () => {
    most = Math.min(maxRows, most * 4)
    return Math.ceil(most)
  }
  const chunk = async (rows: readonly CallHeader[], spread: Spread): Promise<Batch> => {
    const [payloads, totalSizes, feedback] = await Promise.all([
      readPayloads(store, projectId, rows, documents, spread, options),
      lines.totalSize ? readTraceSizes({ store, options }, projectId, rows, shape.areRoots) : null,
      lines.feedback
        ? readFeedbackOfCalls(
            { store, options },
            projectId,
            rows.map(({ id }) => id),
            shape.prefix,
          )
        : null,
    ])
    return { shape: { ...shape, totalSizes, feedback }, rows, payloads }
  }
  const begin = (rows: readonly CallHeader[], spread: Spread): Reading => {
    const batch = chunk(rows, spread)
    // It is awaited in its turn; until then a failure must not count as unhandled.
    batch.catch(() => {})
    return { rows, spread, batch }
  }
  /** Feedback about calls is not among the bytes of a batch: a batch that has too much of it is read in halves. */
  async function* write({ rows, spread, batch }: Reading): AsyncGenerator<Buffer> {
    const read = await batch.catch((error: unknown) => {
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
  async function* readings(): AsyncGenerator<Reading> {
    for await (const { rows, spread } of pages)
      for (const batch of batchesOf(rows, documents.length === 0 ? () => maxRows : grow)) yield begin(batch, spread)
  }
  const ahead = readings()
  const nextOf = () => {
    const next = ahead.next()
    next.catch(() => {})
    return next
  }
  let next = nextOf()
  try {
    for (let reading = await next; reading.done !== true; reading = await next) {
      // Rows that were found go out at once, however long the search for the next ones takes.
      next = nextOf()
      yield* write(reading.value)
    }
  } finally {
    await next.then(({ value }) => value?.batch).catch(() => {})
    await ahead.return(undefined)
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
