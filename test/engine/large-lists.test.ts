// tier: deep slow
// Lists whose answer is larger than one result of the engine may be: they come whole, in their order.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createNameBinding } from '../../services/content/name-binding.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { createKeyedLock } from '../../services/core/concurrency/keyed-lock.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { itemsAddedRecords, type QueueEvent, queueCreatedRecord } from '../../services/events/annotation-queues.ts'
import { createFeedbackWriteRoutes } from '../../services/ingest/feedback/routes.ts'
import { createObjectWriteRoutes } from '../../services/ingest/objects/routes.ts'
import { createTableWriteRoutes } from '../../services/ingest/tables/routes.ts'
import { createAnnotationQueueRoutes } from '../../services/query/annotation-queues/routes.ts'
import { createFeedbackReadRoutes } from '../../services/query/feedback/routes.ts'
import { createRefReadRoutes } from '../../services/query/refs/routes.ts'
import { createTableReadRoutes } from '../../services/query/tables/routes.ts'
import { createMemoryLog, type MemoryLog } from '../fixtures/memory-log.ts'
import { noAudit } from '../fixtures/no-audit.ts'
import { noErasures } from '../fixtures/no-erasures.ts'
import { type Call, createCall } from '../fixtures/route-call.ts'
import { createTestStore } from '../fixtures/store.ts'

/** Above it a batch of stored values, with what the engine needs beside it, does not fit either. */
const maxResultBytes = 12 * 2 ** 20

const config = { wirePrefix: 'wb', wireAliases: true, feedbackPrefix: 'platform', allowPrivateNetworks: false }
const binding = createNameBinding(async () => [])
const clock = createClock()
let log: MemoryLog
let call: Call
let remove: () => Promise<void>

beforeAll(async () => {
  const opened = await createTestStore({ maxResultBytes, queryMemoryBytes: 96 * 2 ** 20 })
  remove = opened.remove
  const { store } = opened
  log = createMemoryLog(store)
  const freshness = { wait: async () => ({}) }
  call = createCall([
    ...createTableWriteRoutes({ log, clock }),
    ...createTableReadRoutes({ store, freshness }),
    ...createObjectWriteRoutes({ log, clock, binding, config }),
    ...createRefReadRoutes({ store, freshness }),
    ...createFeedbackWriteRoutes({
      maskings: noMaskings,
      log,
      clock,
      config,
      annotationSchema: async () => ({}),
      checkQueue: async () => undefined,
      throwIfHeld: async () => undefined,
      throwUnlessOwn: async () => undefined,
      audit: noAudit,
      requestRemoval: async () => ({}),
    }),
    ...createFeedbackReadRoutes(
      { store, log, clock, freshness, config, audit: noAudit, throwIfHeld: async () => undefined },
      noErasures,
    ),
    ...createAnnotationQueueRoutes({
      store,
      log,
      clock,
      freshness,
      lock: createKeyedLock(),
      audit: noAudit,
      maskings: noMaskings,
    }),
  ])
})
afterAll(() => remove())

const project_id = 'e/large'
const ask = async <T>(path: string, json: Record<string, unknown>): Promise<T> => {
  const answer = await call(path, { json: { project_id, ...json } })
  expect([path, answer.status]).toEqual([path, 200])
  return answer.json as T
}
/** Texts of a size that differ from one another. */
const texts = (count: number, sizeBytes: number): string[] =>
  Array.from({ length: count }, (_, i) => `${i} ${'x'.repeat(sizeBytes)}`)

describe('tables', () => {
  type Rows = { rows: { digest: string; original_index: number }[] }
  const create = async (sizeBytes: number): Promise<string[]> => {
    const rows = texts(100, sizeBytes).map((text) => ({ text }))
    const answer = await call('/table/create', { json: { table: { project_id, rows } } })
    return (answer.json as { row_digests: string[] }).row_digests
  }
  const joined = async (row_digests: string[]): Promise<string> =>
    (await ask<{ digest: string }>('/table/create_from_digests', { row_digests })).digest

  it('with large rows are read to their end', async () => {
    const rows = await create(50_000)
    const list = Array.from({ length: 1_400 }, (_, i) => rows[(i * 7) % 100] as string)
    const found = await ask<Rows>('/table/query', { digest: await joined(list) })
    expect(found.rows.map((row) => row.digest)).toEqual(list)
    expect(found.rows.at(-1)?.original_index).toBe(1_399)
  })
  it('with large rows that all differ are read to their end', async () => {
    const parts: string[] = []
    for (let i = 0; i < 6; i++) parts.push(...(await create(150_000 + i)))
    const found = await ask<Rows>('/table/query', { digest: await joined(parts), limit: 1_000 })
    expect(found.rows.map((row) => row.digest)).toEqual(parts)
  })
  it('with one large row at many positions are answered in several reads', async () => {
    const [row] = (await create(50_000)) as [string]
    const digest = await joined(Array.from({ length: 1_000 }, () => row))
    const { status, pieces } = await call('/table/query', { json: { project_id, digest, limit: 1_000 } })
    expect(status).toBe(200)
    expect(pieces).toBeGreaterThan(5)
  })
  it('whose rows become a thousand times larger are read to their end', async () => {
    const [small, large] = [await create(1), await create(200_000)]
    const list = Array.from({ length: 1_200 }, (_, i) => (i < 1_100 ? small : large)[i % 100] as string)
    const found = await ask<Rows>('/table/query', { digest: await joined(list) })
    expect(found.rows.map((row) => row.digest)).toEqual(list)
  })
})

describe('refs', () => {
  const object = async (val: unknown): Promise<string> => {
    const answer = await call('/obj/create', { json: { obj: { project_id, object_id: 'o', val } } })
    return `weave:///${project_id}/object/o:${(answer.json as { digest: string }).digest}`
  }
  const read = (refs: string[]) => call('/refs/read_batch', { json: { refs } })

  it('to one large object, many times, are answered in several reads', async () => {
    const text = 'x'.repeat(2 ** 20)
    const ref = await object({ text })
    const { status, pieces, json } = await read(Array.from({ length: 30 }, () => ref))
    expect(status).toBe(200)
    expect(pieces).toBeGreaterThan(3)
    expect((json as { vals: unknown[] }).vals).toEqual(Array.from({ length: 30 }, () => ({ text })))
  })
  it('to many large objects, paths within them and behind them come in their order', async () => {
    const contents = texts(30, 2 ** 19)
    const large: string[] = []
    for (const text of contents) large.push(await object({ text, n: [large.length] }))
    const table = await call('/table/create', { json: { table: { project_id, rows: [{ text: contents[0] }] } } })
    const { digest, row_digests } = table.json as { digest: string; row_digests: string[] }
    const outer = await object({ to: large, rows: `weave:///${project_id}/table/${digest}` })
    const behind = large.map((_, i) => `${outer}/attr/to/index/${i}/attr`)
    const answer = await read([
      ...large,
      ...behind.map((ref) => `${ref}/text`),
      ...behind.map((ref) => `${ref}/n/index/0`),
      `${outer}/attr/rows/id/${row_digests[0]}/key/text`,
      `${outer}/attr/to/index/0/attr/none`,
    ])
    expect(answer.status).toBe(200)
    expect((answer.json as { vals: unknown[] }).vals).toEqual([
      ...contents.map((text, i) => ({ text, n: [i] })),
      ...contents,
      ...contents.map((_, i) => i),
      contents[0],
      null,
    ])
    // Nothing is answered when something is missing, however late it shows.
    const missing = digest.slice(0, 43)
    const late = await read([...large, `${outer}/attr/rows/id/${missing}`])
    expect(late).toMatchObject({ status: 404, json: { missing_object_digests: [missing] } })
  })
})

describe('lists', () => {
  /** More than a list may have to come at once. */
  const many = 36
  const numbers = Array.from({ length: many }, (_, i) => i)
  const text = 'x'.repeat(1_000_000)

  it('of feedback come whole, in the order asked, with their number', async () => {
    const batch = numbers.map((n) => ({
      project_id,
      weave_ref: `weave:///${project_id}/call/${n % 7}`,
      feedback_type: 'custom',
      payload: { n: n % 5, text },
    }))
    for (const half of [batch.slice(0, 20), batch.slice(20)])
      expect((await call('/feedback/batch/create', { json: { batch: half } })).status).toBe(200)
    type Found = { result: { payload: { n: number; text: string }; weave_ref: string }[]; total_count: number }
    const sort_by = [{ field: 'payload.n', direction: 'desc' }]
    const found = await ask<Found>('/feedback/query', { sort_by, fields: ['payload', 'weave_ref'] })
    const expected = batch.toSorted((a, b) => b.payload.n - a.payload.n)
    expect(found.total_count).toBe(many)
    expect(found.result.map(({ payload, weave_ref }) => [payload.n, weave_ref])).toEqual(
      expected.map(({ payload, weave_ref }) => [payload.n, weave_ref]),
    )
    expect(found.result.every(({ payload }) => payload.text === text)).toBe(true)
    const part = await ask<Found>('/feedback/query', { sort_by, offset: 1, limit: 34 })
    expect(part.total_count).toBe(many)
    expect(part.result.map(({ payload }) => payload.n)).toEqual(expected.slice(1, 35).map(({ payload }) => payload.n))
  })

  const event = (queueId: string): QueueEvent => ({
    projectId: project_id as ProjectId,
    queueId,
    clock: clock.next(),
    userId: 'tester',
  })
  it('of items of a queue come whole, with their positions', async () => {
    const calls = numbers.map((n) => ({
      itemId: `i${String(n).padStart(2, '0')}`,
      callId: `c${many - n}`,
      opName: n % 2 === 0 ? 'even' : 'odd',
      startedUs: 1_700_000_000_000_000 + n,
      endedUs: 0,
      traceId: 't',
    }))
    const created = queueCreatedRecord(event('q'), { name: 'q', description: '', scorerRefs: [] })
    await log.append('annotation_queues', [created, ...itemsAddedRecords(event('q'), [text], calls)])
    const query = { project_id, include_position: true, sort_by: [{ field: 'call_started_at', direction: 'desc' }] }
    const items = async (more: object) => {
      const params = { queue_id: 'q' }
      const answer = await call(
        '/annotation_queues/{queue_id}/items/query',
        { json: { ...query, ...more } },
        { params },
      )
      expect(answer.status).toBe(200)
      const found = (answer.json as { items: { id: string; display_fields: string[]; position_in_queue: number }[] })
        .items
      expect(found.every(({ display_fields }) => display_fields[0] === text)).toBe(true)
      return found.map(({ id, position_in_queue }) => [id, position_in_queue])
    }
    const expected = calls.toReversed().map(({ itemId }, i) => [itemId, i + 1])
    expect(await items({})).toEqual(expected)
    expect(await items({ filter: { annotation_states: ['unstarted'] }, limit: 33, offset: 2 })).toEqual(
      expected.slice(2, 35),
    )
  })
  it('of queues come whole', async () => {
    const names = numbers.slice(0, 14).map((n) => `large ${String(n).padStart(2, '0')}`)
    const records = names.map((name) => queueCreatedRecord(event(name), { name, description: text, scorerRefs: [] }))
    await log.append('annotation_queues', records)
    const answer = await call('/annotation_queues/query', {
      json: { project_id, name: 'large', sort_by: [{ field: 'name', direction: 'asc' }] },
    })
    const lines = answer.bytes.toString().trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { name: string }).name)).toEqual(names)
  })
})
