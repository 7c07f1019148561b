// The audit log.
import { micros, type TableDeclarations, word } from './declaration.ts'

export const auditTables = {
  audit_events: {
    about: 'Who changed or was refused what, in chains of hashes.',
    columns: `scope String, at ${micros}, chain String, seq UInt64, actor String,
      actor_kind Enum8('user' = 1, 'command' = 2, 'server' = 3), key_id String, address String, action ${word},
      target String, outcome Enum8('done' = 1, 'begun' = 2, 'failed' = 3, 'refused' = 4), request_id String,
      details String, ends_from UInt64, ends_to UInt64, prev String, hash String`,
    engine: 'ReplacingMergeTree PARTITION BY toYYYYMM(at) ORDER BY (scope, at, chain, seq)',
    views: ['audit_in_to_events'],
    exported: false,
  },
} as const satisfies TableDeclarations
