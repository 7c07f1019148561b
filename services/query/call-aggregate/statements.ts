// The statements of an aggregate: data points of calls and of their usage, grouped by bucket and keys.

import { identifier, join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import type { Aggregate } from '../call-stats/aggregates.ts'
import { tokenSums } from '../call-stats/costs.ts'
import { ofLatencies, readsBilled } from '../call-stats/metrics.ts'
import { callParts, usageParts, type Wanted } from '../call-stats/rollup.ts'
import { listed, livePoints, liveValues, type Series } from '../call-stats/series.ts'
import { withDocumentsAndDerived } from '../calls/conditions/conditions.ts'
import type { Refined } from '../calls/conditions/refine.ts'
import type { HeaderColumn } from '../calls/conditions/types.ts'
import { asNumbers } from '../compact-rows.ts'
import type { AggregateMetrics, CallExpression, Key } from './metrics.ts'

/** Calls to be grouped: which, by what, and over which buckets. */
export type Grouped = {
  refined: Refined
  keys: readonly Key[]
  /** Start of a call's bucket as text; '' = there are none. */
  bucket: Sql
  /** Whether each trace counts once, at the first of its roots that there are. */
  oncePerTrace?: boolean
  /** Statistics of minutes and hours, where they have all groups; without them the calls are read. */
  parts?: (Wanted & { byHour: boolean }) | undefined
  /** Times in microseconds at which prices change within it. */
  priceChangesUs?: readonly number[]
} & Pick<Series, 'spansWithin' | 'unbilled'>

/**
 * The groups that are kept apart, with the rest as one or without it; or as many as there are, those with the greatest
 * first value.
 */
export type KeptGroups = { keys: readonly (readonly string[])[]; rest: boolean } | { first: number }

const usageColumns = ['model', 'input', 'output', 'total', 'cache_read', 'cache_write'].map((name) => `usage_${name}`)

/** Columns that the statements read of a call, whatever is asked for. */
const headerColumns = [
  'started_at',
  'ended_at',
  'end_ver',
  'start_ver',
  'id',
  'parent_id',
  'exception',
  ...usageColumns,
]

/** Columns that are read of a root, beside those of its whole trace. */
const traceColumns = ['started_at', 'ended_at', 'end_ver', 'start_ver', 'id', 'parent_id', 'trace_id', 'exception']

function seriesOfReads(
  { refined, bucket, oncePerTrace, parts, spansWithin, unbilled }: Grouped,
  reads: readonly { name: string; read: CallExpression }[],
): Series {
  const { scope, conditions } = refined
  const documents = new Set(reads.flatMap(({ read }) => read.documents))
  const derived = new Set(reads.flatMap(({ read }) => read.derived ?? []))
  const query = { header: [], payload: [], derivedFields: conditions.derived.fields }
  const own = reads.flatMap(({ read }) => read.columns)
  const columns = new Set([...(oncePerTrace === true ? traceColumns : headerColumns), ...own] as HeaderColumn[])
  const keys = reads.map(({ name, read }) => ({ name, sql: read.sql, statsKey: read.statsKey }))
  const from = (project: ProjectScope, where: Sql[]) => {
    const read = { columns, needs: documents, derived }
    const rows = withDocumentsAndDerived(project, scope, where, read, conditions.derived)
    const first = sql`(SELECT * FROM ${rows} ORDER BY started_at, id LIMIT 1 BY trace_id)`
    return sql`FROM ${oncePerTrace === true ? first : rows} AS c`
  }
  return {
    scope,
    query,
    granularity: parts?.byHour ? 3600 : 60,
    bucket,
    conditions,
    keys,
    ...(spansWithin && { spansWithin }),
    unbilled,
    ...((documents.size > 0 || derived.size > 0 || oncePerTrace === true) && { from }),
  }
}

const keyName = (n: number): string => `k${n}`
const names = (keys: readonly Key[]): Sql =>
  join(
    keys.map((_, n) => identifier(keyName(n))),
    ', ',
  )
const before = (list: Sql, keys: readonly Key[]): Sql => (keys.length === 0 ? sql`` : sql`${list}, `)

/** Rows with `kept`: whether their group is one of those that are kept apart; keys of the others are ''. */
function kept(rows: Sql, keys: readonly Key[], ask: KeptGroups): Sql {
  if (keys.length === 0 || 'first' in ask) return sql`(SELECT *, 1 AS kept FROM ${rows})`
  const lists = keys.map((_, n) =>
    param(
      'Array(String)',
      ask.keys.map((group) => group[n] ?? ''),
    ),
  )
  const isKept = sql`(${names(keys)}) IN (SELECT arrayJoin(arrayZip(${join(lists, ', ')}))${keys.length === 1 ? sql`.1` : sql``})`
  const cut = keys.map((_, n) => sql`if(kept, ${identifier(keyName(n))}, '') AS ${identifier(keyName(n))}`)
  if (!ask.rest) return sql`(SELECT *, 1 AS kept FROM ${rows} WHERE ${isKept})`
  return sql`(SELECT * REPLACE (${join(cut, ', ')}) FROM (SELECT *, ${isKept} AS kept FROM ${rows}))`
}

/**
 * Rows: bucket, whether the group is kept apart, its keys, number of data points, aggregates. With buckets, rows with the
 * bucket '' are over all of them.
 */
function grouped(
  name: string,
  { refined }: Grouped,
  ask: {
    keys: readonly Key[]
    kept: KeptGroups
    isBucketed: boolean
    aggregates: readonly Aggregate[]
    by: Sql
    more?: Sql
    /** Number of data points that parts of buckets stand for; without it each row is one. */
    points?: Sql
  },
  rowsOf: (project: ProjectScope) => Sql,
): Query {
  const { keys, aggregates, isBucketed, more = sql``, points } = ask
  return projectQuery(points ? `${name}-rolled` : name, refined.scope.projectId, (project) => {
    const rows = kept(rowsOf(project), keys, ask.kept)
    // A value that all rows share is no key: a single one is looked up much faster.
    const areAllKept = keys.length > 0 && ('first' in ask.kept || !ask.kept.rest)
    // Where bucket and `kept` are one value each, the engine may make a group of no rows: its least value would be 0.
    const isOneBucket = keys.length > 0 && !isBucketed
    const own = [...(areAllKept ? [] : ['kept']), ...keys.map((_, n) => keyName(n))].map(identifier)
    const whole = join(own, ', ')
    const each = isOneBucket ? whole : join([...own, identifier('bucket')], ', ')
    const sets = isBucketed ? sql`GROUPING SETS ((${each}${more}), (${whole}${more}))` : sql`${each}${more}`
    const head = sql`${isOneBucket ? sql`'' AS ` : sql``}bucket, ${areAllKept ? sql`1 AS ` : sql``}kept, ${before(names(keys), keys)}`
    const first = 'first' in ask.kept ? sql`ORDER BY ${ask.by} DESC LIMIT ${param('UInt64', ask.kept.first)}` : sql``
    return sql`SELECT ${head}${points ?? sql`count() AS points`}${more}${listed(aggregates, points ? 'merged' : 'values')}
    FROM ${rows} GROUP BY ${sets} HAVING count() > 0 ${first} ${asNumbers}`
  })
}

/** Keys but the model, which is no column of a call. */
const readsOfKeys = (keys: readonly Key[], model: Sql): { name: string; read: CallExpression }[] =>
  keys.map((key, n) => ({
    name: keyName(n),
    read: key === 'model' ? { sql: model, columns: [], documents: [] } : key,
  }))

/** A call of several models counts for each of them. */
const modelsOfCall = sql`arrayJoin(if(empty(c.usage_model), [''], arrayMap(model -> toString(model), c.usage_model)))`

export function callGroupsQuery(
  asked: Grouped,
  metrics: Pick<AggregateMetrics, 'calls' | 'values'>,
  ask: KeptGroups,
  isBucketed: boolean,
): Query {
  const { keys, parts } = asked
  const series = seriesOfReads(asked, [...readsOfKeys(keys, modelsOfCall), ...metrics.values])
  const [first] = metrics.calls
  if (parts && !keys.includes('model') && isMerged(metrics.calls)) {
    // Hours do not keep the latencies themselves.
    const readsMinutes = metrics.calls.some(
      ({ isPercentile, column }) => isPercentile || (keys.length > 0 && column === ofLatencies),
    )
    const by = first ? sqlOf(first, true) : sql`sum(calls)`
    return grouped(
      'calls.aggregate',
      asked,
      { keys, kept: ask, isBucketed, aggregates: metrics.calls, by, points: sql`sum(calls)` },
      (project) => callParts(project, series, { ...parts, byHour: parts.byHour && !readsMinutes }),
    )
  }
  return grouped(
    'calls.aggregate',
    asked,
    { keys, kept: ask, isBucketed, aggregates: metrics.calls, by: first?.sql ?? sql`points` },
    (project) => liveValues(project, series),
  )
}

const isMerged = (aggregates: readonly Aggregate[]): boolean => aggregates.every(({ merged }) => merged !== null)

type UsageOptions = { isBucketed: boolean; rootsOrSpans: boolean }

/** The last change of prices before a call, in microseconds; 0 = there is none in the range. */
const pricedAt = (changesUs: readonly number[]): CallExpression => ({
  sql: sql`roundDown(toUnixTimestamp64Micro(toDateTime64(c.started_at, 6, 'UTC')), ${param('Array(Int64)', [0, ...changesUs])})`,
  columns: ['started_at'],
  documents: [],
})

/** Rows of usage with the model among their keys, where it is one: data points, or parts of buckets where these suffice. */
function usageRows(
  asked: Grouped,
  aggregates: readonly Aggregate[],
  { rootsOrSpans }: UsageOptions,
  more: { name: string; read: CallExpression }[] = [],
) {
  const { keys, parts } = asked
  const own = keys.flatMap((key, n) => (key === 'model' ? [] : [{ name: keyName(n), read: key }]))
  const series = seriesOfReads(asked, [...own, ...more])
  const models = keys.flatMap((key, n) => (key === 'model' ? [sql`, model AS ${identifier(keyName(n))}`] : []))
  const withKeys = (rows: Sql): Sql => sql`(SELECT *${join(models, '')} FROM ${rows})`
  if (parts && isMerged(aggregates) && own.every(({ read }) => read.statsKey !== undefined))
    return {
      points: { points: sql`sum(points)` },
      rowsOf: (project: ProjectScope) =>
        withKeys(usageParts(project, series, aggregates, { ...parts, rootsOnly: rootsOrSpans })),
    }
  const billed = readsBilled(aggregates)
  return {
    points: {},
    rowsOf: (project: ProjectScope) =>
      withKeys(
        sql`(SELECT *, toString(point.1) AS model FROM ${livePoints(project, series, { rootsOrSpans, billed })})`,
      ),
  }
}

/** SQL of an aggregate over the rows that are read. */
const sqlOf = ({ sql: values, merged }: Aggregate, isOfParts: boolean): Sql => (isOfParts && merged) || values

export function usageGroupsQuery(
  asked: Grouped,
  aggregates: readonly Aggregate[],
  ask: KeptGroups,
  options: UsageOptions,
): Query {
  const { keys } = asked
  const { points, rowsOf } = usageRows(asked, aggregates, options)
  const [first] = aggregates
  const by = first ? sqlOf(first, 'points' in points) : sql`points`
  return grouped(
    'calls.aggregate-usage',
    asked,
    { keys, kept: ask, isBucketed: options.isBucketed, aggregates, by, ...points },
    rowsOf,
  )
}

/**
 * The same per model and price: sums that costs are made of. The first values are the model and, where prices change
 * within the range, the time of the price.
 */
export function costGroupsQuery(asked: Grouped, ask: KeptGroups, options: UsageOptions): Query {
  const { keys, priceChangesUs = [] } = asked
  const changes = priceChangesUs.length > 0 ? [{ name: 'priced_at', read: pricedAt(priceChangesUs) }] : []
  const { points, rowsOf } = usageRows(asked, tokenSums, options, changes)
  const [input, output] = tokenSums as [Aggregate, Aggregate]
  const isOfParts = 'points' in points
  return grouped(
    'calls.aggregate-costs',
    asked,
    {
      keys,
      kept: ask,
      isBucketed: options.isBucketed,
      aggregates: tokenSums,
      by: isOfParts ? sql`${sqlOf(input, true)} + ${sqlOf(output, true)}` : sql`sum(point.2) + sum(point.3)`,
      more: changes.length > 0 ? sql`, model, priced_at` : sql`, model`,
      ...points,
    },
    rowsOf,
  )
}
