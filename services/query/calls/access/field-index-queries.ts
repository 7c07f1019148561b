// The statements on the field index: times of payload rows that may meet conditions or come first in an order.

import { fieldIndexRollup } from '../../../content/field-paths.ts'
import type { ProjectId } from '../../../core/ids.ts'
import { runningCutoffs } from '../../../core/process/running-handler.ts'
import { identifier, join, param, type Sql, sql, systemQuery } from '../../../core/store/sql.ts'
import type { Query } from '../../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../../events/project-query.ts'
import type { Side } from '../conditions/conditions.ts'
import { allOf, instants, type Range, timesOf, withinAny } from '../scope.ts'
import { type Direction, type DirtyMinute, dirtyMinuteColumns, isCovering } from './counts.ts'
import { dirtyRanges } from './dirty-times.ts'
import type { FieldPath, FieldTests } from './field-index-tests.ts'

const words = { asc: sql`ASC`, desc: sql`DESC` } as const

/** The times of a row of the table lie in one hour. */
const hourUs = 3_600_000_000

/** Rows of the table whose times may lie in a range; `least` is in its key. */
export function inRange({ fromUs, beforeUs }: Range, withEnds = false): Sql[] {
  const conditions: Sql[] = []
  if (fromUs !== null)
    conditions.push(sql`least > ${param('Int64', fromUs - hourUs)} AND most >= ${param('Int64', fromUs)}`)
  if (beforeUs !== null) conditions.push(sql`least < ${param('Int64', beforeUs)}`)
  // An end that came alone lies at another time than its call.
  return withEnds && conditions.length > 0 ? [sql`(part = 'end' OR (${allOf(conditions)}))`] : conditions
}

function exactly({ fromUs, beforeUs }: Range, us: Sql): Sql[] {
  const conditions: Sql[] = []
  if (fromUs !== null) conditions.push(sql`${us} >= ${param('Int64', fromUs)}`)
  if (beforeUs !== null) conditions.push(sql`${us} < ${param('Int64', beforeUs)}`)
  return conditions
}

/** Entries that say nothing about the field: its value is left out, or is an object, or lies in what is left out. */
const notIndexedAt = ({ path, around }: FieldPath): Sql => {
  const own = param('String', path)
  const tests = [
    sql`path = ${own} AND kind IN ('long', 'hollow', 'opaque')`,
    sql`startsWith(path, ${param('String', `${path}.`)})`,
  ]
  if (around.length > 0) tests.push(sql`path IN ${param('Array(String)', around)} AND kind = 'opaque'`)
  return sql`(${join(
    tests.map((test) => sql`(${test})`),
    ' OR ',
  )})`
}

/** Entries whose place in the order of values is not known. */
const withoutOrder = (place: FieldPath): Sql =>
  sql`(${notIndexedAt(place)} OR (path = ${param('String', place.path)} AND kind = 'numeral'))`

/** Rows (chunk, ats): times of payload rows for which one of the tests may hold. */
function hits(project: ProjectScope, tests: FieldTests, within: Sql[], label: Sql): Sql {
  const rows = tests.flatMap(({ number, text, texts, ...place }) => {
    const select = (ats: Sql, where: Sql[]) =>
      sql`SELECT ${label} AS part_of, chunk, ${ats} AS ats ${project.from('payload_leaves', { where: allOf([...where, ...within]) })}`
    const path = sql`path = ${param('String', place.path)}`
    const matching = (value: Sql, values: Sql, holds: Sql) =>
      sql`arrayFilter((us, ${value}) -> ifNull(${holds}, false), at, ${values})`
    const found = [select(sql`at`, [notIndexedAt(place)])]
    if (number) found.push(select(matching(identifier('n'), sql`num`, number), [path, sql`kind = 'number'`]))
    if (text) {
      // Most rows hold none of a few texts: of these the times stay unread.
      const any = texts ? [sql`hasAny(str, ${param('Array(String)', texts)})`] : []
      found.push(select(matching(identifier('s'), sql`str`, text), [path, sql`kind IN ('text', 'numeral')`, ...any]))
    }
    return found
  })
  return join(rows, ' UNION ALL ')
}

/** Times of payload rows for which one test of each list may hold. */
function allHits(project: ProjectScope, conditions: readonly FieldTests[], within: Sql[]): Sql {
  const [first = []] = conditions
  if (conditions.length === 1) return sql`SELECT arrayJoin(ats) AS us FROM (${hits(project, first, within, sql`0`)})`
  const labels = conditions.map((_, n) => sql`${param('UInt8', n)}`)
  const lists = labels.map((label) => sql`groupArrayArrayIf(ats, part_of = ${label})`)
  const rows = conditions.map((tests, n) => hits(project, tests, within, labels[n] as Sql))
  return sql`SELECT arrayJoin(arrayIntersect(${join(lists, ', ')})) AS us FROM (${join(rows, ' UNION ALL ')}) GROUP BY chunk`
}

const partsOfSide: Record<Side, Sql> = { start: sql`part IN ('both', 'start')`, end: sql`part = 'both'` }

/** Start times of calls that may match, from one end of a range on; calls that start together stay together. */
export const candidatesQuery = (
  projectId: ProjectId,
  conditions: readonly FieldTests[],
  ask: { side: Side; range: Range; direction: Direction; limit: number },
): Query =>
  projectQuery('calls.field-index-candidates', projectId, (project) => {
    const { side, range, direction, limit } = ask
    const found = allHits(project, conditions, [partsOfSide[side], ...inRange(range)])
    return sql`SELECT us FROM (${found}) WHERE ${allOf(exactly(range, sql`us`))}
    ORDER BY us ${words[direction]} LIMIT ${param('UInt64', limit)} WITH TIES`
  })

/** The smallest of many numbers. */
export const minOf = (numbers: readonly number[]): number =>
  numbers.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY)

export const minutesOf = (dirty: readonly DirtyMinute[]): number[] => dirty.map(({ minute }) => minute)

const minutesSql = (column: Sql, minutes: readonly number[]): Sql =>
  sql`toUnixTimestamp(toStartOfMinute(${column})) IN ${param('Array(Int64)', minutes)} AND ${column} >= toDateTime(${param('Int64', minOf(minutes))}, 'UTC')`

/** Conditions that find payload rows of ends that came alone. */
export type EndConditions = (project: ProjectScope) => Sql[]

const atTimes = (query: Sql): Sql => sql`at IN (SELECT fromUnixTimestamp64Micro(us, 'UTC') FROM (${query}))`

/** Ends for which one test of each list may hold. */
export const endsThatMatch =
  (conditions: readonly FieldTests[]): EndConditions =>
  (project) => [atTimes(allHits(project, conditions, [sql`part = 'end'`]))]

/**
 * Ends in minutes whose payloads the field index may not cover yet, and those in hours whose values are hidden and may be
 * removed: the call of such an end is seen where it says that it ended long before it began.
 */
export const endsNotIndexed =
  (projectId: ProjectId, minutes: readonly number[]): EndConditions =>
  () => {
    const hiddenUs = runningCutoffs(projectId)?.valuesUs
    return [
      ...(minutes.length === 0 ? [] : [minutesSql(sql`at`, minutes)]),
      ...(hiddenUs === undefined ? [] : [sql`at < fromUnixTimestamp64Micro(${param('Int64', hiddenUs)}, 'UTC')`]),
    ]
  }

/** Ends at these times. */
export const endsAt =
  (times: readonly number[]): EndConditions =>
  () =>
    times.length === 0 ? [] : [sql`at IN ${instants(times)}`]

/** Ends with one value at a path. */
export const endsWith =
  (path: string, { kind, value }: { kind: 'number' | 'text'; value: string | number }): EndConditions =>
  (project) => {
    const ends = orderedValues(project, path, {
      kind,
      parts: sql`part = 'end'`,
      range: { fromUs: null, beforeUs: null },
    })
    return [
      atTimes(sql`SELECT arrayJoin(arrayFilter((t, x) -> x = ${valueParam(kind, value)}, a, v)) AS us FROM (${ends})`),
    ]
  }

/** Start times of the calls of some ends that came alone, at most `limit`; null when there are no places. */
export function endsQuery(projectId: ProjectId, places: readonly EndConditions[], limit: number): Query | null {
  let isEmpty = false
  const query = projectQuery('calls.field-index-ends', projectId, (project) => {
    const ids = places
      .flatMap((place) => place(project))
      .map((place) => sql`SELECT id ${project.from('payloads', { where: sql`part = 'end' AND ${place}` })}`)
    isEmpty = ids.length === 0
    const times = timesOf(project, 'id', isEmpty ? sql`''` : join(ids, ' UNION ALL '))
    return sql`SELECT DISTINCT toUnixTimestamp64Micro(started_at) FROM (${times}) LIMIT ${param('UInt64', limit)}`
  })
  return isEmpty ? null : query
}

/** Start times of calls whose payloads the field index may not cover yet, at most `limit`. */
export const dirtyCallsQuery = (projectId: ProjectId, dirty: readonly DirtyMinute[], limit: number): Query =>
  projectQuery('calls.field-index-dirty-calls', projectId, (project) => {
    const ranges = dirtyRanges(dirty)
    const at = sql`started_at`
    const where = ranges ? withinAny(at, ranges) : minutesSql(at, minutesOf(dirty))
    return sql`SELECT DISTINCT toUnixTimestamp64Micro(started_at) ${project.from('calls', { where })} LIMIT ${param('UInt64', limit)}`
  })

/** Number of calls in some ranges, each row of one that stands twice. */
export const callsWithinQuery = (projectId: ProjectId, ranges: readonly Range[]): Query =>
  projectQuery(
    'calls.field-index-dirty-count',
    projectId,
    (project) => sql`SELECT toString(count()) ${project.from('calls', { where: withinAny(sql`started_at`, ranges) })}`,
  )

export const coveredQuery = (projectId: ProjectId): Query =>
  systemQuery(
    'calls.field-index-covered',
    sql`SELECT partition, toString(max(position)) FROM callhouse.rollups WHERE ${isCovering(fieldIndexRollup, projectId)} GROUP BY partition`,
    projectId,
  )

/** Minutes that changed since the field index covered them, with their seconds, at most `limit`. */
export const dirtyMinutesQuery = (projectId: ProjectId, past: Sql, limit: number): Query =>
  projectQuery(
    'calls.field-index-dirty-minutes',
    projectId,
    (project) => sql`SELECT ${dirtyMinuteColumns} ${project.from('call_marks', { where: past })} GROUP BY minute
    LIMIT ${param('UInt64', limit)} SETTINGS max_threads = 1`,
  )

/** Values at a path whose place in the order of values is known, in a range; ends that came alone from any time. */
export type OrderedValues = { kind: 'number' | 'text'; parts: Sql; range: Range }

/** Rows (a, v, is_end): times and values. */
function orderedValues(project: ProjectScope, path: string, { kind, parts, range }: OrderedValues): Sql {
  const where = allOf([
    sql`path = ${param('String', path)}`,
    kind === 'number' ? sql`kind = 'number'` : sql`kind = 'text'`,
    parts,
    ...inRange(range, true),
  ])
  return sql`SELECT at AS a, ${kind === 'number' ? sql`num` : sql`str`} AS v, part = 'end' AS is_end ${project.from('payload_leaves', { where })}`
}

const valueParam = (kind: OrderedValues['kind'], value: string | number): Sql =>
  param(kind === 'number' ? 'Float64' : 'String', value)

const before = { asc: sql`<`, desc: sql`>` } as const

/** Stand among times, and are none: for values that come before another one and ends with it, and for all other values. */
const [othersUs, noUs] = [sql`toInt64(-9e18)`, sql`toInt64(-8e18)`]

/** Times of payload rows with one value at a path, and `othersUs` where an end has it or a value comes before it. */
function sameValues(
  project: ProjectScope,
  path: string,
  ask: OrderedValues & { order: Direction; value: string | number },
) {
  const value = valueParam(ask.kind, ask.value)
  const us = sql`multiIf(x = ${value}, if(is_end, ${othersUs}, t), x ${before[ask.order]} ${value}, ${othersUs}, ${noUs})`
  return sql`SELECT us FROM (SELECT arrayJoin(arrayFilter(us -> us != ${noUs}, arrayMap((t, x) -> ${us}, a, v))) AS us FROM (${orderedValues(project, path, ask)}))
    WHERE us = ${othersUs} OR (${allOf(exactly(ask.range, sql`us`))})`
}

/** Rows and values of a sample: those of one granule, of which a few thousand say enough. */
const [sampledRows, sampledValues] = [64, 5_000]

/**
 * The number, first and last of the first values of a sample, at most `most`. One thread reads no more than it needs.
 */
export const sampleQuery = (
  projectId: ProjectId,
  path: string,
  ask: OrderedValues & { direction: Direction; most: number },
): Query =>
  projectQuery('calls.field-index-sample', projectId, (project) => {
    const rows = sql`${orderedValues(project, path, ask)} LIMIT ${param('UInt64', sampledRows)}`
    const some = sql`SELECT arrayJoin(v) AS value FROM (${rows}) LIMIT ${param('UInt64', sampledValues)}`
    const ends = ask.direction === 'asc' ? sql`min(value), max(value)` : sql`max(value), min(value)`
    return sql`SELECT toUInt32(count()), ${ends} FROM
    (SELECT value FROM (${some}) ORDER BY value ${words[ask.direction]} LIMIT ${param('UInt64', ask.most)}) SETTINGS max_threads = 1`
  })

/** Values that come before one; and of those that are this one, all or those of ends. */
export type UpTo = { value: string | number; with: 'all' | 'ends' }

/** The first values of an order with the times of their payload rows, at most `most`. */
export const firstValuesQuery = (
  projectId: ProjectId,
  path: string,
  ask: OrderedValues & { direction: Direction; most: number; upTo: UpTo | null },
): Query =>
  projectQuery('calls.field-index-first', projectId, (project) => {
    const { kind, direction, upTo } = ask
    const value = upTo && valueParam(kind, upTo.value)
    const asked =
      value === null
        ? sql`1`
        : upTo?.with === 'all'
          ? sql`x ${before[direction]}= ${value}`
          : sql`x ${before[direction]} ${value} OR (x = ${value} AND is_end)`
    const pairs = sql`SELECT arrayJoin(arrayFilter((pair, x) -> ${asked}, arrayZip(a, v), v)) AS pair, is_end
      FROM (${orderedValues(project, path, ask)})`
    return sql`SELECT pair.1 AS us, is_end, pair.2 AS value FROM (${pairs})
    WHERE is_end OR (${allOf(exactly(ask.range, sql`us`))}) ORDER BY value ${words[direction]} LIMIT ${param('UInt64', ask.most)}`
  })

type Tied = { direction: Direction; limit: number }

/** The first calls by id that start at some times, which are few: their start times and ids. */
export const tiedAtQuery = (projectId: ProjectId, times: readonly number[], { direction, limit }: Tied): Query =>
  projectQuery(
    'calls.field-index-tied',
    projectId,
    (project) => sql`SELECT toString(toUnixTimestamp64Micro(started_at)), id
    ${project.from('calls', { where: sql`started_at IN ${instants(times)}` })}
    ORDER BY id ${words[direction]} LIMIT ${param('UInt64', limit)}`,
  )

/**
 * The same of the calls with one value, which are many: keys are read in the order of ids until there are enough. The
 * primary key must not see the times, which it would look for in each granule; nor must PREWHERE, which would take half
 * as long again, or anything else hold up the keys. Each row says whether a value comes before, or an end has this one.
 * @param ask.order of values
 */
export const tiedQuery = (
  projectId: ProjectId,
  path: string,
  ask: OrderedValues & Tied & { order: Direction; value: string | number },
): Query =>
  projectQuery('calls.field-index-tied', projectId, (project) => {
    const times = sameValues(project, path, ask)
    const where = sql`kind = 'id' AND reinterpretAsInt64(started_at) IN (${times})`
    return sql`SELECT toString(toUnixTimestamp64Micro(started_at)), key, ${othersUs} IN (${times}) ${project.from('call_keys', { where })}
    ORDER BY key ${words[ask.direction]} LIMIT ${param('UInt64', ask.limit)} SETTINGS optimize_move_to_prewhere = 0`
  })

/** Times of payload rows whose value at a path is known to no order, and whether these are ends, at most `limit`. */
export const withoutOrderQuery = (
  projectId: ProjectId,
  place: FieldPath,
  { parts, range }: Pick<OrderedValues, 'parts' | 'range'>,
  limit: number,
): Query =>
  projectQuery('calls.field-index-unknown', projectId, (project) => {
    const where = allOf([withoutOrder(place), parts, ...inRange(range, true)])
    return sql`SELECT us, is_end FROM (SELECT arrayJoin(at) AS us, part = 'end' AS is_end ${project.from('payload_leaves', { where })})
    WHERE is_end OR (${allOf(exactly(range, sql`us`))}) LIMIT ${param('UInt64', limit)}`
  })
