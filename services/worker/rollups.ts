// Keeps the counters of calls per minute and hour: recomputed for the minutes that were marked, never incremented.
import type { Store } from '../core/store/store.ts'
import { statement } from './statements.ts'

export type Rollups = {
  /** Tells that marks were written; a recompute follows when it is due. */
  touch(): void
  /** Recomputes everything that is marked up to the committed position, now. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

/** A recompute waits this long after the first mark, so that a busy minute is counted once and not per batch. */
const quietMs = 2_000
/** Share of one core that recomputing may take. */
const share = 0.1
/** Beside the batches: rows that come meanwhile have marks beyond what is covered. */
const aside = { background: true }
/** Marks of this many log positions stay in one partition, which is dropped when all of them are covered. */
const marksPerPartition = 1_000_000

export function createRollups(deps: { store: Store; committed(): number; onError(error: Error): void }): Rollups {
  const { store } = deps
  let covered: number | undefined
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = false

  const load = async (): Promise<number> => {
    const [row] = await store.rows<{ position: number }>({
      name: 'rollups.covered',
      sql: `SELECT toFloat64(max(position)) AS position FROM callhouse.rollups WHERE name = 'call_counts'`,
      params: {},
    })
    return Number(row?.position ?? 0)
  }

  const recompute = async (): Promise<void> => {
    covered ??= await load()
    const upto = deps.committed()
    if (upto <= covered) return
    const range = { covered, upto }
    await store.command(statement('call-counts', range), aside)
    await store.command(statement('call-counts-hourly', range), aside)
    await store.command(
      {
        name: 'rollups.cover',
        sql: `INSERT INTO callhouse.rollups SELECT 'call_counts', {upto:UInt64}`,
        params: { upto },
      },
      aside,
    )
    covered = upto
    for (; dropped < Math.floor(upto / marksPerPartition); dropped++)
      await store.command(
        {
          name: 'rollups.drop-marks',
          sql: `ALTER TABLE callhouse.call_marks DROP PARTITION ${dropped}`,
          params: {},
        },
        aside,
      )
  }

  const refresh = (): Promise<void> => {
    running = running.catch(() => undefined).then(recompute)
    return running
  }

  const schedule = (afterMs: number): void => {
    if (timer || stopped) return
    timer = setTimeout(async () => {
      const beganMs = performance.now()
      await refresh().catch((error: unknown) => deps.onError(error instanceof Error ? error : new Error(String(error))))
      const restMs = (performance.now() - beganMs) * (1 / share - 1)
      timer = undefined
      if (covered === undefined || deps.committed() > covered) schedule(Math.max(quietMs, restMs))
    }, afterMs)
    timer.unref()
  }

  return {
    touch: () => schedule(quietMs),
    refresh,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running.catch(() => undefined)
    },
  }
}
