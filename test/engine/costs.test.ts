// Prices of projects: creation, queries and purges over the routes, on the embedded store.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock } from '../../services/core/clock/clock.ts'
import type { Route } from '../../services/core/http/route.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import type { Store } from '../../services/core/store/store.ts'
import { costsPurgedRecord, costsRecord } from '../../services/events/costs.ts'
import { createCostWriteRoutes } from '../../services/ingest/costs/routes.ts'
import { explainCostRoute } from '../../services/query/call-costs/routes.ts'
import { createPrices } from '../../services/query/costs/prices.ts'
import { createCostReadRoutes } from '../../services/query/costs/routes.ts'
import { createMemoryLog, type MemoryLog } from '../fixtures/memory-log.ts'
import { noAudit } from '../fixtures/no-audit.ts'
import { type Call, createCall } from '../fixtures/route-call.ts'
import { createTestStore } from '../fixtures/store.ts'

const clock = createClock()
let call: Call
let routes: Route[]
let log: MemoryLog
let store: Store
let remove: () => Promise<void>

beforeAll(async () => {
  const opened = await createTestStore()
  store = opened.store
  remove = opened.remove
  log = createMemoryLog(store)
  const freshness = { wait: async () => ({ 'X-Test-Fresh': 'yes' }) }
  routes = [
    ...createCostWriteRoutes({ log, clock, audit: noAudit }),
    ...createCostReadRoutes({ store, log, clock, freshness, audit: noAudit }),
    explainCostRoute({ store, prices: createPrices({ store, shipped: new Map() }), freshness }),
  ]
  call = createCall(routes)
})
afterAll(() => remove())

type Cost = Record<string, string | number | null>

const create = async (project_id: string, costs: Record<string, object>): Promise<[string, string][]> => {
  const { status, json } = await call('/cost/create', { json: { project_id, costs } })
  expect(status).toBe(200)
  return (json as { ids: [string, string][] }).ids
}
const query = async (project_id: string, more: object = {}): Promise<Cost[]> => {
  const { status, json } = await call('/cost/query', { json: { project_id, ...more } })
  expect(status).toBe(200)
  return (json as { results: Cost[] }).results
}
const refused = async (path: string, json: unknown) => {
  const { status, json: body } = await call(path, { json })
  return [status, (body as { reason?: string }).reason]
}
const purge = (project_id: string, $expr: unknown) => call('/cost/purge', { json: { project_id, query: { $expr } } })
const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const price = (prompt = 1, completion = 2) => ({ prompt_token_cost: prompt, completion_token_cost: completion })
const models = (rows: Cost[]) => rows.map((row) => row.llm_id)

describe('POST /cost/create', () => {
  it('answers ids and models in the order of the request, with defaults', async () => {
    const beganMs = Date.now()
    const ids = await create('e/defaults', { zeta: price(0.000001, 1e-7), alpha: price() })
    expect(ids.map(([, model]) => model)).toEqual(['zeta', 'alpha'])
    const rows = await query('e/defaults')
    expect(rows.map((row) => [row.id, row.llm_id])).toEqual(ids)
    const [zeta] = rows
    expect(Object.keys(zeta as Cost)).toEqual([
      'id',
      'llm_id',
      'prompt_token_cost',
      'completion_token_cost',
      'cache_read_input_token_cost',
      'cache_creation_input_token_cost',
      'prompt_token_cost_unit',
      'completion_token_cost_unit',
      'effective_date',
      'provider_id',
    ])
    expect(zeta).toMatchObject({
      prompt_token_cost: 0.000001,
      completion_token_cost: 1e-7,
      cache_read_input_token_cost: 0,
      cache_creation_input_token_cost: 0,
      prompt_token_cost_unit: 'USD',
      completion_token_cost_unit: 'USD',
      provider_id: 'default',
    })
    const madeMs = Date.parse(String(zeta?.effective_date))
    expect([beganMs <= madeMs, madeMs <= Date.now()]).toEqual([true, true])
  })

  it('keeps what is sent, and prices of one model side by side', async () => {
    const sent = {
      ...price(0.1, 0.2),
      cache_read_input_token_cost: 0.3,
      cache_creation_input_token_cost: 0.4,
      prompt_token_cost_unit: 'EUR',
      completion_token_cost_unit: null,
      effective_date: '1998-10-03T01:00:00.5+01:00',
      provider_id: '',
      platform_user_id: 'somebody',
    }
    await create('e/history', { 'm "quoted" é': sent })
    await create('e/history', { 'm "quoted" é': { ...price(5, 6), effective_date: 1_700_000_000, provider_id: 'p' } })
    expect(await query('e/history')).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        llm_id: 'm "quoted" é',
        prompt_token_cost: 0.1,
        completion_token_cost: 0.2,
        cache_read_input_token_cost: 0.3,
        cache_creation_input_token_cost: 0.4,
        prompt_token_cost_unit: 'EUR',
        completion_token_cost_unit: 'USD',
        effective_date: '1998-10-03T00:00:00.500000Z',
        provider_id: 'default',
      },
      expect.objectContaining({ effective_date: '2023-11-14T22:13:20Z', provider_id: 'p', prompt_token_cost: 5 }),
    ])
    const author = { $eq: [field('created_by'), literal('tester')] }
    expect(await query('e/history', { query: { $expr: author } })).toHaveLength(2)
  })

  it('stores nothing for an empty map', async () => {
    const before = log.appends()
    expect(await create('e/nothing', {})).toEqual([])
    expect(log.appends()).toBe(before)
  })

  it.each([
    [{ m: { ...price(), prompt_token_cost: -1e-9 } }, 400],
    [{ m: { ...price(), cache_read_input_token_cost: -1 } }, 400],
    [{ m: { ...price(), effective_date: '1850-01-01' } }, 400],
    [{ m: { ...price(), effective_date: 'soon' } }, 422],
    [{ m: { ...price(), effective_date: true } }, 422],
    [{ m: { prompt_token_cost: 1 } }, 422],
    [{ m: { ...price(), prompt_token_cost: 'many' } }, 422],
    [{ m: null }, 422],
    [null, 422],
  ])('answers %j with %i and stores nothing', async (costs, status) => {
    const before = log.appends()
    const sent = { json: { project_id: 'e/refused', costs: { ok: price(), ...costs } } }
    const answer = await call('/cost/create', costs === null ? { json: { project_id: 'e/refused' } } : sent)
    expect(answer.status).toBe(status)
    expect(log.appends()).toBe(before)
  })

  it.each(['1e400', '-1e999', '"1e999"', '"-1e99999"', '"Infinity"', '"-inf"', '"NaN"'])(
    'refuses the price %s, beyond the range of numbers, with 400',
    async (price) => {
      const jsonText = `{"project_id":"e/p","costs":{"m":{"prompt_token_cost":${price},"completion_token_cost":1}}}`
      expect((await call('/cost/create', { jsonText })).status).toBe(400)
    },
  )

  it('is for administrators, as purges are', async () => {
    expect(Object.fromEntries(routes.map(({ path, right }) => [path, right]))).toEqual({
      '/cost/create': 'admin',
      '/cost/query': 'read',
      '/cost/explain': 'read',
      '/cost/purge': 'admin',
    })
    const json = { project_id: 'e/p', costs: { m: price() } }
    expect((await call('/cost/create', { json }, { may: () => false })).status).toBe(403)
  })
})

describe('POST /cost/query', () => {
  const project = 'e/query'
  beforeAll(async () => {
    await create(project, {
      a: { ...price(1, 10), effective_date: '2023-01-01' },
      b: { ...price(2.5, 20), effective_date: '2024-01-01', provider_id: 'x' },
      c: { ...price(30, 0), effective_date: '2025-01-01' },
    })
    await create('e/other', { a: price() })
  })

  it.each([
    [{ $eq: [literal('1'), literal('1')] }, 'abc'],
    [{ $eq: [field('llm_id'), literal('b')] }, 'b'],
    [{ $in: [field('llm_id'), [literal('a'), literal('c'), literal('A')]] }, 'ac'],
    [{ $gt: [field('prompt_token_cost'), literal(2)] }, 'bc'],
    [{ $eq: [field('prompt_token_cost'), literal(2.5)] }, 'b'],
    [{ $in: [field('prompt_token_cost'), [literal(1), literal(2)]] }, 'a'],
    [{ $in: [field('prompt_token_cost'), [literal(1), literal(2.5)]] }, 'ab'],
    [{ $lte: [field('effective_date'), literal('2024-01-01')] }, 'ab'],
    [{ $gt: [field('effective_date'), literal(1_704_067_200)] }, 'c'],
    [{ $gte: [field('created_at'), literal('2020-01-01')] }, 'abc'],
    [{ $not: [{ $contains: { input: field('provider_id'), substr: literal('DEF'), case_insensitive: true } }] }, 'b'],
    [{ $eq: [field('pricing_level'), literal('project')] }, 'abc'],
    [{ $eq: [field('pricing_level_id'), literal('e/query')] }, 'abc'],
    [{ $eq: [field('pricing_level'), literal('default')] }, ''],
    [{ $eq: [field('provider_id'), literal(null)] }, ''],
    [{ $not: [{ $eq: [field('provider_id'), literal(null)] }] }, ''],
  ])('%j matches %j', async ($expr, expected) => {
    expect(models(await query(project, { query: { $expr } })).join('')).toBe(expected)
  })

  it('sorts, and cuts a page', async () => {
    const by = (name: string, direction: string) => ({ sort_by: [{ field: name, direction }] })
    expect(models(await query(project, by('prompt_token_cost', 'desc')))).toEqual(['c', 'b', 'a'])
    expect(models(await query(project, by('effective_date', 'asc')))).toEqual(['a', 'b', 'c'])
    expect(models(await query(project, { limit: 1, offset: 1 }))).toEqual(['b'])
    expect(models(await query(project, { limit: 0 }))).toEqual([])
    expect(models(await query(project, { sort_by: [], fields: null, query: null }))).toHaveLength(3)
  })

  it('shows everything when no field is named', async () => {
    const [all, named] = [await query(project), await query(project, { fields: [] })]
    expect(named).toEqual(all)
    expect(named[0]).toMatchObject({ llm_id: 'a', prompt_token_cost: 1 })
  })

  it('shows null for what was not asked for', async () => {
    const fields = ['llm_id', 'created_at', 'effective_date']
    const [first] = await query(project, { fields, limit: 1 })
    expect(first).toEqual({
      id: null,
      llm_id: 'a',
      prompt_token_cost: null,
      completion_token_cost: null,
      cache_read_input_token_cost: null,
      cache_creation_input_token_cost: null,
      prompt_token_cost_unit: null,
      completion_token_cost_unit: null,
      effective_date: '2023-01-01T00:00:00Z',
      provider_id: null,
    })
  })

  it.each([
    [{ fields: ['nope'] }, 400],
    [{ fields: ['count(*)'] }, 400],
    [{ query: { $expr: { $eq: [field('nope'), literal(1)] } } }, 400],
    [{ query: { $expr: { $eq: [field('llm_id'), literal(1)] } } }, 400],
    [{ query: { $expr: { x: 1, $eq: [field('llm_id'), literal(1)] } } }, 400],
    [{ sort_by: [{ field: 'nope', direction: 'asc' }] }, 400],
    [{ limit: -1 }, 400],
    [{ offset: -1 }, 400],
    [{ query: { $expr: { $convert: { input: field('id'), to: 'string' } } } }, 422],
    [{ query: {} }, 422],
  ])('%j is answered %i', async (more, status) => {
    expect((await refused('/cost/query', { project_id: project, ...more }))[0]).toBe(status)
  })
})

describe('POST /cost/purge', () => {
  it('takes the three forms, and only prices of the project', async () => {
    const project = 'e/purge'
    const sent = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((model) => [model, price()]))
    const [a, b, c, d] = (await create(project, sent)).map(([id]) => id)
    const [[foreign]] = (await create('e/not-purged', { a: price() })) as [[string, string]]
    const eq = (id: unknown) => ({ $eq: [field('id'), literal(id)] })
    expect((await purge(project, eq(a))).json).toEqual({})
    expect(models(await query(project))).toEqual(['b', 'c', 'd', 'e'])
    await purge(project, { $in: [field('id'), [literal(b), literal(foreign), literal('unknown')]] })
    expect(models(await query(project))).toEqual(['c', 'd', 'e'])
    const { status, headers } = await purge(project, { $or: [eq(c), eq(d)] })
    expect([status, headers]).toEqual([200, { 'X-Callhouse-Position': expect.stringMatching(/^costs=\d+$/) }])
    expect(models(await query(project))).toEqual(['e'])
    expect(models(await query('e/not-purged'))).toEqual(['a'])
  })

  it.each([
    { $eq: [literal('x'), field('id')] },
    { $eq: [field('id'), literal(1)] },
    { $eq: [field('llm_id'), literal('x')] },
    { $eq: [field('id'), field('id')] },
    { $or: [] },
    { $or: [{ $in: [field('id'), [literal('x')]] }] },
    { $and: [{ $eq: [field('id'), literal('x')] }] },
    { $in: [field('id'), [literal(1)]] },
    { $in: [field('id'), literal('x')] },
    { $gt: [field('id'), literal('x')] },
    {},
  ])('refuses %j', async ($expr) => {
    expect((await purge('e/purge', $expr)).status).toBe(400)
  })

  it('is final in any order, any number of times, and whatever the clocks say', async () => {
    const projectId = 'e/replay' as ProjectId
    const cost = {
      userId: 'u',
      llmId: 'm',
      providerId: 'p',
      effectiveUs: 1,
      promptPrice: 1,
      completionPrice: 2,
      cacheReadPrice: 0,
      cacheWritePrice: 0,
      promptUnit: 'USD',
      completionUnit: 'USD',
    }
    const early = clock.next()
    const late = clock.next()
    const created = (id: string, at: bigint) => costsRecord(projectId, [{ ...cost, id, clock: at }])
    const purged = (id: string, at: bigint) => costsPurgedRecord(projectId, [id], at)
    await log.append('costs', [purged('purge-first', late)])
    await log.append('costs', [created('purge-first', early), created('kept', early)])
    await log.append('costs', [created('clock-ahead', late), purged('clock-ahead', early)])
    await log.append('costs', [created('clock-ahead', late), created('kept', early), purged('purge-first', late)])
    expect((await query(projectId)).map(({ id }) => id)).toEqual(['kept'])
    const merge = 'OPTIMIZE TABLE callhouse.costs FINAL'
    await store.command({ name: 'merge', sql: merge, params: {} })
    expect((await query(projectId)).map(({ id }) => id)).toEqual(['kept'])
  })
})
