// tier: deep slow
// Calls past the days of their project: no read shows them, whatever it asks for, and nothing has to be deleted for that.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const nowMs = Math.floor(Date.now() / hourMs) * hourMs
const idOf = (n: number): string => `0199a0c8-0000-7000-8000-${String(n).padStart(12, '0')}`
const agoOf = (ms: number): string => new Date(nowMs - ms).toISOString()

/** One whole call; every field of it holds the marker. */
function callOf(project_id: string, n: number, agoMs: number, marker: string, more: object = {}) {
  const of = { project_id, id: idOf(n) }
  const started_at = agoOf(agoMs)
  const start = {
    ...of,
    trace_id: idOf(n),
    op_name: `op-${marker}`,
    started_at,
    thread_id: `thread-${marker}`,
    turn_id: idOf(n),
    display_name: `name-${marker}`,
    attributes: { tag: marker },
    inputs: { text: marker, [marker]: n },
    ...more,
  }
  const usage = { [`model-${marker}`]: { requests: 1, prompt_tokens: n, completion_tokens: 1 } }
  const end = {
    ...of,
    ended_at: agoOf(agoMs - 1_500),
    output: { said: marker, n },
    summary: { usage },
    exception: marker,
  }
  return [
    { mode: 'start', req: { start } },
    { mode: 'end', req: { end } },
  ]
}

const put = async (project: string, retention: object) => {
  const answer = await fetch(`${server.now().url}/v2/${project}/settings/retention`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', authorization: 'Bearer test-key' },
    body: JSON.stringify(retention),
  })
  return { status: answer.status, body: (await answer.json()) as { reason?: string } }
}

const ask = async (path: string, body: object): Promise<{ status: number; text: string }> => {
  const { status, text } = await post(server.now().url, path, body)
  return { status, text }
}

const $get = (field: string) => ({ $getField: field })
const $is = (field: string, value: unknown) => ({ $expr: { $eq: [$get(field), { $literal: value }] } })
const $has = (field: string, text: string) => ({
  $expr: { $contains: { input: $get(field), substr: { $literal: text } } },
})
const newest = [{ field: 'started_at', direction: 'desc' }]
/** As long as statistics reach; a call past the days of its project begins in it. */
const lately = { start: agoOf(30.5 * dayMs), end: agoOf(-0.5 * dayMs) }

/** Reads of every kind: none names a project, and all are asked of two. */
const reads: Record<string, [path: string, body: object]> = {
  'all calls': ['/calls/stream_query', {}],
  'calls, newest first': ['/calls/stream_query', { sort_by: newest, limit: 5 }],
  'a page behind all': ['/calls/stream_query', { sort_by: newest, offset: 2, limit: 5 }],
  roots: ['/calls/stream_query', { filter: { trace_roots_only: true }, columns: ['id', 'op_name'] }],
  'an old call among ids': ['/calls/stream_query', { filter: { call_ids: [idOf(1), idOf(2)] } }],
  'an old trace': ['/calls/stream_query', { filter: { trace_ids: [idOf(1)] } }],
  'children of an old call': ['/calls/stream_query', { filter: { parent_ids: [idOf(1)] } }],
  'an old op': ['/calls/stream_query', { filter: { op_names: ['op-old'] } }],
  'an old thread': ['/calls/stream_query', { filter: { thread_ids: ['thread-old'] } }],
  'a value of inputs': ['/calls/stream_query', { query: $is('inputs.text', 'old') }],
  'a value of output': ['/calls/stream_query', { query: $is('output.said', 'old') }],
  'a text of output': ['/calls/stream_query', { query: $has('output.said', 'ol') }],
  'what is not a value': ['/calls/stream_query', { query: { $expr: { $not: [$is('inputs.text', 'x').$expr] } } }],
  'in the order of a field': ['/calls/stream_query', { sort_by: [{ field: 'output.n', direction: 'asc' }] }],
  'a call': ['/call/read', { id: idOf(1) }],
  'a count': ['/calls/query_stats', {}],
  'a count of roots': ['/calls/query_stats', { filter: { trace_roots_only: true } }],
  'a count of matches': ['/calls/query_stats', { query: $is('inputs.text', 'old') }],
  'a count with sizes': ['/calls/query_stats', { include_total_storage_size: true }],
  'usage of calls': ['/calls/usage', { call_ids: [idOf(1), idOf(2)] }],
  'usage of traces': ['/trace/usage', { filter: { trace_ids: [idOf(1), idOf(2)] } }],
  threads: ['/threads/stream_query', {}],
  aggregates: [
    '/calls/aggregate',
    { ...lately, bucket: 'day', group_by: ['model'], metrics: [{ field: 'calls', as: 'sum' }] },
  ],
  'stored bytes': ['/project/stats', { include_object_storage_size: false }],
  statistics: [
    '/calls/stats',
    {
      ...lately,
      granularity: 86_400,
      usage_metrics: [{ metric: 'input_tokens' }],
      call_metrics: [{ metric: 'call_count' }],
    },
  ],
  fields: ['/calls/fields', {}],
  'values of a field': ['/calls/values', { fields: ['inputs.text'] }],
  'values of an op': ['/calls/values', { fields: ['op_name'] }],
  cells: ['/calls/cells', { call_ids: [idOf(1), idOf(2)], paths: ['inputs.text'] }],
}

describe('calls past the days of their project', () => {
  const [aged, young] = ['ent/aged', 'ent/young']

  beforeAll(async () => {
    const fresh = (project: string) => [
      ...callOf(project, 2, 10 * dayMs, 'new'),
      ...callOf(project, 3, hourMs, 'new', { parent_id: idOf(2), trace_id: idOf(2) }),
    ]
    // Within an hour of the cutoff, which may come during the test.
    const edge = (project: string) => callOf(project, 4, 30 * dayMs - hourMs, 'new')
    const batch = [
      ...callOf(aged, 1, 60 * dayMs, 'old'),
      ...callOf(aged, 5, 30 * dayMs + hourMs, 'old', { parent_id: idOf(1), trace_id: idOf(1) }),
      ...fresh(aged),
      ...edge(aged),
      ...fresh(young),
      ...edge(young),
    ]
    await server.send('/call/upsert_batch', { batch })
    expect(await put(aged, { calls_days: 30 })).toEqual({ status: 200, body: { calls_days: 30 } })
  })

  it.each(Object.entries(reads))('are not in %s', async (_, [path, body]) => {
    const [hidden, without] = [
      await ask(path, { project_id: aged, ...body }),
      await ask(path, { project_id: young, ...body }),
    ]
    const neutral = (text: string) =>
      text
        .split('\n')
        .map((line) => line.replaceAll(aged, 'ent/same').replaceAll(young, 'ent/same'))
        .sort()
    expect(hidden.text).not.toContain('old')
    expect([hidden.status, neutral(hidden.text)]).toEqual([without.status, neutral(without.text)])
    expect(hidden.status).toBe(200)
  })

  it('come back when the days become more, as nothing was deleted', async () => {
    expect(await server.send('/project/ttl_settings/update', { project_id: aged, retention_days: 61 })).toEqual({
      retention_days: 61,
    })
    expect(await server.send('/project/ttl_settings/read', { project_id: aged })).toEqual({ retention_days: 61 })
    expect(await server.send('/calls/query_stats', { project_id: aged })).toMatchObject({ count: 5 })
    await server.send('/project/ttl_settings/update', { project_id: aged })
    expect(await server.send('/project/ttl_settings/read', { project_id: aged })).toEqual({ retention_days: null })
    expect((await ask('/call/read', { project_id: aged, id: idOf(1) })).text).toContain('old')
    await put(aged, { calls_days: 30 })
    expect(await server.send('/calls/query_stats', { project_id: aged })).toMatchObject({ count: 3 })
  })

  it('are told of, with when they go', async () => {
    const { url } = server.now()
    const answer = await fetch(`${url}/v2/${aged}/retention`, { headers: { authorization: 'Bearer test-key' } })
    const possible = [0, hourMs].map((ms) => new Date(nowMs + ms - 30 * dayMs).toISOString())
    const calls_before = expect.toSatisfy((time: string) => possible.includes(time))
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        calls_days: 30,
        payloads_days: 30,
        files_days: null,
        stats_days: 30,
        feedback: 'with_calls',
        logs_days: 30,
        defaults: { calls_days: null, logs_days: expect.any(Number) },
        calls_before,
        payloads_before: calls_before,
        stats_before: calls_before,
        logs_before: calls_before,
        held: false,
        hidden_calls: expect.any(Number),
        removed_within_days: 1,
        bytes_within_days: 36,
      },
    ])
  })

  it('are told of as held while anything of the project is', async () => {
    const { url } = server.now()
    const headers = { 'content-type': 'application/json', authorization: 'Bearer test-key' }
    for (const [held, days] of [
      [{ call_ids: [idOf(1)] }, 1],
      [{ all: true }, null],
    ]) {
      const body = JSON.stringify({ ...(held as object), reason: 'a dispute' })
      expect((await fetch(`${url}/v2/${aged}/holds`, { method: 'POST', headers, body })).status).toBe(200)
      const state = await (await fetch(`${url}/v2/${aged}/retention`, { headers })).json()
      expect(state).toMatchObject({ held: true, removed_within_days: days })
    }
  })

  it('are accepted when they come late, and hidden', async () => {
    await server.send('/call/upsert_batch', { batch: callOf(aged, 6, 90 * dayMs, 'old') })
    expect(await server.send('/calls/query_stats', { project_id: aged })).toMatchObject({ count: 3 })
    expect((await ask('/call/read', { project_id: aged, id: idOf(6) })).text).toBe('{"call":null}')
  })

  it('are hidden from long requests too, which threads answer', async () => {
    // Whatever is not that text, in 200 KB.
    const query = { $expr: { $not: [$is('inputs.text', 'x'.repeat(200_000)).$expr] } }
    const { status, text } = await ask('/calls/stream_query', { project_id: aged, query })
    expect([status, text.split('\n').filter((line) => line !== '').length]).toEqual([200, 3])
    expect(text).not.toContain('old')
  })
})

it('the list of projects counts no calls past their days', async () => {
  const { projects } = await server.send<{ projects: { project_id: string; calls: number; first_call_at: string }[] }>(
    '/projects/query',
    {},
  )
  const [aged, young] = ['ent/aged', 'ent/young'].map((id) => projects.find(({ project_id }) => project_id === id))
  expect(aged).toEqual({ ...young, project_id: 'ent/aged' })
  expect(aged?.calls).toBe(3)
})

describe('payloads that are kept for less time than their calls', () => {
  const project_id = 'ent/light'

  it('read as empty, say so, and match no condition', async () => {
    await server.send('/call/upsert_batch', {
      batch: [...callOf(project_id, 1, 60 * dayMs, 'old'), ...callOf(project_id, 2, dayMs, 'new')],
    })
    expect((await put(project_id, { calls_days: 90, payloads_days: 30, stats_days: 10 })).status).toBe(200)
    type Call = { inputs: object; output: object | null; attributes: object; summary: { weave: object } }
    const { call } = await server.send<{ call: Call }>('/call/read', { project_id, id: idOf(1) })
    expect(call).toMatchObject({
      inputs: {},
      output: null,
      attributes: {},
      summary: { weave: { payloads_expired: true } },
    })
    const lines = await server.list<Call>('/calls/stream_query', { project_id })
    expect(lines.map(({ output }) => output)).toEqual(expect.arrayContaining([null, { said: 'new', n: 2 }]))
    const newer = await server.send<{ call: Call }>('/call/read', { project_id, id: idOf(2) })
    expect(newer.call.summary.weave).not.toHaveProperty('payloads_expired')
    const count = (query: object) => server.send('/calls/query_stats', { project_id, query })
    expect(await count($is('inputs.text', 'old'))).toMatchObject({ count: 0 })
    expect(await count($is('inputs.text', 'new'))).toMatchObject({ count: 1 })
    expect((await ask('/calls/values', { project_id, fields: ['inputs.text'] })).text).not.toContain('old')
    const { call_buckets } = await server.send<{ call_buckets: { sum_call_count: number }[] }>('/calls/stats', {
      project_id,
      ...lately,
      granularity: 86_400,
      call_metrics: [{ metric: 'call_count' }],
    })
    expect(call_buckets.reduce((sum, bucket) => sum + (bucket.sum_call_count ?? 0), 0)).toBe(1)
    // Usage is that of the calls which are seen, whatever their statistics tell.
    await derived()
    const metrics = [{ field: 'input_tokens', as: 'sum' }]
    const asked = { project_id, start: agoOf(61 * dayMs), end: agoOf(50 * dayMs), group_by: ['op_name'], metrics }
    expect(await server.send('/calls/aggregate', asked)).toMatchObject({
      groups: [{ keys: ['op-old'], total: { 'input_tokens.sum': 1 } }],
    })
  })

  it('stay hidden when they are to be kept for longer again: they may be removed', async () => {
    expect((await put(project_id, { calls_days: 90, stats_days: 10 })).status).toBe(200)
    expect(await server.send('/call/read', { project_id, id: idOf(1) })).toMatchObject({
      call: { inputs: {}, output: null },
    })
    expect(await server.send('/call/read', { project_id, id: idOf(2) })).toMatchObject({
      call: { output: { said: 'new' } },
    })
    expect((await put(project_id, { calls_days: 90, payloads_days: 30, stats_days: 10 })).status).toBe(200)
  })

  it('cannot be kept for longer than they', async () => {
    expect(await put(project_id, { calls_days: 10, payloads_days: 11 })).toEqual({
      status: 422,
      body: { reason: 'payloads_days (11) is more than the days of calls (10)' },
    })
    expect((await put(project_id, { calls_day: 10 })).status).toBe(422)
    expect((await put(project_id, { calls_days: 0 })).status).toBe(422)
    expect((await ask('/project/ttl_settings/update', { project_id, retention_days: 0 })).status).toBe(422)
    expect((await ask('/project/ttl_settings/update', { project_id, retention_days: 29 })).status).toBe(422)
    expect(await server.send('/project/ttl_settings/read', { project_id })).toEqual({ retention_days: 90 })
  })
})

/** Everything that is derived of calls is as far as the calls are. */
const derived = async () => {
  const { worker } = server.now()
  await worker?.caughtUp()
  await worker?.rollups.refresh()
  await worker?.fieldIndexRollups.refresh()
}

it('statistics that are kept for longer than their calls stay as they are when a call comes late for their minute', async () => {
  const project_id = 'ent/long-stats'
  const counted = async () => {
    const { call_buckets } = await server.send<{ call_buckets: { sum_call_count: number }[] }>('/calls/stats', {
      project_id,
      start: agoOf(41 * dayMs),
      end: agoOf(39 * dayMs),
      granularity: 86_400,
      call_metrics: [{ metric: 'call_count' }],
    })
    return call_buckets.reduce((sum, bucket) => sum + (bucket.sum_call_count ?? 0), 0)
  }
  const agoMs = 40 * dayMs
  await server.send('/call/upsert_batch', {
    batch: [...callOf(project_id, 1, agoMs, 'old'), ...callOf(project_id, 2, agoMs - 1_000, 'old')],
  })
  await derived()
  await put(project_id, { calls_days: 30, stats_days: 400 })
  // The statement of the purge.
  const sql = `DELETE FROM callhouse.calls WHERE project_id = {project_id:String}`
  await server.now().store.command({ name: 'test.remove', sql, params: { project_id } })
  expect(await counted()).toBe(2)
  await server.send('/call/upsert_batch', { batch: callOf(project_id, 3, agoMs - 2_000, 'old') })
  await derived()
  expect(await counted()).toBe(2)
})

it('the output of a call that says it ended before all that is seen is found by its values', async () => {
  const project_id = 'ent/early-end'
  const [start, end] = callOf(project_id, 1, 10 * dayMs, 'new').map(({ req }) => req)
  await server.send('/call/start', start)
  await server.send('/call/end', { end: { ...end?.end, ended_at: agoOf(60 * dayMs) } })
  await derived()
  const found = async (body: object) =>
    (await server.list<{ id: string }>('/calls/stream_query', { project_id, ...body })).map(({ id }) => id)
  await put(project_id, { calls_days: 30 })
  expect(await found({ query: $is('output.said', 'new') })).toEqual([idOf(1)])
  expect(await found({ sort_by: [{ field: 'output.n', direction: 'asc' }], limit: 5 })).toEqual([idOf(1)])
  expect(await found({ query: $is('output.said', 'old') })).toEqual([])
})
