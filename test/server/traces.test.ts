// POST /v2/{entity}/{project}/traces/query: what whole traces come to, by their ids and as a list that is ordered and filtered
// by it, from the calls and from the table of parts.
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TraceFigures, TracesQueryRequest } from '../../schemas/traces.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { createRandom } from '../fixtures/random.ts'
import { firstCallMs as baseMs, type SentCall, sendCalls, tokensSent as tokens } from '../fixtures/sent-calls.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server?.remove())

type Asked = { [Name in keyof TracesQueryRequest]?: unknown }
const query = (project: string, asked: Asked) =>
  server.send<{
    traces: TraceFigures[]
    has_more: boolean
    counts?: { traces: number; with_errors: number }
  }>(`/v2/${project}/traces/query`, asked)
const idsOf = async (project: string, asked: Asked) =>
  (await query(project, asked)).traces.map(({ trace_id }) => trace_id)
const count = () => server.now().worker?.rollups.refresh()

const send = (project: string, calls: readonly SentCall[]) => sendCalls(server, project, calls)

describe('some traces by their ids', () => {
  const project = 'traces/by-id'
  it('answers what each comes to, in the order of the ids, and nothing of what is not there', async () => {
    const [one, two] = [randomUUID(), randomUUID()]
    const [root] = await send(project, [
      { trace: one, atMs: baseMs, tookMs: 90_500 },
      { trace: one, parent: randomUUID(), atMs: baseMs + 70_000, exception: 'Error: no', usage: tokens(1000, 10) },
      { trace: two, atMs: baseMs + 1, tookMs: null },
    ])
    const { traces, has_more } = await query(project, { trace_ids: [two, 'never', one, two] })
    expect(has_more).toBe(false)
    expect(traces.map(({ trace_id }) => trace_id)).toEqual([two, one])
    expect(traces[0]).toMatchObject({ is_running: true, ended_at: null, spans: 1, cost: 0, models: [] })
    expect(traces[1]).toMatchObject({
      root_ids: [root],
      started_at: new Date(baseMs).toISOString().replace('.000Z', 'Z'),
      duration_ms: 90_500,
      is_running: false,
      spans: 2,
      errors: 1,
      input_tokens: 1000,
      output_tokens: 10,
      total_tokens: 1010,
      models: ['gpt-4o'],
    })
    expect(traces[1]?.cost).toBeGreaterThan(0)
  })

  it('counts calls of SDKs by their root, which reports the sum of those below it, and by the others where it reports none', async () => {
    const [sums, plain] = [randomUUID(), randomUUID()]
    const [root] = await send(project, [{ trace: sums, atMs: baseMs, usage: tokens(300) }])
    const [step] = await send(project, [{ trace: sums, parent: root, atMs: baseMs, usage: tokens(300) }] as SentCall[])
    const [above] = await send(project, [{ trace: plain, atMs: baseMs }])
    await send(project, [
      { trace: sums, parent: step, atMs: baseMs, usage: tokens(300) },
      { trace: plain, parent: above, atMs: baseMs, usage: tokens(40) },
      { trace: plain, parent: above, atMs: baseMs + 61_000, usage: tokens(2) },
    ] as SentCall[])
    const { traces } = await query(project, { trace_ids: [sums, plain] })
    expect(traces.map((one) => one.input_tokens)).toEqual([300, 42])
    for (const _ of ['from the calls', 'from the parts']) {
      expect(await idsOf(project, { where: { input_tokens: { eq: 300 } } })).toEqual([sums])
      expect(await idsOf(project, { where: { input_tokens: { eq: 42 } } })).toEqual([plain])
      await count()
    }
  })

  it('names the models that its cost lacks, also beside others, and none where all have a price', async () => {
    const [some, all] = [randomUUID(), randomUUID()]
    await send(project, [
      { trace: some, atMs: baseMs, usage: tokens(1000, 10) },
      { trace: some, atMs: baseMs, usage: tokens(5, 1, 'own') },
      { trace: some, atMs: baseMs + 61_000, usage: tokens(5, 1, 'another') },
      { trace: some, atMs: baseMs, usage: tokens(0, 0, 'unused') },
      { trace: all, atMs: baseMs, usage: tokens(1000, 10) },
    ])
    const { traces } = await query(project, { trace_ids: [some, all] })
    expect(traces[0]).toMatchObject({ unpriced_models: ['another', 'own'] })
    expect(traces[1]).not.toHaveProperty('unpriced_models')
    expect(traces[0]?.cost).toBe(traces[1]?.cost)
  })

  it('says that no model has a price, and counts a total that is reported', async () => {
    const trace = randomUUID()
    const usage = { own: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 9 } }
    await send(project, [{ trace, atMs: baseMs, usage }])
    const { traces } = await query(project, { trace_ids: [trace] })
    expect(traces[0]).toMatchObject({ cost: null, total_tokens: 9, models: ['own'], unpriced_models: ['own'] })
  })
})

describe('a list of traces', () => {
  const project = 'traces/list'
  const random = createRandom(20_260_914)
  const traces = Array.from({ length: 60 }, () => randomBytes(16).toString('hex'))
  let all: TraceFigures[] = []
  const fields = ['spans', 'errors', 'input_tokens', 'output_tokens', 'total_tokens', 'cost', 'duration_ms'] as const

  beforeAll(async () => {
    for (const trace of traces) {
      const atMs = baseMs + random.below(3 * 3_600_000)
      const [root] = await send(project, [{ trace, atMs, op: random.pick(['chat', 'agent']) }])
      const below = Array.from({ length: random.below(6) }, () => ({
        trace,
        parent: root as string,
        atMs: atMs + random.below(150_000),
        tookMs: random.chance(0.1) ? null : random.below(60_000),
        ...(random.chance(0.3) && { exception: 'Error: no' }),
        usage: tokens(random.below(3000), random.below(300), random.pick(['gpt-4o', 'gpt-4o-mini', 'own'])),
      }))
      await send(project, below)
    }
    all = (await query(project, { trace_ids: traces })).traces
    expect(all).toHaveLength(traces.length)
  })

  /** The expected list: of traces with the same number, the latest first. */
  const expected = (field: (typeof fields)[number], asked: (one: TraceFigures) => boolean) =>
    all
      .filter(asked)
      .sort(
        (a, b) =>
          (b[field] ?? 0) - (a[field] ?? 0) || (a.started_at < b.started_at ? 1 : a.started_at > b.started_at ? -1 : 0),
      )

  const compare = async () => {
    for (const field of fields) {
      const sort_by = [{ field, direction: 'desc' }]
      const listed = (await query(project, { sort_by })).traces
      // Sums of costs in another order differ in their last digit.
      expect(listed.map((one) => Math.round((one[field] ?? 0) * 1e9))).toEqual(
        expected(field, () => true).map((one) => Math.round((one[field] ?? 0) * 1e9)),
      )
      expect(listed.toSorted((a, b) => (a.trace_id < b.trace_id ? -1 : 1))).toEqual(
        all.toSorted((a, b) => (a.trace_id < b.trace_id ? -1 : 1)),
      )
      const [, bound] = expected(field, () => true).map((one) => one[field] ?? 0)
      const above = await query(project, { sort_by, where: { [field]: { gte: bound } }, limit: 500 })
      expect(above.traces.length).toBeGreaterThan(1)
      expect(above.traces.every((one) => (one[field] ?? 0) >= (bound as number) - 1e-12)).toBe(true)
    }
    expect(new Set(await idsOf(project, { where: { errors: { gt: 0 }, model: { contains: '4O-MINI' } } }))).toEqual(
      new Set(
        all.filter((one) => one.errors > 0 && one.models.includes('gpt-4o-mini')).map(({ trace_id }) => trace_id),
      ),
    )
    const idsWith = (asked: (one: TraceFigures) => boolean) =>
      new Set(all.filter(asked).map(({ trace_id }) => trace_id))
    const ofModel = async (model: object) => new Set(await idsOf(project, { where: { model } }))
    // Part of a name is not the name.
    expect(await ofModel({ is: ['GPT-4o'] })).toEqual(idsWith(({ models }) => models.includes('gpt-4o')))
    expect(await ofModel({ is: ['gpt-4o', 'own'] })).toEqual(
      idsWith(({ models }) => models.includes('gpt-4o') || models.includes('own')),
    )
    expect(await ofModel({ is_not: ['gpt-4o', 'own'] })).toEqual(
      idsWith(({ models }) => !models.includes('gpt-4o') && !models.includes('own')),
    )
    const byModel = await query(project, { sort_by: [{ field: 'model', direction: 'asc' }] })
    const firsts = byModel.traces.map(({ models }) => models[0] ?? 'without one')
    expect(firsts).toEqual(firsts.toSorted())
    expect((await query(project, {})).counts).toBeUndefined()
    const counted = await query(project, { limit: 1, include_counts: true })
    expect(counted.counts).toEqual({ traces: all.length, with_errors: idsWith(({ errors }) => errors > 0).size })
    const few = { where: { spans: { gt: 3 } }, filter: { op_names: ['agent'] }, limit: 500, include_counts: true }
    const agents = await query(project, few)
    expect(agents.counts).toEqual({
      traces: agents.traces.length,
      with_errors: agents.traces.filter(({ errors }) => errors > 0).length,
    })
    const pages = [0, 25, 50].map((offset) => query(project, { limit: 25, offset }))
    const found = await Promise.all(pages)
    expect(found.map(({ has_more }) => has_more)).toEqual([true, true, false])
    expect(found.flatMap((page) => page.traces.map((one) => one.started_at))).toEqual(
      all.map((one) => one.started_at).toSorted((a, b) => (a < b ? 1 : -1)),
    )
  }

  it('has them in the order of each number, from the calls', compare)
  it('and from the parts', async () => {
    await count()
    await compare()
  })

  it('takes filter, query and times of roots', async () => {
    const atHour = new Date(baseMs + 3_600_000 + 12_345).toISOString()
    const after = {
      $expr: { $gte: [{ $getField: 'started_at' }, { $literal: (baseMs + 3_600_000 + 12_345) / 1000 }] },
    }
    const sort_by = [{ field: 'spans', direction: 'asc' }]
    const later = await query(project, { query: after, sort_by })
    const ofTime = all.filter((one) => one.started_at >= atHour)
    expect(ofTime.length).toBeGreaterThan(5)
    expect(later.traces.map(({ spans }) => spans)).toEqual(ofTime.map(({ spans }) => spans).toSorted((a, b) => a - b))
    const agents = await idsOf(project, { filter: { op_names: ['agent'] }, query: after })
    const chats = await idsOf(project, { filter: { op_names: ['chat'] }, query: after })
    expect(new Set([...agents, ...chats])).toEqual(new Set(ofTime.map(({ trace_id }) => trace_id)))
    expect(agents.length + chats.length).toBe(ofTime.length)
    expect(chats.length).toBeGreaterThan(0)
  })

  it('follows late calls, deletes and a start that moves to another trace', async () => {
    const [trace, other] = [randomUUID(), randomUUID()]
    const [first] = await send(project, [{ trace, atMs: baseMs + 5_000 }])
    const sort_by = [{ field: 'spans', direction: 'desc' }]
    const [late, moved] = await send(
      project,
      Array.from({ length: 20 }, (_, n) => ({ trace, parent: first as string, atMs: baseMs + n * 61_000 })),
    )
    await count()
    expect((await query(project, { sort_by, limit: 1 })).traces[0]).toMatchObject({ trace_id: trace, spans: 21 })
    await server.send('/calls/delete', { project_id: project, call_ids: [late] })
    await send(project, [{ id: moved as string, trace: other, atMs: baseMs + 61_000 }])
    for (const _ of ['from the calls', 'from the parts']) {
      expect((await query(project, { sort_by, limit: 1 })).traces[0]).toMatchObject({ trace_id: trace, spans: 19 })
      const named = await query(project, { where: { spans: { eq: 1 } }, limit: 500 })
      expect(named.traces.map(({ trace_id }) => trace_id)).toContain(other)
      await count()
    }
    await server.send('/calls/delete', { project_id: project, call_ids: [first] })
    expect((await query(project, { sort_by, limit: 500 })).traces.map((one) => one.trace_id)).not.toContain(trace)
  })
})

it('prices each call by what was in force when it began, within a minute too', async () => {
  const project = 'traces/prices'
  const [cheap, dear] = [randomUUID(), randomUUID()]
  const cost = (prompt_token_cost: number, at: number) => ({
    prompt_token_cost,
    completion_token_cost: 0,
    effective_date: new Date(at).toISOString(),
  })
  await server.send('/cost/create', { project_id: project, costs: { m: cost(0.001, baseMs - 1e9) } })
  await server.send('/cost/create', { project_id: project, costs: { m: cost(0.5, baseMs + 30_000) } })
  await send(project, [
    { trace: cheap, atMs: baseMs + 29_000, usage: tokens(100, 0, 'm') },
    { trace: dear, atMs: baseMs + 31_000, usage: tokens(10, 0, 'm') },
  ])
  for (const _ of ['from the calls', 'from the parts']) {
    const { traces } = await query(project, { sort_by: [{ field: 'cost', direction: 'desc' }] })
    expect(traces.map(({ trace_id, cost }) => [trace_id, cost])).toEqual([
      [dear, 5],
      [cheap, 0.1],
    ])
    expect(await idsOf(project, { where: { cost: { gt: 1 } } })).toEqual([dear])
    await count()
  }
})

it('refuses what it does not understand', async () => {
  const refusal = (asked: Asked) =>
    query('traces/none', asked).then(
      () => 'taken',
      (error: Error) => error.message,
    )
  expect(await refusal({ sort_by: [{ field: 'weight', direction: 'asc' }] })).toContain('422')
  expect(await refusal({ where: { errors: { above: 1 } } })).toContain('422')
  expect(await refusal({ where: { errors: { gt: 'x' } } })).toContain('422')
  expect(await refusal({ limit: 501 })).toContain('422')
  expect(await refusal({ offset: -1 })).toContain('400')
  expect(await refusal({ trace_ids: ['a'], where: { errors: { gt: 0 } } })).toContain('400')
  expect(await refusal({ trace_ids: Array(501).fill('a') })).toContain('422')
  expect(await query('traces/none', {})).toEqual({ traces: [], has_more: false })
})
