// Models that were used and have no price: listed with their tokens, and told beside costs that lack them.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'unpriced/models'
let server: RunningServer
const nowMs = Date.now()
const iso = (ms: number) => new Date(ms).toISOString()

async function store(
  model: string,
  tokens: [input: number, output: number],
  op_name: string,
  atMs: number,
): Promise<void> {
  const id = randomUUID()
  const [prompt_tokens, completion_tokens] = tokens
  const start = { project_id, id, trace_id: id, op_name, started_at: iso(atMs), inputs: {}, attributes: {} }
  const usage = { [model]: { requests: 1, prompt_tokens, completion_tokens } }
  const end = { project_id, id, ended_at: iso(atMs + 1), output: null, summary: { usage } }
  await server.send('/call/upsert_batch', {
    batch: [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end } },
    ],
  })
}

async function unpriced(query = ''): Promise<unknown> {
  const { url } = server.now()
  const headers = { authorization: `Bearer ${'test-key'}` }
  const response = await fetch(`${url}/v2/${project_id}/unpriced_models${query}`, { headers })
  return response.status === 200 ? ((await response.json()) as { models: unknown }).models : response.status
}

const total = (group_by: string[]) =>
  server.send<{ unpriced_models?: string[]; groups: { keys: string[]; total: Record<string, number | null> }[] }>(
    '/calls/aggregate',
    {
      project_id,
      start: iso(nowMs - 86_400_000),
      end: iso(nowMs + 60_000),
      group_by,
      metrics: [
        { field: 'total_cost', as: 'sum' },
        { field: 'input_tokens', as: 'sum' },
      ],
    },
  )

beforeAll(async () => {
  server = await sharedServer()
  const hour = 3_600_000
  await store('house-model', [100, 10], 'ask', nowMs - hour)
  await store('house-model', [50, 5], 'ask', nowMs - 2 * hour)
  await store('openai:gpt-4o', [1_000, 0], 'chat', nowMs - hour)
  await store('other-model', [7, 1], 'chat', nowMs - hour)
  await store('old-model', [9, 9], 'ask', nowMs - 40 * 24 * hour)
  await store('without-tokens', [0, 0], 'ask', nowMs - hour)
})

it('are listed with their calls and tokens, those with most first', async () => {
  const house = { model: 'house-model', calls: 2, input_tokens: 150, output_tokens: 15 }
  const other = { model: 'other-model', calls: 1, input_tokens: 7, output_tokens: 1 }
  expect(await unpriced()).toEqual([house, other])
  expect(await unpriced('?days=60')).toEqual([
    house,
    { model: 'old-model', calls: 1, input_tokens: 9, output_tokens: 9 },
    other,
  ])
  expect(await unpriced('?days=0')).toBe(400)
  expect(await unpriced('?days=400')).toBe(400)
})

it('have no cost where they stand alone, and are named beside costs that lack them', async () => {
  const whole = await total([])
  expect(whole.unpriced_models).toEqual(['house-model', 'other-model'])
  // 1,000 x 2.5 millionths of a dollar
  expect(whole.groups[0]?.total).toEqual({ 'total_cost.sum': 0.0025, 'input_tokens.sum': 1_157 })
  const costsOf = async (key: string) =>
    Object.fromEntries((await total([key])).groups.map(({ keys: [name], total: of }) => [name, of['total_cost.sum']]))
  expect(await costsOf('model')).toEqual({
    'openai:gpt-4o': 0.0025,
    'house-model': null,
    'other-model': null,
    'without-tokens': 0,
  })
  expect(await costsOf('op_name')).toEqual({ chat: 0.0025, ask: null })
})

it('leave the list once they have a price', async () => {
  const price = { prompt_token_cost: 0.01, completion_token_cost: 0, effective_date: '2020-01-01T00:00:00Z' }
  await server.send('/cost/create', { project_id, costs: { 'other-model': price } })
  expect(await unpriced()).toMatchObject([{ model: 'house-model' }])
  expect((await total([])).groups[0]?.total['total_cost.sum']).toBeCloseTo(0.0725, 10)
})
