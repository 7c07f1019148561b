// Rows of the topic evaluation_jobs: evaluations that the server is to run, and their ends.
import type { ProjectId } from '../core/ids.ts'
import type { RecordInput } from '../core/log/log.ts'
import { quoted } from './objects.ts'
import { projectRecord } from './project-record.ts'

export type EvaluationJob = {
  projectId: ProjectId
  /** Id of the evaluation's call, and of the job. */
  callId: string
  userId: string
  evaluationRef: string
  modelRef: string
}

/** One row, columns in the order of topics.ts, defaults left out. An end holds the job, too: its row replaces the other. */
export function evaluationJobRecord(job: EvaluationJob, event: 'queued' | 'ended', clock: bigint): RecordInput {
  let row = `{"project_id":${quoted(job.projectId)},"call_id":${quoted(job.callId)},"clock":${clock},"event":"${event}"`
  row += ',"job_type":"evaluate_model"'
  if (job.userId) row += `,"user_id":${quoted(job.userId)}`
  row += `,"evaluation_ref":${quoted(job.evaluationRef)},"model_ref":${quoted(job.modelRef)}}\n`
  const key = `${job.projectId}/${job.callId}`
  return projectRecord(job.projectId, { rows: Buffer.from(row), rowCount: 1, clock, key })
}
