// The worker: takes batches from the log, applies them to the store, and moves the position last.
import { slotsOf } from '../content/hash-slots.ts'
import { pause } from '../core/concurrency/pause.ts'
import { batchMembers, combined } from '../core/log/combined-batch.ts'
import type { Batch, Log } from '../core/log/log.ts'
import type { Progress } from '../core/log/progress.ts'
import { isPassing } from '../core/process/passing-faults.ts'
import type { Store } from '../core/store/store.ts'
import { type Budget, createBudget } from '../derived/budget.ts'
import { createFieldIndex, type FieldIndex } from '../derived/field-index/field-index.ts'
import type { Joiner } from '../derived/logs/joiner.ts'
import { createOrphanRoots, type OrphanRoots } from '../derived/orphans/orphan-roots.ts'
import type { Rollups } from '../derived/rollups/group.ts'
import type { CountedAgain } from '../derived/rollups/rollup-table.ts'
import { createRollups } from '../derived/rollups/rollups.ts'
import { topicNamed } from '../events/registry.ts'
import { type Applier, createApplier } from './apply-batch.ts'
import { createKnownCalls } from './calls/known-calls.ts'
import type { LogJoins } from './calls/merge-fragments.ts'
import type { SpansOfRows } from './calls/spans.ts'
import { createUsageShares, type UsageShares } from './calls/usage-shares.ts'
import { type CommitDeps, type Committer, createCommitter } from './commit-batch.ts'
import { createControlInsert, type KeptRecords } from './split/control-insert.ts'

/** Report of the worker after each batch; the composition root turns it into log lines and metrics. */
export type BatchReport = {
  topic: string
  rows: number
  records: number
  deadLetters: number
  /** Milliseconds from the start of the batch to its commit. */
  tookMs: number
  /** Milliseconds from the append of its oldest record to its commit. */
  lagMs: number
}

export type WorkerDeps = Omit<CommitDeps, 'applier' | 'signal'> & {
  log: Log
  store: Store
  progress: Progress
  /** Records that the log still holds: applied rows tell bad rows from tables that take nothing. */
  keptRecords?: KeptRecords
  logJoins?: (LogJoins & Pick<Joiner, 'arrived' | 'onApplied'>) | undefined
  /** The time from which on minutes of statistics may be counted again. */
  countedAgain?(): CountedAgain
  /** Time without anything new after which the topmost calls of a trace stand for its missing root. */
  orphanGraceMs?: number
  /** Whether no other process writes the tables. */
  ownsTables?: boolean
  onBatch?(report: BatchReport): void
  /** Called when each new call is looked up in the tables from now on, until the next start. */
  onLookUps?(reason: string): void
  /** The worker cannot go on (unknown schema version, damaged log); the process must stop. */
  onFatal(error: Error): void
}

export type Worker = Omit<Applier, 'apply' | 'close'> & {
  /** Resolves once everything that was unapplied at the call is applied, or has to wait; call before the port opens. */
  caughtUp(): Promise<void>
  status(): { status: 'ok' | 'degraded' | 'down'; reason?: string }
  /** Counts and statistics of calls. */
  rollups: Rollups
  /** The field index of payloads. */
  fieldIndexRollups: Rollups
  /** Budget of all background work. */
  budget: Budget
  /** Calls that stand for roots that never came. */
  orphanRoots: OrphanRoots
  /** Finishes the batch, the recompute and the deduplication under way, and stops. */
  stop(): Promise<void>
}

/** About how large a combined batch of several partitions may become. */
const combinedBytes = 16 * 2 ** 20
const sizeOf = ({ records }: Batch): number => records.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

const usualOrphanGraceMs = 30_000
/** Time after a batch in which more are expected. */
const busyMs = 3_000

/** @throws Error when a record is of another version than this build and the one before it write */
function refuseUnknownVersions({ topic, records }: Batch): void {
  const { version } = topicNamed(topic)
  const unknown = records.find((record) => record.version > version || record.version < version - 1)
  if (unknown)
    throw new Error(
      `Record ${topic}=${unknown.offset} has row version ${unknown.version}; this build knows ${version} and the one before it. ${
        unknown.version > version ? 'Upgrade before starting.' : 'Start the version between them first.'
      }`,
    )
}

type Derived = {
  rollups: Rollups
  fieldIndexRollups: Rollups
  orphanRoots: OrphanRoots
}

/** The parts of a running worker. */
type State = Derived & {
  deps: WorkerDeps
  signal: AbortSignal
  /** When the last batch came, or something else made minutes dirty. */
  busy: { lastMs: number }
  budget: Budget
  fieldIndex: FieldIndex
  applier: Applier
  committer: Committer
}

const derivedSlots = ({ log }: WorkerDeps) =>
  slotsOf(log.partitions('calls'), (partition) => log.owns('calls', partition))

/** @param onSpans called with the spans of each batch */
function createWorkerApplier(
  deps: WorkerDeps,
  { fieldIndex, shares, budget, signal }: { shares: UsageShares } & Pick<State, 'fieldIndex' | 'budget' | 'signal'>,
  onSpans: (spans: SpansOfRows) => void,
): Applier {
  const { store, log } = deps
  return createApplier({
    store,
    log,
    shares,
    onSpans,
    deadLetters: deps.deadLetters,
    committedCalls: async () => (log.owns('calls', 0) ? log.committed('calls') : []),
    budget,
    logJoins: deps.logJoins,
    newCalls: {
      joined: deps.logJoins?.projects,
      isJoined: deps.logJoins?.isJoined,
      gathered: fieldIndex.gathered,
      known: deps.ownsTables
        ? createKnownCalls({
            store,
            budget,
            signal,
            onError: (error) => deps.onRetry?.('calls', error, 0),
            onDisable: (reason) => deps.onLookUps?.(reason),
          })
        : undefined,
    },
    ...(deps.keptRecords && { control: createControlInsert({ ...deps, records: deps.keptRecords }) }),
  })
}

/** Creates the rollups and findings that follow from calls. @param onDirty called after minutes were made dirty */
function createDerived(
  deps: WorkerDeps,
  { fieldIndex, shares, applier, budget, signal }: { shares: UsageShares } & Omit<State, keyof Derived>,
  onDirty: () => void,
): Derived {
  const { log, store, progress, verify } = deps
  const derived = {
    store,
    verify,
    committed: async () => progress.readable(await log.committed('calls')),
    assignment: () => ({
      slots: derivedSlots(deps),
      isLeader: log.owns('calls', 0),
    }),
  }
  return {
    rollups: createRollups({
      ...derived,
      budget,
      beforeFirstCount: shares.settleStored,
      countedAgain: deps.countedAgain,
      onError: (error) => deps.onRetry?.('calls', error, 0),
    }),
    fieldIndexRollups: createRollups({
      ...derived,
      table: [fieldIndex.rollup],
      onError: (error) => void (signal.aborted || deps.onRetry?.('calls', error, 0)),
    }),
    orphanRoots: createOrphanRoots({
      store,
      budget,
      assignment: derived.assignment,
      graceMs: deps.orphanGraceMs ?? usualOrphanGraceMs,
      recountCalls: (calls) => applier.recountCalls(calls).then(onDirty),
      onError: (error) => void (signal.aborted || deps.onRetry?.('calls', error, 0)),
    }),
  }
}

function createState(deps: WorkerDeps, signal: AbortSignal): State {
  const { store } = deps
  const busy = { lastMs: 0 }
  const budget = createBudget(() => Date.now() - busy.lastMs < busyMs, signal)
  const fieldIndex = createFieldIndex({
    store,
    budget,
    lateness: () => state.fieldIndexRollups.lateness(),
    isSoleDeriver: () => derivedSlots(deps) === null,
  })
  const shares = createUsageShares(store, deps.ownsTables === true)
  const onSpans = (spans: SpansOfRows): void => state.orphanRoots.arrived(spans, Date.now())
  const applier = createWorkerApplier(deps, { fieldIndex, shares, budget, signal }, onSpans)
  const committer = createCommitter({ ...deps, applier, signal })
  const parts = { deps, signal, busy, budget, fieldIndex, applier, committer }
  const state: State = { ...parts, ...createDerived(deps, { ...parts, shares }, () => onDirty(state)) }
  return state
}

function onDirty({ busy, rollups, fieldIndexRollups }: State): void {
  busy.lastMs = Date.now()
  rollups.onDirty()
  fieldIndexRollups.onDirty()
}

/** Whether nothing waits behind the batch, in its partitions. */
async function isLast({ log }: WorkerDeps, batch: Batch): Promise<boolean> {
  const ends = new Map((await log.end(batch.topic)).map(({ partition, offset }) => [partition, offset]))
  return batchMembers(batch).every(({ partition, lastOffset }) => lastOffset >= (ends.get(partition) ?? 0))
}

/** Before the batch is readable: a list of roots that is read next has them. */
async function lookForOrphans({ deps, orphanRoots }: State): Promise<void> {
  await orphanRoots.lookAtArrived(Date.now()).catch((error: Error) => deps.onRetry?.('calls', error, 0))
}

/** Reads of the log fail as files do: what passes is waited for. */
async function consume(state: State, topic: string): Promise<void> {
  const { deps, signal, committer } = state
  for (let retryMs = 50; ; retryMs = Math.min(2 * retryMs, 5_000))
    try {
      await consumeUntilFault(state, topic)
      return
    } catch (error) {
      if (!isPassing(error) || signal.aborted) throw error
      committer.failing.set(topic, { status: 'degraded', reason: `the log cannot be read (${error.code})` })
      deps.onRetry?.(topic, error, retryMs)
      await pause(retryMs, signal)
    }
}

async function consumeUntilFault(state: State, topic: string): Promise<void> {
  const { deps, signal, committer, fieldIndex, orphanRoots } = state
  const { log, progress, logJoins } = deps
  for await (const first of log.consume(topic, signal)) {
    const batch = combined(first, log.takeMore(topic, combinedBytes - sizeOf(first)))
    refuseUnknownVersions(batch)
    const beganMs = Date.now()
    const isJoined = topic === 'logs' ? await logJoins?.arrived(batch) : undefined
    const deadLetters = await committer.commitBatch(batch)
    if (deadLetters === undefined) return
    fieldIndex.gathered.committed(batch)
    if (topic === 'calls' && orphanRoots.isDue() && (await isLast(deps, batch))) await lookForOrphans(state)
    for (const { partition, lastOffset: offset } of batchMembers(batch)) progress.applied({ topic, partition, offset })
    if (topic === 'calls') onDirty(state)
    if (isJoined === false) logJoins?.onApplied()
    deps.onBatch?.({
      topic,
      deadLetters,
      rows: batch.rowCount,
      records: batch.records.length,
      tookMs: Date.now() - beganMs,
      lagMs: Date.now() - batch.oldestMs,
    })
  }
}

/** Takes batches of all topics, until the worker stops. */
async function consumeAll(state: State): Promise<void> {
  const { deps, signal, committer } = state
  const consumed = deps.log.topics.map((topic) =>
    consume(state, topic).catch((error: unknown) => {
      if (signal.aborted) return
      committer.failing.set(topic, { status: 'down', reason: 'the worker has stopped' })
      deps.onFatal(error instanceof Error ? error : new Error(String(error)))
    }),
  )
  await Promise.all(consumed)
}

async function begin(state: State): Promise<void> {
  const { log, progress, onRetry } = state.deps
  for (const topic of log.topics) for (const position of await log.committed(topic)) progress.applied(position)
  // A new installation is begun while it is empty: all that is there later would be read back.
  if ((await log.committed('calls')).every(({ offset }) => offset === 0))
    await state.fieldIndexRollups.refresh().catch((error: Error) => onRetry?.('calls', error, 0))
  // Dirty buckets that the last process did not recompute.
  onDirty(state)
  state.orphanRoots.start()
}

async function caughtUp({ deps: { log, progress }, signal, committer }: State): Promise<void> {
  const ends = (await Promise.all(log.topics.map((topic) => log.end(topic)))).flat()
  for (const topic of log.topics) log.flush(topic)
  await Promise.race([progress.reach(ends, 2 ** 31 - 1, signal), committer.stuck])
}

function statusOf({ deps: { views }, committer }: State): ReturnType<Worker['status']> {
  const all = [...committer.failing]
  const first = all.find(([, { status }]) => status === 'down') ?? all[0]
  if (first) return { status: first[1].status, reason: `${first[0]}: ${first[1].reason}` }
  const reason = views?.problem()
  return reason === undefined ? { status: 'ok' } : { status: 'down', reason }
}

/** Starts one loop per topic; their batches are applied one after the other. */
export function startWorker(deps: WorkerDeps): Worker {
  const stopping = new AbortController()
  const state = createState(deps, stopping.signal)
  const { applier, fieldIndex, rollups, fieldIndexRollups, budget, orphanRoots } = state
  const ready = begin(state)
  const consuming = ready.then(() => consumeAll(state))
  const dirty = () => onDirty(state)
  return {
    rollups,
    fieldIndexRollups,
    budget,
    orphanRoots,
    exclusive: applier.exclusive,
    deduplicateChanged: applier.deduplicateChanged,
    deduplicateAll: applier.deduplicateAll,
    recountCalls: (calls) => applier.recountCalls(calls).then(dirty),
    reapply: (topic, rows) => applier.reapply(topic, rows).then(dirty),
    recount: (range) => applier.recount(range).then(dirty),
    recountShares: (range) => applier.recountShares(range).then(dirty),
    async caughtUp() {
      await ready
      await caughtUp(state)
    },
    status: () => statusOf(state),
    async stop() {
      stopping.abort()
      fieldIndex.stop()
      await Promise.all([rollups.stop(), fieldIndexRollups.stop(), orphanRoots.stop(), applier.stop()])
      await consuming
      await applier.close()
    },
  }
}
