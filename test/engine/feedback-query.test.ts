// Querying feedback: fields, payload paths, operations, sort, pages, counts, and purge and replace seen through queries.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import type { Freshness } from '../../services/core/log/freshness.ts'
import { createFeedbackWriteRoutes } from '../../services/ingest/feedback/routes.ts'
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

type Row = Record<string, unknown>

const put = async (items: Row[]): Promise<void> => {
  const batch = items.map((one) => ({
    project_id: 'e/p',
    weave_ref: 'r',
    feedback_type: 'custom',
    payload: {},
    ...one,
  }))
  expect((await call('/feedback/batch/create', { json: { batch } })).status).toBe(200)
}

const ref = (n: number) => `weave:///e/p/call/${n}`
const object = 'weave:///e/p/object/judge:abc'

beforeAll(async () => {
  const { store, ...opened } = await createTestStore()
  remove = opened.remove
  log = createMemoryLog(store)
  const config = { wirePrefix: 'platform', wireAliases: true, feedbackPrefix: 'wandb' }
  const throwIfHeld = async () => undefined
  call = createCall([
    ...createFeedbackWriteRoutes({
      maskings: noMaskings,
      log,
      clock,
      throwIfHeld,
      throwUnlessOwn: throwIfHeld,
      audit: noAudit,
      requestRemoval: async () => ({}),
      config,
      annotationSchema: async () => true,
      checkQueue: async () => {},
    }),
    ...createFeedbackReadRoutes({ store, log, clock, freshness, config, throwIfHeld, audit: noAudit }, noErasures),
  ])
  await put([
    { id: 'a', weave_ref: ref(1), payload: { n: 5, s: 'apple', list: [10, { x: 'y' }], 'a.b': 'dotted', t: true } },
    { id: 'b', weave_ref: ref(1), creator: 'Ann', payload: { n: 5.5, s: 'Banana', list: [], t: false, z: null } },
    { id: 'c', weave_ref: ref(2), creator: '', payload: { n: '5', o: { k: [1, 'two'] }, '0': 'zero' } },
    { id: 'd', weave_ref: ref(2), feedback_type: 'wandb.note.1', payload: { note: 'text', n: 1e3 } },
    {
      id: 'e',
      weave_ref: ref(3),
      feedback_type: 'wandb.runnable.judge',
      runnable_ref: object,
      payload: { output: 1, n: 20 },
      scorer_tags: ['Red', 'blue'],
      scorer_ratings: { quality: 4, 'a.b': 0.5 },
      scorer_tag_reasons: { Red: 'why' },
    },
  ])
  await put([{ id: 'a', project_id: 'e/other', payload: { n: 5 } }])
})
afterAll(() => remove())

const ask = (more: Row) => call('/feedback/query', { json: { project_id: 'e/p', ...more } })
const read = async (more: Row): Promise<{ result: Row[]; total_count: number }> => {
  const answer = await ask(more)
  expect(answer.json).toHaveProperty('result')
  return answer.json as { result: Row[]; total_count: number }
}
const ids = async (expression: unknown, more: Row = {}): Promise<string> =>
  (await read({ query: { $expr: expression }, fields: ['id'], ...more })).result.map(({ id }) => id).join('')

const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const eq = (name: string, value: unknown) => ({ $eq: [field(name), literal(value)] })

describe('fields', () => {
  it.each<[string, unknown]>([
    ['payload.n', ['5', '5.5', '5', '1000', '20']],
    ['payload.s', ['apple', 'Banana', '', '', '']],
    ['payload.t', ['true', 'false', '', '', '']],
    ['payload.z', ['', '', '', '', '']],
    ['payload.list', ['[10,{"x":"y"}]', '[]', '', '', '']],
    ['payload.list.0', ['10', '', '', '', '']],
    ['payload.list.1.x', ['y', '', '', '', '']],
    ['payload.a\\.b', ['dotted', '', '', '', '']],
    ['payload.o.k.1', ['', '', 'two', '', '']],
    ['payload.0', ['', '', 'zero', '', '']],
    ['creator', [null, 'Ann', '', null, null]],
    ['scorer_ratings.quality', [null, null, null, null, 4]],
    ['scorer_ratings.a.b', [null, null, null, null, 0.5]],
    ['scorer_tag_reasons.Red', [null, null, null, null, 'why']],
    ['scorer_tags', [[], [], [], [], ['Red', 'blue']]],
    ['span_trace_id', ['', '', '', '', '']],
    ['platform_user_id', Array(5).fill('tester')],
  ])('%s', async (name, values) => {
    const { result } = await read({ fields: [name, 'id', name] })
    expect(result.map((row) => row[name])).toEqual(values)
    expect(Object.keys(result[0] as Row)).toEqual([name, 'id'])
  })
  it('are as many as fit into a statement, beside any conditions and order', async () => {
    const names = (count: number, name = 'payload.k') => Array.from({ length: count }, (_, n) => `${name}${n}`)
    const by = (list: string[]) => list.map((name) => ({ field: name, direction: 'asc' }))
    for (const more of [{ fields: names(6_000) }, { sort_by: by(names(51)) }])
      expect(await ask(more)).toMatchObject({ status: 400, json: { reason: expect.stringMatching(/fields/) } })
    const conditions = names(1_000, 'payload.c').map((name) => eq(name, 1))
    expect((await ask({ query: { $expr: { $or: [...conditions, ...conditions] } } })).status).toBe(400)
    const query = { $expr: { $or: [...conditions.slice(0, 800), eq('payload.n', 20)] } }
    const { result } = await read({ query, fields: ['id', ...names(400)], sort_by: by(names(50)) })
    expect(result).toMatchObject([{ id: 'e', 'payload.k399': '' }])
    expect((await read({ fields: ['id'], sort_by: by(Array(30_000).fill('payload.s')) })).result).toHaveLength(5)
  })
  it('name the user in the configured spelling', async () => {
    expect((await read({ fields: ['wb_user_id'], limit: 1 })).result).toEqual([{ platform_user_id: 'tester' }])
    expect((await read({ limit: 1 })).result[0]).toHaveProperty('platform_user_id', 'tester')
  })
  it.each<[Row, number]>([
    [{ fields: ['nothing'] }, 400],
    [{ fields: ['*'] }, 400],
    [{ fields: ['user_id'] }, 400],
    [{ fields: ['clock'] }, 400],
    [{ fields: ['creator.x'] }, 400],
    [{ fields: ['readable_payload'] }, 400],
    [{ fields: ['payload.list.-1'] }, 422],
    [{ fields: ['count(*)', 'id'] }, 400],
    [{ limit: -1 }, 400],
    [{ offset: -1 }, 400],
    [{ sort_by: [{ field: 'nothing', direction: 'asc' }] }, 400],
    [{ sort_by: [{ field: 'scorer_ratings', direction: 'asc' }] }, 400],
    [{ sort_by: [{ field: 'id', direction: 'up' }] }, 422],
    [{ query: { $expr: { $and: [] } } }, 400],
    [{ query: { $expr: { $convert: { input: literal(1), to: 'int' } } } }, 422],
    [{ query: { $expr: { $not: [] } } }, 422],
    [{ query: { $expr: eq('nothing', 1) } }, 400],
    [{ query: { $expr: eq('creator', 1) } }, 400],
    [{ query: { $expr: { $eq: [literal(true), field('id')] } } }, 400],
    [{ query: { $expr: { $not: [{ $in: [field('id'), [literal('a'), literal(2)]] }] } } }, 400],
    [{ query: { $expr: eq('scorer_tag_reasons.Red', 1) } }, 400],
    [{ query: { $expr: { $contains: { input: field('payload.s'), substr: literal(1) } } } }, 400],
    [{ query: { $expr: { $contains: { input: field('scorer_ratings'), substr: literal('x') } } } }, 400],
    [{ query: { $expr: eq('created_at', 'yesterday') } }, 400],
    // Keys that mean nothing change nothing, wherever they stand.
    [{ query: { $expr: { x: 1, ...eq('creator', 1) } } }, 400],
    [
      {
        query: {
          $expr: {
            $eq: [
              { x: 1, ...field('creator') },
              { x: 1, ...literal(1) },
            ],
          },
        },
      },
      400,
    ],
    [{ query: { $expr: { x: 1, $in: [field('id'), [literal('a'), { x: 1, ...literal(2) }]] } } }, 400],
    [{ query: { $expr: { $contains: { input: field('creator'), substr: { x: 1, ...literal(1) } } } } }, 400],
    [{ query: { $expr: { $contains: { input: { x: 1, ...field('scorer_ratings') }, substr: literal('x') } } } }, 400],
  ])('and the like that are refused: %j', async (more, status) => {
    expect((await ask(more)).status).toBe(status)
  })
})

describe('a condition', () => {
  it.each<[unknown, string]>([
    [eq('weave_ref', ref(1)), 'ab'],
    [{ $in: [field('weave_ref'), [literal(ref(1)), literal(ref(3)), literal('none')]] }, 'abe'],
    [{ $or: [eq('weave_ref', ref(1)), eq('weave_ref', ref(2))] }, 'abcd'],
    [{ $and: [eq('weave_ref', ref(2)), eq('feedback_type', 'wandb.note.1')] }, 'd'],
    [{ $not: [eq('weave_ref', ref(1))] }, 'cde'],
    [eq('id', 'c'), 'c'],
    [eq('payload.n', 5), 'ac'],
    [eq('payload.n', '5'), 'ac'],
    [eq('payload.n', 5.5), 'b'],
    [{ $gt: [field('payload.n'), literal(5)] }, 'bde'],
    [{ $gte: [literal(5.5), field('payload.n')] }, 'abc'],
    [eq('payload.t', true), 'a'],
    [eq('payload.t', false), 'b'],
    [{ $in: [field('payload.n'), [literal(5), literal(20)]] }, 'ace'],
    [{ $in: [field('payload.n'), [literal(5.5), literal(5)]] }, 'abc'],
    [{ $in: [field('payload.s'), [literal('apple'), literal('x')]] }, 'a'],
    [{ $contains: { input: field('payload.s'), substr: literal('an') } }, 'b'],
    [{ $contains: { input: field('payload.s'), substr: literal('APP'), case_insensitive: true } }, 'a'],
    [{ $contains: { input: field('payload'), substr: literal('two') } }, 'c'],
    [{ $contains: { input: field('scorer_tags'), substr: literal('Red') } }, 'e'],
    [{ $contains: { input: field('scorer_tags'), substr: literal('red') } }, ''],
    [{ $contains: { input: field('scorer_tags'), substr: literal('BLUE'), case_insensitive: true } }, 'e'],
    [{ $gt: [{ $size: field('scorer_tags') }, literal(1)] }, 'e'],
    [{ $eq: [{ $size: field('scorer_ratings') }, literal(2)] }, 'e'],
    [{ $eq: [{ $size: field('payload.s') }, literal(5)] }, 'a'],
    [{ $gte: [field('scorer_ratings.quality'), literal(3.5)] }, 'e'],
    [eq('scorer_ratings.a.b', 0.5), 'e'],
    [{ $not: [eq('scorer_ratings.quality', 1)] }, 'e'],
    [eq('scorer_tag_reasons.Red', 'why'), 'e'],
    [eq('runnable_ref', object), 'e'],
    [eq('creator', ''), 'c'],
    [eq('creator', null), ''],
    [{ $not: [eq('creator', null)] }, ''],
    [{ $not: [eq('creator', 'Ann')] }, 'c'],
    [{ $or: [eq('creator', null), eq('id', 'a')] }, 'a'],
    [{ $eq: [literal('1'), literal('1')] }, 'abcde'],
    [{ $eq: [literal(null), literal(null)] }, ''],
    [{ $gt: [field('created_at'), literal('2020-01-01')] }, 'abcde'],
    [{ $lt: [field('created_at'), literal('2020-01-01T00:00:00Z')] }, ''],
    [{ $gt: [field('created_at'), literal(1.5e9)] }, 'abcde'],
    [eq('wb_user_id', 'tester'), 'abcde'],
    [eq('platform_user_id', 'tester'), 'abcde'],
    [{ $eq: [{ $convert: { input: field('payload.z'), to: 'exists' } }, literal(true)] }, ''],
    [{ $eq: [{ $convert: { input: field('payload.t'), to: 'exists' } }, literal(true)] }, 'ab'],
  ])('%j matches %s', async (expression, matches) => {
    expect(await ids(expression)).toBe(matches)
  })

  it('reads payloads that hold numbers beyond the engine', async () => {
    const project_id = 'e/wide'
    const payload = '{"big":123456789012345678901234567890,"text":"\\"1e999 12345678901234567890123","near":2}'
    const sent = `{"project_id":"${project_id}","weave_ref":"r","feedback_type":"x","payload":${payload}}`
    expect((await call('/feedback/create', { jsonText: sent })).status).toBe(200)
    const answer = await ask({
      project_id,
      fields: ['payload.big', 'payload.text'],
      query: { $expr: eq('payload.near', 2) },
    })
    expect((answer.json as { result: Row[] }).result).toEqual([
      { 'payload.big': '123456789012345678901234567890', 'payload.text': '"1e999 12345678901234567890123' },
    ])
  })
})

describe('order and pages', () => {
  it.each<[[string, string][], string]>([
    [[], 'abcde'],
    [[['created_at', 'desc']], 'edcba'],
    [[['id', 'desc']], 'edcba'],
    [[['payload.n', 'asc']], 'acbed'],
    [[['payload.n', 'desc']], 'debac'],
    [[['payload.s', 'asc']], 'bacde'],
    [[['payload.s', 'desc']], 'abcde'],
    [[['creator', 'asc']], 'cbade'],
    [[['creator', 'desc']], 'bcade'],
    [
      [
        ['weave_ref', 'desc'],
        ['id', 'desc'],
      ],
      'edcba',
    ],
    [[['scorer_ratings.quality', 'asc']], 'eabcd'],
  ])('%j', async (terms, expected) => {
    const sort_by = terms.map(([name, direction]) => ({ field: name, direction }))
    const { result } = await read({ sort_by, fields: ['id'] })
    expect(result.map(({ id }) => id).join('')).toBe(expected)
  })

  it('cut the rows, not the count', async () => {
    const some = async (more: Row) => {
      const { result, total_count } = await read({ fields: ['id'], ...more })
      return [result.map(({ id }) => id).join(''), total_count]
    }
    expect(await some({ limit: 2 })).toEqual(['ab', 5])
    expect(await some({ limit: 2, offset: 4 })).toEqual(['e', 5])
    expect(await some({ offset: 3 })).toEqual(['de', 5])
    expect(await some({ limit: 0 })).toEqual(['', 5])
    expect(await some({ limit: 1, query: { $expr: eq('weave_ref', ref(1)) } })).toEqual(['a', 2])
    expect(await some({ offset: 2 ** 60 })).toEqual(['', 5])
    expect(await some({ project_id: 'e/unknown' })).toEqual(['', 0])
  })

  it('do not reach another project', async () => {
    const { result, total_count } = await read({ project_id: 'e/other', query: { $expr: eq('payload.n', 5) } })
    expect(result).toMatchObject([{ id: 'a', project_id: 'e/other' }])
    expect(total_count).toBe(1)
  })

  it('may be long', async () => {
    const project_id = 'e/long'
    const text = 'x'.repeat(2_000)
    for (const part of [0, 1])
      await put(Array.from({ length: 500 }, (_, n) => ({ project_id, payload: { n: part * 500 + n, text } })))
    const { result, total_count } = await read({ project_id, fields: ['payload'] })
    expect(total_count).toBe(1000)
    expect(result).toEqual(Array.from({ length: 1000 }, (_, n) => ({ payload: { n, text } })))
  })

  it('counts rows as a field, whatever page is asked for', async () => {
    const query = { $expr: eq('weave_ref', ref(1)) }
    expect(await read({ fields: ['Count(*)'], query })).toEqual({ result: [{ 'Count(*)': 2 }], total_count: 2 })
    expect(await read({ fields: ['count(*)'], offset: 1 })).toEqual({ result: [], total_count: 5 })
    expect(await read({ fields: ['count(*)'], limit: 0 })).toEqual({ result: [], total_count: 5 })
  })
})

describe('a purge', () => {
  const purge = (project_id: string, expression: unknown) =>
    call('/feedback/purge', { json: { project_id, query: { $expr: expression } } })
  const left = async (project_id: string) => (await read({ project_id, fields: ['id'] })).result.map(({ id }) => id)

  it('removes the named ids of its project', async () => {
    const project_id = 'e/purge'
    await put(['1', '2', '3', '4', '5'].map((id) => ({ project_id, id })))
    await put([{ project_id: 'e/purge-other', id: '1' }])
    const first = await purge(project_id, eq('id', '1'))
    expect([first.status, first.json]).toEqual([200, {}])
    expect(first.headers['X-Callhouse-Position']).toMatch(/^feedback=/)
    expect(await left(project_id)).toEqual(['2', '3', '4', '5'])
    await purge(project_id, { $or: [eq('id', '2'), eq('id', 'unknown')] })
    await purge(project_id, { $in: [field('id'), [literal('4'), literal('5')]] })
    expect(await left(project_id)).toEqual(['3'])
    expect(await left('e/purge-other')).toEqual(['1'])
    await put([{ project_id, id: '1' }])
    expect(await left(project_id)).toEqual(['3', '1'])
  })
  it('of unknown ids appends nothing', async () => {
    const before = log.appends()
    expect((await purge('e/purge', eq('id', 'unknown'))).json).toEqual({})
    expect(log.appends()).toBe(before)
  })
  it.each([
    eq('weave_ref', 'x'),
    { $eq: [literal('x'), field('id')] },
    eq('id', 5),
    eq('id', null),
    { $or: [] },
    { $or: [eq('id', 'x'), eq('creator', 'x')] },
    { $and: [eq('id', 'x')] },
    { $not: [eq('id', 'x')] },
    { $in: [field('id'), [literal('x'), literal(1)]] },
    { $gt: [field('id'), literal('x')] },
    {},
  ])('takes ids only, not %j', async (expression) => {
    expect((await purge('e/p', expression)).status).toBe(400)
  })
})

describe('a replacement', () => {
  const replace = (more: Row) =>
    call('/feedback/replace', {
      json: { project_id: 'e/replace', weave_ref: 'r', feedback_type: 'x', payload: {}, ...more },
    })
  const all = async () => (await read({ project_id: 'e/replace', fields: ['id', 'payload'] })).result

  it('takes the place of an item under a new id', async () => {
    await put([{ project_id: 'e/replace', id: 'old' }])
    const { status, json } = await replace({ feedback_id: 'old', payload: { n: 1.0 } })
    expect(status).toBe(200)
    expect(json).toMatchObject({ platform_user_id: 'tester', payload: { n: 1 } })
    const { id } = json as { id: string }
    expect(id).not.toBe('old')
    expect(await all()).toEqual([{ id, payload: { n: 1 } }])
    await replace({ feedback_id: id, id, payload: { n: 2 } })
    expect(await all()).toEqual([{ id, payload: { n: 2 } }])
    await replace({ feedback_id: 'unknown', id: 'new' })
    expect(await all()).toHaveLength(2)
  })
  it('that is refused leaves the old item in place', async () => {
    const before = await all()
    const [first] = before
    expect((await replace({ feedback_id: first?.id, feedback_type: 'wandb.note.1' })).status).toBe(400)
    expect((await replace({})).status).toBe(422)
    expect(await all()).toEqual(before)
  })
  it('appends the new item and the purge of the old one in one record', async () => {
    const before = log.appends()
    await replace({ feedback_id: 'new', id: 'newer' })
    expect(log.appends() - before).toBe(1)
    expect(log.rows('feedback').slice(-2)).toMatchObject([
      { id: 'new', event: 'purged' },
      { id: 'newer', event: 'created' },
    ])
  })
})
