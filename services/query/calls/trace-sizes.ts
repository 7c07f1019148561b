// Stored bytes of whole traces.

import type { ProjectId } from '../../core/ids.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { readTuples } from '../compact-rows.ts'
import { type CallConditions, callConditions } from './conditions/conditions.ts'
import type { CallHeader } from './header.ts'
import { allOf, everything, type Scope, scopeConditions } from './scope.ts'

type Source = { store: Pick<Store, 'bytes'>; options: QueryOptions }

/** Bytes per trace. The call headers say which trace a call belongs to: a start that came again may have moved it. */
const sizes = (calls: Sql): Sql =>
  sql`SELECT c.trace_id AS trace_id, sum(c.start_bytes + c.end_bytes) AS bytes ${calls} GROUP BY c.trace_id`

export const traceSizesQuery = (projectId: ProjectId, traceIds: string[]): Query =>
  projectQuery('calls.trace-sizes', projectId, (project) => {
    const index = { column: 'trace_id', values: traceIds } as const
    const where = [
      ...scopeConditions(project, { projectId, range: everything, index, keys: null }),
      sql`c.trace_id IN ${param('Array(String)', traceIds)}`,
    ]
    return sql`SELECT trace_id, toString(bytes)
      FROM (${sizes(project.from('calls', { alias: 'c', final: true, where: allOf(where) }))})`
  })

/** Sizes of the traces whose roots are among the rows. @param areRoots whether all of them are, or stand for one */
export async function readTraceSizes(
  source: Source,
  projectId: ProjectId,
  rows: readonly Pick<CallHeader, 'traceId' | 'parentId'>[],
  areRoots = false,
): Promise<Map<string, number>> {
  const roots = areRoots ? rows : rows.filter(({ parentId }) => parentId === '')
  if (roots.length === 0) return new Map()
  const query = traceSizesQuery(projectId, [...new Set(roots.map(({ traceId }) => traceId))])
  const sizes = await readTuples<[string, string]>(source.store, query, source.options)
  return new Map(sizes.map(([id, bytes]) => [id, Number(bytes)]))
}

/** Sum of the trace sizes over the matching roots, after the limit. */
export const totalSizeQuery = (scope: Scope, conditions: CallConditions, limit: number | null): Query =>
  projectQuery('calls.total-size', scope.projectId, (project) => {
    const where = allOf(callConditions(project, scope, conditions))
    const matching = sql`SELECT c.trace_id AS trace_id, c.parent_id AS parent_id ${project.from('calls', { alias: 'c', final: true, where })}
      ${limit === null ? sql`` : sql`ORDER BY c.started_at, c.id LIMIT ${param('UInt64', limit)}`}`
    // Where roots are asked for, what has a parent stands for one.
    const roots = conditions.header.some(({ isOfRoots }) => isOfRoots) ? sql`` : sql`WHERE parent_id = ''`
    const calls = project.from('calls', {
      alias: 'c',
      final: true,
      where: sql`c.delete_ver = 0 AND c.moved = 0`,
    })
    return sql`SELECT toString(sum(roots.n * sizes.bytes)) FROM
      (SELECT trace_id, count() AS n FROM (${matching}) ${roots} GROUP BY trace_id) AS roots
      INNER JOIN (${sizes(calls)}) AS sizes ON sizes.trace_id = roots.trace_id`
  })
