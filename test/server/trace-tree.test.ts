// POST /trace/tree: the spans of a trace as columns, with what is seen of them elsewhere.
import { beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { traceTreeResponse } from '../../schemas/trace-tree.ts'
import { post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

const project = 'acme/tree'
type Tree = z.output<typeof traceTreeResponse>

async function ask(path: string, body: unknown): Promise<string> {
  const { status, text } = await post(server.now().url, path, body)
  expect([path, status, text.slice(0, 300)]).toEqual([path, 200, text.slice(0, 300)])
  return text
}
const treeOf = async (trace_id: string): Promise<Tree> =>
  traceTreeResponse.parse(JSON.parse(await ask('/trace/tree', { project_id: project, trace_id })))

let ids = 0
const newId = (): string => String(++ids).padStart(16, '0')
const newTrace = (): string => String(++ids).padStart(32, 'a')
const at = (ms: number): string => new Date(1_772_700_000_000 + ms).toISOString()

type Made = { id?: string; trace: string; parent?: string | null; from?: number; to?: number; more?: object }
const started = ({ id = newId(), trace: trace_id, parent: parent_id = null, from = 0, more }: Made) => ({
  project_id: project,
  id,
  trace_id,
  parent_id,
  op_name: 'step',
  started_at: at(from),
  attributes: {},
  inputs: {},
  ...more,
})
const whole = (made: Made) => {
  const { to = 10 } = made
  return { ended_at: at(to), output: null, summary: {}, ...started(made) }
}
const send = (...batch: object[]) => ask('/v2/acme/tree/calls/complete', { batch })

/** The columns of one span with the texts that its places stand for. */
function spanOf(tree: Tree, id: string) {
  const n = tree.id.indexOf(id)
  const of = (list: string[], column: number[]) => list[column[n] as number] ?? null
  return {
    name: of(tree.names, tree.name),
    op: of(tree.ops, tree.op),
    kind: of(tree.kinds, tree.kind),
    model: of(tree.models, tree.model),
    thread: of(tree.threads, tree.thread),
    error: of(tree.errors, tree.error),
    parent: of(tree.id, tree.parent),
    start: tree.start_us[n],
    duration: tree.duration_us[n],
    status: tree.status[n],
    tokens: [tree.tokens_in[n], tree.tokens_out[n]],
    cost: tree.cost[n],
    feedback: tree.feedback[n],
    size: tree.size[n],
  }
}

describe('a trace', () => {
  it('is the columns of its spans, in the order of start and id, with usage, costs, kinds and feedback', async () => {
    const trace = newTrace()
    const [root, llm, tool, failed, running] = [newId(), newId(), newId(), newId(), newId()]
    await ask('/cost/create', {
      project_id: project,
      costs: { 'model-a': { prompt_token_cost: 0.5, completion_token_cost: 2 } },
    })
    await send(
      whole({ id: root, trace, to: 100, more: { thread_id: 'talk', summary: { status_counts: { error: 1 } } } }),
      whole({
        id: llm,
        trace,
        parent: root,
        from: 1,
        more: {
          op_name: `weave:///${project}/op/ask:v1`,
          display_name: 'Ask',
          attributes: { gen_ai: { operation: { name: 'CHAT' } } },
          summary: { usage: { 'model-a': { prompt_tokens: 10, completion_tokens: 3 } } },
        },
      }),
      whole({
        id: tool,
        trace,
        parent: root,
        from: 1,
        more: { op_name: `weave:///${project}/op/tool:v1`, attributes: { 'openinference.span.kind': 'TOOL' } },
      }),
      whole({ id: failed, trace, parent: tool, from: 2, more: { exception: 'Error: no\n  at x' } }),
    )
    await ask('/call/start', { start: started({ id: running, trace, parent: 'f'.repeat(16), from: 3 }) })
    for (const emoji of ['a', 'b'])
      await ask('/feedback/create', {
        project_id: project,
        weave_ref: `weave:///${project}/call/${llm}`,
        feedback_type: 'custom',
        payload: { emoji },
      })
    const tree = await treeOf(trace)
    expect(tree.id).toEqual([root, llm, tool, failed, running])
    expect(tree).toMatchObject({ trace_id: trace, started_at: '2026-03-05T08:40:00Z', is_cut: false, orphans: [4] })
    expect(spanOf(tree, llm)).toMatchObject({
      name: 'Ask',
      op: `weave:///${project}/op/ask:v1`,
      kind: 'chat',
      model: 'model-a',
      parent: root,
      start: 1_000,
      duration: 9_000,
      status: 0,
      tokens: [10, 3],
      cost: 11,
      feedback: 2,
    })
    expect(spanOf(tree, tool)).toMatchObject({ name: 'tool', kind: 'tool', tokens: [null, null], cost: null })
    expect(spanOf(tree, failed)).toMatchObject({ status: 1, error: 'Error: no', parent: tool, feedback: 0 })
    expect(spanOf(tree, running)).toMatchObject({ status: 2, duration: -1, parent: null })
    expect(spanOf(tree, root)).toMatchObject({ thread: 'talk', kind: null, error: null })
  })

  it('is the same however its parts come: ends before starts, again, and a later name', async () => {
    const spans = (trace: string, id: (n: number) => string) =>
      [0, 1, 2].map((n) => ({ id: id(n), trace, parent: n === 0 ? null : id(0), from: n, to: 10 + n }))
    const [first, second] = [newTrace(), newTrace()]
    await send(
      ...spans(first, (n) => `${n}`.padStart(16, 'b')).map((span) =>
        whole({ ...span, more: { display_name: `name ${span.from}` } }),
      ),
    )
    const parts = spans(second, (n) => `${n}`.padStart(16, 'c'))
    const end = ({ id, to }: (typeof parts)[number]) => ({
      end: { project_id: project, id, ended_at: at(to), output: null, summary: {} },
    })
    for (const span of [...parts].reverse()) await ask('/call/end', end(span))
    for (const span of parts) await ask('/call/start', { start: started(span) })
    for (const span of parts) await ask('/call/end', end(span))
    for (const { id, from } of parts)
      await ask('/call/update', { project_id: project, call_id: id, display_name: `name ${from}` })
    const ofWhole = await treeOf(first)
    const ofParts = await treeOf(second)
    const { size: _, ...left } = ofWhole
    const { size: __, ...right } = ofParts
    expect({ ...right, id: right.id.map((id) => id.replaceAll('c', 'b')), trace_id: first }).toEqual(left)
  })

  it('has neither deleted spans nor those of other traces and projects that begin with it', async () => {
    const [kept, gone, mine] = [newId(), newId(), newTrace()]
    await send(whole({ id: kept, trace: mine }), whole({ id: gone, trace: mine }), whole({ trace: newTrace() }))
    const elsewhere = { ...whole({ id: newId(), trace: mine }), project_id: 'acme/tree-2' }
    await ask('/v2/acme/tree-2/calls/complete', { batch: [elsewhere] })
    await ask('/calls/delete', { project_id: project, call_ids: [gone] })
    expect((await treeOf(mine)).id).toEqual([kept])
    expect((await treeOf(newTrace())).id).toEqual([])
  })

  it('keeps hostile texts as they are, and cuts long ones', async () => {
    const [trace, id, child, itself] = [newTrace(), newId(), newId(), newId()]
    const long = 'name '.repeat(2_000)
    const odd = { attributes: { kind: long, weave: 'no object', gen_ai: [1] } }
    await send(
      whole({
        id,
        trace,
        more: { display_name: '<script>', exception: ` \n${'x'.repeat(9_000)}`, ...odd },
      }),
      whole({ id: child, trace, parent: id, from: 1, more: { display_name: '__proto__', thread_id: 'constructor' } }),
      whole({
        id: itself,
        trace,
        parent: itself,
        from: 2,
        more: { attributes: { kind: 'Own Kind', operation_name: { a: long } } },
      }),
    )
    const tree = await treeOf(trace)
    expect(tree.id).toEqual([id, child, itself])
    expect(spanOf(tree, id).name).toBe('<script>')
    expect(spanOf(tree, id)).toMatchObject({ status: 1, error: 'x'.repeat(298), kind: null })
    expect(spanOf(tree, child)).toMatchObject({ name: '__proto__', thread: 'constructor', parent: id })
    expect(spanOf(tree, itself).kind).toBe('own kind')
    expect(tree.orphans).toEqual([2])
    for (const hostile of ['__proto__', `' OR 1=1 --`, '{v0:String}', `${'0'.repeat(100_000)}`, '\u0000\n\n', '*'])
      expect((await treeOf(hostile)).id).toEqual([])
  })
})

it('a request for a trace is told what it lacks', async () => {
  const { status, text } = await post(server.now().url, '/trace/tree', { project_id: project })
  expect([status, text]).toEqual([422, expect.stringContaining('trace_id')])
})
