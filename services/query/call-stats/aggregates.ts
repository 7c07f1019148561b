// Compiles a metric: keys of the answer, the SQL of their values, and the value of an empty bucket.
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

const maxAggregates = 500

function aggregateOf(metric: string, of: MetricSql, name: Aggregation): Aggregate {
  const { of: sqlOf, empty } = aggregations[name]
  return {
    key: `${name}_${metric}`,
    sql: sqlOf(of.value),
    merged: of.merged[name] ?? null,
    column: of.columns?.[name] ?? '',
    isPercentile: false,
    empty,
  }
}

/** Each aggregate function would keep all values for itself: there is one list for all percentiles of a metric. */
const percentilesOf = (metric: string): Sql => identifier(`percentiles_of_${metric}`)

/** A percentile by its place in the list of its metric; `list` says how the list is made, or its name. */
function percentileOf(key: string, of: MetricSql, list: { values: Sql; merged: Sql }, at: Sql): Aggregate {
  const none = of.mergedPercentiles?.none
  return {
    key,
    sql: sql`if(count(${of.value}) = 0, NULL, ${list.values}[${at}])`,
    merged: none ? sql`if(${none}, NULL, ${list.merged}[${at}])` : null,
    column: '',
    isPercentile: true,
    empty: null,
  }
}

/** Lists of percentiles (0..100) get their names where they are used first. */
function madeList(metric: string, { value, mergedPercentiles }: MetricSql, percentiles: readonly number[]) {
  const levels = join(
    percentiles.map((percentile) => param('Float64', percentile / 100)),
    ', ',
  )
  const name = percentilesOf(metric)
  const values = sql`(quantilesExactInclusive(${levels})(${value}) AS ${name})`
  return { values, merged: mergedPercentiles ? sql`(${mergedPercentiles.of(levels)} AS ${name})` : name }
}

/**
 * Aggregates in the order in which they are asked for, each key once.
 * @throws Fault 400 for a percentile outside 0..100
 */
export function aggregatesOf(metrics: readonly MetricSpec[], known: Readonly<Record<string, MetricSql>>): Aggregate[] {
  const found = new Map<string, Aggregate>()
  const levelsOf = new Map<string, number[]>()
  for (const { metric, aggregations: asked, percentiles } of metrics) {
    const of = known[metric] as MetricSql
    const names = asked.length + percentiles.length === 0 ? (['sum'] as const) : asked
    for (const name of names) found.set(`${name}_${metric}`, aggregateOf(metric, of, name))
    const levels = levelsOf.get(metric) ?? []
    for (const percentile of percentiles) {
      if (!(percentile >= 0 && percentile <= 100))
        throw fault(400, `Percentiles are numbers from 0 to 100, not ${percentile}`)
      const key = `p${percentile}_${metric}`
      if (found.has(key)) continue
      if (found.size >= maxAggregates) throw fault(400, `At most ${maxAggregates} values per bucket can be asked for`)
      levels.push(percentile)
      levelsOf.set(metric, levels)
      const list = percentilesOf(metric)
      found.set(key, percentileOf(key, of, { values: list, merged: list }, param('UInt32', levels.length)))
    }
  }
  for (const [metric, percentiles] of levelsOf) {
    const of = known[metric] as MetricSql
    const key = `p${percentiles[0]}_${metric}`
    found.set(key, percentileOf(key, of, madeList(metric, of, percentiles), param('UInt32', 1)))
  }
  return [...found.values()]
}

/** Whether anything but the sum is asked for: only then null and 0 differ. */
export const distinguishesNull = (metrics: readonly MetricSpec[], metric: string): boolean =>
  metrics.some(
    (spec) =>
      spec.metric === metric && (spec.percentiles.length > 0 || spec.aggregations.some((name) => name !== 'sum')),
  )
