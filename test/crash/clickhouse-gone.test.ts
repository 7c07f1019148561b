// tier: deep kafka
// The ClickHouse server goes away under load and comes back: writes go on, reads fail at once, then everything is applied.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth, type ChildServer, post } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { checkCounters, createLoad } from '../fixtures/load.ts'

let installation: Installation
let ingest: ChildServer
let worker: ChildServer
let query: ChildServer

beforeAll(async () => {
  installation = await createInstallation(await kafkaBrokers())
  ingest = await installation.start('ingest')
  ;[worker, query] = await Promise.all([installation.start('worker'), installation.start('query')])
})
afterAll(() => installation?.remove())

type Health = { status: string; checks: Record<string, string>; reasons?: Record<string, string>; lag_ms: number }
const healthOf = async ({ url }: ChildServer) => {
  const response = await fetch(`${url}/health`)
  return { code: response.status, health: (await response.json()) as Health }
}
const metricsOf = async ({ url }: ChildServer) =>
  (await fetch(`${url}/metrics`, { headers: { authorization: basicAuth() } })).text()

it('the worker goes on where it was once the ClickHouse server is back', { timeout: 240_000 }, async () => {
  const load = createLoad('faults/clickhouse', 20260107)
  const { project_id } = load
  const sendSome = async () => {
    for (let n = 0; n < 10; n++) expect((await load.send(ingest.url))?.status).toBe(200)
  }
  await sendSome()
  await load.check(query.url)
  // In the middle of applying: some batches were sent, the worker is at them.
  const sending = sendSome()
  await installation.bridge.kill()
  await sending
  await sendSome()

  await eventually(async () => {
    const { code, health } = await healthOf(worker)
    expect({ code, ...health }).toMatchObject({
      code: 503,
      status: 'unavailable',
      checks: { log: 'ok', storage: 'down', workers: 'degraded' },
      reasons: { workers: expect.stringContaining('calls: the database is not available') },
    })
    expect(health.lag_ms).toBeGreaterThan(0)
  })
  expect(await metricsOf(worker)).toMatch(/callhouse_batch_retries_total\{topic="calls"\} [1-9]/)
  // An edge needs the log only.
  expect((await fetch(`${ingest.url}/ready`)).status).toBe(200)
  expect((await fetch(`${query.url}/ready`)).status).toBe(503)
  const impatient = { 'x-callhouse-freshness': 'any' }
  for (const [path, body] of [
    ['/calls/stream_query', { project_id }],
    ['/calls/query_stats', { project_id }],
    ['/call/read', { project_id, id: [...load.acknowledged.keys()][0] }],
    ['/obj/read', { project_id, object_id: 'o', digest: 'latest' }],
  ] as const) {
    const { status, text } = await post(query.url, path, body, impatient)
    // not 504: nothing waits for its time limit
    expect([path, status]).toEqual([path, 502])
    expect(text).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/)
  }

  await installation.bridge.start()
  await load.check(query.url)
  await checkCounters(installation.bridge, project_id)
  await load.check(query.url)
  await eventually(async () => {
    for (const server of [ingest, worker, query])
      expect(await healthOf(server)).toMatchObject({ code: 200, health: { status: 'ok' } })
  })
  expect(await metricsOf(worker)).not.toContain('callhouse_dead_letters_total{')
})
