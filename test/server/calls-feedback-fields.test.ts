// tier: deep slow
// again: kafka
// Feedback and annotation queues as fields of call queries: every form of the specification, in filters, order and counts.
import { beforeAll, describe, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

type Body = Record<string, unknown>

const project_id = 'e/joined'
const names = ['a', 'b', 'c', 'd', 'e']
const idOf = (name: string): string => `0195aaaa-0000-7000-8000-00000000000${name}`
const nameOf = new Map(names.map((name) => [idOf(name), name]))
const field = (name: string) => ({ $getField: name })
const lit = (value: unknown) => ({ $literal: value })
const convert = (input: unknown, to: string) => ({ $convert: { input, to } })
const eq = (name: string, value: unknown) => ({ $eq: [field(name), lit(value)] })
const not = (expr: unknown) => ({ $not: [expr] })
const desc = (name: string) => [{ field: name, direction: 'desc' }]

const score = 'feedback.[wandb.runnable.scorer].payload.output.score'
const any = 'feedback.[*].payload.output.score'
const emoji = 'feedback.[wandb.reaction.1].payload.alias'
const note = 'feedback.[wandb.note.1].payload.note'

let server: RunningServer

async function give(name: string, feedback_type: string, payload: Body, more: Body = {}): Promise<string> {
  const weave_ref = `weave:///${project_id}/call/${idOf(name)}`
  const item = { project_id, weave_ref, feedback_type, payload, ...more }
  return (await server.send<{ id: string }>('/feedback/create', item)).id
}

const scored = (name: string, payload: Body, words = 'wandb.runnable.scorer') =>
  give(name, words, payload, { runnable_ref: `weave:///${project_id}/object/${words.split('.').at(-1)}:${name}` })

async function listed(body: Body): Promise<string> {
  const lines = await server.list<{ id: string }>('/calls/stream_query', { project_id, ...body })
  return lines.map(({ id }) => nameOf.get(id)).join('')
}

/** Names of the calls that match, by the list and by the count, which must agree. */
async function matches($expr: unknown, filter: Body | null = null): Promise<string> {
  const found = await listed({ query: { $expr }, filter })
  const { count } = await server.send<{ count: number }>('/calls/query_stats', { project_id, query: { $expr }, filter })
  expect(count).toBe(found.length)
  return found
}

beforeAll(async () => {
  server = await sharedServer()
  const batch = names.map((name, n) => ({
    project_id,
    id: idOf(name),
    trace_id: idOf(name),
    op_name: 'op',
    attributes: {},
    summary: {},
    started_at: `2026-03-10T12:00:0${n}Z`,
    ended_at: '2026-03-10T12:01:00Z',
    inputs: { n, limit: 0.5 },
    output: name,
  }))
  await server.send(`/v2/${project_id}/calls/complete`, { batch })
  await scored('a', { output: { score: 0.9, tag: 'x', deep: [1, { k: 'v' }] } })
  await scored('a', { output: { score: 0.1 } })
  await scored('b', { output: { score: 0.2, tag: '' } })
  await scored('c', { output: { score: null, text: 'high' } })
  await scored('d', { output: { score: 7 } }, 'wandb.runnable.other')
  await give('a', 'wandb.reaction.1', { emoji: '👍' })
  await give('a', 'wandb.reaction.1', { emoji: '🎉' })
  await give('b', 'wandb.note.1', { note: 'First note' })
  await give('b', 'wandb.note.1', { note: 'second' })
  await give('e', 'odd', { huge: 1, list: [1, 2] })
  // Feedback of another call's ref, of another project, and purged feedback count nowhere.
  const elsewhere = { feedback_type: 'wandb.note.1', payload: { note: 'elsewhere' } }
  await server.send('/feedback/create', {
    project_id,
    weave_ref: `weave:///${project_id}/call/${idOf('e')}0`,
    ...elsewhere,
  })
  await server.send('/feedback/create', {
    project_id: 'e/else',
    weave_ref: `weave:///${project_id}/call/${idOf('e')}`,
    ...elsewhere,
  })
  const doomed = await give('e', 'wandb.note.1', { note: 'gone' })
  await server.send('/feedback/purge', { project_id, query: { $expr: eq('id', doomed) } })
})

describe('feedback of one type', () => {
  const cases: [name: string, expr: unknown, expected: string][] = [
    ['is the oldest row', eq(score, 0.9), 'a'],
    ['compares numbers', { $gt: [field(score), lit(0)] }, 'ab'],
    ['compares numbers, literal first', { $lte: [lit(0.2), field(score)] }, 'ab'],
    ['is a text against a text', eq(score, '0.2'), 'b'],
    ['is empty without feedback, and for null', eq(score, ''), 'cde'],
    ['is never null', eq(score, null), ''],
    ['stays out of a negation without a number', not({ $gt: [field(score), lit(0.5)] }), 'b'],
    ['exists', { $and: [convert(field(score), 'exists')] }, 'ab'],
    ['does not exist', not(convert(field(score), 'exists')), 'cde'],
    ['is among numbers', { $in: [field(score), [lit(0.9), lit(0.2)]] }, 'ab'],
    ['goes into lists', eq('feedback.[wandb.runnable.scorer].payload.output.deep.1.k', 'v'), 'a'],
    ['contains', { $contains: { input: field('feedback.[wandb.runnable.scorer].payload'), substr: lit('high') } }, 'c'],
    ['is the whole payload', eq('feedback.[odd].payload', '{"huge":1,"list":[1,2]}'), 'e'],
    ['is a ref', eq('feedback.[wandb.runnable.scorer].runnable_ref', `weave:///${project_id}/object/scorer:b`), 'b'],
    ['is no ref', { $and: [convert(field('feedback.[wandb.runnable.scorer].trigger_ref'), 'exists')] }, ''],
    ['in a boolean context', { $and: [field('feedback.[wandb.runnable.scorer].payload.output.tag')] }, 'a'],
    [
      'beside a column',
      { $and: [{ $gt: [field(score), lit(0)] }, { $gt: [field('started_at'), lit('2026-03-10T12:00:00.5Z')] }] },
      'b',
    ],
    ['or a column', { $or: [{ $gt: [field(score), lit(0.5)] }, eq('id', idOf('e'))] }, 'ae'],
    ['or an input', { $or: [{ $gt: [field(score), lit(0.5)] }, eq('inputs.n', 4)] }, 'ae'],
    ['against an input', { $gt: [convert(field(score), 'double'), convert(field('inputs.limit'), 'double')] }, 'a'],
    ['of two types', { $or: [eq('feedback.[wandb.runnable.other].payload.output.score', 7), eq(score, 0.9)] }, 'ad'],
    ['of a type without feedback', eq('feedback.[none].payload', ''), 'abcde'],
  ]
  it.each(cases)('%s', async (_, expr, expected) => {
    expect(await matches(expr)).toBe(expected)
  })

  it('meets filters and indexes', async () => {
    expect(await matches({ $gt: [field(score), lit(0)] }, { call_ids: [idOf('b'), idOf('c')] })).toBe('b')
    expect(await matches(eq(score, ''), { trace_ids: [idOf('a'), idOf('c')] })).toBe('c')
    expect(await matches(not(eq(score, 0.5)), { op_names: ['op'] })).toBe('ab')
  })
})

describe('feedback of any type', () => {
  const cases: [name: string, expr: unknown, expected: string][] = [
    ['is the first value that is not empty', eq(any, '0.9'), 'a'],
    ['takes no type from a literal', { $gt: [field(any), lit(0.5)] }, ''],
    ['is converted', { $gt: [convert(field(any), 'double'), lit(0.5)] }, 'ad'],
    ['is empty', eq(any, ''), 'ce'],
    ['exists', { $and: [convert(field(any), 'exists')] }, 'abd'],
    [
      'contains',
      { $contains: { input: field('feedback.[*].payload.note'), substr: lit('NOTE'), case_insensitive: true } },
      'b',
    ],
    ['is a ref', { $contains: { input: field('feedback.[*].runnable_ref'), substr: lit('/object/other:d') } }, 'd'],
  ]
  it.each(cases)('%s', async (_, expr, expected) => {
    expect(await matches(expr)).toBe(expected)
  })
})

describe('types with many values', () => {
  const cases: [name: string, expr: unknown, expected: string][] = [
    ['one equals', eq(emoji, ':party_popper:'), 'a'],
    ['one equals, literal first', { $eq: [lit('second'), field(note)] }, 'b'],
    ['none equals', not(eq(note, 'First note')), 'acde'],
    ['a number equals none', eq(note, 5), ''],
    ['the list is empty', eq(note, null), 'acde'],
    ['the list is not empty', not(eq(note, null)), 'b'],
    ['one contains', { $contains: { input: field(note), substr: lit('econ') } }, 'b'],
    ['one contains, folded', { $contains: { input: field(note), substr: lit('SECOND'), case_insensitive: true } }, 'b'],
    ['others read the first', { $in: [field(note), [lit('second')]] }, ''],
    ['others read the first, too', { $in: [field(note), [lit('First note')]] }, 'b'],
    ['in order', { $lt: [field(note), lit('G')] }, 'abcde'],
    ['exists', { $and: [convert(field(emoji), 'exists')] }, 'a'],
    ['beside an input', { $or: [eq(note, 'second'), eq('inputs.n', 0)] }, 'ab'],
  ]
  it.each(cases)('%s', async (_, expr, expected) => {
    expect(await matches(expr)).toBe(expected)
  })
})

describe('order', () => {
  it('puts numbers first and calls without feedback last', async () => {
    expect(await listed({ sort_by: desc(score) })).toBe('abedc')
    expect(await listed({ sort_by: [{ field: score, direction: 'asc' }] })).toBe('baedc')
    expect(await listed({ sort_by: desc(score), limit: 2, offset: 1 })).toBe('be')
    expect(await listed({ sort_by: desc(any) })).toBe('dabec')
    expect(
      await listed({
        sort_by: [
          { field: note, direction: 'asc' },
          { field: 'id', direction: 'asc' },
        ],
      }),
    ).toBe('bacde')
    expect(await listed({ sort_by: desc(score), query: { $expr: eq('inputs.limit', 0.5) } })).toBe('abedc')
    expect(await listed({ sort_by: desc('inputs.n'), query: { $expr: { $gt: [field(score), lit(0)] } } })).toBe('ba')
  })

  it('knows what was given just now', async () => {
    const given = await give('e', 'fresh', { n: 1 })
    expect(await matches(eq('feedback.[fresh].payload.n', 1))).toBe('e')
    await server.send('/feedback/purge', { project_id, query: { $expr: eq('id', given) } })
    expect(await matches(eq('feedback.[fresh].payload.n', 1))).toBe('')
  })
})

describe('annotation queues', () => {
  const queue = 'annotation_queue_items.queue_id'
  let [one, two] = ['', '']
  const create = async (name: string, call_ids: string[]): Promise<string> => {
    const { id } = await server.send<{ id: string }>('/annotation_queues', { project_id, name, scorer_refs: [] })
    await server.send(`/annotation_queues/${id}/items`, { project_id, call_ids, display_fields: [] })
    return id
  }
  beforeAll(async () => {
    one = await create('one', [idOf('a'), idOf('c')])
    two = await create('two', [idOf('c'), idOf('d')])
  })

  it('are joined by their items', async () => {
    expect(await matches(eq(queue, one))).toBe('ac')
    expect(await matches({ $and: [eq(queue, two), eq(queue, one)] })).toBe('c')
    expect(await matches({ $or: [eq(queue, two), eq(queue, one)] })).toBe('acd')
    expect(await matches({ $and: [eq(queue, one), { $gt: [field(score), lit(0)] }, eq('inputs.n', 0)] })).toBe('a')
    expect(await matches({ $or: [eq(queue, two), { $gt: [field(score), lit(0.5)] }] })).toBe('acd')
    expect(await matches(not(eq(queue, one)))).toBe('bde')
    expect(await matches(eq(queue, 'none'))).toBe('')
    expect(await matches(eq(queue, null))).toBe('be')
    expect(await listed({ query: { $expr: eq(queue, two) }, sort_by: desc('inputs.n') })).toBe('dc')
  })

  it('count while they live', async () => {
    const response = await fetch(
      `${server.now().url}/annotation_queues/${two}?project_id=${encodeURIComponent(project_id)}`,
      {
        method: 'DELETE',
        headers: { authorization: 'Bearer test-key' },
      },
    )
    expect(response.status).toBe(200)
    expect(await matches(eq(queue, two))).toBe('')
    expect(await matches({ $or: [eq(queue, two), eq(queue, one)] })).toBe('ac')
  })
})

describe('faults', () => {
  it.each([
    'feedback.x.payload',
    'feedback.[x].creator',
    'feedback.[x].runnable_ref.a',
    'feedback.[x].payload.a.-1',
    'feedback.[x]',
    'annotation_queue_items.id',
    'annotation_queue_items',
  ])('%s may not be read', async (name) => {
    for (const body of [{ query: { $expr: eq(name, 1) } }, { sort_by: desc(name) }]) {
      const { status, text } = await post(server.now().url, '/calls/stream_query', { project_id: 'e/empty', ...body })
      expect([status, JSON.parse(text)]).toEqual([422, { reason: expect.any(String) }])
    }
  })

  it('queues may not be sorted by', async () => {
    const body = { project_id, sort_by: desc('annotation_queue_items.queue_id') }
    const { status, text } = await post(server.now().url, '/calls/stream_query', body)
    expect([status, JSON.parse(text)]).toEqual([422, { reason: expect.stringContaining('sorting') }])
  })
})
