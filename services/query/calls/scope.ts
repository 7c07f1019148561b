// The scope of a statement: a range of start times, the calls that have some key, or single rows.
import type { ProjectId } from '../../core/ids.ts'
import { join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { ProjectScope } from '../../events/project-query.ts'
import type { IndexFacts } from './conditions/types.ts'

/** Start times in microseconds: from (inclusive), before (exclusive); null = open. */
export type Range = { fromUs: number | null; beforeUs: number | null }

/** Place of a call in the table. */
export type CallKey = { startedUs: number; id: string }

/** Calls by values of a column: the table of keys says when they start, and the condition is checked again there. */
export type Index = { column: 'id' | 'trace_id' | 'parent_id'; values: readonly string[] }

export type Scope = {
  projectId: ProjectId
  range: Range
  index: Index | null
  keys: readonly CallKey[] | null
  /** Only calls that start at these times. */
  times?: readonly number[]
  /** Only calls that start in one of these parts of the range. */
  within?: readonly Range[]
}

export const rangeOf = ({ startedFrom, startedBefore }: IndexFacts): Range => ({
  fromUs: startedFrom,
  beforeUs: startedBefore,
})

export const everything: Range = { fromUs: null, beforeUs: null }

/** A time in microseconds as a value of the engine. */
export const instant = (us: number): Sql => sql`fromUnixTimestamp64Micro(${param('Int64', us)}, 'UTC')`

/** Times as a set that the primary key can use (a computed array would be searched once per row instead). */
export const instants = (us: readonly number[]): Sql =>
  sql`(SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin(${param('Array(String)', us.map(String))})), 'UTC'))`

export const allOf = (conditions: readonly Sql[]): Sql => (conditions.length === 0 ? sql`1` : join(conditions, ' AND '))

/** The best index that the facts allow: by id, by trace, by parent. */
export function indexOf(facts: IndexFacts): Index | null {
  if (facts.ids) return { column: 'id', values: facts.ids }
  if (facts.traceIds) return { column: 'trace_id', values: facts.traceIds }
  if (facts.parentIds) return { column: 'parent_id', values: facts.parentIds }
  return null
}

export function rangeConditions(column: Sql, { fromUs, beforeUs }: Range): Sql[] {
  const conditions: Sql[] = []
  if (fromUs !== null) conditions.push(sql`${column} >= ${instant(fromUs)}`)
  if (beforeUs !== null) conditions.push(sql`${column} < ${instant(beforeUs)}`)
  return conditions
}

/** Times in one of some ranges. */
export const withinAny = (column: Sql, ranges: readonly Range[]): Sql =>
  ranges.length === 0
    ? sql`0`
    : sql`(${join(
        ranges.map((range) => allOf(rangeConditions(column, range))),
        ' OR ',
      )})`

/** Calls that have no parent, or stand for a root that never came (0047_orphan_roots.sql), under the alias `c`. */
export const isRoot = (project: ProjectScope): Sql => sql`(c.parent_id = '' OR (c.started_at, c.id) IN
  (SELECT started_at, id ${project.from('orphan_roots', { final: true, where: sql`is_orphan = 1` })}))`

/** Start times of the calls that have one of the keys, which are an array or a subquery. */
export const timesOf = (project: ProjectScope, column: Index['column'], keys: Sql): Sql =>
  sql`SELECT started_at ${project.from('call_keys', {
    where: sql`kind = ${param('String', column)} AND key IN (${keys})`,
  })}`

/** The start times of a scope as conditions on a time column: what the primary key can use. */
export function timeConditions(project: ProjectScope, column: Sql, scope: Scope): Sql[] {
  const { range, within, index, keys, times } = scope
  const conditions = rangeConditions(column, range)
  if (index) {
    const times = timesOf(project, index.column, param('Array(String)', index.values))
    conditions.push(sql`${column} IN (${times})`)
  }
  if (keys) conditions.push(sql`${column} IN ${instants(keys.map((key) => key.startedUs))}`)
  if (times) conditions.push(sql`${column} IN ${instants(times)}`)
  if (within) conditions.push(withinAny(column, within))
  return conditions
}

/** Visible calls of a scope, under the alias `c`. */
export function scopeConditions(project: ProjectScope, scope: Scope): Sql[] {
  const conditions = timeConditions(project, sql`c.started_at`, scope)
  if (scope.keys)
    conditions.push(
      sql`c.id IN ${param(
        'Array(String)',
        scope.keys.map((key) => key.id),
      )}`,
    )
  conditions.push(sql`c.delete_ver = 0`, sql`c.moved = 0`)
  return conditions
}
