// The jobs of /evaluations/evaluate_model: kept in the log and a table until they have ended, run one after the other.
import type { Clock } from '../core/clock.ts'
import { type EvaluationJob, evaluationJobRecord } from '../core/evaluation-job-rows.ts'
import type { ProjectId } from '../core/ids.ts'
import type { Log } from '../core/log/log.ts'
import type { Logger } from '../core/logger.ts'
import { sql, systemQuery } from '../core/store/sql.ts'
import type { Store } from '../core/store/store.ts'
import { type EvaluateDeps, evaluateModel } from './evaluate-model.ts'

export type JobDeps = EvaluateDeps & {
  store: Pick<Store, 'rows'>
  log: Pick<Log, 'append' | 'leads'>
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
const mostTries = 12
const longestPauseMs = 300_000

type Row = { project_id: string; call_id: string; user_id: string; evaluation_ref: string; model_ref: string }

const queuedQuery = systemQuery(
  'evaluation-jobs.queued',
  sql`SELECT project_id, call_id, user_id, evaluation_ref, model_ref FROM callhouse.evaluation_jobs FINAL
    WHERE state = 'queued' ORDER BY clock LIMIT 1000`,
)

/** Of several workers the one that applies the first partition of the jobs runs them; for a moment it may be two. */
export function startEvaluationJobs(deps: JobDeps): EvaluationJobs {
  const { store, log, clock, logger } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  /** Ended here; the table may not tell yet. */
  const ended = new Set<string>()
  const tries = new Map<string, { count: number; notBeforeMs: number }>()
  let isDue = false
  let running: Promise<void> | undefined

  async function runJob(job: EvaluationJob): Promise<void> {
    const { count } = tries.get(job.callId) ?? { count: 0 }
    const pauseMs = Math.min(lookMs * 2 ** count, longestPauseMs)
    tries.set(job.callId, { count: count + 1, notBeforeMs: Date.now() + pauseMs })
    await evaluateModel(deps, job, { signal, givesUp: count + 1 >= mostTries })
    await log.append('evaluation_jobs', [evaluationJobRecord(job, 'ended', clock.next())])
    ended.add(job.callId)
    tries.delete(job.callId)
    logger.info({ project: job.projectId, call: job.callId }, 'evaluation ended')
  }

  async function look(): Promise<void> {
    const rows = await store.rows<Row>(queuedQuery, { pool: 'background', signal })
    const queued = new Set(rows.map(({ call_id }) => call_id))
    for (const id of ended) if (!queued.has(id)) ended.delete(id)
    for (const id of tries.keys()) if (!queued.has(id)) tries.delete(id)
    for (const row of rows) {
      if (signal.aborted || !log.leads('evaluation_jobs')) return
      if (ended.has(row.call_id) || (tries.get(row.call_id)?.notBeforeMs ?? 0) > Date.now()) continue
      const job = {
        ...{ projectId: row.project_id as ProjectId, callId: row.call_id, userId: row.user_id },
        ...{ evaluationRef: row.evaluation_ref, modelRef: row.model_ref },
      }
      await runJob(job).catch((error: unknown) => {
        if (signal.aborted) return
        logger.warn({ call: job.callId, error: String(error).slice(0, 500) }, 'an evaluation broke off, trying again')
      })
    }
  }

  async function work(): Promise<void> {
    while (isDue && !signal.aborted) {
      isDue = false
      if (!log.leads('evaluation_jobs')) return
      await look().catch((error: unknown) => {
        if (!signal.aborted) logger.warn({ error: String(error).slice(0, 500) }, 'evaluation jobs cannot be read')
      })
    }
  }

  function touch(): void {
    isDue = true
    if (running !== undefined || signal.aborted) return
    running = work().finally(() => {
      running = undefined
      if (isDue && !signal.aborted && log.leads('evaluation_jobs')) touch()
    })
  }

  const looking = setInterval(touch, lookMs)
  looking.unref()
  touch()
  return {
    touch,
    async stop() {
      clearInterval(looking)
      stopping.abort()
      await running
    },
  }
}
