// Wire shapes of the time series of calls.
import { z } from 'zod'
import { float, intFrom, optional, text, withDefault } from './coerce.ts'
import { list } from './collections.ts'
import { callsFilter } from './query.ts'

const usageMetrics = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'input_cost',
  'output_cost',
  'total_cost',
] as const

const aggregation = z.enum(['sum', 'avg', 'min', 'max', 'count', 'count_true', 'count_false'])

const metricOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.object({
    metric: z.enum(names),
    aggregations: withDefault(list(aggregation), ['sum']),
    percentiles: withDefault(list(float()), []),
  })

const timestamp = z.union([z.string(), z.number()])

export const callsStatsRequest = z.object({
  project_id: text(),
  start: timestamp,
  end: optional(timestamp),
  granularity: optional(intFrom(1)),
  usage_metrics: optional(list(metricOf(usageMetrics))),
  call_metrics: optional(list(metricOf(['latency_ms', 'call_count', 'error_count']))),
  filter: optional(callsFilter),
  timezone: withDefault(text(), 'UTC'),
})

export type CallsStatsRequest = z.output<typeof callsStatsRequest>

/** Times of buckets are written with the offset of the time zone. */
const bucket = z.looseObject({ timestamp: z.string(), count: z.int() })

export const callsStatsResponse = z.object({
  start: z.iso.datetime(),
  end: z.iso.datetime(),
  granularity: z.int().describe('seconds; 0 when no metric was asked for'),
  timezone: z.string(),
  usage_buckets: z.array(bucket.extend({ model: z.string() })),
  call_buckets: z.array(bucket),
})
