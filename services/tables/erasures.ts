// Erasures and their receipts.
import type { TableDeclarations } from './declaration.ts'

export const erasuresTables = {
  erasures: {
    about: 'Erasures; one that is done is its receipt.',
    columns: `project_id String, id String, clock UInt64,
      status Enum8('accepted' = 1, 'removing' = 2, 'verifying' = 3, 'done' = 4, 'held' = 5, 'failed' = 6),
      requested_by String, requested_us Int64, deadline_us Int64, done_us Int64, until_ver UInt64, reason String,
      problem String, calls UInt64, missing UInt64, payload_rows UInt64, feedback UInt64, log_rows UInt64,
      dead_letters UInt64, remaining String, previous String, hash String, hidden_us Int64, selector_hmac String,
      first_ver UInt64, files UInt64, bytes UInt64, held UInt64, log_records UInt64, places String`,
    engine: 'ReplacingMergeTree(clock) ORDER BY (project_id, id)',
    views: ['erasures_in_to_erasures'],
    exported: false,
    outlastsProject: true,
  },
} as const satisfies TableDeclarations
