// Dead letters in a table of the store, for workers that keep nothing on their own disk and share what they found.
import type { Store } from '../../core/store/store.ts'
import { type DeadLetterSummary, type DeadLetters, idOf } from './dead-letters.ts'

type Stored = {
  id: string
  topic: string
  partition: number
  offset: number
  rowIndex: number
  reason: string
  at: number
  replayedAt: number
  sizeBytes: number
}

const insertion = `INSERT INTO callhouse.dead_letters
    (topic, partition, offset, row_index, id, at, replayed_at, reason, row, version)`

/** The earliest time at which a letter was found wins, and any replay wins over that, the latest over the others. */
const foundVersion = (atMs: number): bigint => (1n << 62n) - BigInt(atMs)
const replayedVersion = (atMs: number): bigint => (1n << 62n) + BigInt(atMs)

const summaries = `SELECT id, topic, toFloat64(partition) AS partition, toFloat64(offset) AS offset,
    toFloat64(row_index) AS rowIndex, reason, toFloat64(toUnixTimestamp64Milli(at)) AS at,
    toFloat64(toUnixTimestamp64Milli(replayed_at)) AS replayedAt, toFloat64(length(row)) AS sizeBytes`

const isoOf = (ms: number): string => new Date(ms).toISOString()

function summaryOf<T extends Stored>({ at, replayedAt, ...rest }: T) {
  return { ...rest, at: isoOf(at), ...(replayedAt > 0 ? { replayedAt: isoOf(replayedAt) } : {}) }
}

export function createTableDeadLetters(store: Pick<Store, 'rows' | 'command'>): DeadLetters {
  return {
    async add(letter) {
      const nowMs = Date.now()
      await store.command({
        name: 'deadletters.add',
        sql: `${insertion}
SELECT {topic:String}, {partition:UInt32}, {offset:UInt64}, {rowIndex:UInt32}, {id:String},
    fromUnixTimestamp64Milli({at:Int64}, 'UTC'), fromUnixTimestamp64Milli(toInt64(0), 'UTC'), {reason:String},
    {row:String}, {version:UInt64}`,
        params: { ...letter, id: idOf(letter), at: nowMs, version: foundVersion(nowMs) },
      })
    },
    async list() {
      const rows = await store.rows<Stored>({
        name: 'deadletters.list',
        sql: `${summaries}
FROM callhouse.dead_letters FINAL ORDER BY at, topic, partition, offset, rowIndex`,
        params: {},
      })
      return rows.map((row): DeadLetterSummary => summaryOf(row))
    },
    async show(id) {
      const [found] = await store.rows<Stored & { row: string }>({
        name: 'deadletters.show',
        sql: `${summaries}, row FROM callhouse.dead_letters FINAL WHERE id = {id:String} LIMIT 1`,
        params: { id },
      })
      return found && summaryOf(found)
    },
    async markReplayed(id) {
      const nowMs = Date.now()
      await store.command({
        name: 'deadletters.replayed',
        sql: `${insertion}
SELECT topic, partition, offset, row_index, id, at, fromUnixTimestamp64Milli({at:Int64}, 'UTC'), reason, row,
    {version:UInt64}
FROM callhouse.dead_letters FINAL WHERE id = {id:String}`,
        params: { id, at: nowMs, version: replayedVersion(nowMs) },
      })
    },
    async remove(isGone) {
      const removed: DeadLetterSummary[] = []
      for (const letter of await this.list()) {
        const whole = await this.show(letter.id)
        if (whole !== undefined && isGone(whole)) removed.push(letter)
      }
      // A mutation: it writes the parts anew, without the rows.
      if (removed.length > 0)
        await store.command({
          name: 'deadletters.remove',
          sql: 'ALTER TABLE callhouse.dead_letters DELETE WHERE id IN {ids:Array(String)} SETTINGS mutations_sync = 2',
          params: { ids: removed.map(({ id }) => id) },
        })
      return removed
    },
    close: async () => {},
  }
}
