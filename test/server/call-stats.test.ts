// POST /calls/stats: the worked example of the specification, buckets, aggregates, filters and refusals.
// again: kafka
import { beforeAll, describe, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'
import {
  statsCallId as id,
  type StatsCall,
  statsSpanTrace,
  storeStatsCall,
  storeStatsExample,
} from '../fixtures/stats-calls.ts'

let server: RunningServer
const project_id = 'stats/example'

async function send(path: string, body: unknown): Promise<{ status: number; json: unknown }> {
  const { status, text } = await post(server.now().url, path, body)
  return { status, json: JSON.parse(text) }
}

type Bucket = Record<string, string | number | null>
type Stats = {
  start: string
  end: string
  granularity: number
  timezone: string
  usage_buckets: Bucket[]
  call_buckets: Bucket[]
}

async function stats(body: object): Promise<Stats> {
  const { status, json } = await send('/calls/stats', { project_id, start: '2024-01-01T00:00:00Z', ...body })
  expect([status, status === 200 ? '' : json]).toEqual([200, ''])
  return json as Stats
}

const store = (project: string, name: string, call: StatsCall) => storeStatsCall(server, project, name, call)

beforeAll(async () => {
  server = await sharedServer()
  await storeStatsExample(server, project_id)
})

const end = '2024-01-01T03:00:00Z'
const usage_metrics = [
  { metric: 'input_tokens', aggregations: ['sum', 'avg', 'min', 'max', 'count'], percentiles: [50] },
  { metric: 'total_tokens' },
]
const call_metrics = [
  { metric: 'latency_ms', aggregations: ['avg', 'max', 'count'], percentiles: [50, 95] },
  { metric: 'call_count' },
  { metric: 'error_count', aggregations: ['sum', 'count_true', 'count_false'] },
]

describe('the worked example', () => {
  const usageRow = (at: string, model: string, values: (number | null)[]): Bucket => {
    const keys = ['sum_', 'avg_', 'min_', 'max_', 'count_', 'p50_'].map((key) => `${key}input_tokens`)
    const named = [...keys, 'sum_total_tokens', 'count'].map((key, n) => [key, values[n] ?? null])
    return { timestamp: `2024-01-01T${at}:00+00:00`, model, ...Object.fromEntries(named) }
  }
  const none = [0, 0, null, null, 0, null, 0, 0]

  it('answers usage and calls', async () => {
    const answer = await stats({ end, usage_metrics, call_metrics })
    expect(answer).toMatchObject({ start: '2024-01-01T00:00:00Z', end, granularity: 3600, timezone: 'UTC' })
    expect(answer.usage_buckets).toEqual([
      usageRow('00:00', 'm1', [40, 20, 10, 30, 2, 20, 15, 2]),
      usageRow('00:00', 'm2', none),
      usageRow('01:00', 'm1', none),
      usageRow('01:00', 'm2', none),
      usageRow('02:00', 'm1', [8, 4, 1, 7, 2, 4, 0, 2]),
      usageRow('02:00', 'm2', [100, 100, 100, 100, 1, 100, 0, 1]),
    ])
    const keys = ['avg_latency_ms', 'max_latency_ms', 'count_latency_ms', 'p50_latency_ms', 'p95_latency_ms']
    const more = ['sum_call_count', 'sum_error_count', 'count_true_error_count', 'count_false_error_count', 'count']
    const callRow = (at: string, values: unknown[]) => ({
      timestamp: `2024-01-01T${at}:00+00:00`,
      ...Object.fromEntries([...keys, ...more].map((key, n) => [key, values[n]])),
    })
    expect(answer.call_buckets).toEqual([
      callRow('00:00', [2000, 3000, 2, 2000, 2900, 2, 0, 0, 2, 2]),
      callRow('01:00', [0, null, 0, null, null, 0, 0, 0, 0, 0]),
      callRow('02:00', [expect.closeTo(13_000 / 3), 10_000, 3, 2000, 9200, 4, 1, 1, 3, 4]),
    ])
  })

  it('takes usage of roots and spans, and counts roots, with trace_roots_only', async () => {
    const filter = { trace_roots_only: true }
    const { usage_buckets, call_buckets } = await stats({ end, filter, usage_metrics, call_metrics })
    const at = '2024-01-01T02:00:00+00:00'
    expect(usage_buckets.find(({ timestamp, model }) => timestamp === at && model === 'm1')).toMatchObject({
      sum_input_tokens: 1,
      count: 1,
    })
    expect(call_buckets[2]).toMatchObject({ sum_call_count: 2, count: 2 })
  })

  it('aligns buckets to the granularity', async () => {
    const { call_buckets, granularity, usage_buckets } = await stats({
      start: '2024-01-01T00:07:00Z',
      end: '2024-01-01T00:30:00Z',
      granularity: 600,
      call_metrics: [{ metric: 'call_count' }],
    })
    const at = (minute: string) => `2024-01-01T00:${minute}:00+00:00`
    expect(call_buckets).toEqual([
      { timestamp: at('00'), sum_call_count: 0, count: 0 },
      { timestamp: at('10'), sum_call_count: 1, count: 1 },
      { timestamp: at('20'), sum_call_count: 1, count: 1 },
    ])
    expect([granularity, usage_buckets]).toEqual([600, []])
  })
})

describe('costs', () => {
  const at = (hour: number) => `2024-01-01T0${hour}:00:00+00:00`
  const price = { prompt_token_cost: 0.001, completion_token_cost: 0.002, cache_read_input_token_cost: 0.0001 }
  const setPrice = (more: object) => send('/cost/create', { project_id, costs: { m1: { ...price, ...more } } })

  it('are made of the sums of a row and the latest price of its model', async () => {
    await setPrice({ effective_date: '2025-01-01T00:00:00Z' })
    await setPrice({ prompt_token_cost: 9, effective_date: '2020-01-01T00:00:00Z' })
    const asked = ['input_cost', 'output_cost', 'total_cost'].map((metric) => ({ metric, percentiles: [50] }))
    const { usage_buckets } = await stats({ end, usage_metrics: asked })
    const row = (hour: number, model: string, sums: [number, number], costs: number[], count: number) => ({
      timestamp: at(hour),
      model,
      sum_input_tokens: sums[0],
      sum_output_tokens: sums[1],
      sum_input_cost: expect.closeTo(costs[0] ?? 0, 9),
      sum_output_cost: expect.closeTo(costs[1] ?? 0, 9),
      sum_total_cost: expect.closeTo(costs[2] ?? 0, 9),
      count,
    })
    expect(usage_buckets).toEqual([
      row(0, 'm1', [40, 25], [0.03, 0.05, 0.081], 2),
      row(0, 'm2', [0, 0], [], 0),
      row(1, 'm1', [0, 0], [], 0),
      row(1, 'm2', [0, 0], [], 0),
      row(2, 'm1', [8, 3], [0.008, 0.006, 0.014], 2),
      row(2, 'm2', [100, 0], [], 1),
    ])
  })

  it('shows the tokens as they are asked for, and only the sums that belong to a cost', async () => {
    const first = async (...usage_metrics: object[]) => (await stats({ end, usage_metrics })).usage_buckets[0] ?? {}
    expect(
      Object.keys(await first({ metric: 'output_cost', aggregations: ['avg'], percentiles: [400] })).sort(),
    ).toEqual(['count', 'model', 'sum_output_cost', 'sum_output_tokens', 'timestamp'])
    const row = await first({ metric: 'input_cost' }, { metric: 'input_tokens', aggregations: ['avg'] })
    expect(row).toEqual({
      timestamp: at(0),
      model: 'm1',
      avg_input_tokens: 20,
      sum_input_cost: expect.closeTo(0.03, 9),
      count: 2,
    })
  })
})

describe('values', () => {
  it('leaves totals that were not reported out, and counts those that were reported as 0', async () => {
    const project = 'stats/totals'
    await store(project, 't1', { at: '00:01:00', ms: 1, usage: { m: { input_tokens: 5 }, n: { total_tokens: null } } })
    await store(project, 't2', { at: '00:02:00', ms: 1, usage: { m: { input_tokens: 5, total_tokens: 0 } } })
    await store(project, 't3', { at: '00:03:00', ms: 1, usage: { m: { total_tokens: 6 } } })
    const total = {
      metric: 'total_tokens',
      aggregations: ['sum', 'avg', 'min', 'count', 'count_false'],
      percentiles: [99.9],
    }
    const { usage_buckets } = await stats({ project_id: project, end: '2024-01-01T00:05:00Z', usage_metrics: [total] })
    const timestamp = '2024-01-01T00:00:00+00:00'
    expect(usage_buckets).toEqual([
      {
        timestamp,
        model: 'm',
        sum_total_tokens: 6,
        avg_total_tokens: 3,
        min_total_tokens: 0,
        count: 3,
        count_total_tokens: 2,
        count_false_total_tokens: 1,
        'p99.9_total_tokens': expect.closeTo(5.994),
      },
      {
        timestamp,
        model: 'n',
        sum_total_tokens: 0,
        avg_total_tokens: 0,
        min_total_tokens: null,
        count: 1,
        count_total_tokens: 0,
        count_false_total_tokens: 0,
        'p99.9_total_tokens': null,
      },
    ])
  })

  it('has no latency for running calls and for ends before the start', async () => {
    const project = 'stats/latency'
    await store(project, 'l1', { at: '00:01:00', ms: -5 })
    await store(project, 'l2', { at: '00:02:00' })
    await store(project, 'l3', { at: '00:03:00', ms: 1, end: { ended_at: '2024-01-01T00:03:00.001999Z' } })
    const latency = { metric: 'latency_ms', aggregations: ['sum', 'count'] }
    const { call_buckets } = await stats({ project_id: project, end: '2024-01-01T00:05:00Z', call_metrics: [latency] })
    expect(call_buckets).toEqual([
      { timestamp: '2024-01-01T00:00:00+00:00', sum_latency_ms: 1, count_latency_ms: 1, count: 3 },
    ])
  })

  it('follows late ends and deletes', async () => {
    const project = 'stats/late'
    const asked = { project_id: project, end: '2024-01-01T00:05:00Z', usage_metrics: [{ metric: 'output_tokens' }] }
    await store(project, 'x', { at: '00:01:00' })
    expect((await stats(asked)).usage_buckets).toEqual([])
    await store(project, 'x', { at: '00:01:00', ms: 5, usage: { m: { output_tokens: 3 } } })
    expect((await stats(asked)).usage_buckets).toMatchObject([{ model: 'm', sum_output_tokens: 3, count: 1 }])
    await send('/calls/delete', { project_id: project, call_ids: [id('x')] })
    expect((await stats(asked)).usage_buckets).toEqual([])
  })

  it('uses the sum when both lists are empty, and only percentiles when one is given', async () => {
    const [first] = (await stats({ end, call_metrics: [{ metric: 'call_count', aggregations: [], percentiles: [] }] }))
      .call_buckets
    expect(Object.keys(first ?? {})).toEqual(['timestamp', 'sum_call_count', 'count'])
    const metric = { metric: 'call_count', aggregations: [], percentiles: [50.0] }
    const [second] = (await stats({ end, call_metrics: [metric] })).call_buckets
    expect(Object.keys(second ?? {})).toEqual(['timestamp', 'p50_call_count', 'count'])
  })

  it('has every percentile of a metric, whichever spec names it', async () => {
    const latency = (percentiles: number[]) => ({ metric: 'latency_ms', aggregations: [], percentiles })
    const specs = [latency([0, 50]), latency([100, 50]), { metric: 'error_count', percentiles: [100] }]
    const { call_buckets } = await stats({ end, granularity: 86_400, call_metrics: specs })
    expect(call_buckets[0]).toMatchObject({
      p0_latency_ms: 1000,
      p50_latency_ms: 2000,
      p100_latency_ms: 10_000,
      p100_error_count: 1,
    })
  })

  it.each([
    [{ call_ids: [id('a'), id('c')] }, 2],
    [{ parent_ids: [id('d')] }, 1],
    [{ trace_ids: [statsSpanTrace] }, 1],
    [{ op_names: ['o:*'] }, 0],
    [{ op_names: ['op'] }, 5],
    [{ thread_ids: [] }, 0],
  ])('takes every filter: %j', async (filter, count) => {
    const { call_buckets } = await stats({ end, granularity: 86_400, filter, call_metrics: [{ metric: 'call_count' }] })
    expect(call_buckets.map((bucket) => bucket.count)).toEqual([count])
  })
})

describe('the time axis', () => {
  const call_metrics = [{ metric: 'call_count' }]
  const day = 86_400
  const later = (seconds: number) => new Date(Date.UTC(2024, 0, 1) + seconds * 1000).toISOString()

  it.each([
    [2 * 3600, 300],
    [2 * 3600 + 1, 3600],
    [12 * 3600, 3600],
    [12 * 3600 + 1, 21_600],
    [3 * day, 21_600],
    [3 * day + 1, 43_200],
    [14 * day, 43_200],
    [14 * day + 1, 86_400],
    [31 * day, 86_400],
  ])('chooses the granularity of %d seconds: %d', async (span, granularity) => {
    expect((await stats({ end: later(span), call_metrics })).granularity).toBe(granularity)
  })

  it('has at most 10,000 buckets', async () => {
    const answer = await stats({ end: later(31 * day), granularity: 1, call_metrics })
    expect(answer.granularity).toBe(268)
    const first = Date.UTC(2024, 0, 1) / 1000
    expect(answer.call_buckets).toHaveLength(Math.ceil((31 * day + (first % 268)) / 268))
    const times = answer.call_buckets.map(({ timestamp }) => Date.parse(String(timestamp)) / 1000)
    expect([times[0], times.every((time) => time % 268 === 0)]).toEqual([first - (first % 268), true])
  })

  it('has one bucket when the granularity is beyond all time', async () => {
    const { call_buckets } = await stats({ end: later(day), granularity: 1e300, call_metrics })
    expect(call_buckets).toEqual([{ timestamp: '1970-01-01T00:00:00+00:00', sum_call_count: 6, count: 6 }])
  })

  it.each([
    ['America/New_York', '2023-12-31T19:00:00-05:00'],
    ['Asia/Kolkata', '2024-01-01T05:30:00+05:30'],
    ['UTC', '2024-01-01T00:00:00+00:00'],
    ['Europe/London', '2024-01-01T00:00:00+00:00'],
  ])('writes times with the offset of %s', async (timezone, timestamp) => {
    const answer = await stats({ end: later(day), granularity: day, timezone, call_metrics })
    expect([answer.timezone, answer.call_buckets[0]?.timestamp]).toEqual([timezone, timestamp])
  })

  it('ends now unless told, and has no granularity without metrics', async () => {
    const start = new Date(Date.now() - 3_600_000).toISOString()
    const answer = await stats({ start, usage_metrics: [], call_metrics: null })
    expect(answer).toMatchObject({ granularity: 0, timezone: 'UTC', usage_buckets: [], call_buckets: [] })
    expect(Date.parse(answer.end)).toBeGreaterThan(Date.parse(start))
  })
})

describe('refusals', () => {
  const ask = (body: object) => send('/calls/stats', { project_id, start: '2024-01-01T00:00:00Z', end, ...body })

  it.each([
    [{ end: '2023-12-31T00:00:00Z' }, 'CallStatsReq end must be after start'],
    [{ end: '2024-02-01T00:00:00.000001Z' }, 'CallStatsReq date range cannot exceed 31 days'],
    [{ end: null }, 'CallStatsReq date range cannot exceed 31 days'],
  ])('422 for the request %j', async (body, message) => {
    const { status, json } = await ask(body)
    expect([status, (json as { detail: { msg: string }[] }).detail[0]?.msg]).toEqual([
      422,
      expect.stringContaining(message),
    ])
  })

  it.each([
    [{ granularity: 0 }],
    [{ start: 'never' }],
    [{ start: '9999-01-01T00:00:00Z', end: '9999-01-02T00:00:00Z' }],
    [{ start: 1e300 }],
    [{ usage_metrics: [{ metric: 'latency_ms' }] }],
    [{ call_metrics: [{ metric: 'input_tokens' }] }],
    [{ call_metrics: [{ metric: 'call_count', aggregations: ['median'] }] }],
  ])('422 detail for %j', async (body) => {
    const { status, json } = await ask(body)
    expect([status, json]).toEqual([422, { detail: expect.any(Array) }])
  })

  const tooSmall = { loc: ['body', 'granularity'], type: 'greater_than_equal' }
  it.each([0, -5, '0'])('a granularity of %j is too small', async (granularity) => {
    const { json } = await ask({ granularity })
    expect(json).toEqual({
      detail: [{ ...tooSmall, msg: 'Input should be greater than or equal to 1' }],
    })
  })

  const percentiles = Array.from({ length: 100 }, (_, n) => n + 0.5)
  const long = { end: '2024-01-01T02:46:40Z', granularity: 1 }
  const tokens = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']

  it.each([
    [{ ...long, call_metrics: ['latency_ms', 'call_count', 'error_count'].map((metric) => ({ metric, percentiles })) }],
    [{ ...long, usage_metrics: tokens.map((metric) => ({ metric, percentiles })) }],
    // Two models.
    [{ ...long, usage_metrics: [{ metric: 'input_tokens', percentiles }] }],
    [{ call_metrics: [{ metric: 'call_count', percentiles: Array.from({ length: 501 }, (_, n) => n / 10) }] }],
  ])('400 for more values than an answer may have: %#', async (body) => {
    const { status, json } = await ask(body)
    expect([status, json]).toEqual([400, { reason: expect.stringMatching(/values/) }])
  })

  it.each([
    [{ timezone: 'Mars/Olympus' }],
    [{ timezone: '+05:00' }],
    [{ call_metrics: [{ metric: 'call_count', percentiles: [101] }] }],
    [{ call_metrics: [{ metric: 'call_count', percentiles: [-1] }] }],
  ])('400 for the request %j', async (body) => {
    const { status, json } = await ask(body)
    expect([status, json]).toEqual([400, { reason: expect.any(String) }])
  })
})
