// POST /calls/usage and POST /trace/usage: the tables and examples of the specification.
// again: kafka
import { beforeAll, describe, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'
import { usageEntry as entry, pricedEntry as priced } from '../fixtures/usage-entries.ts'

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

async function send(path: string, body: unknown): Promise<{ status: number; json: unknown }> {
  const { status, text } = await post(server.now().url, path, body)
  return { status, json: JSON.parse(text) }
}

let projects = 0
const newProject = () => `usage/p${projects++}`
const id = (name: string) => `00000000-0000-7000-8000-${Buffer.from(name.padEnd(6, '_')).toString('hex')}`
const traceOf = (name: string) => id(`T${name}`)

type CallSpec = {
  name: string
  parent?: string
  trace?: string
  at?: string
  isRunning?: boolean
  usage?: object | null
  more?: object
}

const startOf = (project_id: string, { name, parent, trace = 't', at = '2026-01-05T12:00:00Z', more }: CallSpec) => ({
  project_id,
  id: id(name),
  trace_id: traceOf(trace),
  parent_id: parent ? id(parent) : null,
  op_name: 'op',
  started_at: at,
  attributes: {},
  inputs: { name },
  ...more,
})
const endOf = (project_id: string, { name, usage, at = '2026-01-05T12:00:00Z' }: CallSpec) => ({
  project_id,
  id: id(name),
  ended_at: at,
  output: null,
  summary: usage === undefined ? {} : { usage },
})

async function write(path: string, body: unknown): Promise<void> {
  const { status, json } = await send(path, body)
  expect([status, JSON.stringify(json)]).toEqual([200, expect.not.stringContaining('error')])
}

/** Stores calls and returns their project. */
async function stored(calls: CallSpec[], project = newProject()): Promise<string> {
  const batch = calls.flatMap((call) => [
    { mode: 'start', req: { start: startOf(project, call) } },
    ...(call.isRunning ? [] : [{ mode: 'end', req: { end: endOf(project, call) } }]),
  ])
  await write('/call/upsert_batch', { batch })
  return project
}

type UsageAnswer = { call_usage: Record<string, Record<string, object>>; unfinished_call_ids: string[] }

async function usage(path: '/calls/usage' | '/trace/usage', body: object): Promise<UsageAnswer> {
  const { status, json } = await send(path, body)
  expect(status).toBe(200)
  return json as UsageAnswer
}

const exampleA: CallSpec = {
  name: 'E',
  usage: {
    m1: { prompt_tokens: 100, completion_tokens: 50, cache_read_input_tokens: 20, requests: 1 },
    unknown: { input_tokens: 7, output_tokens: '3', total_tokens: 12 },
  },
}

/** The trace of the examples B, C and D. */
const exampleB = (at?: (n: number) => string): CallSpec[] => {
  const when = (n: number) => ({ at: at?.(n) ?? '2026-01-05T12:00:00Z' })
  return [
    { name: 'a_R', isRunning: true, ...when(0) },
    {
      name: 'b_K1',
      parent: 'a_R',
      usage: { m1: { prompt_tokens: 1, completion_tokens: 1 }, m2: { input_tokens: 4 } },
      ...when(1),
    },
    {
      name: 'c_K2',
      parent: 'b_K1',
      usage: { m1: { prompt_tokens: 10, completion_tokens: 5, requests: 1 } },
      ...when(2),
    },
    { name: 'd_O', parent: 'ghost', isRunning: true, ...when(3) },
  ]
}
/** The price of the examples; `m1` costs nothing before it is set. */
const setPrices = (project_id: string, more: object = {}) =>
  write('/cost/create', {
    project_id,
    costs: { m1: { prompt_token_cost: 0.001, completion_token_cost: 0.002, ...more } },
  })
const rolledUp = { m1: entry(1, 11, 6, 17), m2: entry(0, 4, 0, 4) }

describe('/calls/usage', () => {
  it('reads both spellings, derives totals, and answers {} for unknown calls (example A)', async () => {
    const project_id = await stored([exampleA])
    expect(await usage('/calls/usage', { project_id, call_ids: [id('E'), 'nope'] })).toEqual({
      call_usage: { [id('E')]: { m1: entry(1, 100, 50, 150, 20), unknown: entry(0, 7, 3, 12) }, nope: {} },
      unfinished_call_ids: [],
    })
  })

  it('has costs when they are asked for (example A)', async () => {
    const project_id = await stored([exampleA])
    await setPrices(project_id)
    expect(await usage('/calls/usage', { project_id, call_ids: [id('E'), 'nope'], include_costs: true })).toEqual({
      call_usage: {
        [id('E')]: {
          m1: priced(entry(1, 100, 50, 150, 20), [0.08, 0.1, 0, 0]),
          unknown: priced(entry(0, 7, 3, 12), []),
        },
        nope: {},
      },
      unfinished_call_ids: [],
    })
  })

  it('prices each call by its own start, and cached tokens once', async () => {
    const usageOf = (prompt_tokens: number) => ({
      m1: { prompt_tokens, completion_tokens: 1, cache_read_input_tokens: 10, cache_creation_input_tokens: 5 },
    })
    const project_id = await stored([
      { name: 'old', at: '2026-01-05T12:00:00Z', usage: usageOf(100) },
      { name: 'new', parent: 'old', at: '2026-01-05T13:00:00Z', usage: usageOf(2) },
    ])
    const cache = { cache_read_input_token_cost: 0.0001, cache_creation_input_token_cost: 0.003 }
    await setPrices(project_id, { ...cache, effective_date: '2026-01-01T00:00:00Z' })
    await setPrices(project_id, {
      prompt_token_cost: 1,
      completion_token_cost: 1,
      effective_date: '2026-01-05T13:00:00Z',
    })
    const asked = { project_id, call_ids: [id('old'), id('new')], include_costs: true }
    expect((await usage('/calls/usage', asked)).call_usage).toEqual({
      // The older call has 100 - 10 - 5 tokens that are not cached; 15 cached tokens are not among the 2 of the newer
      // one.
      [id('old')]: { m1: priced(entry(0, 102, 2, 104, 20, 10), [0.085 + 2, 1.002, 0.001, 0.015]) },
      [id('new')]: { m1: priced(entry(0, 2, 1, 3, 10, 5), [2, 1, 0, 0]) },
    })
  })

  it('answers null for a cost that no double can hold', async () => {
    const counts = { prompt_tokens: 4e9, completion_tokens: 1, cache_read_input_tokens: 1 }
    const project_id = await stored([{ name: 'dear', usage: { m1: counts } }])
    await setPrices(project_id, { prompt_token_cost: 1e308, completion_token_cost: 1e308 })
    const [asked, costs] = [{ project_id, include_costs: true }, { prompt_tokens_total_cost: null }]
    const expected = { ...entry(0, 4e9, 1, 4e9 + 1, 1), ...costs, completion_tokens_total_cost: 1e308 }
    const zero = { cache_read_input_tokens_total_cost: 0, cache_creation_input_tokens_total_cost: 0 }
    for (const answer of [
      await usage('/calls/usage', { ...asked, call_ids: [id('dear')] }),
      await usage('/trace/usage', asked),
    ])
      expect(answer.call_usage).toEqual({ [id('dear')]: { m1: { ...expected, ...zero } } })
  })

  it('is told whole, however long the names of models are', async () => {
    const model = 'm'.repeat(100_000)
    const names = Array.from({ length: 9 }, (_, n) => `long${n}`)
    const project_id = await stored(
      names.map((name, n) => ({
        name,
        ...(n > 0 && { parent: names[n - 1] as string }),
        ...(n === 8 && { usage: { [model]: { prompt_tokens: 1 } } }),
      })),
    )
    const asked = { project_id, call_ids: names.map(id) }
    const { call_usage } = await usage('/calls/usage', asked)
    expect(call_usage).toEqual(Object.fromEntries(names.map((name) => [id(name), { [model]: entry(0, 1, 0, 1) }])))
    expect(await usage('/trace/usage', { project_id })).toEqual({ call_usage, unfinished_call_ids: [] })
  })

  it('adds descendants to each asked call and lists the unfinished calls of the trace (example B)', async () => {
    const project_id = await stored(exampleB())
    expect(await usage('/calls/usage', { project_id, call_ids: [id('b_K1'), id('a_R'), id('a_R')] })).toEqual({
      call_usage: { [id('b_K1')]: rolledUp, [id('a_R')]: rolledUp },
      unfinished_call_ids: [id('a_R'), id('d_O')],
    })
  })

  it('answers without calls', async () => {
    const project_id = await stored(exampleB())
    expect(await usage('/calls/usage', { project_id, call_ids: [] })).toEqual({
      call_usage: {},
      unfinished_call_ids: [],
    })
    expect(await usage('/calls/usage', { project_id, call_ids: ['x', 'y', '__proto__'] })).toEqual({
      call_usage: JSON.parse('{"x":{},"y":{},"__proto__":{}}'),
      unfinished_call_ids: [],
    })
  })

  it('takes the limit over all traces together, earliest calls first', async () => {
    const project_id = await stored([
      { name: 'one', trace: 'a', at: '2026-01-05T12:00:00Z', isRunning: true },
      { name: 'two', trace: 'b', at: '2026-01-05T12:00:01Z', usage: { m: { requests: 1 } } },
      { name: 'sub', trace: 'a', parent: 'one', at: '2026-01-05T12:00:02Z', usage: { m: { requests: 2 } } },
    ])
    const call_ids = [id('one'), id('two')]
    const two = { [id('two')]: { m: entry(1, 0, 0, 0) } }
    const one = (requests: number) => ({ [id('one')]: { m: entry(requests, 0, 0, 0) } })
    const unfinished_call_ids = [id('one')]
    expect(await usage('/calls/usage', { project_id, call_ids })).toEqual({
      call_usage: { ...one(2), ...two },
      unfinished_call_ids,
    })
    expect(await usage('/calls/usage', { project_id, call_ids, limit: 2 })).toEqual({
      call_usage: { [id('one')]: {}, ...two },
      unfinished_call_ids,
    })
    expect(await usage('/calls/usage', { project_id, call_ids, limit: 0 })).toEqual({
      call_usage: { [id('one')]: {}, [id('two')]: {} },
      unfinished_call_ids: [],
    })
  })

  it('takes 1,000 ids and no more', async () => {
    const project_id = newProject()
    const call_ids = Array.from({ length: 1000 }, (_, n) => `c${n}`)
    expect(Object.keys((await usage('/calls/usage', { project_id, call_ids })).call_usage)).toHaveLength(1000)
    const { status, json } = await send('/calls/usage', { project_id, call_ids: [...call_ids, 'c0'] })
    expect([status, json]).toEqual([400, { reason: 'call_ids takes at most 1000 values, got 1001' }])
  })

  it('keeps the calls of two traces apart that share a span id', async () => {
    const span = 'aaaaaaaaaaaaaaaa'
    const project_id = newProject()
    for (const [trace, requests] of [
      ['one', 1],
      ['two', 2],
    ] as const) {
      const at = `2026-01-05T12:00:0${requests}Z`
      const whole = (own: string, parent_id: string | null, count: number) => ({
        ...startOf(project_id, { name: own, trace, at, more: { id: own, parent_id } }),
        ended_at: at,
        output: null,
        summary: { usage: { m: { requests: count } } },
      })
      const batch = [whole(span, null, requests), whole(`bbbbbbbbbbbbbbb${requests}`, span, 10 * requests)]
      await write(`/v2/${project_id}/calls/complete`, { batch })
    }
    const call_ids = [span, 'bbbbbbbbbbbbbbb1']
    expect((await usage('/calls/usage', { project_id, call_ids })).call_usage).toEqual({
      [span]: { m: entry(22, 0, 0, 0) },
      bbbbbbbbbbbbbbb1: { m: entry(10, 0, 0, 0) },
    })
  })
})

describe('/trace/usage', () => {
  const filter = { trace_ids: [traceOf('t')] }

  it('has a key for every call of the trace (example C)', async () => {
    const project_id = await stored(exampleB((n) => `2026-01-05T12:00:0${n}Z`))
    expect(await usage('/trace/usage', { project_id, filter })).toEqual({
      call_usage: {
        [id('a_R')]: rolledUp,
        [id('b_K1')]: rolledUp,
        [id('c_K2')]: { m1: entry(1, 10, 5, 15) },
        [id('d_O')]: {},
      },
      unfinished_call_ids: [id('a_R'), id('d_O')],
    })
  })

  it('has costs of every call and its descendants (example C)', async () => {
    const project_id = await stored(exampleB((n) => `2026-01-05T12:00:0${n}Z`))
    await setPrices(project_id)
    const both = { m1: priced(entry(1, 11, 6, 17), [0.011, 0.012]), m2: priced(entry(0, 4, 0, 4), []) }
    expect((await usage('/trace/usage', { project_id, filter, include_costs: true })).call_usage).toEqual({
      [id('a_R')]: both,
      [id('b_K1')]: both,
      [id('c_K2')]: { m1: priced(entry(1, 10, 5, 15), [0.01, 0.01]) },
      [id('d_O')]: {},
    })
  })

  it('cuts at the limit in the order of start time and id (example D)', async () => {
    const project_id = await stored(exampleB())
    const own = { m1: entry(0, 1, 1, 2), m2: entry(0, 4, 0, 4) }
    expect(await usage('/trace/usage', { project_id, filter, limit: 2 })).toEqual({
      call_usage: { [id('a_R')]: own, [id('b_K1')]: own },
      unfinished_call_ids: [id('a_R')],
    })
  })

  it('rolls up over exactly the calls that filter and query select', async () => {
    const project_id = await stored([...exampleB(), { name: 'other', trace: 'u', usage: { m1: { requests: 3 } } }])
    const query = { $expr: { $in: [{ $getField: 'inputs.name' }, [{ $literal: 'a_R' }, { $literal: 'c_K2' }]] } }
    expect(await usage('/trace/usage', { project_id, filter, query })).toEqual({
      call_usage: { [id('a_R')]: {}, [id('c_K2')]: { m1: entry(1, 10, 5, 15) } },
      unfinished_call_ids: [id('a_R')],
    })
    const everything = await usage('/trace/usage', { project_id })
    expect(Object.keys(everything.call_usage)).toHaveLength(5)
    expect(await usage('/trace/usage', { project_id, filter: { trace_ids: [traceOf('none')] } })).toEqual({
      call_usage: {},
      unfinished_call_ids: [],
    })
    expect(await usage('/trace/usage', { project_id, limit: 0 })).toEqual({ call_usage: {}, unfinished_call_ids: [] })
  })

  it('filters by user and run with the wire prefix', async () => {
    const project_id = await stored([{ name: 'run', more: { platform_run_id: 'usage/r/one' } }, { name: 'bare' }])
    const found = await usage('/trace/usage', { project_id, filter: { platform_run_ids: ['usage/r/one'] } })
    expect(Object.keys(found.call_usage)).toEqual([id('run')])
  })

  it('shows late ends and second ends, and forgets deleted calls', async () => {
    const project_id = await stored(exampleB())
    await write('/call/end', { end: endOf(project_id, { name: 'a_R', usage: { m1: { requests: 5 } } }) })
    await write('/call/end', { end: endOf(project_id, { name: 'c_K2', usage: { m1: { requests: 7 } } }) })
    const late = await usage('/trace/usage', { project_id, filter })
    expect(late.call_usage[id('a_R')]).toEqual({ m1: entry(12, 1, 1, 2), m2: entry(0, 4, 0, 4) })
    expect(late.unfinished_call_ids).toEqual([id('d_O')])
    await write('/calls/delete', { project_id, call_ids: [id('b_K1'), id('d_O')] })
    const left = await usage('/trace/usage', { project_id, filter })
    // Deleting a call deletes its descendants.
    expect(left).toEqual({ call_usage: { [id('a_R')]: { m1: entry(5, 0, 0, 0) } }, unfinished_call_ids: [] })
    expect((await usage('/calls/usage', { project_id, call_ids: [id('b_K1')] })).call_usage).toEqual({
      [id('b_K1')]: {},
    })
  })
})

describe('both routes of usage', () => {
  it.each([
    ['null and absent are 0', { prompt_tokens: null, requests: 1 }, entry(1, 0, 0, 0)],
    [
      'both spellings are added',
      { prompt_tokens: 1, input_tokens: 2, completion_tokens: 4, output_tokens: 8 },
      entry(0, 3, 12, 15),
    ],
    ['a reported total of 0 is derived', { input_tokens: 2, total_tokens: 0 }, entry(0, 2, 0, 2)],
    ['a reported total stands', { input_tokens: 2, total_tokens: 1 }, entry(0, 2, 0, 1)],
    ['cache tokens', { cache_read_input_tokens: 3, cache_creation_input_tokens: 4 }, entry(0, 0, 0, 0, 3, 4)],
    ['texts of numbers', { requests: '2', input_tokens: '5' }, entry(2, 5, 0, 5)],
  ])('%s', async (_, reported, expected) => {
    const project_id = await stored([
      { name: 'c', usage: { 'Vendor/M-1:2026': reported, empty: {}, zero: { requests: 0 } } },
    ])
    expect((await usage('/trace/usage', { project_id })).call_usage).toEqual({
      [id('c')]: { 'Vendor/M-1:2026': expected },
    })
  })

  it.each(['/calls/usage', '/trace/usage'])('%s refuses what it cannot answer', async (path) => {
    const body = { project_id: newProject(), call_ids: ['x'] }
    const ask = async (more: object) => {
      const { status, json } = await send(path, { ...body, ...more })
      return [status, (json as { reason?: string }).reason]
    }
    expect(await ask({ limit: -1 })).toEqual([400, 'limit must not be negative'])
    expect(await ask({ project_id: 'bad' })).toEqual([400, expect.any(String)])
    expect((await ask({ limit: 'many' }))[0]).toBe(422)
    expect((await ask({ limit: null, include_costs: null }))[0]).toBe(200)
  })

  it('requires its fields', async () => {
    expect((await send('/calls/usage', { project_id: newProject() })).status).toBe(422)
    expect((await send('/trace/usage', {})).status).toBe(422)
    const refused = await send('/trace/usage', { project_id: newProject(), query: { $expr: { $eq: [1] } } })
    expect([400, 422]).toContain(refused.status)
  })
})
