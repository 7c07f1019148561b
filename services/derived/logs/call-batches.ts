// Work on stored calls that are read whole: as many at a time as fit into memory.

import { halves, splitBatch } from '../../core/concurrency/split-batch.ts'
import { StoreError } from '../../core/store/store.ts'

/** Calls that are read at once, and their bytes. */
const maxCalls = 1_000
const maxBytes = 16 * 2 ** 20

function* batchesOf<Row extends { bytes: number }>(rows: readonly Row[]): Generator<readonly Row[]> {
  let batch: Row[] = []
  let bytes = 0
  for (const row of rows) {
    if (batch.length > 0 && (batch.length === maxCalls || bytes + Number(row.bytes) > maxBytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += Number(row.bytes)
  }
  if (batch.length > 0) yield batch
}

/**
 * Works on batches of calls in order, on halves of a batch that does not fit into memory.
 * @param work resolves with how many calls it changed
 * @param onTooLarge a call that does not fit alone
 * @returns how many calls were changed
 */
export async function workInBatches<Row extends { bytes: number }>(
  rows: readonly Row[],
  work: (batch: readonly Row[]) => Promise<number>,
  onTooLarge: (row: Row) => void | Promise<void>,
): Promise<number> {
  let count = 0
  for (const batch of batchesOf(rows))
    await splitBatch(batch, async (some) => {
      try {
        count += await work(some)
        return []
      } catch (error) {
        if (!(error instanceof StoreError) || error.kind !== 'memory') throw error
        if (some.length > 1) return halves(some)
        await onTooLarge(some[0] as Row)
        return []
      }
    })
  return count
}
