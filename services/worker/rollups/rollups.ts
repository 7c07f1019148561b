// Keeps the rollups of calls: recomputed for the minutes that were marked, never incremented.
import { fieldIndexRollup } from '../../content/field-paths.ts'
import type { Position } from '../../core/log/log.ts'
import type { Store } from '../../core/store/store.ts'
import { type Budget, unlimited } from '../cleanup/budget.ts'
import { statement } from '../statements.ts'
import { type HourRange, readHourRanges } from './hours.ts'

/**
 * A rollup: statements (files of clickhouse/statements) that recompute what lies in the marked minutes, run in order.
 * Their parameters: marks with `position > least` and, per partition, `covered < position <= upto` are due
 * (arrays `partitions`, `covered`, `upto`); what they write carries `revision`, which grows with every recompute.
 */
export type Rollup = {
  name: string
  statements: string[]
  /**
   * Statement that marks all minutes for an installation that has not got the rollup yet, null = none; without it
   * everything is counted hour by hour, between the recomputes of what comes in meanwhile.
   */
  markAllStatement?: string | null
  /** Covered once every row has the columns of today: until then all are counted again in the same way. */
  layout?: string
  /** Further work on what is due, after the statements, with the same parameters. */
  derive?(range: Record<string, unknown>): Promise<void>
}

/** Name of a rollup: how far calls were looked for under two start times. */
export const deduplicationRollup = 'call_sweep'

export const rollupTable: readonly Rollup[] = [
  { name: 'call_counts', statements: ['call-counts', 'call-counts-hourly'] },
  { name: 'call_stats', statements: ['call-stats', 'call-stats-hourly'], layout: 'call_stats_billed' },
]

export type Rollups = {
  /** Tells that marks were written; a recompute follows when it is due. */
  onDirty(): void
  /** Age of the oldest marks that may not be recomputed yet, by table. */
  lag(): { name: string; lagMs: number }[]
  /** Recomputes everything that is marked up to the committed positions, now. */
  refresh(): Promise<void>
  /** Runs a job while nothing is recomputed. */
  exclusive<T>(job: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

/** A recompute waits this long after the first mark, so that a busy minute is counted once and not per batch. */
const quietMs = 2_000
const slowMs = 15_000
/** Beside the batches: rows that come meanwhile have marks beyond what is covered. */
const aside = { background: true }
/** Marks of this many log positions stay in one partition of the table, dropped when all of them are covered. */
const positionsPerPartition = 1_000_000

/** Marks of the first count are its own: no log has so many partitions, and every position is past theirs. */
const ownPartition = 2 ** 32 - 2

type Covered = { offsets: Map<number, number>; revision: number }

/**
 * What a rollup covers: the position of each partition of the log. `first` is the count of everything that is stored,
 * hour by hour: it covers what was committed when it began; null = done.
 */
type State = Covered & { first: { windows: HourRange[]; upto: Position[] } | 'due' | null }

/** @param deps.committed applied positions of the topic calls, of all its partitions */
export function createRollups(deps: {
  store: Store
  committed(): Promise<Position[]>
  /** Asked before a rollup claims to cover anything. @throws Error when the tables are not those of the log any more */
  verify?: (() => Promise<void>) | undefined
  onError(error: Error): void
  table?: readonly Rollup[]
  /** For rollups that take their time: they wait longer, and leave the marks to the others. */
  isSlow?: boolean
  /** What is recomputed by itself, not by `refresh`: minutes that are not recomputed yet are computed when they are read. */
  budget?: Budget
}): Rollups {
  const { store, table = rollupTable, isSlow = false, budget = unlimited } = deps
  const states = new Map<string, State>()
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  let running: Promise<boolean> = Promise.resolve(false)
  let stopped = false
  /** When the oldest marks came that a rollup may lack, by its name. */
  const lacking = new Map<string, number>()
  let touchedMs = 0
  /** Some of the last recomputing was of a first count. */
  let isFirstCount = false

  const load = async (name: string): Promise<Covered> => {
    const rows = await store.rows<{ partition: number; position: number; revision: number }>({
      name: 'rollups.covered',
      sql: `SELECT partition, toFloat64(max(position)) AS position, toFloat64(max(revision)) AS revision
        FROM callhouse.rollups WHERE name = {name:String} GROUP BY partition`,
      params: { name },
    })
    return {
      offsets: new Map(rows.map((row) => [Number(row.partition), Number(row.position)])),
      revision: Math.max(0, ...rows.map((row) => Number(row.revision))),
    }
  }

  /** Runs the statements of a rollup over marks of the partitions, `covered < position <= upto`. */
  const count = async (
    rollup: Rollup,
    state: State,
    due: { partition: number; covered: number; offset: number }[],
    within: Budget,
  ): Promise<void> => {
    const range = {
      partitions: due.map(({ partition }) => partition),
      covered: due.map(({ covered }) => covered),
      upto: due.map(({ offset }) => offset),
      least: Math.min(...due.map(({ covered }) => covered)),
      revision: 0,
    }
    const recompute = async (): Promise<void> => {
      // Of two processes that recompute at the same time the one that began to read later wins.
      range.revision = Math.max(Date.now() * 1_000, state.revision + 1)
      for (const file of rollup.statements) await store.command(statement(file, range), aside)
    }
    if (rollup.statements.length > 0) await within.run(recompute, { isUrgent: !isSlow })
    else range.revision = Math.max(Date.now() * 1_000, state.revision + 1)
    await rollup.derive?.(range)
    state.revision = range.revision
  }

  const cover = async (name: string, { revision }: Covered, upto: readonly Position[]): Promise<void> => {
    await deps.verify?.()
    const [partitions, offsets] = [upto.map(({ partition }) => partition), upto.map(({ offset }) => offset)]
    await store.command(statement('rollups-cover', { name, partitions, upto: offsets, revision }), aside)
  }

  const advance = async (name: string, state: State, upto: readonly Position[]): Promise<void> => {
    await cover(name, state, upto)
    for (const { partition, offset } of upto) state.offsets.set(partition, offset)
  }

  /** The next hours of the first count, or its end. */
  const countFirst = async (rollup: Rollup, state: State, committed: Position[], within: Budget): Promise<void> => {
    if (state.first === 'due') state.first = { windows: await readHourRanges(store, 0), upto: committed }
    const { windows, upto } = state.first as Exclude<State['first'], 'due' | null>
    const [window] = windows
    if (window) {
      const partition = ownPartition - windows.length
      const { fromUs: from, beforeExclusiveUs: before } = window
      await store.command(statement('call-marks-again', { partition, position: 0, from, before }), aside)
      await count(rollup, state, [{ partition, covered: -1, offset: 0 }], within)
      windows.shift()
      return
    }
    if (state.offsets.size === 0) await advance(rollup.name, state, upto)
    if (rollup.layout) await cover(rollup.layout, state, upto)
    state.first = null
  }

  const loaded = async ({ name, markAllStatement: marksAll, layout }: Rollup): Promise<State> => {
    // Each time: another process that starts may have lowered it, as its tables lacked what was covered.
    const covered = await load(name)
    const known = states.get(name)
    if (known) {
      known.offsets = covered.offsets
      known.revision = Math.max(known.revision, covered.revision)
      return known
    }
    if (marksAll && covered.offsets.size === 0) await store.command(statement(marksAll, { position: 0 }), aside)
    const whole = layout ? await load(layout) : covered
    const state: State = { ...covered, first: marksAll !== undefined || whole.offsets.size > 0 ? null : 'due' }
    states.set(name, state)
    return state
  }

  const recompute = async (rollup: Rollup, committed: Position[], within: Budget): Promise<boolean> => {
    const state = await loaded(rollup)
    const { offsets, first } = state
    const uncovered = offsets.size === 0 ? -1 : 0
    const due = committed
      .map((position) => ({ ...position, covered: offsets.get(position.partition) ?? uncovered }))
      .filter(({ offset, covered }) => offset > covered)
    const isDue = due.length > 0 && (first === null || offsets.size > 0)
    if (isDue) {
      await count(rollup, state, due, within)
      await advance(rollup.name, state, due)
    }
    if (first !== null) {
      isFirstCount = true
      await countFirst(rollup, state, committed, within)
    }
    return isDue || first !== null
  }

  /** Marks that every rollup covers are not needed any more. */
  const dropCoveredBuckets = async (committed: Position[]): Promise<void> => {
    const covers = table.map(({ name }) => states.get(name))
    const leastOf = (all: (Covered | undefined)[]) =>
      Math.min(...committed.flatMap(({ partition }) => all.map((one) => one?.offsets.get(partition) ?? 0)))
    if (Math.floor(leastOf(covers) / positionsPerPartition) <= dropped) return
    const least = leastOf([...covers, await load(fieldIndexRollup), await load(deduplicationRollup)])
    for (; dropped < Math.floor(least / positionsPerPartition); dropped++)
      for (const table of ['call_marks', 'call_unswept'])
        await store.command(
          { name: 'rollups.drop-marks', sql: `ALTER TABLE callhouse.${table} DROP PARTITION ${dropped}`, params: {} },
          aside,
        )
  }

  /** Returns whether anything was due. */
  const recomputeAll = async (within: Budget): Promise<boolean> => {
    const committed = await deps.committed()
    // Another worker keeps the rollups.
    if (committed.length === 0) {
      lacking.clear()
      states.clear()
      return false
    }
    let isDone = false
    for (const rollup of table) {
      const beganMs = Date.now()
      isDone = (await recompute(rollup, committed, within)) || isDone
      if (touchedMs > beganMs) lacking.set(rollup.name, beganMs)
      else if (states.get(rollup.name)?.offsets.size) lacking.delete(rollup.name)
    }
    if (isDone && !isSlow) await dropCoveredBuckets(committed)
    return isDone
  }

  const refresh = (within: Budget): Promise<boolean> => {
    running = running.catch(() => false).then(() => recomputeAll(within))
    return running
  }

  const schedule = (afterMs: number): void => {
    if (timer || stopped) return
    timer = setTimeout(async () => {
      const isDone = await refresh(budget).catch((error: unknown) => {
        deps.onError(error instanceof Error ? error : new Error(String(error)))
        return true
      })
      timer = undefined
      if (isDone) schedule(isSlow ? slowMs : quietMs)
    }, afterMs)
    timer.unref()
  }

  return {
    onDirty() {
      touchedMs = Date.now()
      for (const { name } of table) if (!lacking.has(name)) lacking.set(name, touchedMs)
      schedule(isSlow ? slowMs : quietMs)
    },
    lag: () => table.map(({ name }) => ({ name, lagMs: Date.now() - (lacking.get(name) ?? Date.now()) })),
    async refresh() {
      // Once more after the first count: it covers what was committed when it began.
      do {
        isFirstCount = false
        await refresh(unlimited)
      } while (isFirstCount)
    },
    exclusive(job) {
      const done = running.catch(() => false).then(job)
      running = done.then(() => false)
      running.catch(() => undefined)
      return done
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running.catch(() => undefined)
    },
  }
}
