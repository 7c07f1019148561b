// The field index: short values of payloads, as groups of the rows of an hour.
import type { TableDeclarations } from './declaration.ts'

const part = "part Enum8('both' = 0, 'start' = 1, 'end' = 2)"

export const fieldIndexTables = {
  payload_chunks: {
    about: 'Groups of payload rows that are indexed, with their times.',
    columns: `project_id String, least Int64, most Int64, chunk UInt64, ${part}, at Array(Int64), clock Array(UInt64)`,
    engine:
      "MergeTree PARTITION BY toYYYYMM(fromUnixTimestamp64Micro(least, 'UTC')) ORDER BY (project_id, least, chunk)",
    kind: 'rollup',
    rollup: 'payload_leaves',
    purged: { by: 'most', of: 'payloads' },
    erased: { values: ['clock'] },
  },
  payload_leaves: {
    about: 'Values of a path in a group of payload rows, with the time of the row of each.',
    columns: `project_id String, path String,
      kind Enum8('number' = 1, 'text' = 2, 'numeral' = 3, 'long' = 4, 'hollow' = 5, 'opaque' = 6), ${part}, least Int64,
      most Int64, chunk UInt64, at Array(Int64), num Array(Float64), str Array(String)`,
    engine:
      "MergeTree PARTITION BY toYYYYMM(fromUnixTimestamp64Micro(least, 'UTC')) ORDER BY (project_id, path, kind, part, least, chunk)",
    kind: 'rollup',
    rollup: 'payload_leaves',
    // A row holds values of one hour, and a cutoff is a whole hour.
    hidden: { by: 'least', of: 'values' },
    purged: { by: 'most', of: 'payloads' },
    erased: { values: ['num', 'str'] },
  },
} as const satisfies TableDeclarations
