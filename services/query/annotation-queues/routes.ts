// The routes of annotation queues that read: lists, single queues, changes of them, items, progress and counts.

import {
  type AnnotationQueue,
  type AnnotationQueueItemsQuery,
  annotationQueueItemsQueryRequest,
  annotationQueueItemsQueryResponse,
  annotationQueueResponse,
  annotationQueuesQueryRequest,
  annotationQueuesStatsRequest,
  annotationQueuesStatsResponse,
  annotationQueueUpdateRequest,
} from '../../../schemas/annotation-queues.ts'
import { maskedTextsOf } from '../../content/masking/maskings.ts'
import { audited } from '../../core/audit/audited.ts'
import type { AuditEvent } from '../../core/audit/chain.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { invalid } from '../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { RecordInput } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import { type QueueEvent, queueDeletedRecord, queueUpdatedRecord } from '../../events/annotation-queues.ts'
import { linesType, listReply } from '../list-reply.ts'
import { type Bounds, inSlices, listBounds, listRows } from '../list-rows.ts'
import { createItemsAddRoute } from './add.ts'
import type { AnnotationQueueDeps, ReadDeps } from './deps.ts'
import { type ItemRow, itemsList, itemsOrder, type Queue, readCounts, shownItem } from './items.ts'
import { createProgressRoute } from './progress.ts'
import { readQueue, readQueues } from './read.ts'
import { type Sorted, sortedBy } from './sorted.ts'

const sortColumns = new Map<string, Sql>([
  ['id', sql`id`],
  ['name', sql`name`],
  ['created_at', sql`created_us`],
  ['updated_at', sql`updated_us`],
])
const newestFirst: Sorted[] = [{ field: 'created_at', direction: 'desc' }]

/** The project of a request without a body. @throws Fault 422 when it is missing */
function projectOf({ query, project }: RouteContext): ProjectId {
  const sent = query.get('project_id')
  if (sent === null) throw invalid({ loc: ['query', 'project_id'], msg: 'Field required', type: 'missing' })
  return project(sent)
}

const linesPerChunk = 200

async function* linesOf(slices: AsyncIterable<AnnotationQueue[]>): AsyncGenerator<string> {
  for await (const queues of slices)
    for (let at = 0; at < queues.length; at += linesPerChunk)
      yield queues
        .slice(at, at + linesPerChunk)
        .map((queue) => `${JSON.stringify(queue)}\n`)
        .join('')
}

async function* itemTexts(queue: Queue, pieces: AsyncIterable<ItemRow[]>): AsyncGenerator<string> {
  for await (const rows of pieces) yield rows.map((row) => JSON.stringify(shownItem(queue, row))).join(',')
}

function createListRoutes({ store, freshness }: ReadDeps): Route[] {
  async function queryItems(context: RouteContext<AnnotationQueueItemsQuery>): Promise<Reply> {
    const { input, params, signal } = context
    const queue = { projectId: context.project(input.project_id), queueId: params.queue_id as string }
    const page = {
      filter: input.filter ?? {},
      order: itemsOrder(input.sort_by),
      ...listBounds(input),
      includePosition: input.include_position,
    }
    // Items of deleted calls are not shown.
    const headers = await freshness.wait(context, ['annotation_queues', 'calls'])
    const rows = listRows({ store, options: { signal } }, itemsList(queue, page), page)
    return listReply('items', itemTexts(queue, rows), headers)
  }

  return [
    route({
      name: 'annotation_queues.query',
      method: 'POST',
      path: '/annotation_queues/query',
      summary: 'Live queues of a project, filtered by name and sorted, as JSON Lines',
      body: { type: 'json', schema: annotationQueuesQueryRequest, check: 'schema' },
      response: null,
      responseType: 'application/x-ndjson',
      tables: ['annotation_queues'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const selection = {
          where: sql`1`,
          having: input.name ? sql`position(lowerUTF8(name), lowerUTF8(${param('String', input.name)})) > 0` : sql`1`,
          order: sortedBy(input.sort_by, sortColumns, newestFirst),
        }
        const bounds = listBounds(input)
        const headers = await freshness.wait(context, ['annotation_queues'])
        const read = (slice: Bounds) => readQueues(store, projectId, { ...selection, ...slice }, { signal })
        const contentType = linesType(context.header('accept'), 'application/x-ndjson')
        return { lines: linesOf(inSlices(read, bounds)), contentType, headers }
      },
    }),
    route({
      name: 'annotation_queues.stats',
      countsAll: true,
      method: 'POST',
      path: '/annotation_queues/stats',
      summary: 'How many items queues have, and how many of them someone has completed or skipped',
      body: { type: 'json', schema: annotationQueuesStatsRequest, check: 'schema' },
      response: annotationQueuesStatsResponse,
      tables: ['annotation_queue_items', 'annotation_queue_progress', 'calls_deleted'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const headers = await freshness.wait(context, ['annotation_queues', 'calls'])
        const counts = await readCounts(store, projectId, [...new Set(input.queue_ids)], { signal })
        const stats = input.queue_ids.map((queue_id) => {
          const { total = 0, completed = 0 } = counts.get(queue_id) ?? {}
          return { queue_id, total_items: total, completed_items: completed }
        })
        return { json: { stats }, headers }
      },
    }),
    route({
      name: 'annotation_queues.read',
      method: 'GET',
      path: '/annotation_queues/{queue_id}',
      summary: 'One queue; the project is named by `project_id` in the query string',
      body: { type: 'none' },
      response: annotationQueueResponse,
      tables: ['annotation_queues'],
      async handle(context) {
        const projectId = projectOf(context)
        const headers = await freshness.wait(context, ['annotation_queues'])
        const { params, signal } = context
        const queue = await readQueue(store, projectId, params.queue_id as string, headers, { signal })
        return { json: { queue }, headers }
      },
    }),
    route({
      name: 'annotation_queues.items',
      method: 'POST',
      path: '/annotation_queues/{queue_id}/items/query',
      summary: 'Items of a queue, filtered, sorted and paged, each with the state that an annotator reached last',
      body: { type: 'json', schema: annotationQueueItemsQueryRequest, check: 'schema' },
      response: annotationQueueItemsQueryResponse,
      tables: ['annotation_queue_items', 'annotation_queue_progress', 'calls_deleted'],
      handle: queryItems,
    }),
  ]
}

function createChangeRoutes(deps: AnnotationQueueDeps): Route[] {
  const { store, log, clock, freshness, lock, audit, maskings } = deps
  /** Reads the live queue and appends what the change makes of it; one change of a queue at a time. */
  const change = (
    context: RouteContext,
    projectId: ProjectId,
    decide: (queue: AnnotationQueue, event: () => QueueEvent) => { queue: AnnotationQueue; record?: RecordInput },
    events: readonly AuditEvent[] = [],
  ): Promise<Reply> => {
    const { params, caller, signal } = context
    const queueId = params.queue_id as string
    return lock.run(`queue\n${projectId}\n${queueId}`, async () => {
      const headers = await freshness.wait(context, ['annotation_queues'])
      const found = await readQueue(store, projectId, queueId, headers, { signal })
      const event = () => ({ projectId, queueId, clock: clock.next(), userId: caller.userId })
      const { queue, record } = decide(found, event)
      if (record === undefined) return { json: { queue }, headers }
      const position = await audited(audit, events, () => log.append('annotation_queues', [record]))
      return { json: { queue }, headers: { ...headers, [positionHeader]: formatPositions([position]) } }
    })
  }
  const timeOf = ({ clock: at }: QueueEvent): string => formatTimestamp(Number(at / 1024n))

  return [
    route({
      name: 'annotation_queues.update',
      method: 'PUT',
      path: '/annotation_queues/{queue_id}',
      summary: 'Updates the given values of a queue',
      body: { type: 'json', schema: annotationQueueUpdateRequest, check: 'schema' },
      response: annotationQueueResponse,
      topics: ['annotation_queues'],
      tables: ['annotation_queues'],
      async handle(context) {
        const { scorer_refs } = context.input
        const projectId = context.project(context.input.project_id)
        const masker = maskings.of(projectId)
        const { name, description } = maskedTextsOf(masker, 'feedback', context.input, ['name', 'description'])
        return change(context, projectId, (queue, newEvent) => {
          if (name === undefined && description === undefined && scorer_refs === undefined) return { queue }
          const event = newEvent()
          const record = queueUpdatedRecord(event, {
            ...(name !== undefined && { name }),
            ...(description !== undefined && { description }),
            ...(scorer_refs !== undefined && { scorerRefs: scorer_refs }),
          })
          const changed = {
            ...queue,
            name: name ?? queue.name,
            description: description ?? queue.description,
            scorer_refs: scorer_refs ?? queue.scorer_refs,
            updated_at: timeOf(event),
          }
          return { queue: changed, record }
        })
      },
    }),
    route({
      name: 'annotation_queues.delete',
      method: 'DELETE',
      path: '/annotation_queues/{queue_id}',
      summary: 'Deletes a queue; its items and their progress stay readable by its id',
      body: { type: 'none' },
      response: annotationQueueResponse,
      topics: ['annotation_queues'],
      tables: ['annotation_queues'],
      async handle(context) {
        const scope = projectOf(context)
        const deletes = (queue: AnnotationQueue, newEvent: () => QueueEvent) => {
          const event = newEvent()
          const at = timeOf(event)
          return { queue: { ...queue, updated_at: at, deleted_at: at }, record: queueDeletedRecord(event) }
        }
        const target = context.params.queue_id as string
        return change(context, scope, deletes, [{ action: 'annotation_queue.deleted', scope, target }])
      },
    }),
  ]
}

export function createAnnotationQueueRoutes(deps: AnnotationQueueDeps): Route[] {
  return [...createListRoutes(deps), ...createChangeRoutes(deps), createItemsAddRoute(deps), createProgressRoute(deps)]
}
