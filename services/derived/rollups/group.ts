// A group of rollups, slow ones or the others: which dirty minutes each of them lacks, and when they are recomputed.
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
import { type RecomputeBounds, recomputeDirty } from './recompute.ts'
import { allCountedAgain, type CountedAgain, deduplicationRollup, type Rollup } from './rollup-table.ts'

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
type Counted = Coverage & { first: { windows: HourRange[]; upTo: Position[] } | 'due' | null }

export type RollupsDeps = {
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

type Group = Omit<RollupsDeps, 'table'> &
  Required<Pick<RollupsDeps, 'assignment' | 'budget'>> & {
    table: readonly Rollup[]
    /** Rollups of all groups: dirty buckets stay until each of them covers them. */
    all: readonly Rollup[]
    isSlow: boolean
    states: Map<string, Counted>
    /** Partitions of dirty buckets that were dropped. */
    dropped: number
    /** When the oldest dirty bucket came that a rollup may lack, by the rollup's name. */
    lacking: Map<string, number>
    dirtiedMs: number
    /** Whether the last recompute was part of a first count. */
    isFirstCount: boolean
    isLeader: boolean
  }

const lagOf = ({ table, lacking, states }: Group) =>
  table.map(({ name }) => ({
    name,
    lagMs: Date.now() - (lacking.get(name) ?? Date.now()),
    isBuilding: states.get(name)?.isBegun === false,
  }))

const longestLagMs = (group: Group): number => Math.max(...lagOf(group).map(({ lagMs }) => lagMs))

const latenessOf = (group: Group): number => longestLagMs(group) / (group.isSlow ? allowedSlowMs : allowedMs)

/** Whether slow rollups wait for more that is due. */
const mayWait = (group: Group): boolean =>
  group.isSlow &&
  longestLagMs(group) < slowMs &&
  !group.table.some(({ name, isMuchDue }) => group.states.get(name)?.first || isMuchDue?.())

/** Runs the statements of a rollup over dirty buckets of the partitions, `covered < position <= upTo`. */
async function count(
  group: Group,
  { recomputed, derive }: Rollup,
  state: Counted,
  due: { partition: number; covered: number; offset: number }[],
  slots: Assignment['slots'],
  within: Budget,
): Promise<void> {
  const range = {
    slots: slots ?? [],
    partitions: due.map(({ partition }) => partition),
    covered: due.map(({ covered }) => covered),
    upTo: due.map(({ offset }) => offset),
    minCovered: Math.min(...due.map(({ covered }) => covered)),
    revision: 0,
    ...(group.countedAgain?.() ?? allCountedAgain),
  }
  const recompute = async (): Promise<void> => {
    // The later reader of two processes that recompute at the same time wins.
    range.revision = Math.max(Date.now() * 1_000, state.revision + 1)
    if (recomputed) await recomputeDirty(group.store, recomputed, range, group.bounds)
  }
  if (recomputed) await within.run(recompute, { isUrgent: !group.isSlow, lateness: () => latenessOf(group) })
  else await recompute()
  await derive?.(range)
  state.revision = range.revision
}

async function cover(
  { store, verify }: Group,
  name: string,
  { revision }: Counted,
  slots: Assignment['slots'],
  upTo: readonly Position[],
): Promise<void> {
  await verify?.()
  await writeCoverage(store, name, { slots, upTo, revision })
}

async function advance(
  group: Group,
  name: string,
  state: Counted,
  slots: Assignment['slots'],
  upTo: readonly Position[],
): Promise<void> {
  await cover(group, name, state, slots, upTo)
  state.isBegun ||= slots === null
  for (const { partition, offset } of upTo) state.offsets.set(partition, offset)
}

/** Counts the next hours of the first count, or ends it. */
async function countFirst(
  group: Group,
  rollup: Rollup,
  state: Counted,
  committed: Position[],
  within: Budget,
): Promise<void> {
  const { store, beforeFirstCount } = group
  if (state.first === 'due') state.first = { windows: await readHourRanges(store, 0), upTo: committed }
  const { windows, upTo } = state.first as Exclude<Counted['first'], 'due' | null>
  const [window] = windows
  if (window) {
    const partition = ownPartition - windows.length
    const { fromUs: from, beforeExclusiveUs: before } = window
    await within.run(async () => beforeFirstCount?.(window), { isUrgent: false, lateness: () => latenessOf(group) })
    await store.command(statement('dirty-buckets-of-range', { partition, position: 0, from, before }), aside)
    await count(group, rollup, state, [{ partition, covered: -1, offset: 0 }], null, within)
    windows.shift()
    return
  }
  if (!state.isBegun) await advance(group, rollup.name, state, null, upTo)
  if (rollup.layout) await cover(group, rollup.layout, state, null, upTo)
  state.first = null
}

async function loaded(
  { store, states }: Group,
  { name, markAllStatement: marksAll, layout }: Rollup,
  { slots, isLeader }: Assignment,
): Promise<Counted> {
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
  const state: Counted = { ...covered, first: isWhole ? null : 'due' }
  states.set(name, state)
  return state
}

/** @returns whether anything was due */
async function recomputeOne(
  group: Group,
  rollup: Rollup,
  committed: Position[],
  assigned: Assignment,
  within: Budget,
): Promise<boolean> {
  const state = await loaded(group, rollup, assigned)
  const { offsets, first, isBegun } = state
  // A rollup that nobody has begun is begun for all projects at once.
  if (!isBegun && !assigned.isLeader) return false
  const slots = isBegun ? assigned.slots : null
  const due = committed
    .map((position) => ({ ...position, covered: isBegun ? (offsets.get(position.partition) ?? 0) : -1 }))
    .filter(({ offset, covered }) => offset > covered)
  const isDue = due.length > 0 && (first === null || isBegun)
  if (isDue) {
    await count(group, rollup, state, due, slots, within)
    await advance(group, rollup.name, state, slots, due)
  }
  if (first !== null) {
    group.isFirstCount = true
    await countFirst(group, rollup, state, committed, within)
  }
  return isDue || first !== null
}

/** Drops dirty buckets that every rollup covers, whoever derives it. Slow rollups leave that to the others. */
async function dropCoveredBuckets(group: Group, committed: Position[]): Promise<void> {
  const { store, states } = group
  const minOf = (all: (Coverage | undefined)[]) =>
    Math.min(...committed.flatMap(({ partition }) => all.map((one) => one?.offsets.get(partition) ?? 0)))
  const ofGroup = group.table.map(({ name }) => states.get(name))
  if (Math.floor(minOf(ofGroup) / positionsPerPartition) <= group.dropped) return
  const names = [...group.all.map(({ name }) => name), fieldIndexRollup, deduplicationRollup]
  const min = minOf(await Promise.all(names.map((name) => readCoverage(store, name, null))))
  const before = Math.floor(min / positionsPerPartition)
  for (const table of tablesOfKind('dirty'))
    for (const { n } of await store.rows<{ n: number }>(coveredPartitions(table, before), { pool: 'background' }))
      await store.command(statement('rollups.drop-marks', {}, { table, n: String(n) }), aside)
  group.dropped = before
}

/** @returns whether anything was due */
async function recomputeAll(group: Group, within: Budget): Promise<boolean> {
  const { states, lacking } = group
  const assigned = group.assignment()
  const committed = assigned.slots?.length === 0 ? [] : await group.committed()
  // Only the leader looks for what nobody has begun.
  if (assigned.isLeader !== group.isLeader) states.clear()
  group.isLeader = assigned.isLeader
  // Other workers derive everything.
  if (committed.length === 0) {
    lacking.clear()
    return false
  }
  let isDone = false
  for (const rollup of group.table) {
    const beganMs = Date.now()
    isDone = (await recomputeOne(group, rollup, committed, assigned, within)) || isDone
    if (group.dirtiedMs > beganMs) lacking.set(rollup.name, beganMs)
    else if (states.get(rollup.name)?.isBegun) lacking.delete(rollup.name)
  }
  if (isDone && !group.isSlow && assigned.isLeader) await dropCoveredBuckets(group, committed)
  return isDone
}

/** @param all rollups of all groups: dirty buckets stay until each of them covers them */
export function createGroup(deps: RollupsDeps, table: readonly Rollup[], all: readonly Rollup[]): Rollups {
  const { budget = unlimited, assignment = () => wholeAssignment } = deps
  const group: Group = {
    ...deps,
    budget,
    assignment,
    table,
    all,
    isSlow: table.every((rollup) => rollup.isSlow),
    states: new Map(),
    dropped: 0,
    lacking: new Map(),
    dirtiedMs: 0,
    isFirstCount: false,
    isLeader: true,
  }
  const queue = createSerialQueue()
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const refresh = (within: Budget): Promise<boolean> => queue.run(() => recomputeAll(group, within))
  const schedule = (afterMs: number): void => {
    if (timer || stopped) return
    timer = setTimeout(async () => {
      const waits = mayWait(group)
      const isDone = await Promise.resolve(!waits && refresh(budget)).catch((error: unknown) => {
        deps.onError(error instanceof Error ? error : new Error(String(error)))
        return true
      })
      timer = undefined
      if (isDone || (waits && group.lacking.size > 0)) schedule(quietMs)
    }, afterMs)
    timer.unref()
  }
  return {
    onDirty() {
      group.dirtiedMs = Date.now()
      for (const { name } of table) if (!group.lacking.has(name)) group.lacking.set(name, group.dirtiedMs)
      schedule(quietMs)
    },
    lag: () => lagOf(group),
    lateness: () => latenessOf(group),
    async refresh() {
      // Once more after the first count: it covers what was committed when it began.
      do {
        group.isFirstCount = false
        await refresh(unlimited)
      } while (group.isFirstCount)
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
