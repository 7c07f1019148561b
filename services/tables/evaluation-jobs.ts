// Evaluations that run in the background.
import type { TableDeclarations } from './declaration.ts'

export const evaluationJobsTables = {
  evaluation_jobs: {
    about: 'Evaluations that were queued; the end outweighs the beginning.',
    columns: `project_id String, call_id String, version UInt64, clock UInt64, state Enum8('queued' = 1, 'ended' = 2),
      job_type Enum8('evaluate_model' = 1), user_id String, evaluation_ref String, model_ref String`,
    engine: 'ReplacingMergeTree(version) ORDER BY (project_id, call_id)',
    views: ['evaluation_jobs_in_to_jobs'],
    exported: { bytes: '1000', cells: { event: 'state' } },
  },
} as const satisfies TableDeclarations
