// Wire shapes of the routes that add up token usage over calls and their descendants.
import { z } from 'zod'
import { bool, int, optional, text, withDefault } from './coerce.ts'
import { list } from './collections.ts'
import { callsFilter, expressionQuery } from './query.ts'

const bounds = {
  include_costs: withDefault(bool(), false),
  limit: withDefault(int(), 10_000),
}

export const callsUsageRequest = z.object({ project_id: text(), call_ids: list(text()), ...bounds })

export const traceUsageRequest = z.object({
  project_id: text(),
  filter: optional(callsFilter),
  query: optional(expressionQuery),
  ...bounds,
})

const cost = z.number().nullable().describe('null unless include_costs')

const usageEntry = z.object({
  requests: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cache_read_input_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
  prompt_tokens_total_cost: cost,
  completion_tokens_total_cost: cost,
  cache_read_input_tokens_total_cost: cost,
  cache_creation_input_tokens_total_cost: cost,
})

/** Usage by call id, then by model: the call's own usage and that of its descendants. */
export const usageResponse = z.object({
  call_usage: z.record(z.string(), z.record(z.string(), usageEntry)),
  unfinished_call_ids: z.array(z.string()),
})
