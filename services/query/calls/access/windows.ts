// Windows of time that a search walks through, chosen by the counters before any call is read.
import type { ProjectId } from '../../../core/ids.ts'
import { param, projectQuery, sql } from '../../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../../core/store/store.ts'
import { compactRows } from '../header.ts'
import { type Counter, type CountMemory, type Direction, type Group, liveHours, readGroups } from './counts.ts'
import { allOf, type Range, rangeConditions } from './scope.ts'

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

type Source = { store: Pick<Store, 'bytes'>; projectId: ProjectId; options: QueryOptions; memory: CountMemory }

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

export async function createWindows(
  source: Source,
  walk: { range: Range; direction: Direction; counter: Counter; size: number; offset: number; isCounted: boolean },
): Promise<Windows> {
  const { store, projectId, options, memory } = source
  const { range, direction, counter } = walk
  const isOpen = range.fromUs === null && range.beforeUs === null
  const isDeep = walk.isCounted && isOpen && walk.offset > readThrough
  const live = isDeep ? await liveHours(store, projectId, options) : null
  const size = isDeep ? deepSize : walk.size
  const hours = { per: 'hour', counter, direction, size, range, live } as const
  const groups = await readGroups(store, projectId, hours, options, memory)

  let skipped = 0
  let index = 0
  /** Boundary at which the last window ended. */
  let edgeUs: number | null = null
  let minutes: { groups: Group[]; index: number } | null = null
  let isDone = false

  if (isDeep) {
    for (; index < groups.length; index++) {
      const group = groups[index] as Group
      if (skipped + group.calls > walk.offset) break
      skipped += group.calls
      edgeUs = group.edgeUs
    }
  }

  const between = (from: number | null, to: number | null): Range =>
    direction === 'desc'
      ? { fromUs: to ?? range.fromUs, beforeUs: from ?? range.beforeUs }
      : { fromUs: from ?? range.fromUs, beforeUs: to ?? range.beforeUs }

  const isInside = (us: number): boolean =>
    direction === 'desc' ? range.fromUs === null || us > range.fromUs : range.beforeUs === null || us < range.beforeUs

  /** The window up to an edge; behind the last group it is open. */
  function close(edge: number | null, calls: number): Window {
    const end = edge !== null && isInside(edge) ? edge : null
    const window = { range: between(edgeUs, end), calls }
    if (end === null) isDone = true
    else edgeUs = end
    return window
  }

  let rest: Window | null = null

  /** Cuts a large window behind its first calls; the other part comes next. */
  async function cut(window: Window, target: number): Promise<Window> {
    const calls = Math.ceil(target)
    if (window.calls < Math.max(windowIsLarge, 4 * calls)) return window
    const { range } = window
    const us = await readEdge(source, { range, direction, counter, calls })
    if (us === null) return window
    const [near, far] =
      direction === 'desc'
        ? [
            { ...range, fromUs: us },
            { ...range, beforeUs: us },
          ]
        : [
            { ...range, beforeUs: us + 1 },
            { ...range, fromUs: us + 1 },
          ]
    rest = { range: far, calls: window.calls - calls }
    return { range: near, calls }
  }

  async function next(target: number): Promise<Window | null> {
    const window = rest ?? (await nextOfGroups(target))
    rest = null
    return window && cut(window, target)
  }

  async function nextOfGroups(target: number): Promise<Window | null> {
    if (isDone) return null
    if (minutes === null) {
      const group = groups[index]
      if (group && group.calls > Math.max(hourIsLarge, 4 * target)) {
        const within = between(edgeUs, group.edgeUs)
        const fine = { per: 'minute', counter, direction, size: target, range: within, live: null } as const
        minutes = { groups: await readGroups(store, projectId, fine, options, memory), index: 0 }
        if (minutes.groups.length < 2) minutes = null
      }
    }
    if (minutes !== null) {
      let calls = 0
      while (minutes.index < minutes.groups.length - 1) {
        const group = minutes.groups[minutes.index++] as Group
        calls += group.calls
        if (calls >= target) return close(group.edgeUs, calls)
      }
      calls += minutes.groups[minutes.index]?.calls ?? 0
      minutes = null
      const group = groups[index++] as Group
      return close(index < groups.length ? group.edgeUs : null, calls)
    }
    let calls = 0
    while (index < groups.length) {
      const group = groups[index++] as Group
      calls += group.calls
      const isLast = index >= groups.length
      if (calls >= target || isLast) return close(isLast ? null : group.edgeUs, calls)
    }
    return close(null, calls)
  }

  return { next, skipped }
}

async function readEdge(
  { store, projectId, options, memory }: Source,
  wanted: Parameters<typeof edgeQuery>[1],
): Promise<number | null> {
  const { range, direction, counter, calls } = wanted
  const key = `${counter} ${direction} ${calls} ${range.fromUs} ${range.beforeUs} ${projectId}`
  const known = memory.edges.get(key)
  if (known) return known
  const [row] = compactRows<[string]>(await store.bytes(edgeQuery(projectId, wanted), 'JSONCompactEachRow', options))
  if (row) memory.edges.set(key, Number(row[0]))
  return row ? Number(row[0]) : null
}
