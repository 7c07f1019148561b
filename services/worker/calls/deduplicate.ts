// Deduplicates calls that came whole under two start times in batches too large to look each one up: found beside the
// batches and merged between them, a few at a time.
import type { SerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Position } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import type { Query, Store } from '../../core/store/store.ts'
import { type Budget, unlimited } from '../../derived/budget.ts'
import { deduplicationRollup, type Rollup } from '../../derived/rollups/rollup-table.ts'
import { createRollups } from '../../derived/rollups/rollups.ts'
import type { CallMaterializer, NextPosition } from './merge-fragments.ts'

type DuplicatedCall = { project_id: string; id: string }

export type Deduplication = {
  /** Merges what large batches brought since the last time; returns the number of calls. */
  changed(): Promise<number>
  /** The same for everything that is stored. */
  all(): Promise<number>
  stop(): Promise<void>
}

/** Ids that are looked up at once; above it reading everything once is no more work and takes less memory. */
const maxLookedUp = 500_000
/** Calls that are found by one read, and merged at once between two batches. */
const maxFound = 10_000
const maxMergedAtOnce = 500
/** Each round merges what it finds, so the next one finds other calls. */
const maxRounds = 100

/**
 * @param deps.committed applied positions of the topic calls; none where another worker deduplicates
 */
export function createDeduplication(deps: {
  store: Store
  calls: Pick<CallMaterializer, 'mergeNamed'>
  queue: SerialQueue
  committed(): Promise<Position[]>
  next: NextPosition
  budget?: Budget
}): Deduplication {
  const { store, calls, queue, budget = unlimited } = deps
  const stopping = new AbortController()
  const beside = { pool: 'background', timeoutMs: 600_000, signal: stopping.signal } as const
  let merged = 0

  const mergeFound = async (query: Query): Promise<void> => {
    for (let round = 0; round < maxRounds; round++) {
      const found = await budget.run(() => store.rows<DuplicatedCall>(query, beside))
      for (let i = 0; i < found.length; i += maxMergedAtOnce) {
        const some = found.slice(i, i + maxMergedAtOnce)
        await queue.run(() => calls.mergeNamed(deps.next, some))
        merged += some.length
      }
      if (found.length < maxFound) return
    }
  }
  const everything = () => mergeFound(statement('deduplicate-all', { limit: maxFound }))

  const rollup: Rollup = {
    name: deduplicationRollup,
    isSlow: true,
    markAllStatement: null,
    async derive(range) {
      // Nothing is covered yet in an installation without these dirty buckets.
      if (range.minCovered === -1) return everything()
      const [row] = await budget.run(() => store.rows<{ n: number }>(statement('deduplicate-due', range), beside))
      const n = Number(row?.n ?? 0)
      if (n > maxLookedUp) await everything()
      else if (n > 0) await mergeFound(statement('deduplicate-changed', { ...range, limit: maxFound }))
    },
  }
  const {
    refresh,
    exclusive: alone,
    stop,
  } = createRollups({ store, committed: deps.committed, table: [rollup], onError() {} })
  const counted = async (work: () => Promise<void>): Promise<number> => {
    const before = merged
    // Rejects once the applier takes no more batches.
    await queue.run(async () => {})
    await work()
    return merged - before
  }
  return {
    changed: () => counted(refresh),
    all: () => alone(() => counted(everything)),
    async stop() {
      stopping.abort()
      await stop()
    },
  }
}
