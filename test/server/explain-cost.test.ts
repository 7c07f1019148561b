// `callhouse explain-cost`: usage, price and arithmetic of a call, from the running server, as text and as JSON.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explainedText } from '../../services/cli/explain-cost.ts'
import { askOverSocket } from '../../services/core/process/control-socket.ts'
import type { ExplainedCost } from '../../services/query/call-costs/explain.ts'
import { post } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const main = fileURLToPath(new URL('../../services/main.ts', import.meta.url))
const project_id = 'explain/one'
const dir = mkdtempSync(join(tmpdir(), 'callhouse-explain-'))
const file = join(dir, 'prices.json')
const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`
let server: LiveServer

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = [main, 'explain-cost', ...args, '--data-dir', server.dataDir]
  const env = { ...process.env, UV_THREADPOOL_SIZE: '24' }
  return promisify(execFile)(process.execPath, command, { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}
/** The request of the command to the server, without a process of its own. */
const asked = (...args: string[]) => askOverSocket(server.dataDir, { command: 'costs.explain', args })
async function explained(...args: string[]): Promise<ExplainedCost> {
  const reply = await asked(...args)
  if (!reply?.ok) throw new Error(reply?.reason)
  return reply.result as ExplainedCost
}

async function store(n: number, usage: object | undefined, project = project_id): Promise<void> {
  const at = '2026-01-05T12:00:00Z'
  const start = {
    project_id: project,
    id: id(n),
    trace_id: id(0),
    op_name: 'ask',
    started_at: at,
    attributes: {},
    inputs: {},
  }
  const end = { project_id: project, id: id(n), ended_at: at, output: null, summary: usage ? { usage } : {} }
  await server.send('/call/upsert_batch', {
    batch: [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end } },
    ],
  })
}

beforeAll(async () => {
  const price = {
    provider: 'acme',
    input_per_million: 2,
    output_per_million: 4,
    effective_date: '2024-01-01',
    source: 'https://acme/prices',
    read: '2024-01-02',
  }
  writeFileSync(file, JSON.stringify([{ llm_id: 'filed', ...price }]))
  server = await startLiveServer(['--prices-file', file])
  const cost = { prompt_token_cost: 0.001, completion_token_cost: 0.002 }
  const cache = { cache_read_input_token_cost: 0.0001, cache_creation_input_token_cost: 0.003 }
  const date = (effective_date: string) => ({ effective_date })
  await server.send('/cost/create', { project_id, costs: { m: { ...cost, ...cache, ...date('2026-01-01') } } })
  await server.send('/cost/create', { project_id, costs: { m: { ...cost, ...date('2025-01-01') } } })
  await server.send('/cost/create', { project_id, costs: { later: { ...cost, ...date('2027-01-01') } } })
  await store(1, {
    m: {
      input_tokens: 100,
      prompt_tokens: 20,
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 2 },
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 10,
      requests: 1,
    },
    filed: { prompt_tokens: 5, completion_tokens: 1, cache_read_input_tokens: 9 },
    later: { prompt_tokens: 1 },
    unknown: { prompt_tokens: 7 },
  })
  await store(2, undefined)
  await store(3, { m: { prompt_tokens: 1 } })
  await store(3, { m: { prompt_tokens: 1 } }, 'explain/two')
})
afterAll(async () => {
  await server.remove()
  rmSync(dir, { recursive: true, force: true })
})

describe('explain-cost', () => {
  it('names usage, price and buckets as JSON', async () => {
    const { models, total, ...call } = await explained(id(1))
    expect(call).toEqual({ project_id, call_id: id(1), op_name: 'ask', started_at: '2026-01-05T12:00:00Z' })
    const [m, filed, later, unknown] = models
    expect(m).toMatchObject({
      model: 'm',
      reasoning_tokens: 2,
      total: expect.closeTo(0.119, 9),
      unit: 'USD',
      price: { source: 'project', effective_date: '2026-01-01T00:00:00Z', in_force: true, created_by: 'tester' },
      other_prices: [{ source: 'project', effective_date: '2025-01-01T00:00:00Z' }],
      usage: { input_tokens: 100, prompt_tokens: 20 },
    })
    expect(m?.buckets.map(({ bucket, tokens, price, cost }) => [bucket, tokens, price, cost])).toEqual([
      ['uncached input', 80, 0.001, expect.closeTo(0.08, 9)],
      ['cache read', 30, 0.0001, expect.closeTo(0.003, 9)],
      ['cache write', 10, 0.003, expect.closeTo(0.03, 9)],
      ['output', 3, 0.002, expect.closeTo(0.006, 9)],
    ])
    const read = { page: 'https://acme/prices', read: '2024-01-02', read_days_ago: expect.any(Number) }
    expect(filed).toMatchObject({ price: { source: 'operator file', id: null, provider_id: 'acme', ...read } })
    expect(m?.price).toMatchObject({ page: null, read: null, read_days_ago: null })
    // More is cached than the input counts: that is the rest.
    expect(filed?.buckets[0]).toMatchObject({ tokens: 5, counted_as: '5 input' })
    expect(filed?.rule).toContain('outside')
    expect(later?.price).toMatchObject({ in_force: false, effective_date: '2027-01-01T00:00:00Z' })
    expect(unknown).toMatchObject({ price: null, buckets: [], total: 0 })
    expect(total).toBeCloseTo(0.119 + 14e-6 + 0.001, 9)
  })

  it('costs what the call record says', async () => {
    const record = await server.send<{
      call: { summary: { weave: { costs: Record<string, Record<string, number>> } } }
    }>('/call/read', { project_id, id: id(1), include_costs: true })
    const { models } = await explained(id(1))
    const shown = Object.entries(record.call.summary.weave.costs).map(([model, entry]) => {
      const names = ['prompt', 'cache_read_input', 'cache_creation_input', 'completion']
      return [model, names.map((name) => entry[`${name}_tokens_total_cost`])]
    })
    expect(
      models.filter(({ price }) => price).map(({ model, buckets }) => [model, buckets.map(({ cost }) => cost)]),
    ).toEqual(shown)
  })

  it('answers the same to those with a key, and 404 for what is not there', async () => {
    const asked = { project_id, call_id: id(1) }
    expect(await server.send('/cost/explain', asked)).toEqual(await explained(id(1)))
    const { status, text } = await post(server.now().url, '/cost/explain', { ...asked, call_id: id(9) })
    expect([status, JSON.parse(text)]).toEqual([404, { reason: `Call ${id(9)} not found in ${project_id}` }])
  })

  it('prints it', async () => {
    const { code, stdout } = await run(id(1))
    expect(code).toBe(0)
    expect(stdout).toContain(`call ${id(1)} of ${project_id}, began 2026-01-05T12:00:00Z`)
    expect(stdout).toMatch(/price {4}project [0-9a-f-]{36}, provider default, effective 2026-01-01T00:00:00Z\n/)
    expect(stdout).toContain('uncached input  80 x  0.001 =  0.08   (120 input - 30 cache read - 10 cache write)')
    expect(stdout).toContain('which is after the call began')
    expect(stdout).toMatch(
      /\n {11}read on 2024-01-02 from https:\/\/acme\/prices, \d+ days ago: the provider may have changed it since\n/,
    )
    expect(stdout).toContain('none is known: no cost')
    expect(stdout).toContain('rule     inside: the input counts cached tokens too')
    expect(stdout).toMatch(/\ntotal 0.120014\n$/)
    expect(JSON.parse((await run(id(2), '--json')).stdout)).toEqual(await explained(id(2)))
    expect(explainedText(await explained(id(2)))).toContain('It reports no usage: no cost')
  })

  it('asks for the project when several have the call, and refuses what is not there', async () => {
    const refused = (reason: string) => ({ ok: false, reason: expect.stringContaining(reason) })
    expect(await asked(id(3))).toEqual(refused('explain/one, explain/two'))
    expect((await explained(id(3), 'explain/two')).models).toMatchObject([{ model: 'm', price: null }])
    expect(await asked(id(9))).toEqual(refused('not found'))
    expect(await asked(id(3), 'explain/none')).toEqual(refused('in explain/none'))
    expect(await asked(id(3), 'malformed')).toEqual(refused('Invalid project_id'))
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('usage:') })
  })
})
