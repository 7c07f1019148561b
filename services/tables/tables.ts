// Dataset tables: rows by content, and lists of their digests.
import type { TableDeclarations } from './declaration.ts'

export const datasetTables = {
  table_rows: {
    about: 'Rows of dataset tables by digest; the first spelling stays.',
    columns: 'project_id String, digest String, age UInt64, size_bytes UInt64, val String',
    engine: 'ReplacingMergeTree(age) ORDER BY (project_id, digest)',
    views: ['tables_in_to_rows'],
    exported: { bytes: 'length(val) + 300', cells: { kind: "'row'", clock: 'bitNot(age)' } },
  },
  table_lists: {
    about: 'Digests of the rows of a dataset table, in chunks of 1,000.',
    columns: `project_id String, digest String, chunk_index UInt32, age UInt64, row_count UInt64,
      row_digests Array(String)`,
    engine: 'ReplacingMergeTree(age) ORDER BY (project_id, digest, chunk_index)',
    views: ['tables_in_to_lists'],
    exported: { bytes: 'length(row_digests) * 50 + 300', cells: { kind: "'list'", clock: 'bitNot(age)' } },
  },
} as const satisfies TableDeclarations
