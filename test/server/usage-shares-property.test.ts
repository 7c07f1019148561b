// tier: deep property
// Ten thousand random trees of workflows, agents and models: every route tells the tokens that the rule says, live and from
// the statistics, in whatever order and batches the spans came.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { spansOf, treeOf } from '../../services/web/page/engine/tree.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { createRandom, type Random } from '../fixtures/random.ts'

const [rounds, treesOfRound] = [20, 500]
/** Trees of which one is looked at as the page shows it. */
const treesOfLook = 5
const startedMs = Date.UTC(2026, 9, 5, 6)
const seed = Number(process.env.CALLHOUSE_TEST_SEED ?? Date.now() % 2 ** 31)

type Tokens = [input: number, output: number]
type Made = {
  trace: string
  id: string
  parent: Made | null
  kind: string
  atMs: number
  own: Tokens | null
  below: Made[]
}

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
}, 300_000)
afterAll(() => server?.remove())

const plus = ([a, b]: Tokens, [c, d]: Tokens): Tokens => [a + c, b + d]
const sumOf = (all: Iterable<Tokens>): Tokens => [...all].reduce(plus, [0, 0])

/** The rule, from the top: a span counts what it reports, or what those below it count where that is more. */
function right({ own, below }: Made): Tokens {
  const [input, output] = sumOf(below.map(right))
  return own === null ? [input, output] : [Math.max(own[0], input), Math.max(own[1], output)]
}

function shuffled<Item>(random: Random, list: Item[]): Item[] {
  for (let n = list.length - 1; n > 0; n--) {
    const other = random.below(n + 1)
    ;[list[n], list[other]] = [list[other] as Item, list[n] as Item]
  }
  return list
}

function treeOfSpans(random: Random): Made[] {
  const hex = (digits: number) => Array.from({ length: digits }, () => random.below(16).toString(16)).join('')
  const trace = hex(32)
  const all: Made[] = []
  const count = 1 + random.below(14)
  for (let n = 0; n < count; n++) {
    const parent = n === 0 || random.below(20) === 0 ? null : (all[random.below(n)] as Made)
    const atMs = startedMs + random.below(3 * 3_600_000)
    const made: Made = { trace, id: hex(16), parent, kind: 'chat', atMs, own: null, below: [] }
    parent?.below.push(made)
    all.push(made)
  }
  // Bottom-up: parents stand before those below them.
  for (const made of all.toReversed()) {
    const sum = sumOf(made.below.map(right))
    const some: Tokens = [random.below(200), random.below(50)]
    const what = random.below(10)
    if (made.below.length === 0) made.own = what < 8 ? some : null
    else if (what < 5) made.own = sum
    else if (what < 6) made.own = plus(sum, some)
    else if (what < 7) made.own = some
    made.kind = made.below.length === 0 ? 'chat' : random.pick(['invoke_agent', 'invoke_workflow', 'chat', ''])
  }
  return all
}

const models = ['gpt-4o', 'gpt-4o-2024-08-06', 'other']

function sentOf({ trace, id, parent, kind, atMs, own }: Made): object {
  const value = (one: string | number) => (typeof one === 'number' ? { intValue: one } : { stringValue: one })
  const attributes = {
    ...(kind && { 'gen_ai.operation.name': kind }),
    ...(own && {
      'gen_ai.request.model': models[own[0] % models.length] as string,
      'gen_ai.usage.input_tokens': own[0],
      'gen_ai.usage.output_tokens': own[1],
    }),
  }
  return {
    traceId: trace,
    spanId: id,
    ...(parent && { parentSpanId: parent.id }),
    name: kind || 'step',
    kind: 1,
    startTimeUnixNano: String(atMs * 1e6),
    endTimeUnixNano: String((atMs + 100) * 1e6),
    attributes: Object.entries(attributes).map(([key, one]) => ({ key, value: value(one) })),
  }
}

type Usage = Record<string, Record<string, { prompt_tokens: number; completion_tokens: number }>>
const usageAt = (usage: Usage, { id }: Made): Tokens =>
  sumOf(Object.values(usage[id] ?? {}).map((entry): Tokens => [entry.prompt_tokens, entry.completion_tokens]))

async function projectTotals(project_id: string): Promise<Record<string, Tokens>> {
  const range = { start: new Date(startedMs).toISOString(), end: new Date(startedMs + 4 * 3_600_000).toISOString() }
  const names = ['input_tokens', 'output_tokens']
  const stats = async (filter: object): Promise<Tokens> => {
    const usage_metrics = names.map((metric) => ({ metric }))
    const asked = { project_id, ...range, granularity: 3_600, usage_metrics, filter }
    const { usage_buckets } = await server.send<{ usage_buckets: Record<string, number>[] }>('/calls/stats', asked)
    return sumOf(usage_buckets.map((row): Tokens => [row.sum_input_tokens ?? 0, row.sum_output_tokens ?? 0]))
  }
  const aggregate = async (fields: string[], group_by: string[]): Promise<Tokens> => {
    const metrics = fields.map((field) => ({ field, as: 'sum' }))
    const asked = { project_id, ...range, metrics, group_by }
    const { groups } = await server.send<{ groups: { total: Record<string, number> }[] }>('/calls/aggregate', asked)
    return sumOf(groups.map(({ total }): Tokens => [total['input_tokens.sum'] ?? 0, total['output_tokens.sum'] ?? 0]))
  }
  return {
    stats: await stats({}),
    'stats of roots': await stats({ trace_roots_only: true }),
    'stats of a filter': await stats({ op_names: null, wb_user_ids: ['tester'] }),
    aggregate: await aggregate(names, []),
    'aggregate with costs': await aggregate([...names, 'total_cost'], ['model']),
    'aggregate by operation': await aggregate(names, ['op_name']),
  }
}

type Figures = { trace_id: string; total_tokens: number; input_tokens: number; output_tokens: number; spans: number }

/** Totals of traces: by their ids, and all of them in the order of their tokens. */
async function expectTraces(project_id: string, trees: Made[][]): Promise<void> {
  const ask = async (asked: object) =>
    (await server.send<{ traces: Figures[] }>(`/v2/${project_id}/traces/query`, asked)).traces
  const traceOf = ([first]: Made[]): string => (first as Made).trace
  const rightOf = (tree: Made[]): Tokens => sumOf(tree.filter(({ parent }) => parent === null).map(right))
  const named = await ask({ trace_ids: trees.map(traceOf) })
  expect(named.map((one) => [one.trace_id, one.spans, one.input_tokens, one.output_tokens])).toEqual(
    trees.map((tree) => [traceOf(tree), tree.length, ...rightOf(tree)]),
  )
  const sort_by = [{ field: 'input_tokens', direction: 'desc' }]
  const sorted = await ask({ sort_by, limit: 500, where: { input_tokens: { gt: 300 } } })
  const tokens = trees.map((tree) => rightOf(tree)[0]).filter((input) => input > 300)
  expect(sorted.map((one) => one.input_tokens)).toEqual(tokens.sort((a, b) => b - a))
}

it(`tells the same tokens everywhere, seed ${seed}`, async () => {
  const random = createRandom(seed)
  for (let round = 0; round < rounds; round++) {
    const project_id = `shares/round-${round}`
    const trees = Array.from({ length: treesOfRound }, () => treeOfSpans(random))
    const waiting = shuffled(random, trees.flat())
    while (waiting.length > 0) {
      const spans = waiting.splice(0, 1 + random.below(700)).map(sentOf)
      await server.send('/otel/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] }, { project_id })
      // Sometimes the batch is applied, and read, before the next one comes.
      if (random.below(5) === 0) await projectTotals(project_id)
    }
    const roots = trees.map((tree) => tree.filter(({ parent }) => parent === null))
    const whole = sumOf(roots.flat().map(right))
    const all = await projectTotals(project_id)
    expect(all, `round ${round}`).toEqual(Object.fromEntries(Object.keys(all).map((name) => [name, whole])))

    await expectTraces(project_id, trees)
    const filter = { trace_ids: trees.map(([first]) => (first as Made).trace) }
    const ofTraces = await server.send<{ call_usage: Usage }>('/trace/usage', { project_id, filter })
    const call_ids = roots.flat().map(({ id }) => id)
    const ofCalls = await server.send<{ call_usage: Usage }>('/calls/usage', { project_id, call_ids })
    for (const made of trees.flat()) expect(usageAt(ofTraces.call_usage, made), made.id).toEqual(right(made))
    for (const made of roots.flat()) expect(usageAt(ofCalls.call_usage, made), made.id).toEqual(right(made))
    for (const [n, tree] of trees.entries()) {
      if (n % treesOfLook !== 0) continue
      const [first] = tree as [Made]
      const answer = await server.send<Parameters<typeof spansOf>[0]>('/trace/tree', {
        project_id,
        trace_id: first.trace,
      })
      const { total, lineOf } = treeOf(spansOf(answer))
      expect(lineOf.length).toBe(tree.length)
      for (const root of roots[n] as Made[]) {
        const shown = total.tokens[answer.id.indexOf(root.id)] || 0
        expect(shown, `${first.trace} ${root.id}`).toBe(right(root).reduce((a, b) => a + b))
      }
    }
    await server.now().worker?.rollups.refresh()
    await expectTraces(project_id, trees)
    expect(await projectTotals(project_id), `round ${round}, from the statistics`).toEqual(all)
  }
}, 3_600_000)
