// Tables of applied positions, and of records of the log that could not be applied.
import { seconds, type TableDeclarations, word } from './declaration.ts'

const millis = "DateTime64(3, 'UTC')"

export const appliedTables = {
  applied_positions: {
    about: 'Up to where each partition of the log is applied, and the id of the log.',
    columns: `topic ${word}, generation UInt32, log_id String, partition UInt32, position UInt64, is_ready UInt8`,
    engine: 'ReplacingMergeTree(position) ORDER BY (topic, generation, log_id, partition, is_ready)',
    kind: 'applied',
  },
  missing_records: {
    about: 'Ranges of records that neither the tables nor the log hold.',
    columns: `topic ${word}, log_id String, partition UInt32, first UInt64, last UInt64, accepted_before ${millis},
      is_known UInt8`,
    engine: 'ReplacingMergeTree(is_known) ORDER BY (topic, log_id, partition, first, last)',
    kind: 'applied',
  },
  migrations: {
    about: 'Statements of migrations that were run.',
    columns: `file String, statement UInt32, checksum String, applied_at ${seconds} DEFAULT`,
    engine: 'ReplacingMergeTree(applied_at) ORDER BY (file, statement)',
    kind: 'applied',
  },
  rollups: {
    about: 'Up to which position of each partition a rollup covers the dirty buckets.',
    columns: 'name String, position UInt64, partition UInt32, revision UInt64',
    engine: 'ReplacingMergeTree(position) PRIMARY KEY name ORDER BY (name, partition)',
    kind: 'cover',
  },
  dead_letters: {
    about: 'Rows that the store refused, with the reason.',
    columns: `topic ${word}, partition UInt32, offset UInt64, row_index UInt32, id String, at ${millis},
      replayed_at ${millis}, reason String, row String, version UInt64`,
    engine: 'ReplacingMergeTree(version) ORDER BY (topic, partition, offset, row_index, id)',
  },
} as const satisfies TableDeclarations
