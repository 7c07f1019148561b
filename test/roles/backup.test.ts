// `callhouse backup` and `restore` with Kafka and a ClickHouse server, while two workers apply what is written.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { callhouse } from '../fixtures/callhouse.ts'
import { type ChildServer, post, postLines } from '../fixtures/child-server.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { answersOf, sameAddress, writeWorld } from '../fixtures/whole-world.ts'
import { startWriting } from '../fixtures/writing.ts'

const project_id = 'back/up'
type Noted = { topic: string; partition: number; applied: number; end: number }
type Manifest = { positions: Noted[]; tables: Record<string, number>; topics: { topic: string }[] }

let dir: string
let installation: Installation
let servers: ChildServer[]
let env: Record<string, string>

async function sql(query: string): Promise<string> {
  const { url, user, password } = installation.bridge
  const client = createClient({ url, username: user, password })
  try {
    const { stream } = await client.exec({ query })
    return Buffer.concat(await stream.toArray()).toString()
  } finally {
    await client.close()
  }
}
const databases = async () => (await sql('SELECT name FROM system.databases FORMAT TSV')).split('\n')
const manifestOf = async (name: string) =>
  JSON.parse(await readFile(join(dir, name, 'backup.json'), 'utf8')) as Manifest

const first = (): string => (servers[0] as ChildServer).url
const answers = async () => {
  const sort_by = [
    { field: 'started_at', direction: 'asc' },
    { field: 'id', direction: 'asc' },
  ]
  const query = { $expr: { $gt: [{ $getField: 'inputs.n' }, { $literal: 150 }] } }
  return {
    world: await answersOf(sameAddress(first()), 'back/world'),
    calls: await postLines<{ id: string }>(first(), '/calls/stream_query', { project_id, sort_by }),
    some: await postLines<{ id: string }>(first(), '/calls/stream_query', { project_id, sort_by, query }),
    count: JSON.parse((await post(first(), '/calls/query_stats', { project_id })).text) as { count: number },
  }
}
const begin = async () => {
  servers = [await installation.start('serve'), await installation.start('worker')]
}
const end = () => Promise.all(servers.map((server) => server.stop()))

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callhouse-backup-'))
  installation = await createInstallation(await kafkaBrokers())
  env = { ...installation.env, CALLHOUSE_DATA_DIR: join(dir, 'data') }
  await begin()
  await writeWorld(sameAddress(first()), 'back/world', 10)
})
afterAll(async () => {
  await installation?.remove()
  await rm(dir, { recursive: true, force: true })
})

it('goes back to a backup that was made under writes, and on from there', { timeout: 300_000 }, async () => {
  const writer = startWriting(first(), project_id)
  await writer.more(100)
  const told = await callhouse(['backup', join(dir, 'one'), '--to', "Disk('backups', 'one')"], env)
  expect(told).toMatch(/done, [1-9]\d* rows of \d+ tables in Disk\('backups', 'one'\)/)
  expect(told).toContain('large files lie in the data folder')
  await writer.more(60)
  await writer.stop()
  const before = await answers()
  expect(before.calls).toHaveLength(writer.acknowledged.length)
  expect(before.some.length).toBeGreaterThan(0)

  const manifest = await manifestOf('one')
  expect(await databases()).not.toContain('callhouse_backup')
  expect(Object.keys(manifest.tables)).toEqual(expect.arrayContaining(['calls', 'payloads', 'rollups', 'dead_letters']))
  expect(manifest.topics).toContainEqual(
    expect.objectContaining({
      topic: 'calls',
      partitions: 3,
      settings: expect.objectContaining({ 'retention.ms': '604800000' }),
    }),
  )
  const restoring = () => callhouse(['restore', join(dir, 'one')], env)
  await expect(restoring()).rejects.toThrow(/the database callhouse is not empty \(\d+ tables\)/)
  await sql('DROP DATABASE callhouse SYNC')
  await expect(restoring()).rejects.toThrow('2 workers are in the group: end them first')
  await end()
  await sql('DROP DATABASE IF EXISTS callhouse SYNC')
  expect(await restoring()).toMatch(/done, [1-9]\d* rows of \d+ tables in callhouse/)
  // Without a worker the tables are those of the backup: older than what Kafka holds.
  const stored = Number(await sql('SELECT uniqExact(id) FROM callhouse.calls FORMAT TSV'))
  expect(stored).toBeGreaterThan(100)
  expect(stored).toBeLessThan(before.calls.length)
  await begin()
  expect(await answers()).toEqual(before)
})
