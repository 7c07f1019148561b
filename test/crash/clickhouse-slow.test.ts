// tier: deep kafka
// A ClickHouse server that is slow: the lag grows to its bound, edges answer 429 over it, and nothing is lost.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth, type ChildServer } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type FaultyProxy, startFaultyProxy } from '../fixtures/faulty-proxy.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { createLoad } from '../fixtures/load.ts'

const boundBytes = 2 ** 20
let installation: Installation
let proxy: FaultyProxy
let ingest: ChildServer
let worker: ChildServer
let query: ChildServer

beforeAll(async () => {
  installation = await createInstallation(await kafkaBrokers(), {
    CALLHOUSE_MAX_UNAPPLIED_BYTES: String(boundBytes),
  })
  proxy = await startFaultyProxy(installation.bridge.url)
  ingest = await installation.start('ingest')
  ;[worker, query] = await Promise.all([
    installation.start('worker', { CALLHOUSE_CLICKHOUSE_URL: proxy.url }),
    installation.start('query'),
  ])
})
afterAll(async () => {
  await installation?.remove()
  await proxy?.close()
})

async function metric({ url }: ChildServer, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: basicAuth() } })).text()
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1])
}

it('while ClickHouse is slow the unapplied bytes stay bounded, and writes are taken again once they are applied', {
  timeout: 240_000,
}, async () => {
  const load = createLoad('faults/slow', 20260111, 200)
  expect((await load.send(ingest.url))?.status).toBe(200)
  await load.check(query.url)
  proxy.hold('calls_in (')
  let taken = 0
  const fill = async () => {
    for (;;) {
      const answer = await load.send(ingest.url)
      if (answer?.status !== 200) return answer
      taken++
    }
  }
  const refused = await fill()
  expect(refused?.status).toBe(429)
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(taken).toBeGreaterThan(3)
  const waiting = await metric(ingest, 'callhouse_log_unapplied_bytes')
  expect([waiting > boundBytes / 2, waiting <= boundBytes]).toEqual([true, true])
  for (const server of [ingest, worker, query])
    await eventually(async () => expect(await metric(server, 'callhouse_log_lag_seconds')).toBeGreaterThan(0))
  // One statement a time goes on: what is taken in follows what is applied.
  const takenBefore = taken
  for (let n = 0; n < 3; n++) {
    proxy.release(1)
    await eventually(
      async () => {
        const answer = await load.send(ingest.url)
        if (answer?.status === 200) taken++
        // a small batch may not make room for a large request
        else proxy.release(1)
        expect(answer?.status).toBe(200)
      },
      { withinMs: 60_000 },
    )
    expect((await fill())?.status).toBe(429)
  }
  expect(taken).toBeGreaterThan(takenBefore)
  proxy.release()
  await load.check(query.url)
  for (const server of [ingest, worker, query])
    await eventually(async () => expect(await metric(server, 'callhouse_log_unapplied_bytes')).toBe(0))
  expect((await load.send(ingest.url))?.status).toBe(200)
  await load.check(query.url)
})
