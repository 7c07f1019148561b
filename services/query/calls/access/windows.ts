// Windows of time that a search walks through, chosen by the counters before any call is read.

import type { ProjectId } from '../../../core/ids.ts'
import { param, sql } from '../../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../../core/store/store.ts'
import { projectQuery } from '../../../events/project-query.ts'
import { readTuples } from '../../compact-rows.ts'
import { allOf, type Range, rangeConditions } from '../scope.ts'
import { type CountCache, type Counter, type Direction, type Group, liveHours, readGroups } from './counts.ts'

/** A part of the time axis. The windows of a walk meet without gap or overlap, whatever the counters say. */
type Window = { range: Range; calls: number }

type Windows = {
  /** The next window, with about `target` calls; null = the walk is at its end. */
  next(target: number): Promise<Window | null>
  /** Calls that the first window lies behind: known from the counters, so they need not be read. */
  skipped: number
}

/** Above this many rows an hour is split into minutes, if that is more than a page needs. */
const hourIsLarge = 20_000
/** Up to this offset rows are counted while they are read: cheaper than making the counters exact. */
const readThrough = 20_000
/** Above this many calls a window is cut where its first calls end: all of them would be merged for a page of a few. */
const windowIsLarge = 50_000
/** Calls of a group that a deep page begins in. */
const deepSize = 2_000

type Source = { store: Pick<Store, 'bytes'>; projectId: ProjectId; options: QueryOptions; cache: CountCache }

/** The start time of the last of the first calls of a range; stored twice, a call counts twice. */
export const edgeQuery = (
  projectId: ProjectId,
  { range, direction, counter, calls }: { range: Range; direction: Direction; counter: Counter; calls: number },
): Query =>
  projectQuery('calls.edge', projectId, (project) => {
    const conditions = rangeConditions(sql`started_at`, range)
    if (counter === 'roots') conditions.push(sql`parent_id = ''`)
    const order = direction === 'desc' ? sql`DESC` : sql`ASC`
    return sql`SELECT toString(toUnixTimestamp64Micro(started_at)) FROM
    (
      SELECT started_at ${project.from('calls', { where: allOf(conditions) })}
      ORDER BY started_at ${order} LIMIT ${param('UInt32', calls)}
    )
    ORDER BY started_at ${direction === 'desc' ? sql`ASC` : sql`DESC`} LIMIT 1 SETTINGS max_threads = 1`
  })

type Walk = { range: Range; direction: Direction; counter: Counter; size: number; offset: number; isCounted: boolean }

/** Groups of a walk and how many of them were taken. */
type Groups = { all: Group[]; taken: number }

/** Takes groups until they hold enough calls; edge null = there are no more. */
function take(groups: Groups, target: number): { edgeUs: number | null; calls: number } {
  let calls = 0
  while (groups.taken < groups.all.length) {
    const group = groups.all[groups.taken++] as Group
    calls += group.calls
    if (groups.taken < groups.all.length && calls >= target) return { edgeUs: group.edgeUs, calls }
  }
  return { edgeUs: null, calls }
}

/** The groups that end before an offset, and where they end. */
function skip(groups: Groups, offset: number): { skipped: number; edgeUs: number | null } {
  let skipped = 0
  let edgeUs: number | null = null
  for (const group of groups.all) {
    if (skipped + group.calls > offset) break
    skipped += group.calls
    edgeUs = group.edgeUs
    groups.taken++
  }
  return { skipped, edgeUs }
}

/** The range between two edges of a walk; null = its end. */
const between = ({ range, direction }: Walk, from: number | null, to: number | null): Range =>
  direction === 'desc'
    ? { fromUs: to ?? range.fromUs, beforeUs: from ?? range.beforeUs }
    : { fromUs: from ?? range.fromUs, beforeUs: to ?? range.beforeUs }

const isInside = ({ range, direction }: Walk, us: number): boolean =>
  direction === 'desc' ? range.fromUs === null || us > range.fromUs : range.beforeUs === null || us < range.beforeUs

/** Cuts a large window behind its first calls: that part, and the other one. */
async function cut(source: Source, walk: Walk, window: Window, target: number): Promise<[Window, Window | null]> {
  const calls = Math.ceil(target)
  if (window.calls < Math.max(windowIsLarge, 4 * calls)) return [window, null]
  const { direction, counter } = walk
  const { range } = window
  const us = await readEdge(source, { range, direction, counter, calls })
  if (us === null) return [window, null]
  const isDescending = direction === 'desc'
  const near = isDescending ? { ...range, fromUs: us } : { ...range, beforeUs: us + 1 }
  const far = isDescending ? { ...range, beforeUs: us } : { ...range, fromUs: us + 1 }
  return [
    { range: near, calls },
    { range: far, calls: window.calls - calls },
  ]
}

export async function createWindows(source: Source, walk: Walk): Promise<Windows> {
  const { store, projectId, options, cache } = source
  const { range, direction, counter } = walk
  const isOpen = range.fromUs === null && range.beforeUs === null
  const isDeep = walk.isCounted && isOpen && walk.offset > readThrough
  const live = isDeep ? await liveHours(store, projectId, options) : null
  const size = isDeep ? deepSize : walk.size
  const perHour = { per: 'hour', counter, direction, size, range, live } as const
  const hours: Groups = { all: await readGroups(store, projectId, perHour, options, cache), taken: 0 }
  let minutes: Groups | null = null
  /** The other part of a window that was cut. */
  let rest: Window | null = null
  let isDone = false
  const { skipped, edgeUs } = isDeep ? skip(hours, walk.offset) : { skipped: 0, edgeUs: null }
  /** Boundary at which the last window ended. */
  let lastEdgeUs = edgeUs

  /** The window up to an edge; behind the last group it is open. */
  function close({ edgeUs, calls }: { edgeUs: number | null; calls: number }): Window {
    const end = edgeUs !== null && isInside(walk, edgeUs) ? edgeUs : null
    const window = { range: between(walk, lastEdgeUs, end), calls }
    if (end === null) isDone = true
    else lastEdgeUs = end
    return window
  }

  /** The minutes of the next hour if it is too large for one window. */
  async function minutesOfLargeHour(target: number): Promise<Groups | null> {
    const hour = hours.all[hours.taken]
    if (hour === undefined || hour.calls <= Math.max(hourIsLarge, 4 * target)) return null
    const within = between(walk, lastEdgeUs, hour.edgeUs)
    const perMinute = { per: 'minute', counter, direction, size: target, range: within, live: null } as const
    const all = await readGroups(store, projectId, perMinute, options, cache)
    return all.length < 2 ? null : { all, taken: 0 }
  }

  async function nextOfGroups(target: number): Promise<Window | null> {
    if (isDone) return null
    minutes ??= await minutesOfLargeHour(target)
    if (minutes === null) return close(take(hours, target))
    const taken = take(minutes, target)
    if (taken.edgeUs !== null) return close(taken)
    minutes = null
    return close({ edgeUs: take(hours, 0).edgeUs, calls: taken.calls })
  }

  return {
    skipped,
    async next(target) {
      const whole = rest ?? (await nextOfGroups(target))
      if (whole === null) return null
      const [window, other] = await cut(source, walk, whole, target)
      rest = other
      return window
    },
  }
}

async function readEdge(
  { store, projectId, options, cache }: Source,
  wanted: Parameters<typeof edgeQuery>[1],
): Promise<number | null> {
  const { range, direction, counter, calls } = wanted
  const key = `${counter} ${direction} ${calls} ${range.fromUs} ${range.beforeUs} ${projectId}`
  const known = cache.edges.get(key)
  if (known) return known
  const [row] = await readTuples<[string]>(store, edgeQuery(projectId, wanted), options)
  if (row) cache.edges.set(key, Number(row[0]))
  return row ? Number(row[0]) : null
}
