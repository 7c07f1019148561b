// The jobs of /evaluations/evaluate_model: kept in the log and a table until they have ended, a few at one time.
import type { Clock } from '../../core/clock/clock.ts'
import { createFairQueue } from '../../core/concurrency/fair-queue.ts'
import { actionsOf } from '../../core/directory/roles.ts'
import { holderOf } from '../../core/http/holder.ts'
import type { Invoke, InvokeCaller } from '../../core/http/invoke.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Log } from '../../core/log/log.ts'
import type { Logger } from '../../core/process/logger.ts'
import { type EvaluationJob, evaluationJobRecord } from '../../events/evaluation-jobs.ts'

type QueuedRow = { project_id: string; call_id: string; user_id: string; evaluation_ref: string; model_ref: string }

type JobDeps = {
  invoke: Pick<Invoke, 'json'>
  /** Jobs of all projects that have not ended, the oldest first. */
  queued(signal: AbortSignal): Promise<QueuedRow[]>
  log: Pick<Log, 'append' | 'owns'>
  clock: Clock
  logger: Pick<Logger, 'info' | 'warn'>
}

export type EvaluationJobs = {
  /** There may be a new job. */
  touch(): void
  /** Breaks off what runs: it goes on when a process that runs jobs starts. */
  stop(): Promise<void>
}

const lookMs = 10_000
const maxTries = 12
const longestPauseMs = 300_000
/** Jobs that run at one time: of each project one first, and the last place is for a project that has none. */
const maxJobs = 4
/** Rows of a project that are evaluated at one time, whatever the number of its jobs; one more is for another job. */
export const rowsAtOneTime = 20 + 1

/** The caller that a job runs as: whoever asked for it, in its project and nowhere else. */
const callerOf = ({ projectId, userId, callId }: EvaluationJob, signal: AbortSignal): InvokeCaller => ({
  caller: holderOf({
    userId,
    entity: projectId.slice(0, projectId.indexOf('/')),
    access: { [projectId]: actionsOf('writer', projectId) },
  }),
  signal,
  requestId: callId,
})

/**
 * Starts the evaluations: of several workers the one that applies the first partition of the jobs runs them; for a
 * moment it may be two.
 */
export function startEvaluationJobs(deps: JobDeps): EvaluationJobs {
  const { log, clock, logger } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const jobs = createFairQueue<ProjectId>({ slots: maxJobs })
  /** Jobs that wait for a place or run, with what takes back those that wait. */
  const taken = new Map<string, () => void>()
  const running = new Set<Promise<void>>()
  /** Jobs that ended here; the table may not show it yet. */
  const ended = new Set<string>()
  const tries = new Map<string, { count: number; notBeforeMs: number }>()
  let isDue = false
  let looking: Promise<void> | undefined

  async function runJob(job: EvaluationJob): Promise<void> {
    const { count } = tries.get(job.callId) ?? { count: 0 }
    const pauseMs = Math.min(lookMs * 2 ** count, longestPauseMs)
    tries.set(job.callId, { count: count + 1, notBeforeMs: Date.now() + pauseMs })
    const asked = { job, givesUp: count + 1 >= maxTries }
    await deps.invoke.json('evaluations.run', asked, callerOf(job, signal))
    await log.append('evaluation_jobs', [evaluationJobRecord(job, 'ended', clock.next())])
    ended.add(job.callId)
    tries.delete(job.callId)
    logger.info({ project: job.projectId, call: job.callId }, 'evaluation ended')
  }

  async function runBeside(job: EvaluationJob): Promise<void> {
    if (signal.aborted || !log.owns('evaluation_jobs', 0)) return
    try {
      await runJob(job)
    } catch (error) {
      if (signal.aborted) return
      logger.warn({ call: job.callId, error: String(error).slice(0, 500) }, 'an evaluation broke off, trying again')
    }
  }

  function take(job: EvaluationJob): void {
    let isWaiting = true
    const takeBack = jobs.request(job.projectId, (leave) => {
      isWaiting = false
      const work = runBeside(job).finally(() => {
        running.delete(work)
        taken.delete(job.callId)
        leave()
      })
      running.add(work)
    })
    taken.set(job.callId, () => {
      takeBack()
      if (isWaiting) taken.delete(job.callId)
    })
  }

  const takeBackAll = (): void => {
    for (const takeBack of [...taken.values()]) takeBack()
  }

  /** Whether a job neither ended, waits nor runs here, and does not pause before its next try. */
  const mayBegin = (callId: string): boolean =>
    !ended.has(callId) && !taken.has(callId) && (tries.get(callId)?.notBeforeMs ?? 0) <= Date.now()

  async function look(): Promise<void> {
    const rows = await deps.queued(signal)
    const queued = new Set(rows.map(({ call_id }) => call_id))
    for (const id of ended) if (!queued.has(id)) ended.delete(id)
    for (const id of tries.keys()) if (!queued.has(id) && !taken.has(id)) tries.delete(id)
    for (const row of rows) {
      if (signal.aborted) return
      if (!mayBegin(row.call_id)) continue
      take({
        projectId: row.project_id as ProjectId,
        callId: row.call_id,
        userId: row.user_id,
        evaluationRef: row.evaluation_ref,
        modelRef: row.model_ref,
      })
    }
  }

  async function work(): Promise<void> {
    while (isDue && !signal.aborted) {
      isDue = false
      // Another worker runs them.
      if (!log.owns('evaluation_jobs', 0)) return takeBackAll()
      await look().catch((error: unknown) => {
        if (!signal.aborted) logger.warn({ error: String(error).slice(0, 500) }, 'evaluation jobs cannot be read')
      })
    }
  }

  function touch(): void {
    isDue = true
    if (looking !== undefined || signal.aborted) return
    looking = work().finally(() => {
      looking = undefined
      if (isDue && !signal.aborted && log.owns('evaluation_jobs', 0)) touch()
    })
  }

  const timer = setInterval(touch, lookMs)
  timer.unref()
  touch()
  return {
    touch,
    async stop() {
      clearInterval(timer)
      takeBackAll()
      stopping.abort()
      await looking
      await Promise.all(running)
    },
  }
}
