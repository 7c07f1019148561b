// Finds calls by leaves instead of by scanning payloads: start times of all calls that may match, for the planner to check.

import { treeElements } from '../../language/weight.ts'
import { conditionsOf, type Side } from '../conditions/conditions.ts'
import type { CompiledCondition } from '../conditions/types.ts'
import { compactRows } from '../header.ts'
import type { CallReader } from '../reader.ts'
import type { Direction } from './counts.ts'
import { pastPositions } from './counts.ts'
import {
  candidatesQuery,
  coveredQuery,
  dirtyCallsQuery,
  dirtyMinutesQuery,
  type EndPlaces,
  endsInMinutes,
  endsQuery,
  endsThatMatch,
  leastOf,
} from './field-index-queries.ts'
import { type LeafTests, leafTests } from './field-index-tests.ts'
import type { Range, Scope } from './scope.ts'
import { decodeTimes } from './sorted-keys.ts'

/** Start times that a statement can take; with more, scanning is as good. */
export const mostTimes = 4_000

/** With more minutes whose payloads may lack leaves, scanning is as good. */
const mostMinutes = 10_000

/** Minutes (in seconds) whose payloads may lack leaves; null while they are many, or leaves are new to the installation. */
export async function readDirtyMinutes({ store, projectId, options }: CallReader): Promise<number[] | null> {
  const answer = await store.bytes(coveredQuery(projectId), 'JSONCompactEachRow', options)
  const covered = compactRows<[number, string]>(answer)
  if (covered.length === 0) return null
  // Read before the leaves: a minute that is not named has all of them by then.
  const past = pastPositions(covered.map(([partition, position]) => ({ partition, position })))
  const dirty = await store.bytes(dirtyMinutesQuery(projectId, past, mostMinutes + 1), 'JSONCompactEachRow', options)
  const minutes = compactRows<[number]>(dirty).map(([minute]) => minute)
  return minutes.length > mostMinutes ? null : minutes
}

/** Start times of calls in dirty minutes and of some calls whose ends came alone; null when they are too many. */
export async function readUntold(
  { store, projectId, options }: CallReader,
  minutes: readonly number[],
  ends: readonly EndPlaces[],
): Promise<number[] | null> {
  const queries = [
    minutes.length > 0 ? dirtyCallsQuery(projectId, minutes, mostTimes + 1) : null,
    endsQuery(projectId, ends, mostTimes + 1),
  ]
  const times: number[] = []
  for (const query of queries)
    if (query !== null && times.length <= mostTimes)
      times.push(...decodeTimes(await store.bytes(query, 'RowBinary', options)))
  return times.length > mostTimes ? null : times
}

/** Candidates of a first window, and how much larger each next one is. */
const fewTimes = 64
const growth = 4
/** The newest part of a range in which candidates are looked for first: few of many are usually wanted. */
const firstSpanUs = 86_400 * 1_000_000
/** Candidates may lie thinner further back. */
const margin = 2

type LeafWay = {
  /** From this time on too many calls have no leaves yet: there candidates are not complete. */
  scanFromUs: number | null
  /** Start times of the calls in a range that may match, from one end on, and where they stop; null = at its other end. */
  candidates(range: Range, direction: Direction, limit: number): Promise<{ times: number[]; endUs: number | null }>
  /** The same, for few of many: the newest ones are looked for where they probably are. */
  newest(range: Range, direction: Direction, limit: number): ReturnType<LeafWay['candidates']>
}

/** Conditions that candidates are looked for by, and elements of their SQL: what is left out is met by payloads. */
const mostConditions = 8
const mostElements = 6_000

function testsOf(conditions: readonly CompiledCondition[]): LeafTests[] {
  const chosen: LeafTests[] = []
  let elements = 0
  for (const condition of conditions) {
    if (chosen.length === mostConditions) break
    const tests = leafTests(condition)
    if (tests === null) continue
    const own = treeElements(condition.tree)
    if (elements + own > mostElements) continue
    elements += own
    chosen.push(tests)
  }
  return chosen
}

/** The way to the calls of a query over the leaves of one side of their payloads; null when there is none. */
async function leafWay(reader: CallReader, scope: Scope): Promise<LeafWay | null> {
  if (scope.index || scope.keys) return null
  const conditions = conditionsOf(reader.query)
  const tests = { start: testsOf(conditions.start), end: testsOf(conditions.end) }
  const side: Side = tests.start.length >= tests.end.length ? 'start' : 'end'
  const own = tests[side]
  if (own.length === 0) return null
  const minutes = await readDirtyMinutes(reader)
  if (minutes === null) return null
  const ends = side === 'end' ? [endsThatMatch(own), endsInMinutes(minutes)] : []
  const all = await readUntold(reader, minutes, ends)
  const untold = all ?? (minutes.length > 0 ? await readUntold(reader, [], ends) : null)
  if (untold === null) return null
  const { store, projectId, options } = reader
  const read = async (range: Range, direction: Direction, limit: number): Promise<number[]> => {
    const query = candidatesQuery(projectId, own, { side, range, direction, limit })
    return decodeTimes(await store.bytes(query, 'RowBinary', options))
  }
  const inOrder = (found: number[], range: Range, direction: Direction, limit: number) => {
    const last = found.at(-1)
    const endUs = last === undefined || found.length < limit ? null : last
    const inside = (us: number): boolean =>
      (range.fromUs === null || us >= range.fromUs) &&
      (range.beforeUs === null || us < range.beforeUs) &&
      (endUs === null || (direction === 'desc' ? us >= endUs : us <= endUs))
    return { times: [...new Set([...found, ...untold.filter(inside)])], endUs }
  }
  return {
    scanFromUs: all === null ? leastOf(minutes) * 1_000_000 : null,
    async candidates(range, direction, limit) {
      return inOrder(await read(range, direction, limit), range, direction, limit)
    },
    async newest(range, direction, limit) {
      const beforeUs = range.beforeUs ?? Date.now() * 1_000
      const wholeUs = range.fromUs === null ? Number.POSITIVE_INFINITY : beforeUs - range.fromUs
      let spanUs = direction === 'desc' ? firstSpanUs : wholeUs
      for (let isFirst = true; spanUs < wholeUs; isFirst = false) {
        const found = await read({ ...range, fromUs: Math.floor(beforeUs - spanUs) }, direction, limit)
        if (found.length >= limit) return inOrder(found, range, direction, limit)
        spanUs *= isFirst && found.length > 0 ? (margin * limit) / found.length : Number.POSITIVE_INFINITY
      }
      return inOrder(await read(range, direction, limit), range, direction, limit)
    },
  }
}

/** A scope with the start times of all calls that may match, if they are few; else the scope itself. */
export async function narrowed(reader: CallReader, scope: Scope): Promise<Scope> {
  const way = await leafWay(reader, scope)
  if (way?.scanFromUs) return scope
  const found = await way?.candidates(scope.range, 'desc', mostTimes)
  return found && found.endUs === null ? { ...scope, times: found.times } : scope
}

/** Windows of time with the start times of the calls in them that may match; null when leaves do not lead to them. */
export async function leafWalk(
  reader: CallReader,
  scope: Scope,
  { direction, least }: { direction: Direction; least: number },
) {
  const way = await leafWay(reader, scope)
  if (way === null) return null
  const { fromUs, beforeUs } = scope.range
  const cutUs = Math.min(
    Math.max(way.scanFromUs ?? Number.POSITIVE_INFINITY, fromUs ?? 0),
    beforeUs ?? Number.POSITIVE_INFINITY,
  )
  const isCut = way.scanFromUs !== null && cutUs !== beforeUs
  let range: Range | null = isCut ? { fromUs, beforeUs: cutUs } : scope.range
  let limit = Math.min(mostTimes, Math.max(fewTimes, Math.ceil(1.25 * least))) / growth
  return {
    skipped: 0,
    target: 0,
    /** The newer part of the range, in which payloads are to be scanned; null = none. */
    scan: isCut ? { fromUs: cutUs, beforeUs } : null,
    /** What was not walked yet; null = nothing. */
    rest: () => range,
    async next() {
      if (range === null) return null
      limit = Math.min(mostTimes, limit * growth)
      const { times, endUs }: Awaited<ReturnType<LeafWay['candidates']>> = await way.newest(range, direction, limit)
      const window: Range =
        endUs === null ? range : direction === 'desc' ? { ...range, fromUs: endUs } : { ...range, beforeUs: endUs + 1 }
      if (endUs === null) range = null
      else range = direction === 'desc' ? { ...range, beforeUs: endUs } : { ...range, fromUs: endUs + 1 }
      return { range: window, calls: Number.POSITIVE_INFINITY, times }
    },
  }
}
