// Windows of time that a list walks through, chosen before any call is read.
import type { ProjectId } from '../../core/ids.ts'
import type { QueryOptions, Store } from '../../core/store/store.ts'
import { type Counter, type CountMemory, type Direction, type Group, liveHours, readGroups } from './counts.ts'
import type { Range } from './scope.ts'

/** A part of the time axis; the windows of a walk meet without gap or overlap, whatever the counters say. */
type Window = { range: Range; calls: number }

export type Windows = {
  /** The next window, with about `target` calls; null = the walk is at its end. */
  next(target: number): Promise<Window | null>
  /** Calls that the first window lies behind: known from the counters, so they need not be read. */
  skipped: number
}

/** Above this many rows an hour is split into minutes, if that is more than a page needs. */
const hourIsLarge = 20_000
/** Up to this offset rows are counted while they are read: cheaper than making the counters exact. */
const readThrough = 20_000
/** Calls of a group that a deep page begins in. */
const deepSize = 2_000

type Source = { store: Pick<Store, 'bytes'>; projectId: ProjectId; options: QueryOptions; memory: CountMemory }

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

  async function next(target: number): Promise<Window | null> {
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
