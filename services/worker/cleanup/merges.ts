// Merges quiet months of calls into one part, where FINAL costs nothing, once enough of them has changed: what is written
// again follows from what changed, not from what is stored.
import type { Store } from '../../core/store/store.ts'
import { type Budget, unlimited } from './budget.ts'

export type Merges = {
  /** Merges what is due, one month after the other; returns the months. */
  run(): Promise<string[]>
  stop(): Promise<void>
}

/** A month is quiet when no part of it is younger. */
const quietSeconds = 900
/** Rows beside the largest part, of all of the month, in percent: each row is written again ten times for its changes. */
const minChangedPercent = 10
/** One merge takes half a minute or so, and the process may end meanwhile; larger months stay as the engine's own merges leave them. */
const maxBytes = 2 * 2 ** 30

export function createMerges(
  { store, budget = unlimited }: { store: Pick<Store, 'rows' | 'command'>; budget?: Budget },
  quiet = quietSeconds,
): Merges {
  let isStopped = false
  let running: Promise<unknown> = Promise.resolve()

  const merge = async (): Promise<string[]> => {
    const months = await store.rows<{ month: string }>(
      {
        name: 'merges.due',
        sql: `SELECT partition_id AS month FROM system.parts
          WHERE active AND database = currentDatabase() AND table = 'calls'
          GROUP BY month
          HAVING count() > 1 AND max(modification_time) <= now() - {quiet:UInt32} AND sum(bytes_on_disk) <= {bytes:UInt64}
            AND (sum(rows) - max(rows)) * 100 >= sum(rows) * {percent:UInt32}
          ORDER BY month DESC`,
        params: { quiet, bytes: maxBytes, percent: minChangedPercent },
      },
      { pool: 'background' },
    )
    const merged: string[] = []
    for (const { month } of months) {
      if (isStopped || !/^\d+$/.test(month)) break
      const sql = `OPTIMIZE TABLE callhouse.calls PARTITION ID '${month}' FINAL`
      await budget.run(() => store.command({ name: 'merges.month', sql, params: {} }, { background: true }))
      merged.push(month)
    }
    return merged
  }

  return {
    run() {
      const next = running.then(merge, merge)
      running = next.catch(() => undefined)
      return next
    },
    async stop() {
      isStopped = true
      await running
    },
  }
}
