// Queues as they are: the newest value of each of their parts.

import type { AnnotationQueue } from '../../../schemas/annotation-queues.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { type Freshness, unlessStale } from '../../core/log/freshness.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { asNumbers, readTuples, rowReader } from '../compact-rows.ts'

/** Times in microseconds. */
type QueueRow = {
  id: string
  name: string
  description: string
  scorerRefs: string[]
  createdUs: number
  updatedUs: number
  createdBy: string
}

const queueReader = rowReader<QueueRow>({
  id: sql`queue_id AS id`,
  name: sql`argMaxIf(text, clock, part = 'name') AS name`,
  description: sql`argMaxIf(text, clock, part = 'description') AS description`,
  scorerRefs: sql`argMaxIf(refs, clock, part = 'scorer_refs') AS scorer_refs`,
  createdUs: sql`intDiv(maxIf(clock, part = 'created'), 1024) AS created_us`,
  updatedUs: sql`intDiv(max(clock), 1024) AS updated_us`,
  createdBy: sql`argMaxIf(user_id, clock, part = 'created') AS created_by`,
})

export type QueueSelection = {
  /** Condition on the queue's id. */
  where: Sql
  /** Condition on the whole queue, beside that it is live. */
  having: Sql
  order: Sql
  limit: number | null
  offset: number
}

/** Live queues. A queue of which only later parts have come yet is none. */
export const queuesQuery = (projectId: ProjectId, { where, having, order, limit, offset }: QueueSelection): Query =>
  projectQuery(
    'annotation-queues.list',
    projectId,
    (project) => sql`SELECT ${queueReader.select}
    ${project.from('annotation_queues', { where })}
    GROUP BY queue_id HAVING created_us > 0 AND countIf(part = 'deleted') = 0 AND (${having})
    ORDER BY ${order} LIMIT ${param('UInt64', limit ?? Number.MAX_SAFE_INTEGER)} OFFSET ${param('UInt64', offset)}
    ${asNumbers}`,
  )

const shown = (projectId: ProjectId, row: QueueRow): AnnotationQueue => ({
  id: row.id,
  project_id: projectId,
  name: row.name,
  description: row.description,
  scorer_refs: row.scorerRefs,
  created_at: formatTimestamp(row.createdUs),
  created_by: row.createdBy,
  updated_at: formatTimestamp(row.updatedUs),
  deleted_at: null,
})

export async function readQueues(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  selection: QueueSelection,
  options: QueryOptions,
): Promise<AnnotationQueue[]> {
  const queues = await queueReader.read(store, queuesQuery(projectId, selection), options)
  return queues.map((row) => shown(projectId, row))
}

export const noQueue = (status: 400 | 404, queueId: string) => fault(status, `Queue ${queueId.slice(0, 100)} not found`)

/**
 * @param headers what the wait before it said
 * @throws Fault 404 when the project has no such live queue, 503 when it may not be readable yet
 */
export async function readQueue(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  queueId: string,
  headers: Record<string, string>,
  options: QueryOptions,
): Promise<AnnotationQueue> {
  const where = sql`queue_id = ${param('String', queueId)}`
  const selection = { where, having: sql`1`, order: sql`id`, limit: 1, offset: 0 }
  const [queue] = await readQueues(store, projectId, selection, options)
  if (queue === undefined) throw unlessStale(headers, noQueue(404, queueId))
  return queue
}

export const liveQuery = (projectId: ProjectId, queueId: string): Query =>
  projectQuery('annotation-queues.live', projectId, (project) => {
    const where = sql`queue_id = ${param('String', queueId)} AND part IN ('created', 'deleted')`
    return sql`SELECT countIf(part = 'created') > 0 AND countIf(part = 'deleted') = 0
      ${project.from('annotation_queues', { where })}`
  })

/** Whether the project has such a live queue. */
export const liveQueue = async (
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  queueId: string,
  options: QueryOptions,
): Promise<boolean> => {
  const [row] = await readTuples<[0 | 1]>(store, liveQuery(projectId, queueId), options)
  return row?.[0] === 1
}

/**
 * Checks a queue that another write names.
 * The check throws Fault 400 when the project has no such live queue, 503 when it may not be readable yet.
 */
export const createQueueCheck =
  ({ store, freshness }: { store: Pick<Store, 'bytes'>; freshness: Freshness }) =>
  async (
    context: Pick<RouteContext, 'header' | 'query' | 'signal'>,
    projectId: ProjectId,
    queueId: string,
  ): Promise<void> => {
    const headers = await freshness.wait(context, ['annotation_queues'])
    const isLive = await liveQueue(store, projectId, queueId, { signal: context.signal })
    if (!isLive) throw unlessStale(headers, noQueue(400, queueId))
  }
