// Writing feedback: types, refs, reactions, annotations, ids, batches, purge and replace, read back from the engine.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createNameBinding } from '../../services/content/name-binding.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import type { Freshness } from '../../services/core/log/freshness.ts'
import { createFeedbackWriteRoutes } from '../../services/ingest/feedback/routes.ts'
import { createObjectWriteRoutes } from '../../services/ingest/objects/routes.ts'
import { createQueueCheck } from '../../services/query/annotation-queues/read.ts'
import { createAnnotationSchema } from '../../services/query/feedback/annotation-schema.ts'
import { createFeedbackReadRoutes } from '../../services/query/feedback/routes.ts'
import { createMemoryLog, type MemoryLog } from '../fixtures/memory-log.ts'
import { noAudit } from '../fixtures/no-audit.ts'
import { noErasures } from '../fixtures/no-erasures.ts'
import { type Call, createCall } from '../fixtures/route-call.ts'
import { createTestStore } from '../fixtures/store.ts'

const clock = createClock()
const freshness: Freshness = { wait: async () => ({}) }
let call: Call
let log: MemoryLog
let remove: () => Promise<void>

beforeAll(async () => {
  const { store, ...opened } = await createTestStore()
  remove = opened.remove
  log = createMemoryLog(store)
  const config = { wirePrefix: 'wb', wireAliases: true, feedbackPrefix: 'platform', allowPrivateNetworks: false }
  const throwIfHeld = async () => undefined
  call = createCall([
    ...createObjectWriteRoutes({ log, clock, binding: createNameBinding(async () => []), config }),
    ...createFeedbackWriteRoutes({
      maskings: noMaskings,
      log,
      clock,
      throwIfHeld,
      throwUnlessOwn: throwIfHeld,
      audit: noAudit,
      requestRemoval: async () => ({}),
      config,
      annotationSchema: createAnnotationSchema({ store, freshness }),
      checkQueue: createQueueCheck({ store, freshness }),
    }),
    ...createFeedbackReadRoutes({ store, log, clock, freshness, config, throwIfHeld, audit: noAudit }, noErasures),
  ])
})
afterAll(() => remove())

const callRef = 'weave:///e/p/call/0195'
const item = (more: Record<string, unknown>) => ({
  project_id: 'e/p',
  weave_ref: callRef,
  feedback_type: 'custom',
  payload: {},
  ...more,
})

type Row = Record<string, unknown>

const create = (more: Record<string, unknown>) => call('/feedback/create', { json: item(more) })
const rows = async (project_id: string): Promise<Row[]> => {
  const { status, json } = await call('/feedback/query', { json: { project_id } })
  expect(status).toBe(200)
  return (json as { result: Row[] }).result
}

describe('an item', () => {
  it('comes back with every column, in the order of the record', async () => {
    const sent = item({
      project_id: 'e/full',
      creator: 'Ann',
      wb_user_id: 'somebody else',
      feedback_type: 'wandb.runnable.judge',
      payload: { output: { score: 1 } },
      runnable_ref: 'weave:///e/p/object/judge:abc',
      call_ref: callRef,
      trigger_ref: 'weave:///e/p/object/trigger:abc',
      scorer_tags: ['good', 'b"ad'],
      scorer_tag_reasons: { good: 'because' },
      scorer_rating_reasons: { 'a.b': 'so' },
      scorer_tag_confidences: { good: 0.25 },
      scorer_ratings: { quality: 5 },
      scorer_rating_confidences: { quality: 1e-3 },
      span_agent_name: 'agent',
      span_agent_version: '1',
      span_conversation_id: 'c',
      span_trace_id: 't',
      scorer_trace_id: 's',
      span_status_code: 'OK',
    })
    const { status, json, headers } = await call('/feedback/create', { json: sent })
    expect(status).toBe(200)
    expect(json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/),
      wb_user_id: 'tester',
      payload: { output: { score: 1 } },
    })
    expect(headers['X-Callhouse-Position']).toMatch(/^feedback=\d+$/)
    const [row] = await rows('e/full')
    const { id, created_at } = json as { id: string; created_at: string }
    expect(row).toEqual({ ...sent, id, created_at, wb_user_id: 'tester', annotation_ref: null, queue_id: null })
    expect(Object.keys(row as Row)).toEqual([
      'id',
      'project_id',
      'weave_ref',
      'wb_user_id',
      'creator',
      'created_at',
      'feedback_type',
      'payload',
      'annotation_ref',
      'runnable_ref',
      'call_ref',
      'trigger_ref',
      'queue_id',
      'scorer_tags',
      'scorer_tag_reasons',
      'scorer_rating_reasons',
      'scorer_tag_confidences',
      'scorer_ratings',
      'scorer_rating_confidences',
      'span_agent_name',
      'span_agent_version',
      'span_conversation_id',
      'span_trace_id',
      'scorer_trace_id',
      'span_status_code',
    ])
  })

  it('has defaults, and leaves out three empty columns that old clients do not know', async () => {
    await create({ project_id: 'e/bare', creator: null, scorer_tags: null, span_status_code: null })
    const [row] = await rows('e/bare')
    expect(row).toEqual({
      ...item({ project_id: 'e/bare' }),
      id: expect.any(String),
      created_at: expect.any(String),
      wb_user_id: 'tester',
      ...Object.fromEntries(
        ['creator', 'annotation_ref', 'runnable_ref', 'call_ref', 'trigger_ref', 'queue_id'].map((name) => [
          name,
          null,
        ]),
      ),
      scorer_tags: [],
      scorer_tag_reasons: {},
      scorer_rating_reasons: {},
      scorer_tag_confidences: {},
      scorer_ratings: {},
      scorer_rating_confidences: {},
      span_agent_name: '',
      span_agent_version: '',
      span_status_code: 'UNSET',
    })
  })

  it.each([
    '{"a":1.0,"b":1e5,"big":12345678901234567890123,"huge":1e400,"deep":[[{"x":null}]]}',
    '{\n "a" : [ 1.50,\r\n "two  spaces \\n" ]}',
    '{"\\ud800":"x\\ud83d","ok":"\\ud83d\\ude00 \\u0000"}',
    '{"a":1,"a":2,"":""}',
  ])('keeps the payload as it was sent: %s', async (payload) => {
    const project_id = 'e/fidelity'
    const sent = JSON.stringify(item({ project_id, id: 'one' })).replace('"payload":{}', `"payload":${payload}`)
    const answer = await call('/feedback/create', { jsonText: sent })
    expect(answer.status).toBe(200)
    const read = await call('/feedback/query', { json: { project_id, fields: ['payload'] } })
    const wellFormed = JSON.stringify(JSON.parse(payload)).replace(/\\ud800|\\ud83d(?!\\ude00)/g, '\ufffd')
    expect(JSON.stringify((read.json as { result: [Row] }).result[0].payload)).toBe(wellFormed)
    for (const number of payload.match(/\d+\.\d+|\d+e\d+|\d{5,}/g) ?? []) {
      expect(answer.bytes.toString()).toContain(number)
      expect(read.bytes.toString()).toContain(number)
    }
  })

  it('takes the id of the client; the last item of an id is kept', async () => {
    for (const n of [1, 2]) {
      const { json } = await create({ project_id: 'e/ids', id: 'mine', payload: { n } })
      expect((json as Row).id).toBe('mine')
    }
    expect(await rows('e/ids')).toMatchObject([{ id: 'mine', payload: { n: 2 } }])
  })

  it('may be as large as 1 MiB, in ASCII', async () => {
    const around = '{"x": ""}'.length
    expect((await create({ project_id: 'e/big', payload: { x: 'a'.repeat(1_048_576 - around) } })).status).toBe(200)
    expect((await create({ project_id: 'e/big', payload: { x: 'a'.repeat(1_048_577 - around) } })).status).toBe(400)
    expect((await create({ project_id: 'e/big', payload: { x: 'é'.repeat(200_000) } })).status).toBe(400)
  })
})

describe('types', () => {
  const op = 'weave:///e/p/op/judge:abc'
  const object = 'weave:///e/p/object/judge:abc'
  const spans = { runnable_ref: object, call_ref: callRef, trigger_ref: object }
  it.each<[string, Record<string, unknown>, number]>([
    ['wandb.note.1', { payload: { note: 'x', more: 1 } }, 200],
    ['platform.note.1', { payload: { note: '' } }, 400],
    ['other.note.1', { payload: { note: '' } }, 200],
    ['wandb.note.1', { payload: { note: '😀'.repeat(1024) } }, 200],
    ['wandb.note.1', { payload: { note: '😀'.repeat(1025) } }, 400],
    ['wandb.note.1', { payload: { note: 5 } }, 400],
    ['wandb.note.1', { payload: { note: 'x' }, call_ref: callRef }, 400],
    ['wandb.note.1', { payload: { note: 'x' }, annotation_ref: '' }, 200],
    ['wandb.note.1', { payload: { note: 'x' }, scorer_tags: ['x'] }, 400],
    ['wandb.note.1', { payload: { note: 'x' }, queue_id: 'q' }, 400],
    ['wandb.reaction.1', { payload: {} }, 400],
    ['wandb.reaction.1', { payload: { emoji: '👍👍' } }, 400],
    ['wandb.runnable.judge', { payload: { output: null }, runnable_ref: object }, 200],
    ['wandb.runnable.judge', { payload: { output: 1 }, runnable_ref: op, call_ref: callRef }, 200],
    ['wandb.runnable.judge', { payload: { output: 1 }, runnable_ref: op }, 400],
    ['wandb.runnable.judge', { payload: {}, runnable_ref: object }, 400],
    ['wandb.runnable.judge', { payload: { output: 1 } }, 400],
    ['wandb.runnable.other', { payload: { output: 1 }, runnable_ref: object }, 400],
    ['wandb.runnable', { payload: { output: 1 }, runnable_ref: object }, 400],
    ['wandb.runnables.judge', { payload: { output: 1 }, runnable_ref: object }, 400],
    ['wandb.runnable.judge', { payload: { output: 1 }, runnable_ref: object, call_ref: object }, 400],
    ['wandb.runnable.judge', { payload: { output: 1 }, runnable_ref: object, trigger_ref: 'x' }, 400],
    ['wandb.runnable.judge', { payload: { output: 1 }, runnable_ref: object, scorer_ratings: { a: 1 } }, 200],
    ['wandb.agent_monitor', spans, 200],
    ['wandb.agent_monitor', { ...spans, trigger_ref: null }, 400],
    ['wandb.agent_user_feedback', { scorer_tags: ['x'] }, 200],
    ['wandb.agent_user_feedback', {}, 400],
    ['wandb.agent_user_feedback', { scorer_tags: ['x'], call_ref: callRef }, 400],
    ['custom', { payload: { anything: [1] } }, 200],
    ['custom', { scorer_ratings: { a: 1 } }, 400],
    ['custom', { annotation_ref: object }, 400],
    ['wandb.annotation.x', { payload: {}, annotation_ref: 'weave:///e/p/object/x:abc' }, 400],
    ['wandb.annotation.x', { payload: { value: 1 } }, 400],
    ['wandb.annotation.x', { payload: { value: 1 }, annotation_ref: 'weave:///e/p/object/y:abc' }, 400],
    ['wandb.annotation.x', { payload: { value: 1 }, annotation_ref: callRef }, 400],
    ['wandb.annotation.x', { payload: { value: 1 }, annotation_ref: 'weave:///e/q/object/x:abc' }, 400],
    ['wandb.annotation.x', { payload: { value: 1 }, annotation_ref: 'weave:///e/p/object/x:abc' }, 404],
  ])('%s %j', async (feedback_type, more, status) => {
    const before = log.appends()
    expect((await create({ feedback_type, ...more })).status).toBe(status)
    expect(log.appends() - before).toBe(status === 200 ? 1 : 0)
  })

  it.each([
    { project_id: 'nothing' },
    { payload: [] },
    { payload: null },
    { weave_ref: null },
    { feedback_type: 5 },
    { scorer_tags: [1] },
    { scorer_ratings: { a: 'x' } },
  ])('refuses the shape of %j', async (more) => {
    expect([400, 422]).toContain((await create(more)).status)
  })
})

describe('a reaction', () => {
  it.each([
    ['👍', ':thumbs_up:', '👍', ':thumbs_up:'],
    ['👍🏽', ':thumbs_up_medium_skin_tone:', '👍', ':thumbs_up:'],
    ['👩🏾‍🚀', ':woman_astronaut_medium-dark_skin_tone:', '👩‍🚀', ':woman_astronaut:'],
    ['🇫🇷', ':France:', '🇫🇷', ':France:'],
    ['❤', ':red_heart:', '❤️', ':red_heart:'],
    ['👩🏽‍🦰', ':woman_medium_skin_tone_red_hair:', '👩‍🦰', ':woman_red_hair:'],
    ['👩🏻‍🤝‍👩🏿', ':women_holding_hands_light_skin_tone_dark_skin_tone:', '👭', ':women_holding_hands:'],
    ['🇭🇲', ':Heard_Island_&_McDonald_Islands:', '🇭🇲', ':Heard_Island_&_McDonald_Islands:'],
    ['#️⃣', ':keycap_#:', '#️⃣', ':keycap_#:'],
  ])('%s gets its names', async (emoji, alias, detoned, detoned_alias) => {
    const { json } = await create({
      feedback_type: 'wandb.reaction.1',
      payload: { alias: 'mine', emoji, kept: 1.5 },
    })
    expect((json as { payload: unknown }).payload).toEqual({ emoji, kept: 1.5, alias, detoned, detoned_alias })
  })
  it.each(['', 'a', 'a👍', '👍a', ':thumbs_up:', '🏽', '❤🏽', '1', '👍🏽🏽'])('%s is none', async (emoji) => {
    expect((await create({ feedback_type: 'wandb.reaction.1', payload: { emoji } })).status).toBe(400)
  })
})

describe('an annotation', () => {
  const publish = async (object_id: string, more: Record<string, unknown>): Promise<string> => {
    const { json } = await call('/obj/create', { json: { obj: { project_id: 'e/p', object_id, ...more } } })
    return (json as { digest: string }).digest
  }
  const annotate = async (name: string, digest: string, value: unknown) =>
    (
      await create({
        feedback_type: `wandb.annotation.${name}`,
        payload: { value },
        annotation_ref: `weave:///e/p/object/${name}:${digest}`,
      })
    ).status

  it('must fit the schema of its object', async () => {
    const field_schema = { type: 'integer', minimum: 1, maximum: 5 }
    const digest = await publish('stars', { val: { field_schema }, builtin_object_class: 'AnnotationSpec' })
    expect(await annotate('stars', digest, 5)).toBe(200)
    expect(await annotate('stars', digest, 6)).toBe(400)
    expect(await annotate('stars', digest, '5')).toBe(400)
    expect(await annotate('stars', digest, null)).toBe(400)
    expect(await annotate('stars', 'latest', 1)).toBe(400)
    expect(await annotate('stars', 'v0', 1)).toBe(404)
    const annotation_ref = `weave:///e/p/object/stars:${digest}`
    const batch = (values: unknown[]) => {
      const one = { feedback_type: 'wandb.annotation.stars', annotation_ref }
      return call('/feedback/batch/create', {
        json: { batch: values.map((value) => item({ ...one, payload: { value } })) },
      })
    }
    expect((await batch([1, 2, 5])).status).toBe(200)
    expect((await batch([1, 2, 6])).status).toBe(400)
  })
  it('names an object of the class for annotations', async () => {
    const digest = await publish('plain', { val: { field_schema: {} } })
    expect(await annotate('plain', digest, 5)).toBe(400)
    const { json } = await create({
      feedback_type: 'wandb.annotation.none',
      payload: { value: 1 },
      annotation_ref: 'weave:///e/p/object/none:abc',
    })
    expect(json).toMatchObject({ missing_object_digests: ['abc'] })
  })
  it('is refused, not failed, by a schema that cannot be applied', async () => {
    const field_schema = { $ref: '#/$defs/nothing' }
    const digest = await publish('broken', { val: { field_schema }, builtin_object_class: 'AnnotationSpec' })
    expect(await annotate('broken', digest, 5)).toBe(400)
  })
})

describe('a batch', () => {
  const batch = (items: unknown[], options = {}) => call('/feedback/batch/create', { json: { batch: items } }, options)

  it('is stored in order, over several projects', async () => {
    const { status, json } = await batch([
      item({ project_id: 'e/b1', id: 'x', payload: { n: 1 } }),
      item({ project_id: 'e/b2', payload: { n: 2 } }),
      item({ project_id: 'e/b1', id: 'x', payload: { n: 3 } }),
    ])
    expect(status).toBe(200)
    expect((json as { res: Row[] }).res.map((one) => one.payload)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    expect(await rows('e/b1')).toMatchObject([{ id: 'x', payload: { n: 3 } }])
    expect(await rows('e/b2')).toHaveLength(1)
  })
  it('may be empty', async () => {
    const before = log.appends()
    expect((await batch([])).json).toEqual({ res: [] })
    expect(log.appends()).toBe(before)
  })
  it('is refused as a whole', async () => {
    const before = log.appends()
    const good = item({})
    expect((await batch([good, item({ feedback_type: 'wandb.note.1' })])).status).toBe(400)
    expect((await batch([good, item({ payload: 1 })])).status).toBe(422)
    const may = (project: string) => project === 'e/p'
    expect((await batch([good, item({ project_id: 'e/q' })], { may })).status).toBe(403)
    expect(log.appends()).toBe(before)
  })
})
