// Objects and ops: their values, and every version that was ever accepted.
import { type TableDeclarations, word } from './declaration.ts'

const kind = "kind Enum8('object' = 1, 'op' = 2)"

export const objectsTables = {
  objects: {
    about: 'Values of objects and ops by digest.',
    columns: `project_id String, object_id String, ${kind}, digest String, clock UInt64, base_object_class ${word},
      leaf_object_class ${word}, refs Array(String), size_bytes UInt64, val String`,
    engine: 'ReplacingMergeTree(clock) ORDER BY (project_id, object_id, kind, digest)',
    views: ['objects_in_to_objects'],
    exported: 'joined',
    purged: 'aside',
    erased: { unnamed: true },
  },
  object_events: {
    about: 'Versions of objects and ops: each creation and each delete.',
    columns: `project_id String, object_id String, ${kind}, digest String, clock UInt64,
      event Enum8('created' = 1, 'deleted' = 2), user_id ${word}, base_object_class ${word}`,
    engine: 'ReplacingMergeTree ORDER BY (project_id, object_id, kind, digest, clock)',
    views: ['objects_in_to_events'],
    exported: false,
    purged: 'aside',
    erased: { unnamed: true },
  },
} as const satisfies TableDeclarations
