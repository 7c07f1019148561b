// Finds hidden log records: deleted by themselves, with the call of their span, or with all calls of their trace.
import type { ProjectId } from '../../core/ids.ts'
import { param, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'

/** Whether anything of a project was ever deleted that a record may belong to. */
export const anyDeletedQuery = (projectId: ProjectId): Query =>
  projectQuery(
    'logs.any-deleted',
    projectId,
    (project) => sql`SELECT count() FROM
    (
      SELECT 1 ${project.from('calls_deleted')} LIMIT 1
      UNION ALL
      SELECT 1 ${project.from('logs_deleted')} LIMIT 1
    )`,
  )

/** @param callId of the call that the record alone is, where it is one */
export type RecordIds = { id: string; callId: string; traceId: string; spanId: string }

const distinct = (all: readonly string[]): string[] => [...new Set(all.filter(Boolean))]

/**
 * The deletes of some records: `log` by its id, `call` by its id and trace (none = of a call that was removed before
 * its trace was noted), and `trace`, whose calls are all deleted.
 */
export function hiddenQuery(projectId: ProjectId, records: readonly RecordIds[]): Query {
  const ids = param('Array(String)', distinct(records.map(({ id }) => id)))
  const calls = param('Array(String)', distinct(records.flatMap(({ callId, spanId }) => [callId, spanId])))
  const traces = param('Array(String)', distinct(records.map(({ traceId }) => traceId)))
  return projectQuery('logs.hidden', projectId, (project) => {
    const deleted = sql`SELECT trace_id ${project.from('calls_deleted', { where: sql`trace_id IN ${traces}` })}`
    const started = project.from('call_keys', { where: sql`kind = 'trace_id' AND key IN (${deleted})` })
    const living = project.from('calls', {
      final: true,
      where: sql`started_at IN (SELECT started_at ${started}) AND trace_id IN (${deleted}) AND delete_ver = 0 AND moved = 0`,
    })
    return sql`SELECT DISTINCT 'log' AS kind, id AS a, '' AS b ${project.from('logs_deleted', { where: sql`id IN ${ids}` })}
    UNION ALL
    SELECT DISTINCT 'call', id, trace_id ${project.from('calls_deleted', { where: sql`id IN ${calls}` })}
    UNION ALL
    SELECT DISTINCT 'trace', trace_id, '' ${project.from('calls_deleted', {
      where: sql`trace_id IN ${traces} AND trace_id NOT IN (SELECT trace_id ${living})`,
    })}`
  })
}

export type HiddenRow = [kind: 'log' | 'call' | 'trace', a: string, b: string]

/** Whether a record is hidden by what was found of it. */
export function hiddenBy(found: readonly HiddenRow[]): (record: RecordIds) => boolean {
  const all = found.map(([kind, a, b]) => `${kind} ${a} ${b}`)
  const has = new Set(all)
  const calls = new Set(found.flatMap(([kind, a]) => (kind === 'call' ? [a] : [])))
  return ({ id, callId, traceId, spanId }) =>
    has.has(`log ${id} `) ||
    // A record of a coding agent is a call of its own.
    calls.has(callId) ||
    (traceId !== '' &&
      (has.has(`trace ${traceId} `) || has.has(`call ${spanId} ${traceId}`) || has.has(`call ${spanId} `)))
}
