// Routes for a page beside records of calls: cells, fields, values.
import { beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { callsFieldsResponse, callsValuesResponse } from '../../schemas/call-values.ts'
import type { callsAggregateResponse } from '../../schemas/calls-aggregate.ts'
import { post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'
import { valueCallAt as at, valueCallId as idOf, storedImage, valueCalls } from '../fixtures/value-calls.ts'

let server: RunningServer
const project_id = 'acme/values'
beforeAll(async () => {
  server = await sharedServer()
  await ask('/v2/acme/values/calls/complete', `{"batch":[${valueCalls(project_id).join()}]}`)
  await ask('/feedback/create', {
    project_id,
    weave_ref: `weave:///${project_id}/call/${idOf(5)}`,
    feedback_type: 'quality',
    payload: { value: 'good', sure: true },
  })
  // Waits until the calls are there, then indexes their fields.
  await ask('/calls/query_stats', { project_id })
  await server.now().worker?.fieldIndexRollups.refresh()
})

async function ask<Answer>(path: string, body: unknown): Promise<Answer> {
  const { status, text } = await post(server.now().url, path, body)
  expect([path, status, text.slice(0, 300)]).toEqual([path, 200, text.slice(0, 300)])
  return JSON.parse(text) as Answer
}
const refused = async (path: string, body: object) => {
  const { status, text } = await post(server.now().url, path, { project_id, ...body })
  return [status, text.slice(0, 200)]
}

describe('cells', () => {
  type Cells = { cells: Record<string, ({ type: string; text: string; size: number; is_cut: boolean } | null)[]> }
  const cellsOf = async (n: number, paths: string[], max_chars = 20) =>
    (await ask<Cells>('/calls/cells', { project_id, call_ids: [idOf(n)], paths, max_chars })).cells[idOf(n)]

  it('are values as they are stored: numbers with their spelling, keys of objects, lengths of lists', async () => {
    const paths = [
      'inputs.k',
      'inputs.big',
      'inputs.s',
      'inputs.list',
      'inputs.list.1.deep',
      'inputs.list.-1.deep',
      'inputs.list.-3',
      'inputs.o',
      'inputs.n',
      'inputs.no',
    ]
    expect(await cellsOf(1, paths)).toEqual([
      { type: 'number', text: '1.0', size: 3, is_cut: false },
      { type: 'number', text: '12345678901234567890', size: 23, is_cut: true },
      { type: 'string', text: 'short', size: 5, is_cut: false },
      { type: 'array', text: '2', size: 16, is_cut: false },
      { type: 'string', text: 'x', size: 1, is_cut: false },
      { type: 'string', text: 'x', size: 1, is_cut: false },
      null,
      { type: 'object', text: 'a, b.c', size: 15, is_cut: false },
      { type: 'null', text: 'null', size: 4, is_cut: false },
      null,
    ])
  })

  it('are cut, by whole characters, and name media', async () => {
    const [text, flag, pic] = (await cellsOf(2, ['inputs.s', 'inputs.flag', 'inputs.pic'], 7)) ?? []
    expect(text).toEqual({ type: 'string', text: 'long é ', size: 1_200, is_cut: true })
    expect(flag).toEqual({ type: 'bool', text: 'true', size: 4, is_cut: false })
    expect(pic).toEqual({ type: 'media', text: 'image/png', size: 300, is_cut: false })
    expect((await cellsOf(3, ['inputs.s'], 3))?.[0]).toMatchObject({ text: '😀', is_cut: true })
    expect((await cellsOf(2, ['inputs.shot']))?.[0]).toEqual({
      type: 'media',
      text: 'PIL.Image.Image',
      size: storedImage.length,
      is_cut: false,
      file: { name: 'image.png', digest: 'the "digest"' },
    })
  })

  it('come from all documents and columns; ids that are not there are left out', async () => {
    const paths = [
      'output.score',
      'attributes.a\\.b',
      'op_name',
      'summary.weave.status',
      'summary.weave.latency_ms',
      'thread_id',
    ]
    expect((await cellsOf(3, paths))?.map((cell) => cell?.text ?? null)).toEqual([
      '0.5',
      '3',
      'odd_op',
      'success',
      '300',
      null,
    ])
    expect(await ask('/calls/cells', { project_id, call_ids: ['f'.repeat(16)], paths: ['inputs'] })).toEqual({
      cells: {},
    })
    expect(await ask('/calls/cells', { project_id, call_ids: [], paths: ['inputs'] })).toEqual({ cells: {} })
    expect(await ask('/calls/cells', { project_id: 'acme/none', call_ids: [idOf(1)], paths: ['inputs'] })).toEqual({
      cells: {},
    })
  })

  it('are bounded, and no call has what lies beside it', async () => {
    const ids = Array.from({ length: 501 }, (_, n) => idOf(n))
    expect((await refused('/calls/cells', { call_ids: ids, paths: ['inputs'] }))[0]).toBe(422)
    expect((await refused('/calls/cells', { call_ids: [], paths: Array(51).fill('inputs') }))[0]).toBe(422)
    expect((await refused('/calls/cells', { call_ids: [], paths: ['inputs'], max_chars: 4_001 }))[0]).toBe(422)
    expect(await refused('/calls/cells', { call_ids: [], paths: ['nothing'] })).toEqual([
      422,
      expect.stringContaining('nothing'),
    ])
    expect(await refused('/calls/cells', { call_ids: [], paths: ['feedback.[*].payload.x'] })).toEqual([
      400,
      expect.stringContaining('no cells'),
    ])
  })
})

describe('fields', () => {
  type Fields = z.output<typeof callsFieldsResponse>
  it('are those of the latest calls with their types, the commonest first, feedback included', async () => {
    const { fields, sampled_calls } = await ask<Fields>('/calls/fields', { project_id })
    expect(sampled_calls).toBe(30)
    const of = (path: string) => fields.find((field) => field.path === path)
    // The document with a number that no double holds is not indexed.
    expect(of('inputs.k')).toEqual({ path: 'inputs.k', types: { number: 29 }, calls: 29 })
    expect(of('inputs.s')).toEqual({ path: 'inputs.s', types: { string: 29 }, calls: 29 })
    expect(of('inputs.flag')).toEqual({ path: 'inputs.flag', types: { bool: 1 }, calls: 1 })
    expect(of('attributes.a\\.b')?.types).toEqual({ number: 29 })
    expect(of('feedback.[quality].payload.value')).toMatchObject({ types: { string: 1 }, calls: 1 })
    expect(fields.map(({ calls }) => calls)).toEqual(fields.map(({ calls }) => calls).toSorted((a, b) => b - a))
  })

  it('are narrowed by a prefix and by time', async () => {
    const { fields } = await ask<Fields>('/calls/fields', { project_id, prefix: 'output.' })
    expect(fields).toEqual([{ path: 'output.score', types: { number: 1 }, calls: 1 }])
    const { fields: few, sampled_calls } = await ask<Fields>('/calls/fields', {
      project_id,
      start: at(4_000),
      end: at(6_000),
      prefix: 'inputs.k',
    })
    expect([few, sampled_calls]).toEqual([[{ path: 'inputs.k', types: { number: 2 }, calls: 2 }], 2])
    expect((await refused('/calls/fields', { start: 'never' }))[0]).toBe(422)
    expect(await ask('/calls/fields', { project_id: 'acme/none' })).toEqual({ fields: [], sampled_calls: 0 })
  })
})

describe('values', () => {
  type Values = z.output<typeof callsValuesResponse>
  it('are the commonest of fields and columns, of the calls that match', async () => {
    const { fields } = await ask<Values>('/calls/values', {
      project_id,
      fields: ['inputs.k', 'op_name', 'summary.weave.status'],
      limit: 3,
    })
    expect(fields['inputs.k']?.values.at(0)).toEqual({ value: 2, calls: 7 })
    expect(fields['inputs.k']).toMatchObject({ is_complete: false })
    expect(fields.op_name?.values).toEqual([
      { value: 'even_op', calls: 15 },
      { value: 'odd_op', calls: 15 },
    ])
    expect(fields['summary.weave.status']?.values).toEqual([
      { value: 'success', calls: 27 },
      { value: 'error', calls: 3 },
    ])
    const failed = { $expr: { $eq: [{ $getField: 'summary.weave.status' }, { $literal: 'error' }] } }
    const { fields: of, sampled_calls } = await ask<Values>('/calls/values', {
      project_id,
      fields: ['inputs.s'],
      query: failed,
    })
    expect(sampled_calls).toBe(3)
    expect(of['inputs.s']).toEqual({
      values: ['word 0', 'word 1', 'word 2'].map((value) => ({ value, calls: 1 })),
      is_complete: true,
    })
  })

  it('are narrowed by a prefix in any case; long texts are left out, and it is said', async () => {
    const { fields } = await ask<Values>('/calls/values', {
      project_id,
      fields: ['inputs.s', 'op_name'],
      prefix: 'WORD 1',
    })
    expect(fields['inputs.s']?.values.map(({ value }) => value)).toEqual(['word 1'])
    expect(fields['inputs.s']?.is_complete).toBe(false)
    expect(fields.op_name?.values).toEqual([])
    expect((await refused('/calls/values', { fields: Array(51).fill('op_name') }))[0]).toBe(422)
    expect((await refused('/calls/values', { fields: ['nothing'] }))[0]).toBe(422)
  })
})

describe('aggregates', () => {
  type Answer = z.output<typeof callsAggregateResponse>
  const range = { start: at(0), end: at(60_000) }
  const aggregate = (body: object) => ask<Answer>('/calls/aggregate', { project_id, ...range, ...body })
  const metrics = (...list: string[]) =>
    list.map((one) => ({ field: one.slice(0, one.lastIndexOf('.')), as: one.slice(one.lastIndexOf('.') + 1) }))

  it('are values per bucket and in total', async () => {
    const { buckets, groups } = await aggregate({
      bucket: 10,
      metrics: metrics('calls.sum', 'errors.sum', 'latency_ms.p50', 'latency_ms.max', 'inputs.k.avg', 'inputs.k.count'),
    })
    expect(buckets.slice(0, 2)).toEqual(['2026-03-05T08:40:00+00:00', '2026-03-05T08:40:10+00:00'])
    const [all] = groups
    expect(groups).toHaveLength(1)
    expect(all).toMatchObject({ keys: [], is_rest: false })
    expect(all?.series['calls.sum']).toEqual([10, 10, 10, 0, 0, 0])
    expect(all?.series['errors.sum']).toEqual([1, 1, 1, 0, 0, 0])
    expect(all?.series['latency_ms.p50']).toEqual([450, 1_450, 2_450, null, null, null])
    expect(all?.total).toMatchObject({ 'calls.sum': 30, 'errors.sum': 3, 'latency_ms.max': 2_900 })
    // Not of the document with a number that no double holds.
    expect(all?.total['inputs.k.count']).toBe(29)
  })

  it('are grouped by up to two keys, the greatest first, the rest computed', async () => {
    const { groups } = await aggregate({
      group_by: ['inputs.s'],
      top: 1,
      metrics: metrics('calls.sum', 'latency_ms.p50'),
    })
    expect(groups.map(({ keys, is_rest, total }) => [keys, is_rest, total['calls.sum']])).toEqual([
      [['word 0'], false, 9],
      [[''], true, 21],
    ])
    // The median of the rest, not a sum of medians.
    expect(groups[1]?.total['latency_ms.p50']).toBeGreaterThan(1_000)
    expect(groups[1]?.total['latency_ms.p50']).toBeLessThan(2_000)
    const { groups: both } = await aggregate({ group_by: ['op_name', 'status'], metrics: metrics('calls.sum') })
    expect(both.map(({ keys, total }) => [...keys, total['calls.sum']])).toEqual([
      ['odd_op', 'success', 15],
      ['even_op', 'success', 12],
      ['even_op', 'error', 3],
    ])
  })

  it('are grouped by ranges of latency, each of which begins at the milliseconds that name it', async () => {
    const asked = { top: 100, metrics: metrics('calls.sum', 'latency_ms.min', 'latency_ms.max') }
    const { groups } = await aggregate({ group_by: ['latency_range'], ...asked })
    const found = groups.map(({ keys, total }) => ({ from: Number(keys[0]), total }))
    expect(found.reduce((sum, { total }) => sum + (total['calls.sum'] ?? 0), 0)).toBe(30)
    for (const { from, total } of found) {
      expect(total['latency_ms.min']).toBeGreaterThanOrEqual(from)
      expect(total['latency_ms.max']).toBeLessThan(Math.max(1, (from + 1) * Math.SQRT2))
    }
    expect(found.map(({ from }) => from).sort((a, b) => a - b)).toEqual([
      0, 91, 182, 256, 363, 512, 725, 1024, 1449, 2048, 2897,
    ])
  })

  it('are grouped by ranges of the numbers of a field, of any width', async () => {
    const asked = { top: 100, metrics: metrics('calls.sum') }
    const { groups } = await aggregate({ group_by: ['range 2 inputs.k'], ...asked })
    const found = Object.fromEntries(groups.map(({ keys, total }) => [keys[0], total['calls.sum']]))
    // One document holds a number that no double holds.
    expect(found).toEqual({ '0': 11, '1': 12, '2': 6, '': 1 })
    const { groups: halves } = await aggregate({ group_by: ['range 2.5e-1 inputs.k'], ...asked })
    expect(halves.map(({ keys }) => keys[0]).sort()).toEqual(['', '0', '12', '16', '4', '8'])
    for (const width of ['0', '0.0', '1e999'])
      expect(
        (await refused('/calls/aggregate', { ...range, group_by: [`range ${width} inputs.k`], ...asked }))[0],
      ).toBe(400)
    expect((await refused('/calls/aggregate', { ...range, group_by: ['range x inputs.k'], ...asked }))[0]).toBe(422)
  })

  it('know filters, conditions on payloads, and an earlier time for the same groups', async () => {
    const query = { $expr: { $eq: [{ $getField: 'inputs.s' }, { $literal: 'word 1' }] } }
    const { groups } = await aggregate({ query, metrics: metrics('calls.sum') })
    expect(groups[0]?.total).toEqual({ 'calls.sum': 9 })
    const { groups: odd, previous } = await ask<Answer>('/calls/aggregate', {
      project_id,
      start: at(10_000),
      end: at(20_000),
      compare: { start: at(0), end: at(10_000) },
      bucket: 5,
      group_by: ['op_name'],
      filter: { op_names: ['odd_op'] },
      metrics: metrics('calls.sum'),
    })
    expect(odd.map(({ keys, series }) => [keys, series['calls.sum']])).toEqual([[['odd_op'], [2, 3]]])
    expect(previous?.groups[0]?.series['calls.sum']).toEqual([2, 3])
    expect(
      (await aggregate({ filter: { op_names: ['none'] }, bucket: 30, metrics: metrics('calls.sum') })).groups[0]
        ?.series,
    ).toEqual({
      'calls.sum': [0, 0],
    })
  })

  it('sum tokens and costs by model, of roots with what is below them when roots are asked for', async () => {
    await ask('/cost/create', {
      project_id: 'acme/usage',
      costs: { big: { prompt_token_cost: 0.5, completion_token_cost: 2 } },
    })
    const one = (n: number, model: string, tokens: number, parent: string | null) => ({
      project_id: 'acme/usage',
      id: idOf(n),
      trace_id: 'b'.repeat(32),
      parent_id: parent,
      op_name: 'ask',
      started_at: at(n * 1_000),
      ended_at: at(n * 1_000 + 1),
      attributes: {},
      inputs: {},
      output: null,
      summary: { usage: { [model]: { prompt_tokens: tokens, completion_tokens: 1, requests: 1 } } },
    })
    await ask('/v2/acme/usage/calls/complete', {
      batch: [one(1, 'big', 10, null), one(2, 'small', 4, idOf(1)), one(3, 'big', 2, null)],
    })
    const of = (more: object) =>
      ask<Answer>('/calls/aggregate', {
        project_id: 'acme/usage',
        ...range,
        bucket: 60,
        group_by: ['model'],
        metrics: metrics('total_cost.sum', 'input_tokens.sum', 'input_tokens.max', 'calls.sum'),
        ...more,
      })
    const { groups } = await of({})
    expect(groups.map(({ keys, total }) => [...keys, ...Object.values(total)])).toEqual([
      ['big', 10, 12, 10, 2],
      ['small', null, 4, 4, 1],
    ])
    expect(groups[0]?.series['total_cost.sum']).toEqual([10])
    const { groups: roots } = await of({ filter: { trace_roots_only: true }, top: 1, group_by: [] })
    expect(roots[0]?.total).toEqual({
      'total_cost.sum': 10,
      'input_tokens.sum': 12,
      'input_tokens.max': 10,
      'calls.sum': 2,
    })
  })

  it('cut days, weeks and months where the zone does', async () => {
    const zoned = (more: object) =>
      ask<Answer>('/calls/aggregate', { project_id, timezone: 'Europe/Paris', metrics: metrics('calls.sum'), ...more })
    // Clocks change on 29 March: that day has 23 hours.
    const days = await zoned({ start: '2026-03-28T12:00:00Z', end: '2026-03-30T12:00:00Z', bucket: 'day' })
    expect(days.buckets).toEqual([
      '2026-03-28T00:00:00+01:00',
      '2026-03-29T00:00:00+01:00',
      '2026-03-30T00:00:00+02:00',
    ])
    const week = await zoned({ start: at(0), end: at(86_400_000), bucket: 'week' })
    expect([week.buckets, week.groups[0]?.series['calls.sum']]).toEqual([['2026-03-02T00:00:00+01:00'], [30]])
    const month = await zoned({ start: '2026-02-28T23:30:00Z', end: at(60_000), bucket: 'month' })
    expect([month.buckets, month.groups[0]?.series['calls.sum']]).toEqual([['2026-03-01T00:00:00+01:00'], [30]])
  })

  it('refuse what they cannot answer', async () => {
    const of = async (body: object) => {
      const { status } = await post(server.now().url, '/calls/aggregate', {
        project_id,
        ...range,
        metrics: metrics('calls.sum'),
        ...body,
      })
      return status
    }
    expect(await of({ end: at(86_400_000), bucket: 1 })).toBe(400)
    expect(await of({ end: at(-1) })).toBe(400)
    expect(await of({ timezone: 'Nowhere/Land', bucket: 'day' })).toBe(400)
    expect(await of({ metrics: [] })).toBe(400)
    expect(await of({ metrics: metrics('latency_ms.p101') })).toBe(400)
    expect(await of({ metrics: metrics('total_cost.avg') })).toBe(400)
    expect(await of({ metrics: metrics('nothing.sum') })).toBe(422)
    expect(await of({ group_by: ['model', 'status', 'user'] })).toBe(422)
    expect(await of({ group_by: ['feedback.[*].payload.x'] })).toBe(400)
    expect(await of({ top: 101 })).toBe(422)
    expect(await of({ start: 'never' })).toBe(422)
  })
})

describe('after a call is deleted', () => {
  it('its fields and values are not told', async () => {
    await ask('/calls/delete', { project_id, call_ids: [idOf(3)] })
    const { fields } = await ask<z.output<typeof callsFieldsResponse>>('/calls/fields', {
      project_id,
      prefix: 'output.',
    })
    expect(fields).toEqual([])
    const { fields: values } = await ask<z.output<typeof callsValuesResponse>>('/calls/values', {
      project_id,
      fields: ['inputs.s'],
      prefix: '😀',
    })
    expect(values['inputs.s']?.values).toEqual([])
  })
})
