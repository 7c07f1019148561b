// Tags of object versions, and aliases.
import type { TableDeclarations } from './declaration.ts'

export const objectLabelsTables = {
  object_labels: {
    about: 'Tags of object versions, and aliases that name one version of an object.',
    columns: `project_id String, object_id String, label_kind Enum8('tag' = 1, 'alias' = 2), scope String, label String,
      digest String, clock UInt64, is_set UInt8`,
    engine: 'ReplacingMergeTree(clock) ORDER BY (project_id, object_id, label_kind, scope, label)',
    views: ['object_labels_in_to_labels'],
    exported: { bytes: '400' },
  },
} as const satisfies TableDeclarations
