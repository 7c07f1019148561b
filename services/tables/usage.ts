// Tables of the use of projects by keys.
import { seconds, type TableDeclarations } from './declaration.ts'

export const usageTables = {
  usage_minutes: {
    about: 'Requests, calls and bytes of a key in a minute, as each process counted them.',
    columns: `project_id String, minute ${seconds}, key_id String, process String, clock UInt64, requests UInt64,
      refused UInt64, calls UInt64, bytes_in UInt64, bytes_stored UInt64, reads UInt64, read_ms UInt64,
      read_bytes UInt64, sampled_out UInt64, masked UInt64`,
    engine: 'ReplacingMergeTree(clock) PARTITION BY toYYYYMM(minute) ORDER BY (project_id, minute, key_id, process)',
    views: ['usage_in_to_minutes'],
    exported: false,
    dropped: 'usage',
    outlastsProject: true,
  },
} as const satisfies TableDeclarations
