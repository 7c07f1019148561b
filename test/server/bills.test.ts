// tier: deep slow
// Bills of real usage: every answer that tells costs tells the same, live, from the statistics and after rebuilds.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { follow } from '../../services/cli/follow.ts'
import { askOverSocket } from '../../services/core/process/control-socket.ts'
import type { ExplainedCost } from '../../services/query/call-costs/explain.ts'
import { billCases } from '../fixtures/bills.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { spanAttributes } from '../fixtures/span-usages.ts'

const project_id = 'bills/golden'
const startedMs = Date.UTC(2026, 9, 5, 12)
const hex = (n: number, digits: number) => (n + 1).toString(16).padStart(digits, '0')
const cases = billCases.map((one, n) => ({
  ...one,
  // Shipped prices change, and would be later than these.
  model: `golden/${one.model}`,
  id: 'span' in one ? hex(n, 16) : `00000000-0000-7000-8000-${hex(n, 12)}`,
  startedMs: startedMs + n * 60_000,
}))
const dir = mkdtempSync(join(tmpdir(), 'callhouse-bills-'))
let server: LiveServer

const iso = (ms: number) => new Date(ms).toISOString()
const nanos = (ms: number) => String(ms * 1e6)

async function ask(command: string, args: string[]): Promise<unknown> {
  const reply = await askOverSocket(server.dataDir, { command, args })
  if (!reply?.ok) throw new Error(reply?.reason)
  return reply.result
}

type Called = Extract<(typeof cases)[number], { usage: object }>

/** The parts of a call; those of a split one come in two requests. */
function partsOf(one: Called): [start: object, end: object] {
  const { id, startedMs: at, model, usage } = one
  const start = {
    project_id,
    id,
    trace_id: id,
    op_name: 'ask',
    started_at: iso(at),
    inputs: {},
    attributes: one.attributes ?? {},
  }
  const end = { project_id, id, ended_at: iso(at + 1000), output: null, summary: { usage: { [model]: usage } } }
  return [
    { mode: 'start', req: { start } },
    { mode: 'end', req: { end } },
  ]
}

async function storeAll(): Promise<void> {
  const calls = cases.flatMap((one) => ('usage' in one ? [one] : []))
  const [apart, whole] = [calls.filter(({ isSplit }) => isSplit), calls.filter(({ isSplit }) => !isSplit)]
  await server.send('/call/upsert_batch', { batch: whole.flatMap(partsOf) })
  for (const part of [0, 1] as const)
    await server.send('/call/upsert_batch', { batch: apart.map((one) => partsOf(one)[part]) })
  const scopeSpans = cases.flatMap((one) => {
    if (!('span' in one)) return []
    const { id, startedMs: at, model, scope, span } = one
    const times = { startTimeUnixNano: nanos(at), endTimeUnixNano: nanos(at + 1000) }
    const of = { traceId: hex(0, 32), spanId: id, name: 'chat', kind: 3, attributes: spanAttributes(model, span) }
    return [{ scope: { name: scope }, spans: [{ ...of, ...times }] }]
  })
  await server.send('/otel/v1/traces', { resourceSpans: [{ scopeSpans }] }, { project_id })
}

beforeAll(async () => {
  const file = join(dir, 'prices.json')
  const prices = cases.map(({ model, prices: { input, output, read, write, write1h } }) => ({
    llm_id: model,
    effective_date: '2020-01-01',
    input_per_million: input,
    output_per_million: output,
    ...(read === undefined ? {} : { cache_read_per_million: read }),
    ...(write === undefined ? {} : { cache_write_per_million: write }),
    ...(write1h === undefined ? {} : { cache_write_1h_per_million: write1h }),
  }))
  writeFileSync(file, JSON.stringify(prices))
  server = await startLiveServer(['--prices-file', file])
  await storeAll()
})
afterAll(async () => {
  await server.remove()
  rmSync(dir, { recursive: true, force: true })
})

type Entry = Record<string, number>
type Usage = { call_usage: Record<string, Record<string, Entry>> }
type Call = { id: string; summary: { weave: { costs: Record<string, Entry> } } }
type Bucket = { model: string; sum_input_cost: number; sum_output_cost: number; sum_total_cost: number }

const names = ['prompt', 'completion', 'cache_read_input', 'cache_creation_input']
const totalsOf = (entry: Entry | undefined) => names.map((name) => entry?.[`${name}_tokens_total_cost`])
/** Costs of one case in millionths, as numbers that arithmetic may leave a little dust on. */
const close = (bill: readonly number[]) => bill.map((millionths) => expect.closeTo(millionths / 1e6, 12))

async function stats(more: object): Promise<Map<string, [number, number, number]>> {
  const usage_metrics = ['input_cost', 'output_cost', 'total_cost'].map((metric) => ({ metric }))
  const times = { start: iso(startedMs), end: iso(startedMs + 3_600_000), granularity: 3600 }
  const body = { project_id, ...times, usage_metrics, ...more }
  const sums = new Map<string, [number, number, number]>()
  for (const row of (await server.send<{ usage_buckets: Bucket[] }>('/calls/stats', body)).usage_buckets) {
    const [input, output, total] = sums.get(row.model) ?? [0, 0, 0]
    sums.set(row.model, [input + row.sum_input_cost, output + row.sum_output_cost, total + row.sum_total_cost])
  }
  return sums
}

/** A few at a time: a project has its share of the connections. */
async function eachOf<T>(ids: string[], one: (id: string) => Promise<T>): Promise<T[]> {
  const found: T[] = []
  for (let n = 0; n < ids.length; n += 6) found.push(...(await Promise.all(ids.slice(n, n + 6).map(one))))
  return found
}

/**
 * Results by case: the rule that is named, the four parts of its bill by each answer, and the three sums of time
 * series.
 */
async function answers() {
  const asked = { project_id, include_costs: true }
  const ids = cases.map(({ id }) => id)
  const listed = await server.list<Call>('/calls/stream_query', { ...asked, columns: ['summary'] })
  const byCalls = await server.send<Usage>('/calls/usage', { ...asked, call_ids: ids })
  const byTrace = await server.send<Usage>('/trace/usage', asked)
  const series = {
    hours: await stats({}),
    minutes: await stats({ granularity: 60 }),
    // Read from the calls always.
    filtered: await stats({ filter: { op_names: ['ask', 'weave:///bills/golden/op/chat:*'] } }),
    'with totals': await stats({
      usage_metrics: [
        ...['input_cost', 'output_cost', 'total_cost'].map((metric) => ({ metric })),
        { metric: 'total_tokens', aggregations: ['avg'] },
      ],
    }),
  }
  const explained = await eachOf(ids, async (id) => (await ask('costs.explain', [id, project_id])) as ExplainedCost)
  const read = await eachOf(ids, (id) => server.send<{ call: Call }>('/call/read', { ...asked, id }))
  return cases.map(({ id, model }, n) => {
    const one = explained[n]?.models.find((found) => found.model === model)
    const sumOf = (...of: string[]) =>
      one?.buckets.reduce((sum, { bucket, cost }) => sum + (of.includes(bucket) ? cost : 0), 0)
    return {
      rule: one?.rule,
      parts: {
        read: totalsOf(read[n]?.call.summary.weave.costs[model]),
        listed: totalsOf(listed.find((call) => call.id === id)?.summary.weave.costs[model]),
        'calls/usage': totalsOf(byCalls.call_usage[id]?.[model]),
        'trace/usage': totalsOf(byTrace.call_usage[id]?.[model]),
        explained: [
          sumOf('uncached input'),
          sumOf('output'),
          sumOf('cache read'),
          sumOf('cache write', 'cache write 1 h'),
        ],
      },
      sums: Object.fromEntries(Object.entries(series).map(([name, found]) => [name, found.get(model)])),
    }
  })
}

async function expectBills(): Promise<void> {
  const found = await answers()
  for (const [n, { name, bill, rule }] of cases.entries()) {
    const [input, output, read, write] = bill
    const one = found[n]
    const same = (of: object | undefined, expected: unknown) =>
      Object.fromEntries(Object.keys(of ?? {}).map((key) => [key, expected]))
    const expected = {
      rule: expect.stringContaining(rule),
      parts: same(one?.parts, close(bill)),
      sums: same(one?.sums, close([input, output, input + output + read + write])),
    }
    expect({ name, ...one }).toEqual({ name, ...expected })
  }
}

describe('bills of real usage', () => {
  it('are the same in every answer that reads the calls themselves', expectBills)

  it('are the same once they come from the statistics', async () => {
    await server.now().worker?.rollups.refresh()
    await expectBills()
    const served = server.lines.filter((line) => line.includes('call-stats.usage-rolled'))
    expect(served.length).toBeGreaterThan(0)
  })

  it('are the same after the statistics and the payloads were made anew', async () => {
    for (const table of ['call_stats', 'payloads']) await follow(ask, 'rebuild.start', [table, '1000000'], () => {})
    await expectBills()
  })

  it('show tokens as they were reported', async () => {
    const [first] = cases
    const { call_usage } = await server.send<Usage>('/calls/usage', { project_id, call_ids: [first?.id] })
    expect(call_usage[first?.id ?? '']?.[first?.model ?? '']).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 10,
      cache_read_input_tokens: 5000,
      cache_creation_input_tokens: 200,
    })
    const openai = cases.find(({ name }) => name === 'OpenAI chat completions')
    const { call } = await server.send<{ call: Call }>('/call/read', {
      project_id,
      id: openai?.id,
      include_costs: true,
    })
    expect(call.summary.weave.costs[openai?.model ?? '']).toMatchObject({
      prompt_tokens: 2006,
      cache_read_input_tokens: 0,
    })
  })
})
