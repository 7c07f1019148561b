// The access path by the field index: start times of all calls whose field values may meet the conditions, for payloads to decide.

import { compactRows } from '../../compact-rows.ts'
import { treeElements } from '../../language/weight.ts'
import { conditionsOf, type Side } from '../conditions/conditions.ts'
import type { CompiledCondition } from '../conditions/types.ts'
import { decodeTimes } from '../decode-keys.ts'
import type { CallReader } from '../reader.ts'
import type { Range, Scope } from '../scope.ts'
import { type AccessPathOf, type CallSearch, type Candidates, pageRows, type SearchProgress } from './access-path.ts'
import { type Direction, type DirtyMinute, pastPositions } from './counts.ts'
import { dirtyRanges } from './dirty-times.ts'
import {
  candidatesQuery,
  coveredQuery,
  dirtyCallsQuery,
  dirtyMinutesQuery,
  type EndConditions,
  endsNotIndexed,
  endsQuery,
  endsThatMatch,
  minOf,
  minutesOf,
} from './field-index-queries.ts'
import { type FieldTests, fieldTests } from './field-index-tests.ts'
import { windowsIn } from './time-windows.ts'

/** Start times that a statement can take; with more, scanning is as good. */
export const maxTimes = 4_000

/** With more minutes whose payloads the field index may not cover yet, scanning is as good. */
const maxMinutes = 10_000

/** Minutes whose payloads the field index may not cover yet; null while they are many, or the field index is new to the installation. */
export async function readDirtyMinutes({ store, projectId, options }: CallReader): Promise<DirtyMinute[] | null> {
  const answer = await store.bytes(coveredQuery(projectId), 'JSONCompactEachRow', options)
  const covered = compactRows<[number, string]>(answer)
  if (covered.length === 0) return null
  // Read before the field index: it covers a minute that is not named by then.
  const past = pastPositions(covered.map(([partition, position]) => ({ partition, position })))
  const rows = await store.bytes(dirtyMinutesQuery(projectId, past, maxMinutes + 1), 'JSONCompactEachRow', options)
  const dirty = compactRows<[number, string]>(rows).map(([minute, seconds]) => ({ minute, seconds }))
  return dirty.length > maxMinutes ? null : dirty
}

/** Start times of calls of dirty minutes and of some calls whose ends came alone; null when they are too many. */
export async function readNotIndexed(
  { store, projectId, options }: CallReader,
  dirty: readonly DirtyMinute[],
  ends: readonly EndConditions[],
): Promise<number[] | null> {
  const queries = [
    dirty.length > 0 ? dirtyCallsQuery(projectId, dirty, maxTimes + 1) : null,
    endsQuery(projectId, ends, maxTimes + 1),
  ]
  const times: number[] = []
  for (const query of queries)
    if (query !== null && times.length <= maxTimes)
      times.push(...decodeTimes(await store.bytes(query, 'RowBinary', options)))
  return times.length > maxTimes ? null : times
}

/** Candidates of a first window, and how much larger each next one is. */
const fewTimes = 64
const growth = 4
/** The newest part of a range in which candidates are looked for first: few of many are usually wanted. */
const firstSpanUs = 86_400 * 1_000_000
/** Calls that the index leads to, for each that matches; with more, payloads are scanned. */
const candidatesPerHit = 200
/** Candidates may lie thinner further back. */
const margin = 2

type FieldIndex = {
  /** The time from which on too many calls are not indexed yet: there candidates are not complete. */
  scanFromUs: number | null
  /** Start times of the calls in a range that may match, from one end on, and where they stop; null = at its other end. */
  candidates(range: Range, direction: Direction, limit: number): Promise<{ times: number[]; endUs: number | null }>
  /** The same, for few of many: the newest ones are looked for where they probably are. */
  newest(range: Range, direction: Direction, limit: number): ReturnType<FieldIndex['candidates']>
}

/** Conditions that candidates are looked for by, and elements of their SQL: what is left out is met by payloads. */
const maxConditions = 8
const maxElements = 6_000

function testsOf(conditions: readonly CompiledCondition[]): FieldTests[] {
  const chosen: FieldTests[] = []
  let elements = 0
  for (const condition of conditions) {
    if (chosen.length === maxConditions) break
    const tests = fieldTests(condition)
    if (tests === null) continue
    const own = treeElements(condition.tree)
    if (elements + own > maxElements) continue
    elements += own
    chosen.push(tests)
  }
  return chosen
}

/** The first time of dirty minutes that something changed in. */
const firstUsOf = (dirty: readonly DirtyMinute[]): number =>
  dirtyRanges(dirty)?.[0]?.fromUs ?? minOf(minutesOf(dirty)) * 1_000_000

/** The field index as far as it can tell of the conditions of a query, on one side of the payloads; null when it cannot. */
async function openFieldIndex(reader: CallReader): Promise<FieldIndex | null> {
  const conditions = conditionsOf(reader.query)
  const tests = { start: testsOf(conditions.start), end: testsOf(conditions.end) }
  const side: Side = tests.start.length >= tests.end.length ? 'start' : 'end'
  const own = tests[side]
  if (own.length === 0) return null
  const dirty = await readDirtyMinutes(reader)
  if (dirty === null) return null
  const ends = side === 'end' ? [endsThatMatch(own), endsNotIndexed(reader.projectId, minutesOf(dirty))] : []
  const all = await readNotIndexed(reader, dirty, ends)
  const notIndexed = all ?? (dirty.length > 0 ? await readNotIndexed(reader, [], ends) : null)
  if (notIndexed === null) return null
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
    return { times: [...new Set([...found, ...notIndexed.filter(inside)])], endUs }
  }
  return {
    scanFromUs: all === null ? firstUsOf(dirty) : null,
    async candidates(range, direction, limit) {
      return inOrder(await read(range, direction, limit), range, direction, limit)
    },
    async newest(range, direction, limit) {
      const beforeUs = range.beforeUs ?? Date.now() * 1_000
      const wholeUs = range.fromUs === null ? Number.POSITIVE_INFINITY : beforeUs - range.fromUs
      const found: number[] = []
      let left = range
      let spanUs = direction === 'desc' ? firstSpanUs : wholeUs
      for (let isFirst = true; spanUs < wholeUs; isFirst = false) {
        const fromUs = Math.floor(beforeUs - spanUs)
        found.push(...(await read({ ...left, fromUs }, direction, limit - found.length)))
        if (found.length >= limit) return inOrder(found, range, direction, limit)
        // The rest excludes the range that is done.
        left = { ...left, beforeUs: fromUs }
        spanUs *= isFirst && found.length > 0 ? (margin * limit) / found.length : Number.POSITIVE_INFINITY
      }
      found.push(...(await read(left, direction, limit - found.length)))
      return inOrder(found, range, direction, limit)
    },
  }
}

/** A scope with the start times of all calls that may match, if the field index tells them and they are few. */
export async function withFieldTimes(reader: CallReader, scope: Scope): Promise<Scope> {
  const times = await allTimes(reader, scope.range)
  return times === null ? scope : { ...scope, times }
}

/** Start times of all calls in a range that may match; null when the field index cannot tell, or they are many. */
async function allTimes(reader: CallReader, range: Range): Promise<number[] | null> {
  const index = await openFieldIndex(reader)
  if (index === null || index.scanFromUs !== null) return null
  const { times, endUs } = await index.candidates(range, 'desc', maxTimes)
  return endUs === null ? times : null
}

/** The access path of one statement over all calls that may match, if they are few. */
export const fieldIndexTimes: AccessPathOf = ({ reader, range }) => {
  let times: number[] | null = null
  return {
    name: 'field index',
    async estimate() {
      times = await allTimes(reader, range)
      return times === null ? null : times.length
    },
    async *candidates() {
      if (!times?.length) return
      const scope = { projectId: reader.projectId, range, index: null, keys: null, times }
      yield { scope, calls: Number.POSITIVE_INFINITY }
    },
  }
}

/** The access path of pages in the order of time: a range at a time, with the start times of calls that may match. */
export const fieldIndex: AccessPathOf = (search) => {
  let index: FieldIndex | null = null
  return {
    name: 'field index',
    async estimate() {
      index = await openFieldIndex(search.reader)
      return index && Number.POSITIVE_INFINITY
    },
    async *candidates(progress) {
      if (index === null) return
      const { covered, recent } = splitAt(search.range, index.scanFromUs)
      const scan = recent && windowsIn(search, progress, { range: recent, offset: 0 })
      if (scan && search.order.startedAt === 'desc') yield* scan
      yield* coveredCandidates(search, progress, index, covered)
      if (scan && search.order.startedAt === 'asc') yield* scan
    },
  }
}

/** The part of a range that the index covers, and the newer one that is to be scanned; null = none. */
function splitAt(range: Range, scanFromUs: number | null): { covered: Range; recent: Range | null } {
  const { fromUs, beforeUs } = range
  if (scanFromUs === null) return { covered: range, recent: null }
  const cutUs = Math.min(Math.max(scanFromUs, fromUs ?? 0), beforeUs ?? Number.POSITIVE_INFINITY)
  if (cutUs === beforeUs) return { covered: range, recent: null }
  return { covered: { fromUs, beforeUs: cutUs }, recent: { fromUs: cutUs, beforeUs } }
}

async function* coveredCandidates(
  search: CallSearch,
  progress: SearchProgress,
  index: FieldIndex,
  covered: Range,
): AsyncGenerator<Candidates> {
  const { projectId } = search.reader
  const direction = search.order.startedAt
  const wanted = (search.limit ?? pageRows) + search.offset
  let limit = Math.min(maxTimes, Math.max(fewTimes, Math.ceil(1.25 * wanted)))
  for (let range = covered; ; limit = Math.min(maxTimes, limit * growth)) {
    const { times, endUs } = await index.newest(range, direction, limit)
    const [near, rest] = cut(range, endUs, direction)
    const scope = { projectId, range: near, index: null, keys: null, times }
    if (times.length > 0) yield { scope, calls: Number.POSITIVE_INFINITY }
    if (rest === null) return
    if (times.length > candidatesPerHit * (progress.hits + 1)) {
      // Most candidates do not match: then their neighbours are read as fast as they are.
      yield* windowsIn(search, progress, { range: rest, offset: 0, isLarge: true })
      return
    }
    range = rest
  }
}

/** The part of a range up to a time, and what lies beyond it; null = nothing. */
function cut(range: Range, endUs: number | null, direction: Direction): [near: Range, rest: Range | null] {
  if (endUs === null) return [range, null]
  return direction === 'desc'
    ? [
        { ...range, fromUs: endUs },
        { ...range, beforeUs: endUs },
      ]
    : [
        { ...range, beforeUs: endUs + 1 },
        { ...range, fromUs: endUs + 1 },
      ]
}
