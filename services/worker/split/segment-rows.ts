// Reads the rows of a batch's source one by one, for the rare cases in which the engine refuses the whole of it.
import { readFile } from 'node:fs/promises'
import type { Batch } from '../../core/log/log.ts'
import type { StoredRecord } from '../../core/log/segments/read.ts'
import { membersOf } from '../combined-batch.ts'

/** One row line of a batch, without its newline; the record header is still inside the first row of a record. */
export type SegmentRow = { partition: number; offset: number; rowIndex: number; text: Buffer }

const header = /^\{"_record":"[^"]*",?/

/** The row's JSON text without the record header. */
export const withoutHeader = (text: Buffer): string => text.toString('utf8').replace(header, '{')

const recordHeader = Buffer.from('{"_record":"')
const wholeCall = Buffer.from('"kind":"complete"')

/**
 * Whether it is a part of a call that others may complete. The writer of calls puts the kind first, after the record
 * header in the first row of a record; further on the same bytes may be a client's.
 */
export function isPatch({ text }: SegmentRow): boolean {
  const hasHeader = recordHeader.compare(text, 0, recordHeader.length) === 0
  const kindAt = hasHeader ? text.indexOf(',', text.indexOf('"', recordHeader.length)) + 1 : 1
  return wholeCall.compare(text, kindAt, kindAt + wholeCall.length) !== 0
}

/** Splits the source at row ends. A row has no raw newline inside (the edge's rule), so a newline ends a row. */
export async function segmentRows(batch: Batch): Promise<SegmentRow[]> {
  const bytes = 'file' in batch.source ? await readFile(batch.source.file) : Buffer.concat(batch.source.bytes)
  const rows: SegmentRow[] = []
  let at = 0
  for (const { partition, records } of membersOf(batch))
    for (const record of records)
      for (let rowIndex = 0; rowIndex < record.rowCount; rowIndex++) {
        const newline = bytes.indexOf(10, at)
        const end = newline === -1 ? bytes.length : newline
        rows.push({ partition, offset: record.offset, rowIndex, text: bytes.subarray(at, end) })
        at = end + 1
      }
  return rows
}

/** Rows of a record that was read back from a partition of the log. */
export function rowsOfRecord({ header: { offset }, rows }: StoredRecord, partition = 0): SegmentRow[] {
  const found: SegmentRow[] = []
  for (let at = 0, rowIndex = 0; at < rows.length; rowIndex++) {
    const newline = rows.indexOf(10, at)
    const end = newline === -1 ? rows.length : newline
    found.push({ partition, offset, rowIndex, text: rows.subarray(at, end) })
    at = end + 1
  }
  return found
}
