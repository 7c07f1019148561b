// Costs of calls: which price applies, what is counted, and where the result stands in a record.
// again: kafka
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock } from '../../services/core/clock/clock.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { costsPurgedRecord, costsRecord } from '../../services/events/costs.ts'
import { topics } from '../../services/events/registry.ts'
import { nothingBilled } from '../../services/query/costs/billed.ts'
import { loadDefaultPrices, readPriceFile, readShippedPrices } from '../../services/query/costs/default-prices.ts'
import { ageOfPrices, stalePricesText } from '../../services/query/costs/price-age.ts'
import { derivedPrices, type Price, priceBook, priceTable, totalsOf } from '../../services/query/costs/prices.ts'
import { type CallWorld, complete, createCallWorld, type Line, project, start } from '../fixtures/call-world.ts'
import { startLiveServer } from '../fixtures/live-server.ts'

const us = (date: string) => Date.parse(date) * 1000
const clock = createClock()

const point = (llmId: string, effective: string, prompt: number, more: Partial<Price> = {}): Price => ({
  llmId,
  providerId: 'default',
  level: 'project',
  levelId: project,
  effectiveUs: us(effective),
  prompt,
  completion: 0,
  cacheRead: 0,
  cacheWrite: 0,
  promptUnit: 'USD',
  completionUnit: 'USD',
  cacheWrite1h: 0,
  isAnthropic: false,
  createdUs: us('2026-01-01'),
  createdBy: 'ann',
  ...more,
})

describe('the price that applies', () => {
  const shipped = priceTable([
    point('m', '2023-03-01', 100, { level: 'default' }),
    point('m', '2023-09-01', 101, { level: 'default' }),
    point('only shipped', '2030-01-01', 102, { level: 'default' }),
  ])
  const own = priceTable([point('m', '2023-01-01', 1), point('m', '2024-06-01', 9), point('m', '2023-06-01', 2)])
  const later = priceTable([point('m', '2025-01-01', 5)])
  it.each([
    ['the latest of the project that is in force', own, 'm', '2024-01-01', 2],
    ['from its very instant', own, 'm', '2024-06-01', 9],
    ['not in force, when nothing else is: the project’s latest', own, 'm', '2022-01-01', 9],
    ['a default one in force before a later one of the project', later, 'm', '2024-01-01', 101],
    ['a default one of its time', later, 'm', '2023-04-01', 100],
    ['the project’s once it is in force', later, 'm', '2025-01-01', 5],
    ['the project’s before a default one, both later', later, 'm', '2022-01-01', 5],
    ['a later default one when there is nothing else', later, 'only shipped', '2022-01-01', 102],
    ['that of the same name in other letters', own, 'M', '2024-01-01', 2],
    ['none for a name that differs', own, 'mm', '2024-01-01', undefined],
    ['none for a name of the prototype', own, '__proto__', '2024-01-01', undefined],
  ])('is %s', (_, table, model, at, expected) => {
    expect(priceBook(table, shipped).at(model, us(at))?.prompt).toBe(expected)
  })

  it('is the first one of equal dates', () => {
    const table = priceTable([point('m', '2023-01-01', 1), point('m', '2023-01-01', 2)])
    expect(priceBook(table, new Map()).at('m', us('2024-01-01'))?.prompt).toBe(1)
  })
})

describe('totals', () => {
  const price = point('m', '2023-01-01', 0.001, { completion: 0.002, cacheRead: 0.0001, cacheWrite: 0.003 })
  const billed = { ...nothingBilled, inside: 40, apart: 40, cacheRead: 30, cacheWrite: 10 }
  it('count cached tokens once', () => {
    const totals = totalsOf(price, { prompt: 120, completion: 3 }, billed)
    for (const [n, expected] of [0.08, 0.006, 0.003, 0.03].entries()) expect(totals[n]).toBeCloseTo(expected, 12)
  })
  it('bill all of the input where the model counts cached tokens apart', () => {
    const ofAnthropic = { ...price, ...derivedPrices({ ...price, llmId: 'us.anthropic.claude-x' }) }
    expect(totalsOf(ofAnthropic, { prompt: 120, completion: 3 }, billed)[0]).toBeCloseTo(0.12, 12)
  })
  it('bill an hour in the cache at twice the input of Anthropic’s models, and as five minutes of others', () => {
    const hour = (llmId: string, cacheWrite = 0.003, providerId = 'default') =>
      derivedPrices({ llmId, providerId, prompt: 0.001, cacheWrite }).cacheWrite1h
    expect([hour('m'), hour('vertex_ai/claude-x'), hour('own', 0.003, 'anthropic')]).toEqual([0.003, 0.002, 0.002])
    // Without a price of writes they are free.
    expect(hour('claude-x', 0)).toBe(0)
  })
})

describe('default prices', () => {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-prices-'))
  const file = join(dir, 'prices.json')
  const entry = { llm_id: 'gpt-4o', input_per_million: 1, output_per_million: 2, effective_date: '2000-01-01' }
  const write = (entries: unknown) =>
    writeFileSync(file, typeof entries === 'string' ? entries : JSON.stringify(entries))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('cover current models of the large providers, per token and plausible', () => {
    const table = loadDefaultPrices(undefined)
    for (const model of ['gpt-4o', 'gpt-4o-mini-2024-07-18', 'claude-sonnet-4-5-20250929', 'openai/gpt-4o'])
      expect(priceBook(new Map(), table).at(model, us('2026-01-01')), model).toMatchObject({ level: 'default' })
    for (const prices of table.values())
      for (const { prompt, completion, cacheRead, cacheWrite, effectiveUs } of prices) {
        for (const price of [prompt, completion, cacheRead, cacheWrite]) {
          expect(price).toBeGreaterThanOrEqual(0)
          expect(price).toBeLessThan(0.01)
        }
        expect(effectiveUs).toBeGreaterThanOrEqual(us('2000-01-01'))
      }
  })

  it('say of each price the page and the day on which it was read', () => {
    const { points, providers } = readShippedPrices()
    for (const { llmId, page, read } of points) {
      expect(page, llmId).toMatch(/^https:/)
      expect(read, llmId).toMatch(/^20\d\d-\d\d-\d\d$/)
    }
    const large = ['openai', 'anthropic', 'google', 'aws', 'azure', 'mistral', 'x-ai', 'deepseek', 'cohere', 'groq']
    expect(Object.keys(providers)).toEqual(
      expect.arrayContaining([...large, 'together', 'fireworks', 'moonshotai', 'qwen']),
    )
    for (const { pages } of Object.values(providers)) for (const page of pages) expect(page).toMatch(/^https:/)
  })

  it('have prices of cached tokens, and of Anthropic’s models both prices of writes', () => {
    const { points, providers } = readShippedPrices()
    for (const provider of Object.keys(providers).filter((one) => !['cohere', 'cerebras'].includes(one)))
      expect(
        points.some(({ providerId, cacheRead }) => providerId === provider && cacheRead > 0),
        provider,
      ).toBe(true)
    const current = points.filter(({ llmId }) =>
      /^(us\.anthropic\.|vertex_ai\/)?claude-(sonnet|opus|haiku)-[45]/.test(llmId),
    )
    expect(current.length).toBeGreaterThan(20)
    for (const { llmId, prompt, cacheRead, cacheWrite, cacheWrite1h } of current) {
      expect(cacheRead, llmId).toBeGreaterThan(0)
      expect(cacheWrite / prompt, llmId).toBeCloseTo(1.25, 6)
      expect(cacheWrite1h / prompt, llmId).toBeCloseTo(2, 6)
    }
  })

  it('know their age: that of the provider that was read first', () => {
    const reads = Object.values(readShippedPrices().providers).map(({ read }) => read)
    const [read = ''] = reads.sort()
    const at = Date.parse(read)
    const days = (nowMs: number) => ageOfPrices(nowMs).days
    expect([
      days(at),
      days(at + 86_400_000 - 1),
      days(at + 86_400_000),
      days(at + 91 * 86_400_000),
      days(at - 1),
    ]).toEqual([0, 0, 1, 91, 0])
    expect(stalePricesText(ageOfPrices(at + 91 * 86_400_000))).toContain(`read on ${read}, 91 days ago`)
  })

  it('have each date of a model once', () => {
    for (const [model, prices] of loadDefaultPrices(undefined))
      expect(new Set(prices.map(({ effectiveUs }) => effectiveUs)).size, model).toBe(prices.length)
  })

  it('yield to the operator’s of the same date, which come with aliases', () => {
    write([{ ...entry, aliases: ['alias'], provider: 'mine', cache_read_per_million: 0.5, source: 'a page' }])
    const book = priceBook(new Map(), loadDefaultPrices(file))
    const at = us('2024-01-01')
    expect(book.at('gpt-4o', at)).toEqual({ ...book.at('alias', at), llmId: 'gpt-4o' })
    expect(book.at('alias', at)).toMatchObject({
      providerId: 'mine',
      levelId: 'default',
      prompt: 0.000001,
      completion: 0.000002,
      cacheRead: 5e-7,
      cacheWrite: 0,
      createdBy: 'system',
    })
  })

  it.each([
    ['not JSON', '['],
    ['no list', {}],
    ['a key that is unknown', [{ ...entry, input_per_milion: 1 }]],
    ['a negative price', [{ ...entry, input_per_million: -1 }]],
    ['a date that is none', [{ ...entry, effective_date: 'soon' }]],
  ])('are refused with the name of the file: %s', (_, entries) => {
    write(entries)
    expect(() => readPriceFile(file)).toThrow(file)
  })
})

describe('a server with a price file of its own', () => {
  it('prices calls with it, and does not list it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'callhouse-prices-'))
    const file = join(dir, 'prices.json')
    const entry = { llm_id: 'house-model', input_per_million: 2_000_000, output_per_million: 0 }
    writeFileSync(file, JSON.stringify([{ ...entry, effective_date: '2020-01-01' }]))
    const server = await startLiveServer(['--prices-file', file])
    try {
      const call = { project_id: project, id: 'a'.repeat(16), trace_id: 'b'.repeat(32), op_name: 'op' }
      const times = { started_at: '2026-01-05T12:00:00Z', ended_at: '2026-01-05T12:00:01Z' }
      const summary = { usage: { 'house-model': { input_tokens: 3 } } }
      const batch = [{ ...call, ...times, attributes: {}, inputs: {}, output: null, summary }]
      await server.send('/v2/ent/proj/calls/complete', { batch })
      const [line] = await server.list<Line>('/calls/stream_query', { project_id: project, include_costs: true })
      const costs = line?.summary.weave.costs['house-model']
      expect(costs).toMatchObject({ prompt_tokens_total_cost: 6, pricing_level: 'default', created_by: 'system' })
      expect(await server.send('/cost/query', { project_id: project })).toEqual({ results: [] })
      // A price that was just added is seen, for calls that began before it too.
      const price = { prompt_token_cost: 5, completion_token_cost: 0, effective_date: '2025-01-01' }
      await server.send('/cost/create', { project_id: project, costs: { 'house-model': price } })
      const asked = { project_id: project, id: call.id, include_costs: true }
      const { call: read } = await server.send<{ call: Line }>('/call/read', asked)
      expect(read.summary.weave.costs['house-model'].prompt_tokens_total_cost).toBe(15)
    } finally {
      await server.remove()
      rmSync(dir, { recursive: true, force: true })
    }
  })
})

describe('include_costs', () => {
  let world: CallWorld
  const projectId = project as ProjectId
  const usage = {
    m: {
      input_tokens: 100,
      prompt_tokens: 20,
      output_tokens: 3,
      requests: 2,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 10,
    },
  }
  const ids = {} as Record<string, string>

  beforeAll(async () => {
    world = await createCallWorld()
    const created = (llmId: string, effective: string, promptPrice: number, more = {}) => {
      const id = `price-${Object.keys(ids).length}`
      ids[`${llmId} ${effective}`] = id
      const prices = { promptPrice, completionPrice: 0.002, cacheReadPrice: 0.0001, cacheWritePrice: 0.003, ...more }
      const about = { llmId, providerId: 'p', effectiveUs: us(effective), promptUnit: 'USD', completionUnit: 'EUR' }
      return { id, clock: clock.next(), userId: 'ann', ...about, ...prices }
    }
    const rows = [
      created('m', '2023-01-01', 0.001),
      created('checked', '2023-01-01', 1),
      created('checked', '2023-06-01', 2),
      created('checked', '2024-06-01', 9),
      created('purged', '2023-01-01', 1),
    ]
    const insert = (bytes: Buffer) => world.store.insert(topics.costs, { bytes: [bytes] })
    await insert(costsRecord(projectId, rows).rows)
    await insert(costsPurgedRecord(projectId, ['price-4'], clock.next()).rows)
    await insert(costsRecord('ent/other' as ProjectId, [created('foreign', '2023-01-01', 1)]).rows)
    const call = (id: string, at: string, summary: object) =>
      complete(id, { startedUs: us(at), summary: JSON.stringify(summary) })
    const one = { prompt_tokens: 1 }
    const odd = { usage: { m: 5, checked: [one], purged: one, foreign: one, unknown: one } }
    const stored = { status: 'x', costs: { old: 1 }, mine: 1.5 }
    await world.apply([
      call('a', '2026-01-01', { usage, note: 'kept' }),
      call('b', '2024-01-01', { usage: { checked: one } }),
      call('c', '2022-01-01', { usage: { checked: one, unknown: one } }),
      call('d', '2026-01-02', odd),
      call('e', '2026-01-03', { weave: stored, usage: { m: { prompt_tokens: '7', output_tokens: 'x' } } }),
      call('f', '2026-01-04', { weave: stored }),
      start('g', { startedUs: us('2026-01-05') }),
    ])
  })
  afterAll(() => world.remove())

  const read = async (id: string, include_costs = true): Promise<Line> => {
    const { json } = await world.ask('/call/read', { id, include_costs })
    return (json as { call: Line }).call
  }
  const costsOf = async (id: string) => (await read(id)).summary.weave.costs

  it('gives every field', async () => {
    expect((await read('a')).summary).toEqual({
      usage,
      note: 'kept',
      weave: {
        status: 'success',
        latency_ms: expect.any(Number),
        trace_name: 'op',
        costs: {
          m: {
            prompt_tokens: 120,
            completion_tokens: 3,
            requests: 2,
            total_tokens: 0,
            cache_read_input_tokens: 30,
            cache_creation_input_tokens: 10,
            prompt_token_cost: 0.001,
            completion_token_cost: 0.002,
            cache_read_input_token_cost: 0.0001,
            cache_creation_input_token_cost: 0.003,
            prompt_tokens_total_cost: expect.closeTo(0.08, 12),
            completion_tokens_total_cost: expect.closeTo(0.006, 12),
            cache_read_input_tokens_total_cost: expect.closeTo(0.003, 12),
            cache_creation_input_tokens_total_cost: expect.closeTo(0.03, 12),
            prompt_token_cost_unit: 'USD',
            completion_token_cost_unit: 'EUR',
            effective_date: '2023-01-01T00:00:00Z',
            created_at: expect.stringMatching(/^20\d\d-.*Z$/),
            provider_id: 'p',
            pricing_level: 'project',
            pricing_level_id: project,
            created_by: 'ann',
          },
        },
      },
    })
  })

  it('takes the price of the call’s own start', async () => {
    expect((await costsOf('b')).checked.prompt_token_cost).toBe(2)
    const late = await costsOf('c')
    expect([Object.keys(late), late.checked.prompt_token_cost]).toEqual([['checked'], 9])
  })

  it('is absent without a priced model, and for usage that is none', async () => {
    expect(await costsOf('d')).toBeUndefined()
    expect(await costsOf('g')).toBeUndefined()
  })

  it('stands in place of what the client stored, which passes through otherwise', async () => {
    const { weave } = (await read('e')).summary
    expect(weave).toMatchObject({
      status: 'success',
      mine: 1.5,
      costs: { m: { prompt_tokens: 7, completion_tokens: 0 } },
    })
    expect(weave.costs.old).toBeUndefined()
    expect((await read('f')).summary.weave.costs).toBeUndefined()
    expect((await read('f', false)).summary.weave.costs).toEqual({ old: 1 })
    expect((await read('e', false)).summary.weave.costs).toEqual({ old: 1 })
  })

  it('serves lists with one read of the prices', async () => {
    world.statements.length = 0
    const lines = await world.list({ include_costs: true })
    expect(world.statements.filter((name) => name === 'costs.prices')).toHaveLength(1)
    expect(lines.map((line) => Object.keys(line.summary.weave.costs ?? {}).join())).toEqual([
      'checked',
      'checked',
      'm',
      '',
      'm',
      '',
      '',
    ])
    expect(lines.find(({ id }) => id === 'a')?.summary).toEqual((await read('a')).summary)
  })

  it('brings the summary with it when other columns were asked for', async () => {
    const [line] = await world.list({ include_costs: true, columns: ['inputs'], filter: { call_ids: ['a'] } })
    expect(line?.summary.weave).toMatchObject({ status: 'success', costs: { m: { prompt_tokens: 120 } } })
    const [plain] = await world.list({ include_costs: null, columns: ['inputs'], filter: { call_ids: ['a'] } })
    expect(plain?.summary.weave.costs).toBeUndefined()
  })

  it('follows a purge', async () => {
    const row = costsPurgedRecord(projectId, [ids['checked 2024-06-01'] as string], clock.next()).rows
    await world.store.insert(topics.costs, { bytes: [row] })
    expect((await costsOf('c')).checked.prompt_token_cost).toBe(2)
  })
})
