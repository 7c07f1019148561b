// Reads the counters: the times of calls, and how many there are, exactly.

import { coveringNames, slotOf } from '../../../content/hash-slots.ts'
import type { ProjectId } from '../../../core/ids.ts'
import { createRecent, type Recent } from '../../../core/memory/lru-cache.ts'
import { identifier, param, type Sql, sql, systemQuery } from '../../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../../core/store/store.ts'
import { projectQuery } from '../../../events/project-query.ts'
import { onlyRow, readTuples } from '../../compact-rows.ts'
import { isRoot, type Range } from '../scope.ts'

export type Counter = 'calls' | 'roots'
export type Direction = 'asc' | 'desc'

/** Calls of whole hours or minutes, in the order of a walk; `edgeUs` is the boundary that ends them. */
export type Group = { edgeUs: number; calls: number }

/** Hours that are counted live: the counters may lag behind their calls. */
export type LiveHours = { hours: number[]; calls: number[]; roots: number[] }

/** Most groups of one answer: in a long history they get larger instead of more. */
const maxGroups = 2_000

/** Positions that a rollup covers, per partition of the log. */
export type Covered = { partition: number; position: string }[]

/** The covered positions that a process remembers: projects of one slot are derived together. */
export type CoveredBySlot = Map<number, Covered>
export const coveredOf = (covered: CoveredBySlot, projectId: ProjectId): Covered => covered.get(slotOf(projectId)) ?? []

/**
 * Cache of the counters, one per process. `covered` are positions that the rollup has passed: lower
 * bounds, so that the minutes with dirty buckets beyond it are a superset of the dirty ones; whether they still are is asked
 * with each use. Groups and edges may be old: they
 * only size the windows of a walk, and the windows meet whatever their size.
 */
export type CountCache = { covered: CoveredBySlot; groups: Recent<Group[]>; edges: Recent<number> }

const sizesKeepMs = 3_000

export const createCountCache = (): CountCache => ({
  covered: new Map(),
  groups: createRecent(1_000, sizesKeepMs),
  edges: createRecent(1_000, sizesKeepMs),
})

const hourUs = 3_600_000_000

const unit = { hour: 3600, minute: 60 } as const
const tables = { hour: 'call_counts_hourly', minute: 'call_counts' } as const

const seconds = (us: number): Sql => sql`toDateTime(${param('Int64', Math.floor(us / 1e6))}, 'UTC')`

/** Buckets grouped until a group has at least `size` calls (the last may have fewer). */
export function groupsQuery(
  projectId: ProjectId,
  options: {
    per: 'hour' | 'minute'
    counter: Counter
    direction: Direction
    size: number
    range: Range
    live: LiveHours | null
  },
): Query {
  const { per, counter, direction, size, range, live } = options
  const bucket = identifier(per)
  const desc = direction === 'desc'
  const where: Sql[] = [sql`1`]
  if (range.fromUs !== null) where.push(sql`${bucket} > ${seconds(range.fromUs - unit[per] * 1e6)}`)
  if (range.beforeUs !== null) where.push(sql`${bucket} < ${seconds(range.beforeUs + 999_999)}`)
  if (live) where.push(sql`toUnixTimestamp(hour) NOT IN ${param('Array(Int64)', live.hours)}`)
  const condition = where.reduce((all, one) => sql`${all} AND ${one}`)
  return projectQuery('calls.groups', projectId, (project) => {
    const counted = sql`SELECT toInt64(toUnixTimestamp(${bucket})) AS t, toInt64(${identifier(counter)}) AS n
      ${project.from(tables[per], { final: true, where: condition })}`
    const all = live
      ? sql`${counted} UNION ALL SELECT pair.1 AS t, pair.2 AS n
      FROM (SELECT arrayJoin(arrayZip(${param('Array(Int64)', live.hours)}, ${param('Array(Int64)', live[counter])})) AS pair)`
      : counted
    const edge = desc ? sql`min(t)` : sql`max(t) + ${param('UInt32', unit[per])}`
    return sql`SELECT toString(${edge}), toString(sum(n)) FROM
    (
      SELECT t, n, sum(n) OVER (ORDER BY t ${desc ? sql`DESC` : sql`ASC`} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - n AS before,
        sum(n) OVER () AS total
      FROM (${all})
    )
    GROUP BY intDiv(before, greatest(${param('Int64', size)}, intDiv(total, ${param('Int64', maxGroups)}))) AS g ORDER BY g
    SETTINGS max_threads = 1`
  })
}

export async function readGroups(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  options: Parameters<typeof groupsQuery>[1],
  queryOptions: QueryOptions,
  cache: CountCache,
): Promise<Group[]> {
  const { per, counter, direction, size, range, live } = options
  const { fromUs, beforeUs } = range
  // Every open list reads these: the hours of a project, and the minutes of whole hours.
  const isOpen = fromUs === null && beforeUs === null
  const isWhole = [fromUs, beforeUs].every((us) => us === null || us % hourUs === 0)
  const isKept = live === null && (per === 'hour' ? isOpen : isWhole && !isOpen)
  const key = `${per} ${counter} ${direction} ${size} ${fromUs} ${beforeUs} ${projectId}`
  const known = isKept ? cache.groups.get(key) : undefined
  if (known) return known
  const groups = await fetchGroups(store, projectId, options, queryOptions)
  if (isKept) cache.groups.set(key, groups)
  return groups
}

async function fetchGroups(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  options: Parameters<typeof groupsQuery>[1],
  queryOptions: QueryOptions,
): Promise<Group[]> {
  const groups = await readTuples<[string, string]>(store, groupsQuery(projectId, options), queryOptions)
  return groups.map(([edge, calls]) => ({
    edgeUs: Number(edge) * 1e6,
    calls: Number(calls),
  }))
}

/** Rows of the table `rollups` that say what one covers of a project. */
export const isCovering = (rollup: string, projectId: ProjectId): Sql =>
  sql`name IN ${param('Array(String)', coveringNames(rollup, projectId))}`

/**
 * Dirty buckets that a rollup does not cover. A log with one partition (number 0) lets the index skip what is covered; a new
 * rollup covers nothing, and dirty buckets of old calls are written by its first recompute only.
 */
const pastRollup = (name: string, projectId: ProjectId): Sql => {
  const rows = sql`FROM callhouse.rollups WHERE ${isCovering(name, projectId)}`
  return sql`position > (SELECT if(max(partition) = 0, max(position), 0) ${rows})
    AND position > (SELECT CAST((groupArray(partition), groupArray(p)), 'Map(UInt32, UInt64)')
      FROM (SELECT partition, max(position) AS p ${rows} GROUP BY partition))[partition]`
}

/** Minutes that the counters do not cover yet; `seconds` of them as bits, '0' = all. */
export type DirtyMinute = { minute: number; seconds: string }

/** The columns of a dirty minute, of the rows of each minute in `call_marks`. */
export const dirtyMinuteColumns = sql`toUnixTimestamp(minute), toString(if(min(seconds) = 0, 0, groupBitOr(seconds)))`

export const dirtyQuery = (projectId: ProjectId): Query =>
  projectQuery('calls.dirty-minutes', projectId, (project) => {
    return sql`SELECT ${dirtyMinuteColumns}
    ${project.from('call_marks', { where: pastRollup('call_counts', projectId) })} GROUP BY minute SETTINGS max_threads = 1`
  })

const times = (seconds: number[]): Sql => sql`(SELECT toDateTime(arrayJoin(${param('Array(Int64)', seconds)}), 'UTC'))`

const everySecond = (2n ** 60n - 1n).toString()

/**
 * The hours of some minutes: dirty seconds counted from the calls, the others and the other minutes from their counters. A
 * minute that is not told by its seconds is counted whole.
 */
export const liveHoursQuery = (projectId: ProjectId, dirty: readonly DirtyMinute[]): Query =>
  projectQuery('calls.live-hours', projectId, (project) => {
    const minutes = dirty.map(({ minute }) => minute)
    const listed = times(minutes)
    const hours = times(hoursOf(minutes))
    const bits = dirty.map(({ seconds }) => (seconds === '0' ? everySecond : seconds))
    const asked = sql`(SELECT one.1 AS minute, one.2 AS mask FROM (SELECT arrayJoin(arrayZip(
      arrayMap(s -> toDateTime(s, 'UTC'), ${param('Array(Int64)', minutes)}), ${param('Array(UInt64)', bits)})) AS one))`
    const bySecond = project.from('call_counts', {
      final: true,
      where: sql`minute IN ${listed} AND length(calls_by_second) = 60`,
    })
    const masks = sql`(SELECT a.minute AS minute, if(k.is_told = 1, a.mask, ${param('UInt64', everySecond)}) AS mask,
        arrayMap(s -> NOT bitTest(mask, s), range(60)) AS is_clean, k.n AS n, k.r AS r
      FROM ${asked} AS a LEFT JOIN (SELECT minute, 1 AS is_told, calls_by_second AS n, roots_by_second AS r ${bySecond}) AS k ON k.minute = a.minute)`
    const second = sql`(SELECT minute + s FROM ${masks} ARRAY JOIN arrayFilter(s -> bitTest(mask, s), range(60)) AS s)`
    const from = param('Int64', minOf(minutes))
    const before = param('Int64', maxOf(minutes) + 60)
    const calls = project.from('calls', {
      alias: 'c',
      final: true,
      // Bounds of the column's own type: against a DateTime the index leaves out what begins within the last second.
      where: sql`started_at >= toDateTime64(${from}, 6, 'UTC') AND started_at < toDateTime64(${before}, 6, 'UTC')
        AND toDateTime(started_at, 'UTC') IN ${second} AND delete_ver = 0 AND moved = 0`,
    })
    const others = project.from('call_counts', {
      final: true,
      where: sql`toStartOfHour(minute) IN ${hours} AND minute NOT IN ${listed}`,
    })
    return sql`SELECT toUInt32(h), toString(sum(n)), toString(sum(r)) FROM
    (
      SELECT toUnixTimestamp(toStartOfHour(started_at)) AS h, count() AS n, countIf(${isRoot(project)}) AS r ${calls} GROUP BY h
      UNION ALL
      SELECT toUnixTimestamp(toStartOfHour(minute)) AS h, arraySum((x, clean) -> x * clean, n, is_clean),
        arraySum((x, clean) -> x * clean, r, is_clean) FROM ${masks} WHERE notEmpty(n)
      UNION ALL
      SELECT toUnixTimestamp(toStartOfHour(minute)) AS h, sum(calls) AS n, sum(roots) AS r ${others} GROUP BY h
    ) GROUP BY h`
  })

const minOf = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b))
const maxOf = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b))

/** Sum over the hours that are not counted live. */
export const totalQuery = (projectId: ProjectId, liveHours: number[]): Query =>
  projectQuery('calls.total', projectId, (project) => {
    const where = liveHours.length ? sql`toUnixTimestamp(hour) NOT IN ${param('Array(Int64)', liveHours)}` : sql`1`
    return sql`SELECT toString(sum(calls)), toString(sum(roots)) ${project.from('call_counts_hourly', { final: true, where })}
    SETTINGS max_threads = 1`
  })

const listsOf = (covered: Covered) => ({
  partitions: param(
    'Array(UInt64)',
    covered.map(({ partition }) => partition),
  ),
  positions: param(
    'Array(UInt64)',
    covered.map(({ position }) => position),
  ),
})

/** Dirty buckets past these positions; of a partition that is not listed, all. */
export function pastPositions(covered: Covered): Sql {
  const [only] = covered.length === 1 ? covered : []
  if (only?.partition === 0) return sql`position > ${param('UInt64', only.position)}`
  const { partitions, positions } = listsOf(covered)
  return sql`position > ${positions}[indexOf(${partitions}, partition)]`
}

/** Whether the rollup covers less than these positions: a worker whose tables lacked some has lowered it. */
function isLowered(covered: Covered, projectId: ProjectId): Sql {
  const { partitions, positions } = listsOf(covered)
  return sql`(SELECT uniqExact(partition) FROM callhouse.rollups WHERE ${isCovering('call_counts', projectId)} AND has(${partitions}, partition)
    AND position >= ${positions}[indexOf(${partitions}, partition)]) < length(${partitions})`
}

/** Whether any minute is dirty past these positions, or may have one before them that is not covered any more. */
export const dirtyBucketsQuery = (projectId: ProjectId, covered: Covered): Query =>
  projectQuery('calls.marks', projectId, (project) => {
    const past = project.from('call_marks', { where: pastPositions(covered) })
    return covered.length === 0
      ? sql`SELECT count() > 0 ${past} SETTINGS max_threads = 1`
      : sql`SELECT count() > 0 OR ${isLowered(covered, projectId)} ${past} SETTINGS max_threads = 1`
  })

type CoveredRollup =
  | 'call_counts'
  | 'call_stats'
  | 'trace_parts'
  | 'call_stats_calls_by_op'
  | 'call_stats_shared'
  | 'call_stats_by_op'
  | 'call_stats_billed'

export const rollupCoveredQuery = (projectId: ProjectId, rollup: CoveredRollup): Query =>
  systemQuery(
    'calls.covered',
    sql`SELECT partition, toString(max(position)) FROM callhouse.rollups WHERE ${isCovering(rollup, projectId)} GROUP BY partition`,
    projectId,
  )

/** The positions that a rollup covers; none while it does not exist. */
export async function readCovered(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  rollup: CoveredRollup,
  options: QueryOptions,
): Promise<Covered> {
  const query = rollupCoveredQuery(projectId, rollup)
  const rows = await readTuples<[number, string]>(store, query, options)
  return rows.map(([partition, position]) => ({ partition, position }))
}

const hoursOf = (minutes: number[]): number[] => [...new Set(minutes.map((minute) => minute - (minute % 3600)))]

/** Must be read before the counters: a minute that it does not name is covered by every later read of them. */
async function readDirty(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  options: QueryOptions,
): Promise<DirtyMinute[]> {
  const minutes = await readTuples<[number, string]>(store, dirtyQuery(projectId), options)
  return minutes.map(([minute, seconds]) => ({ minute, seconds }))
}

async function readLiveHours(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  dirty: readonly DirtyMinute[],
  options: QueryOptions,
): Promise<LiveHours> {
  const rows = await readTuples<[number, string, string]>(store, liveHoursQuery(projectId, dirty), options)
  const counted = new Map(rows.map(([hour, n, r]) => [hour, [+n, +r] as const]))
  const hours = hoursOf(dirty.map(({ minute }) => minute))
  return {
    hours,
    calls: hours.map((hour) => counted.get(hour)?.[0] ?? 0),
    roots: hours.map((hour) => counted.get(hour)?.[1] ?? 0),
  }
}

/** Hours whose counters lag, counted live; null when all counters are up to date. */
export async function liveHours(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  options: QueryOptions,
): Promise<LiveHours | null> {
  const minutes = await readDirty(store, projectId, options)
  return minutes.length === 0 ? null : readLiveHours(store, projectId, minutes, options)
}

type Total = Record<Counter, number>

async function readTotal(store: Pick<Store, 'bytes'>, query: Query, options: QueryOptions): Promise<Total> {
  const answer = await store.bytes(query, 'JSONCompactEachRow', options)
  const [calls, roots] = onlyRow<[string, string]>(answer)
  return { calls: Number(calls), roots: Number(roots) }
}

/** Exact number of calls, or of roots, of a project. */
export async function countProject(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  counter: Counter,
  options: QueryOptions,
  cache: CountCache,
): Promise<number> {
  // Without a dirty bucket beyond a position that was covered before these statements began, the counters are exact.
  const [marks, total] = await Promise.all([
    store.bytes(dirtyBucketsQuery(projectId, coveredOf(cache.covered, projectId)), 'JSONCompactEachRow', options),
    readTotal(store, totalQuery(projectId, []), options),
  ])
  if (onlyRow<[number]>(marks)[0] === 0) return total[counter]
  // Whichever of two readers sets it last sets a lower bound.
  const [covered, dirty] = await Promise.all([
    readCovered(store, projectId, 'call_counts', options),
    readDirty(store, projectId, options),
  ])
  cache.covered.set(slotOf(projectId), covered)
  const hours = hoursOf(dirty.map(({ minute }) => minute))
  const [live, rest] = await Promise.all([
    dirty.length === 0 ? null : readLiveHours(store, projectId, dirty, options),
    readTotal(store, totalQuery(projectId, hours), options),
  ])
  return rest[counter] + (live ? live[counter].reduce((sum, n) => sum + n, 0) : 0)
}
