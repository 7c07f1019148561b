// Usage as SDKs, libraries and APIs name it: tokens under the right model in every answer, billed as the provider bills.
import { beforeAll, expect, it } from 'vitest'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'
import { usageCases } from '../fixtures/usage-cases.ts'

const project_id = 'usage/names'
const startedMs = Date.UTC(2026, 9, 6, 12)

let server: RunningServer
const entries = Object.entries(usageCases)
const idOf = (n: number, digits: number) => (n + 1).toString(16).padStart(digits, '0')

const nothing = { inputs: {}, attributes: {} }

beforeAll(async () => {
  server = await sharedServer()
  const price = {
    prompt_token_cost: 1e-6,
    completion_token_cost: 3e-6,
    cache_read_input_token_cost: 0.1e-6,
    cache_creation_input_token_cost: 2e-6,
    effective_date: '2020-01-01T00:00:00Z',
  }
  await server.send('/cost/create', {
    project_id,
    costs: Object.fromEntries(entries.map(([, one]) => [one.model, price])),
  })
  const at = (n: number) => startedMs + n * 60_000
  const batch = entries.flatMap(([name, one], n) => {
    if (!('usage' in one)) return []
    const id = `00000000-0000-7000-8000-${idOf(n, 12)}`
    const [started_at, ended_at] = [at(n), at(n) + 1].map((ms) => new Date(ms).toISOString())
    const start = { project_id, id, trace_id: id, op_name: 'ask', display_name: name, started_at, ...nothing }
    const end = { project_id, id, ended_at, output: null, summary: { usage: { [one.model]: one.usage } } }
    return [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end } },
    ]
  })
  await server.send('/call/upsert_batch', { batch })
  const scopeSpans = entries.flatMap(([name, one], n) => {
    if (!('span' in one)) return []
    const attributes = Object.entries({ ...one.span, 'wandb.display_name': name }).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: value } : { stringValue: value },
    }))
    const times = { startTimeUnixNano: String(at(n) * 1e6), endTimeUnixNano: String((at(n) + 1) * 1e6) }
    const span = { traceId: idOf(n, 32), spanId: idOf(n, 16), name, kind: 3, attributes, ...times }
    return [{ scope: { name: one.scope ?? 'other' }, spans: [span] }]
  })
  await server.send('/otel/v1/traces', { resourceSpans: [{ scopeSpans }] }, { project_id })
})

const right = Object.fromEntries(
  entries.map(([name, { model, input, output, bill }]) => [name, { model, input, output, bill }]),
)
const millionths = (dollars: number): number => Number((dollars * 1e6).toPrecision(10))
const nameAt = (ms: number): string => entries[Math.round((ms - startedMs) / 60_000)]?.[0] ?? ''

it('each call shows its tokens and costs', async () => {
  type Usage = Record<string, { prompt_tokens: number; completion_tokens: number } & Record<string, number>>
  const calls = await server.list<{ id: string; started_at: string }>('/calls/stream_query', { project_id })
  const asked = { project_id, call_ids: calls.map(({ id }) => id), include_costs: true }
  const { call_usage } = await server.send<{ call_usage: Record<string, Usage> }>('/calls/usage', asked)
  const told = calls.map(({ id, started_at }) => {
    const [[model, usage]] = Object.entries(call_usage[id] ?? {}) as [[string, Usage[string]]]
    const costs = Object.entries(usage).flatMap(([key, value]) => (key.endsWith('_total_cost') ? [value] : []))
    const { prompt_tokens: input, completion_tokens: output } = usage
    const bill = millionths(costs.reduce((sum, one) => sum + one, 0))
    return [nameAt(Date.parse(started_at)), { model, input, output, bill }] as const
  })
  expect(Object.fromEntries(told)).toEqual(right)
})

it('lists and time series tell the same', async () => {
  type Costs = Record<string, Record<string, number>>
  type Listed = { started_at: string; summary: { weave: { costs: Costs } } }
  const listed = await server.list<Listed>('/calls/stream_query', { project_id, include_costs: true })
  const told = listed.map(({ started_at, summary }) => {
    const [[model, entry]] = Object.entries(summary.weave.costs) as [[string, Record<string, number>]]
    const costs = Object.entries(entry).flatMap(([key, value]) => (key.endsWith('_total_cost') ? [value] : []))
    const { prompt_tokens: input, completion_tokens: output } = entry
    return [
      nameAt(Date.parse(started_at)),
      { model, input, output, bill: millionths(costs.reduce((sum, one) => sum + one, 0)) },
    ] as const
  })
  expect(Object.fromEntries(told)).toEqual(right)
  const { usage_buckets } = await server.send<{ usage_buckets: Record<string, number | string>[] }>('/calls/stats', {
    project_id,
    start: new Date(startedMs).toISOString(),
    end: new Date(startedMs + 3 * 3_600_000).toISOString(),
    granularity: 60,
    usage_metrics: ['input_tokens', 'output_tokens', 'total_cost'].map((metric) => ({ metric })),
  })
  const inBuckets = usage_buckets.flatMap((bucket) => {
    if (bucket.count === 0) return []
    const { timestamp, model, sum_input_tokens: input, sum_output_tokens: output, sum_total_cost: cost } = bucket
    return [[nameAt(Date.parse(String(timestamp))), { model, input, output, bill: millionths(Number(cost)) }] as const]
  })
  expect(Object.fromEntries(inBuckets)).toEqual(right)
})
