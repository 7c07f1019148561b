// tier: deep kafka
// The Kafka broker goes away for longer than sessions and retries last: edges answer in time, everything recovers by itself.
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildServer, post } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { type Broker, startBroker } from '../fixtures/kafka-broker.ts'
import { checkCounters, createLoad } from '../fixtures/load.ts'

let broker: Broker
let installation: Installation
let ingest: ChildServer
let worker: ChildServer
let query: ChildServer

beforeAll(async () => {
  broker = await startBroker()
  installation = await createInstallation([broker.address], {
    CALLHOUSE_KAFKA_SESSION_TIMEOUT_MS: '2000',
    // A busy machine makes the topics within it.
    CALLHOUSE_KAFKA_DELIVERY_TIMEOUT_MS: '20000',
  })
  ingest = await installation.start('ingest')
  ;[worker, query] = await Promise.all([
    installation.start('worker', { CALLHOUSE_WORKER_ID: 'only' }),
    installation.start('query'),
  ])
})
afterAll(async () => {
  await installation?.remove()
  await broker?.dispose()
})

type Health = { status: string; checks: Record<string, string>; reasons?: Record<string, string> }

const healthOf = async ({ url }: ChildServer) => {
  const response = await fetch(`${url}/health`)
  return { code: response.status, ...((await response.json()) as Health) }
}

it('while the broker is away nothing acknowledged is lost, and everything goes on once it is back', async () => {
  const load = createLoad('faults/broker', 20260109, 10)
  const counts = { taken: 0, refused: 0 }
  let isOver = false
  const caller = async (): Promise<void> => {
    while (!isOver) {
      const answer = await load.send(ingest.url)
      if (answer?.status === 200) counts.taken++
      else {
        expect([429, 503]).toContain(answer?.status)
        expect(Number(answer?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
        counts.refused++
        // Not as long as it was asked to wait.
        await setTimeout(200)
      }
    }
  }
  const taken = async (more: number): Promise<void> => {
    const target = counts.taken + more
    await eventually(() => expect(counts.taken).toBeGreaterThanOrEqual(target), { withinMs: 120_000 })
  }
  const calling = Promise.all([caller(), caller(), caller()])
  await taken(30)
  await broker.stop('kill')
  await eventually(() => expect(counts.refused).toBeGreaterThan(5), { withinMs: 120_000 })
  for (const server of [ingest, query])
    await eventually(async () => {
      const { code, status, checks } = await healthOf(server)
      expect({ code, status, checks }).toMatchObject({ code: 200, status: 'degraded', checks: { log: 'degraded' } })
    })
  // Lists go on, and say that they may lack something; a count that may be wrong is none.
  const read = await post(query.url, '/calls/stream_query', { project_id: load.project_id, limit: 1 })
  expect(read.status).toBe(200)
  expect(Number(read.headers.get('x-callhouse-stale'))).toBeGreaterThan(0)
  const counted = await post(query.url, '/calls/query_stats', { project_id: load.project_id })
  expect([counted.status, Number(counted.headers.get('retry-after')) > 0]).toEqual([503, true])
  // The session is over, and the worker has tried to come back more than once.
  await eventually(
    () => {
      const tries = worker.output().split('the consumer of Kafka failed').length - 1
      expect(tries).toBeGreaterThan(0)
    },
    { withinMs: 60_000 },
  )
  // Longer than edges keep their numbers without the brokers.
  for (const server of [ingest, query])
    await eventually(
      async () => expect((await healthOf(server)).reasons?.log).toMatch(/the number of this edge is not renewed/),
      { withinMs: 120_000, everyMs: 500 },
    )
  await broker.start()
  await taken(30)
  isOver = true
  await calling
  // A worker comes back after a pause of its own; then everything is read as before.
  const within = { withinMs: 240_000, everyMs: 500 }
  await eventually(async () => {
    const { status } = await post(query.url, '/calls/query_stats', { project_id: load.project_id })
    expect(status, worker.output().slice(-2_000)).toBe(200)
  }, within)
  await load.check(query.url)
  await eventually(async () => {
    for (const server of [ingest, worker, query]) expect((await healthOf(server)).status).toBe('ok')
  }, within)
  await checkCounters(installation.bridge, load.project_id)
  await load.check(query.url)
})
