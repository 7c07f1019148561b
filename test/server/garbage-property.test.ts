// tier: deep property
// Property: whatever is sent to any route, it answers below 500, harms no other project, and leaves no payload in the logs.
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openKeys } from '../../services/core/http/keys.ts'
import type { Route } from '../../services/core/http/route.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { canary, type GarbageRequest, garbageFor, marker } from '../fixtures/garbage.ts'
import { sendRaw } from '../fixtures/http-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { limitMs, runs } from '../fixtures/runs.ts'

let server: LiveServer
let authorization: string
let before: unknown[]
const answered = { total: 0, ok: 0 }

const canaryCalls = () => server.list<{ id: string }>('/calls/stream_query', { project_id: canary })
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`

beforeAll(async () => {
  server = await startLiveServer()
  const keys = openKeys({ dataDir: server.dataDir, configured: [] })
  const { text } = keys.create({ userId: 'fuzz', role: 'write', grants: ['fuzz'] })
  authorization = basicAuth(text)
  // The ids are among those that the garbage uses.
  const batch = Array.from({ length: 20 }, (_, n) => ({
    project_id: canary,
    id: idOf(n),
    trace_id: idOf(n >> 2),
    parent_id: n % 4 ? idOf(n - 1) : null,
    op_name: 'sing',
    started_at: '2026-05-01T00:00:00Z',
    ended_at: '2026-05-01T00:00:01Z',
    attributes: {},
    inputs: { n },
    output: { n },
    summary: { n },
  }))
  await server.send(`/v2/${canary}/calls/complete`, { batch })
  before = await canaryCalls()
  expect(before).toHaveLength(20)
})
afterAll(() => server.remove())

/** Sends one request; returns what was wrong with the answer, empty if nothing. */
async function check({ method, path, headers, body }: GarbageRequest, bound = 500): Promise<string> {
  const shown = () => JSON.stringify({ method, path, headers, body: body?.toString('latin1') }).slice(0, 3_000)
  try {
    const response = await fetch(server.now().url + path, {
      method,
      headers: { authorization, ...headers },
      signal: AbortSignal.timeout(30_000),
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
    })
    const text = await response.text()
    answered.total++
    if (response.status === 200) answered.ok++
    return response.status >= bound ? `${response.status} ${text} to ${shown()}` : ''
  } catch (error) {
    return `${error} ${error instanceof Error ? error.cause : ''} to ${shown()}`
  }
}

const routes = (): readonly Route[] => server.now().http.routes

describe('generated garbage', () => {
  it('is answered below 500 by every route', { timeout: limitMs(240_000) }, async () => {
    expect(routes().length).toBeGreaterThan(20)
    const failed: string[] = []
    for (const [n, route] of routes().entries()) {
      const requests = fc.sample(garbageFor(route), {
        numRuns: route.body.type === 'none' ? runs(4, 40) : runs(12, 160),
        seed: 1000 + n,
      })
      // Routes that are not served say so, and nothing else.
      const bound = route.summary.startsWith('Not served (501)') ? 502 : 500
      // several at a time, so that they also meet one another
      for (let at = 0; at < requests.length; at += 16)
        failed.push(
          ...(await Promise.all(requests.slice(at, at + 16).map((one) => check(one, bound)))).filter(
            (one) => one !== '',
          ),
        )
    }
    expect(failed).toEqual([])
    // Much of it is taken: garbage that is all refused would prove nothing.
    expect(answered.ok).toBeGreaterThan(answered.total / 10)
  })

  it('never breaks a header, whatever the value of another', async () => {
    const { port } = new URL(server.now().url)
    const names = [
      'X-Request-Id',
      'X-Callhouse-Position',
      'Origin',
      'Accept',
      'Authorization',
      'Content-Type',
      'Cookie',
    ]
    const values = [
      'a\r\nX-Injected: 1',
      'a\nX-Injected: 1',
      'a\rX-Injected: 1',
      '\u0000',
      `é${marker}`,
      'x'.repeat(200_000),
    ]
    for (const name of names)
      for (const value of values) {
        const head = `POST /call/read HTTP/1.1\r\nHost: localhost\r\n${name}: ${value}\r\nConnection: close\r\n`
        const answer = await sendRaw(Number(port), Buffer.from(`${head}Content-Length: 2\r\n\r\n{}`))
        expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
        expect(answer).not.toMatch(/^X-Injected/im)
      }
  })

  it('does not hold a connection that breaks off in the middle of a body', async () => {
    const { port } = new URL(server.now().url)
    await Promise.all(
      routes().map(
        ({ method, path }) =>
          new Promise<void>((resolve) => {
            const socket = connect(Number(port), '127.0.0.1', () => {
              const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n`
              socket.write(`${head}Content-Length: 100000\r\n\r\n{"batch":[{"`, () => socket.destroy())
            })
            socket.on('error', () => resolve()).on('close', () => resolve())
          }),
      ),
    )
    expect((await fetch(`${server.now().url}/health`)).status).toBe(200)
  })

  it('leaves the other project as it was, before and after a restart', async () => {
    expect(await canaryCalls()).toEqual(before)
    await server.restart()
    expect(await canaryCalls()).toEqual(before)
    expect(await server.send('/calls/query_stats', { project_id: canary })).toMatchObject({ count: 20 })
  })

  it('left only calls that can be read, and no row that the engine refused', async () => {
    // Work in the background writes calls too.
    const queued = {
      name: 'test',
      sql: `SELECT call_id FROM callhouse.evaluation_jobs FINAL WHERE state = 'queued'`,
      params: {},
    }
    await eventually(async () => expect(await server.now().store.rows(queued)).toEqual([]), {
      withinMs: 90_000,
      everyMs: 200,
    })
    for (const project_id of ['fuzz/a', 'fuzz/b']) {
      const calls = await server.list<{ id: string }>('/calls/stream_query', { project_id })
      const { count } = await server.send<{ count: number }>('/calls/query_stats', { project_id })
      expect(calls).toHaveLength(count)
      for (const { id } of calls.slice(0, 20))
        expect(await server.send('/call/read', { project_id, id })).toMatchObject({ call: { id } })
    }
    const letters = await fetch(`${server.now().url}/metrics`, { headers: { authorization: basicAuth() } })
    expect(await letters.text()).not.toMatch(/callhouse_dead_letters_total\{.*\} [1-9]/)
    expect(server.lines.filter((line) => /"level":(50|60)|"deadLetters":[1-9]/.test(line))).toEqual([])
    expect(server.now().worker?.status()).toEqual({ status: 'ok' })
  })

  it('leaves no text of a body, a header or a query in the log', () => {
    expect(server.lines.length).toBeGreaterThan(500)
    expect(server.lines.filter((line) => line.includes(marker) || line.includes('DROP TABLE'))).toEqual([])
  })
})
