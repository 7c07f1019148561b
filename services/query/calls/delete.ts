// Deleting calls with their descendants: POST /calls/delete. Served here, because the descendants are found by reading.
import { callsDeleteRequest, callsDeleteResponse } from '../../../schemas/calls-read.ts'
import type { Audit } from '../../core/audit/audit.ts'
import { auditedOnce, idsOf } from '../../core/audit/audited.ts'
import { tooLarge } from '../../core/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { throwIfStale } from '../../core/log/freshness.ts'
import type { Position } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { erasureHeader, type RequestErasure } from '../request-erasure.ts'
import { type DeleteCallsDeps, deleteCallTrees } from './delete-call-trees.ts'

const maxIds = 1_000

/** @param requestErasure has the bytes of what is deleted removed, too */
export function createCallDeleteRoutes(
  deps: DeleteCallsDeps & { audit: Pick<Audit, 'begin'> },
  requestErasure: RequestErasure,
): Route[] {
  return [
    route({
      name: 'calls.delete',
      method: 'POST',
      path: '/calls/delete',
      summary: 'Permanently deletes calls and their descendants',
      body: { type: 'json', schema: callsDeleteRequest, check: 'schema' },
      response: callsDeleteResponse,
      topics: ['calls', 'erasures'],
      tables: ['calls', 'call_keys', 'calls_deleted'],
      async handle(context) {
        const { input } = context
        const projectId = context.project(input.project_id)
        if (input.call_ids.length > maxIds) throw tooLarge()
        const ids = [...new Set(input.call_ids)]
        if (ids.length === 0) return { json: { num_deleted: 0 } }
        const headers = await deps.freshness.wait(context, ['calls'])
        // Calls that are not in the tables yet would stay: those of the request, and their descendants.
        throwIfStale(headers)
        const positions = new Map<number, Position>()
        const event = { action: 'calls.deleted', scope: projectId, details: { call_ids: idsOf(ids) } }
        const { deleted: num_deleted } = await auditedOnce(deps.audit, [event], (begin) =>
          deleteCallTrees(deps, context, projectId, ids, { positions, begin }),
        )
        if (positions.size === 0) return { json: { num_deleted }, headers }
        const { id } = await requestErasure(context, projectId, { calls: num_deleted, selector: { call_ids: ids } })
        const written = formatPositions([...positions.values()])
        return { json: { num_deleted }, headers: { ...headers, [positionHeader]: written, [erasureHeader]: id } }
      },
    }),
  ]
}
