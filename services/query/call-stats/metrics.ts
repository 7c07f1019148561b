// The metrics of call statistics: their value in a data point, and how parts of a bucket are merged.
import { identifier, type Sql, sql } from '../../core/store/sql.ts'
import type { Aggregate, MetricSql } from './aggregates.ts'

/** Column of parts with the latencies themselves: by op and user all aggregates of latencies are made of it. */
export const ofLatencies = 'latencies'
const everyWay = ['sum', 'avg', 'min', 'max', 'count', 'count_true', 'count_false'] as const

/** Over the rows of `liveValues`, and over those of `rolledCallsQuery`. */
export const callMetrics: Record<'latency_ms' | 'call_count' | 'error_count', MetricSql> = {
  latency_ms: {
    value: sql`latency`,
    merged: {
      sum: sql`sum(latency_sum)`,
      avg: sql`if(sum(timed) = 0, 0, sum(latency_sum) / sum(timed))`,
      min: sql`min(if(timed > 0, latency_min, NULL))`,
      max: sql`max(if(timed > 0, latency_max, NULL))`,
      count: sql`sum(timed)`,
      count_true: sql`sum(latency_ones)`,
      count_false: sql`sum(latency_zeros)`,
    },
    columns: Object.fromEntries(everyWay.map((as) => [as, ofLatencies])),
    mergedPercentiles: {
      none: sql`sum(timed) = 0`,
      of: (levels) => sql`quantilesExactInclusiveArray(${levels})(latencies)`,
    },
  },
  call_count: {
    value: sql`toNullable(1)`,
    merged: {
      sum: sql`sum(calls)`,
      avg: sql`1`,
      min: sql`1`,
      max: sql`1`,
      count: sql`sum(calls)`,
      count_true: sql`sum(calls)`,
      count_false: sql`0`,
    },
  },
  error_count: {
    value: sql`toNullable(failed)`,
    merged: {
      sum: sql`sum(errors)`,
      avg: sql`sum(errors) / sum(calls)`,
      min: sql`toUInt8(sum(errors) = sum(calls))`,
      max: sql`toUInt8(sum(errors) > 0)`,
      count: sql`sum(calls)`,
      count_true: sql`sum(errors)`,
      count_false: sql`sum(calls) - sum(errors)`,
    },
  },
}

/** Values are never null, but for totals. `name` is that of the columns of parts. */
const tokens = (value: Sql, name: string): MetricSql => {
  const part = (of: 'sum' | 'min' | 'max') => ({ column: `${name}_${of}`, of: identifier(`${name}_${of}`) })
  const [sum, min, max] = [part('sum'), part('min'), part('max')]
  return {
    value: sql`toNullable(toFloat64(${value}))`,
    merged: {
      sum: sql`sum(${sum.of})`,
      avg: sql`sum(${sum.of}) / sum(points)`,
      min: sql`toFloat64(min(${min.of}))`,
      max: sql`toFloat64(max(${max.of}))`,
      count: sql`sum(points)`,
    },
    columns: { sum: sum.column, avg: sum.column, min: min.column, max: max.column },
  }
}

/** Over the rows of `livePoints`, and over those of `rolledUsageQuery`. */
export const usageMetrics: Record<
  'input_tokens' | 'output_tokens' | 'total_tokens' | 'cache_read_input_tokens' | 'cache_creation_input_tokens',
  MetricSql
> = {
  input_tokens: tokens(sql`point.2`, 'input'),
  output_tokens: tokens(sql`point.3`, 'output'),
  total_tokens: {
    value: sql`if(point.4 != 0 OR has(with_total, point.1), toFloat64(point.4), NULL)`,
    // Only for sums a total that was not reported is the same as one of 0.
    merged: { sum: sql`sum(total_sum)` },
    columns: { sum: 'total_sum' },
  },
  cache_read_input_tokens: tokens(sql`point.5`, 'cache_read'),
  cache_creation_input_tokens: tokens(sql`point.6`, 'cache_write'),
}

/** The parts of costs beside the reported tokens, by name: the number in a data point (0045_billed_names.sql). */
const billed = {
  inside: sql`bill.inside`,
  apart: sql`if(counts_cached, 0, bill.apart)`,
  billed_read: sql`bill.cache_read`,
  billed_write: sql`bill.cache_write`,
  billed_write_1h: sql`bill.cache_write_1h`,
  more_output: sql`bill.more_output`,
}

/** Sums of these, for costs; no request names them. */
export const billedMetrics: Record<keyof typeof billed, MetricSql> = Object.fromEntries(
  Object.entries(billed).map(([name, value]) => [name, tokens(value, name)]),
) as Record<keyof typeof billed, MetricSql>

/** Columns of parts that hold them, and what a data point has there. */
export const billedSums: Readonly<Record<string, Sql>> = Object.fromEntries(
  Object.entries(billed).map(([name, value]) => [`${name}_sum`, sql`toFloat64(${value})`]),
)

export const readsBilled = (aggregates: readonly Aggregate[]): boolean =>
  aggregates.some(({ column }) => column in billedSums)
