// tier: deep kafka
// kill -9 of workers while calls are being written: nothing that was acknowledged is lost, nothing is doubled.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChildServer } from '../fixtures/child-server.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { checkCounters, createLoad } from '../fixtures/load.ts'
import { runs } from '../fixtures/runs.ts'

const rounds = runs(5, 20)
const names = ['a', 'b'] as const
let installation: Installation
let ingest: ChildServer
let query: ChildServer
const workers = new Map<string, ChildServer>()

beforeAll(async () => {
  installation = await createInstallation(await kafkaBrokers())
  ;[ingest, query] = await Promise.all([installation.start('ingest'), installation.start('query')])
  for (const name of names) workers.set(name, await startWorker(name))
})
afterAll(() => installation?.remove())

const startWorker = (name: string) => installation.start('worker', { CALLHOUSE_WORKER_ID: name })

it(`no acknowledged call is lost or doubled over ${rounds} kills of workers`, { timeout: 400_000 }, async () => {
  const load = createLoad('crash/workers', 20260106)
  const { random } = load
  let killing: Promise<void> | undefined
  const killOne = async () => {
    const name = random.pick(names)
    await workers.get(name)?.kill()
    workers.set(name, await startWorker(name))
  }
  for (let round = 0; round < rounds; round++) {
    // the kill falls somewhere between the acknowledgement of one batch and the next ones under way
    const killAfter = 1 + random.below(10)
    let answered = 0
    killing = undefined
    const sender = async (): Promise<void> => {
      while (answered < 12) {
        expect((await load.send(ingest.url))?.status).toBe(200)
        if (++answered === killAfter) killing = killOne()
      }
    }
    await Promise.all([sender(), sender()])
    await killing
  }
  expect(load.acknowledged.size).toBeGreaterThan(rounds * 12 * 20)
  await load.check(query.url)
  await checkCounters(installation.bridge, load.project_id)
  await load.check(query.url)
})
