// The topic evaluation_jobs: evaluations that the server is to run, and their ends.
import type { ProjectId } from '../core/ids.ts'
import type { RecordInput } from '../core/log/log.ts'
import { always, choice, clock, declareTopic, key, recordOfRows, text } from './declaration.ts'

export const evaluationJobsTopic = declareTopic({
  name: 'evaluation_jobs',
  about: 'Evaluations that the server is to run, and their ends.',
  version: 1,
  landing: 'evaluation_jobs_in',
  columns: {
    project_id: key,
    call_id: key,
    clock,
    event: choice('queued', 'ended'),
    job_type: choice('evaluate_model'),
    user_id: text,
    evaluation_ref: always(text),
    model_ref: always(text),
  },
})

export type EvaluationJob = {
  projectId: ProjectId
  /** Id of the evaluation's call, and of the job. */
  callId: string
  userId: string
  evaluationRef: string
  modelRef: string
}

/** An end holds the job, too: its row replaces the other. */
export function evaluationJobRecord(job: EvaluationJob, event: 'queued' | 'ended', clock: bigint): RecordInput {
  const { projectId, callId } = job
  const row = {
    ...({ project_id: projectId, call_id: callId, clock, event, job_type: 'evaluate_model' } as const),
    user_id: job.userId,
    evaluation_ref: job.evaluationRef,
    model_ref: job.modelRef,
  }
  return recordOfRows(evaluationJobsTopic, [row], `${projectId}/${callId}`)
}
