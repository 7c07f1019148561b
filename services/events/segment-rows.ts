// Cuts the source of a batch into its rows: of calls, to see which are new; of all topics, to find what the engine refuses.

import { batchMembers } from '../core/log/combined-batch.ts'
import type { Batch } from '../core/log/log.ts'
import type { StoredRecord } from '../core/log/segments/read.ts'
import { type BufferPool, concat, freshBuffers } from '../core/memory/buffer-pool.ts'
import { fileBuffers, readInto } from '../core/memory/file-buffers.ts'

/** One row line of a batch, without its newline; the record header is still inside the first row of a record. */
export type SegmentRow = { partition: number; offset: number; rowIndex: number; text: Buffer }

const header = /^\{"_record":"[^"]*",?/

/** The row's JSON text without the record header. */
export const withoutHeader = (text: Buffer): string => text.toString('utf8').replace(header, '{')

/** The text that bytes in a string are. */
export const textOfBytes = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

const newline = Buffer.from('\n')

/** Bytes of some rows as a source of their own. */
export const sourceOf = (rows: readonly SegmentRow[]): { bytes: Buffer[] } => ({
  bytes: rows.flatMap((row) => [row.text, newline]),
})

const time = /"(?:started_us|payload_us)":(\d+)/

/** Start time of a row of calls, in microseconds; null for one that has none of its own. */
export function timeUsOf({ text }: Pick<SegmentRow, 'text'>): number | null {
  // Only ids and the record's header come before the times.
  const us = time.exec(text.toString('latin1', 0, 4096))?.[1]
  return us === undefined ? null : Number(us)
}

const recordHeader = Buffer.from('{"_record":"')
const wholeCall = Buffer.from('"kind":"complete"')

/**
 * Whether it is a fragment of a call, which others may complete. The writer of calls puts the kind first, after the record
 * header in the first row of a record; further on the same bytes may be a client's.
 */
export function isPatch({ text }: Pick<SegmentRow, 'text'>): boolean {
  const hasHeader = recordHeader.compare(text, 0, recordHeader.length) === 0
  const kindAt = hasHeader ? text.indexOf(',', text.indexOf('"', recordHeader.length)) + 1 : 1
  return wholeCall.compare(text, kindAt, kindAt + wholeCall.length) !== 0
}

function rowEnd(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(10, at)
  return end === -1 ? bytes.length : end
}

function* rowsIn(bytes: Buffer, batch: Batch): Generator<SegmentRow> {
  let at = 0
  for (const { partition, records } of batchMembers(batch))
    for (const record of records)
      for (let rowIndex = 0; rowIndex < record.rowCount; rowIndex++) {
        const end = rowEnd(bytes, at)
        yield { partition, offset: record.offset, rowIndex, text: bytes.subarray(at, end) }
        at = end + 1
      }
}

const bytesOf = async ({ source }: Batch, pool: BufferPool): Promise<Buffer> =>
  'file' in source ? readInto(pool, source.file) : concat(source.bytes, pool.take)

/**
 * The rows of the source, cut as they are asked for, until `use` has ended: their bytes are overwritten then. A row has no
 * raw newline inside (the edge's rule), so one ends it.
 */
export async function withSourceRows<Result>(
  batch: Batch,
  use: (rows: Iterable<SegmentRow>) => Promise<Result>,
): Promise<Result> {
  const bytes = await bytesOf(batch, fileBuffers)
  try {
    return await use(rowsIn(bytes, batch))
  } finally {
    fileBuffers.give(bytes)
  }
}

export const segmentRows = async (batch: Batch): Promise<SegmentRow[]> => [
  ...rowsIn(await bytesOf(batch, freshBuffers), batch),
]

/** The lines of some rows, without their ends. */
export function rowsOfBytes(rows: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < rows.length; ) {
    const end = rowEnd(rows, at)
    lines.push(rows.subarray(at, end))
    at = end + 1
  }
  return lines
}

/** Rows of a record that was read back from a partition of the log. */
export const rowsOfRecord = ({ header: { offset }, rows }: StoredRecord, partition = 0): SegmentRow[] =>
  rowsOfBytes(rows).map((text, rowIndex) => ({ partition, offset, rowIndex, text }))
