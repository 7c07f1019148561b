// Rows of the topic training_jobs: what is appended when a training job is accepted.

import type { ProjectId } from '../core/ids.ts'
import { oneLine } from '../core/json/canonical.ts'
import type { RecordInput } from '../core/log/log.ts'
import { quoted } from './objects.ts'
import { projectRecord } from './project-record.ts'

export type TrainingJobCreated = {
  projectId: ProjectId
  id: string
  clock: bigint
  userId: string
  /** Says which requests of a caller ask for the same job; '' = none does. */
  requestKey: string
  modelId: string
  trainingDataUrl: string
  /** JSON text of an object; '' = none. */
  config: string
  /** JSON text of an object; '' = none. */
  experimentalConfig: string
}

/** One row, columns in the order of topics.ts, defaults left out. */
export function trainingJobRecord(job: TrainingJobCreated): RecordInput {
  let row = `{"project_id":${quoted(job.projectId)},"id":${quoted(job.id)},"clock":${job.clock}`
  row += ',"event":"training.job.created"'
  if (job.userId) row += `,"user_id":${quoted(job.userId)}`
  if (job.requestKey) row += `,"request_key":${quoted(job.requestKey)}`
  row += `,"kind":"sft","model_id":${quoted(job.modelId)},"training_data_url":${quoted(job.trainingDataUrl)}`
  if (job.config) row += `,"config":${oneLine(job.config)}`
  if (job.experimentalConfig) row += `,"experimental_config":${oneLine(job.experimentalConfig)}`
  return projectRecord(job.projectId, {
    ...{ rows: Buffer.from(`${row}}\n`), rowCount: 1 },
    ...{ clock: job.clock, key: `${job.projectId}/${job.id}` },
  })
}
