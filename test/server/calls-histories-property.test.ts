// tier: deep property
// again: kafka
// Histories of calls, sent through HTTP in random order and grouping, and every way to read them against a plain model.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bodyOf,
  byStart,
  createHistory,
  createModel,
  type History,
  historyRecord,
  historyText,
  latencyMs,
  type Op,
  opNames,
  type Shown,
  statusOf,
  threadsOf,
} from '../fixtures/call-histories.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { createRandom, type Random } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'
import { usesServer } from '../fixtures/setup.ts'

const projects = ['hist/a', 'hist/b'] as const
const histories = usesServer ? runs(150, 400) : runs(200, 1_000)
const senders = 8
const model = createModel()
const random = createRandom(4711)
let server: LiveServer

type Request = { project: string; path: string; body: unknown; ops: Op[] }

const batchItem = (project: string, op: Op) =>
  op.is === 'start'
    ? { mode: 'start', req: { start: bodyOf(project, op) } }
    : { mode: 'end', req: { end: bodyOf(project, op as Op & { is: 'end' }) } }

/** The next few parts of a history as one request, by one of the routes that take them. */
function requestOf(random: Random, { project, ops }: History): Request {
  const [first] = ops as [Op]
  if (first.is === 'rename') {
    ops.shift()
    return {
      project,
      ops: [first],
      path: '/call/update',
      body: { project_id: project, call_id: first.id, display_name: first.name },
    }
  }
  if (first.is === 'delete') {
    ops.shift()
    return { project, ops: [first], path: '/calls/delete', body: { project_id: project, call_ids: first.ids } }
  }
  if (first.is === 'complete') {
    const taken = takeWhile(random, ops, (op) => op.is === 'complete')
    const batch = taken.map((op) => bodyOf(project, op as typeof first))
    return { project, ops: taken, path: `/v2/${project}/calls/complete`, body: { batch } }
  }
  if (random.chance(0.2)) {
    ops.shift()
    const path = random.chance(0.5) ? `/call/${first.is}` : `/v2/${project}/call/${first.is}`
    return { project, ops: [first], path, body: { [first.is]: bodyOf(project, first) } }
  }
  const taken = takeWhile(random, ops, (op) => op.is === 'start' || op.is === 'end')
  return { project, ops: taken, path: '/call/upsert_batch', body: { batch: taken.map((op) => batchItem(project, op)) } }
}

function takeWhile(random: Random, ops: Op[], fits: (op: Op) => boolean): Op[] {
  const taken = [ops.shift() as Op]
  while (ops[0] && fits(ops[0]) && random.chance(0.7)) taken.push(ops.shift() as Op)
  return taken
}

/** Batches of several histories in one request: what two requests of the same route would do one after the other. */
function join(requests: Request[]): Request[] {
  const batches = requests.filter(({ path }) => path === '/call/upsert_batch')
  if (batches.length < 2) return requests
  const batch = batches.flatMap(({ body }) => (body as { batch: unknown[] }).batch)
  const joined = { project: '', path: '/call/upsert_batch', body: { batch }, ops: [] }
  return [...requests.filter((request) => !batches.includes(request)), joined]
}

async function send(request: Request): Promise<void> {
  const answer = await server.send<{ num_deleted?: number; res?: { error?: unknown }[] }>(request.path, request.body)
  expect(answer.res?.filter((one) => one.error) ?? []).toEqual([])
  for (const op of request.ops) {
    const removed = model.apply(request.project, op)
    if (op.is === 'delete')
      expect({ request, num_deleted: answer.num_deleted }).toEqual({ request, num_deleted: removed })
  }
}

/** Sends about half of what is left of its histories, in any order, and some requests twice. */
async function sendSome(random: Random, mine: History[], share: number): Promise<void> {
  const left = () => mine.reduce((sum, { ops }) => sum + ops.length, 0)
  const until = Math.floor(left() * (1 - share))
  const sent: Request[] = []
  while (left() > until) {
    const open = mine.filter(({ ops }) => ops.length > 0)
    const chosen = new Set(Array.from({ length: 1 + random.below(10) }, () => random.pick(open)))
    const requests = [...chosen].map((history) => requestOf(random, history))
    const batches = requests.filter(({ path }) => path === '/call/upsert_batch')
    for (const request of join(requests)) {
      await send(request)
      if (request.ops.length === 0)
        for (const { project, ops } of batches) for (const op of ops) model.apply(project, op)
      else sent.push(request)
    }
    if (random.chance(0.1) && sent.length > 0) await send(random.pick(sent.slice(-30)))
  }
}

type Record_ = Record<string, unknown> & { id: string; trace_id: string; summary: Record<string, unknown> }
const query = (project: string, body: object) =>
  server.list<Record_>('/calls/stream_query', { project_id: project, ...body })
const keyOf = (call: Shown) => `${call.id} ${call.start.trace}`
const keysOf = (calls: Shown[]) => calls.map(keyOf)
const linesKeys = (lines: Record_[]) => lines.map((line) => `${line.id} ${line.trace_id}`)
const down = (calls: Shown[]) => [...calls].sort((a, b) => byStart(b, a))

/** A filter or an expression, and the calls of the model that it means. */
type Case = { name: string; body: object; keep: (call: Shown) => boolean }

function casesOf(calls: Shown[]): Case[] {
  const some = <T>(of: (call: Shown) => T | null): T[] =>
    Array.from({ length: 40 }, () => of(random.pick(calls))).filter((value) => value !== null)
  const ids = some((call) => call.id).concat('ffffffff-0000-7000-8000-000000000000')
  const traces = some((call) => call.start.trace).concat('unknown')
  const parents = some((call) => call.start.parent)
  const threads = some((call) => call.start.thread)
  const turns = some((call) => call.start.turn)
  const middle = (calls[calls.length >> 1] as Shown).start.us
  const field = (name: string) => ({ $getField: name })
  const where = ($expr: object) => ({ query: { $expr } })
  const listed = (name: string, list: string[], of: (call: Shown) => string | null): Case => ({
    name,
    body: { filter: { [name]: list } },
    keep: (call) => list.includes(of(call) ?? ''),
  })
  return [
    { name: 'all', body: {}, keep: () => true },
    listed('call_ids', ids, (call) => call.id),
    listed('trace_ids', traces, (call) => call.start.trace),
    listed('parent_ids', parents, (call) => call.start.parent),
    listed('thread_ids', threads, (call) => call.start.thread),
    listed('turn_ids', turns, (call) => call.start.turn),
    listed('op_names', opNames.slice(0, 2), (call) => call.start.op),
    {
      name: 'op prefix',
      body: { filter: { op_names: ['weave:///hist/a/op/judge:*', 'load'] } },
      keep: ({ start }) => start.op.includes('judge') || start.op === 'load',
    },
    { name: 'roots', body: { filter: { trace_roots_only: true } }, keep: ({ start }) => start.parent === null },
    {
      name: 'roots of an op',
      body: { filter: { trace_roots_only: true, op_names: ['answer'] } },
      keep: ({ start }) => start.parent === null && start.op === 'answer',
    },
    {
      name: 'time and exception',
      body: where({
        $and: [
          { $gte: [field('started_at'), { $literal: historyText(middle) }] },
          { $not: [{ $eq: [field('exception'), { $literal: null }] }] },
        ],
      }),
      keep: (call) => call.start.us >= middle && Boolean(call.end?.exception),
    },
    {
      name: 'status',
      body: where({ $eq: [field('summary.weave.status'), { $literal: 'descendant_error' }] }),
      keep: (call) => statusOf(call) === 'descendant_error',
    },
    {
      name: 'running',
      body: where({ $eq: [field('ended_at'), { $literal: null }] }),
      keep: (call) => call.end === null,
    },
    {
      name: 'display name',
      body: where({
        $contains: { input: field('display_name'), substr: { $literal: 'NAME-' }, case_insensitive: true },
      }),
      keep: (call) => call.name?.startsWith('name-') ?? false,
    },
    {
      name: 'inputs',
      body: where({ $gte: [field('inputs.n'), { $literal: 700 }] }),
      keep: ({ start }) => start.n >= 700,
    },
    {
      name: 'output words',
      body: where({ $contains: { input: field('output.words'), substr: { $literal: 'out 77' } } }),
      keep: ({ end }) => end !== null && `out ${end.n}`.includes('out 77'),
    },
    {
      name: 'payloads of both sides and a trace',
      body: {
        filter: { trace_ids: traces },
        ...where({
          $or: [
            { $lt: [field('summary.rank'), { $literal: 300 }] },
            { $eq: [field('attributes.env'), { $literal: 'odd' }] },
          ],
        }),
      },
      keep: ({ start, end }) => traces.includes(start.trace) && ((end !== null && end.n < 300) || start.n % 2 === 1),
    },
  ]
}

async function compare(project: string): Promise<void> {
  const calls = model.shown(project)
  const lines = await query(project, {})
  expect(linesKeys(lines)).toEqual(keysOf(calls))
  for (const [i, call] of calls.entries()) expect(lines[i]).toMatchObject(historyRecord(project, call))

  for (const { name, body, keep } of casesOf(calls)) {
    const kept = calls.filter(keep)
    const limits = { limit: 1 + random.below(60), offset: random.below(kept.length) }
    const slice = (list: Shown[]) => keysOf(list.slice(limits.offset, limits.offset + limits.limit))
    const asked = { ...body, columns: ['id'] }
    const at = (direction: string) => ({ sort_by: [{ field: 'started_at', direction }] })
    const got = {
      default: linesKeys(await query(project, asked)),
      asc: linesKeys(await query(project, { ...asked, ...at('asc'), ...limits })),
      desc: linesKeys(await query(project, { ...asked, ...at('desc'), ...limits })),
      count: (await server.send<{ count: number }>('/calls/query_stats', { project_id: project, ...body })).count,
    }
    expect({ name, ...got }).toEqual({
      name,
      default: keysOf(kept),
      asc: slice(kept),
      desc: slice(down(kept)),
      count: kept.length,
    })
  }

  const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  const nullsLast =
    <T>(of: (call: Shown) => T | null | undefined, order: (a: T, b: T) => number) =>
    (a: Shown, b: Shown): number => {
      const [left, right] = [of(a) ?? null, of(b) ?? null]
      if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1
      return order(left, right)
    }
  const orders: [field: string, direction: string, order: (a: Shown, b: Shown) => number][] = [
    ['op_name', 'asc', (a, b) => text(a.start.op, b.start.op)],
    [
      'ended_at',
      'desc',
      nullsLast(
        ({ end }) => end?.us,
        (a, b) => b - a,
      ),
    ],
    ['display_name', 'asc', nullsLast(({ name }) => name, text)],
    ['inputs.n', 'desc', (a, b) => b.start.n - a.start.n],
    [
      'summary.rank',
      'asc',
      nullsLast(
        ({ end }) => end?.n,
        (a, b) => a - b,
      ),
    ],
    ['summary.weave.latency_ms', 'asc', nullsLast(latencyMs, (a, b) => a - b)],
  ]
  for (const [field, direction, order] of orders) {
    const sort_by = [
      { field, direction },
      { field: 'started_at', direction: 'asc' },
    ]
    const want = [...calls].sort((a, b) => order(a, b) || byStart(a, b))
    const page = { limit: 100, offset: random.below(calls.length) }
    const got = linesKeys(await query(project, { sort_by, columns: ['id'], ...page }))
    expect({ field, got }).toEqual({ field, got: keysOf(want.slice(page.offset, page.offset + page.limit)) })
  }
}

async function readById(project: string, ids: string[]): Promise<void> {
  for (const id of ids) {
    const { call } = await server.send<{ call: unknown }>('/call/read', { project_id: project, id })
    const want = model.byId(project, id)
    if (want === null) expect({ id, call }).toEqual({ id, call: null })
    else expect(call).toMatchObject(historyRecord(project, want))
  }
}

const counts = async (project: string) => ({
  all: (await server.send<{ count: number }>('/calls/query_stats', { project_id: project })).count,
  roots: (
    await server.send<{ count: number }>('/calls/query_stats', {
      project_id: project,
      filter: { trace_roots_only: true },
    })
  ).count,
})
const wantedCounts = (project: string) => {
  const calls = model.shown(project)
  return { all: calls.length, roots: calls.filter(({ start }) => start.parent === null).length }
}

describe('histories of calls through HTTP', () => {
  const all = Array.from({ length: histories }, (_, n) => createHistory(random, n + 1, projects))
  const ids = [...new Set(all.flatMap(({ ops }) => ops.flatMap((op) => (op.is === 'delete' ? op.ids : [op.id]))))]
  const sendAll = (share: number) =>
    Promise.all(
      Array.from({ length: senders }, (_, k) =>
        sendSome(
          createRandom(1000 * share + k),
          all.filter((_, n) => n % senders === k),
          share,
        ),
      ),
    )

  beforeAll(async () => {
    // Calls without a root are none of it.
    server = await startLiveServer(['--orphan-seconds', '86400'])
    await sendAll(0.5)
  })
  afterAll(() => server.remove())

  it('counts calls and roots before the counters are up to date', async () => {
    expect(wantedCounts('hist/a').all).toBeGreaterThan(histories / 2)
    for (const project of projects) expect(await counts(project)).toEqual(wantedCounts(project))
  })

  it('reads the same after a restart, and takes the rest', async () => {
    await server.now().worker?.rollups.refresh()
    await server.restart()
    for (const project of projects) expect(await counts(project)).toEqual(wantedCounts(project))
    await sendAll(1)
    for (const project of projects) expect(await counts(project)).toEqual(wantedCounts(project))
  })

  it.each(projects)('lists, filters, sorts and pages %s as the model does', (project) => compare(project))

  it('counts the same once the counters are up to date', async () => {
    await server.now().worker?.rollups.refresh()
    for (const project of projects) expect(await counts(project)).toEqual(wantedCounts(project))
  })

  it.each(projects)('reads calls of %s by id', (project) =>
    readById(
      project,
      Array.from({ length: 80 }, () => random.pick(ids)),
    ),
  )

  it.each(projects)('knows the threads of %s', async (project) => {
    const want = threadsOf(model.shown(project))
    expect(want.length).toBeGreaterThan(usesServer ? 1 : histories / 40)
    expect(await server.list('/threads/stream_query', { project_id: project })).toEqual(want)
  })

  it('answers the same after deduplication and another restart', async () => {
    await server.now().worker?.deduplicateAll()
    await server.restart()
    for (const project of projects) {
      expect(linesKeys(await query(project, { columns: ['id'] }))).toEqual(keysOf(model.shown(project)))
      expect(await counts(project)).toEqual(wantedCounts(project))
    }
  })
})
