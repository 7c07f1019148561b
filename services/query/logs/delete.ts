// POST /logs/delete: hides log records by the conditions of /logs/query, and has them removed for good.
import { logsDeleteRequest, logsDeleteResponse } from '../../../schemas/logs.ts'
import type { Audit } from '../../core/audit/audit.ts'
import { audited, idsOf } from '../../core/audit/audited.ts'
import { type Route, route } from '../../core/http/route.ts'
import { type Freshness, throwIfStale } from '../../core/log/freshness.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { erasureHeader, type RequestErasure } from '../request-erasure.ts'
import { createRecordDeletion, type DeleteRecordsDeps } from './delete-records.ts'
import { filterCondition, logTables } from './records.ts'

/** @param requestErasure has the bytes of what is deleted removed, too */
export function logDeleteRoute(
  deps: DeleteRecordsDeps & { freshness: Freshness; audit: Pick<Audit, 'begin'> },
  requestErasure: RequestErasure,
): Route {
  const deletion = createRecordDeletion(deps)
  return route({
    name: 'logs.delete',
    method: 'POST',
    path: '/logs/delete',
    summary: 'Permanently deletes log records between two times',
    body: { type: 'json', schema: logsDeleteRequest, check: 'schema' },
    response: logsDeleteResponse,
    topics: ['logs', 'erasures'],
    tables: [...logTables],
    async handle(context) {
      const { project_id, ...filter } = context.input
      const projectId = context.project(project_id)
      const where = filterCondition(filter)
      const headers = await deps.freshness.wait(context, ['logs', 'calls'])
      // Records that are not in the tables yet would stay.
      throwIfStale(headers)
      const keys = await deletion.find(projectId, where, context.signal)
      if (keys.length === 0) return { json: { num_deleted: 0 }, headers }
      const event = { action: 'logs.deleted', scope: projectId, details: { log_ids: idsOf(keys.map(({ id }) => id)) } }
      const positions = await audited(deps.audit, [event], () => deletion.remove(projectId, keys))
      const { id } = await requestErasure(context, projectId, { calls: 0, selector: { logs: filter } })
      const written = formatPositions(positions.slice(-1))
      return {
        json: { num_deleted: keys.length },
        headers: { ...headers, [positionHeader]: written, [erasureHeader]: id },
      }
    },
  })
}
