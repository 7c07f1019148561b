// Values of spans are found by both names where one begins with the other, and no call has a negative latency.
import { beforeAll, describe, expect, it } from 'vitest'
import type { RunningServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, flag, integer, text } from '../fixtures/otel.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

type Call = { id: string; attributes: Record<string, unknown>; summary: { weave: Record<string, unknown> } } & Record<
  string,
  unknown
>

const field = (name: string) => ({ $getField: name })
const equals = (name: string, value: unknown) => ({ $expr: { $eq: [field(name), { $literal: value }] } })

describe('attributes that are values and prefixes of others', () => {
  const project_id = 'acme/value-and-prefix'
  const list = (key: string, value: number) => ({ key, value: { arrayValue: { values: [{ intValue: value }] } } })
  const spans = [
    [
      text('db.system', 'sqlite'),
      text('db.system.name', 'sqlite3'),
      flag('error', true),
      text('error.type', 'Timeout'),
    ],
    [text('error.type', 'Refused'), text('error', 'yes'), text('db.system.name', 'pg'), text('db.system', 'postgres')],
    [list('n', 7), integer('n.x', 2), text('db.system', 'other')],
    [text('db.system.name', 'alone')],
  ].map((attributes, i) => aSpan({ spanId: `00000000000000a${i}`, attributes }))

  beforeAll(async () => {
    expect(await server.send('/otel/v1/traces', aRequest(spans), { project_id })).toEqual({})
  })

  const ids = async (query: object): Promise<string[]> =>
    (await server.list<Call>('/calls/stream_query', { project_id, columns: ['id'], ...query })).map(({ id }) => id)

  it.each([
    ['db.system', 'sqlite', ['00000000000000a0']],
    ['db.system.name', 'sqlite3', ['00000000000000a0']],
    ['db.system', 'postgres', ['00000000000000a1']],
    ['db.system.name', 'pg', ['00000000000000a1']],
    ['db.system', 'other', ['00000000000000a2']],
    ['db.system.name', 'alone', ['00000000000000a3']],
    ['error', 'true', ['00000000000000a0']],
    ['error', 'yes', ['00000000000000a1']],
    ['error.type', 'Refused', ['00000000000000a1']],
    ['n', '[7]', ['00000000000000a2']],
    ['n.x', '2', ['00000000000000a2']],
  ])('%s is %s', async (name, value, expected) => {
    for (const document of ['attributes', 'attributes.otel_span.attributes'])
      expect(await ids({ query: equals(`${document}.${name}`, value) })).toEqual(expected)
  })

  it('come in the order of their values', async () => {
    const sort_by = [{ field: 'attributes.db.system', direction: 'desc' }]
    const asked = { sort_by, query: equals('attributes.db.system.name', 'pg') }
    expect(await ids(asked)).toEqual(['00000000000000a1'])
    // An object without a value of its own goes by its text.
    expect(await ids({ sort_by })).toEqual(['a3', 'a0', 'a1', 'a2'].map((end) => `00000000000000${end}`))
  })

  it('are counted as values of either', async () => {
    const valuesOf = async (name: string) => {
      const asked = { project_id, fields: [name] }
      type Answer = { fields: Record<string, { values: { value: string }[] }> }
      const { fields } = await server.send<Answer>('/calls/values', asked)
      return fields[name]?.values.map(({ value }) => value).sort()
    }
    await server.now().worker?.fieldIndexRollups.refresh()
    expect(await valuesOf('attributes.db.system')).toEqual(['other', 'postgres', 'sqlite'])
    expect(await valuesOf('attributes.db.system.name')).toEqual(['alone', 'pg', 'sqlite3'])
    // The index finds it, too.
    expect(await ids({ query: equals('attributes.db.system', 'postgres') })).toEqual(['00000000000000a1'])
    expect(await ids({ query: equals('attributes.db.system.(value)', 'postgres') })).toEqual(['00000000000000a1'])
  })
})

describe('times', () => {
  const sdk = '0190b3f0-0000-7000-8000-000000000001'
  const project_id = 'acme/span-times'
  const usOf = (call: Call) => [Date.parse(String(call.started_at)), Date.parse(String(call.ended_at))]

  it('never make a negative latency, of spans and of calls of SDKs', async () => {
    await server.send(
      '/otel/v1/traces',
      aRequest([aSpan({ endTimeUnixNano: '1600000000000000000' }), aSpan({ spanId: '00000000000000b1' })]),
      { project_id },
    )
    const call = {
      project_id,
      id: sdk,
      op_name: 'o',
      trace_id: sdk,
      started_at: '2023-11-15T00:00:00Z',
      attributes: {},
      inputs: {},
    }
    await server.send('/call/start', { start: call })
    await server.send('/call/end', { end: { project_id, id: sdk, ended_at: '2023-11-14T00:00:00Z', summary: {} } })
    const latency = 'summary.weave.latency_ms'
    const calls = await server.list<Call>('/calls/stream_query', {
      project_id,
      sort_by: [{ field: latency, direction: 'asc' }],
    })
    expect(calls.map(({ summary }) => summary.weave.latency_ms)).toEqual([0, 0, 1500])
    const below = { $expr: { $gt: [{ $literal: 0 }, field(latency)] } }
    expect(await server.list('/calls/stream_query', { project_id, query: below })).toEqual([])
    const { groups } = await server.send<{ groups: { total: Record<string, number> }[] }>('/calls/aggregate', {
      project_id,
      start: '2023-11-14T00:00:00Z',
      end: '2023-11-16T00:00:00Z',
      metrics: ['min', 'avg', 'p50'].map((as) => ({ field: 'latency_ms', as })),
    })
    for (const value of Object.values(groups[0]?.total ?? {})) expect(value).toBeGreaterThanOrEqual(0)
  })

  it('without an end run, until the span comes with one', async () => {
    const running = aSpan({ spanId: '00000000000000b2', endTimeUnixNano: '0', status: { code: 2 } })
    await server.send('/otel/v1/traces', aRequest([running]), { project_id })
    const read = async () =>
      (
        await server.list<Call>('/calls/stream_query', { project_id, filter: { call_ids: ['00000000000000b2'] } })
      )[0] as Call
    const before = await read()
    expect([before.ended_at ?? null, before.summary.weave.status]).toEqual([null, 'running'])
    expect(before.summary.weave).not.toHaveProperty('latency_ms')
    await server.send('/otel/v1/traces', aRequest([aSpan({ spanId: '00000000000000b2' })]), { project_id })
    const after = await read()
    expect(after.summary.weave).toMatchObject({ status: 'success', latency_ms: 1500 })
    expect(usOf(after)[1]).toBeGreaterThan(usOf(after)[0] as number)
  })
})
