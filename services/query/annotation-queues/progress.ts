// Moving an annotator's progress on an item: POST /annotation_queues/{queue_id}/items/{item_id}/progress.

import { annotationQueueProgressRequest, annotationQueueProgressResponse } from '../../../schemas/annotation-queues.ts'
import { fault } from '../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { throwIfStale } from '../../core/log/freshness.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { param, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { type ProgressState, progressedRecord } from '../../events/annotation-queues.ts'
import { projectQuery } from '../../events/project-query.ts'
import { readTuples } from '../compact-rows.ts'
import type { AnnotationQueueDeps } from './deps.ts'
import { readItem, shownItem } from './items.ts'

/** The progress of one annotator with an item, since the accept timestamp. */
type ProgressRow = [annotator: string, state: ProgressState, clock: string]
type Progress = { annotator: string; state: ProgressState; clock: bigint }

export const progressQuery = (projectId: ProjectId, queueId: string, callId: string): Query =>
  projectQuery('annotation-queues.progress', projectId, (project) => {
    const where = sql`queue_id = ${param('String', queueId)} AND call_id = ${param('String', callId)}`
    const from = project.from('annotation_queue_progress', { final: true, where })
    return sql`SELECT annotator, toString(state), toString(clock) ${from}`
  })

const states: readonly ProgressState[] = ['in_progress', 'completed', 'skipped']

/** @throws Fault 400 */
function stateOf(asked: string): ProgressState {
  const state = states.find((one) => one === asked)
  if (state === undefined) throw fault(400, `annotation_state must be one of ${states.join(', ')}`)
  return state
}

/**
 * Whether the move is a new fact; false when the annotator is there already.
 * @throws Fault 400 when what is completed or skipped would be moved on
 */
function moves(from: ProgressState | undefined, to: ProgressState): boolean {
  if (from === to) return false
  if (from === 'completed' || from === 'skipped') throw fault(400, `An item that is ${from} cannot become ${to}`)
  return true
}

/** The state that the item shows: the one that some annotator reached last. */
const latest = (all: readonly Progress[]): Progress | undefined =>
  all.reduce<Progress | undefined>((last, one) => (last && last.clock > one.clock ? last : one), undefined)

export function createProgressRoute({ store, log, clock, freshness, lock }: AnnotationQueueDeps): Route {
  async function move(context: RouteContext, projectId: ProjectId, state: ProgressState): Promise<Reply> {
    const { params, caller, signal } = context
    const queueId = params.queue_id as string
    const itemId = params.item_id as string
    const headers = await freshness.wait(context, ['annotation_queues', 'calls'])
    // Neither the item nor a move that ends all moves may be missed.
    throwIfStale(headers)
    const item = await readItem(store, { projectId, queueId }, itemId, { signal })
    if (item === undefined) throw fault(404, `Item ${itemId.slice(0, 100)} not found in this queue`)
    const { callId } = item
    const rows = await readTuples<ProgressRow>(store, progressQuery(projectId, queueId, callId), { signal })
    const all = rows.map(([annotator, reached, at]): Progress => ({ annotator, state: reached, clock: BigInt(at) }))
    const own = all.find(({ annotator }) => annotator === caller.userId)
    const others = all.filter((one) => one !== own)
    const answer = (progress: readonly Progress[], more: Record<string, string> = {}): Reply => {
      const shown = latest(progress)
      const row = { ...item, state: shown?.state ?? 'unstarted', annotator: shown?.annotator ?? '' } as const
      return { json: { item: shownItem({ projectId, queueId }, row) }, headers: { ...headers, ...more } }
    }
    if (!moves(own?.state, state)) return answer(all)
    const event = { projectId, queueId, clock: clock.next(), userId: caller.userId }
    const position = await log.append('annotation_queues', [progressedRecord(event, callId, state)])
    return answer([...others, { annotator: caller.userId, state, clock: event.clock }], {
      [positionHeader]: formatPositions([position]),
    })
  }

  return route({
    name: 'annotation_queues.progress',
    method: 'POST',
    path: '/annotation_queues/{queue_id}/items/{item_id}/progress',
    summary: "Sets the caller's own progress on an item; completed and skipped items stay so",
    body: { type: 'json', schema: annotationQueueProgressRequest, check: 'schema' },
    response: annotationQueueProgressResponse,
    topics: ['annotation_queues'],
    tables: ['annotation_queue_items', 'annotation_queue_progress', 'calls_deleted'],
    async handle(context) {
      const { input, params, caller } = context
      const projectId = context.project(input.project_id)
      const state = stateOf(input.annotation_state)
      const key = JSON.stringify(['progress', projectId, params.queue_id, params.item_id, caller.userId])
      return lock.run(key, () => move(context, projectId, state))
    },
  })
}
