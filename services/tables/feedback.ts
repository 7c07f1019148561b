// Feedback about calls and other things.
import { micros, type TableDeclarations, word } from './declaration.ts'

export const feedbackTables = {
  feedback_by_ref: {
    about: 'Items of feedback by what they are about.',
    columns: 'project_id String, weave_ref String, id String',
    engine: 'ReplacingMergeTree ORDER BY (project_id, weave_ref, id)',
    views: ['feedback_in_to_by_ref'],
    exported: false,
    purged: 'aside',
    erased: { ref: 'weave_ref' },
  },
  feedback: {
    about: 'Items of feedback; one that was purged stays as a mark without its content.',
    columns: `project_id String, id String, clock UInt64, purged UInt8, created_at ${micros}, weave_ref String,
      user_id ${word}, creator Nullable(String), feedback_type ${word}, annotation_ref Nullable(String),
      runnable_ref Nullable(String), call_ref Nullable(String), trigger_ref Nullable(String), queue_id Nullable(String),
      scorer_tags Array(String), scorer_tag_reasons Map(String, String), scorer_rating_reasons Map(String, String),
      scorer_tag_confidences Map(String, Float64), scorer_ratings Map(String, Float64),
      scorer_rating_confidences Map(String, Float64), span_agent_name String, span_agent_version String,
      span_conversation_id String, span_trace_id String, scorer_trace_id String, span_status_code ${word},
      payload String, readable_payload String`,
    engine: 'ReplacingMergeTree(clock) ORDER BY (project_id, id)',
    views: ['feedback_in_to_feedback'],
    exported: {
      bytes: 'length(payload) + length(readable_payload) + 2000',
      cells: { event: "if(purged = 1, 'purged', 'created')" },
    },
    purged: 'aside',
    erased: { ref: 'weave_ref', isLater: true },
  },
} as const satisfies TableDeclarations
