// The worker: takes batches from the log, applies them to the store, and moves the position last.
import { slotsOf } from '../content/hash-slots.ts'
import { pause } from '../core/concurrency/pause.ts'
import { batchMembers, combined } from '../core/log/combined-batch.ts'
import type { Batch, Log } from '../core/log/log.ts'
import type { Progress } from '../core/log/progress.ts'
import { isPassing } from '../core/process/passing-faults.ts'
import type { Store } from '../core/store/store.ts'
import { type Budget, createBudget } from '../derived/budget.ts'
import { createFieldIndex } from '../derived/field-index/field-index.ts'
import type { Joiner } from '../derived/logs/joiner.ts'
import { createOrphanRoots, type OrphanRoots } from '../derived/orphans/orphan-roots.ts'
import { type CountedAgain, createRollups, type Rollups } from '../derived/rollups/rollups.ts'
import { topicNamed } from '../events/registry.ts'
import { type Applier, createApplier } from './apply-batch.ts'
import { createKnownCalls } from './calls/known-calls.ts'
import type { LogJoins } from './calls/merge-fragments.ts'
import { createUsageShares } from './calls/usage-shares.ts'
import { type CommitDeps, createCommitter } from './commit-batch.ts'
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

/** Starts one loop per topic; their batches are applied one after the other. */
export function startWorker(deps: WorkerDeps): Worker {
  const { log, store, progress, views, verify } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const committedCalls = async () => (log.owns('calls', 0) ? log.committed('calls') : [])
  let lastBatchMs = 0
  const budget = createBudget(() => Date.now() - lastBatchMs < busyMs, signal)
  const derivedSlots = () => slotsOf(log.partitions('calls'), (partition) => log.owns('calls', partition))
  const fieldIndex = createFieldIndex({
    store,
    budget,
    lateness: () => fieldIndexRollups.lateness(),
    isSoleDeriver: () => derivedSlots() === null,
  })
  const shares = createUsageShares(store, deps.ownsTables === true)
  const applier = createApplier({
    store,
    log,
    shares,
    onSpans: (spans) => orphanRoots.arrived(spans, Date.now()),
    deadLetters: deps.deadLetters,
    committedCalls,
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
  const { commitBatch, failing, stuck } = createCommitter({ ...deps, applier, signal })

  const derived = {
    store,
    verify,
    committed: async () => progress.readable(await log.committed('calls')),
    assignment: () => ({
      slots: derivedSlots(),
      isLeader: log.owns('calls', 0),
    }),
  }
  const rollups = createRollups({
    ...derived,
    budget,
    beforeFirstCount: shares.settleStored,
    countedAgain: deps.countedAgain,
    onError: (error) => deps.onRetry?.('calls', error, 0),
  })
  const fieldIndexRollups = createRollups({
    ...derived,
    table: [fieldIndex.rollup],
    onError: (error) => void (signal.aborted || deps.onRetry?.('calls', error, 0)),
  })
  const recountMinutes: Applier['recountMinutes'] = (minutes) => applier.recountMinutes(minutes).then(onDirty)
  const orphanRoots = createOrphanRoots({
    store,
    budget,
    assignment: derived.assignment,
    graceMs: deps.orphanGraceMs ?? usualOrphanGraceMs,
    recountMinutes,
    onError: (error) => void (signal.aborted || deps.onRetry?.('calls', error, 0)),
  })
  const onDirty = (): void => {
    lastBatchMs = Date.now()
    rollups.onDirty()
    fieldIndexRollups.onDirty()
  }

  /** Whether nothing waits behind the batch, in its partitions. */
  const isLast = async (batch: Batch): Promise<boolean> => {
    const ends = new Map((await log.end(batch.topic)).map(({ partition, offset }) => [partition, offset]))
    return batchMembers(batch).every(({ partition, lastOffset }) => lastOffset >= (ends.get(partition) ?? 0))
  }
  /** Before the batch is readable: a list of roots that is read next has them. */
  const lookForOrphans = async (): Promise<void> => {
    await orphanRoots.lookAtArrived(Date.now()).catch((error: Error) => deps.onRetry?.('calls', error, 0))
  }

  /** Reads of the log fail as files do: what passes is waited for. */
  const consume = async (topic: string): Promise<void> => {
    for (let retryMs = 50; ; retryMs = Math.min(2 * retryMs, 5_000))
      try {
        await consumeUntilFault(topic)
        return
      } catch (error) {
        if (!isPassing(error) || signal.aborted) throw error
        failing.set(topic, { status: 'degraded', reason: `the log cannot be read (${error.code})` })
        deps.onRetry?.(topic, error, retryMs)
        await pause(retryMs, signal)
      }
  }

  const consumeUntilFault = async (topic: string): Promise<void> => {
    for await (const first of log.consume(topic, signal)) {
      const batch = combined(first, log.takeMore(topic, combinedBytes - sizeOf(first)))
      refuseUnknownVersions(batch)
      const beganMs = Date.now()
      const isJoined = topic === 'logs' ? await deps.logJoins?.arrived(batch) : undefined
      const deadLetters = await commitBatch(batch)
      if (deadLetters === undefined) return
      fieldIndex.gathered.committed(batch)
      if (topic === 'calls' && orphanRoots.isDue() && (await isLast(batch))) await lookForOrphans()
      for (const { partition, lastOffset: offset } of batchMembers(batch))
        progress.applied({ topic, partition, offset })
      if (topic === 'calls') onDirty()
      if (isJoined === false) deps.logJoins?.onApplied()
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

  const ready = (async () => {
    for (const topic of log.topics) for (const position of await log.committed(topic)) progress.applied(position)
    // Dirty buckets that the last process did not recompute.
    onDirty()
    orphanRoots.start()
  })()
  const consuming = ready.then(() =>
    Promise.all(
      log.topics.map((topic) =>
        consume(topic).catch((error: unknown) => {
          if (signal.aborted) return
          failing.set(topic, { status: 'down', reason: 'the worker has stopped' })
          deps.onFatal(error instanceof Error ? error : new Error(String(error)))
        }),
      ),
    ),
  )

  return {
    rollups,
    fieldIndexRollups,
    budget,
    orphanRoots,
    recountMinutes,
    exclusive: applier.exclusive,
    deduplicateChanged: applier.deduplicateChanged,
    deduplicateAll: applier.deduplicateAll,
    reapply: (topic, rows) => applier.reapply(topic, rows).then(onDirty),
    recount: (range) => applier.recount(range).then(onDirty),
    recountShares: (range) => applier.recountShares(range).then(onDirty),
    async caughtUp() {
      await ready
      const ends = (await Promise.all(log.topics.map((topic) => log.end(topic)))).flat()
      for (const topic of log.topics) log.flush(topic)
      await Promise.race([progress.reach(ends, 2 ** 31 - 1, signal), stuck])
    },
    status() {
      const all = [...failing]
      const first = all.find(([, { status }]) => status === 'down') ?? all[0]
      if (first) return { status: first[1].status, reason: `${first[0]}: ${first[1].reason}` }
      const reason = views?.problem()
      return reason === undefined ? { status: 'ok' } : { status: 'down', reason }
    },
    async stop() {
      stopping.abort()
      fieldIndex.stop()
      await Promise.all([rollups.stop(), fieldIndexRollups.stop(), orphanRoots.stop(), applier.stop()])
      await consuming
      await applier.close()
    },
  }
}
