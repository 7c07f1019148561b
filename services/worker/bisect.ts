// Isolates the rows that the store refuses, so that one bad row costs one dead letter and not a batch.
import { type Store, StoreError } from '../core/store/store.ts'
import { type TopicName, topics } from '../core/topics.ts'
import type { DeadLetters } from './deadletters.ts'
import { type SegmentRow, withoutHeader } from './segment-rows.ts'

const newline = Buffer.from('\n')

/** True when the error says that the rows can never be inserted. */
export const isDataError = (error: unknown): error is StoreError => error instanceof StoreError && error.kind === 'data'

/** Bytes of some rows as a source of their own. */
export const sourceOf = (rows: SegmentRow[]): { bytes: Buffer[] } => ({
  bytes: rows.flatMap((row) => [row.text, newline]),
})

/**
 * Inserts rows; when the store refuses them, in halves until each refused row stands alone. Those become dead letters.
 * Rows that went in twice on the way change nothing. Outages are thrown, to be retried by the caller.
 * @returns number of dead letters
 */
export async function insertAround(
  topicName: TopicName,
  all: SegmentRow[],
  store: Pick<Store, 'insert'>,
  deadLetters: Pick<DeadLetters, 'add'>,
): Promise<number> {
  const topic = topics[topicName]
  let dead = 0
  const insert = async (rows: SegmentRow[]): Promise<void> => {
    if (rows.length === 0) return
    let reason: string
    try {
      const { rowsRead } = await store.insert(topic, sourceOf(rows))
      if (rowsRead === rows.length) return
      reason = `the engine read ${rowsRead} rows where ${rows.length} were appended`
    } catch (error) {
      if (!isDataError(error)) throw error
      reason = error.message
    }
    const [only] = rows
    if (rows.length === 1 && only) {
      await deadLetters.add({
        topic: topicName,
        partition: only.partition,
        offset: only.offset,
        rowIndex: only.rowIndex,
        reason: reason.slice(0, 2000),
        row: withoutHeader(only.text),
      })
      dead++
      return
    }
    const half = rows.length >> 1
    await insert(rows.slice(0, half))
    await insert(rows.slice(half))
  }
  await insert(all)
  return dead
}
