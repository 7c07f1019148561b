// Which calls a statement looks at: a range of start times, the entries of an index, or single keys.
import type { ProjectId } from '../../../core/ids.ts'
import { join, type ProjectScope, param, type Sql, sql } from '../../../core/store/sql.ts'
import type { IndexFacts } from '../conditions/types.ts'

/** Start times in microseconds: from (inclusive), before (exclusive); null = open. */
export type Range = { fromUs: number | null; beforeUs: number | null }

/** Where a call lies in the table. */
export type Key = { startedUs: number; id: string }

type IndexTable = 'calls_by_id' | 'calls_by_trace' | 'calls_by_parent'

/** Entries of a thin copy: a superset of the calls, so the condition itself is checked again on the light row. */
export type Index = { table: IndexTable; column: Sql; values: string[] }

export type Scope = {
  projectId: ProjectId
  range: Range
  index: Index | null
  keys: readonly Key[] | null
  /** Only calls that start at these times. */
  times?: readonly number[]
}

export const everything: Range = { fromUs: null, beforeUs: null }

/** A time in microseconds as a value of the engine. */
export const instant = (us: number): Sql => sql`fromUnixTimestamp64Micro(${param('Int64', us)}, 'UTC')`

/** Times as a set that the primary key can use (a computed array would be searched once per row instead). */
export const instants = (us: readonly number[]): Sql =>
  sql`(SELECT fromUnixTimestamp64Micro(toInt64(arrayJoin(${param('Array(String)', us.map(String))})), 'UTC'))`

export const allOf = (conditions: readonly Sql[]): Sql => (conditions.length === 0 ? sql`1` : join(conditions, ' AND '))

/** The best index that the facts allow: by id, by trace, by parent. */
export function indexOf(facts: IndexFacts): Index | null {
  if (facts.ids) return { table: 'calls_by_id', column: sql`id`, values: facts.ids }
  if (facts.traceIds) return { table: 'calls_by_trace', column: sql`trace_id`, values: facts.traceIds }
  if (facts.parentIds) return { table: 'calls_by_parent', column: sql`parent_id`, values: facts.parentIds }
  return null
}

export function rangeConditions(column: Sql, { fromUs, beforeUs }: Range): Sql[] {
  const conditions: Sql[] = []
  if (fromUs !== null) conditions.push(sql`${column} >= ${instant(fromUs)}`)
  if (beforeUs !== null) conditions.push(sql`${column} < ${instant(beforeUs)}`)
  return conditions
}

/** Rows of a thin copy that an index points at. */
export const entries = (project: ProjectScope, { table, column, values }: Index): Sql =>
  project.from(table, { where: sql`${column} IN ${param('Array(String)', values)}` })

/** The start times of a scope as conditions on a time column: what the primary key can use. */
export function timeConditions(project: ProjectScope, column: Sql, { range, index, keys, times }: Scope): Sql[] {
  const conditions = rangeConditions(column, range)
  if (index) conditions.push(sql`${column} IN (SELECT started_at ${entries(project, index)})`)
  if (keys) conditions.push(sql`${column} IN ${instants(keys.map((key) => key.startedUs))}`)
  if (times) conditions.push(sql`${column} IN ${instants(times)}`)
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
