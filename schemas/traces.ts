// Wire shapes of POST /v2/{entity}/{project}/traces/query: what whole traces come to.
import { z } from 'zod'
import { bounded, float, int, optional, text, withDefault } from './coerce.ts'
import { atMost, list } from './collections.ts'
import { callsFilter, expressionQuery } from './query.ts'

/** Numbers of a trace, by the names that they have in the answer. */
export const traceNumbers = [
  'spans',
  'errors',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cost',
  'duration_ms',
] as const
export type TraceNumber = (typeof traceNumbers)[number]

/** Orders of traces; models are ordered by the first name. */
const traceOrders = [...traceNumbers, 'model', 'started_at'] as const
export type TraceOrder = (typeof traceOrders)[number]

const comparison = z
  .strictObject({
    gt: optional(float()),
    gte: optional(float()),
    lt: optional(float()),
    lte: optional(float()),
    eq: optional(float()),
  })
  .describe('all given bounds hold')

const where = z
  .strictObject({
    ...(Object.fromEntries(traceNumbers.map((name) => [name, optional(comparison)])) as Record<
      TraceNumber,
      ReturnType<typeof optional<typeof comparison>>
    >),
    model: optional(
      z.strictObject({
        contains: optional(text()).describe('part of the name of a model'),
        is: optional(list(text())).describe('one of these is the name of a model'),
        is_not: optional(list(text())).describe('none of these is the name of a model'),
      }),
    ).describe('of the models that count, in any case'),
  })
  .describe('what the whole trace must meet; all given members hold')
export type TraceWhere = z.output<typeof where>

export const tracesQueryRequest = z.object({
  trace_ids: optional(atMost(list(text()), 500)).describe('these traces, in this order: nothing else is looked at'),
  filter: optional(callsFilter).describe('of roots'),
  query: optional(expressionQuery).describe('of roots, as in /calls/stream_query'),
  where: optional(where),
  sort_by: withDefault(atMost(list(z.object({ field: z.enum(traceOrders), direction: z.enum(['asc', 'desc']) })), 10), [
    { field: 'started_at', direction: 'desc' },
  ]),
  limit: bounded(1, 500, 100),
  offset: withDefault(int(), 0),
  include_counts: optional(z.boolean()).describe(
    'of a list: how many traces there are in all, and how many have errors',
  ),
})
export type TracesQueryRequest = z.output<typeof tracesQueryRequest>

const trace = z.object({
  trace_id: z.string(),
  root_ids: z
    .array(z.string())
    .describe('calls that have no parent, or stand for a root that never came; the earliest first, 20 at most'),
  is_orphan: z.literal(true).optional().describe('the root never came: these are the topmost calls'),
  started_at: z.string().describe('of the first call'),
  ended_at: z.string().nullable().describe('of the last call; null while a call runs'),
  duration_ms: z.number().describe('from the first start to the last end, or start of a call that runs'),
  is_running: z.boolean(),
  spans: z.int(),
  errors: z.int().describe('calls with an exception'),
  input_tokens: z.number(),
  output_tokens: z.number(),
  total_tokens: z.number(),
  cost: z.number().nullable().describe('null = tokens were used, and no model of them has a price'),
  models: z.array(z.string()),
  unpriced_models: z.array(z.string()).optional().describe('those without a price, whose tokens are not in the cost'),
})
export type TraceFigures = z.output<typeof trace>

export const tracesQueryResponse = z.object({
  traces: z.array(trace),
  has_more: z.boolean(),
  counts: z.object({ traces: z.int(), with_errors: z.int() }).optional().describe('as asked for by include_counts'),
})
export type TracesQueryResponse = z.output<typeof tracesQueryResponse>
