// Time series put together from the statistics of whole minutes and hours, and from the calls where those do not reach.
import type { ProjectId } from '../../core/ids.ts'
import { join, type ProjectScope, param, projectQuery, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { pastRollup } from '../calls/counts.ts'
import { compactRows } from '../calls/light.ts'
import { instant } from '../calls/scope.ts'
import type { Aggregate } from './aggregates.ts'
import { alignedTo, asNumbers, listed, livePoints, liveValues, type Series } from './series.ts'

/** [from, before) in microseconds. */
type Span = { fromUs: number; beforeUs: number }

/** Which part of a range of time the rollup answers, in whole minutes, and which one is read from the calls. */
export type Split = { whole: Span[]; live: Span[] }

/** Each costs a condition in every statement: more of them are joined with what lies between. */
const mostRanges = 12

const [minuteUs, hourUs] = [60e6, 3600e6]
const isNotEmpty = (span: Span): boolean => span.fromUs < span.beforeUs

/**
 * Everything but the edges and the dirty minutes comes from the rollup.
 * @param dirty minutes as seconds, in any order
 */
export function splitTime(startUs: number, endUs: number, dirty: readonly number[]): Split {
  const fromUs = Math.ceil(startUs / minuteUs) * minuteUs
  const beforeUs = Math.floor(endUs / minuteUs) * minuteUs
  if (fromUs >= beforeUs) return { whole: [], live: [{ fromUs: startUs, beforeUs: endUs }].filter(isNotEmpty) }
  const inside = dirty.map((at) => at * 1e6).filter((at) => at >= fromUs && at < beforeUs)
  let live: Span[] = [
    { fromUs: startUs, beforeUs: fromUs },
    ...inside.sort((a, b) => a - b).map((at) => ({ fromUs: at, beforeUs: at + minuteUs })),
    { fromUs: beforeUs, beforeUs: endUs },
  ]
  // The smallest gaps go first; what lies in them is read live too, which is always right.
  for (let gapUs = 0; ; gapUs = gapUs * 4 + minuteUs) {
    const joined: Span[] = []
    for (const span of live) {
      const last = joined.at(-1)
      if (last && span.fromUs - last.beforeUs <= gapUs) last.beforeUs = span.beforeUs
      else joined.push({ ...span })
    }
    live = joined
    if (live.length <= mostRanges) break
  }
  const whole = live.slice(1).map((span, n) => ({ fromUs: (live[n] as Span).beforeUs, beforeUs: span.fromUs }))
  return { whole: whole.filter(isNotEmpty), live: live.filter(isNotEmpty) }
}

const seconds = (us: number): Sql => sql`toDateTime(${param('Int64', us / 1e6)}, 'UTC')`

/** A row 0 when the rollup exists, and one for each minute that it does not cover. */
const dirtyStatsQuery = (projectId: ProjectId, { fromUs, beforeUs }: Span): Query =>
  projectQuery('call-stats.dirty-minutes', projectId, (project) => {
    const within = sql`minute >= ${seconds(Math.floor(fromUs / minuteUs) * minuteUs)} AND minute < ${seconds(Math.ceil(beforeUs / minuteUs) * minuteUs)}`
    return sql`SELECT toUnixTimestamp(minute) ${project.from('call_marks', { where: sql`${within} AND ${pastRollup('call_stats')}` })} GROUP BY minute
    UNION ALL SELECT 0 FROM callhouse.rollups WHERE name = 'call_stats' GROUP BY name
    SETTINGS max_threads = 1`
  })

/**
 * How to answer a range of time; null = the rollup says nothing about it. Must be read before the rollup: a minute that
 * is not dirty now is covered by every later read of it.
 */
export async function readSplit(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  time: { startUs: number; endUs: number },
  options: QueryOptions,
): Promise<Split | null> {
  const { startUs, endUs } = time
  // Calls begin after 1999; the minutes of the rollup have times of 32 bits.
  if (startUs < 0 || endUs > 4e15) return null
  const query = dirtyStatsQuery(projectId, { fromUs: startUs, beforeUs: endUs })
  const minutes = compactRows<[number]>(await store.bytes(query, 'JSONCompactEachRow', options)).map(([at]) => at)
  if (!minutes.includes(0)) return null
  const split = splitTime(
    startUs,
    endUs,
    minutes.filter((at) => at > 0),
  )
  return split.whole.length === 0 ? null : split
}

/** Rows of the rollup for whole minutes; hours where they suffice. */
function bucketConditions(whole: readonly Span[], byHour: boolean): Sql {
  const rows = (unit: number, span: Span): Sql[] =>
    isNotEmpty(span)
      ? [
          sql`(seconds = ${param('UInt32', unit)} AND bucket >= ${seconds(span.fromUs)} AND bucket < ${seconds(span.beforeUs)})`,
        ]
      : []
  const conditions = whole.flatMap((span) => {
    const fromUs = Math.ceil(span.fromUs / hourUs) * hourUs
    const beforeUs = Math.floor(span.beforeUs / hourUs) * hourUs
    if (!byHour || fromUs >= beforeUs) return rows(60, span)
    const edges = [
      { fromUs: span.fromUs, beforeUs: fromUs },
      { fromUs: beforeUs, beforeUs: span.beforeUs },
    ]
    return [...rows(3600, { fromUs, beforeUs }), ...edges.flatMap((edge) => rows(60, edge))]
  })
  return sql`(${join(conditions, ' OR ')})`
}

const liveCondition = ({ live }: Split): Sql =>
  sql`(${join(
    live.map(({ fromUs, beforeUs }) => sql`c.started_at >= ${instant(fromUs)} AND c.started_at < ${instant(beforeUs)}`),
    ' OR ',
  )})`

type Wanted = { split: Split; rootsOnly: boolean }

function rolledRows(project: ProjectScope, series: Series, { split, rootsOnly }: Wanted, byHour: boolean): Sql {
  const conditions = bucketConditions(split.whole, byHour && series.granularity % 3600 === 0)
  const where = rootsOnly ? sql`${conditions} AND root = 1` : conditions
  const start = alignedTo(sql`toInt64(toUnixTimestamp(bucket))`, series.granularity)
  return sql`(SELECT *, ${start} AS start ${project.from('call_stats', { final: true, where })})`
}

const withLive = (rolled: Sql, live: Sql, { live: ranges }: Split): Sql =>
  ranges.length === 0 ? rolled : sql`${rolled} UNION ALL ${live}`

/**
 * Rows as those of `callSeriesQuery`. A row of the parts stands for many calls or for one.
 * @param byHour whether the statistics of hours have what the aggregates need
 */
export const rolledCallsQuery = (
  series: Series,
  aggregates: readonly Aggregate[],
  wanted: Wanted & { byHour: boolean },
): Query =>
  projectQuery('call-stats.calls-rolled', series.scope.projectId, (project) => {
    const rolled = sql`SELECT start AS bucket, calls, errors, timed, latency_sum, latency_min, latency_max, latency_ones,
        latency_zeros, latencies FROM ${rolledRows(project, series, wanted, wanted.byHour)} WHERE calls > 0`
    const live = sql`SELECT bucket, toUInt64(1), toUInt64(failed), toUInt64(isNotNull(latency)), ifNull(latency, 0),
        toUInt64(ifNull(latency, 0)), toUInt64(ifNull(latency, 0)), toUInt64(ifNull(latency = 1, 0)),
        toUInt64(ifNull(latency = 0, 0)), if(isNull(latency), [], [toUInt64(assumeNotNull(latency))])
      FROM ${liveValues(project, series, [liveCondition(wanted.split)])}`
    return sql`SELECT bucket, sum(calls)${listed(aggregates, 'merged')} FROM (${withLive(rolled, live, wanted.split)})
    GROUP BY bucket ${asNumbers}`
  })

/** Rows as those of `usageSeriesQuery`. */
export const rolledUsageQuery = (series: Series, aggregates: readonly Aggregate[], wanted: Wanted): Query =>
  projectQuery('call-stats.usage-rolled', series.scope.projectId, (project) => {
    const { split, rootsOnly } = wanted
    const all = { split, rootsOnly: false }
    const rolled = sql`SELECT start AS bucket, toString(model) AS model, points, input_sum, input_min, input_max, output_sum,
        output_min, output_max, total_sum, cache_read_sum, cache_read_min, cache_read_max, cache_write_sum,
        cache_write_min, cache_write_max
      FROM ${rolledRows(project, series, all, true)}
      ARRAY JOIN usage_model AS model, usage_top AS top, usage_points AS points, usage_input_sum AS input_sum,
        usage_input_min AS input_min, usage_input_max AS input_max, usage_output_sum AS output_sum,
        usage_output_min AS output_min, usage_output_max AS output_max, usage_total_sum AS total_sum,
        usage_cache_read_sum AS cache_read_sum, usage_cache_read_min AS cache_read_min,
        usage_cache_read_max AS cache_read_max, usage_cache_write_sum AS cache_write_sum,
        usage_cache_write_min AS cache_write_min, usage_cache_write_max AS cache_write_max
      ${rootsOnly ? sql`WHERE top = 1` : sql``}`
    const live = sql`SELECT bucket, toString(point.1), toUInt64(1), toFloat64(point.2), point.2, point.2, toFloat64(point.3),
        point.3, point.3, toFloat64(point.4), toFloat64(point.5), point.5, point.5, toFloat64(point.6), point.6, point.6
      FROM ${livePoints(project, series, [liveCondition(split)], rootsOnly)}`
    return sql`SELECT bucket, model, sum(points)${listed(aggregates, 'merged')} FROM (${withLive(rolled, live, split)})
    GROUP BY bucket, model ${asNumbers}`
  })
