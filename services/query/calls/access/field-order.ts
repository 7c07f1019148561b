// The first calls in the order of one JSON field, found by the field index: the values are looked up again in the payloads.
import { param, type Sql, sql } from '../../../core/store/sql.ts'
import type { Query } from '../../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../../events/project-query.ts'
import { jsonExists, jsonString } from '../../language/json-sql.ts'
import {
  type CallConditions,
  callConditions,
  ofHeader,
  sideOf,
  withDocumentsAndDerived,
} from '../conditions/conditions.ts'

import type { CompiledSort } from '../conditions/types.ts'
import { compactRows } from '../header.ts'
import type { CallReader } from '../reader.ts'
import type { AccessPathOf, CallSearch } from './access-path.ts'
import { decodeTimes } from './decode-keys.ts'
import { maxTimes, readDirtyMinutes, readNotIndexed } from './field-index.ts'
import {
  type EndConditions,
  endsAt,
  endsNotIndexed,
  endsWith,
  endsWithoutOrder,
  firstValuesQuery,
  tiedAtQuery,
  tiedQuery,
  withoutOrderQuery,
} from './field-index-queries.ts'
import { fieldPath } from './field-index-tests.ts'
import type { CallKey, Scope } from './scope.ts'

/** A value with the time of its payload row, and whether that is an end that came alone. */
type Valued = [us: string, value: string | number, isEnd: 0 | 1]
/** A call that shares a value with others. */
type Tied = [us: string, id: string]
type FieldOrder = NonNullable<CompiledSort['byField']>

/** How far the order is known: calls up to this value, and among those with this value up to this id. */
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
 * Keys of the first calls of an order, `offset` of them left out; null when the field index does not lead to them. What
 * it cannot tell (values left out, calls that are not indexed yet) is looked at in any case.
 */
async function firstKeys({ reader, range, refine, limit, offset }: CallSearch): Promise<CallKey[] | null> {
  const { query, store, projectId, options } = reader
  const scope: Scope = { projectId, range, index: null, keys: null }
  const field = query.sort.byField
  const wanted = (limit ?? Number.POSITIVE_INFINITY) + offset
  const place = field && fieldPath(field.json)
  if (!field || !place || wanted > maxRows) return null
  const minutes = await readDirtyMinutes(reader)
  if (minutes === null) return null
  const isEnd = sideOf(field.json.document as Parameters<typeof sideOf>[0]) === 'end'
  const parts = isEnd ? sql`part = 'both'` : sql`part IN ('both', 'start')`
  const read = async (statement: Query) => decodeTimes(await store.bytes(statement, 'RowBinary', options))
  const [notIndexed, unknown] = await Promise.all([
    readNotIndexed(reader, minutes, isEnd ? [endsNotIndexed(projectId, minutes), endsWithoutOrder(place)] : []),
    read(withoutOrderQuery(projectId, place, parts, scope.range, maxTimes + 1)),
  ])
  if (notIndexed === null || notIndexed.length + unknown.length > maxTimes) return null

  for (let target = wanted + spare; target <= 4 * maxRows; target *= 8) {
    const found = await firstTimes(reader, scope, field, { path: place.path, isEnd, parts, target })
    if (found === null) return null
    const times = [...new Set([...found.times, ...notIndexed, ...unknown])]
    const refined = await refine({ ...scope, times })
    if (refined === null) continue
    const answer = await store.bytes(
      checkedQuery(refined.scope, refined.conditions, query.sort, found.bound),
      'JSONCompactEachRow',
      options,
    )
    const rows = compactRows<[string, string, number]>(answer)
    const known = rows.findLastIndex(([, , isWithin]) => isWithin === 1) + 1
    if (known < wanted) continue
    return rows.slice(offset, wanted).map(([us, id]) => ({ startedUs: Number(us), id }))
  }
  return null
}

/** Start times of the calls with the first values, at least `target` of them; null when there are not so many. */
async function firstTimes(
  reader: CallReader,
  scope: Scope,
  { direction, idDirection }: FieldOrder,
  ask: { path: string; isEnd: boolean; parts: Sql; target: number },
): Promise<{ times: number[]; bound: Bound } | null> {
  const { store, projectId, options } = reader
  const { path, isEnd, target } = ask
  const { range } = scope
  const read = async <Row>(query: Query) => compactRows<Row>(await store.bytes(query, 'JSONCompactEachRow', options))
  const first: Valued[] = []
  for (const kind of ['number', 'text'] as const) {
    const left = target - first.length
    const most = Math.max(values, left + 1)
    const parts = isEnd ? sql`part IN ('both', 'end')` : ask.parts
    const rows = await read<Valued>(firstValuesQuery(projectId, path, { direction, kind, parts, range, most }))
    const value = rows[left - 1]?.[1]
    if (value === undefined) {
      first.push(...rows)
      continue
    }
    const last = rows.findLastIndex((row) => row[1] === value) + 1
    const isKnown = rows.length < most || last < rows.length
    if (isKnown && last <= left + maxTies)
      return withStarts(reader, [...first, ...rows.slice(0, last)], [], { kind, value, id: null })
    // So many calls share the value that their ids decide.
    const from = rows.findIndex((row) => row[1] === value)
    first.push(...rows.slice(0, from))
    const ties = rows.slice(from, last)
    const limit = spareRows * target
    const same = { kind, value, parts: ask.parts, range, direction: idDirection, limit }
    const tied = await read<Tied>(
      isKnown ? tiedAtQuery(projectId, timesOf(ties, 0), same) : tiedQuery(projectId, path, same),
    )
    const byId = firstById(tied, target, tied.length < limit)
    if (byId === null) return null
    const alone = isEnd && !isKnown ? [endsWith(path, same)] : []
    const valued = isKnown ? [...first, ...ties.filter((row) => row[2] === 1)] : first
    const times = await withStarts(reader, valued, alone, { kind, value, id: byId.last })
    return times && { ...times, times: [...times.times, ...byId.rows.map(([us]) => Number(us))] }
  }
  return null
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

const timesOf = (rows: readonly Valued[], isEnd: 0 | 1) =>
  rows.filter((row) => row[2] === isEnd).map(([us]) => Number(us))

/** The times with those of ends that came alone replaced by the start times of their calls; null when they are too many. */
async function withStarts(reader: CallReader, rows: readonly Valued[], ends: EndConditions[], bound: Bound) {
  const starts = await readNotIndexed(reader, [], [endsAt(timesOf(rows, 1)), ...ends])
  return starts && { times: [...timesOf(rows, 0), ...starts], bound }
}
