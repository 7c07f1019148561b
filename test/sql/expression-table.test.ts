// The worked tables of the query language: which values match which expression, in the engine and in JS.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileCallsQuery } from '../../services/query/calls/conditions/compile-query.ts'
import type { CompiledCallsQuery } from '../../services/query/calls/conditions/types.ts'
import {
  asRow,
  type Engine,
  type ExpressionCall,
  expressionCall,
  openEngine,
  sources,
} from '../fixtures/expression-rows.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openEngine()
})
afterAll(() => engine.close())

const compile = (request: object): CompiledCallsQuery => compileCallsQuery({ projectId: 'e/p', ...request })

/** Ids of the rows that match, by the engine and by JS; they must agree. */
async function matches(rows: readonly ExpressionCall[], $expr: unknown): Promise<string[]> {
  const { header: light, payload } = compile({ query: { $expr } })
  const conditions = [...light, ...payload]
  const js = rows.filter((row) => conditions.every((c) => c.evaluate(asRow(row)))).map((row) => String(row.id))
  const values = await engine.values(
    rows,
    conditions.map((c) => c.sql(sources)),
  )
  const found = rows.filter((_, i) => conditions.length === 0 || values[i]?.every((v) => v === true || v === 1))
  expect(found.map((row) => String(row.id))).toEqual(js)
  return js
}

const field = (name: string) => ({ $getField: name })
const lit = (value: unknown) => ({ $literal: value })
const convert = (input: unknown, to: string) => ({ $convert: { input, to } })

/** `(missing)` stands for a document without v. */
const spellings = [
  '5',
  '5.0',
  '5.5',
  '0',
  '1',
  '-3',
  '"5"',
  '"5.0"',
  '"abc"',
  '""',
  'true',
  'false',
  '"true"',
  'null',
  '[1,2]',
  '{"k":1}',
  '(missing)',
]
const documents = spellings.map((v) => expressionCall({ id: v, inputs: v === '(missing)' ? '{}' : `{"v": ${v}}` }))
const v = field('inputs.v')
const everything = spellings

describe('casts of a JSON field', () => {
  const cases: [name: string, expr: unknown, expected: string[]][] = [
    ['$eq 5', { $eq: [v, lit(5)] }, ['5', '5.0', '"5"']],
    ['$eq 5.5', { $eq: [v, lit(5.5)] }, ['5.5']],
    ['$eq "5"', { $eq: [v, lit('5')] }, ['5', '5.0', '"5"']],
    ['$eq true', { $eq: [v, lit(true)] }, ['1', 'true', '"true"']],
    ['$eq false', { $eq: [v, lit(false)] }, ['0', 'false']],
    ['$eq ""', { $eq: [v, lit('')] }, ['""', 'null', '(missing)']],
    ['$eq null', { $eq: [v, lit(null)] }, []],
    ['$gt 1', { $gt: [v, lit(1)] }, ['5', '5.0', '5.5', '"5"', '"5.0"']],
    ['1 $lt', { $lt: [lit(1), v] }, ['5', '5.0', '5.5', '"5"', '"5.0"']],
    ['$gt "5"', { $gt: [v, lit('5')] }, ['5.5', '"5.0"', '"abc"', 'true', 'false', '"true"', '[1,2]', '{"k":1}']],
    ['$not $gt 1', { $not: [{ $gt: [v, lit(1)] }] }, ['0', '1', '-3']],
    ['$in [5, 5.5]', { $in: [v, [lit(5), lit(5.5)]] }, ['5', '5.0', '5.5', '"5"', '"5.0"']],
    ['$in [5, "abc"]', { $in: [v, [lit(5), lit('abc')]] }, ['5', '5.0', '"5"', '"abc"']],
    ['$in [5]', { $in: [v, [lit(5)]] }, ['5', '5.0', '"5"']],
    ['$in [true]', { $in: [v, [lit(true)]] }, ['1', 'true', '"true"']],
    ['$in [null, 5]', { $in: [v, [lit(null), lit(5)]] }, ['5', '5.0', '"5"']],
    ['$in []', { $in: [v, []] }, []],
    ['$in of fields', { $in: [v, [v, lit(null)]] }, everything],
    ['$contains "1"', { $contains: { input: v, substr: lit('1') } }, ['1', '[1,2]', '{"k":1}']],
    ['$contains 1', { $contains: { input: v, substr: lit(1) } }, ['1', '[1,2]', '{"k":1}']],
    ['$contains ""', { $contains: { input: v, substr: lit('') } }, everything],
    ['$contains null', { $contains: { input: v, substr: lit(null) } }, []],
    ['$contains, folded', { $contains: { input: v, substr: lit('TRU'), case_insensitive: true } }, ['true', '"true"']],
    ['$convert double >= 5', { $gte: [convert(v, 'double'), lit(5)] }, ['5', '5.0', '5.5', '"5"', '"5.0"']],
    [
      '$eq [$convert int, null]',
      { $eq: [convert(v, 'int'), lit(null)] },
      ['5.5', '"5.0"', '"abc"', '""', 'true', 'false', '"true"', 'null', '[1,2]', '{"k":1}', '(missing)'],
    ],
    ['$convert exists', { $and: [convert(v, 'exists')] }, everything.slice(0, -1).filter((s) => s !== 'null')],
    ['boolean context', { $and: [v] }, everything.filter((s) => !['""', 'null', '(missing)'].includes(s))],
    ['literals only', { $and: [lit('x'), lit('y')] }, everything],
    ['$size', { $gt: [{ $size: v }, lit(4)] }, ['false', '[1,2]', '{"k":1}']],
    ['an operation as operand', { $eq: [{ $gt: [v, lit(1)] }, lit(false)] }, ['0', '1', '-3']],
    ['a negation as operand', { $eq: [{ $not: [{ $eq: [v, lit('abc')] }] }, lit(5)] }, []],
    ['$and with NULL', { $and: [{ $gt: [v, lit(1)] }, { $eq: [v, lit('5.5')] }] }, ['5.5']],
    ['$or with NULL', { $or: [{ $gt: [v, lit(5)] }, { $eq: [v, lit('abc')] }] }, ['5.5', '"abc"']],
    [
      '$or of equalities',
      { $or: [{ $eq: [v, lit(5)] }, { $eq: [v, lit(true)] }, { $eq: [v, lit(0)] }, { $eq: [v, lit('abc')] }] },
      ['5', '5.0', '0', '1', '"5"', '"abc"', 'true', '"true"'],
    ],
    ['two fields', { $eq: [v, field('inputs.w')] }, ['""', 'null', '(missing)']],
  ]
  it.each(cases)('%s', async (_, expr, expected) => {
    expect(await matches(documents, expr)).toEqual(expected)
  })
})

describe('paths', () => {
  const rows = [
    expressionCall({ id: 'array', inputs: '{"m":[{"role":"user"},[["deep"]]]}' }),
    expressionCall({ id: 'key', inputs: '{"m":{"x":1,"0":{"role":"user"},"1":{"0":["deep"]}}}' }),
    expressionCall({ id: 'dots', inputs: '{"a.b":{"c":1},"a":{"b":2}}', output: '[[1,2],[3]]' }),
    expressionCall({ id: 'quote', inputs: `{"it's":{"\\"q\\"":1},"{v0:String}":2,"":{"":3}}`, output: '"text"' }),
    expressionCall({ id: 'span', attributes: '{"otel_span":{"name":"client"}}', otel_dump: '{"name":"span"}' }),
    expressionCall({
      id: 'client',
      attributes: '{"otel_span":{"name":"client"}}',
      summary: '{"weave":{"x":1},"usage":{"gpt-4.1":{"n":7}}}',
    }),
  ]
  const cases: [name: string, value: unknown, expected: string[]][] = [
    ['inputs.m.0.role', 'user', ['array', 'key']],
    ['inputs.m.1.0.0', 'deep', ['array', 'key']],
    ['inputs.m.1.0', '["deep"]', ['array', 'key']],
    ['inputs.m.x', 1, ['key']],
    ['inputs.m.1.7', 'deep', []],
    ['inputs.a\\.b.c', 1, ['dots']],
    ['inputs.a.b', 2, ['dots']],
    ['output.0.1', 2, ['dots']],
    ['output.1.0', 3, ['dots']],
    ['output', 'text', ['quote']],
    ['inputs.it\'s."q"', 1, ['quote']],
    ['inputs.{v0:String}', 2, ['quote']],
    ['inputs..', 3, ['quote']],
    ['attributes.otel_span.name', 'span', ['span']],
    ['attributes.otel_span.name', 'client', ['client']],
    ['attributes_dump.otel_span.name', 'client', ['client']],
    ['summary.weave', '{"x":1}', ['client']],
    ['summary.usage.gpt-4\\.1.n', 7, ['client']],
    ["inputs.x') OR 1=1 --", 'a', []],
  ]
  it.each(cases)('%s = %s', async (name, value, expected) => {
    expect(await matches(rows, { $eq: [field(name), lit(value)] })).toEqual(expected)
  })
})

describe('columns', () => {
  const start = 1_704_067_200_000_000
  const rows = [
    expressionCall({ id: 'running', parent_id: 'p', op_name: 'weave:///e/p/op/my_op:v1', run_step: 3 }),
    expressionCall({ id: 'failed', exception: 'Boom', ended_at: start + 1500, end_ver: 7, display_name: 'Ärger' }),
    expressionCall({
      id: 'partly',
      error_count: 2,
      ended_at: start - 1,
      end_ver: 7,
      input_refs: ['weave:///e/p/object/a:1'],
    }),
    expressionCall({ id: 'good', ended_at: start + 2_000_000, end_ver: 7, started_at: start + 500_000, run_step: 0 }),
  ]
  const all = rows.map((row) => String(row.id))
  const cases: [name: string, expr: unknown, expected: string[]][] = [
    ['status', { $eq: [field('summary.weave.status'), lit('descendant_error')] }, ['partly']],
    ['status in', { $in: [field('summary.weave.status'), [lit('error'), lit('running')]] }, ['running', 'failed']],
    ['latency', { $eq: [field('summary.weave.latency_ms'), lit(1)] }, ['failed']],
    ['latency is never negative', { $lt: [field('summary.weave.latency_ms'), lit(0)] }, []],
    ['latency of an end before the start', { $eq: [field('summary.weave.latency_ms'), lit(0)] }, ['partly']],
    [
      'latency of a running call',
      { $not: [{ $gt: [field('summary.weave.latency_ms'), lit(1)] }] },
      ['failed', 'partly'],
    ],
    ['latency against text', { $gte: [field('summary.weave.latency_ms'), lit('1500')] }, ['good']],
    ['latency against other text', { $gte: [field('summary.weave.latency_ms'), lit('x')] }, []],
    ['trace name', { $in: [field('summary.weave.trace_name'), [lit('my_op'), lit('Ärger')]] }, ['running', 'failed']],
    ['null parent', { $eq: [field('parent_id'), lit(null)] }, all.slice(1)],
    ['empty parent', { $eq: [field('parent_id'), lit('')] }, all.slice(1)],
    ['not null parent', { $not: [{ $eq: [field('parent_id'), lit(null)] }] }, ['running']],
    ['not another parent', { $not: [{ $eq: [field('parent_id'), lit('q')] }] }, ['running']],
    ['exists', { $and: [convert(field('ended_at'), 'exists')] }, all.slice(1)],
    ['ended_at null', { $eq: [field('ended_at'), lit(null)] }, ['running']],
    ['ended_at less', { $lt: [field('ended_at'), lit(4e9)] }, all.slice(1)],
    ['text against number', { $eq: [field('op_name'), lit(5)] }, []],
    ['step', { $gte: [field('platform_run_step'), lit(0)] }, ['running', 'good']],
    ['step by the other spelling', { $eq: [field('wb_run_step'), lit('3')] }, ['running']],
    ['step in', { $in: [field('wb_run_step'), [lit(3), lit(1.5), lit('0')]] }, ['running', 'good']],
    ['date text', { $gt: [field('started_at'), lit(' 2024-01-01T00:00:00Z ')] }, ['good']],
    ['date only', { $eq: [field('started_at'), lit('2024-01-01')] }, all.slice(0, 3)],
    ['date with offset', { $gte: [lit('2024-01-01T01:00:00+01:00'), field('started_at')] }, all.slice(0, 3)],
    ['seconds', { $eq: [field('started_at'), lit(1704067200.5)] }, ['good']],
    ['dates in', { $in: [field('started_at'), [lit(1704067200.5), lit('2024-01-02')]] }, ['good']],
    ['far date', { $lt: [field('started_at'), lit(1e300)] }, all],
    ['date as text', { $contains: { input: field('started_at'), substr: lit('00.500000Z') } }, ['good']],
    ['date as number', { $eq: [convert(field('started_at'), 'double'), lit(1704067200.5)] }, ['good']],
    ['deleted', { $eq: [field('deleted_at'), lit(null)] }, all],
    ['expired', { $gt: [field('expire_at'), lit(0)] }, []],
    ['ref member', { $contains: { input: field('input_refs'), substr: lit('weave:///e/p/object/a:1') } }, ['partly']],
    ['ref count', { $eq: [{ $size: field('input_refs') }, lit(1)] }, ['partly']],
    ['folded', { $contains: { input: field('display_name'), substr: lit('äRG'), case_insensitive: true } }, ['failed']],
    ['NULL text', { $not: [{ $contains: { input: field('display_name'), substr: lit('x') } }] }, ['failed']],
  ]
  it.each(cases)('%s', async (_, expr, expected) => {
    expect(await matches(rows, expr)).toEqual(expected)
  })
})

describe('sorting', () => {
  const values = ['5', '5.5', '0', '1', '-3', '"abc"', '""', 'true', 'false', 'null', '[1,2]', '{"k":1}', '(missing)']
  const rows = values.map((v, i) =>
    expressionCall({ id: `${String(i).padStart(2, '0')} ${v}`, inputs: v === '(missing)' ? '{}' : `{"v":${v}}` }),
  )
  const sorted = async (list: readonly ExpressionCall[], sort_by: unknown): Promise<string[]> => {
    const { sort } = compile({ sort_by })
    const orderBy = sort.orderBy(sources)
    const ids = orderBy === null ? [] : await engine.order(list, orderBy)
    expect([...list].sort((a, b) => sort.compare(asRow(a), asRow(b))).map((row) => row.id)).toEqual(ids)
    return ids
  }
  it('puts numbers before texts and nulls last, ascending', async () => {
    const ids = await sorted(rows, [{ field: 'inputs.v', direction: 'asc' }])
    const order = ['-3', '0', '1', '5', '5.5', '""', '[1,2]', '"abc"', 'false', 'true', '{"k":1}', '(missing)', 'null']
    expect(ids.map((id) => id.slice(3))).toEqual(order)
  })
  it('puts numbers before texts and nulls last, descending', async () => {
    const ids = await sorted(rows, [{ field: 'inputs.v', direction: 'desc' }])
    const order = ['5.5', '5', '1', '0', '-3', '{"k":1}', 'true', 'false', '"abc"', '[1,2]', '""', '(missing)', 'null']
    expect(ids.map((id) => id.slice(3))).toEqual(order)
  })
  it('puts running calls last in both directions', async () => {
    const list = [
      expressionCall({ id: 'a' }),
      expressionCall({ id: 'b', ended_at: 1_704_067_300_000_000, end_ver: 1 }),
      expressionCall({ id: 'c', ended_at: 1_704_067_200_000_000, end_ver: 1 }),
    ]
    expect(await sorted(list, [{ field: 'ended_at', direction: 'asc' }])).toEqual(['c', 'b', 'a'])
    expect(await sorted(list, [{ field: 'ended_at', direction: 'desc' }])).toEqual(['b', 'c', 'a'])
    expect(await sorted(list, [{ field: 'summary.weave.latency_ms', direction: 'desc' }])).toEqual(['b', 'c', 'a'])
  })
  it('breaks ties by id', async () => {
    const list = ['b', 'a', 'c'].map((id) => expressionCall({ id }))
    expect(await sorted(list, null)).toEqual(['a', 'b', 'c'])
    expect(await sorted(list, [{ field: 'started_at', direction: 'desc' }])).toEqual(['c', 'b', 'a'])
    expect(await sorted(list, [{ field: 'op_name', direction: 'asc' }])).toEqual(['c', 'b', 'a'])
    expect(await sorted(list, [{ field: 'id', direction: 'asc' }])).toEqual(['a', 'b', 'c'])
  })
})
