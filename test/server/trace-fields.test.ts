// What whole traces come to as fields of call queries: every route that takes a query answers by them, and by nothing else than
// the figures of traces say.
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TraceFigures, traceNumbers } from '../../schemas/traces.ts'
import { post } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { createRandom } from '../fixtures/random.ts'
import { firstCallMs, sendCalls, tokensSent } from '../fixtures/sent-calls.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server?.remove())

type Operation = Record<string, unknown>
const field = (name: string) => ({ $getField: name })
const compare = (operator: string, name: string, value: unknown): Operation => ({
  [operator]: [field(name), { $literal: value }],
})
const gte = (name: string, value: unknown) => compare('$gte', name, value)
const eq = (name: string, value: unknown) => compare('$eq', name, value)
const holds = (name: string, substr: string): Operation => ({
  $contains: { input: field(name), substr: { $literal: substr }, case_insensitive: true },
})
const any = (...all: Operation[]): Operation => ({ $or: all })
const not = (one: Operation): Operation => ({ $not: [one] })

const project_id = 'trace-fields/list'
const random = createRandom(20_261_002)
const ids = Array.from({ length: 40 }, () => randomBytes(16).toString('hex'))
type Known = TraceFigures & { op: string; root: string }
let all: Known[] = []

const asked = (expression?: Operation, more: object = {}) => ({
  project_id,
  filter: { trace_roots_only: true },
  ...(expression && { query: { $expr: expression } }),
  ...more,
})
const rows = async (body: object) => {
  const { status, text } = await post(server.now().url, '/calls/stream_query', { columns: ['id', 'trace_id'], ...body })
  expect(status, text).toBe(200)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { id: string; trace_id: string })
}
const found = async (expression?: Operation, more?: object) =>
  (await rows(asked(expression, more))).map(({ trace_id }) => trace_id)
const ofKnown = (meets: (one: Known) => boolean) => all.filter(meets).map(({ trace_id }) => trace_id)
const sorted = (list: readonly string[]) => list.toSorted()

beforeAll(async () => {
  const opOf = new Map<string, string>()
  for (const trace of ids) {
    const atMs = firstCallMs + random.below(3 * 3_600_000)
    const op = random.pick(['chat', 'agent'])
    opOf.set(trace, op)
    const inputs = { n: random.below(3), city: random.pick(['Oslo', 'Bergen']) }
    const [root] = await sendCalls(server, project_id, [{ trace, atMs, op, inputs }])
    // Of some traces no model has a price.
    const models = random.chance(0.2) ? ['own'] : ['gpt-4o', 'gpt-4o-mini', 'own']
    const below = Array.from({ length: random.below(6) }, () => ({
      trace,
      parent: root as string,
      atMs: atMs + random.below(150_000),
      tookMs: random.below(60_000),
      ...(random.chance(0.25) && { exception: 'Error: no' }),
      usage: tokensSent(random.below(3000), random.below(300), random.pick(models)),
    }))
    await sendCalls(server, project_id, below)
  }
  const { traces } = await server.send<{ traces: TraceFigures[] }>('/v2/trace-fields/list/traces/query', {
    trace_ids: ids,
  })
  all = traces.map((one) => ({ ...one, op: opOf.get(one.trace_id) as string, root: one.root_ids[0] as string }))
})

/** Each test asks from the calls, and from the parts once these are counted. */
async function onBothWays(check: () => Promise<void>): Promise<void> {
  await check()
  await server.now().worker?.rollups.refresh()
  await check()
}

describe('conditions', () => {
  it('on each number find the traces whose figures meet them, and no others', () =>
    onBothWays(async () => {
      for (const name of traceNumbers) {
        const values = all.map((one) => one[name]).filter((value) => value !== null)
        const bound = values.toSorted((a, b) => b - a)[Math.floor(values.length / 4)] as number
        expect(bound, name).toBeGreaterThan(0)
        // Sums of costs in another order differ in their last digit.
        const near = name === 'cost' ? bound * (1 - 1e-9) : bound
        const expected = ofKnown((one) => (one[name] ?? -1) >= near)
        expect(expected.length).toBeLessThan(all.length)
        expect(sorted(await found(gte(`trace.${name}`, near))), name).toEqual(sorted(expected))
      }
    }))

  it('on costs do not hold for traces whose models have no price', () =>
    onBothWays(async () => {
      const unpriced = ofKnown(({ cost }) => cost === null)
      expect(unpriced.length).toBeGreaterThan(1)
      const cheap = sorted(await found(compare('$lt', 'trace.cost', 1e6)))
      expect(cheap).toEqual(sorted(ofKnown(({ cost }) => cost !== null)))
      expect(sorted(await found(eq('trace.cost', null)))).toEqual(sorted(unpriced))
    }))

  it('on models take whole names in any case, parts of names, and none at all', () =>
    onBothWays(async () => {
      const withModel = (model: string) => ofKnown(({ models }) => models.includes(model))
      expect(sorted(await found(holds('trace.models', 'GPT-4o')))).toEqual(sorted(withModel('gpt-4o')))
      expect(sorted(await found(holds('trace.model', '4O-MI')))).toEqual(sorted(withModel('gpt-4o-mini')))
      const none = await found(eq('trace.model', null))
      expect(sorted(none)).toEqual(sorted(ofKnown(({ models }) => models.length === 0)))
      const some = { $gt: [{ $size: field('trace.models') }, { $literal: 1 }] }
      expect(sorted(await found(some))).toEqual(sorted(ofKnown(({ models }) => models.length > 1)))
    }))

  it('stand with others, as alternatives of others, and turned round', () =>
    onBothWays(async () => {
      const failed = gte('trace.errors', 1)
      const isAgent = eq('op_name', 'agent')
      const expressions: [Operation, (one: Known) => boolean][] = [
        [{ $and: [failed, isAgent] }, ({ errors, op }) => errors > 0 && op === 'agent'],
        [any(failed, isAgent), ({ errors, op }) => errors > 0 || op === 'agent'],
        [not(failed), ({ errors }) => errors === 0],
        [not(any(failed, isAgent)), ({ errors, op }) => errors === 0 && op !== 'agent'],
        [any(failed, holds('trace.models', 'own')), ({ errors, models }) => errors > 0 || models.includes('own')],
        [{ $and: [failed, gte('trace.spans', 4)] }, ({ errors, spans }) => errors > 0 && spans >= 4],
      ]
      for (const [expression, meets] of expressions) {
        const expected = ofKnown(meets)
        expect(expected.length).toBeGreaterThan(1)
        expect(sorted(await found(expression)), JSON.stringify(expression)).toEqual(sorted(expected))
      }
      const inOslo = new Set(await found(eq('inputs.city', 'Oslo')))
      expect(sorted(await found(any(failed, eq('inputs.city', 'Oslo'))))).toEqual(
        sorted(ofKnown(({ errors, trace_id }) => errors > 0 || inOslo.has(trace_id))),
      )
      expect(sorted(await found({ $and: [failed, eq('inputs.city', 'Oslo'), holds('inputs', 'Oslo')] }))).toEqual(
        sorted(ofKnown(({ errors, trace_id }) => errors > 0 && inOslo.has(trace_id))),
      )
    }))

  it('stand beside feedback, and beside numbers that JSON of the engine does not know', async () => {
    const other = 'trace-fields/odd'
    const traces = ['a', 'b', 'c'].map((letter) => letter.repeat(32))
    const roots: string[] = []
    for (const [n, trace] of traces.entries()) {
      const [root = ''] = await sendCalls(server, other, [{ trace, atMs: firstCallMs + n, inputs: { n } }])
      roots.push(root)
    }
    await sendCalls(server, other, [
      { trace: traces[1] as string, parent: roots[1] as string, atMs: firstCallMs, exception: 'Error: no' },
    ])
    const odd = {
      project_id: other,
      id: randomUUID(),
      trace_id: 'd'.repeat(32),
      op_name: 'step',
      started_at: new Date(firstCallMs).toISOString(),
      ended_at: new Date(firstCallMs + 1).toISOString(),
      attributes: {},
      inputs: { huge: 'HUGE' },
      output: null,
      summary: {},
    }
    const body = JSON.stringify({ batch: [odd] }).replace('"HUGE"', '1e400')
    expect((await post(server.now().url, `/v2/${other}/calls/complete`, body)).status).toBe(200)
    const weave_ref = `weave:///${other}/call/${roots[0]}`
    await server.send('/feedback/create', {
      project_id: other,
      weave_ref,
      feedback_type: 'custom',
      payload: { good: true },
    })
    const matching = async (expression: Operation) =>
      (await rows({ ...asked(expression), project_id: other })).map(({ trace_id }) => trace_id[0])
    const failed = gte('trace.errors', 1)
    expect(await matching(any(failed, eq('feedback.[custom].payload.good', true)))).toEqual(['a', 'b'])
    expect(await matching({ $and: [not(failed), eq('feedback.[custom].payload.good', true)] })).toEqual(['a'])
    expect(sorted((await matching(any(failed, eq('inputs.huge', '1e400')))) as string[])).toEqual(['b', 'd'])
    expect(await matching({ $and: [compare('$lt', 'trace.errors', 1), eq('inputs.huge', '1e400')] })).toEqual(['d'])
  })

  it('count whole traces of calls below roots too', async () => {
    const failed = new Set(ofKnown(({ errors }) => errors > 0))
    const calls = await rows({ project_id, query: { $expr: gte('trace.errors', 1) } })
    expect(new Set(calls.map(({ trace_id }) => trace_id))).toEqual(failed)
    const spans = all.filter(({ errors }) => errors > 0).reduce((sum, one) => sum + one.spans, 0)
    expect(calls).toHaveLength(spans)
  })

  it('follow calls that come late, and those that are deleted', async () => {
    const [one] = all.filter(({ errors }) => errors === 0)
    if (one === undefined) return expect.unreachable()
    const [late] = await sendCalls(server, project_id, [
      { trace: one.trace_id, parent: one.root, atMs: firstCallMs + 4_000_000, exception: 'Error: late' },
    ])
    expect(await found(gte('trace.errors', 1))).toContain(one.trace_id)
    await server.send('/calls/delete', { project_id, call_ids: [late] })
    expect(await found(gte('trace.errors', 1))).not.toContain(one.trace_id)
  })
})

describe('order', () => {
  it('is that of each number, of the first model by name and of the time, page by page', () =>
    onBothWays(async () => {
      for (const name of traceNumbers)
        for (const direction of name === 'cost' ? (['asc', 'desc'] as const) : (['desc'] as const)) {
          const order = { sort_by: [{ field: `trace.${name}`, direction }] }
          const listed = await found(undefined, order)
          const values = listed.map((id) => all.find(({ trace_id }) => trace_id === id)?.[name] ?? null)
          const known = values.filter((value) => value !== null)
          const rounded = known.map((value) => Math.round(value * 1e9))
          expect(rounded, name).toEqual(rounded.toSorted((a, b) => (direction === 'asc' ? a - b : b - a)))
          // What has no cost comes last, whichever way.
          expect(values.slice(known.length).every((value) => value === null)).toBe(true)
          expect(listed).toHaveLength(all.length)
          if (name !== 'errors') continue
          const pages = await Promise.all(
            [0, 20, 40].map((offset) => found(undefined, { ...order, limit: 20, offset })),
          )
          expect(pages.flat()).toEqual(listed)
        }
      const byModel = await found(undefined, { sort_by: [{ field: 'trace.model', direction: 'asc' }] })
      const models = byModel.flatMap((id) => all.find(({ trace_id }) => trace_id === id)?.models.join(', ') || [])
      expect(models).toEqual(models.toSorted())
      const latest = { sort_by: [{ field: 'started_at', direction: 'desc' }], limit: 5, offset: 2 }
      const starts = all.filter(({ errors }) => errors > 0).toSorted((a, b) => (a.started_at < b.started_at ? 1 : -1))
      expect(await found(gte('trace.errors', 1), latest)).toEqual(starts.slice(2, 7).map(({ trace_id }) => trace_id))
    }))
})

describe('what else takes a query', () => {
  const failed = asked(gte('trace.errors', 1))
  const withErrors = () => all.filter(({ errors }) => errors > 0)

  it('counts them', async () => {
    const { count } = await server.send<{ count: number }>('/calls/query_stats', failed)
    expect(count).toBe(withErrors().length)
    const limited = await server.send<{ count: number }>('/calls/query_stats', { ...failed, limit: 3 })
    expect(limited.count).toBe(3)
  })

  it('counts whole traces of them, and lists them by their figures', async () => {
    const dear = withErrors().filter(({ cost }) => (cost ?? 0) > 0)
    const asked = { query: { $expr: { $or: [gte('trace.errors', 1), eq('op_name', 'none')] } }, include_counts: true }
    type Answer = { traces: TraceFigures[]; counts: object }
    const path = '/v2/trace-fields/list/traces/query'
    const { traces, counts } = await server.send<Answer>(path, { ...asked, where: { cost: { gt: 0 } } })
    expect(counts).toEqual({ traces: dear.length, with_errors: dear.length })
    expect(sorted(traces.map(({ trace_id }) => trace_id))).toEqual(sorted(dear.map(({ trace_id }) => trace_id)))
  })

  it('shows them over time', async () => {
    const { groups } = await server.send<{ groups: { total: Record<string, number> }[] }>('/calls/aggregate', {
      ...failed,
      start: firstCallMs / 1000 - 60,
      end: firstCallMs / 1000 + 4 * 3600,
      bucket: 3600,
      metrics: [
        { field: 'calls', as: 'sum' },
        { field: 'total_tokens', as: 'sum' },
      ],
    })
    expect(groups[0]?.total['calls.sum']).toBe(withErrors().length)
  })

  it('sums each whole trace once, whatever of it lies in which call', () =>
    onBothWays(async () => {
      const metrics = [
        ...['calls', 'errors', 'input_tokens', 'output_tokens', 'total_cost'].map((field) => ({ field, as: 'sum' })),
        { field: 'latency_ms', as: 'max' },
      ]
      type Answer = { groups: { keys: string[]; total: Record<string, number | null> }[] }
      const over = { start: firstCallMs / 1000 - 60, end: firstCallMs / 1000 + 4 * 3600 }
      const traces = { project_id, ...over, count: 'traces' }
      const { groups } = await server.send<Answer>('/calls/aggregate', { ...traces, group_by: ['op_name'], metrics })
      const sum = (of: Known[], number: (one: Known) => number) => of.reduce((total, one) => total + number(one), 0)
      for (const op of ['agent', 'chat']) {
        const of = all.filter((one) => one.op === op)
        const total = groups.find(({ keys }) => keys[0] === op)?.total
        expect(total).toMatchObject({
          'calls.sum': of.length,
          'errors.sum': of.filter(({ errors }) => errors > 0).length,
          'input_tokens.sum': sum(of, (one) => one.input_tokens),
          'output_tokens.sum': sum(of, (one) => one.output_tokens),
          'latency_ms.max': Math.max(...of.map((one) => one.duration_ms)),
        })
        expect(total?.['total_cost.sum']).toBeCloseTo(
          sum(of, ({ cost }) => cost ?? 0),
          9,
        )
      }
      const unpriced = { ...traces, query: { $expr: eq('trace.cost', null) }, metrics: metrics.slice(4, 5) }
      const [none] = (await server.send<Answer>('/calls/aggregate', unpriced)).groups
      expect(none?.total['total_cost.sum']).toBeNull()
      const ranges = await server.send<Answer>('/calls/aggregate', {
        ...{ ...traces, group_by: ['latency_range'], top: 100 },
        metrics: metrics.slice(0, 1),
      })
      expect(ranges.groups.reduce((total, one) => total + (one.total['calls.sum'] ?? 0), 0)).toBe(all.length)
    }))

  it('counts a trace of two roots once, and refuses what no trace has', async () => {
    const trace = randomBytes(16).toString('hex')
    const of = { project_id: 'trace-fields/twice', start: firstCallMs / 1000 - 60, end: firstCallMs / 1000 + 60 }
    const usage = tokensSent(100, 10)
    await sendCalls(
      server,
      of.project_id,
      [1, 2].map((n) => ({ trace, atMs: firstCallMs + n, usage })),
    )
    const metrics = ['calls', 'input_tokens'].map((field) => ({ field, as: 'sum' }))
    type Answer = { groups: { total: object }[] }
    const { groups } = await server.send<Answer>('/calls/aggregate', { ...of, count: 'traces', metrics })
    expect(groups[0]?.total).toEqual({ 'calls.sum': 1, 'input_tokens.sum': 200 })
    const refused = async (more: object) =>
      (await post(server.now().url, '/calls/aggregate', { ...of, count: 'traces', metrics, ...more })).status
    expect(await refused({ group_by: ['model'] })).toBe(400)
    expect(await refused({ metrics: [{ field: 'cache_read_input_tokens', as: 'sum' }] })).toBe(400)
    expect(await refused({ count: 'spans' })).toBe(422)
  })

  it('groups and measures calls by the first of two fields that each has', async () => {
    const over = { project_id, start: firstCallMs / 1000 - 60, end: firstCallMs / 1000 + 4 * 3600 }
    const aggregate = async (group: string, ...metrics: string[]) => {
      type Answer = { groups: { keys: string[]; total: Record<string, number> }[] }
      const asked = { ...over, group_by: [group], metrics: metrics.map((field) => ({ field, as: 'sum' })) }
      return (await server.send<Answer>('/calls/aggregate', asked)).groups
    }
    const either = await aggregate('either inputs.city or op_name', 'calls', 'either inputs.nowhere or inputs.n')
    const cities = await aggregate('inputs.city', 'calls', 'inputs.n')
    // Roots have a city; the calls below them have the name of their operation alone.
    expect(sorted(either.map(({ keys }) => keys[0] as string))).toEqual(['Bergen', 'Oslo', 'step'])
    for (const city of ['Bergen', 'Oslo']) {
      const [one, other] = [either, cities].map((groups) => groups.find(({ keys }) => keys[0] === city)?.total)
      expect(one?.['calls.sum']).toBe(other?.['calls.sum'])
      expect(one?.['either inputs.nowhere or inputs.n.sum']).toBe(other?.['inputs.n.sum'])
    }
    const wrong = { ...over, group_by: ['either x or inputs.city'], metrics: [{ field: 'calls', as: 'sum' }] }
    expect((await post(server.now().url, '/calls/aggregate', wrong)).status).toBe(422)
  })

  it('says what values they have', async () => {
    type Answer = { sampled_calls: number; fields: Record<string, { values: { value: string; calls: number }[] }> }
    const { sampled_calls, fields } = await server.send<Answer>('/calls/values', { ...failed, fields: ['op_name'] })
    expect(sampled_calls).toBe(withErrors().length)
    const agents = withErrors().filter(({ op }) => op === 'agent').length
    expect(fields.op_name?.values.find(({ value }) => value === 'agent')?.calls).toBe(agents)
  })

  it('makes a file of them, with the figures of each trace', async () => {
    const names = ['errors', 'spans', 'duration_ms', 'models', 'input_tokens', 'output_tokens', 'cost']
    const { url } = await server.send<{ url: string }>('/export/calls', {
      ...failed,
      sort_by: [{ field: 'trace.spans', direction: 'desc' }],
      format: 'csv',
      columns: ['id', ...names.map((name) => `trace.${name}`)],
    })
    const [head, ...lines] = (await (await fetch(url)).text()).trim().split('\r\n')
    expect(head).toBe(['id', ...names.map((name) => `trace.${name}`)].join())
    expect(sorted(lines)).toEqual(
      sorted(
        withErrors().map((one) => {
          const models = one.models.length > 1 ? `"${one.models.join(', ')}"` : one.models.join()
          const { errors, spans, duration_ms, input_tokens, output_tokens, cost } = one
          return [one.root, errors, spans, duration_ms, models, input_tokens, output_tokens, cost ?? ''].join()
        }),
      ),
    )
    const spans = lines.map((line) => Number(line.split(',')[2]))
    expect(spans).toEqual(spans.toSorted((a, b) => b - a))
  })

  it('refuses names that are none, and routes that cannot answer by them refuse them all', async () => {
    const statusOf = async (path: string, body: object) => (await post(server.now().url, path, body)).status
    expect(await statusOf('/calls/query_stats', asked(gte('trace.weight', 1)))).toBe(422)
    expect(
      await statusOf(
        '/calls/stream_query',
        asked(undefined, { sort_by: [{ field: 'trace.models', direction: 'asc' }] }),
      ),
    ).toBe(422)
    for (const path of ['/trace/usage', '/erasures']) {
      const { status, text } = await post(server.now().url, path, { project_id, query: failed.query, reason: 'none' })
      expect([path, status, text]).toEqual([path, 422, expect.stringContaining('Field trace.errors is not allowed')])
    }
  })
})
