// Stored bytes of whole traces.
import type { ProjectId } from '../../core/ids.ts'
import { param, projectQuery, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { type CallConditions, callConditions } from './conditions.ts'
import { compactRows, type LightRow, place } from './light.ts'
import { allOf, type Scope } from './scope.ts'

type Source = { store: Pick<Store, 'bytes'>; options: QueryOptions }

/** Bytes per trace over its visible calls. */
const sizes = (traces: Sql, calls: Sql): Sql => sql`SELECT trace_id, sum(bytes) AS bytes ${calls} GROUP BY ${traces}`

export const traceSizesQuery = (projectId: ProjectId, traceIds: string[]): Query =>
  projectQuery('calls.trace-sizes', projectId, (project) => {
    const where = sql`trace_id IN ${param('Array(String)', traceIds)} AND hidden = 0`
    const calls = project.from('calls_by_trace', { final: true, where })
    return sql`SELECT trace_id, toString(bytes) FROM (${sizes(sql`trace_id`, calls)})`
  })

/** Sizes of the traces whose roots are among the rows. */
export async function readTraceSizes(
  source: Source,
  projectId: ProjectId,
  rows: readonly LightRow[],
): Promise<Map<string, number>> {
  const roots = rows.filter((row) => row[place.parentId] === '')
  if (roots.length === 0) return new Map()
  const query = traceSizesQuery(projectId, [...new Set(roots.map((row) => row[place.traceId]))])
  const answer = await source.store.bytes(query, 'JSONCompactEachRow', source.options)
  return new Map(compactRows<[string, string]>(answer).map(([id, bytes]) => [id, Number(bytes)]))
}

/** Sum of the trace sizes over the matching roots, after the limit. */
export const totalSizeQuery = (scope: Scope, conditions: CallConditions, limit: number | null): Query =>
  projectQuery('calls.total-size', scope.projectId, (project) => {
    const where = allOf(callConditions(project, scope, conditions))
    const matching = sql`SELECT c.trace_id AS trace_id, c.parent_id AS parent_id ${project.from('calls', { alias: 'c', final: true, where })}
      ${limit === null ? sql`` : sql`ORDER BY c.started_at, c.id LIMIT ${param('UInt64', limit)}`}`
    const calls = project.from('calls_by_trace', { final: true, where: sql`hidden = 0` })
    return sql`SELECT toString(sum(roots.n * sizes.bytes)) FROM
      (SELECT trace_id, count() AS n FROM (${matching}) WHERE parent_id = '' GROUP BY trace_id) AS roots
      INNER JOIN (${sizes(sql`trace_id`, calls)}) AS sizes ON sizes.trace_id = roots.trace_id`
  })
