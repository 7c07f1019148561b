// Wire shapes of POST /calls/aggregate: what the charts of a page are drawn from.
import { z } from 'zod'
import { bool, bounded, optional, text, withDefault } from './coerce.ts'
import { atMost, list } from './collections.ts'
import { callsFilter, expressionQuery } from './query.ts'

const timestamp = z.union([z.string(), z.number()])

export const callsAggregateRequest = z.object({
  project_id: text(),
  start: timestamp,
  end: timestamp,
  filter: optional(callsFilter),
  query: optional(expressionQuery),
  count: withDefault(z.enum(['calls', 'traces']), 'calls').describe(
    'traces: each trace of a matching root once, with what all its calls come to: errors are traces with errors, latency_ms is from first start to last end',
  ),
  timezone: withDefault(text(), 'UTC'),
  bucket: z
    .union([z.int().min(1).max(1e9), z.enum(['day', 'week', 'month'])])
    .nullish()
    .describe('seconds, or days of the time zone; none = totals only'),
  group_by: withDefault(atMost(list(text()), 2), []).describe(
    'op_name, model, status, user, thread_id, error_kind, latency_range, a field, `either <field> or <field>` for the first that a call has, or `range <width> <field>` for numbers',
  ),
  top: bounded(1, 100, 10),
  rest: withDefault(bool(), true).describe('whether all other groups follow as one more'),
  metrics: atMost(
    list(
      z.object({
        field: text().describe(
          'calls, errors, latency_ms, a token or cost metric of /calls/stats, a field, or `either <field> or <field>`',
        ),
        as: withDefault(text(), 'sum').describe('sum, avg, min, max, count or p<number>'),
      }),
    ),
    20,
  ),
  compare: optional(z.object({ start: timestamp, end: timestamp })),
})
export type CallsAggregateRequest = z.output<typeof callsAggregateRequest>

const value = z.number().nullable()
const group = z.object({
  keys: z.array(z.string()),
  is_rest: z.boolean().describe('all groups beside the others'),
  series: z.record(z.string(), z.array(value)).describe('by `<field>.<as>`, a value per bucket'),
  total: z.record(z.string(), value),
})
const times = z.object({ buckets: z.array(z.string()), groups: z.array(group) })

/** `previous` is the same over the time that `compare` names, for the same groups. */
export const callsAggregateResponse = times.extend({
  unpriced_models: z
    .array(z.string())
    .optional()
    .describe('where costs were asked for: models without a price, whose tokens are in no cost'),
  previous: times.optional(),
})
export type CallsAggregateResponse = z.output<typeof callsAggregateResponse>
