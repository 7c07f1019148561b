// Turns light pages into JSON Lines: payloads are read in portions that are small at first and bounded by bytes.

import type { ProjectId } from '../../core/ids.ts'
import type { QueryOptions, Store } from '../../core/store/store.ts'
import type { Document } from '../expression/types.ts'
import { readFeedbackOfCalls } from '../feedback/of-calls.ts'
import { type LightRow, place } from './light.ts'
import { readPayloads, type Spread } from './payloads.ts'
import type { Page } from './plan.ts'
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
  documents: readonly Document[]
  shape: RecordShape
  totalSize: boolean
  /** With the feedback of each call. */
  feedback: boolean
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

/** One chunk of whole lines per portion; the next portion is read while the last one is written out. */
export async function* linesOf(pages: AsyncIterable<Page>, lines: Lines): AsyncGenerator<Buffer> {
  const { store, projectId, documents, shape, options } = lines
  let most = (lines.isLong ? firstRows : mostRows) / 4
  const grow = () => {
    most = Math.min(mostRows, most * 4)
    return Math.ceil(most)
  }
  const chunk = async (rows: LightRow[], spread: Spread): Promise<Buffer> => {
    const [payloads, totalSizes, feedback] = await Promise.all([
      readPayloads(store, projectId, rows, documents, spread, options),
      lines.totalSize ? readTraceSizes({ store, options }, projectId, rows) : null,
      lines.feedback ? readFeedbackOfCalls({ store, options }, projectId, rows.map(idOf), shape.prefix) : null,
    ])
    return writeLines({ ...shape, totalSizes, feedback }, rows, payloads)
  }
  let pending: Promise<Buffer> | null = null
  try {
    for await (const { rows, spread } of pages) {
      for (const portion of portions(rows, documents.length === 0 ? () => mostRows : grow)) {
        const next = chunk(portion, spread)
        // It is awaited in its turn; until then a failure must not count as unhandled.
        next.catch(() => {})
        const ready = pending
        pending = next
        if (ready) yield await ready
      }
    }
    const last = pending
    pending = null
    if (last) yield await last
  } finally {
    await pending?.catch(() => {})
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
