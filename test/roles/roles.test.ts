// Three processes over Kafka and a ClickHouse server: what one accepts, the next request to another one reads.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChildServer } from '../fixtures/child-server.ts'
import { basicAuth, post, postLines } from '../fixtures/child-server.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'

const project_id = 'team/roles'
let installation: Installation
let ingest: ChildServer
let worker: ChildServer
let query: ChildServer

beforeAll(async () => {
  installation = await createInstallation(await kafkaBrokers())
  ingest = await installation.start('ingest')
  worker = await installation.start('worker')
  query = await installation.start('query')
})
afterAll(() => installation?.remove())

const at = (ms: number) => new Date(Date.parse('2026-01-05T00:00:00Z') + ms).toISOString()
const started = (id: string, n: number) => ({
  mode: 'start',
  req: { start: { project_id, id, trace_id: id, op_name: 'op', started_at: at(n), attributes: {}, inputs: { n } } },
})
const ended = (id: string, n: number) => ({
  mode: 'end',
  req: { end: { project_id, id, ended_at: at(n + 5), output: { n }, summary: {} } },
})
const send = async (server: ChildServer, batch: unknown[]) => {
  const { status, text } = await post(server.url, '/call/upsert_batch', { batch })
  expect([status, text.slice(0, 200)]).toEqual([200, expect.any(String)])
}

it('reads at once what another process accepted, in one part or two', async () => {
  for (let round = 0; round < 5; round++) {
    const ids = Array.from({ length: 20 }, () => randomUUID())
    await send(
      ingest,
      ids.map((id, n) => started(id, round * 100 + n)),
    )
    await send(
      ingest,
      ids.map((id, n) => ended(id, round * 100 + n)),
    )
    const calls = await postLines<{ id: string; output: { n: number } | null }>(query.url, '/calls/stream_query', {
      project_id,
      filter: { call_ids: ids },
    })
    expect(calls.map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect(calls.every(({ output }) => output !== null)).toBe(true)
  }
  const { text } = await post(query.url, '/calls/query_stats', { project_id })
  expect(JSON.parse(text)).toMatchObject({ count: 100 })
})

it('serves the routes of its role only', async () => {
  expect((await post(ingest.url, '/calls/query_stats', { project_id })).status).toBe(404)
  expect((await post(query.url, '/call/upsert_batch', { batch: [] })).status).toBe(404)
  for (const { url } of [ingest, worker, query]) {
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: basicAuth() } })
    expect(metrics.status).toBe(200)
  }
})
