// tier: bars
// Longest time that the worst bodies of every served route hold the event loop of a server.
import { connect } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { declaredRoutes } from '../../scripts/paths.ts'
import type { Route } from '../../services/core/http/route.ts'
import { bar } from '../fixtures/bar.ts'
import { type FakeProvider, startFakeProvider } from '../fixtures/fake-provider.ts'
import { callOver, exportPath, framed } from '../fixtures/grpc.ts'
import { type MonitoredServer, startMonitoredServer } from '../fixtures/loop-monitor.ts'
import { aRequest, aSpan, integer, text } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'
import { createRandom } from '../fixtures/random.ts'
import { pathOf, type WorstBody, worstBodies } from '../fixtures/worst-bodies.ts'

/** A slower one is measured again. */
const maxMs = 50
const longest = { description: 0, routes: 0, bodies: 0, grpc: 0, bursts: 0, batches: 0, scorers: 0, reads: 0 }
/** Each figure is the longest of what is measured for it. */
function took(figure: keyof typeof longest, ms: number): void {
  longest[figure] = Math.max(longest[figure], ms)
}
const seed = Number(process.env.EVENT_LOOP_SEED ?? 7)
/** Just below what is handled by the event loop itself, for bodies that become values and for those that do not. */
const hereBytes = { values: 90 * 1024, bytes: 720 * 1024 }
const longBytes = 2 * 2 ** 20
const perRoute = 2

let server: MonitoredServer
let engine: FakeProvider
beforeAll(async () => {
  engine = await startFakeProvider()
  server = await startMonitoredServer({ CALLHOUSE_ENGINE_URL: engine.url, CALLHOUSE_OTLP_GRPC_PORT: '0' })
})
afterAll(async () => {
  for (const [figure, ms] of Object.entries(longest)) bar(`event-loop/${figure as keyof typeof longest}`, ms)
  await server.remove()
  await engine.close()
})

type Sent = { method: string; path: string; type?: string; body?: Buffer | string }

type Answered = { status: number; bytes: Buffer }

const send = async ({ method, path, type = 'application/json', body }: Sent): Promise<Answered> => {
  const headers = { authorization: 'Bearer test-key', 'content-type': type, project_id: 'fuzz/a' }
  const answer = await fetch(server.url + path, { method, headers, ...(body === undefined ? {} : { body }) })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** One call over gRPC; its status code is the answer's. */
const callOf = async ({ path, body = '' }: Sent) => {
  const port = /127\.0\.0\.1:(\d+) \(gRPC\)/.exec(server.output())?.[1]
  const session = connect(`http://127.0.0.1:${port}`)
  const headers = { authorization: 'Bearer test-key', project_id: 'fuzz/grpc' }
  const answer = await callOver(session, path, [framed(Buffer.from(body as Buffer))], headers)
  session.close()
  return answer
}

/**
 * The longest round of the loop while the request was served, in time of its processor. Processors that are shared run
 * at changing speeds, so what took too long is sent again: what is slow by itself is slow three times.
 */
async function heldMs(sent: Sent, by = send): Promise<{ ms: number; status: number; bytes: Buffer }> {
  let least: Answered & { ms: number } = { ms: Number.POSITIVE_INFINITY, status: 0, bytes: Buffer.alloc(0) }
  for (let attempt = 0; attempt < 3 && least.ms > maxMs; attempt++) {
    await server.longestMs()
    const answer = await by(sent)
    const ms = await server.longestMs()
    if (ms < least.ms) least = { ms, ...answer }
  }
  return least
}

const random = createRandom(seed)

/** Some of the route's bodies of this size. */
function someBodies(route: Route, bytes: number): WorstBody[] {
  const all = [...worstBodies(route, bytes)]
  return Array.from({ length: Math.min(perRoute, all.length) }, () => random.pick(all)())
}

const isRead = ({ body }: Route) => body.type === 'raw' || (body.type === 'json' && body.check === 'bytes')

/** Routes without a body get as long a query as a request may have. */
const withLongQuery = (route: Route): Sent => ({
  method: route.method,
  path: `${pathOf(route)}?project_id=fuzz/a&${'evaluation_run_ids=x&a=%C3%A9&'.repeat(3_500)}`,
})

function requestsOf(route: Route): (Sent & { what: string })[] {
  if (route.body.type === 'none') return [{ ...withLongQuery(route), what: 'a long query' }]
  const bodies = [hereBytes[isRead(route) ? 'bytes' : 'values'], longBytes].flatMap((bytes) => someBodies(route, bytes))
  return bodies.map(({ path, type, body, what }) => ({ method: route.method, path, type, body, what }))
}

/** Status of gRPC for what may be sent again later. */
const unavailable = 14

describe('how long the event loop is held while', () => {
  it('the description of all routes is made, which only the first request has to wait for', async () => {
    await server.longestMs()
    expect((await send({ method: 'GET', path: '/openapi.json' })).status).toBe(200)
    took('description', await server.longestMs())
  })

  it('every route is sent its worst bodies', { timeout: 600_000 }, async () => {
    const routes = declaredRoutes()
    expect(routes.length).toBeGreaterThan(100)
    const slow: string[] = []
    for (const route of routes)
      for (const { what, ...sent } of requestsOf(route)) {
        const { ms, status } = await heldMs(sent)
        const shown = `${route.name} with ${what}, ${sent.body?.length ?? 0} bytes: ${status}, ${Math.round(ms)} ms`
        took('routes', ms)
        if (ms > maxMs) process.stderr.write(`${shown}\n`)
        if (status >= 500 && status !== 501) slow.push(shown)
      }
    expect(slow).toEqual([])
  })

  const members = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}":0`).join(',')
  const list = (count: number, item: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => item(n)).join(',')
  const letters = (bytes: number) => '\\"\\n\\u00e9x'.repeat(bytes / 11)
  const call = (inputs: string) =>
    `{"start":{"project_id":"fuzz/a","op_name":"o","started_at":"2026-05-01T00:00:00Z","attributes":{},"inputs":${inputs}}}`
  const object = (name: string, val: string) => `{"obj":{"project_id":"fuzz/a","object_id":"${name}","val":${val}}}`
  it.each([
    ['an object of many members', '/obj/create', () => object('many', `{${members(150_000)}}`)],
    ['an object of a long text', '/obj/create', () => object('long', `"${letters(12 * 2 ** 20)}"`)],
    ['a call of many members', '/call/start', () => call(`{${members(800_000)}}`)],
    ['a call of a long text', '/call/start', () => call(`{"a":"${letters(12 * 2 ** 20)}"}`)],
    ['a batch of faulty items', '/call/upsert_batch', () => `{"batch":[${list(300_000, () => '1')}]}`],
    ['a batch of small faulty items', '/call/upsert_batch', () => `{"batch":[${list(100_000, () => '{}')}]}`],
    ['faulty feedback', '/feedback/batch/create', () => `{"batch":[${list(300_000, () => '0')}]}`],
    [
      'a table of many rows',
      '/table/create',
      () => `{"table":{"project_id":"fuzz/a","rows":[${list(60_000, (n) => `{"a":${n}}`)}]}}`,
    ],
    ['metrics of unknown members', '/otel/v1/metrics', () => `{"resourceMetrics":[],${members(70_000)}}`],
    ['spans of unknown members', '/otel/v1/traces', () => `{"resourceSpans":[],${members(90_000)}}`],
  ])('%s is sent', { timeout: 600_000 }, async (_, path, body) => {
    const { ms, status } = await heldMs({ method: 'POST', path, body: body() })
    expect([200, 422]).toContain(status)
    took('bodies', ms)
  })

  it.each([
    // The same field of a span again and again: an attribute, a link, an event, a nested list.
    ['many spans', () => aRequest(Array.from({ length: 20_000 }, () => aSpan()))],
    [
      'many attributes',
      () => aRequest([aSpan({ attributes: Array.from({ length: 200_000 }, (_, n) => integer(`k${n}`, n)) })]),
    ],
    ['a long text', () => aRequest([aSpan({ attributes: [text('a', letters(12 * 2 ** 20))] })])],
  ])('a message of %s comes over gRPC', { timeout: 600_000 }, async (_, request) => {
    const message = { method: 'POST', path: exportPath, body: Buffer.from(encodeRequest(request())) }
    let { ms, status } = await heldMs(message, callOf)
    // Beside other projects this one may not have more waiting: sent again, as by every exporter.
    while (status === unavailable && ms < maxMs) {
      await sleep(1_000)
      ;({ ms, status } = await heldMs(message, callOf))
    }
    // A span with more attributes than it may have is refused.
    expect([0, 8]).toContain(status)
    took('grpc', ms)
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

  it.each([
    ['few calls', 1_000, 2],
    ['a hundred calls', 300, 130],
    ['five hundred calls', 60, 500],
  ])('requests with %s come at once', { timeout: 600_000 }, async (_, requests, size) => {
    const project_id = 'fuzz/bursts'
    const bodies = Array.from({ length: requests }, () => batchOf(project_id, size))
    let held = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < 3 && held > maxMs; attempt++) {
      await server.longestMs()
      const answers = await Promise.all(
        bodies.map((body) => send({ method: 'POST', path: `/v2/${project_id}/calls/complete`, body })),
      )
      expect(answers.map(({ status }) => status)).toContain(200)
      held = Math.min(held, await server.longestMs())
    }
    took('bursts', held)
  })

  it('batches of thousands of small calls are applied', { timeout: 600_000 }, async () => {
    const project_id = 'fuzz/batches'
    const bodies = Array.from({ length: 40 }, () => batchOf(project_id, 500))
    let held = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < 3 && held > maxMs; attempt++) {
      await server.longestMs()
      // Each body is small: what would hold the loop is the worker with what they are together.
      const answers = await Promise.all(
        bodies.map((body) => send({ method: 'POST', path: `/v2/${project_id}/calls/complete`, body })),
      )
      expect(answers.map(({ status }) => status)).toContain(200)
      await send({ method: 'POST', path: '/calls/query_stats', body: JSON.stringify({ project_id }) })
      held = Math.min(held, await server.longestMs())
    }
    took('batches', held)
  })

  it('scorers with long descriptions are listed and read', { timeout: 600_000 }, async () => {
    const path = '/v2/fuzz/scorers/scorers'
    const make = async (name: string, bytes: number) => {
      const body = `{"name":"${name}","op_source_code":"x","description":"${letters(bytes)}"}`
      const { status, bytes: answered } = await send({ method: 'POST', path, body })
      expect(status).toBe(200)
      return JSON.parse(answered.toString()) as { object_id: string; digest: string }
    }
    const free = async (asked: string) => {
      const { ms, status } = await heldMs({ method: 'GET', path: asked })
      expect(status).toBe(200)
      took('scorers', ms)
    }
    for (let n = 0; n < 12; n++) await make(`s${n}`, 2 ** 20)
    await free(path)
    const { object_id, digest } = await make('long', 16 * 2 ** 20)
    for (const asked of [path, `${path}/${object_id}/versions/${digest}`]) await free(asked)
  })

  it('large answers are read', { timeout: 600_000 }, async () => {
    const value = letters(20 * 2 ** 20)
    const rows = 60_000
    const calls = 10_000
    const post = async (path: string, body: string): Promise<string> => {
      const { status, bytes } = await send({ method: 'POST', path, body })
      // Beside other projects this one may not have more waiting: sent again, as by every client.
      if (status === 429) {
        await sleep(1_000)
        return post(path, body)
      }
      expect([path, status]).toEqual([path, 200])
      return bytes.toString('latin1', 0, 200)
    }
    const of = '"project_id":"fuzz/reads"'
    const at = '"started_at":"2026-05-01T00:00:00Z"'
    await post('/obj/create', `{"obj":{${of},"object_id":"long","val":"${value}"}}`)
    const table = await post('/table/create', `{"table":{${of},"rows":[${list(rows, (n) => `{"a":${rows - n}}`)}]}}`)
    const digest = /"digest":"(\w+)"/.exec(table)?.[1]
    await post(
      '/call/start',
      `{"start":{${of},"id":"ffffffffffffffff","op_name":"o",${at},"attributes":{},"inputs":{"a":"${value}"}}}`,
    )
    const whole = (n: number) =>
      `{${of},"id":"${n.toString(16).padStart(16, '0')}","trace_id":"${'0'.repeat(31)}1","op_name":"o",${at},"ended_at":"2026-05-01T00:00:01Z","attributes":{},"inputs":{},"output":1,"summary":{"usage":{"m":{"prompt_tokens":1}}}}`
    await post('/v2/fuzz/reads/calls/complete', `{"batch":[${list(calls, (n) => whole(n + 1))}]}`)
    await post('/calls/query_stats', `{${of}}`)
    const reads: [path: string, body: string][] = [
      ['/obj/read', `{${of},"object_id":"long","digest":"latest"}`],
      ['/objs/query', `{${of}}`],
      ['/table/query', `{${of},"digest":"${digest}"}`],
      ['/table/query', `{${of},"digest":"${digest}","sort_by":[{"field":"a","direction":"desc"}],"limit":5}`],
      ['/table/update', `{${of},"base_digest":"${digest}","updates":[{"append":{"row":{"a":1}}}]}`],
      ['/call/read', `{${of},"id":"ffffffffffffffff","include_costs":true}`],
      ['/calls/stream_query', `{${of}}`],
      [
        '/calls/stream_query',
        `{${of},"columns":["id"],"sort_by":[{"field":"summary.weave.latency_ms","direction":"asc"}]}`,
      ],
      ['/trace/usage', `{${of},"limit":${calls}}`],
    ]
    for (const [path, body] of reads) {
      const { ms, status, bytes } = await heldMs({ method: 'POST', path, body })
      const shown = `${path} ${body}: ${Math.round(ms)} ms, ${bytes.length} bytes`
      expect(status, shown).toBe(200)
      if (ms > maxMs) process.stderr.write(`${shown}\n`)
      took('reads', ms)
    }
    took('reads', (await heldMs({ method: 'GET', path: '/metrics' })).ms)
  })
})
