// Nothing holds the event loop of a server, counted: which bodies and answers move to a thread, how often long work
// lets others have their turn, and how much text a round makes. Milliseconds are in test/bars/event-loop.test.ts.
import { connect } from 'node:http2'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { declaredRoutes } from '../../scripts/paths.ts'
import type { Route } from '../../services/core/http/route.ts'
import { type FakeProvider, startFakeProvider } from '../fixtures/fake-provider.ts'
import { callOver, exportPath, framed } from '../fixtures/grpc.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { type LoopWork, watchLoop } from '../fixtures/loop-work.ts'
import { aRequest, aSpan, integer, text } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'
import { createRandom } from '../fixtures/random.ts'
import {
  type Done,
  letters,
  list,
  maxAtOnce,
  ofRequest,
  sendWatched,
  type WatchedRequest,
} from '../fixtures/watched-requests.ts'
import { pathOf, worstBodies } from '../fixtures/worst-bodies.ts'

const seed = Number(process.env.EVENT_LOOP_SEED ?? 7)
/** Just below and above what is handled by the event loop itself, for bodies that become values and those that do not. */
const [hereBytes, longBytes] = [
  { values: 90 * 1024, bytes: 720 * 1024 },
  { values: 110 * 1024, bytes: 880 * 1024 },
]

let server: LiveServer
let engine: FakeProvider
beforeAll(async () => {
  engine = await startFakeProvider()
  server = await startLiveServer([...['--engine-url', engine.url, '--allow-private-networks', '--otlp-grpc-port', '0']])
})
afterAll(async () => {
  await server.remove()
  await engine.close()
})

let seen: () => LoopWork
beforeEach(() => {
  seen = watchLoop()
})

const send = (sent: WatchedRequest): Promise<Done> => sendWatched(server, seen, sent)

const random = createRandom(seed)
/** Status of gRPC for what may be sent again later. */
const unavailable = 14
/** Larger than the route takes, or of another type. */
const refused = [413, 415]
const isRead = ({ body }: Route) => body.type === 'raw' || (body.type === 'json' && body.check === 'bytes')

it('every route is sent its worst bodies, and long ones are read in a thread', { timeout: 300_000 }, async () => {
  const routes = declaredRoutes()
  expect(routes.length).toBeGreaterThan(100)
  const wrong: string[] = []
  let moved = 0
  for (const route of routes) {
    const told = (what: string, done: Done) =>
      wrong.push(`${route.name} with ${what}: ${done.status}, ${done.moved} moved, ${done.mostAtOnce} in ${done.at}`)
    const isWrong = ({ status, mostAtOnce }: Done) => (status >= 500 && status !== 501) || mostAtOnce > maxAtOnce
    if (route.body.type === 'none') {
      const path = `${pathOf(route)}?project_id=fuzz/a&${'evaluation_run_ids=x&a=%C3%A9&'.repeat(3_500)}`
      const done = await send({ method: route.method, path })
      if (isWrong(done)) told('a long query', done)
      continue
    }
    for (const [isLong, sizes] of [
      [false, hereBytes],
      [true, longBytes],
    ] as const) {
      const { path, type, body, what } = random.pick([
        ...worstBodies(route, sizes[isRead(route) ? 'bytes' : 'values']),
      ])()
      const done = await send({ method: route.method, path, type, body })
      moved += done.moved
      if (isWrong(done) || (isLong && done.moved === 0 && !refused.includes(done.status)))
        told(`${what}, ${body.length} bytes`, done)
    }
  }
  expect(wrong).toEqual([])
  expect(moved).toBeGreaterThan(60)
})

const members = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}":0`).join(',')
const call = (inputs: string) =>
  `{"start":{"project_id":"fuzz/a","op_name":"o","started_at":"2026-05-01T00:00:00Z","attributes":{},"inputs":${inputs}}}`
const object = (name: string, val: string) => `{"obj":{"project_id":"fuzz/a","object_id":"${name}","val":${val}}}`
const table = (rows: number) => `{"table":{"project_id":"fuzz/a","rows":[${list(rows, (n) => `{"a":${n}}`)}]}}`
const mib = 2 ** 20

describe('a thread gets', () => {
  it.each([
    ['an object of many members', '/obj/create', () => object('many', `{${members(150_000)}}`)],
    ['an object of a long text', '/obj/create', () => object('long', `"${letters(4 * mib)}"`)],
    ['a call of many members', '/call/start', () => call(`{${members(800_000)}}`)],
    ['a call of a long text', '/call/start', () => call(`{"a":"${letters(4 * mib)}"}`)],
    ['a batch of faulty items', '/call/upsert_batch', () => `{"batch":[${list(300_000, () => '1')}]}`],
    ['a batch of small faulty items', '/call/upsert_batch', () => `{"batch":[${list(100_000, () => '{}')}]}`],
    ['faulty feedback', '/feedback/batch/create', () => `{"batch":[${list(300_000, () => '0')}]}`],
    ['a table of many rows', '/table/create', () => table(60_000)],
    // Shorter than what moves by its length alone.
    ['metrics of unknown members', '/otel/v1/metrics', () => `{"resourceMetrics":[],${members(60_000)}}`],
    ['spans of unknown members', '/otel/v1/traces', () => `{"resourceSpans":[],${members(60_000)}}`],
  ])('%s', async (_, path, body) => {
    const done = await send({ path, body: body() })
    expect([200, 422]).toContain(done.status)
    expect(done.moved).toBe(1)
    expect(done.mostAtOnce, done.at).toBeLessThan(maxAtOnce)
  })

  it.each([
    // The same field of a span again and again: an attribute, a link, an event, a nested list.
    ['many spans', () => aRequest(Array.from({ length: 20_000 }, () => aSpan()))],
    [
      'many attributes',
      () => aRequest([aSpan({ attributes: Array.from({ length: 60_000 }, (_, n) => integer(`k${n}`, n)) })]),
    ],
    ['a long text', () => aRequest([aSpan({ attributes: [text('a', letters(4 * mib))] })])],
  ])('a message of %s that comes over gRPC', async (_, request) => {
    const session = connect(`http://127.0.0.1:${server.now().otlp?.grpc?.split(':').at(-1)}`)
    const headers = { authorization: 'Bearer test-key', project_id: 'fuzz/grpc' }
    const body = framed(Buffer.from(encodeRequest(request())))
    const once = async () => {
      seen()
      const { status } = await callOver(session, exportPath, [body], headers)
      return { status, ...ofRequest(seen()) }
    }
    let done = await once()
    while (done.status === unavailable) {
      // Much of this project waits already: sent again once that is applied.
      await send({ path: '/calls/query_stats', body: '{"project_id":"fuzz/grpc"}' })
      done = await once()
    }
    session.close()
    // A span with more attributes than it may have is refused.
    expect([0, 8]).toContain(done.status)
    expect(done.moved).toBe(1)
    expect(done.mostAtOnce, done.at).toBeLessThan(maxAtOnce)
  })
})

let made = 0
/** A body of finished calls, 0.2 KB each. */
const batchOf = (project: string, size: number) => {
  const at = '"started_at":"2026-05-01T00:00:00Z","ended_at":"2026-05-01T00:00:01Z"'
  return `{"batch":[${list(size, () => {
    const id = (++made).toString(16).padStart(16, '0')
    return `{"project_id":"${project}","id":"${id}","trace_id":"${'0'.repeat(31)}2","op_name":"o",${at},"attributes":{},"inputs":{},"output":1,"summary":{}}`
  })}]}`
}

describe('others have their turn while', () => {
  it('the description of all routes is made', async () => {
    const { status, turns } = await send({ method: 'GET', path: '/openapi.json' })
    expect(status).toBe(200)
    expect(turns['core/http/openapi']).toBeGreaterThan(40)
  })

  it('spans of one request are taken', async () => {
    const body = Buffer.from(encodeRequest(aRequest(Array.from({ length: 2_000 }, () => aSpan()))))
    const { status, moved, turns } = await send({ path: '/otel/v1/traces', type: 'application/x-protobuf', body })
    expect([status, moved]).toEqual([200, 0])
    // Sixteen spans between two looks, and two looks a slice.
    expect(turns['core/concurrency/loop-turns']).toBeGreaterThan(2_000 / 32)
  })

  it('many small requests come at once', async () => {
    const headers = { authorization: 'Bearer test-key', 'content-type': 'application/json' }
    const path = `${server.now().url}/v2/fuzz/bursts/calls/complete`
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => fetch(path, { method: 'POST', headers, body: batchOf('fuzz/bursts', 2) })),
    )
    expect(answers.map(({ status }) => status)).toContain(200)
    const { turns } = seen()
    // Each has its turn twice: when it comes, and when its body has come.
    expect(turns['core/concurrency/loop-turns']).toBeGreaterThan(500)
  })

  it('a batch of small calls is applied', async () => {
    const project_id = 'fuzz/batches'
    // Waiting calls of other tests would be applied in one batch with these, which is more than is looked up at once.
    for (const other of ['fuzz/a', 'fuzz/grpc', 'fuzz/bursts'])
      await server.send('/calls/query_stats', { project_id: other })
    const first = await send({ path: `/v2/${project_id}/calls/complete`, body: batchOf(project_id, 1_900) })
    expect(first).toMatchObject({ status: 200, moved: 0 })
    // It is applied from its answer on: what is counted until the read has it belongs to both.
    await server.send('/calls/query_stats', { project_id })
    const then = seen().turns
    const turns = (file: string): number => (first.turns[file] ?? 0) + (then[file] ?? 0)
    // Four calls between two looks, in two loops of the second, one after the other.
    expect(turns('worker/calls/call-rows')).toBeGreaterThan(450)
    expect(turns('worker/calls/insert-new')).toBeGreaterThan(900)
    expect(turns('derived/field-index/gathered')).toBeGreaterThan(450)
  })

  it('rows of a table are made and hashed', async () => {
    const { moved, turns } = await send({ path: '/table/create', body: table(7_000) })
    expect(moved).toBe(0)
    // In two loops, beside those over chunks of many rows.
    expect(turns['events/tables']).toBeGreaterThan(3_400)
  })
})
