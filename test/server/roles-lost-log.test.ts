// tier: deep kafka
// A log that is not the one of the tables, where others can change either: two logs on one server, the step to Kafka,
// topics that were made anew, other topics, shorter ones, tables that are gone or went back.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { type Admin, Kafka, logLevel } from 'kafkajs'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Config, loadConfig } from '../../services/app/config.ts'
import { findingsText } from '../../services/app/doctor.ts'
import { examineMatch } from '../../services/app/doctor-kafka.ts'
import { openGroup, openStore } from '../../services/app/drivers.ts'
import { type Callhouse, startCallhouse } from '../../services/app/server.ts'
import { createLogger } from '../../services/core/process/logger.ts'
import { topics } from '../../services/events/registry.ts'
import { eventually } from '../fixtures/eventually.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { checkCalls, writeCalls } from '../fixtures/known-calls.ts'
import { createTestDatabase, type TestDatabase } from '../fixtures/setup.ts'

const old = 'lost/old'
const fresh = 'lost/new'
const count = 30

type Running = { url: string; lines: string[]; callhouse: Callhouse }

let brokers: string[]
let admin: Admin
let database: TestDatabase
let folder: string
let running: Running[] = []

beforeAll(async () => {
  brokers = await kafkaBrokers()
  admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
})
afterAll(() => admin?.disconnect())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callhouse-lost-'))
  database = await createTestDatabase()
})
afterEach(async () => {
  for (const one of [...running]) await stop(one)
  await database.remove()
  await rm(folder, { recursive: true, force: true })
})

function configOf(name: string, flags: string[]): Config {
  const { url, user, password, database: tables } = database
  const dataDir = join(folder, name)
  const loaded = loadConfig({
    env: {},
    argv: [
      '--port',
      '0',
      '--data-dir',
      dataDir,
      '--keys',
      'tester:test-key',
      '--freshness-ms',
      '60000',
      '--min-free-bytes',
      '0',
      '--clickhouse-url',
      url,
      '--clickhouse-user',
      user,
      '--clickhouse-password',
      password,
      '--clickhouse-database',
      tables,
      ...flags,
    ],
  })
  if (!loaded.ok) throw new Error(loaded.lines.join())
  return loaded.config
}

async function start(name: string, flags: string[] = []): Promise<Running> {
  const config = configOf(name, flags)
  const lines: string[] = []
  const output = createLogger({ level: 'warn', out: { write: (line) => void lines.push(line) } })
  const callhouse = await startCallhouse(config, output)
  const one = { url: callhouse.url, lines, callhouse }
  running.push(one)
  return one
}
async function stop(one: Running): Promise<void> {
  running = running.filter((other) => other !== one)
  await one.callhouse.shutdown.run('test')
}
/** Waits until a server has ended by itself, and returns the line that says why. */
async function ended(one: Running): Promise<string> {
  await eventually(() => expect(one.callhouse.shutdown.isShuttingDown()).toBe(true), { withinMs: 60_000 })
  await stop(one)
  process.exitCode = undefined
  return one.lines.find((line) => line.includes('"level":60')) ?? one.lines.join('')
}

async function doctor(flags: string[]): Promise<string> {
  const { log } = createLogger({ level: 'silent' })
  const config = configOf('doctor', flags)
  const store = await openStore(config, log, { statement() {} })
  const found = await examineMatch(store, () => openGroup(config, log))
  await store.close()
  return findingsText([found])
}

/** Settings of new topics; a short session, so that a worker has its partitions back at once. */
function newTopics(): { name: string; flags: string[] } {
  const name = `test-${randomBytes(6).toString('hex')}`
  const topicFlags = ['--kafka-topic-prefix', `${name}.`, '--kafka-group', name, '--kafka-partitions', '2']
  return {
    name,
    flags: [
      '--kafka-brokers',
      brokers.join(),
      ...topicFlags,
      '--worker-id',
      name,
      '--kafka-session-timeout-ms',
      '6000',
    ],
  }
}
const topicsOf = (name: string): string[] => Object.keys(topics).map((topic) => `${name}.${topic}`)

async function sql(...statements: string[]): Promise<void> {
  const { url, user: username, password, database: name } = database
  const client = createClient({ url, username, password, database: name })
  for (const query of statements) await client.command({ query })
  await client.close()
}

/** The earlier data, and a project that is new. */
async function checkBoth(url: string): Promise<void> {
  await checkCalls(url, old, count)
  await writeCalls(url, fresh, 0, count)
  await checkCalls(url, fresh, count)
}

async function filled(name: string, flags: string[] = []): Promise<Running> {
  const one = await start(name, flags)
  await writeCalls(one.url, old, 0, count)
  await checkCalls(one.url, old, count)
  return one
}

it('a second embedded log on one ClickHouse server is refused, and ends the first when the tables are given to the second', async () => {
  const first = await filled('first')
  await expect(start('second')).rejects.toThrow(/were filled from another log .*--adopt-log/)
  await writeCalls(first.url, fresh, 0, count)
  await checkCalls(first.url, fresh, count)
  await stop(first)
  await expect(start('second')).rejects.toThrow(/were filled from another log/)
  const again = await start('first')
  const second = await start('second', ['--adopt-log'])
  expect(await ended(again)).toMatch(/were given to another log/)
  await writeCalls(second.url, fresh, count, 2 * count)
  await checkCalls(second.url, fresh, 2 * count, [0, count])
  await checkCalls(second.url, old, count)
})

it('a process starts an installation that remembers no log without a question', async () => {
  await stop(await filled('first'))
  const older = ['DROP TABLE applied_positions', 'DROP TABLE missing_records']
  await sql(...older, "DELETE FROM migrations WHERE endsWith(file, '_applied_positions.sql')")
  for (const topic of Object.keys(topics)) await rm(join(folder, 'first/log', topic, 'id'))
  const one = await start('first')
  await checkBoth(one.url)
  await stop(one)
  await expect(start('second')).rejects.toThrow(/were filled from another log/)
})

it('a process ends when its tables are gone, and fills them from the log at the next start', async () => {
  const one = await filled('first')
  await sql(`DROP DATABASE ${database.database} SYNC`)
  expect(await ended(one)).toMatch(/the tables are gone/)
  const again = await start('first')
  await checkBoth(again.url)
})

it('an installation takes the step from the embedded log to Kafka when it is told to', async () => {
  await stop(await filled('first'))
  const { flags } = newTopics()
  await expect(start('kafka', flags)).rejects.toThrow(/were filled from another log/)
  const one = await start('kafka', [...flags, '--adopt-log'])
  await checkBoth(one.url)
  await stop(one)
  await checkCalls((await start('kafka', flags)).url, old, count)
})

it('a process ends when its topics were made anew, and starts on those or on other ones only when it is told to', async () => {
  const { name, flags } = newTopics()
  const one = await filled('kafka', flags)
  await admin.deleteTopics({ topics: topicsOf(name) })
  expect(await ended(one)).toMatch(/is gone from the log|were filled from another log/)
  await expect(start('kafka', flags)).rejects.toThrow(/were filled from another log/)
  expect(await doctor(flags)).toMatch(/FAIL +log +the tables of \w+ were filled from another log/)
  const other = newTopics()
  await expect(start('kafka', other.flags)).rejects.toThrow(/were filled from another log/)
  const again = await start('kafka', [...flags, '--adopt-log'])
  await checkBoth(again.url)
  expect(await doctor(flags)).toMatch(/ok +log +the one that the tables were filled from/)
})

it('a process refuses topics that are shorter than what was applied', async () => {
  const { name, flags } = newTopics()
  await stop(await filled('kafka', flags))
  await eventually(
    () => admin.setOffsets({ groupId: name, topic: `${name}.calls`, partitions: [{ partition: 1, offset: '1000' }] }),
    { everyMs: 500 },
  )
  await expect(start('kafka', flags)).rejects.toThrow(/calls\.1 ends at \d+, and .* up to 1000/)
  const one = await start('kafka', [...flags, '--adopt-log'])
  await checkBoth(one.url)
})

it('a worker fills tables from the topics that are gone, or that went back, and lets readers wait for it', async () => {
  const { flags } = newTopics()
  const one = await filled('kafka', flags)
  await sql(`DROP DATABASE ${database.database} SYNC`)
  expect(await ended(one)).toMatch(/the tables are gone/)
  const again = await start('kafka', flags)
  await checkBoth(again.url)
  await stop(again)
  const lost = ['calls', 'payloads', 'call_counts', 'call_counts_hourly', 'call_stats', 'rollups', 'call_marks']
  await sql(
    ...lost.map((table) => `TRUNCATE TABLE ${table}`),
    "CREATE TABLE kept ENGINE = Memory AS SELECT DISTINCT * EXCEPT position FROM applied_positions WHERE topic = 'calls'",
    "ALTER TABLE applied_positions DELETE WHERE topic = 'calls' SETTINGS mutations_sync = 1",
    'INSERT INTO applied_positions (* EXCEPT position) SELECT * FROM kept',
  )
  const third = await start('kafka', flags)
  await checkCalls(third.url, old, count)
  await checkCalls(third.url, fresh, count)
})
