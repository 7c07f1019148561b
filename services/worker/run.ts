// The worker: takes batches from the log, applies them to the store, and moves the position last.

import { pause } from '../core/concurrency/pause.ts'
import { createSerialQueue } from '../core/concurrency/serial-queue.ts'
import type { Batch, Log } from '../core/log/log.ts'
import type { Progress } from '../core/log/progress.ts'
import { type Store, StoreError } from '../core/store/store.ts'
import { topicNamed } from '../events/registry.ts'
import { type CallMaterializer, createCallMaterializer, type NextPosition } from './calls/merge-fragments.ts'
import { type Budget, createBudget } from './cleanup/budget.ts'
import { createDeduplication } from './cleanup/deduplicate.ts'
import { combined, membersOf } from './combined-batch.ts'
import type { DeadLetters } from './dead-letters/dead-letters.ts'
import { createFieldIndex } from './field-index/field-index.ts'
import { Held } from './held.ts'
import type { Materializer } from './materializer.ts'
import { createRollups, type Rollups } from './rollups/rollups.ts'
import { createControlInsert, type KeptRecords } from './split/control.ts'
import { createCrashGuard } from './split/crash-apply.ts'
import { withoutCrashingRows } from './split/crash-bisect.ts'
import type { CrashProbe } from './split/crash-probe.ts'
import type { InFlight } from './split/in-flight.ts'
import type { TimeRange } from './split/months.ts'
import { createPortions, portionOf } from './split/portions.ts'
import { type SegmentRow, withoutHeader } from './split/segment-rows.ts'
import type { Views } from './views.ts'

/** What the worker reports after each batch; the composition root turns it into log lines and metrics. */
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

export type WorkerDeps = {
  log: Log
  store: Store
  progress: Progress
  deadLetters: DeadLetters
  inFlight: InFlight
  probe?: CrashProbe
  /** What the log still holds: rows that went in before tell bad rows from tables that take nothing. */
  keptRecords?: KeptRecords
  /** Whether the views that fill the tables are there, asked after each batch; absent: never asked. */
  views?: Views
  /** Whether the tables are still those of the log, asked after an outage and before counters. @throws Error when not */
  verify?(): Promise<void>
  /** Projects whose spans have log records that become part of them. */
  projectsWithLogRecords?: () => readonly string[]
  onBatch?(report: BatchReport): void
  /** An outage: the batch will be tried again after `retryMs`. */
  onRetry?(topic: string, error: Error, retryMs: number): void
  /** The worker cannot go on (unknown schema version, damaged log); the process must stop. */
  onFatal(error: Error): void
}

export type Worker = {
  /** Applies what was unapplied when it was called, or finds that it has to wait; call before the port opens. */
  caughtUp(): Promise<void>
  status(): { status: 'ok' | 'degraded' | 'down'; reason?: string }
  rollups: Rollups
  /** Keeps the leaves of payloads. */
  fieldIndexRollups: Rollups
  /** Of all work in the background. */
  budget: Budget
  /** Runs a job between two batches. */
  exclusive<T>(job: () => Promise<T>): Promise<T>
  /** Folds calls that large batches brought under two start times; part of the hourly housekeeping. */
  deduplicateChanged(): Promise<number>
  /** The same for everything that is stored. */
  deduplicateAll(): Promise<number>
  /** Applies rows that were applied before once more, between two batches: what is there already stays as it is. */
  reapply(topic: string, rows: SegmentRow[]): Promise<void>
  /** Makes the counters of a range due again. */
  recount(range: TimeRange): Promise<void>
  /** Finishes the batch, the recompute and the sweep at hand, and stops. */
  stop(): Promise<void>
}

/** File system errors that pass; others mean that the log or the data folder is damaged. */
const transientCodes = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'EBUSY'])
const isOutage = (error: unknown): error is Error =>
  error instanceof StoreError ||
  error instanceof Held ||
  (error instanceof Error && transientCodes.has((error as NodeJS.ErrnoException).code ?? ''))

/** Refusals of a statement, one after the other, after which the worker counts as down. */
const refusalsBeforeStuck = 6
const stuckRetryMs = 60_000
const isRefusal = (error: Error): boolean =>
  error instanceof StoreError && (error.kind === 'query' || error.kind === 'data')

/** A batch that is held is tried again after this, then after longer. */
const heldRetryMs = 1_000

/** For everyone to read: nothing of what the engine quotes. */
function reasonOf(error: Error): string {
  if (error instanceof Held) return error.message
  if (!(error instanceof StoreError)) return `the file system fails (${(error as NodeJS.ErrnoException).code})`
  const code = error.code === 0 ? '' : ` (code ${error.code})`
  switch (error.kind) {
    case 'query':
    case 'data':
    case 'rows':
      return `the database refuses a statement${code}; rows are kept and wait`
    case 'memory':
      return `the database has too little memory${code}`
    case 'timeout':
    case 'cancelled':
    case 'busy':
    case 'outage':
      return `the database is not available${code}`
    default:
      return error.kind satisfies never
  }
}

/** Batches of several partitions are applied together up to about this size. */
const combinedBytes = 16 * 2 ** 20
const sizeOf = ({ records }: Batch): number => records.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

/** So long after a batch more are taken to come. */
const busyMs = 3_000

/** Crashed starts after which a batch is tried row by row in a child process. */
const crashesBeforeBisect = 2

/** Starts one loop per topic. All statements run one after the other: the scratch tables belong to one batch. */
export function startWorker(deps: WorkerDeps): Worker {
  const { log, store, progress, deadLetters, inFlight, views } = deps
  const stopping = new AbortController()
  const queue = createSerialQueue()
  const calls: CallMaterializer = createCallMaterializer(store, deps.projectsWithLogRecords)
  const plain = (topic: string): Materializer => ({
    topic,
    beforeInsert: async () => {},
    afterInsert: async () => {},
  })
  const materializers: Materializer[] = log.topics.map((topic) => (topic === calls.topic ? calls : plain(topic)))
  const failing = new Map<string, { status: 'degraded' | 'down'; reason: string }>()
  const keeping = {
    store,
    verify: deps.verify,
    committed: async () => (log.ownsLeaderPartition('calls') ? progress.readable(await log.committed('calls')) : []),
  }
  let lastBatchMs = 0
  const budget = createBudget(() => Date.now() - lastBatchMs < busyMs, stopping.signal)
  const rollups = createRollups({
    ...{ ...keeping, budget },
    onError: (error) => deps.onRetry?.('calls', error, 0),
  })

  const leaves = createFieldIndex({ store, budget })
  const fieldIndexRollups = createRollups({
    ...keeping,
    onError: (error) => void (stopping.signal.aborted || deps.onRetry?.('calls', error, 0)),
    table: [leaves.rollup],
    isSlow: true,
  })
  const touch = (): void => {
    lastBatchMs = Date.now()
    rollups.onDirty()
    fieldIndexRollups.onDirty()
  }

  const { keptRecords: records } = deps
  const applyRows = createPortions({
    ...{ store, deadLetters, queue },
    ...(records && { control: createControlInsert({ store, deadLetters, records }) }),
  })
  /** @param sound rows that do not crash the engine, in groups, when others may; absent: all of the batch */
  const apply = async (
    materializer: Materializer,
    batch: Batch,
    sound: SegmentRow[][] | undefined,
  ): Promise<number> => {
    if (!sound) return applyRows(materializer, batch, undefined)
    const { topic } = batch
    const guarded = createCrashGuard({
      steps: inFlight.steps(membersOf(batch)[0] as Batch),
      apply: (rows) => applyRows(materializer, portionOf(batch, rows), rows),
      giveUp: ({ partition, offset, rowIndex, text }) =>
        deadLetters.add({
          ...{ topic, partition, offset, rowIndex, row: withoutHeader(text) },
          reason: 'the process ended whenever this row was applied, also by itself',
        }),
    })
    let dead = batch.rowCount
    for (const rows of sound) dead += (await guarded(rows)) - rows.length
    return dead
  }

  /** A batch waits for someone to look: a start that waited for it would never say so. */
  const stuck = Promise.withResolvers<void>()

  /** Repeats a step until it is done: nothing that was accepted is given up. Undefined when the worker was stopped. */
  const retryUntilDone = async <T>(topic: string, step: () => Promise<T>): Promise<T | undefined> => {
    for (let refusals = 0, holds = 0, retryMs = 50; ; retryMs = Math.min(retryMs * 2, 5_000)) {
      try {
        if (failing.has(topic)) await deps.verify?.()
        const result = await step()
        failing.delete(topic)
        return result
      } catch (error) {
        if (!isOutage(error)) throw error
        if (stopping.signal.aborted) return undefined
        // A statement that is at fault will be again: no storm of attempts, and someone has to know.
        refusals = isRefusal(error) ? refusals + 1 : 0
        if (error instanceof Held) retryMs = Math.min(stuckRetryMs, heldRetryMs * 2 ** holds++)
        else holds = 0
        if (refusals >= refusalsBeforeStuck) retryMs = stuckRetryMs
        const isStuck = error instanceof Held || refusals >= refusalsBeforeStuck
        failing.set(topic, { status: isStuck ? 'down' : 'degraded', reason: reasonOf(error) })
        if (isStuck) stuck.resolve()
        deps.onRetry?.(topic, error, retryMs)
        await pause(retryMs, stopping.signal)
        if (stopping.signal.aborted) return undefined
      }
    }
  }

  /** Applies a batch and moves the position; returns the number of dead letters, undefined when it was stopped. */
  const commitBatch = async (materializer: Materializer, batch: Batch): Promise<number | undefined> => {
    const { topic } = batch
    const members = membersOf(batch)
    const crashes = await retryUntilDone(topic, async () => Math.max(...members.map(inFlight.begin)))
    if (crashes === undefined) return undefined
    let sound: SegmentRow[][] | undefined
    const dead = await retryUntilDone(topic, async () => {
      if (crashes >= crashesBeforeBisect)
        sound ??= await withoutCrashingRows(batch, {
          ...{ deadLetters, findings: inFlight.findings(members[0] as Batch), signal: stopping.signal },
          ...(deps.probe && { probe: deps.probe }),
        })
      if (views?.isGone(topic)) await views.check(topic)
      const refused = await apply(materializer, batch, sound)
      await views?.check(topic)
      return refused
    })
    const isDone =
      dead !== undefined &&
      (await retryUntilDone(topic, async () => {
        const commits = members.map(({ partition, lastOffset: offset }) => log.commit({ topic, partition, offset }))
        for (const commit of await Promise.allSettled(commits)) if (commit.status === 'rejected') throw commit.reason
        return true
      }))
    for (const member of members) (isDone ? inFlight.end : inFlight.leave)(member)
    return isDone ? dead : undefined
  }

  /** The last record of partition 0 of the calls that came: it may be applied and not yet be committed. */
  let taken = 0

  const consume = async (materializer: Materializer): Promise<void> => {
    for await (const first of log.consume(materializer.topic, stopping.signal)) {
      const batch = combined(first, log.takeMore(materializer.topic, combinedBytes - sizeOf(first)))
      if (batch.topic === 'calls')
        for (const { partition, lastOffset } of membersOf(batch))
          if (partition === 0) taken = Math.max(taken, lastOffset)
      const { version: known } = topicNamed(batch.topic)
      const unknown = batch.records.find((record) => record.version !== known)
      if (unknown)
        throw new Error(
          `Record ${batch.topic}=${unknown.offset} has row version ${unknown.version}; this build knows ${known}. Upgrade before starting.`,
        )
      const beganMs = Date.now()
      const dead = await commitBatch(materializer, batch)
      if (dead === undefined) return
      for (const { topic, partition, lastOffset: offset } of membersOf(batch))
        progress.applied({ topic, partition, offset })
      if (batch.topic === 'calls') touch()
      deps.onBatch?.({
        topic: batch.topic,
        rows: batch.rowCount,
        records: batch.records.length,
        deadLetters: dead,
        tookMs: Date.now() - beganMs,
        lagMs: Date.now() - batch.oldestMs,
      })
    }
  }

  const ready = (async () => {
    for (const { topic } of materializers) for (const position of await log.committed(topic)) progress.applied(position)
    // marks that the last process did not get to
    touch()
  })()
  const running = ready.then(() =>
    Promise.all(
      materializers.map((materializer) =>
        consume(materializer).catch((error: unknown) => {
          if (stopping.signal.aborted) return
          failing.set(materializer.topic, { status: 'down', reason: 'the worker has stopped' })
          deps.onFatal(error instanceof Error ? error : new Error(String(error)))
        }),
      ),
    ),
  )

  const nextOf = async (topic: string) => {
    const committed = (await log.committed(topic)).find(({ partition }) => partition === 0)?.offset ?? 0
    return { partition: 0, offset: Math.max(committed, topic === 'calls' ? taken : 0) + 1 }
  }
  const next: NextPosition = () => nextOf('calls')

  const sweep = createDeduplication({
    ...{ store, calls, queue, budget },
    committed: async () => (log.ownsLeaderPartition('calls') ? log.committed('calls') : []),
    next,
  })

  return {
    rollups,
    fieldIndexRollups: fieldIndexRollups,
    budget,
    exclusive: queue.run,
    async reapply(topic, rows) {
      const materializer = topic === 'calls' ? calls.reapplied(next) : plain(topic)
      const { partition, offset } = await nextOf(topic)
      await applyRows(
        materializer,
        {
          ...{ topic, partition, firstOffset: offset, lastOffset: offset, records: [], oldestMs: Date.now() },
          ...{ rowCount: rows.length, patchCount: topic === 'calls' ? rows.length : 0, source: { bytes: [] } },
        },
        rows,
      )
      touch()
    },
    async recount(range) {
      await queue.run(async () => calls.markRangeDirty(await next(), range))
      touch()
    },
    async caughtUp() {
      await ready
      const ends = (await Promise.all(materializers.map(({ topic }) => log.end(topic)))).flat()
      for (const { topic } of materializers) log.flush(topic)
      await Promise.race([progress.reach(ends, 2 ** 31 - 1, stopping.signal), stuck.promise])
    },
    status() {
      const all = [...failing]
      const first = all.find(([, { status }]) => status === 'down') ?? all[0]
      if (first) return { status: first[1].status, reason: `${first[0]}: ${first[1].reason}` }
      const reason = views?.problem()
      return reason === undefined ? { status: 'ok' } : { status: 'down', reason }
    },
    deduplicateChanged: sweep.changed,
    deduplicateAll: sweep.all,
    async stop() {
      stopping.abort()
      leaves.stop()
      await Promise.all([rollups.stop(), fieldIndexRollups.stop(), sweep.stop()])
      await running
      await queue.close()
    },
  }
}
