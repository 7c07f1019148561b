// What a metric asks for: keys of the answer, the SQL of their values, and what an empty bucket shows.
import { fault } from '../../core/http/errors.ts'
import { identifier, join, param, type Sql, sql } from '../../core/store/sql.ts'

type Aggregation = 'sum' | 'avg' | 'min' | 'max' | 'count' | 'count_true' | 'count_false'

export type MetricSpec = { metric: string; aggregations: Aggregation[]; percentiles: number[] }

/** One value of a bucket; `empty` stands where there is no data point. */
export type Aggregate = {
  key: string
  /** Over data points. */
  sql: Sql
  /** Over parts of a bucket; null = they do not tell. */
  merged: Sql | null
  /** Column of parts that `merged` reads, where columns that are not read have to be left out; '' = none. */
  column: string
  /** It takes the values themselves, which only the smallest parts have. */
  isPercentile: boolean
  empty: 0 | null
}

/** A metric: its value in a data point, a number or NULL, and what it is over parts of a bucket. */
export type MetricSql = {
  value: Sql
  merged: Partial<Record<Aggregation, Sql>>
  columns?: Partial<Record<Aggregation, string>>
  /** All asked percentiles over parts, as a list; `none` where there are no values. */
  mergedPercentiles?: { none: Sql; of(levels: Sql): Sql }
}

/** Values are nullable; null ones are no data points. */
const aggregations: Record<Aggregation, { of(value: Sql): Sql; empty: 0 | null }> = {
  sum: { of: (value) => sql`ifNull(sum(${value}), 0)`, empty: 0 },
  avg: { of: (value) => sql`ifNull(avgOrNull(${value}), 0)`, empty: 0 },
  min: { of: (value) => sql`minOrNull(${value})`, empty: null },
  max: { of: (value) => sql`maxOrNull(${value})`, empty: null },
  count: { of: (value) => sql`count(${value})`, empty: 0 },
  count_true: { of: (value) => sql`countIf(${value} = 1)`, empty: 0 },
  count_false: { of: (value) => sql`countIf(${value} = 0)`, empty: 0 },
}

const mostAggregates = 500

/**
 * Aggregates in the order in which they are asked for, each key once.
 * @throws Fault 400 for a percentile outside 0..100
 */
export function aggregatesOf(metrics: readonly MetricSpec[], known: Readonly<Record<string, MetricSql>>): Aggregate[] {
  const found = new Map<string, Aggregate>()
  const levelsOf = new Map<string, number[]>()
  for (const { metric, aggregations: asked, percentiles } of metrics) {
    const { value, merged, columns = {}, mergedPercentiles } = known[metric] as MetricSql
    const names = asked.length + percentiles.length === 0 ? (['sum'] as const) : asked
    for (const name of names) {
      const { of, empty } = aggregations[name]
      const key = `${name}_${metric}`
      found.set(key, {
        key,
        sql: of(value),
        merged: merged[name] ?? null,
        column: columns[name] ?? '',
        isPercentile: false,
        empty,
      })
    }
    const levels = levelsOf.get(metric) ?? []
    for (const percentile of percentiles) {
      if (!(percentile >= 0 && percentile <= 100))
        throw fault(400, `Percentiles are numbers from 0 to 100, not ${percentile}`)
      const key = `p${percentile}_${metric}`
      if (found.has(key)) continue
      if (found.size >= mostAggregates) throw fault(400, `At most ${mostAggregates} values per bucket can be asked for`)
      levels.push(percentile)
      levelsOf.set(metric, levels)
      // Each aggregate function would keep all values for itself: there is one for all percentiles of a metric.
      const list = identifier(`percentiles_of_${metric}`)
      const at = param('UInt32', levels.length)
      const none = mergedPercentiles?.none
      found.set(key, {
        key,
        sql: sql`if(count(${value}) = 0, NULL, ${list}[${at}])`,
        merged: none ? sql`if(${none}, NULL, ${list}[${at}])` : null,
        column: '',
        isPercentile: true,
        empty: null,
      })
    }
  }
  for (const [metric, percentiles] of levelsOf) {
    const { value, mergedPercentiles } = known[metric] as MetricSql
    const levels = join(
      percentiles.map((percentile) => param('Float64', percentile / 100)),
      ', ',
    )
    const list = identifier(`percentiles_of_${metric}`)
    // The list gets its name where it is used first.
    const first = found.get(`p${percentiles[0]}_${metric}`) as Aggregate
    const one = param('UInt32', 1)
    first.sql = sql`if(count(${value}) = 0, NULL, (quantilesExactInclusive(${levels})(${value}) AS ${list})[${one}])`
    if (mergedPercentiles)
      first.merged = sql`if(${mergedPercentiles.none}, NULL, (${mergedPercentiles.of(levels)} AS ${list})[${one}])`
  }
  return [...found.values()]
}

/** Whether anything but the sum is asked for: only then null and 0 differ. */
export const tellsNullFromZero = (metrics: readonly MetricSpec[], metric: string): boolean =>
  metrics.some(
    (spec) =>
      spec.metric === metric && (spec.percentiles.length > 0 || spec.aggregations.some((name) => name !== 'sum')),
  )
