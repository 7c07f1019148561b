// The statements of call statistics over the calls themselves: data points per bucket, and per bucket and model.
import { join, type ProjectScope, param, projectQuery, type Sql, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { callConditions, conditionsOf, payloadRows } from '../calls/conditions.ts'
import { allOf, indexOf, type Scope } from '../calls/scope.ts'
import type { CompiledCallsQuery } from '../expression/types.ts'
import type { Aggregate } from './aggregates.ts'

/** Calls that begin in [startUs, endUs) and meet a query on light columns. */
export type Series = { scope: Scope; query: CompiledCallsQuery; granularity: number }

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

const conditions = (project: ProjectScope, { scope, query }: Series): Sql[] =>
  callConditions(project, scope, conditionsOf(query))

export const asNumbers = sql`SETTINGS output_format_json_quote_64bit_integers = 0`

/** Calls with what their metrics are made of, as a subquery. */
export const liveValues = (project: ProjectScope, series: Series, more: readonly Sql[]): Sql => {
  const where = allOf([...conditions(project, series), ...more])
  return sql`(
      SELECT ${bucketOf(series.granularity)}, toUInt8(c.exception != '') AS failed,
        if(c.end_ver > 0 AND c.ended_at >= c.started_at,
          toFloat64(intDiv(toUnixTimestamp64Micro(c.ended_at) - toUnixTimestamp64Micro(c.started_at), 1000)), NULL) AS latency
      ${project.from('calls', { alias: 'c', final: true, where })}
    )`
}

/** Rows: bucket, number of calls, aggregates. */
export const callSeriesQuery = (series: Series, aggregates: readonly Aggregate[]): Query =>
  projectQuery(
    'call-stats.calls',
    series.scope.projectId,
    (project) => sql`SELECT bucket, count()${listed(aggregates, 'values')} FROM
    ${liveValues(project, series, [])}
    GROUP BY bucket ${asNumbers}`,
  )

/** Calls with usage. `rootsOrSpans`: only roots and calls that came as spans, whose parents carry no usage of theirs. */
function usageCalls(project: ProjectScope, series: Series, more: readonly Sql[], rootsOrSpans: boolean): Sql {
  const { scope, granularity } = series
  const where = [...conditions(project, series), ...more, sql`notEmpty(c.usage_model)`]
  if (rootsOrSpans) {
    const spans = sql`${payloadRows(project, scope, 'start')} AND otel_dump != ''`
    where.push(
      sql`(c.parent_id = '' OR (c.start_ver, c.id) IN (SELECT clock, id ${project.from('payloads', { where: spans })}))`,
    )
  }
  return sql`SELECT ${bucketOf(granularity)}, c.end_ver AS end_ver, c.id AS id, arrayZip(c.usage_model, c.usage_input,
        c.usage_output, c.usage_total, c.usage_cache_read, c.usage_cache_write) AS points
      ${project.from('calls', { alias: 'c', final: true, where: allOf(where) })}`
}

/** A row per call and model, as a subquery. */
export const livePoints = (project: ProjectScope, series: Series, more: readonly Sql[], rootsOrSpans: boolean): Sql =>
  sql`(SELECT bucket, arrayJoin(points) AS point, emptyArrayString() AS with_total FROM (${usageCalls(project, series, more, rootsOrSpans)}))`

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
    const summaries = sql`SELECT clock, id, arrayMap(entry -> entry.1,
        arrayFilter(entry -> toString(JSONType(entry.2, 'total_tokens')) != 'Null', JSONExtractKeysAndValuesRaw(summary, 'usage'))) AS with_total
      ${project.from('payloads', { where: payloadRows(project, series.scope, 'end') })}`
    const points = options.exactTotals
      ? sql`(SELECT c.bucket AS bucket, arrayJoin(c.points) AS point, p.with_total AS with_total
        FROM (${summaries}) AS p RIGHT JOIN (${usageCalls(project, series, [], options.rootsOrSpans)}) AS c ON p.clock = c.end_ver AND p.id = c.id)`
      : livePoints(project, series, [], options.rootsOrSpans)
    return sql`SELECT bucket, toString(point.1) AS model, count()${listed(aggregates, 'values')} FROM ${points}
    GROUP BY bucket, model LIMIT ${param('UInt64', options.most)} ${asNumbers}`
  })
