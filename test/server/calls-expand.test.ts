// tier: deep slow
// Refs of calls that are expanded: in the answer, and for conditions, order and counts (specification: calls, 10).
import { beforeAll, describe, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

type Body = Record<string, unknown>
type Line = { id: string; inputs: Body; output: unknown; attributes: Body; summary: Body }

const project_id = 'e/expand'
const other = 'e/other'
const field = (name: string) => ({ $getField: name })
const lit = (value: unknown) => ({ $literal: value })
const eq = (name: string, value: unknown) => ({ $eq: [field(name), lit(value)] })
const gt = (name: string, value: unknown) => ({ $gt: [field(name), lit(value)] })
const not = (expr: unknown) => ({ $not: [expr] })
const exists = (name: string) => ({ $and: [{ $convert: { input: field(name), to: 'exists' } }] })
const by = (name: string, direction = 'asc') => [{ field: name, direction }]

let server: RunningServer

async function publish(object_id: string, val: unknown, project = project_id): Promise<string> {
  const { digest } = await server.send<{ digest: string }>('/obj/create', {
    obj: { project_id: project, object_id, val },
  })
  return `weave:///${project}/object/${object_id}:${digest}`
}

const idOf = (name: string): string => `0195bbbb-0000-7000-8000-00000000000${name}`
const nameOf = (id: string): string => id.slice(-1)
const [a, b, c, d, e, f] = ['a', 'b', 'c', 'd', 'e', 'f'].map(idOf) as [string, string, string, string, string, string]

const refs = { inner: '', model: '', small: '', gone: '', foreign: '', row: '', table: '', text: '', own: '' }

async function call(id: string, fields: Body, at: number): Promise<void> {
  const call = {
    project_id,
    id,
    trace_id: id,
    op_name: 'op',
    attributes: {},
    inputs: {},
    output: null,
    summary: {},
    started_at: `2026-03-10T12:00:0${at}Z`,
    ended_at: '2026-03-10T12:01:00Z',
    ...fields,
  }
  const body = JSON.stringify({ batch: [call] }).replace('"HUGE"', '1e400')
  const headers = { authorization: 'Bearer test-key', 'content-type': 'application/json' }
  const answer = await fetch(`${server.now().url}/v2/${project_id}/calls/complete`, { method: 'POST', headers, body })
  expect(answer.status).toBe(200)
}

beforeAll(async () => {
  server = await sharedServer()
  refs.inner = await publish('inner', { temp: 0.7, name: 'in' })
  refs.model = await publish('model', { size: 3, child: refs.inner, parts: [{ k: 'x' }], none: null, '1e0': 1 })
  refs.small = await publish('small', { size: 1, child: { temp: 0.9 } })
  refs.own = await publish('own', { size: 2, _ref: 'mine' })
  refs.text = await publish('text', { list: ['zero', 'one'], big: JSON.parse('12345678901234567') })
  refs.gone = await publish('gone', { size: 9 })
  await server.send('/obj/delete', { project_id, object_id: 'gone' })
  refs.foreign = await publish('foreign', { size: 100 }, other)
  const rows = [
    { question: 'q0', score: 10 },
    { question: 'q1', score: 2.5 },
  ]
  const table = await server.send<{ digest: string; row_digests: string[] }>('/table/create', {
    table: { project_id, rows },
  })
  refs.table = `weave:///${project_id}/table/${table.digest}`
  const dataset = await publish('ds', { rows: refs.table, name: 'ds' })
  refs.row = `${dataset}/attr/rows/id/${table.row_digests[1]}`
  const span = { inputs: { model: refs.model, example: refs.row }, output: refs.inner }
  await call(
    a,
    { ...span, attributes: { m: { deep: refs.small } }, summary: { s: refs.small, weave: { x: refs.small } } },
    0,
  )
  await call(b, { inputs: { model: refs.small, example: `${dataset}/attr/rows/id/${table.row_digests[0]}` } }, 1)
  await call(c, { inputs: { model: { size: 5, child: refs.inner } }, output: { v: refs.model } }, 2)
  await call(d, { inputs: { model: refs.foreign, example: refs.table } }, 3)
  await call(e, { inputs: { model: refs.gone, example: `${refs.text}/key/list/index/1` } }, 4)
  await call(f, { inputs: { model: refs.own, example: 'no ref' } }, 5)
})

const ask = (body: Body) => post(server.now().url, '/calls/stream_query', { project_id, ...body })

async function list(body: Body): Promise<Line[]> {
  return server.list<Line>('/calls/stream_query', { project_id, sort_by: by('started_at'), ...body })
}

async function listed(body: Body): Promise<string> {
  const lines = await list({ return_expanded_column_values: false, columns: ['id'], ...body })
  return lines.map(({ id }) => nameOf(id)).join('')
}

/** Names of the calls that match, by the list and by the count, which must agree. */
async function matches($expr: unknown, expand_columns: string[]): Promise<string> {
  const found = await listed({ query: { $expr }, expand_columns })
  const body = { project_id, query: { $expr }, expand_columns }
  const { count } = await server.send<{ count: number }>('/calls/query_stats', body)
  expect(count).toBe(found.length)
  return found
}

describe('the answer', () => {
  const only = async (id: string, expand_columns: string[], more: Body = {}): Promise<Line> => {
    const [line] = await list({ filter: { call_ids: [id] }, expand_columns, ...more })
    return line as Line
  }

  it('holds values in the places of refs', async () => {
    const line = await only(a, ['inputs.model', 'output', 'inputs.example'])
    expect(line.inputs).toEqual({
      model: { size: 3, child: refs.inner, parts: [{ k: 'x' }], none: null, '1e0': 1, _ref: refs.model },
      example: { question: 'q1', score: 2.5, _ref: refs.row },
    })
    expect(line.output).toEqual({ temp: 0.7, name: 'in', _ref: refs.inner })
  })

  it('goes through expanded values, in any order of the list', async () => {
    const line = await only(a, ['inputs.model.child', 'inputs.model'])
    expect(line.inputs).toMatchObject({ model: { child: { temp: 0.7, _ref: refs.inner } }, example: refs.row })
  })

  it('leaves a path alone whose ref above is not listed, and goes through inline objects', async () => {
    expect((await only(a, ['inputs.model.child'])).inputs).toEqual({ model: refs.model, example: refs.row })
    const inline = await only(c, ['inputs.model', 'inputs.model.child', 'output.v.child', 'output.v'])
    expect(inline.inputs).toEqual({ model: { size: 5, child: { temp: 0.7, name: 'in', _ref: refs.inner } } })
    expect(inline.output).toMatchObject({ v: { size: 3, child: { temp: 0.7 } } })
  })

  it('expands attributes and the stored summary', async () => {
    const line = await only(a, ['attributes.m.deep', 'summary.s', 'summary.weave.x'])
    expect(line.attributes).toMatchObject({ m: { deep: { size: 1, _ref: refs.small } } })
    expect(line.summary).toMatchObject({ s: { size: 1 }, weave: { x: { size: 1 }, status: 'success' } })
  })

  it('leaves what cannot be resolved', async () => {
    const paths = ['inputs.model', 'inputs.example', 'inputs.none', 'inputs.example.a', 'op_name', 'id', '']
    expect((await only(d, paths)).inputs).toEqual({ model: refs.foreign, example: refs.table })
    expect((await only(e, paths)).inputs).toEqual({ model: refs.gone, example: 'one' })
    expect((await only(f, paths)).inputs).toEqual({ model: { size: 2, _ref: 'mine' }, example: 'no ref' })
  })

  it('keeps spellings of numbers', async () => {
    const id = idOf('1')
    await call(id, { inputs: { m: `${refs.text}/key/big`, t: refs.text } }, 9)
    const body = { filter: { call_ids: [id] }, expand_columns: ['inputs.m', 'inputs.t'], columns: ['inputs'] }
    const { text } = await ask(body)
    expect(text).toMatch(/"m":\d{17}/)
    await server.send('/calls/delete', { project_id, call_ids: [id] })
  })

  it('holds refs when values are not asked for, or the column is not', async () => {
    const no = await only(a, ['inputs.model'], { return_expanded_column_values: false })
    expect(no.inputs).toMatchObject({ model: refs.model })
    const without = await only(a, ['inputs.model'], { columns: ['output'] })
    expect([without.inputs, without.output]).toEqual([{}, refs.inner])
    const both = await only(a, ['inputs.model'], {
      return_expanded_column_values: null,
      columns: ['inputs.model.size'],
    })
    expect(both.inputs).toMatchObject({ model: { size: 3 } })
  })

  it('names the versions that do not exist', async () => {
    const id = idOf('2')
    const digest = 'x'.repeat(43)
    await call(id, { inputs: { model: `weave:///${project_id}/object/model:${digest}` } }, 8)
    const body = { filter: { call_ids: [id] }, expand_columns: ['inputs.model'] }
    const { status, text } = await ask(body)
    expect([status, JSON.parse(text)]).toEqual([404, { reason: expect.any(String), missing_object_digests: [digest] }])
    expect(await matches(eq('inputs.model.size', 3), ['inputs.model'])).toBe('a')
    await server.send('/calls/delete', { project_id, call_ids: [id] })
  })
})

describe('conditions', () => {
  const model = ['inputs.model']
  const both = ['inputs.model', 'inputs.model.child']
  const example = ['inputs.example']
  const cases: [name: string, expr: unknown, expand: string[], expected: string][] = [
    ['read through a ref', gt('inputs.model.size', 1.5), model, 'af'],
    ['cast by literals', eq('inputs.model.size', 3), model, 'a'],
    ['read an inline object no more', eq('inputs.model.size', 5), model, ''],
    ['read an inline object without the list', eq('inputs.model.size', 5), [], 'c'],
    ['read through two refs', gt('inputs.model.child.temp', 0.5), both, 'a'],
    ['need both in the list', gt('inputs.model.child.temp', 0.5), model, 'b'],
    ['read rows of tables', eq('inputs.example.score', 2.5), example, 'a'],
    ['read the value of a ref with a path', eq('inputs.example', 'one'), example, 'e'],
    ['read the whole value', eq('inputs.model.child', '{"temp":0.7,"name":"in"}'), both, 'a'],
    ['read the output', eq('output.name', 'in'), ['output'], 'a'],
    ['read items of lists', eq('inputs.model.parts.0.k', 'x'), model, 'a'],
    ['are NULL without a value', eq('inputs.model.size', null), model, 'cde'],
    ['are empty for what is missing', eq('inputs.model.none', ''), model, 'abf'],
    ['stay out of a negation', not(eq('inputs.model.size', 3)), model, 'bf'],
    ['exist', exists('inputs.model.child'), model, 'ab'],
    ['do not exist', not(exists('inputs.model.size')), model, 'cde'],
    [
      'contain',
      { $contains: { input: field('inputs.example.question'), substr: lit('Q'), case_insensitive: true } },
      example,
      'ab',
    ],
    ['are among', { $in: [field('inputs.model.size'), [lit(1), lit(2)]] }, model, 'bf'],
    ['meet other fields', { $or: [gt('inputs.model.size', 2), eq('inputs.example', 'no ref')] }, model, 'af'],
    ['meet columns', { $and: [gt('inputs.model.size', 0), gt('started_at', '2026-03-10T12:00:00Z')] }, model, 'bf'],
    [
      'meet one another',
      { $gt: [field('inputs.example.score'), { $convert: { input: field('inputs.model.size'), to: 'double' } }] },
      [...model, ...example],
      'b',
    ],
    ['meet feedback', { $and: [gt('inputs.model.size', 0), eq('feedback.[x].payload.n', '')] }, model, 'abf'],
    ['know the other spelling', eq('inputs_dump.model.size', 3), ['inputs_dump.model'], 'a'],
    ['read no ref of a whole document', eq('inputs.model.size', null), ['inputs'], 'abcdef'],
    ['read attributes', eq('attributes.m.deep.size', 1), ['attributes.m.deep'], 'a'],
  ]
  it.each(cases)('%s', async (_, expr, expand, expected) => {
    expect(await matches(expr, expand)).toBe(expected)
  })

  it('meet limits and offsets', async () => {
    const query = { $expr: gt('inputs.model.size', 0) }
    const asked = { query, expand_columns: model, sort_by: by('started_at', 'desc') }
    expect(await listed({ ...asked, limit: 1, offset: 1 })).toBe('b')
    expect(await listed({ ...asked, offset: 2 })).toBe('a')
    const limited = await server.send('/calls/query_stats', { project_id, query, expand_columns: model, limit: 2 })
    expect(limited).toMatchObject({ count: 2, has_more: true })
  })
})

describe('documents that the engine cannot read', () => {
  it('are read through refs all the same', async () => {
    const id = idOf('3')
    await call(id, { inputs: { model: refs.model, huge: 'HUGE' }, output: refs.inner }, 7)
    const expand_columns = ['inputs.model', 'output']
    const size = gt('inputs.model.size', 2)
    expect(await matches({ $and: [size, eq('inputs.huge', '1e400')] }, expand_columns)).toBe('3')
    expect(await matches({ $or: [gt('inputs.model.size', 2.5), eq('output.name', 'in')] }, expand_columns)).toBe('a3')
    await server.send('/calls/delete', { project_id, call_ids: [id] })
  })
})

describe('order', () => {
  const expand_columns = ['inputs.model', 'inputs.model.child', 'inputs.example']
  it('is read through refs, with NULL last', async () => {
    expect(await listed({ expand_columns, sort_by: by('inputs.model.size') })).toBe('bfaedc')
    expect(await listed({ expand_columns, sort_by: by('inputs.model.size', 'desc') })).toBe('afbedc')
    expect(await listed({ expand_columns, sort_by: by('inputs.example.score', 'desc'), limit: 2 })).toBe('ba')
    const shown = await list({ expand_columns, sort_by: by('inputs.model.size'), limit: 1 })
    expect(shown[0]?.inputs).toMatchObject({ model: { size: 1, _ref: refs.small } })
    const query = { $expr: gt('inputs.model.size', 1) }
    expect(await listed({ expand_columns, query, sort_by: by('inputs.example.score') })).toBe('af')
  })
})

describe('other projects', () => {
  it('stay closed, whatever the caller may read', async () => {
    const seen = await matches({ $or: [eq('inputs.model.size', 100), gt('inputs.model.size', 50)] }, ['inputs.model'])
    expect(seen).toBe('')
  })
})
