// Adding calls to a queue: POST /annotation_queues/{queue_id}/items. Served here, because calls and queue are read.

import { annotationQueueItemsAddRequest, annotationQueueItemsAddResponse } from '../../../schemas/annotation-queues.ts'
import { tooLarge } from '../../core/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { orderedUuidv7, type ProjectId } from '../../core/ids.ts'
import { throwIfStale, unlessStale } from '../../core/log/freshness.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { param, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { itemsAddedRecords, type QueuedCall } from '../../events/annotation-queues.ts'
import { projectQuery } from '../../events/project-query.ts'
import { newestVersion } from '../calls/page.ts'
import { allOf, everything, type Scope, scopeConditions } from '../calls/scope.ts'
import { asNumbers, readTuples, rowReader } from '../compact-rows.ts'
import { deletedAmong } from '../deleted-calls.ts'
import type { AnnotationQueueDeps } from './deps.ts'
import { inBatches } from './items.ts'
import { liveQueue, noQueue } from './read.ts'

const callColumns = rowReader<Omit<QueuedCall, 'itemId'>>({
  callId: sql`c.id`,
  startedUs: sql`toUnixTimestamp64Micro(c.started_at)`,
  endedUs: sql`toUnixTimestamp64Micro(c.ended_at)`,
  opName: sql`c.op_name`,
  traceId: sql`c.trace_id`,
})

/** The visible calls of some ids; of several calls with one span id the one that was written last. */
export const queueableQuery = (projectId: ProjectId, ids: string[]): Query =>
  projectQuery('annotation-queues.calls', projectId, (project) => {
    const values = param('Array(String)', ids)
    const index = { column: 'id', values: ids } as const
    const scope: Scope = { projectId, range: everything, index, keys: null }
    const where = allOf([...scopeConditions(project, scope), sql`c.id IN ${values}`])
    return sql`SELECT ${callColumns.select}
    ${project.from('calls', { alias: 'c', final: true, where })}
    ORDER BY ${newestVersion} LIMIT 1 BY c.id ${asNumbers}`
  })

/** The given calls that are in the queue; none that is deleted. */
export const queuedQuery = (projectId: ProjectId, queueId: string, callIds: readonly string[]): Query =>
  projectQuery('annotation-queues.queued', projectId, (project) => {
    const calls = param('Array(String)', callIds)
    const where = sql`queue_id = ${param('String', queueId)} AND call_id IN (${calls})
      AND call_id NOT IN ${deletedAmong(project, calls)}`
    return sql`SELECT DISTINCT call_id ${project.from('annotation_queue_items', { where })}`
  })

/** Bytes that the items of one request may take, as events. */
const maxBytes = 32 * 2 ** 20
/** Bytes of an item beside its display fields; call ids and op names are shorter than this together. */
const itemBytes = 512

export function createItemsAddRoute({ store, log, clock, freshness, lock }: AnnotationQueueDeps): Route {
  return route({
    name: 'annotation_queues.items_add',
    method: 'POST',
    path: '/annotation_queues/{queue_id}/items',
    summary: 'Adds calls to a queue; calls that are already in it are not changed',
    body: { type: 'json', schema: annotationQueueItemsAddRequest, check: 'schema' },
    response: annotationQueueItemsAddResponse,
    topics: ['annotation_queues'],
    tables: ['annotation_queues', 'annotation_queue_items', 'calls', 'call_keys', 'calls_deleted'],
    async handle(context) {
      const { input, params, caller, signal } = context
      const queueId = params.queue_id as string
      const projectId = context.project(input.project_id)
      const callIds = [...new Set(input.call_ids)]
      const displayBytes = Buffer.byteLength(JSON.stringify(input.display_fields))
      if (callIds.length * (itemBytes + displayBytes) > maxBytes && callIds.length > 1) throw tooLarge()
      // Whoever adds the same calls at the same moment must see them as duplicates.
      return lock.run(`queue\n${projectId}\n${queueId}`, async () => {
        const headers = await freshness.wait(context, ['calls', 'annotation_queues'])
        if (!(await liveQueue(store, projectId, queueId, { signal }))) throw unlessStale(headers, noQueue(404, queueId))
        const known = await inBatches(callIds, (ids) =>
          readTuples<[string]>(store, queuedQuery(projectId, queueId, ids), { signal }),
        )
        const queued = new Set(known.map(([id]) => id))
        if (queued.size === callIds.length)
          return { json: { added_count: 0, duplicates: input.call_ids.length }, headers }
        const asked = callIds.filter((id) => !queued.has(id))
        const rows = await inBatches(asked, (ids) =>
          callColumns.read(store, queueableQuery(projectId, ids), { signal }),
        )
        const found = new Map(rows.map((row) => [row.callId, row]))
        // Passed over quietly is only what certainly is not there.
        if (found.size < asked.length) throwIfStale(headers)
        const calls = asked.flatMap((callId): QueuedCall[] => {
          const row = found.get(callId)
          return row === undefined ? [] : [{ itemId: orderedUuidv7(), ...row }]
        })
        const json = { added_count: calls.length, duplicates: queued.size }
        if (calls.length === 0) return { json, headers }
        const event = { projectId, queueId, clock: clock.next(), userId: caller.userId }
        const position = await log.append('annotation_queues', itemsAddedRecords(event, input.display_fields, calls))
        return { json, headers: { ...headers, [positionHeader]: formatPositions([position]) } }
      })
    },
  })
}
