// Rows of the log that are read back, in portions that can be applied at once.
import type { StoredRecord } from '../../core/log/segments/read.ts'
import { lookupRows } from '../../worker/calls/merge-fragments.ts'
import { rowsOfRecord, type SegmentRow } from '../../worker/split/segment-rows.ts'

export type ReplayBatch = { rows: SegmentRow[]; lastOffset: number; oldestMs: number; firstOffset: number }

const batchBytes = 8 * 2 ** 20
const batchRows = 20_000

/** Whole records, in order; of calls so few rows that other start times are looked up for each portion. */
export async function* replayBatches(
  topic: string,
  partition: number,
  records: AsyncIterable<StoredRecord>,
): AsyncGenerator<ReplayBatch> {
  const most = topic === 'calls' ? lookupRows : batchRows
  let portion: ReplayBatch | undefined
  let bytes = 0
  for await (const record of records) {
    const { offset, rowCount } = record.header
    if (portion && (portion.rows.length + rowCount > most || bytes + record.rows.length > batchBytes)) {
      yield portion
      portion = undefined
    }
    if (!portion) {
      portion = { rows: [], firstOffset: offset, lastOffset: offset, oldestMs: record.appendedMs }
      bytes = 0
    }
    // one by one: a record may hold more rows than a call may have arguments
    for (const row of rowsOfRecord(record, partition)) portion.rows.push(row)
    bytes += record.rows.length
    portion.lastOffset = offset
  }
  if (portion) yield portion
}
