// The query log: a line per read with its time, rows and path, metrics of them, and the status that shows them.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serverStatusResponse } from '../../schemas/server.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'log/reads'
const traceId = '00000000-0000-7000-8000-00000000aaaa'
const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`
const at = '2026-01-05T12:00:00Z'
let server: LiveServer

type Line = {
  msg: string
  read: string
  path: string
  ms: number
  rows: number
  rowsRead?: number
  bytes: number
  pool: string
}
/** The line of a read that a request makes; it may come after the answer. */
async function lineOf(path: string, body: object, read: string): Promise<Line> {
  const before = server.lines.length
  if (path === '/calls/stream_query') await server.list(path, { project_id, ...body })
  else await server.send(path, { project_id, ...body })
  const found = () =>
    server.lines
      .slice(before)
      .map((line) => JSON.parse(line) as Line)
      .find((line) => line.read === read)
  await expectSoon(found).toBeDefined()
  return found() as Line
}

beforeAll(async () => {
  server = await startLiveServer(['--log-level', 'trace'])
  const batch = [1, 2, 3].map((n) => ({
    project_id,
    id: id(n),
    trace_id: traceId,
    op_name: 'op',
    started_at: at,
    attributes: {},
    inputs: { n },
    ended_at: at,
    output: null,
    summary: {},
  }))
  await server.send('/v2/log/reads/calls/complete', { batch })
})
afterAll(() => server.remove())

it('the log line of a read names the path that served it, and how much it went through', async () => {
  const byTrace = await lineOf(
    '/calls/stream_query',
    { filter: { trace_ids: [traceId] }, columns: ['id'] },
    'calls.page',
  )
  expect(byTrace).toMatchObject({ msg: 'read', path: 'index', rows: 3, pool: 'interactive' })
  expect(byTrace.rowsRead).toBeGreaterThanOrEqual(3)
  expect(byTrace.ms).toBeGreaterThan(0)
  expect(byTrace.bytes).toBeGreaterThan(100)
})

it.each([
  [
    '/calls/stats',
    { start: at, end: '2026-01-06T00:00:00Z', filter: { op_names: ['op'] }, call_metrics: [{ metric: 'call_count' }] },
    'call-stats.calls',
    'window',
  ],
  ['/calls/query_stats', {}, 'calls.total', 'rollup'],
  ['/calls/query_stats', { filter: { op_names: ['op'] } }, 'calls.count', 'scan'],
  ['/calls/stream_query', { limit: 2 }, 'calls.payloads', 'keys'],
  ['/cost/query', {}, 'costs.query', 'table'],
])('%s %j: %s by %s', async (path, body, read, expected) => {
  expect((await lineOf(path, body, read)).path).toBe(expected)
})

it('reads are counted in metrics by route and path', async () => {
  const response = await fetch(`${server.now().url}/metrics`, { headers: { authorization: basicAuth() } })
  const text = await response.text()
  expect(text).toMatch(/callhouse_read_seconds_count\{path="index",outcome="ok"\} [1-9]/)
  expect(text).toMatch(/callhouse_read_bytes_total\{path="rollup"\} [1-9]/)
})

it('the status of the server tells its reads, topics, store and process to owners of everything', async () => {
  const headers = { authorization: basicAuth() }
  const statusNow = async () => {
    const response = await fetch(`${server.now().url}/server/status`, { headers })
    return serverStatusResponse.parse(await response.json())
  }
  const status = await statusNow()
  expect(status).toMatchObject({
    role: 'serve',
    checks: { log: 'ok', storage: 'ok', workers: 'ok' },
    dead_letters: { count: 0, latest_at: null },
    refused: { '429': 0, '503': 0 },
    store: { kind: 'embedded', version: expect.stringMatching(/^\d+\./) },
  })
  expect(status.store?.bytes).toBeGreaterThan(1_000)
  expect(status.store?.free_bytes).toBeGreaterThan(status.store?.stops_at_bytes ?? Number.POSITIVE_INFINITY)
  const calls = status.topics.find(({ topic }) => topic === 'calls')
  expect(calls).toMatchObject({ unapplied_bytes: 0, lag_ms: 0 })
  expect(calls?.applied).toBe(calls?.end)
  expect(calls?.end).toBeGreaterThan(0)
  expect(status.rollups.map(({ name }) => name)).toContain('call_counts')
  const read = status.queries.find(({ name }) => name === 'calls.page')
  expect(read).toMatchObject({ path: expect.any(String), count: expect.any(Number) })
  expect(read?.p95_ms).toBeGreaterThanOrEqual(read?.p50_ms ?? Number.POSITIVE_INFINITY)
  // It is that of the time since the last question, in which there may have been no round.
  await expectSoon(async () => (await statusNow()).process.event_loop_p99_ms).toBeGreaterThan(0)
})
