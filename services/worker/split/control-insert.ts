// Inserts rows that went in before once more, as a control: tells a bad row from tables that take nothing.

import { batchMembers } from '../../core/log/combined-batch.ts'
import type { Batch } from '../../core/log/log.ts'
import type { StoredRecord } from '../../core/log/segments/read.ts'
import type { Store } from '../../core/store/store.ts'
import { topicNamed } from '../../events/registry.ts'
import { rowsOfRecord, type SegmentRow, sourceOf } from '../../events/segment-rows.ts'
import type { DeadLetters } from '../dead-letters/dead-letters.ts'
import { isRefusal } from './cuts.ts'

/** `unknown` = the log holds no earlier row. */
export type ControlInsert = (batch: Batch) => Promise<'taken' | 'refused' | 'unknown'>

/** Records that the log still holds, of one partition. */
export type KeptRecords = (
  topic: string,
  partition: number,
  fromOffset: number,
  toOffset: number,
) => AsyncIterable<StoredRecord>

/** Records before the batch that are read: clients write one kind of rows for a while. */
const maxRecords = 20
const maxRowBytes = 2 ** 20
const kind = /"kind":"(\w+)"/

/**
 * Inserts a row of each kind that the records before the batch begin with: they are applied, and applying them again
 * changes nothing. Rows that became dead letters are left out.
 */
export function createControlInsert(deps: {
  store: Pick<Store, 'insert'>
  deadLetters: Pick<DeadLetters, 'list'>
  records: KeptRecords
}): ControlInsert {
  const { store, deadLetters, records } = deps

  const rowsBefore = async ({ topic, partition, firstOffset }: Batch): Promise<SegmentRow[]> => {
    const letters = (await deadLetters.list()).filter((one) => one.topic === topic && one.partition === partition)
    const refused = new Set(letters.map(({ offset }) => offset))
    const found = new Map<string, SegmentRow>()
    for await (const record of records(topic, partition, Math.max(1, firstOffset - maxRecords), firstOffset - 1)) {
      if (record.header.version !== topicNamed(topic).version || refused.has(record.header.offset)) continue
      const [row] = rowsOfRecord(record, partition)
      if (row && row.text.length <= maxRowBytes)
        found.set(kind.exec(row.text.toString('latin1', 0, 4096))?.[1] ?? '', row)
    }
    return [...found.values()]
  }

  return async (batch) => {
    let verdict: 'taken' | 'unknown' = 'unknown'
    for (const member of batchMembers(batch)) {
      // A log that cannot be read says nothing about the rows.
      for (const row of member.firstOffset > 1 ? await rowsBefore(member).catch(() => []) : []) {
        const { rowsRead } = await store.insert(topicNamed(batch.topic), sourceOf([row])).catch((error: unknown) => {
          if (isRefusal(error)) return { rowsRead: 0 }
          throw error
        })
        if (rowsRead !== 1) return 'refused'
        verdict = 'taken'
      }
      if (verdict === 'taken') break
    }
    return verdict
  }
}
