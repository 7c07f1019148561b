// The first calls in the order of one JSON field, found by the field index: the values are looked up again in the payloads.

import { param, type Sql, sql } from '../../../core/store/sql.ts'
import type { Query } from '../../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../../events/project-query.ts'
import { readTuples } from '../../compact-rows.ts'
import { jsonExists, jsonString } from '../../language/json-sql.ts'
import {
  type CallConditions,
  callConditions,
  ofHeader,
  sideOf,
  withDocumentsAndDerived,
} from '../conditions/conditions.ts'

import type { CompiledSort } from '../conditions/types.ts'
import { decodeKeys } from '../decode-keys.ts'
import { keysQuery } from '../page.ts'
import type { CallReader } from '../reader.ts'
import type { CallKey, Range, Scope } from '../scope.ts'
import type { AccessPathOf, CallSearch } from './access-path.ts'
import { countProject, type Direction, type DirtyMinute } from './counts.ts'
import { dirtyRanges } from './dirty-times.ts'
import { maxTimes, readDirtyMinutes, readNotIndexed } from './field-index.ts'
import {
  callsWithinQuery,
  type EndConditions,
  endsAt,
  endsNotIndexed,
  endsWith,
  firstValuesQuery,
  minutesOf,
  type OrderedValues,
  sampleQuery,
  tiedAtQuery,
  tiedQuery,
  type UpTo,
  withoutOrderQuery,
} from './field-index-queries.ts'
import { fieldPath } from './field-index-tests.ts'

/** The time of a payload row, and whether that is an end that came alone. */
type Timed = [us: string, isEnd: 0 | 1]
type Valued = [...Timed, value: string | number]
/** The first values of a sample: how many, the first and the last. */
type Sampled = [count: number, first: string | number, last: string | number]
/** A call that shares a value with others; whether there are ends with it, or values before it. */
type Tied = [us: string, id: string, hasOthers?: 0 | 1]
type FieldOrder = NonNullable<CompiledSort['byField']>

/** The end of the known order: calls up to this value, and among those with this value up to this id. */
type Bound = { kind: 'number' | 'text'; value: string | number; id: string | null }

/** Longest part of an order that is taken from the field index. */
const maxRows = 1_000
/** Further rows, because calls may be deleted, moved or written anew. */
const spare = 14
/** Calls beyond those that share the last value; of more, the first by id are looked for. */
const maxTies = 100
/** Rows that are read for each call by id: a call may have several. */
const spareRows = 4
/** Values that are read at once: usually they hold all calls that share the last one. */
const values = 2_000
/** Calls whose payloads are read in any case. */
const fewCalls = 100_000
const isBefore = { asc: sql`<`, desc: sql`>` } as const

function within({ json, direction, idDirection }: FieldOrder, { kind, value, id }: Bound): Sql {
  const text = jsonString(json, ofHeader)
  const number = sql`ifNotFinite(toFloat64OrNull(${text}), NULL)`
  const first = kind === 'number' ? number : text
  const last = param(kind === 'number' ? 'Float64' : 'String', value)
  const tie = id === null ? sql`1` : sql`c.id ${isBefore[idDirection]}= ${param('String', id)}`
  const upTo = sql`(${first} ${isBefore[direction]} ${last} OR (${first} = ${last} AND ${tie}))`
  const numbersCome = kind === 'number' ? upTo : sql`(${number} IS NOT NULL OR ${upTo})`
  return sql`ifNull(${jsonExists(json, ofHeader)} AND ${numbersCome}, 0)`
}

/** Keys of calls in their order, and whether each lies within the bound. */
export const checkedQuery = (scope: Scope, conditions: CallConditions, sort: CompiledSort, bound: Bound): Query =>
  projectQuery('calls.field-index-order', scope.projectId, (project: ProjectScope) => {
    const where = callConditions(project, scope, conditions)
    const order = sort.orderBy(ofHeader) ?? sql`c.id`
    const field = sort.byField as FieldOrder
    return sql`SELECT toUnixTimestamp64Micro(c.started_at), c.id, toUInt8(${within(field, bound)})
    FROM ${withDocumentsAndDerived(project, scope, where, sort, conditions.derived)} AS c ORDER BY ${order}`
  })

/** The access path of the first calls in the order of a field. */
export const fieldOrder: AccessPathOf = (search) => {
  let keys: CallKey[] | null = null
  return {
    name: 'field order',
    async estimate() {
      keys = await firstKeys(search)
      return keys === null ? null : keys.length
    },
    async *candidates() {
      for (let at = 0; keys !== null && at < keys.length; at += search.rows)
        yield { keys: keys.slice(at, at + search.rows) }
    },
  }
}

/**
 * Keys of the first calls of an order, `offset` of them left out; null when the field index does not lead to them.
 * Calls of unknown order (values left out, calls that are not indexed yet) are read in any case.
 */
async function firstKeys(search: CallSearch): Promise<CallKey[] | null> {
  const { reader, range, refine, limit, offset } = search
  const { query, store, projectId, options } = reader
  const scope: Scope = { projectId, range, index: null, keys: null }
  const field = query.sort.byField
  const wanted = (limit ?? Number.POSITIVE_INFINITY) + offset
  const place = field && fieldPath(field.json)
  if (!field || !place || wanted > maxRows) return null
  const dirty = await readDirtyMinutes(reader)
  if (dirty === null) return null
  const isEnd = sideOf(field.json.document as Parameters<typeof sideOf>[0]) === 'end'
  const parts = isEnd ? sql`part IN ('both', 'end')` : sql`part IN ('both', 'start')`
  const [notIndexed, unknown] = await Promise.all([
    notIndexedTimes(search, dirty, isEnd, wanted),
    readRows<Timed>(reader, withoutOrderQuery(projectId, place, { parts, range }, maxTimes + 1)),
  ])
  if (notIndexed === null || notIndexed.length + unknown.length > maxTimes) return null
  const withoutOrder = await startsOf(reader, unknown)
  if (withoutOrder === null) return null

  for (let target = wanted + spare; target <= 4 * maxRows; target *= 8) {
    const found = await firstTimes(reader, field, { path: place.path, isEnd, parts, range, target })
    if (found === null) return null
    const times = [...new Set([...found.times, ...notIndexed, ...withoutOrder])]
    const refined = await refine({ ...scope, times })
    if (refined === null) continue
    const checked = checkedQuery(refined.scope, refined.conditions, query.sort, found.bound)
    const rows = await readTuples<[us: string, id: string, isWithin: number]>(store, checked, options)
    const known = rows.findLastIndex(([, , isWithin]) => isWithin === 1) + 1
    if (known < wanted) continue
    return rows.slice(offset, wanted).map(([us, id]) => ({ startedUs: Number(us), id }))
  }
  return null
}

/**
 * Start times of the first `wanted` calls in the order among those that the field index may not hold yet, and of all whose
 * ends came alone; of all of them where they are spread over many minutes.
 * @returns null when they are too many
 */
async function notIndexedTimes(
  { reader, range, refine }: CallSearch,
  dirty: readonly DirtyMinute[],
  isEnd: boolean,
  wanted: number,
): Promise<number[] | null> {
  const { query, store, projectId, options } = reader
  const ends = isEnd ? [endsNotIndexed(projectId, minutesOf(dirty))] : []
  const within = dirtyRanges(dirty)
  if (within === null || within.length === 0) return readNotIndexed(reader, dirty, ends)
  if (await areMost(reader, within)) return null
  const [alone, refined] = await Promise.all([
    readNotIndexed(reader, [], ends),
    refine({ projectId, range, index: null, keys: null, within }),
  ])
  if (alone === null || refined === null) return alone
  const first = keysQuery(refined.scope, refined.conditions, query.sort, { limit: wanted, offset: 0 })
  const keys = decodeKeys(await store.bytes(first, 'RowBinary', options)).next(wanted)
  return [...alone, ...keys.map(({ startedUs }) => startedUs)]
}

/** Whether so many calls are within some ranges that to read all of the project is as good. */
async function areMost({ store, projectId, options, cache }: CallReader, ranges: readonly Range[]): Promise<boolean> {
  const [[text = '0'] = []] = await readTuples<[string]>(store, callsWithinQuery(projectId, ranges), options)
  const calls = Number(text)
  return calls > fewCalls && 3 * calls > (await countProject(store, projectId, 'calls', options, cache))
}

const readRows = <Row>({ store, options }: CallReader, query: Query) => readTuples<Row>(store, query, options)

type Wanted = { path: string; isEnd: boolean; parts: Sql; range: Range; target: number }
type Ask = OrderedValues & { path: string; direction: Direction; idDirection: Direction; left: number; limit: number }

/** The first of the calls with one value by id. */
const tiedRows = (reader: CallReader, value: string | number, { path, direction, idDirection, ...ask }: Ask) =>
  readRows<Tied>(reader, tiedQuery(reader.projectId, path, { ...ask, value, order: direction, direction: idDirection }))

/** The same, of values that hold all of its calls. */
const tiedAt = (reader: CallReader, ties: readonly Valued[], { idDirection, limit }: Ask) =>
  readRows<Tied>(reader, tiedAtQuery(reader.projectId, timesOf(ties, 0), { direction: idDirection, limit }))

/** First values, and whether there may be more of the last one; `tied`: the first calls by id with the one behind them. */
type FirstRows = { rows: Valued[]; isCut: boolean; tied: { value: string | number; calls: Tied[] } | null }

const nothing: FirstRows = { rows: [], isCut: false, tied: null }

/** The first values, at least `left` of them if there are so many; a sample says up to which value to look. */
async function firstRows(reader: CallReader, ask: Ask): Promise<FirstRows> {
  const { path, left } = ask
  const most = Math.max(values, left + 1)
  const read = async (upTo: UpTo | null) => {
    const rows = await readRows<Valued>(reader, firstValuesQuery(reader.projectId, path, { ...ask, most, upTo }))
    return { rows, tied: null, isCut: rows.length === most }
  }
  const sampled = Math.max(left, maxTies)
  const [sample] = await readRows<Sampled>(reader, sampleQuery(reader.projectId, path, { ...ask, most: sampled }))
  const [count, first, last] = sample as Sampled
  if (count === 0) return nothing
  if (count === sampled && first === last) {
    const calls = await tiedRows(reader, last, ask)
    const others = calls[0]?.[2] ? await read({ value: last, with: 'ends' }) : nothing
    if (!others.isCut && others.rows.length + calls.length >= left) return { ...others, tied: { value: last, calls } }
  } else if (count === sampled) {
    const found = await read({ value: last, with: 'all' })
    if (found.rows.length >= left) return found
  }
  // The sample is small, or unlike the rest.
  return read(null)
}

/** Start times of calls, and how far they hold the order. */
type FirstTimes = { times: number[]; bound: Bound }

/** Start times of the calls with the first values, at least `target` of them; null when there are not so many. */
async function firstTimes(
  reader: CallReader,
  { direction, idDirection }: FieldOrder,
  wanted: Wanted,
): Promise<FirstTimes | null> {
  const first: Valued[] = []
  for (const kind of ['number', 'text'] as const) {
    const left = wanted.target - first.length
    const ask = { ...wanted, kind, direction, idDirection, left, limit: spareRows * wanted.target }
    const found = await firstRows(reader, ask)
    const value = found.rows[left - 1]?.[2] ?? found.tied?.value
    if (value !== undefined) return timesUpTo(reader, value, { ...found, before: first }, ask)
    first.push(...found.rows)
  }
  return null
}

/** The times up to a value that calls may share. @param before the values of the kinds that come first */
async function timesUpTo(
  reader: CallReader,
  value: string | number,
  { rows, isCut, tied, before }: FirstRows & { before: readonly Valued[] },
  ask: Ask & Wanted,
): Promise<FirstTimes | null> {
  const { kind, path, isEnd, left, limit, target } = ask
  const ties = rows.filter((row) => row[2] === value)
  const end = ties.length > 0 ? rows.lastIndexOf(ties.at(-1) as Valued) + 1 : rows.length
  const first = [...before, ...rows.slice(0, end - ties.length)]
  const calls = value === tied?.value ? tied.calls : null
  const isKnown = calls === null && (!isCut || end < rows.length)
  if (isKnown && end <= left + maxTies) return withStarts(reader, [...first, ...ties], { kind, value, id: null })
  // So many calls share the value that their ids decide.
  const found = calls ?? (isKnown ? await tiedAt(reader, ties, ask) : await tiedRows(reader, value, ask))
  const byId = firstById(found, target, found.length < limit)
  if (byId === null) return null
  const areEndsKnown = isKnown || calls !== null
  if (areEndsKnown) first.push(...ties.filter(([, isAlone]) => isAlone === 1))
  const alone = isEnd && !areEndsKnown ? [endsWith(path, { kind, value })] : []
  const starts = await withStarts(reader, first, { kind, value, id: byId.last }, alone)
  return starts && { ...starts, times: [...starts.times, ...byId.rows.map(([us]) => Number(us))] }
}

/**
 * The calls of the first ids, and the last of these ids, null where no call has another one.
 * @returns null when it cannot be told which they are
 */
function firstById(
  tied: readonly Tied[],
  target: number,
  areAll: boolean,
): { rows: Tied[]; last: string | null } | null {
  const distinct = [...new Map(tied.map((row) => [row.join(' '), row])).values()]
  if (areAll && distinct.length <= target) return { rows: distinct, last: null }
  // Several calls may have one id: of the last one there may be more.
  const some = distinct.slice(0, target)
  const rows = some.filter(([, id]) => id !== some.at(-1)?.[1])
  const last = rows.at(-1)?.[1]
  return last === undefined ? null : { rows, last }
}

const timesOf = (rows: readonly Readonly<[...Timed, ...unknown[]]>[], isEnd: 0 | 1) =>
  rows.filter((row) => row[1] === isEnd).map(([us]) => Number(us))

/** The times with those of ends that came alone, and of more such ends, replaced by the start times of their calls; null when they are too many. */
async function startsOf(reader: CallReader, rows: Parameters<typeof timesOf>[0], more: EndConditions[] = []) {
  const starts = await readNotIndexed(reader, [], [endsAt(timesOf(rows, 1)), ...more])
  return starts && [...timesOf(rows, 0), ...starts]
}

async function withStarts(reader: CallReader, rows: readonly Valued[], bound: Bound, more: EndConditions[] = []) {
  const times = await startsOf(reader, rows, more)
  return times && { times, bound }
}
