// Whether so much of a project is held that nothing of it is removed.
import { type HeldKeys, mostHeldCalls } from '../../core/directory/holds.ts'
import type { ProjectId } from '../../core/ids.ts'
import { join, param, queryOfProject, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'

/** Distinct calls that holds name, and that are of held traces and threads, deleted ones too: no more than the limit. */
const heldCallsQuery = (projectId: ProjectId, { callIds, traceIds, threadIds }: HeldKeys, limit: number): Query =>
  queryOfProject<'calls' | 'call_keys' | 'call_patches'>('projects.held-calls', projectId, (project) => {
    const traces = sql`trace_id IN (${param('Array(String)', [...traceIds])})`
    const threads = sql`thread_id IN (${param('Array(String)', [...threadIds])})`
    const starts = project.from('call_keys', {
      where: sql`kind = 'trace_id' AND key IN (${param('Array(String)', [...traceIds])})`,
    })
    const ofTraces = project.from('calls', { where: sql`${traces} AND started_at IN (SELECT started_at ${starts})` })
    const parts = [
      sql`SELECT arrayJoin(${param('Array(String)', [...callIds])}) AS id`,
      ...(traceIds.size > 0 ? [sql`SELECT id ${ofTraces}`] : []),
      ...(threadIds.size > 0 ? [sql`SELECT id ${project.from('calls', { where: threads })}`] : []),
      sql`SELECT id ${project.from('call_patches', { where: sql`${traces} OR ${threads}` })}`,
    ]
    const all = join(parts, ' UNION ALL ')
    return sql`SELECT toUInt32(count()) AS n FROM (SELECT DISTINCT id FROM (${all}) LIMIT ${param('UInt32', limit)})`
  })

/** A project with too many held calls to leave out one by one keeps everything, as `all` does. */
export async function isWhollyHeld(
  store: Pick<Store, 'rows'>,
  projectId: ProjectId,
  held: HeldKeys,
  options: QueryOptions,
): Promise<boolean> {
  const { all, callIds, traceIds, threadIds } = held
  if (all || callIds.size > mostHeldCalls) return true
  if (traceIds.size + threadIds.size === 0) return false
  const [row] = await store.rows<{ n: number }>(heldCallsQuery(projectId, held, mostHeldCalls + 1), options)
  return Number(row?.n ?? 0) > mostHeldCalls
}
