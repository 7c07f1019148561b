// Files by content.
import type { TableDeclarations } from './declaration.ts'

export const filesTables = {
  files: {
    about: 'Chunks of files by digest; of large ones the place of their content.',
    columns: `project_id String, digest String, chunk_index UInt32, n_chunks UInt32, name String, size_bytes UInt64,
      blob String, content String, clock UInt64`,
    engine: 'ReplacingMergeTree(clock) ORDER BY (project_id, digest, chunk_index)',
    views: ['files_in_to_files'],
    exported: {
      bytes: 'length(content) * 4 / 3 + 300',
      only: "blob = ''",
      cells: { content: 'base64Encode(content)' },
    },
    purged: 'aside',
    erased: { unnamed: true },
  },
} as const satisfies TableDeclarations
