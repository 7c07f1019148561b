// Wire shapes of the routes that read, count and delete calls.
import { z } from 'zod'
import { bool, int, optional, text, withDefault } from './coerce.ts'
import { list } from './collections.ts'
import { callsFilter, expressionQuery, sortBy } from './query.ts'

const texts = () => list(text())

/** Parts of an answer that are built on other tables. */
const includes = {
  include_costs: withDefault(bool(), false),
  include_storage_size: withDefault(bool(), false),
  include_total_storage_size: withDefault(bool(), false),
}

export const callReadRequest = z.object({ project_id: text(), id: text(), ...includes })

export const callsQueryRequest = z.object({
  project_id: text(),
  filter: optional(callsFilter),
  query: optional(expressionQuery),
  sort_by: optional(sortBy),
  limit: optional(int()),
  offset: optional(int()),
  columns: optional(texts()),
  expand_columns: optional(texts()),
  return_expanded_column_values: optional(bool()),
  ...includes,
  include_feedback: withDefault(bool(), false),
  include_usernames: withDefault(bool(), false),
})

export type CallsQueryRequest = z.output<typeof callsQueryRequest>

export const callsQueryStatsRequest = z.object({
  project_id: text(),
  filter: optional(callsFilter),
  query: optional(expressionQuery),
  limit: optional(int()),
  include_total_storage_size: withDefault(bool(), false),
  expand_columns: optional(texts()),
})

export const callsQueryStatsResponse = z.object({
  count: z.int(),
  has_more: z.boolean(),
  total_storage_size_bytes: z.int().nullable(),
})

export const callsDeleteRequest = z.object({ project_id: text(), call_ids: texts() })

export const callsDeleteResponse = z.object({ num_deleted: z.int() })

const timestamp = z.iso.datetime()

/** One call; the fields `<prefix>_user_id`, `_run_id`, `_run_step`, `_run_step_end` are spelled with the wire prefix. */
export const callRecord = z.looseObject({
  id: z.string(),
  project_id: z.string(),
  op_name: z.string(),
  display_name: z.string().nullable(),
  trace_id: z.string(),
  parent_id: z.string().nullable(),
  thread_id: z.string().nullable(),
  turn_id: z.string().nullable(),
  started_at: timestamp,
  ended_at: timestamp.nullable(),
  exception: z.string().nullable(),
  deleted_at: timestamp.nullable(),
  expire_at: timestamp.nullable(),
  storage_size_bytes: z.int().nullable(),
  total_storage_size_bytes: z.int().nullable(),
  is_orphan: z
    .literal(true)
    .optional()
    .describe('in lists of roots: the root of its trace never came, and this is one of its topmost calls'),
  attributes: z.looseObject({}),
  inputs: z.looseObject({}),
  output: z.unknown(),
  summary: z.looseObject({ weave: z.looseObject({ status: z.string() }) }),
})

export const callReadResponse = z.object({ call: callRecord.nullable() })
