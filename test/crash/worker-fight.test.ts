// tier: deep kafka
// Workers that fight: two of one name, one that slept while others took its partitions, more of them than partitions.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth, type ChildServer } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { checkCounters, createLoad } from '../fixtures/load.ts'

let installation: Installation
let ingest: ChildServer
let query: ChildServer

beforeAll(async () => {
  installation = await createInstallation(await kafkaBrokers(), {
    CALLHOUSE_KAFKA_PARTITIONS: '2',
    CALLHOUSE_KAFKA_SESSION_TIMEOUT_MS: '2000',
  })
  ;[ingest, query] = await Promise.all([installation.start('ingest'), installation.start('query')])
})
afterAll(() => installation?.remove())

const load = createLoad('faults/fight', 20260108)
const startWorker = (name: string) => installation.start('worker', { CALLHOUSE_WORKER_ID: name })
const sendSome = async (batches = 6) => {
  for (let n = 0; n < batches; n++) expect((await load.send(ingest.url))?.status).toBe(200)
}
async function rowsAppliedBy({ url }: ChildServer): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: basicAuth() } })
  return Number(/callhouse_rows_applied_total\{topic="calls"\} (\d+)/.exec(await response.text())?.[1] ?? 0)
}

it('a worker whose name another one takes ends and says why', async () => {
  const first = await startWorker('same')
  await sendSome()
  await load.check(query.url)
  const ended = new Promise<number | null>((resolve) => first.child.once('exit', resolve))
  const second = await startWorker('same')
  await sendSome()
  expect(await ended).toBe(1)
  expect(first.output()).toContain('Another worker started with the name same: CALLHOUSE_WORKER_ID')
  await sendSome()
  await load.check(query.url)
  expect(second.child.exitCode).toBeNull()
  expect(await second.stop()).toBe(0)
})

it('a worker that slept while others took over changes nothing that they wrote', async () => {
  const sleeper = await startWorker('sleeper')
  await sendSome()
  await load.check(query.url)
  const before = await rowsAppliedBy(sleeper)
  // It has batches in hand and statements under way.
  const sending = sendSome(12)
  await eventually(async () => expect(await rowsAppliedBy(sleeper)).toBeGreaterThan(before))
  sleeper.child.kill('SIGSTOP')
  await sending
  const other = await startWorker('other')
  await load.check(query.url)
  sleeper.child.kill('SIGCONT')
  await sendSome(12)
  await load.check(query.url)
  // Both have their share again.
  const seen = await rowsAppliedBy(sleeper)
  await eventually(
    async () => {
      await sendSome(2)
      expect(await rowsAppliedBy(sleeper)).toBeGreaterThan(seen)
    },
    { withinMs: 60_000, everyMs: 200 },
  )
  await load.check(query.url)
  await Promise.all([sleeper.kill(), other.kill()])
})

it('a worker without a partition is ready and takes over when another leaves', async () => {
  const workers = await Promise.all(['one', 'two', 'three'].map(startWorker))
  let idle: ChildServer | undefined
  await eventually(
    async () => {
      const before = await Promise.all(workers.map(rowsAppliedBy))
      await sendSome(2)
      await load.check(query.url)
      const after = await Promise.all(workers.map(rowsAppliedBy))
      const isIdle = after.map((rows, n) => rows === before[n])
      expect(isIdle.toSorted()).toEqual([false, false, true])
      idle = workers[isIdle.indexOf(true)]
    },
    { withinMs: 60_000, everyMs: 200 },
  )
  for (const { url } of workers) expect((await fetch(`${url}/ready`)).status).toBe(200)
  const before = await rowsAppliedBy(idle as ChildServer)
  await Promise.all(workers.filter((one) => one !== idle).map((one) => one.kill()))
  await sendSome()
  await load.check(query.url)
  expect(await rowsAppliedBy(idle as ChildServer)).toBeGreaterThan(before)
  await checkCounters(installation.bridge, load.project_id)
  await load.check(query.url)
})
