// Time series put together from the statistics of whole minutes and hours, and from the calls where those do not reach.

import { slotOf } from '../../content/hash-slots.ts'
import type { ProjectId } from '../../core/ids.ts'
import { runningCutoffs } from '../../core/process/running-handler.ts'
import { identifier, join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import { type Covered, type CoveredBySlot, coveredOf, pastPositions, readCovered } from '../calls/access/counts.ts'
import { withinAny } from '../calls/scope.ts'
import { asNumbers, readTuples } from '../compact-rows.ts'
import type { Aggregate } from './aggregates.ts'
import { billedSums, readsBilled } from './metrics.ts'
import { alignedTo, keysOf, listed, livePoints, liveValues, namedKeys, type Series } from './series.ts'

/** [from, before) in microseconds. */
type Span = { fromUs: number; beforeUs: number }

/** The part of a range of time that the rollup answers, in whole minutes, and the part that is read from the calls. */
export type Split = { whole: Span[]; live: Span[] }

/** Each costs a condition in every statement: more of them are joined with what lies between. */
const maxRanges = 12

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
    if (live.length <= maxRanges) break
  }
  const whole = live.slice(1).map((span, n) => ({ fromUs: (live[n] as Span).beforeUs, beforeUs: span.fromUs }))
  return { whole: whole.filter(isNotEmpty), live: live.filter(isNotEmpty) }
}

const seconds = (us: number): Sql => sql`toDateTime(${param('Int64', us / 1e6)}, 'UTC')`

/**
 * State of a process: positions that the rollup has passed, lower bounds, and whether all of its rows have the parts of
 * costs.
 */
export type StatsCache = { covered: CoveredBySlot; isBilled: boolean }

export const createStatsCache = (): StatsCache => ({ covered: new Map(), isBilled: false })

type Source = { store: Pick<Store, 'bytes'>; projectId: ProjectId; options: QueryOptions; cache: StatsCache }

/**
 * Rows from before these columns are counted again in the background: costs are made from the calls until then. An
 * earlier build may have done that already.
 */
export async function readIsBilled({ store, projectId, options, cache }: Source): Promise<boolean> {
  for (const layout of [
    'call_stats_calls_by_op',
    'call_stats_shared',
    'call_stats_by_op',
    'call_stats_billed',
  ] as const)
    cache.isBilled ||= (await readCovered(store, projectId, layout, options)).length > 0
  return cache.isBilled
}

/** Minutes with marks past these positions. */
export const dirtyStatsQuery = (projectId: ProjectId, { fromUs, beforeUs }: Span, covered: Covered): Query =>
  projectQuery('call-stats.dirty-minutes', projectId, (project) => {
    const within = sql`minute >= ${seconds(Math.floor(fromUs / minuteUs) * minuteUs)} AND minute < ${seconds(Math.ceil(beforeUs / minuteUs) * minuteUs)}`
    return sql`SELECT toUnixTimestamp(minute) ${project.from('call_marks', { where: sql`${pastPositions(covered)} AND ${within}` })}
    GROUP BY minute SETTINGS max_threads = 1`
  })

/**
 * Splits a range of time for an answer; null = the rollup says nothing about it. Must be read before the rollup: a
 * minute that is not dirty now is covered by every later read of it.
 * @param options.live minutes in seconds that are read from the calls in any case
 */
export async function readSplit(
  source: Omit<Source, 'cache'> & { cache: Pick<StatsCache, 'covered'> },
  time: { startUs: number; endUs: number },
  { rollup = 'call_stats', live = [] }: { rollup?: 'call_stats' | 'trace_parts'; live?: readonly number[] } = {},
): Promise<Split | null> {
  const { store, projectId, options, cache } = source
  const { startUs, endUs } = time
  // Calls begin after 1999; the minutes of the rollup have times of 32 bits.
  if (startUs < 0 || endUs > 4e15) return null
  const dirty = async (covered: Covered): Promise<number[]> => {
    const query = dirtyStatsQuery(projectId, { fromUs: startUs, beforeUs: endUs }, covered)
    return (await readTuples<[number]>(store, query, options)).map(([at]) => at)
  }
  const known = coveredOf(cache.covered, projectId)
  // A covered position stays covered: usually nothing has changed since.
  const [now, marked] = await Promise.all([
    readCovered(store, projectId, rollup, options),
    known.length > 0 ? dirty(known) : null,
  ])
  if (now.length === 0) return null
  cache.covered.set(slotOf(projectId), now)
  const minutes = marked !== null && (marked.length === 0 || isEqual(known, now)) ? marked : await dirty(now)
  const split = splitTime(startUs, endUs, [...minutes, ...live])
  return split.whole.length === 0 ? null : split
}

/** Facts about the calls of a split that otherwise only their payloads, or another look at them, would show. */
export type UsageFacts = {
  /** Calls in the part of its time that is read from these, and such with usage. */
  live: { calls: boolean; usage: boolean }
  /** Usage in its whole minutes. */
  any: boolean
  /** Anything that is billed beside the tokens in and out. */
  billed: boolean
  /** Usage of spans that are no roots. */
  spans: boolean
  /** Whether of some bucket statistics tell calls or usage not by op and user. */
  lacksOps: boolean
}

export const anyUsage: UsageFacts = {
  live: { calls: true, usage: true },
  any: true,
  billed: true,
  spans: true,
  lacksOps: true,
}

const isWithoutOps = sql`usage_is_by_model OR length(usage_op) != length(usage_model) OR (calls > 0 AND empty(call_op))`

/** Facts about usage. Where something is taken off, a count is below zero. */
export const usageFactsQuery = (projectId: ProjectId, { whole, live }: Split): Query =>
  projectQuery('call-stats.usage-facts', projectId, (project) => {
    const where = bucketConditions(whole, true)
    const sums = ['inside', 'billed_read', 'billed_write', 'billed_write_1h', 'more_output']
    const billed = join(
      sums.map((name) => identifier(`usage_${name}_sum`)),
      ', ',
    )
    const besides = project.from('calls', { where: withinAny(sql`started_at`, live) })
    return sql`WITH (SELECT (count() > 0, max(notEmpty(usage_model))) ${besides}) AS live
    SELECT live.1, live.2, max(notEmpty(usage_model)),
      max(arrayExists(n -> n < 0, usage_input_min) OR arrayExists(n -> n != 0, arrayConcat(${billed}))),
      max(root = 0 AND has(usage_top, 1)),
      max(${isWithoutOps}) ${project.from('call_stats', { final: true, where })} ${asNumbers}`
  })

/** Statistics may be hidden earlier than the calls. */
function isHidden(projectId: ProjectId, { whole }: Split): boolean {
  const sinceUs = runningCutoffs(projectId)?.statsUs ?? 0
  return whole.some(({ fromUs }) => fromUs < sinceUs)
}

/** Facts about the calls that begin in the whole minutes of a split, whatever the conditions are. */
export async function readUsageFacts({ store, projectId, options }: Source, split: Split): Promise<UsageFacts> {
  if (isHidden(projectId, split)) return anyUsage
  const [row = []] = await readTuples<number[]>(store, usageFactsQuery(projectId, split), options)
  const [calls = true, usage = true, any = true, billed = true, spans = true, lacksOps = true] = row.map(
    (fact) => fact > 0,
  )
  return { live: { calls, usage }, any, billed, spans, lacksOps }
}

/** Whether any minute tells its calls or usage not by op and user: it has fewer of these than its hour. */
export const minutesWithoutOpsQuery = (projectId: ProjectId, { whole }: Split): Query =>
  projectQuery('call-stats.minutes-without-ops', projectId, (project) => {
    const where = bucketConditions(whole, false)
    return sql`SELECT max(${isWithoutOps}) ${project.from('call_stats', { final: true, where })} ${asNumbers}`
  })

export async function doMinutesLackOps({ store, projectId, options }: Source, split: Split): Promise<boolean> {
  if (isHidden(projectId, split)) return true
  const rows = await readTuples<[number]>(store, minutesWithoutOpsQuery(projectId, split), options)
  return rows.some(([found]) => found > 0)
}

const isEqual = (a: Covered, b: Covered): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Rows of the rollup for whole minutes; hours where they suffice. */
export function bucketConditions(whole: readonly Span[], byHour: boolean): Sql {
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

/** The calls of a series that the rollup does not tell of: their payloads are read in these parts of its time alone. */
const liveSeries = ({ unbilled: _, ...series }: Series, { live }: Split): Series => ({
  ...series,
  scope: { ...series.scope, within: live },
})

export type Wanted = { split: Split; rootsOnly: boolean }

/** The keys of a series that follow from the time of a bucket. */
const keysOfTimes = ({ keys = [] }: Series): Sql =>
  join(
    keys.map(({ name, sql: made, statsKey }) => (statsKey ? sql`` : sql`, ${made} AS ${identifier(name)}`)),
    '',
  )

function rolledRows(project: ProjectScope, series: Series, { split, rootsOnly }: Wanted, byHour: boolean): Sql {
  const conditions = bucketConditions(split.whole, byHour && series.granularity % 3600 === 0)
  const where = rootsOnly ? sql`${conditions} AND root = 1` : conditions
  const rows = project.from('call_stats', { final: true, where })
  if (series.bucket !== undefined)
    return sql`(SELECT *, ${series.bucket} AS start${keysOfTimes(series)} FROM (SELECT *, bucket AS started_at ${rows}) AS c)`
  const start = alignedTo(sql`toInt64(toUnixTimestamp(bucket))`, series.granularity)
  return sql`(SELECT *, ${start} AS start ${rows})`
}

const withLive = (rolled: Sql, live: Sql, { live: ranges }: Split): Sql =>
  ranges.length === 0 ? rolled : sql`${rolled} UNION ALL ${live}`

/** The keys of a series, by the lists of a bucket that have them. */
const rolledKeys = (series: Series): Sql =>
  keysOf(series, ({ name, statsKey }) =>
    statsKey ? sql`toString(${identifier(statsKey)}) AS ${identifier(name)}` : identifier(name),
  )

/**
 * Parts of buckets by the keys of the series, as a subquery: each stands for many calls, or for one.
 * @param byHour whether the statistics of hours have what is read of them
 */
export function callParts(project: ProjectScope, series: Series, wanted: Wanted & { byHour: boolean }): Sql {
  const rows = rolledRows(project, series, wanted, wanted.byHour)
  const rolled = series.keys?.length
    ? sql`SELECT start AS bucket${rolledKeys(series)}, entry.1 AS calls, entry.2 AS errors, length(entry.3) AS timed,
        arraySum(x -> toFloat64(x), entry.3) AS latency_sum, if(empty(entry.3), 0, entry.3[1]) AS latency_min,
        if(empty(entry.3), 0, entry.3[-1]) AS latency_max, countEqual(entry.3, 1) AS latency_ones, countEqual(entry.3, 0) AS latency_zeros,
        entry.3 AS latencies
      FROM ${rows} ARRAY JOIN call_op AS op, call_user AS user, arrayZip(call_count, call_errors, call_latencies) AS entry`
    : sql`SELECT start AS bucket, calls, errors, timed, latency_sum, latency_min, latency_max, latency_ones,
        latency_zeros, latencies FROM ${rows} WHERE calls > 0`
  const live = sql`SELECT bucket${namedKeys(series)}, toUInt64(1), toUInt64(failed), toUInt64(isNotNull(latency)), ifNull(latency, 0),
        toUInt64(ifNull(latency, 0)), toUInt64(ifNull(latency, 0)), toUInt64(ifNull(latency = 1, 0)),
        toUInt64(ifNull(latency = 0, 0)), if(isNull(latency), [], [toUInt64(assumeNotNull(latency))])
      FROM ${liveValues(project, liveSeries(series, wanted.split))}`
  return sql`(${withLive(rolled, live, wanted.split)})`
}

/** Rows as those of `callSeriesQuery`. */
export const rolledCallsQuery = (
  series: Series,
  aggregates: readonly Aggregate[],
  wanted: Wanted & { byHour: boolean },
): Query =>
  projectQuery(
    'call-stats.calls-rolled',
    series.scope.projectId,
    (project) => sql`SELECT bucket, sum(calls)${listed(aggregates, 'merged')} FROM ${callParts(project, series, wanted)}
    GROUP BY bucket ${asNumbers}`,
  )

/** The data point in each column of the parts. */
const pointColumns: Readonly<Record<string, Sql>> = {
  input_sum: sql`toFloat64(point.2)`,
  input_min: sql`point.2`,
  input_max: sql`point.2`,
  output_sum: sql`toFloat64(point.3)`,
  output_min: sql`point.3`,
  output_max: sql`point.3`,
  total_sum: sql`toFloat64(point.4)`,
  cache_read_sum: sql`toFloat64(point.5)`,
  cache_read_min: sql`point.5`,
  cache_read_max: sql`point.5`,
  cache_write_sum: sql`toFloat64(point.6)`,
  cache_write_min: sql`point.6`,
  cache_write_max: sql`point.6`,
  ...billedSums,
}

/**
 * Parts of buckets by model, and by the keys of the series, as a subquery: each of these is a `statsKey`. Every list that is joined is read, so only those that the aggregates need are
 * named.
 */
export function usageParts(
  project: ProjectScope,
  series: Series,
  aggregates: readonly Aggregate[],
  { split, rootsOnly }: Wanted,
): Sql {
  const names = [...new Set(aggregates.map(({ column }) => column))].filter((name) => name !== '')
  const columns = (of: (name: string) => Sql): Sql =>
    join(
      names.map((name) => sql`, ${of(name)}`),
      '',
    )
  const lists = columns((name) => sql`${identifier(`usage_${name}`)} AS ${identifier(name)}`)
  const statsKeys = [...new Set((series.keys ?? []).flatMap(({ statsKey }) => statsKey ?? []))]
  const keyLists = join(
    statsKeys.map((key) => sql`, ${identifier(`usage_${key}`)} AS ${identifier(key)}`),
    '',
  )
  const rolled = sql`SELECT start AS bucket${rolledKeys(series)}, toString(model) AS model, points${columns(identifier)}
      FROM ${rolledRows(project, series, { split, rootsOnly: false }, true)}
      ARRAY JOIN usage_model AS model, usage_points AS points${rootsOnly ? sql`, usage_top AS top` : sql``}${keyLists}${lists}
      ${rootsOnly ? sql`WHERE top = 1` : sql``}`
  const live = sql`SELECT bucket${namedKeys(series)}, toString(point.1), toUInt64(1)${columns((name) => pointColumns[name] as Sql)}
      FROM ${livePoints(project, liveSeries(series, split), { rootsOrSpans: rootsOnly, billed: readsBilled(aggregates) })}`
  return sql`(${withLive(rolled, live, split)})`
}

/** Rows as those of `usageSeriesQuery`. */
export const rolledUsageQuery = (
  series: Series,
  aggregates: readonly Aggregate[],
  wanted: Wanted & { most: number },
): Query =>
  projectQuery(
    'call-stats.usage-rolled',
    series.scope.projectId,
    (project) => sql`SELECT bucket, model, sum(points)${listed(aggregates, 'merged')}
    FROM ${usageParts(project, series, aggregates, wanted)}
    GROUP BY bucket, model LIMIT ${param('UInt64', wanted.most)} ${asNumbers}`,
  )
