// Keeps the rollups of calls: recomputed for dirty minutes, never incremented.
import { fieldIndexRollup } from '../../content/field-paths.ts'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Position } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'
import { tablesOfKind } from '../../tables/registry.ts'
import { type Budget, unlimited } from '../budget.ts'
import type { TimeRange } from '../time-range.ts'
import { type Assignment, type Coverage, readCoverage, wholeAssignment, writeCoverage } from './coverage.ts'
import { type HourRange, readHourRanges } from './hours.ts'
import { type RecomputeBounds, type Recomputed, recomputeDirty } from './recompute.ts'

/** A rollup of calls, or of what follows from them: recomputed by statements, or derived. */
export type Rollup = {
  name: string
  recomputed?: Recomputed
  /**
   * Statement that marks all minutes as dirty in an installation without the rollup, null = none; absent: everything is
   * counted hour by hour, between the recomputes of new changes.
   */
  markAllStatement?: string | null
  /** Name that is covered once every row has today's columns; until then all are counted again in the same way. */
  layout?: string
  /** Derives what is due, in another way; the parameters are those of `Recomputed.due`. */
  derive?(range: Record<string, unknown>): Promise<void>
  /** Before other work on its tables: what it holds in memory is not of these tables any more. */
  forget?(): void
  /** Waits longer for more changes before it is recomputed, and may be further behind. */
  isSlow?: boolean
  /** Whether a slow rollup should not wait for its time. */
  isMuchDue?(): boolean
}

/** Name of the rollup that stands for deduplicated calls. */
export const deduplicationRollup = 'call_sweep'

/** The calls of some buckets with what they count. */
const counted = statement('counted-calls').sql

export const rollupTable: readonly Rollup[] = [
  {
    name: 'call_counts',
    recomputed: {
      due: 'call-counts-due',
      minutes: 'call-counts',
      bits: 'call-counts-seconds',
      hours: 'call-counts-hourly',
    },
  },
  {
    name: 'call_stats',
    recomputed: {
      due: 'buckets-due',
      minutes: 'call-stats',
      seconds: ['call-stats', 'call-stats-merge'],
      hours: 'call-stats-merge',
      // Two rows a bucket: of roots, and of other calls.
      parts: { counted, table: 'call_stats', secondRows: '120' },
    },
    layout: 'call_stats_shared',
  },
  {
    name: 'trace_parts',
    // A row holds every trace of its minute: to write it costs as much as all that came in that minute.
    isSlow: true,
    recomputed: {
      due: 'buckets-due',
      minutes: 'trace-parts',
      seconds: ['trace-parts', 'trace-parts-merge'],
      parts: { counted, table: 'trace_parts', secondRows: '60' },
    },
  },
]

/** Minutes before these times, in seconds, are not counted again: by project. */
export type CountedAgain = { agedProjects: string[]; countedFrom: number[] }

/** Whatever is stored is counted. */
export const allCountedAgain: CountedAgain = { agedProjects: [''], countedFrom: [0] }

export type Rollups = {
  /** Schedules a recompute after dirty buckets were written. */
  onDirty(): void
  /** Age of the oldest dirty bucket that may not be recomputed yet, and whether its first count goes on, by table. */
  lag(): { name: string; lagMs: number; isBuilding: boolean }[]
  /** The greatest of these ages, as a share of what is allowed. */
  lateness(): number
  /** Recomputes everything that is dirty up to the committed positions, now. */
  refresh(): Promise<void>
  /** Runs a job between two recomputes. */
  exclusive<T>(job: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

/** Time from the first dirty bucket to the recompute, so that a busy minute is counted once and not per batch. */
const quietMs = 2_000
const slowMs = 15_000
/** Lag that a rollup may have while batches come; later work takes its time from them. */
const allowedMs = 5_000
const allowedSlowMs = 30_000
/** Beside the batches: rows that come meanwhile have dirty buckets past what is covered. */
const aside = { background: true }
/** Log positions per partition of the table of dirty buckets; a partition is dropped once all of them are covered. */
const positionsPerPartition = 1_000_000

/** Those that are there: earlier processes have dropped most. */
const coveredPartitions = (table: string, before: number) =>
  statement(
    'rollups.covered-marks',
    { before: before * positionsPerPartition, perPartition: positionsPerPartition },
    { table },
  )

/** Partition of the first count's own dirty buckets: no log has so many, and every position is past theirs. */
const ownPartition = 2 ** 32 - 2

/**
 * Coverage of a rollup: the position of each partition of the log. `first` is the count of everything that is stored,
 * hour by hour: it covers what was committed when it began; null = done.
 */
type State = Coverage & { first: { windows: HourRange[]; upTo: Position[] } | 'due' | null }

type RollupsDeps = {
  store: Store
  /** Applied positions of the topic calls, of all its partitions. */
  committed(): Promise<Position[]>
  /** The assignment, read before each recompute; absent: all projects are this process's. */
  assignment?(): Assignment
  /** The time from which on minutes may be counted again; absent: all may. */
  countedAgain?: (() => CountedAgain) | undefined
  /** Derives what the first count of a range needs that is stored from before. */
  beforeFirstCount?: ((range: TimeRange) => Promise<void>) | undefined
  /** Runs before a rollup claims to cover anything. @throws Error when the tables are not those of the log any more */
  verify?: (() => Promise<void>) | undefined
  onError(error: Error): void
  table?: readonly Rollup[]
  bounds?: RecomputeBounds
  /** Limits scheduled recomputes, not `refresh`; readers compute minutes that are still dirty themselves. */
  budget?: Budget
}

/** Keeps rollups. Slow ones are recomputed beside the others, which do not wait for them. */
export function createRollups(deps: RollupsDeps): Rollups {
  const { table = rollupTable } = deps
  const [first, ...others] = [false, true]
    .map((isSlow) => table.filter((rollup) => Boolean(rollup.isSlow) === isSlow))
    .filter((group) => group.length > 0)
    .map((group, _, groups) => createGroup(deps, group, groups.flat()))
  if (first === undefined) throw new Error('no rollups')
  const groups = [first, ...others]
  return {
    onDirty() {
      for (const group of groups) group.onDirty()
    },
    lag: () => groups.flatMap((group) => group.lag()),
    lateness: () => Math.max(...groups.map((group) => group.lateness())),
    async refresh() {
      // Slow ones first: the others drop the dirty buckets that all of them cover.
      for (const group of groups.toReversed()) await group.refresh()
    },
    exclusive: (job) =>
      others.reduce(
        (inner, group) => () => group.exclusive(inner),
        () => first.exclusive(job),
      )(),
    async stop() {
      await Promise.all(groups.map((group) => group.stop()))
    },
  }
}

/** @param all rollups of all groups: dirty buckets stay until each of them covers them */
function createGroup(deps: RollupsDeps, table: readonly Rollup[], all: readonly Rollup[]): Rollups {
  const { store, budget = unlimited, assignment = () => wholeAssignment } = deps
  const states = new Map<string, State>()
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  const queue = createSerialQueue()
  let stopped = false
  /** When the oldest dirty bucket came that a rollup may lack, by the rollup's name. */
  const lacking = new Map<string, number>()
  let dirtiedMs = 0
  /** Whether the last recompute was part of a first count. */
  let isFirstCount = false
  let isLeader = true

  const isSlow = table.every((rollup) => rollup.isSlow)
  const lag = () =>
    table.map(({ name }) => ({
      name,
      lagMs: Date.now() - (lacking.get(name) ?? Date.now()),
      isBuilding: states.get(name)?.isBegun === false,
    }))
  const longestLagMs = () => Math.max(...lag().map(({ lagMs }) => lagMs))
  const lateness = () => longestLagMs() / (isSlow ? allowedSlowMs : allowedMs)
  /** Whether slow rollups wait for more that is due. */
  const mayWait = (): boolean =>
    isSlow && longestLagMs() < slowMs && !table.some(({ name, isMuchDue }) => states.get(name)?.first || isMuchDue?.())

  /** Runs the statements of a rollup over dirty buckets of the partitions, `covered < position <= upTo`. */
  const count = async (
    rollup: Rollup,
    state: State,
    due: { partition: number; covered: number; offset: number }[],
    slots: Assignment['slots'],
    within: Budget,
  ): Promise<void> => {
    const range = {
      slots: slots ?? [],
      partitions: due.map(({ partition }) => partition),
      covered: due.map(({ covered }) => covered),
      upTo: due.map(({ offset }) => offset),
      minCovered: Math.min(...due.map(({ covered }) => covered)),
      revision: 0,
      ...(deps.countedAgain?.() ?? allCountedAgain),
    }
    const { recomputed } = rollup
    const recompute = async (): Promise<void> => {
      // The later reader of two processes that recompute at the same time wins.
      range.revision = Math.max(Date.now() * 1_000, state.revision + 1)
      if (recomputed) await recomputeDirty(store, recomputed, range, deps.bounds)
    }
    if (recomputed) await within.run(recompute, { isUrgent: !isSlow, lateness })
    else range.revision = Math.max(Date.now() * 1_000, state.revision + 1)
    await rollup.derive?.(range)
    state.revision = range.revision
  }

  const cover = async (
    name: string,
    { revision }: State,
    slots: Assignment['slots'],
    upTo: readonly Position[],
  ): Promise<void> => {
    await deps.verify?.()
    await writeCoverage(store, name, { slots, upTo, revision })
  }

  const advance = async (
    name: string,
    state: State,
    slots: Assignment['slots'],
    upTo: readonly Position[],
  ): Promise<void> => {
    await cover(name, state, slots, upTo)
    state.isBegun ||= slots === null
    for (const { partition, offset } of upTo) state.offsets.set(partition, offset)
  }

  /** The next hours of the first count, or its end. */
  const countFirst = async (rollup: Rollup, state: State, committed: Position[], within: Budget): Promise<void> => {
    if (state.first === 'due') state.first = { windows: await readHourRanges(store, 0), upTo: committed }
    const { windows, upTo } = state.first as Exclude<State['first'], 'due' | null>
    const [window] = windows
    if (window) {
      const partition = ownPartition - windows.length
      const { fromUs: from, beforeExclusiveUs: before } = window
      await within.run(async () => deps.beforeFirstCount?.(window), { isUrgent: false, lateness })
      await store.command(statement('dirty-buckets-of-range', { partition, position: 0, from, before }), aside)
      await count(rollup, state, [{ partition, covered: -1, offset: 0 }], null, within)
      windows.shift()
      return
    }
    if (!state.isBegun) await advance(rollup.name, state, null, upTo)
    if (rollup.layout) await cover(rollup.layout, state, null, upTo)
    state.first = null
  }

  const loaded = async (
    { name, markAllStatement: marksAll, layout }: Rollup,
    { slots, isLeader }: Assignment,
  ): Promise<State> => {
    // Read each time: another process that starts may have lowered it, as its tables lacked what was covered.
    const covered = await readCoverage(store, name, slots)
    const known = states.get(name)
    if (known) {
      known.isBegun = covered.isBegun
      known.offsets = covered.offsets
      known.revision = Math.max(known.revision, covered.revision)
      return known
    }
    if (isLeader && marksAll && !covered.isBegun) await store.command(statement(marksAll, { position: 0 }), aside)
    const whole = isLeader && layout ? await readCoverage(store, layout, null) : covered
    const isWhole = !isLeader || marksAll !== undefined || whole.isBegun
    const state: State = { ...covered, first: isWhole ? null : 'due' }
    states.set(name, state)
    return state
  }

  const recompute = async (
    rollup: Rollup,
    committed: Position[],
    assigned: Assignment,
    within: Budget,
  ): Promise<boolean> => {
    const state = await loaded(rollup, assigned)
    const { offsets, first, isBegun } = state
    // A rollup that nobody has begun is begun for all projects at once.
    if (!isBegun && !assigned.isLeader) return false
    const slots = isBegun ? assigned.slots : null
    const due = committed
      .map((position) => ({ ...position, covered: isBegun ? (offsets.get(position.partition) ?? 0) : -1 }))
      .filter(({ offset, covered }) => offset > covered)
    const isDue = due.length > 0 && (first === null || isBegun)
    if (isDue) {
      await count(rollup, state, due, slots, within)
      await advance(rollup.name, state, slots, due)
    }
    if (first !== null) {
      isFirstCount = true
      await countFirst(rollup, state, committed, within)
    }
    return isDue || first !== null
  }

  /** Drops dirty buckets that every rollup covers, whoever derives it. Slow rollups leave that to the others. */
  const dropCoveredBuckets = async (committed: Position[]): Promise<void> => {
    const minOf = (all: (Coverage | undefined)[]) =>
      Math.min(...committed.flatMap(({ partition }) => all.map((one) => one?.offsets.get(partition) ?? 0)))
    if (Math.floor(minOf(table.map(({ name }) => states.get(name))) / positionsPerPartition) <= dropped) return
    const names = [...all.map(({ name }) => name), fieldIndexRollup, deduplicationRollup]
    const min = minOf(await Promise.all(names.map((name) => readCoverage(store, name, null))))
    const before = Math.floor(min / positionsPerPartition)
    for (const table of tablesOfKind('dirty'))
      for (const { n } of await store.rows<{ n: number }>(coveredPartitions(table, before), { pool: 'background' }))
        await store.command(statement('rollups.drop-marks', {}, { table, n: String(n) }), aside)
    dropped = before
  }

  /** Returns whether anything was due. */
  const recomputeAll = async (within: Budget): Promise<boolean> => {
    const assigned = assignment()
    const committed = assigned.slots?.length === 0 ? [] : await deps.committed()
    // Only the leader looks for what nobody has begun.
    if (assigned.isLeader !== isLeader) states.clear()
    isLeader = assigned.isLeader
    // Other workers derive everything.
    if (committed.length === 0) {
      lacking.clear()
      return false
    }
    let isDone = false
    for (const rollup of table) {
      const beganMs = Date.now()
      isDone = (await recompute(rollup, committed, assigned, within)) || isDone
      if (dirtiedMs > beganMs) lacking.set(rollup.name, beganMs)
      else if (states.get(rollup.name)?.isBegun) lacking.delete(rollup.name)
    }
    if (isDone && !isSlow && assigned.isLeader) await dropCoveredBuckets(committed)
    return isDone
  }

  const refresh = (within: Budget): Promise<boolean> => queue.run(() => recomputeAll(within))

  const schedule = (afterMs: number): void => {
    if (timer || stopped) return
    timer = setTimeout(async () => {
      const waits = mayWait()
      const isDone = await Promise.resolve(!waits && refresh(budget)).catch((error: unknown) => {
        deps.onError(error instanceof Error ? error : new Error(String(error)))
        return true
      })
      timer = undefined
      if (isDone || (waits && lacking.size > 0)) schedule(quietMs)
    }, afterMs)
    timer.unref()
  }

  return {
    onDirty() {
      dirtiedMs = Date.now()
      for (const { name } of table) if (!lacking.has(name)) lacking.set(name, dirtiedMs)
      schedule(quietMs)
    },
    lag,
    lateness,
    async refresh() {
      // Once more after the first count: it covers what was committed when it began.
      do {
        isFirstCount = false
        await refresh(unlimited)
      } while (isFirstCount)
    },
    exclusive: (job) =>
      queue.run(() => {
        for (const { forget } of table) forget?.()
        return job()
      }),
    async stop() {
      stopped = true
      clearTimeout(timer)
      await queue.idle()
    },
  }
}
