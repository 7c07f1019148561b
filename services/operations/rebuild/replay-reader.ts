// Reads kept records back from the log, in batches that can be applied at once.
import type { StoredRecord } from '../../core/log/segments/read.ts'
import { rowsOfRecord, type SegmentRow } from '../../events/segment-rows.ts'
import { lookupRows } from '../../worker/calls/merge-fragments.ts'

export type ReplayBatch = { rows: SegmentRow[]; lastOffset: number; oldestMs: number; firstOffset: number }

const batchBytes = 8 * 2 ** 20
const batchRows = 20_000

/** Whole records in order; few enough rows of calls that other start times are looked up for each batch. */
export async function* replayBatches(
  topic: string,
  partition: number,
  records: AsyncIterable<StoredRecord>,
): AsyncGenerator<ReplayBatch> {
  const maxRows = topic === 'calls' ? lookupRows : batchRows
  let batch: ReplayBatch | undefined
  let bytes = 0
  for await (const record of records) {
    const { offset, rowCount } = record.header
    if (batch && (batch.rows.length + rowCount > maxRows || bytes + record.rows.length > batchBytes)) {
      yield batch
      batch = undefined
    }
    if (!batch) {
      batch = { rows: [], firstOffset: offset, lastOffset: offset, oldestMs: record.appendedMs }
      bytes = 0
    }
    // one by one: a record may hold more rows than a call may have arguments
    for (const row of rowsOfRecord(record, partition)) batch.rows.push(row)
    bytes += record.rows.length
    batch.lastOffset = offset
  }
  if (batch) yield batch
}
