// tier: deep kafka
// An installation moves from one machine to Kafka and a ClickHouse server, and back, with the same answers.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { callhouse } from '../fixtures/callhouse.ts'
import { type ChildServer, startChildServer } from '../fixtures/child-server.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { type Addresses, answersOf, sameAddress, writeWorld } from '../fixtures/whole-world.ts'

const projects = ['move/there', 'move/back']

let folder: string
let installation: Installation
let children: ChildServer[]
let many: Addresses

const all = (addresses: Addresses) => Promise.all(projects.map((project) => answersOf(addresses, project)))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callhouse-move-'))
  const shared = join(folder, 'shared')
  installation = await createInstallation(await kafkaBrokers(), { CALLHOUSE_DATA_DIR: shared })
  children = [await installation.start('ingest'), await installation.start('worker'), await installation.start('query')]
  const [ingest, , query] = children as [ChildServer, ChildServer, ChildServer]
  many = { write: ingest.url, read: query.url }
})
afterAll(async () => {
  await installation?.remove()
  await rm(folder, { recursive: true, force: true })
})

it('an installation moves from one machine to many and back, with the same answers', async () => {
  const first = join(folder, 'first')
  const one = await startChildServer(first)
  await writeWorld(sameAddress(one.url), projects[0] as string, 12)
  await writeWorld(sameAddress(one.url), projects[1] as string, 4)
  const before = await all(sameAddress(one.url))
  await one.stop()

  // no server runs on the folder
  expect(await callhouse(['export', join(folder, 'there')], { CALLHOUSE_DATA_DIR: first })).toMatch(/done, \d+ rows/)
  await callhouse(['import', join(folder, 'there')], installation.env)
  expect(await all(many)).toEqual(before)

  await callhouse(['export', join(folder, 'back')], installation.env)
  expect(await callhouse(['projects', 'list', 'move/'], installation.env)).toMatch(/^move\/back .*\nmove\/there .*\n$/)
  const second = join(folder, 'second')
  const again = await startChildServer(second)
  await callhouse(['import', join(folder, 'back')], { CALLHOUSE_DATA_DIR: second })
  expect(await all(sameAddress(again.url))).toEqual(before)
  await again.stop()
}, 240_000)
