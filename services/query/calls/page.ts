// The statements that read call headers: one page of a window, keys in any order, rows by key, and a count.

import type { ProjectId } from '../../core/ids.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { asNumbers } from '../compact-rows.ts'
import type { Direction } from './access/counts.ts'
import {
  type CallConditions,
  callConditions,
  cheapConditions,
  ofHeader,
  withDocumentsAndDerived,
} from './conditions/conditions.ts'
import type { CompiledSort } from './conditions/types.ts'
import { allOf, type CallKey, instant, type Scope, scopeConditions } from './scope.ts'

/** Order by start time and id. */
export type TimeOrder = { startedAt: Direction; id: Direction }

/** The latest version of several calls with one id comes first. */
export const newestVersion = sql`c.version DESC`

const words = { asc: sql`ASC`, desc: sql`DESC` } as const
const beyond = { asc: sql`>`, desc: sql`<` } as const

const timeOrder = ({ startedAt, id }: TimeOrder): Sql => sql`c.started_at ${words[startedAt]}, c.id ${words[id]}`

/** Condition for calls after a key in the order. */
function after(key: CallKey, order: TimeOrder): Sql {
  const at = instant(key.startedUs)
  const next = sql`c.id ${beyond[order.id]} ${param('String', key.id)}`
  return sql`(c.started_at ${beyond[order.startedAt]} ${at} OR (c.started_at = ${at} AND ${next}))`
}

/** The range of a scope from a key on. */
function rangeFrom(scope: Scope, key: CallKey | null, order: TimeOrder): Scope {
  if (key === null) return scope
  const range =
    order.startedAt === 'desc'
      ? { ...scope.range, beforeUs: key.startedUs + 1 }
      : { ...scope.range, fromUs: key.startedUs }
  return { ...scope, range }
}

const limited = (limit: number | null, offset: number): Sql =>
  limit === null && offset === 0
    ? sql``
    : sql`LIMIT ${limit === null ? param('UInt64', 2 ** 53 - 1) : param('UInt64', limit)}${offset > 0 ? sql` OFFSET ${param('UInt64', offset)}` : sql``}`

/** A page of call headers in the order of time, or in another order of columns of the call header. */
export const pageQuery = (
  name: string,
  scope: Scope,
  conditions: CallConditions,
  page: { select: Sql; order: TimeOrder | Sql; after: CallKey | null; limit: number; offset: number },
): Query =>
  projectQuery(name, scope.projectId, (project) => {
    const byTime = 'startedAt' in page.order ? page.order : null
    const within = byTime ? rangeFrom(scope, page.after, byTime) : scope
    const where = callConditions(project, within, conditions)
    if (byTime && page.after) where.push(after(page.after, byTime))
    const order = byTime ? timeOrder(byTime) : (page.order as Sql)
    return sql`SELECT ${page.select} ${project.from('calls', { alias: 'c', final: true, where: allOf(where) })}
    ORDER BY ${order} ${limited(page.limit, page.offset)} ${asNumbers}`
  })

/** Rows by their keys, in any order; `where` holds the rest of the conditions. */
export const rowsQuery = (projectId: ProjectId, keys: readonly CallKey[], select: Sql): Query =>
  projectQuery('calls.rows', projectId, (project) => {
    const times = keys.map((key) => key.startedUs)
    const range = { fromUs: Math.min(...times), beforeUs: Math.max(...times) + 1 }
    const where = allOf(scopeConditions(project, { projectId, range, index: null, keys }))
    return sql`SELECT ${select} ${project.from('calls', { alias: 'c', final: true, where })} ${asNumbers}`
  })

/** Keys in any order, as RowBinary: started_at in microseconds, then the id. */
export const keysQuery = (
  scope: Scope,
  conditions: CallConditions,
  sort: CompiledSort,
  page: { limit: number | null; offset: number },
): Query =>
  projectQuery('calls.sorted-keys', scope.projectId, (project) => {
    const where = callConditions(project, scope, conditions)
    const from =
      sort.needs.size + sort.derived.size === 0
        ? project.from('calls', { alias: 'c', final: true, where: allOf(where) })
        : sql`FROM ${withDocumentsAndDerived(project, scope, where, sort, conditions.derived)} AS c`
    const order = sort.orderBy(ofHeader) ?? timeOrder({ startedAt: 'asc', id: 'asc' })
    return sql`SELECT toUnixTimestamp64Micro(c.started_at), c.id ${from} ORDER BY ${order} ${limited(page.limit, page.offset)}`
  })

/** Keys of the calls that meet the conditions which read no payload, as RowBinary, at most `limit`. */
export const headerKeysQuery = (scope: Scope, conditions: CallConditions, limit: number): Query =>
  projectQuery('calls.header-keys', scope.projectId, (project) => {
    const where = allOf(cheapConditions(project, scope, conditions))
    return sql`SELECT toUnixTimestamp64Micro(c.started_at), c.id
    ${project.from('calls', { alias: 'c', final: true, where })} LIMIT ${param('UInt64', limit)}`
  })

/** Number of calls that meet the conditions, at most `limit`. */
export const countQuery = (scope: Scope, conditions: CallConditions, limit: number | null): Query =>
  projectQuery('calls.count', scope.projectId, (project) => {
    const rows = project.from('calls', {
      alias: 'c',
      final: true,
      where: allOf(callConditions(project, scope, conditions)),
    })
    return limit === null
      ? sql`SELECT toString(count()) ${rows}`
      : sql`SELECT toString(count()) FROM (SELECT 1 ${rows} LIMIT ${param('UInt64', limit)})`
  })
