// Wire contract of the feedback routes.
import { z } from 'zod'
import { dict, float, int, optional, text, withDefault } from './coerce.ts'
import { dictOf, list } from './collections.ts'
import { expressionQuery, sortBy } from './query.ts'

const texts = () => withDefault(dictOf(text()), {})
const numbers = () => withDefault(dictOf(float()), {})
const line = (fallback = '') => withDefault(text(), fallback)

/** The user comes from the credentials, whatever the body says. */
export const feedbackCreateRequest = z.object({
  id: optional(text()),
  project_id: text(),
  weave_ref: text(),
  creator: optional(text()),
  feedback_type: text(),
  payload: dict(),
  annotation_ref: optional(text()),
  runnable_ref: optional(text()),
  call_ref: optional(text()),
  trigger_ref: optional(text()),
  queue_id: optional(text()),
  scorer_tags: withDefault(list(text()), []),
  scorer_tag_reasons: texts(),
  scorer_rating_reasons: texts(),
  scorer_tag_confidences: numbers(),
  scorer_ratings: numbers(),
  scorer_rating_confidences: numbers(),
  span_agent_name: line(),
  span_agent_version: line(),
  span_conversation_id: line(),
  span_trace_id: line(),
  scorer_trace_id: line(),
  span_status_code: line('UNSET'),
})

export type FeedbackCreate = z.output<typeof feedbackCreateRequest>

/** The user's field carries the wire prefix: `<prefix>_user_id`. */
export const feedbackCreateResponse = z.looseObject({
  id: z.string(),
  created_at: z.string(),
  /** Payload in its stored form, with the keys that the server adds to reactions. */
  payload: z.record(z.string(), z.unknown()),
})

export const feedbackBatchCreateRequest = z.object({ batch: list(feedbackCreateRequest) })

export const feedbackBatchCreateResponse = z.object({ res: z.array(feedbackCreateResponse) })

/** `feedback_id` goes; the new item has an id of its own. */
export const feedbackReplaceRequest = feedbackCreateRequest.extend({ feedback_id: text() })

export const feedbackQueryRequest = z.object({
  project_id: z.string(),
  /** Columns, `payload.<path>`, `<map>.<key>` or `count(*)`; absent = every column. */
  fields: optional(list(text())),
  query: expressionQuery.nullish(),
  sort_by: sortBy.nullish(),
  limit: optional(int()),
  offset: optional(int()),
})

export const feedbackQueryResponse = z.object({
  result: z.array(z.record(z.string(), z.unknown())),
  /** Rows that match, whatever limit and offset say. */
  total_count: z.int(),
})

export const feedbackPurgeRequest = z.object({
  project_id: z.string(),
  /** `$eq` of `id` with a text, an `$or` of such, or `$in` of `id` with texts. */
  query: expressionQuery,
})

export const feedbackPurgeResponse = z.object({})
