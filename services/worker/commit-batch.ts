// Applies a batch, however many attempts and starts that takes, and commits its position: nothing that was accepted is lost.
import { pause } from '../core/concurrency/pause.ts'
import { batchMembers } from '../core/log/combined-batch.ts'
import type { Batch, Log } from '../core/log/log.ts'
import { isPassing } from '../core/process/passing-faults.ts'
import { StoreError } from '../core/store/store.ts'
import { type SegmentRow, withoutHeader } from '../events/segment-rows.ts'
import type { Applier } from './apply-batch.ts'
import type { DeadLetters } from './dead-letters/dead-letters.ts'
import type { CrashProbe } from './split/child-probe.ts'
import { createCrashGuard } from './split/crash-guard.ts'
import { withoutCrashingRows } from './split/crashing-rows.ts'
import { Held } from './split/held.ts'
import type { InFlight } from './split/in-flight.ts'
import type { Views } from './views.ts'

type TopicFailure = { status: 'degraded' | 'down'; reason: string }

export type CommitDeps = {
  log: Pick<Log, 'commit'>
  applier: Pick<Applier, 'apply'>
  deadLetters: DeadLetters
  inFlight: InFlight
  probe?: CrashProbe
  /** Whether the views that fill the tables exist, checked after each batch; absent: never checked. */
  views?: Views
  /** Whether the tables are still those of the log, checked after an outage. @throws Error when not */
  verify?(): Promise<void>
  /** An outage: the batch will be tried again after `retryMs`. */
  onRetry?(topic: string, error: Error, retryMs: number): void
  signal: AbortSignal
}

export type Committer = {
  /** Applies a batch and commits its position; returns the number of dead letters, undefined when the worker stopped. */
  commitBatch(batch: Batch): Promise<number | undefined>
  /** Topics whose batches fail at the moment. */
  failing: Map<string, TopicFailure>
  /** Resolves once a batch waits for an operator: a start that waited for it would never report it. */
  stuck: Promise<void>
}

const isOutage = (error: unknown): error is Error =>
  error instanceof StoreError || error instanceof Held || isPassing(error)

const firstRetryMs = 50
const maxRetryMs = 5_000
/** Consecutive refusals of a statement after which the worker counts as down. */
const refusalsBeforeStuck = 6
const stuckRetryMs = 60_000
const isRefusedStatement = (error: Error): boolean =>
  error instanceof StoreError && (error.kind === 'query' || error.kind === 'data')

/** First pause after a batch was held; it doubles each time. */
const heldRetryMs = 1_000

/** Crashed starts after which the rows of a batch are tried in a child process. */
const crashesBeforeProbe = 2

const refusedStatement = (code: string): string => `the database refuses a statement${code}; rows are kept and wait`
const notAvailable = (code: string): string => `the database is not available${code}`
const reasons: Readonly<Record<StoreError['kind'], (code: string) => string>> = {
  query: refusedStatement,
  data: refusedStatement,
  rows: refusedStatement,
  memory: (code) => `the database has too little memory${code}`,
  timeout: notAvailable,
  cancelled: notAvailable,
  busy: notAvailable,
  outage: notAvailable,
}

/** For everyone to read: nothing of what the engine quotes. */
function reasonOf(error: Error): string {
  if (error instanceof Held) return error.message
  if (!(error instanceof StoreError)) return `the file system fails (${(error as NodeJS.ErrnoException).code})`
  return reasons[error.kind](error.code === 0 ? '' : ` (code ${error.code})`)
}

type Backoff = { retryMs: number; isStuck: boolean }

/**
 * Returns how long to wait after each failure of one step, and whether an operator has to look. A statement that is at
 * fault will be refused again, so it is tried less often.
 */
function createBackoff(): (error: Error) => Backoff {
  let refusals = 0
  let holds = 0
  let retryMs = firstRetryMs / 2
  return (error) => {
    const isHeld = error instanceof Held
    refusals = isRefusedStatement(error) ? refusals + 1 : 0
    const isRefusedOften = refusals >= refusalsBeforeStuck
    retryMs = isHeld ? Math.min(stuckRetryMs, heldRetryMs * 2 ** holds) : Math.min(retryMs * 2, maxRetryMs)
    if (isRefusedOften) retryMs = stuckRetryMs
    holds = isHeld ? holds + 1 : 0
    return { retryMs, isStuck: isHeld || isRefusedOften }
  }
}

export function createCommitter(deps: CommitDeps): Committer {
  const { log, applier, deadLetters, inFlight, views, signal } = deps
  const failing = new Map<string, TopicFailure>()
  const stuck = Promise.withResolvers<void>()

  const waitAfter = (topic: string, error: Error, { retryMs, isStuck }: Backoff): Promise<void> => {
    failing.set(topic, { status: isStuck ? 'down' : 'degraded', reason: reasonOf(error) })
    if (isStuck) stuck.resolve()
    deps.onRetry?.(topic, error, retryMs)
    return pause(retryMs, signal)
  }

  /** Repeats a step until it succeeds; resolves to undefined when the worker was stopped. */
  const retry = async <T>(topic: string, step: () => Promise<T>): Promise<T | undefined> => {
    const afterFailure = createBackoff()
    for (;;)
      try {
        if (failing.has(topic)) await deps.verify?.()
        const result = await step()
        failing.delete(topic)
        return result
      } catch (error) {
        if (!isOutage(error)) throw error
        if (signal.aborted) return undefined
        await waitAfter(topic, error, afterFailure(error))
        if (signal.aborted) return undefined
      }
  }

  /** @param sound groups of rows that survived in a child process; absent: the whole batch at once */
  const apply = async (batch: Batch, sound: SegmentRow[][] | undefined): Promise<number> => {
    if (!sound) return applier.apply(batch)
    const { topic } = batch
    const guarded = createCrashGuard({
      steps: inFlight.steps(batchMembers(batch)[0] as Batch),
      apply: (rows) => applier.apply(batch, rows),
      giveUp: ({ partition, offset, rowIndex, text }) =>
        deadLetters.add({
          topic,
          partition,
          offset,
          rowIndex,
          row: withoutHeader(text),
          reason: 'the process ended whenever this row was applied, also by itself',
        }),
    })
    let dead = batch.rowCount
    for (const rows of sound) dead += (await guarded(rows)) - rows.length
    return dead
  }

  const commitBatch = async (batch: Batch): Promise<number | undefined> => {
    const { topic } = batch
    const members = batchMembers(batch)
    const crashes = await retry(topic, async () => Math.max(...members.map(inFlight.begin)))
    if (crashes === undefined) return undefined
    let sound: SegmentRow[][] | undefined
    const dead = await retry(topic, async () => {
      if (crashes >= crashesBeforeProbe)
        sound ??= await withoutCrashingRows(batch, {
          deadLetters,
          signal,
          findings: inFlight.findings(members[0] as Batch),
          ...(deps.probe && { probe: deps.probe }),
        })
      if (views?.isGone(topic)) await views.check(topic)
      const refused = await apply(batch, sound)
      await views?.check(topic)
      return refused
    })
    const isDone =
      dead !== undefined &&
      (await retry(topic, async () => {
        const commits = members.map(({ partition, lastOffset: offset }) => log.commit({ topic, partition, offset }))
        for (const commit of await Promise.allSettled(commits)) if (commit.status === 'rejected') throw commit.reason
        return true
      }))
    for (const member of members) (isDone ? inFlight.end : inFlight.leave)(member)
    return isDone ? dead : undefined
  }

  return { commitBatch, failing, stuck: stuck.promise }
}
