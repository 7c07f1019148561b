// Spans that report the sum of those below them: each token counts once in every total, in whatever order spans come.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { ask, costsOf, type NestedSpan, sendSpans, type Tokens, totalsOf } from '../fixtures/nested-spans.ts'

const agent = { name: 'agent', kind: 'invoke_agent', input: 113, output: 11 }
const chat = (input: number, output: number, parent: number) => ({ name: 'chat', kind: 'chat', input, output, parent })

/** Each with the totals of its project, worked out by hand. */
const cases: Record<string, { spans: NestedSpan[]; input: number; output: number }> = {
  'an agent with the sum of its models': { spans: [agent, chat(56, 5, 0), chat(57, 6, 0)], input: 113, output: 11 },
  'an agent whose models are below a span without usage': {
    spans: [agent, { name: 'step', parent: 0 }, { name: 'tool', parent: 1 }, chat(113, 11, 2)],
    input: 113,
    output: 11,
  },
  'a workflow over an agent over a model': {
    spans: [{ ...agent, kind: 'invoke_workflow' }, { ...agent, parent: 0 }, chat(113, 11, 1)],
    input: 113,
    output: 11,
  },
  'an agent of which nothing below has usage': {
    spans: [agent, { name: 'chat', kind: 'chat', parent: 0 }],
    input: 113,
    output: 11,
  },
  'an agent with a model whose span never came': { spans: [agent, chat(56, 5, 0)], input: 113, output: 11 },
  'an agent that knows less than its models': {
    spans: [agent, chat(100, 5, 0), chat(57, 8, 0)],
    input: 157,
    output: 13,
  },
  'two agents, one of which has nothing below it': {
    spans: [{ name: 'root' }, { ...agent, parent: 0 }, { ...agent, parent: 0 }, chat(113, 11, 1)],
    input: 226,
    output: 22,
  },
  'embeddings in embeddings': {
    spans: [
      { name: 'embeddings', kind: 'embeddings', input: 28, output: 0 },
      { name: 'embeddings', kind: 'embeddings', input: 28, output: 0, parent: 0 },
    ],
    input: 28,
    output: 0,
  },
  'an agent that was told another name of the model': {
    spans: [{ ...agent, model: 'gpt-4o-2024-08-06' }, chat(113, 11, 0)],
    input: 113,
    output: 11,
  },
}
const orders = {
  together: (spans: number[]) => [spans],
  'children first': (spans: number[]) => spans.toReversed().map((one) => [one]),
  'parents first': (spans: number[]) => spans.map((one) => [one]),
}
const everywhere = ({ input, output }: Tokens) => ({
  'trace usage': { input, output },
  'calls usage': { input, output },
  'traces 0': { input, output },
  'traces 1': { input, output },
  stats: { input, output },
  'stats of roots': { input, output },
  aggregate: { input, output },
  'aggregate of a model': { input, output },
  tree: { input, output },
})
const projectOf = (...words: string[]) => `shares/${words.join(' ').replaceAll(/\W+/g, '-')}`

it.each(Object.entries(orders))('each token counts once, with spans %s', async (order, batchesOf) => {
  const told = await Promise.all(
    Object.entries(cases).map(async ([name, { spans }]) => {
      const project = projectOf(order, name)
      return [name, await totalsOf(project, await sendSpans(project, spans, batchesOf))] as const
    }),
  )
  const right = Object.entries(cases).map(([name, sums]) => [name, everywhere(sums)] as const)
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(right))
})

it('counts the sum of an agent again once what was below it is deleted', async () => {
  const project_id = projectOf('deleted')
  const traced = await sendSpans(project_id, [agent, chat(56, 5, 0), chat(50, 4, 0)], orders.together)
  expect(await totalsOf(project_id, traced)).toEqual(everywhere({ input: 113, output: 11 }))
  await ask('/calls/delete', { project_id, call_ids: traced.ids.slice(1) })
  expect(await totalsOf(project_id, traced)).toEqual(everywhere({ input: 113, output: 11 }))
  const found = await ask<{ groups: { keys: string[] }[] }>('/calls/aggregate', {
    project_id,
    start: new Date(traced.startedMs - 60_000).toISOString(),
    end: new Date(traced.startedMs + 3_600_000).toISOString(),
    metrics: [{ field: 'input_tokens', as: 'sum' }],
    group_by: ['op_name'],
  })
  expect(found.groups.map(({ keys }) => keys)).toEqual([['agent']])
})

it('counts an agent again when what was below it comes again without usage', async () => {
  const project_id = projectOf('sent again')
  const spans = [agent, chat(56, 5, 0), chat(50, 4, 0)]
  const traced = await sendSpans(project_id, spans, orders['parents first'])
  expect(await totalsOf(project_id, traced)).toEqual(everywhere({ input: 113, output: 11 }))
  const again = [agent, { name: 'chat', parent: 0 }, { name: 'chat', parent: 0 }]
  await sendSpans(project_id, again, () => [[1, 2]], traced)
  expect(await totalsOf(project_id, traced)).toEqual(everywhere({ input: 113, output: 11 }))
})

it('bills each token once, at the price of the model that was asked', async () => {
  const project_id = projectOf('billed')
  const cost = (prompt: number, completion: number) => ({
    prompt_token_cost: prompt,
    completion_token_cost: completion,
  })
  await ask('/cost/create', {
    project_id,
    costs: {
      'dear-model': { ...cost(1, 2), effective_date: '2020-01-01' },
      'cheap-model': { ...cost(0.5, 1), effective_date: '2020-01-01' },
    },
  })
  // The agent names one model, its calls two: 56 * 1 + 5 * 2 and 57 * 0.5 + 6 * 1.
  const spans = [
    { ...agent, model: 'dear-model' },
    { ...chat(56, 5, 0), model: 'dear-model' },
    { ...chat(57, 6, 0), model: 'cheap-model' },
  ]
  const traced = await sendSpans(project_id, spans, orders.together)
  expect(await costsOf(project_id, traced)).toEqual({
    'trace usage': 100.5,
    traces: 100.5,
    stats: 100.5,
    aggregate: 100.5,
    tree: 100.5,
  })
})

it('leaves calls of SDKs as their interface says: a parent holds the sum of its children, and totals add both', async () => {
  const project_id = projectOf('sdk')
  const [root, leaf] = [randomUUID(), randomUUID()]
  const call = (id: string, parent_id: string | null) => ({
    project_id,
    id,
    parent_id,
    trace_id: root,
    op_name: 'f',
    started_at: '2026-10-05T12:00:00Z',
    attributes: {},
    inputs: {},
  })
  const end = {
    project_id,
    ended_at: '2026-10-05T12:00:01Z',
    output: 1,
    summary: { usage: { m: { prompt_tokens: 100, completion_tokens: 10 } } },
  }
  const batch = [call(root, null), call(leaf, root)].flatMap((start) => [
    { mode: 'start', req: { start } },
    { mode: 'end', req: { end: { ...end, id: start.id } } },
  ])
  await ask('/call/upsert_batch', { batch })
  const traced = { traceId: root, ids: [root, leaf], roots: [root], startedMs: Date.UTC(2026, 9, 5, 12) }
  const [once, twice] = [
    { input: 100, output: 10 },
    { input: 200, output: 20 },
  ]
  expect(await totalsOf(project_id, traced)).toEqual({
    'trace usage': twice,
    'calls usage': twice,
    stats: twice,
    'stats of roots': once,
    aggregate: twice,
    'aggregate of a model': twice,
    // The page, and its list, show what a trace took.
    tree: once,
    'traces 0': once,
    'traces 1': once,
  })
})
