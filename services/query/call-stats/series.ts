// The statements of call statistics over the calls themselves: data points per bucket, and per bucket and model.

import { identifier, join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import { type CallConditions, callConditions, conditionsOf, payloadRows } from '../calls/conditions/conditions.ts'
import type { CompiledCallsQuery } from '../calls/conditions/types.ts'
import { allOf, indexOf, isRoot, type Range, type Scope, timeConditions } from '../calls/scope.ts'
import { asNumbers } from '../compact-rows.ts'
import type { Aggregate } from './aggregates.ts'
import { readsBilled } from './metrics.ts'

/** The list of a bucket's calls, and of its usage, that has it. */
export type StatsKey = 'op' | 'user'

/** Statistics have it in a list, or it follows from `c.started_at`, which is as true of a bucket. */
type SeriesKey = { name: string; sql: Sql; statsKey?: StatsKey | undefined }

/** Calls that begin in [startUs, endUs) and meet a query on light columns. */
export type Series = {
  scope: Scope
  query: Pick<CompiledCallsQuery, 'header' | 'payload' | 'derivedFields'>
  granularity: number
  /** Further keys of its rows, by the name of a column of them. */
  keys?: readonly SeriesKey[]
  /** Another start of a call's bucket than by seconds. */
  bucket?: Sql
  /** Conditions that are more than those of the query. */
  conditions?: CallConditions
  /** Parts of its time beyond which no usage is of a span: no payload is looked at there. */
  spansWithin?: Scope['within']
  /** Parts of its time in which nothing is billed beside the tokens, and the others; without it there are none. */
  unbilled?: { whole: readonly Range[]; live: readonly Range[] } | undefined
  /** Source of calls that bring documents along. */
  from?(project: ProjectScope, where: Sql[]): Sql
}

export function seriesOf(
  projectId: Scope['projectId'],
  query: CompiledCallsQuery,
  time: { startUs: number; endUs: number; granularity: number },
): Series {
  const { startUs, endUs, granularity } = time
  const range = { fromUs: startUs, beforeUs: endUs }
  return { scope: { projectId, range, index: indexOf(query.facts), keys: null }, query, granularity }
}

const startedUs = sql`toUnixTimestamp64Micro(c.started_at)`

/** Start of the bucket that a time in whole units of 1/`per` seconds lies in, in these units. */
export const alignedTo = (time: Sql, granularity: number, per = 1): Sql =>
  sql`${time} - positiveModulo(${time}, ${param('Int64', granularity * per)})`

/** Start of a call's bucket in seconds. */
const bucketOf = (granularity: number): Sql => sql`intDiv(${alignedTo(startedUs, granularity, 1e6)}, 1000000) AS bucket`

export const listed = (aggregates: readonly Aggregate[], from: 'values' | 'merged'): Sql =>
  join(
    aggregates.map((aggregate) => sql`, ${(from === 'merged' && aggregate.merged) || aggregate.sql}`),
    '',
  )

const conditions = (project: ProjectScope, { scope, query, conditions = conditionsOf(query) }: Series): Sql[] =>
  callConditions(project, scope, conditions)

const bucketOfCall = ({ granularity, bucket }: Series): Sql =>
  bucket === undefined ? bucketOf(granularity) : sql`${bucket} AS bucket`

const fromCalls = (project: ProjectScope, { from }: Series, where: Sql[]): Sql =>
  from ? from(project, where) : project.from('calls', { alias: 'c', final: true, where: allOf(where) })

/** The keys of a series behind other columns: as they are made, or by their names. */
export const keysOf = ({ keys = [] }: Series, of: (key: SeriesKey) => Sql): Sql =>
  join(
    keys.map((key) => sql`, ${of(key)}`),
    '',
  )
const madeKeys = (series: Series): Sql => keysOf(series, (key) => sql`${key.sql} AS ${identifier(key.name)}`)
export const namedKeys = (series: Series): Sql => keysOf(series, ({ name }) => identifier(name))

/** Calls with what their metrics are made of, as a subquery. */
export const liveValues = (project: ProjectScope, series: Series): Sql =>
  sql`(
      SELECT ${bucketOfCall(series)}${madeKeys(series)}, toUInt8(c.exception != '') AS failed,
        if(c.end_ver > 0 AND c.ended_at >= c.started_at,
          toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
      ${fromCalls(project, series, conditions(project, series))}
    )`

/** Rows: bucket, number of calls, aggregates. */
export const callSeriesQuery = (series: Series, aggregates: readonly Aggregate[]): Query =>
  projectQuery(
    'call-stats.calls',
    series.scope.projectId,
    (project) => sql`SELECT bucket, count()${listed(aggregates, 'values')} FROM
    ${liveValues(project, series)}
    GROUP BY bucket ${asNumbers}`,
  )

/** The data points: `rootsOrSpans`, of roots and calls that came as spans, whose parents carry no usage of theirs. */
type Points = { rootsOrSpans: boolean; billed: boolean }

/** The billed values beside the tokens of calls; the join takes one row of several copies. */
const billsOf = (project: ProjectScope, { scope }: Series): Sql =>
  sql`SELECT clock, id, billed_usage, counts_cached
    ${project.from('payloads', { where: sql`${payloadRows(project, scope, 'end')} AND notEmpty(billed_usage)` })}`

/** The own share of spans that report the sum of those below them (0044_usage_shares.sql). */
const sharesOf = (project: ProjectScope, { scope }: Series): Sql =>
  sql`SELECT started_at, id, nested, (input, output, total, cache_read, cache_write) AS counted,
      (inside, toInt64(0), billed_read, billed_write, billed_write_1h, more_output) AS bill
    ${project.from('usage_shares', {
      final: true,
      where: allOf([...timeConditions(project, sql`started_at`, scope), sql`nested = 1`]),
    })}`

/** The data points of a call: what its span counts for itself, which is none where that is nothing. */
const countedPoints = sql`if(s.nested = 1, if((s.counted, s.bill) = ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)), [],
        arrayMap(point -> tupleConcat(tuple(point.1), s.counted), c.reported)), c.reported)`
const billType = sql`'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)'`
const sharedBill = sql`CAST(tupleConcat(tuple(toString(point.1)), s.bill), ${billType})`

/** Whether a call is a root or came as a span: those whose parents carry no usage of theirs. */
export const isRootOrSpan = (project: ProjectScope, scope: Scope): Sql => {
  const spans = sql`${payloadRows(project, scope, 'start')} AND otel_dump != ''`
  return sql`(${isRoot(project)} OR (c.start_ver, c.id) IN (SELECT clock, id ${project.from('payloads', { where: spans })}))`
}

/** Calls with usage. */
function usageCalls(project: ProjectScope, series: Series, { rootsOrSpans, billed }: Points): Sql {
  const { scope, spansWithin } = series
  const where = [...conditions(project, series), sql`notEmpty(c.usage_model)`]
  if (rootsOrSpans) where.push(isRootOrSpan(project, spansWithin ? { ...scope, within: spansWithin } : scope))
  // A call that came whole says this of itself, in the row of what is billed.
  const counted = sql`${payloadRows(project, scope, 'start')} AND part = 'start' AND counts_cached = 1`
  const cached = billed
    ? sql`, (c.start_ver, c.id) IN (SELECT clock, id ${project.from('payloads', { where: counted })}) AS has_cached`
    : sql``
  const calls = sql`SELECT ${bucketOfCall(series)}${madeKeys(series)}, c.started_at AS begun, c.end_ver AS end_ver, c.id AS id,
        arrayZip(c.usage_model, c.usage_input, c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS reported${cached}
      ${fromCalls(project, series, where)}`
  const keys = keysOf(series, ({ name }) => sql`c.${identifier(name)} AS ${identifier(name)}`)
  const shared = sql`FROM (${calls}) AS c LEFT ANY JOIN (${sharesOf(project, series)}) AS s ON s.started_at = c.begun AND s.id = c.id`
  const columns = sql`SELECT c.bucket AS bucket${keys}, c.end_ver AS end_ver, c.id AS id, s.nested AS nested, ${countedPoints} AS points`
  if (!billed) return sql`${columns} ${shared}`
  return sql`${columns}, c.has_cached OR b.counts_cached = 1 AS counts_cached,
        arrayMap(point -> if(s.nested = 1, ${sharedBill}, arrayFirst(bill -> bill.model = point.1, b.billed_usage)), points) AS bills
      ${shared} LEFT ANY JOIN (${billsOf(project, series)}) AS b ON b.clock = c.end_ver AND b.id = c.id`
}

/** A row per call and model, as a subquery. */
const pointsOf = (series: Series, calls: Sql, billed: boolean): Sql =>
  billed
    ? sql`(SELECT bucket${namedKeys(series)}, point, nested, bill, counts_cached, with_total FROM (${calls}) ARRAY JOIN points AS point, bills AS bill)`
    : sql`(SELECT bucket${namedKeys(series)}, arrayJoin(points) AS point, nested, with_total FROM (${calls}))`

const nothingBilled = sql`CAST(('', 0, 0, 0, 0, 0, 0), ${billType})`

export function livePoints(project: ProjectScope, series: Series, points: Points): Sql {
  const rowsOf = (of: Series, billed: boolean): Sql =>
    pointsOf(
      of,
      sql`SELECT *, emptyArrayString() AS with_total FROM (${usageCalls(project, of, { ...points, billed })})`,
      billed,
    )
  const { unbilled, ...rest } = series
  if (!unbilled || !points.billed) return rowsOf(rest, points.billed)
  const inside = (within: readonly Range[]): Series => ({ ...rest, scope: { ...rest.scope, within } })
  const plain = sql`SELECT bucket${namedKeys(rest)}, point, nested, ${nothingBilled} AS bill, toUInt8(0) AS counts_cached, with_total
      FROM ${rowsOf(inside(unbilled.whole), false)}`
  if (unbilled.live.length === 0) return sql`(${plain})`
  return sql`(${plain} UNION ALL SELECT * FROM ${rowsOf(inside(unbilled.live), true)})`
}

/**
 * Rows: bucket, model, number of data points, aggregates.
 * `exactTotals`: a total of 0 is told from one that was not reported, which takes a look into the summaries.
 * `most`: rows beyond it are left out.
 */
export const usageSeriesQuery = (
  series: Series,
  aggregates: readonly Aggregate[],
  options: { rootsOrSpans: boolean; exactTotals: boolean; most: number },
): Query =>
  projectQuery('call-stats.usage', series.scope.projectId, (project) => {
    const { rootsOrSpans } = options
    const billed = readsBilled(aggregates)
    const summaries = sql`SELECT clock, id, arrayMap(entry -> entry.1,
        arrayFilter(entry -> toString(JSONType(entry.2, 'total_tokens')) != 'Null', JSONExtractKeysAndValuesRaw(summary, 'usage'))) AS with_total
      ${project.from('payloads', { where: payloadRows(project, series.scope, 'end') })}`
    const calls = usageCalls(project, series, { rootsOrSpans, billed })
    const points = options.exactTotals
      ? pointsOf(
          series,
          sql`SELECT c.*, p.with_total AS with_total
        FROM (${summaries}) AS p RIGHT ANY JOIN (${calls}) AS c ON p.clock = c.end_ver AND p.id = c.id`,
          billed,
        )
      : livePoints(project, series, { rootsOrSpans, billed })
    return sql`SELECT bucket, toString(point.1) AS model, count()${listed(aggregates, 'values')} FROM ${points}
    GROUP BY bucket, model LIMIT ${param('UInt64', options.most)} ${asNumbers}`
  })
