// The topic training_jobs: what is appended when a training job is accepted.

import type { ProjectId } from '../core/ids.ts'
import { oneLine } from '../core/json/canonical.ts'
import type { RecordInput } from '../core/log/log.ts'
import { always, choice, clock, declareTopic, json, key, recordOfRows, text } from './declaration.ts'

export const trainingJobsTopic = declareTopic({
  name: 'training_jobs',
  about: 'Training jobs that were accepted.',
  version: 1,
  landing: 'training_jobs_in',
  columns: {
    project_id: key,
    id: key,
    clock,
    event: choice('training.job.created'),
    user_id: text,
    request_key: text,
    kind: choice('sft'),
    model_id: always(text),
    training_data_url: always(text),
    config: json,
    experimental_config: json,
  },
})

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

export const trainingJobRecord = (job: TrainingJobCreated): RecordInput =>
  recordOfRows(
    trainingJobsTopic,
    [
      {
        project_id: job.projectId,
        id: job.id,
        clock: job.clock,
        event: 'training.job.created',
        user_id: job.userId,
        request_key: job.requestKey,
        kind: 'sft',
        model_id: job.modelId,
        training_data_url: job.trainingDataUrl,
        config: oneLine(job.config),
        experimental_config: oneLine(job.experimentalConfig),
      },
    ],
    `${job.projectId}/${job.id}`,
  )
