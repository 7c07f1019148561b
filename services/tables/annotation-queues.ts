// Annotation queues, the calls in them, and what annotators did.
import { micros, type TableDeclarations, word } from './declaration.ts'

export const annotationQueuesTables = {
  annotation_queues: {
    about: 'Parts of annotation queues: name, description, scorers; one that is deleted stays so.',
    columns: `project_id String, queue_id String,
      part Enum8('created' = 1, 'name' = 2, 'description' = 3, 'scorer_refs' = 4, 'deleted' = 5), clock UInt64,
      user_id String, text String, refs Array(String)`,
    engine: 'ReplacingMergeTree(clock) ORDER BY (project_id, queue_id, part)',
    views: ['annotation_queues_in_to_queues'],
    exported: {
      bytes: 'length(text) + 1000',
      cells: {
        event: "multiIf(part = 'created', 'created', part = 'deleted', 'deleted', 'updated')",
        parts: '[toString(part)]',
        name: "if(part = 'name', text, '')",
        description: "if(part = 'description', text, '')",
        scorer_refs: "if(part = 'scorer_refs', refs, [])",
      },
    },
  },
  annotation_queue_items: {
    about: 'Calls in a queue; the first addition counts.',
    columns: `project_id String, queue_id String, call_id String, version UInt64, id String, clock UInt64,
      added_by ${word}, call_started_at ${micros}, call_ended_at ${micros}, call_op_name ${word},
      call_trace_id String, display_fields Array(String)`,
    engine: 'ReplacingMergeTree(version) ORDER BY (project_id, queue_id, call_id)',
    views: ['annotation_queues_in_to_items'],
    exported: {
      bytes: '1000',
      cells: {
        event: "'item_added'",
        user_id: 'added_by',
        item_id: 'id',
        call_started_us: 'toUnixTimestamp64Micro(call_started_at)',
        call_ended_us: 'toUnixTimestamp64Micro(call_ended_at)',
      },
    },
    erased: { call: 'call_id', isLater: true },
  },
  annotation_queue_progress: {
    about: 'How far an annotator is with a call of a queue.',
    columns: `project_id String, queue_id String, call_id String, annotator String, version UInt64, clock UInt64,
      state Enum8('in_progress' = 1, 'completed' = 2, 'skipped' = 3)`,
    engine: 'ReplacingMergeTree(version) ORDER BY (project_id, queue_id, call_id, annotator)',
    views: ['annotation_queues_in_to_progress'],
    exported: { bytes: '400', cells: { event: "'progressed'", user_id: 'annotator' } },
    erased: { call: 'call_id', isLater: true },
  },
} as const satisfies TableDeclarations
