// tier: deep kafka
// `callhouse backup` and `restore` with Kafka and a ClickHouse server, while two workers apply what is written.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Config, loadConfig } from '../../services/app/config.ts'
import { backupOnServer, restoreOnServer } from '../../services/cli/backup-on-server.ts'
import {
  readServerManifest,
  type ServerManifest,
  writeServerManifest,
} from '../../services/operations/backup/server-manifest.ts'
import { callhouse } from '../fixtures/callhouse.ts'
import { type ChildServer, post, postLines } from '../fixtures/child-server.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers, removeRecords } from '../fixtures/kafka.ts'
import { type S3Server, startS3Server } from '../fixtures/s3-server.ts'
import { answersOf, sameAddress, writeWorld } from '../fixtures/whole-world.ts'
import { startWriting } from '../fixtures/writing.ts'

const project_id = 'back/up'
let dir: string
let s3: S3Server & { port: string }
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
/** The commands in this process; both resolve to what they told. */
const commands = () => {
  const run = async (
    settings: Record<string, string>,
    work: (config: Config, print: (line: string) => void) => Promise<void>,
  ): Promise<string[]> => {
    const loaded = loadConfig({ env: { ...env, ...settings }, argv: [] })
    if (!loaded.ok) throw new Error(loaded.lines.join())
    const lines: string[] = []
    await work(loaded.config, (line) => lines.push(line))
    return lines
  }
  return {
    backup: (to: string, name: string) =>
      run({}, (config, print) => backupOnServer(config, join(dir, name), to, print)),
    restore: (name: string, settings: Record<string, string> = {}, from = '') =>
      run(settings, (config, print) => restoreOnServer(config, join(dir, name), from, print)),
  }
}

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
  const found = await startS3Server()
  s3 = { ...found, port: new URL(new URL(found.url).searchParams.get('endpoint') ?? '').port }
  installation = await createInstallation(await kafkaBrokers())
  env = { ...installation.env, CALLHOUSE_DATA_DIR: join(dir, 'data') }
  await begin()
  await writeWorld(sameAddress(first()), 'back/world', 10)
})
afterAll(async () => {
  await installation?.remove()
  await s3?.stop()
  await rm(dir, { recursive: true, force: true })
})

it('a restore goes back to a backup that was made under writes, and on from there', { timeout: 300_000 }, async () => {
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

  const manifest = await readServerManifest(join(dir, 'one'))
  expect(await databases()).not.toContain('callhouse_backup')
  expect(Object.keys(manifest.tables)).toEqual(expect.arrayContaining(['calls', 'payloads', 'rollups', 'dead_letters']))
  expect(manifest.topics).toContainEqual(
    expect.objectContaining({
      topic: 'calls',
      partitions: 3,
      settings: expect.objectContaining({ 'retention.ms': '604800000' }),
    }),
  )
  const { restore } = commands()
  await expect(restore('one')).rejects.toThrow(/the database callhouse is not empty \(\d+ tables\)/)
  await expect(
    restore('one', { CALLHOUSE_CLICKHOUSE_DATABASE: 'other', CALLHOUSE_KAFKA_SESSION_TIMEOUT_MS: '1000' }),
  ).rejects.toThrow('there are workers in the group, 2: end them first')
  await end()
  await sql('DROP DATABASE callhouse SYNC')
  expect(await callhouse(['restore', join(dir, 'one')], env)).toMatch(/done, [1-9]\d* rows of \d+ tables in callhouse/)
  // Without a worker the tables are those of the backup: older than what Kafka holds.
  const stored = Number(await sql('SELECT uniqExact(id) FROM callhouse.calls FORMAT TSV'))
  expect(stored).toBeGreaterThan(100)
  expect(stored).toBeLessThan(before.calls.length)
  await begin()
  expect(await answers()).toEqual(before)
})

it('a backup or restore that cannot be done is refused with a reason', async () => {
  const { backup, restore: restoreFrom } = commands()
  const to = `S3('http://127.0.0.1:${s3.port}/files/two', 'S3RVER', 'S3RVER')`
  const restore = (name: string, settings: Record<string, string>) => restoreFrom(name, settings, to)
  for (const [destination, reason] of [
    ["Disk('nothing', 'x')", /the ClickHouse server refuses Disk\('nothing', 'x'\): Disk ''nothing'' is not allowed/],
    ["Disk('backups', 'one')", /refuses Disk\('backups', 'one'\): Backup .* already exists/],
    ["Disk('backups', 'x') SETTINGS a = 1", /is no destination/],
    ["Disk('backups', ')", /is no destination/],
    ['x', /is no destination/],
  ] as const)
    await expect(backup(destination, 'refused')).rejects.toThrow(reason)
  await expect(callhouse(['backup', join(dir, 'none')], env)).rejects.toThrow('--to <destination> names where')
  expect(await databases()).not.toContain('callhouse_backup')

  // The database of a process that was killed a moment ago, or that still works.
  await sql('CREATE DATABASE callhouse_backup')
  await sql('CREATE TABLE callhouse_backup.calls AS callhouse.calls')
  await expect(backup(to, 'refused')).rejects.toThrow('another backup is running, or was killed a moment ago')
  expect(await databases()).toContain('callhouse_backup')
  await sql('DROP TABLE callhouse_backup.calls SYNC')
  await sql('CREATE DATABASE callhouse_rebuild')
  await expect(backup(to, 'refused')).rejects.toThrow('a table is being rebuilt')
  await sql('DROP DATABASE callhouse_rebuild')
  // The rest of one that was killed long ago is in nobody's way.
  expect((await backup(to, 'two')).join()).not.toContain('S3RVER')
  expect(await databases()).not.toContain('callhouse_backup')
  await expect(backup("Disk('backups', 'three')", 'two')).rejects.toThrow('two is not empty')

  await end()
  const manifest = await readServerManifest(join(dir, 'two'))
  const changed = async (name: string, change: Partial<ServerManifest>) => {
    await mkdir(join(dir, name))
    await writeServerManifest(join(dir, name), { ...manifest, ...change })
  }
  const other = { CALLHOUSE_CLICKHOUSE_DATABASE: 'other' }
  await changed('newer', { callhouse: '999.0.0' })
  await expect(restore('newer', other)).rejects.toThrow('made by callhouse 999.0.0, this is')
  await changed('engine', { engine: '99.1.2.3' })
  await expect(restore('engine', other)).rejects.toThrow('made by ClickHouse 99.1.2.3, this server is 26.')
  await expect(restoreFrom('two', other, "Disk('backups', 'gone')")).rejects.toThrow(
    /refuses Disk\('backups', 'gone'\): Backup .* not found/,
  )
  // Keys are not in the manifest.
  expect(JSON.stringify(manifest)).not.toContain('S3RVER')
  await expect(restoreFrom('two', other)).rejects.toThrow(
    `not hold all of S3('http://127.0.0.1:${s3.port}/files/two', …): name it with --from`,
  )
  await expect(restore('two', { ...other, CALLHOUSE_KAFKA_TOPIC_PREFIX: 'none.' })).rejects.toThrow(
    /the log has no partition annotation_queues(\.\d)?: it is not that of the backup/,
  )
  const further = manifest.positions.map((one) => ({ ...one, end: one.end + 1_000_000 }))
  await changed('further', { positions: further })
  await expect(restore('further', other)).rejects.toThrow(/ends at \d+ and went to 1\d{6} when the backup was made/)
  expect(await sql("SELECT name FROM system.tables WHERE database = 'other' FORMAT TSV")).toBe('')

  await changed('fewer', { tables: { ...manifest.tables, calls: 1 } })
  await expect(restore('fewer', other)).rejects.toThrow(/calls has [1-9]\d* rows after the restore and had 1: DROP/)
  await expect(installation.start('query', other)).rejects.toThrow('the database other is not wholly restored')
  await expect(restore('two', other)).rejects.toThrow('a restore into other was broken off: DROP DATABASE other')
})

it('a restore into a database of another name goes on from what Kafka still holds', async () => {
  await sql('DROP DATABASE other SYNC')
  const other = { CALLHOUSE_CLICKHOUSE_DATABASE: 'other' }
  const { positions } = await readServerManifest(join(dir, 'one'))
  const lost = positions.find(({ topic, applied, end }) => topic === 'calls' && end > applied) ?? positions[0]
  expect(lost).toBeDefined()
  // One record behind what the tables of the backup hold.
  const { topic, partition, applied } = lost as (typeof positions)[number]
  await removeRecords(await kafkaBrokers(), `${env.CALLHOUSE_KAFKA_TOPIC_PREFIX}${topic}`, [
    { partition, offset: applied + 2 },
  ])
  const lines = await commands().restore('one', other)
  expect(lines).toContainEqual(
    expect.stringMatching(
      new RegExp(`: ${topic}.*: Kafka does not hold the records ${applied + 1} to ${applied + 1} any more`),
    ),
  )
  servers = [await installation.start('serve', other)]
  const found = await answers()
  expect(found.calls.length).toBeGreaterThan(100)
  expect(found.count.count).toBe(found.calls.length)
  await writeWorld(sameAddress(first()), 'back/later', 3)
  expect((await answersOf(sameAddress(first()), 'back/later')).count).toContain('count')
})
