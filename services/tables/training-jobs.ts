// Training jobs.
import { micros, type TableDeclarations, word } from './declaration.ts'

export const trainingJobsTables = {
  training_jobs: {
    about: 'Training jobs; of several with one id the first stays.',
    columns: `project_id String, id String, age UInt64, created_at ${micros}, created_by ${word}, request_key String,
      kind Enum8('sft' = 1), state Enum8('queued' = 1), model_id String, training_data_url String, config String,
      experimental_config String`,
    engine: 'ReplacingMergeTree(age) ORDER BY (project_id, id)',
    views: ['training_jobs_in_to_jobs'],
    exported: {
      bytes: 'length(config) + length(experimental_config) + 1000',
      cells: { clock: 'bitNot(age)', event: "'training.job.created'", user_id: 'created_by' },
    },
  },
} as const satisfies TableDeclarations
