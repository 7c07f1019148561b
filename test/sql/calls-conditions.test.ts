// The SQL of call conditions as checked-in text, the facts behind index choices, and the filter against the engine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseProjectId } from '../../services/core/ids.ts'
import { param, render, sql } from '../../services/core/store/sql.ts'
import { projectQuery } from '../../services/events/project-query.ts'
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

const compile = (request: object): CompiledCallsQuery => compileCallsQuery({ projectId: 'e/p', ...request })

const field = (name: string) => ({ $getField: name })
const eq = (name: string, value: unknown) => ({ $eq: [field(name), { $literal: value }] })
const compare = (op: string, name: string, value: unknown) => ({ [op]: [field(name), { $literal: value }] })
const facts = (request: object) => compile(request).facts
const expr = (...list: unknown[]) => ({ query: { $expr: { $and: list } } })

const requests: Record<string, object> = {
  'everything, default order': {},
  'no order': { sort_by: [] },
  'filter on every field': {
    filter: {
      op_names: ['weave:///e/p/op/foo:*', 'plain', 'weave:///e/p/op/bar:v1'],
      input_refs: ['weave:///e/p/object/a:*', 'weave:///e/p/object/b:1'],
      output_refs: ['weave:///e/p/object/c:1'],
      parent_ids: ['p'],
      trace_ids: ['t'],
      call_ids: ['a', 'b'],
      thread_ids: ['th'],
      turn_ids: ['tu'],
      trace_roots_only: true,
      platform_user_ids: ['u'],
      wb_run_ids: ['run', 'e/q/run'],
    },
  },
  'payload fields': expr(
    eq('inputs.a.b', 5),
    compare('$gt', 'output.score', 1),
    eq('inputs.messages.0.role', 'user'),
    eq('output.0.1.x', true),
    { $not: [{ $contains: { input: field('inputs'), substr: { $literal: 'x' }, case_insensitive: true } }] },
    eq('attributes.otel_span.name', 'x'),
    { $and: [{ $convert: { input: field('inputs.a'), to: 'exists' } }] },
  ),
  columns: expr(
    compare('$gte', 'started_at', '2024-01-01'),
    compare('$lt', 'ended_at', 1704067200.5),
    eq('parent_id', null),
    eq('summary.weave.status', 'error'),
    compare('$gt', 'summary.weave.latency_ms', 10),
    eq('summary.weave.trace_name', 'x'),
    eq('wb_run_step', 3),
    { $or: [eq('id', 'a'), eq('id', 'b'), eq('op_name', 'x')] },
    { $in: [field('inputs.a'), [{ $literal: 1 }, { $literal: 2.5 }]] },
  ),
  sorting: {
    sort_by: [
      { field: 'summary.weave.latency_ms', direction: 'desc' },
      { field: 'output.score', direction: 'asc' },
      { field: 'started_at', direction: 'desc' },
    ],
  },
}

describe('SQL text', () => {
  it('is as checked in', async () => {
    const text = Object.entries(requests).map(([name, request]) => {
      const { header: light, payload, sort } = compile(request)
      const part = (title: string, list: readonly { sql(): Parameters<typeof render>[0] }[]) =>
        list.map((condition) => `${title}: ${render(condition.sql()).sql}\n`).join('')
      const order = sort.orderBy()
      const terms = order === null ? '' : `order: ${render(order).sql}\n`
      return `-- ${name}\n${part('light', light)}${part('payload', payload)}${terms}`
    })
    await expect(text.join('\n')).toMatchFileSnapshot('calls-conditions.sql')
  })

  it('holds no value of the request', () => {
    const hostile = ["' OR 1=1 --", '\\', '"; DROP TABLE calls', '{v0:String}', '*/ x /*', '`id`']
    for (const value of hostile) {
      const {
        header: light,
        payload,
        sort,
      } = compile({
        ...expr(
          eq(`inputs.${value}`, value),
          { $in: [field('op_name'), [{ $literal: value }]] },
          eq(`output.${value}.0`, 1),
        ),
        filter: { op_names: [value, `${value}:*`], input_refs: [value] },
        sort_by: [{ field: `inputs.${value}`, direction: 'asc' }],
      })
      const order = sort.orderBy()
      const texts = [...light, ...payload].map((condition) => render(condition.sql()).sql)
      for (const text of [...texts, order === null ? '' : render(order).sql]) {
        const rest = text.replace(/\{v\d+:[A-Za-z0-9()]+\}/g, '').replace(/''|'(Array|Null|us|UTC|Z)'/g, '')
        expect(rest).not.toMatch(/[\\";{}`'*-]/)
      }
    }
  })
})

describe('project queries', () => {
  const project = parseProjectId('e/p')

  it('filter every table by the project first', () => {
    const query = projectQuery('test', project, (scope) => {
      const inner = sql`SELECT id ${scope.from('payloads', { where: sql`id = ${param('String', 'x')}` })}`
      return sql`SELECT c.id ${scope.from('calls', { alias: 'c', final: true, where: sql`c.id IN (${inner})` })}`
    })
    expect(query.sql).toBe(
      'SELECT c.id FROM callhouse.calls AS c FINAL WHERE c.project_id = {v0:String} AND (c.id IN (SELECT id FROM callhouse.payloads WHERE project_id = {v0:String} AND (id = {v1:String})))',
    )
    expect(query.params).toEqual({ v0: 'e/p', v1: 'x' })
  })

  it('need a table', () => {
    expect(() => projectQuery('test', project, () => sql`SELECT 1`)).toThrow(/no project table/)
  })
})

describe('facts', () => {
  const none = { ids: null, traceIds: null, parentIds: null }
  const open = { nothing: false, rootsOnly: false, startedFrom: null, startedBefore: null }
  const start = 1_704_067_200_000_000

  it('of no condition are empty', () => {
    expect(facts({})).toEqual({ ...none, ...open, counted: 'calls' })
    expect(facts(expr({ $eq: [{ $literal: 1 }, { $literal: 1 }] }))).toMatchObject({ counted: null })
    expect(facts({ filter: { trace_roots_only: true } })).toEqual({
      ...none,
      ...open,
      rootsOnly: true,
      counted: 'roots',
    })
    // Calls may stand for a root and have a parent.
    expect(facts(expr(eq('parent_id', null)))).toMatchObject({ rootsOnly: false, counted: null })
  })

  it('find ids in filters and expressions, and intersect them', () => {
    const both = { filter: { call_ids: ['a', 'b'] }, ...expr({ $or: [eq('id', 'b'), eq('id', 'c')] }) }
    expect(facts(both)).toMatchObject({ ids: ['b'], nothing: false, counted: null })
    expect(facts({ filter: { call_ids: ['a'] }, ...expr(eq('id', 'b')) })).toMatchObject({ ids: [], nothing: true })
    expect(facts(expr({ $eq: [{ $literal: 't' }, field('trace_id')] }))).toMatchObject({ traceIds: ['t'] })
    expect(facts(expr({ $or: [eq('id', 'b'), eq('trace_id', 'c')] }))).toMatchObject({ ids: null, traceIds: null })
    expect(facts(expr({ $not: [eq('id', 'b')] }))).toMatchObject({ ids: null })
  })

  it('exclude all calls when exact op names contradict one another, prefixes do not', () => {
    const named = expr(eq('op_name', 'b'))
    expect(facts({ filter: { op_names: ['a', 'b'] }, ...named })).toMatchObject({ nothing: false })
    expect(facts({ filter: { op_names: ['a', 'c'] }, ...named })).toMatchObject({ nothing: true })
    expect(facts({ filter: { op_names: ['a', 'b:*'] }, ...named })).toMatchObject({ nothing: false })
  })

  it('bound the time exactly', () => {
    const bounds = (...list: unknown[]) => {
      const { startedFrom, startedBefore, nothing, counted } = facts(expr(...list))
      return [startedFrom, startedBefore, nothing, counted]
    }
    expect(bounds(compare('$gte', 'started_at', '2024-01-01'))).toEqual([start, null, false, 'calls'])
    expect(bounds(compare('$gt', 'started_at', '2024-01-01'))).toEqual([start + 1, null, false, 'calls'])
    expect(bounds(compare('$lt', 'started_at', start / 1e6))).toEqual([null, start, false, 'calls'])
    expect(bounds(compare('$lte', 'started_at', '2024-01-01'))).toEqual([null, start + 1, false, 'calls'])
    expect(bounds(eq('started_at', '2024-01-01'))).toEqual([start, start + 1, false, 'calls'])
    expect(bounds({ $gt: [{ $literal: '2024-01-01' }, field('started_at')] })).toEqual([null, start, false, 'calls'])
    const late = compare('$gt', 'started_at', '2024-01-02')
    expect(bounds(late, compare('$lt', 'started_at', '2024-01-01'))).toMatchObject([
      expect.any(Number),
      start,
      true,
      'calls',
    ])
    expect(bounds(late, eq('op_name', 'x'))[3]).toBeNull()
  })

  it('know empty lists of threads', () => {
    for (const filter of [{ thread_ids: [] }, { turn_ids: [] }, { thread_ids: [''] }])
      expect(facts({ filter })).toMatchObject({ nothing: true })
    const ignored = [
      'op_names',
      'input_refs',
      'output_refs',
      'parent_ids',
      'trace_ids',
      'call_ids',
      'platform_user_ids',
      'platform_run_ids',
    ]
    expect(facts({ filter: Object.fromEntries(ignored.map((name) => [name, []])) })).toMatchObject({ counted: 'calls' })
  })

  it('split conjuncts on columns from those on payloads', () => {
    const mixed = { $or: [eq('inputs.a', 1), eq('op_name', 'x')] }
    const {
      header: light,
      payload,
      needs,
    } = compile({
      ...expr(eq('id', 'a'), mixed, eq('output.b', 2)),
      filter: { call_ids: ['a'] },
    })
    expect([light.length, payload.length, [...needs]]).toEqual([2, 2, ['inputs', 'output']])
    expect([...(payload[0]?.columns ?? [])]).toEqual(['op_name'])
  })

  it('know when time orders', () => {
    const order = (sort_by: unknown) => {
      const { startedAtOnly, idDirection } = compile({ sort_by }).sort
      return [startedAtOnly, idDirection]
    }
    expect(order(null)).toEqual(['asc', 'asc'])
    expect(order([])).toEqual([null, null])
    expect(order([{ field: 'started_at', direction: 'desc' }])).toEqual(['desc', 'desc'])
    const byId = { field: 'id', direction: 'asc' }
    expect(order([{ field: 'started_at', direction: 'desc' }, byId])).toEqual(['desc', 'asc'])
    expect(order([{ field: 'op_name', direction: 'desc' }])).toEqual([null, null])
  })
})

describe('filter', () => {
  let engine: Engine
  beforeAll(async () => {
    engine = await openEngine()
  })
  afterAll(() => engine.close())

  const foo = 'weave:///e/p/op/foo'
  const rows: ExpressionCall[] = [
    expressionCall({
      id: 'foo1',
      op_name: `${foo}:v1`,
      input_refs: ['weave:///e/p/object/a:1/attr/x'],
      run_id: 'e/p/r',
    }),
    expressionCall({
      id: 'foo2',
      op_name: `${foo}:v2`,
      output_refs: ['weave:///e/p/object/a:2'],
      run_id: 'e/q/r',
      parent_id: 'foo1',
    }),
    expressionCall({ id: 'bar', op_name: `${foo}bar:v1`, thread_id: 'th', turn_id: 'bar', user_id: 'v' }),
    expressionCall({ id: 'plain', op_name: 'foo', trace_id: 's' }),
    expressionCall({ id: 'percent', op_name: 'fo%', parent_id: 'bar' }),
  ]

  const cases: [filter: object, expected: string[]][] = [
    [{ op_names: [`${foo}:*`] }, ['foo1', 'foo2']],
    [{ op_names: [`${foo}:*`, 'foo'] }, ['foo1', 'foo2', 'plain']],
    [{ op_names: ['fo%'] }, ['percent']],
    [{ op_names: ['f_o:*'] }, []],
    [{ input_refs: ['weave:///e/p/object/a:*'] }, ['foo1']],
    [{ input_refs: ['weave:///e/p/object/a:1'] }, []],
    [{ output_refs: ['x', 'weave:///e/p/object/a:2'] }, ['foo2']],
    [{ parent_ids: ['foo1', ''] }, ['foo2']],
    [{ trace_ids: ['s'] }, ['plain']],
    [{ call_ids: ['bar', 'nobody'] }, ['bar']],
    [{ thread_ids: ['th'] }, ['bar']],
    [{ thread_ids: [] }, []],
    [{ turn_ids: ['bar'] }, ['bar']],
    [{ trace_roots_only: true }, ['foo1', 'bar', 'plain']],
    [{ trace_roots_only: false }, ['foo1', 'foo2', 'bar', 'plain', 'percent']],
    [{ platform_user_ids: ['v'] }, ['bar']],
    [{ wb_user_ids: ['v'] }, ['bar']],
    [{ platform_user_ids: ['u'], wb_user_ids: ['v'] }, []],
    [{ platform_run_ids: ['r'] }, ['foo1']],
    [{ platform_run_ids: ['e/q/r'] }, ['foo2']],
    [{ op_names: [`${foo}:*`], trace_roots_only: true }, ['foo1']],
  ]
  it.each(cases)('%j', async (filter, expected) => {
    const { header: light } = compile({ filter })
    expect(rows.filter((row) => light.every((c) => c.evaluate(asRow(row)))).map((row) => row.id)).toEqual(expected)
    const answers = await engine.values(
      rows,
      light.map((c) => c.sql(sources)),
    )
    const found = rows.filter((_, i) => answers[i]?.every((answer) => answer === true || answer === 1))
    expect(found.map((row) => row.id)).toEqual(expected)
  })
})

describe('documents that the engine cannot read', () => {
  const odd = expressionCall({
    inputs: '{"big": 123456789012345678901234567890, "huge":1e400, "n":5.0, "o":{"x": 1e400, "y":[1.0]}}',
  })
  const holds = ($expr: unknown): boolean => compile({ query: { $expr } }).payload.every((c) => c.evaluate(asRow(odd)))

  it('are evaluated in JS', () => {
    expect(holds(eq('inputs.n', 5))).toBe(true)
    expect(holds(eq('inputs.big', '123456789012345678901234567890'))).toBe(true)
    expect(holds(compare('$gt', 'inputs.big', 1e29))).toBe(true)
    expect(holds({ $eq: [{ $convert: { input: field('inputs.big'), to: 'int' } }, { $literal: null }] })).toBe(true)
    expect(holds(eq('inputs.huge', '1e400'))).toBe(true)
    expect(holds(compare('$gt', 'inputs.huge', 1))).toBe(false)
    expect(holds(eq('inputs.o', '{"x":1e400,"y":[1]}'))).toBe(true)
  })
})
