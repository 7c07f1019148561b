// Writes that decide by reading, while the tables are behind: they ask to be sent again rather than miss what is there.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { createKeyedLock } from '../../services/core/concurrency/keyed-lock.ts'
import { createAnnotationQueueWriteRoutes } from '../../services/ingest/annotation-queues/routes.ts'
import { createFeedbackWriteRoutes } from '../../services/ingest/feedback/routes.ts'
import { createQueueCheck } from '../../services/query/annotation-queues/read.ts'
import { createAnnotationQueueRoutes } from '../../services/query/annotation-queues/routes.ts'
import { createCallDeleteRoutes } from '../../services/query/calls/delete.ts'
import { createAnnotationSchema } from '../../services/query/feedback/annotation-schema.ts'
import { createFeedbackReadRoutes } from '../../services/query/feedback/routes.ts'
import { createObjectDeleteRoutes } from '../../services/query/objects/delete.ts'
import { createObjectLabelRoutes } from '../../services/query/objects/label-routes.ts'
import { createRequestErasure } from '../../services/query/request-erasure.ts'
import { createMemoryLog, type MemoryLog } from '../fixtures/memory-log.ts'
import { noAudit } from '../fixtures/no-audit.ts'
import { noErasures } from '../fixtures/no-erasures.ts'
import { type Call, createCall } from '../fixtures/route-call.ts'
import { createTestStore } from '../fixtures/store.ts'

let call: Call
let log: MemoryLog
let remove: () => Promise<void>
let isStale = true

beforeAll(async () => {
  const { store, ...opened } = await createTestStore()
  remove = opened.remove
  log = createMemoryLog(store)
  const clock = createClock()
  const freshness = { wait: async (): Promise<Record<string, string>> => (isStale ? { 'X-Callhouse-Stale': '5' } : {}) }
  const deps = { store, log, clock, freshness, lock: createKeyedLock(), audit: noAudit, maskings: noMaskings }
  const throwIfHeld = async () => undefined
  call = createCall([
    ...createAnnotationQueueWriteRoutes(deps),
    ...createAnnotationQueueRoutes(deps),
    ...createCallDeleteRoutes(
      deps,
      createRequestErasure({ log, clock, config: { eraseHours: 72 }, masterKey: () => undefined }),
    ),
    ...createObjectDeleteRoutes(deps),
    ...createObjectLabelRoutes(deps),
    ...createFeedbackReadRoutes({ ...deps, throwIfHeld, config: { wirePrefix: 'wb' } }, noErasures),
    ...createFeedbackWriteRoutes({
      maskings: noMaskings,
      log,
      clock,
      throwIfHeld,
      throwUnlessOwn: throwIfHeld,
      audit: noAudit,
      requestRemoval: async () => ({}),
      config: { wirePrefix: 'wb', feedbackPrefix: 'wandb' },
      annotationSchema: createAnnotationSchema(deps),
      checkQueue: createQueueCheck(deps),
    }),
  ])
})
afterAll(() => remove())

const project_id = 'e/stale'
const queue_id = 'not-there-yet'
const digest = 'x'.repeat(43)
const byId = (...ids: string[]) => ({
  $expr: { $in: [{ $getField: 'id' }, ids.map((id) => ({ $literal: id }))] },
})
const item = { project_id, weave_ref: `weave:///${project_id}/call/c`, payload: { value: 1 } }

describe('what is not found', () => {
  it.each<[path: string, body: object, otherwise: number]>([
    ['/annotation_queues/{queue_id}/items', { project_id, call_ids: ['c'], display_fields: [] }, 404],
    ['/annotation_queues/{queue_id}/items/{item_id}/progress', { project_id, annotation_state: 'completed' }, 404],
    ['/feedback/create', { ...item, feedback_type: 'custom', queue_id }, 400],
    ['/feedback/purge', { project_id, query: byId('f') }, 200],
    ['/calls/delete', { project_id, call_ids: ['c'] }, 200],
    ['/obj/delete', { project_id, object_id: 'o', digests: ['latest'] }, 404],
    ['/objs/{object_id}/versions/{digest}/tags', { project_id, tags: ['t'] }, 404],
    [
      '/feedback/create',
      { ...item, feedback_type: 'wandb.annotation.a', annotation_ref: `weave:///${project_id}/object/a:${digest}` },
      404,
    ],
  ])('%s', async (path, json, otherwise) => {
    const send = () => call(path, { json }, { params: { queue_id, item_id: 'i', object_id: 'o', digest: 'v0' } })
    isStale = true
    const early = await send()
    expect([early.status, early.headers['Retry-After']]).toEqual([503, '1'])
    isStale = false
    expect((await send()).status).toBe(otherwise)
    expect(log.appends()).toBe(0)
  })

  it('a purge does not skip feedback that is not in the tables yet', async () => {
    const made = await call('/feedback/create', { json: { ...item, id: 'there', feedback_type: 'custom' } })
    expect(made.status).toBe(200)
    const purge = (...ids: string[]) => call('/feedback/purge', { json: { project_id, query: byId(...ids) } })
    isStale = true
    const before = log.appends()
    expect((await purge('there', 'not-yet')).status).toBe(503)
    expect(log.appends()).toBe(before)
    const { status, headers } = await purge('there')
    expect([status, headers['X-Callhouse-Position']]).toEqual([200, expect.stringMatching(/^feedback=/)])
    isStale = false
    expect((await purge('there', 'not-yet')).status).toBe(200)
  })

  it('calls that are not in the tables yet are not skipped when a queue is filled', async () => {
    const made = await call('/annotation_queues', { json: { project_id, name: 'q', scorer_refs: [] } })
    const { id } = made.json as { id: string }
    const add = (call_ids: string[]) =>
      call(
        '/annotation_queues/{queue_id}/items',
        { json: { project_id, call_ids, display_fields: [] } },
        { params: { queue_id: id } },
      )
    isStale = true
    expect((await add(['unknown'])).status).toBe(503)
    expect((await add([])).status).toBe(200)
    isStale = false
    expect((await add(['unknown'])).json).toEqual({ added_count: 0, duplicates: 0 })
  })
})
