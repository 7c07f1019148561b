// Merges quiet months of calls into one part, where FINAL costs nothing, once enough rows of a month have changed: the
// rewritten rows are in proportion to what changed, not to what is stored.
import { createSerialQueue } from '../core/concurrency/serial-queue.ts'
import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'
import { type Budget, unlimited } from './budget.ts'

export type Merges = {
  /** Merges the months that are due, one after the other; returns them. */
  run(): Promise<string[]>
  stop(): Promise<void>
}

/** A month is quiet when no part of it is younger. */
const quietSeconds = 900
/** Percentage of a month's rows outside its largest part: so ten rows are rewritten per changed row at most. */
const minChangedPercent = 10
/** Larger months are left to the engine: a merge takes about half a minute, and the process may end meanwhile. */
const maxBytes = 2 * 2 ** 30

export function createMerges(
  { store, budget = unlimited }: { store: Pick<Store, 'rows' | 'command'>; budget?: Budget },
  quiet = quietSeconds,
): Merges {
  let isStopped = false
  const queue = createSerialQueue()

  const merge = async (): Promise<string[]> => {
    const months = await store.rows<{ month: string }>(
      statement('merges.due', { quiet, bytes: maxBytes, percent: minChangedPercent }),
      { pool: 'background' },
    )
    const merged: string[] = []
    for (const { month } of months) {
      if (isStopped || !/^\d+$/.test(month)) break
      await budget.run(() => store.command(statement('merges.month', {}, { month }), { background: true }))
      merged.push(month)
    }
    return merged
  }

  return {
    run: () => queue.run(merge),
    async stop() {
      isStopped = true
      await queue.idle()
    },
  }
}
