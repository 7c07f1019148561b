// Models, tokens and costs of calls as fields of queries: they tell what the records say.
import { beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'acme/usage-fields'
type Usage = Record<string, Record<string, unknown>>
type Line = { id: string; summary: { usage?: Usage; weave: { costs?: Record<string, Record<string, number>> } } }

const usages: { usage?: Usage; at?: string; isSplit?: boolean; odd?: string }[] = [
  { usage: { dear: { prompt_tokens: 10, completion_tokens: 5 } } },
  { usage: { dear: { prompt_tokens: 10, completion_tokens: 5 } }, at: '2026-03-01T00:00:00Z' },
  { usage: { dear: { input_tokens: 700, output_tokens: 1 }, cheap: { input_tokens: 4_000, output_tokens: 2 } } },
  { usage: { 'openai/cheap': { prompt_tokens: 900, completion_tokens: 90 } }, isSplit: true },
  { usage: { 'nobody-sells-it': { prompt_tokens: 5_000, completion_tokens: 1 } } },
  {
    usage: {
      'claude-sonnet-4-5': { input_tokens: 20, output_tokens: 30, cache_read_input_tokens: 4_000 },
    },
  },
  {
    usage: { dear: { prompt_tokens: 50, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 40 } } },
    isSplit: true,
  },
  { usage: { cheap: { prompt_tokens: 1, completion_tokens: 1 } }, odd: '1e999' },
  {},
]
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n + 1).padStart(12, '0')}`

let server: RunningServer
let lines: Line[]

beforeAll(async () => {
  server = await sharedServer()
  const price = (prompt: number, effective_date: string) => ({
    prompt_token_cost: prompt,
    completion_token_cost: 0.002,
    cache_read_input_token_cost: 0.0001,
    effective_date,
  })
  for (const [model, one] of [
    ['dear', price(0.01, '2026-01-01')],
    ['dear', price(0.03, '2026-02-01')],
    ['cheap', price(0.00001, '2026-01-01')],
  ] as const)
    await server.send('/cost/create', { project_id, costs: { [model]: one } })
  for (const [n, { usage, at = '2026-01-05T12:00:00Z', isSplit, odd = 'null' }] of usages.entries()) {
    const [id, trace_id] = [idOf(n), `${n + 1}`.padStart(32, 'b')]
    const started_at = new Date(Date.parse(at) + n * 1_000).toISOString()
    const ended_at = new Date(Date.parse(at) + n * 1_000 + 500).toISOString()
    const start = { project_id, id, trace_id, op_name: 'ask', started_at, attributes: {}, inputs: {} }
    const end = { project_id, id, ended_at, output: null, summary: { ...(usage && { usage }) } }
    // A number that no engine reads as one: its calls are looked at apart.
    const text = (value: object) => JSON.stringify(value).replace('"output":null', `"output":${odd}`)
    if (isSplit) {
      await server.send('/call/start', { start })
      await post(server.now().url, '/call/end', text({ end }))
    } else await post(server.now().url, '/v2/acme/usage-fields/calls/complete', text({ batch: [{ ...start, ...end }] }))
  }
  lines = await server.list<Line>('/calls/stream_query', { project_id, include_costs: true })
  expect(lines).toHaveLength(usages.length)
})

/** As the page adds it up. */
function costOf({ summary }: Line): number | null {
  const costs = Object.values(summary.weave.costs ?? {})
  const totals = costs.flatMap((one) => Object.entries(one).filter(([name]) => name.endsWith('_total_cost')))
  return costs.length === 0 ? null : totals.reduce((sum, [, value]) => sum + value, 0)
}
const counts = ({ summary }: Line, names: readonly string[]): number | null => {
  const all = Object.values(summary.usage ?? {})
  return all.length === 0
    ? null
    : all.flatMap((one) => names.map((name) => Number(one[name] ?? 0))).reduce((a, b) => a + b)
}
const tokensOf = (line: Line) => counts(line, ['prompt_tokens', 'completion_tokens', 'input_tokens', 'output_tokens'])

const idsOf = async (query: object, more: object = {}): Promise<string[]> =>
  (
    await server.list<Line>('/calls/stream_query', { project_id, query: { $expr: query }, columns: ['id'], ...more })
  ).map(({ id }) => id)
const field = (name: string) => ({ $getField: `summary.weave.${name}` })
const above = (name: string, value: number) => ({ $gt: [field(name), { $literal: value }] })
const matching = (of: (line: Line) => number | null, most: number) =>
  lines.filter((line) => (of(line) ?? Number.NEGATIVE_INFINITY) > most).map(({ id }) => id)

it.each([
  ['tokens', tokensOf],
  ['input_tokens', (line: Line) => counts(line, ['prompt_tokens', 'input_tokens'])],
  ['output_tokens', (line: Line) => counts(line, ['completion_tokens', 'output_tokens'])],
  ['cost', costOf],
] as const)('%s of a query are those of the records, above each of them', async (name, of) => {
  const values = new Set(lines.map(of).filter((value) => value !== null))
  expect(values.size).toBeGreaterThan(3)
  for (const value of values) {
    const bound = value * (1 - 1e-9) - 1e-12
    expect([bound, await idsOf(above(name, bound))]).toEqual([bound, matching(of, bound)])
  }
  expect(await idsOf({ $not: [above(name, -1)] })).toEqual([])
  expect(await idsOf({ $eq: [field(name), { $literal: null }] })).toEqual(
    lines.filter((line) => of(line) === null).map(({ id }) => id),
  )
})

it('calls are sorted by what they cost, those without a price last', async () => {
  const sorted = lines.toSorted((a, b) => (costOf(b) ?? -1) - (costOf(a) ?? -1)).map((line) => costOf(line)?.toFixed(9))
  const ids = await idsOf(above('tokens', -1), { sort_by: [{ field: 'summary.weave.cost', direction: 'desc' }] })
  const found = ids.map((id) => costOf(lines.find((line) => line.id === id) as Line)?.toFixed(9))
  expect(found).toEqual(sorted.filter((_, n) => n < ids.length))
})

it('a model is one of those that a call reports, whole or in part', async () => {
  const has = (substr: string, name = 'models', fold = false) => ({
    $contains: { input: field(name), substr: { $literal: substr }, case_insensitive: fold },
  })
  expect(await idsOf(has('cheap'))).toEqual([2, 7].map(idOf))
  expect(await idsOf(has('CHEAP', 'models', true))).toEqual([2, 7].map(idOf))
  expect((await idsOf(has('CHEAP', 'model', true))).sort()).toEqual([2, 3, 7].map(idOf))
  const { fields } = await server.send<{ fields: Record<string, { values: { value: string; calls: number }[] }> }>(
    '/calls/values',
    { project_id, fields: ['summary.weave.model'], query: { $expr: above('cost', 1) } },
  )
  expect(fields['summary.weave.model']?.values).toEqual([{ value: 'dear, cheap', calls: 1 }])
})

it('counts and sums over time go by the same conditions', async () => {
  const query = { $expr: above('cost', 0.2) }
  const ids = matching(costOf, 0.2)
  expect(ids.length).toBeGreaterThan(1)
  expect(await server.send('/calls/query_stats', { project_id, query })).toMatchObject({ count: ids.length })
  const { groups } = await server.send<{ groups: { total: Record<string, number> }[] }>('/calls/aggregate', {
    project_id,
    query,
    start: '2026-01-01T00:00:00Z',
    end: '2026-04-01T00:00:00Z',
    metrics: [
      { field: 'calls', as: 'sum' },
      { field: 'summary.weave.tokens', as: 'max' },
    ],
  })
  const most = Math.max(...ids.map((id) => tokensOf(lines.find((line) => line.id === id) as Line) ?? 0))
  expect(groups[0]?.total).toEqual({ 'calls.sum': ids.length, 'summary.weave.tokens.max': most })
})

it('a file of comma-separated values has them as columns', async () => {
  const names = ['model', 'input_tokens', 'output_tokens', 'tokens', 'cost']
  const columns = ['id', ...names.map((name) => `summary.weave.${name}`)]
  const { url } = await server.send<{ url: string }>('/export/calls', { project_id, format: 'csv', columns })
  const [head, ...rows] = (await (await fetch(url)).text()).trim().split('\r\n')
  expect(head).toBe(columns.join())
  const line = (n: number) => lines.find(({ id }) => id === idOf(n)) as Line
  const row = (n: number) => rows.find((one) => one.startsWith(idOf(n)))
  expect(row(0)).toBe(`${idOf(0)},dear,10,5,15,${costOf(line(0))}`)
  expect(row(2)).toBe(`${idOf(2)},"dear, cheap",4700,3,4703,${costOf(line(2))}`)
  expect(row(4)).toBe(`${idOf(4)},nobody-sells-it,5000,1,5001,`)
  expect(row(8)).toBe(`${idOf(8)},,,,,`)
  expect(rows).toHaveLength(usages.length)
})
