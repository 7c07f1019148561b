// Dead letters in a table of the store, for workers that keep nothing on their own disk and share what they found.

import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'
import { type DeadLetterSummary, type DeadLetters, idOf } from './dead-letters.ts'

/** Times in milliseconds, 0 = never. */
type Stored = Omit<DeadLetterSummary, 'at' | 'replayedAt'> & { at: number; replayedAt: number }

/** The earliest time at which a letter was found wins, and any replay wins over that, the latest over the others. */
const foundVersion = (atMs: number): bigint => (1n << 62n) - BigInt(atMs)
const replayedVersion = (atMs: number): bigint => (1n << 62n) + BigInt(atMs)

const isoOf = (ms: number): string => new Date(ms).toISOString()

function summaryOf<T extends Stored>({ at, replayedAt, ...rest }: T) {
  return { ...rest, at: isoOf(at), ...(replayedAt > 0 ? { replayedAt: isoOf(replayedAt) } : {}) }
}

export function createTableDeadLetters(store: Pick<Store, 'rows' | 'command'>): DeadLetters {
  return {
    async add(letter) {
      const nowMs = Date.now()
      const params = { ...letter, id: idOf(letter), at: nowMs, version: foundVersion(nowMs) }
      await store.command(statement('deadletters.add', params))
    },
    async list() {
      const rows = await store.rows<Stored>(statement('deadletters.list'))
      return rows.map((row): DeadLetterSummary => summaryOf(row))
    },
    async show(id) {
      const [found] = await store.rows<Stored & { row: string }>(statement('deadletters.show', { id }))
      return found && summaryOf(found)
    },
    async markReplayed(id) {
      const nowMs = Date.now()
      await store.command(statement('deadletters.replayed', { id, at: nowMs, version: replayedVersion(nowMs) }))
    },
    async remove(isGone) {
      const removed: DeadLetterSummary[] = []
      for (const letter of await this.list()) {
        const whole = await this.show(letter.id)
        if (whole !== undefined && isGone(whole)) removed.push(letter)
      }
      if (removed.length > 0) await store.command(statement('deadletters.remove', { ids: removed.map(({ id }) => id) }))
      return removed
    },
    close: async () => {},
  }
}
