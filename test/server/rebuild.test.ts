// tier: deep slow
// again: kafka
// `callhouse rebuild` and `replay`: tables are made anew while writes go on, and every answer and row stays what it was.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rebuildCommandsElsewhere } from '../../services/app/control/rebuild.ts'
import { sharedServerOf } from '../../services/app/drivers.ts'
import { follow } from '../../services/cli/follow.ts'
import { withRebuilds } from '../../services/cli/rebuild-on-server.ts'
import { unavailable } from '../../services/core/errors.ts'
import { readSegments } from '../../services/core/log/segments/read.ts'
import type { EmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { askOverSocket } from '../../services/core/process/control-socket.ts'
import { runCommand } from '../../services/core/process/services.ts'
import { type Store, StoreError } from '../../services/core/store/store.ts'
import type { TopicName } from '../../services/events/registry.ts'
import { createRebuilds, type RebuildStatus } from '../../services/operations/rebuild/rebuild.ts'
import { createStateFile, createStateTable } from '../../services/operations/rebuild/state.ts'
import type { Worker } from '../../services/worker/run.ts'
import { removeRecords } from '../fixtures/kafka.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { runs } from '../fixtures/runs.ts'
import { usesKafka, usesServer } from '../fixtures/setup.ts'

type Row = Record<string, unknown>

const project_id = 're/build'
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const timeOf = (n: number) => new Date(Date.UTC(2026, n % 3, 5, 12, n % 60, n % 7)).toISOString()
let server: LiveServer
let written = 0

const ask = async (command: string, args: string[]): Promise<unknown> => {
  const reply = await askOverSocket(server.dataDir, { command, args })
  if (!reply?.ok) throw new Error(reply?.reason)
  return reply.result
}
const start = (n: number, more: Row = {}) => ({
  project_id,
  id: idOf(n),
  trace_id: idOf(n - (n % 5)),
  op_name: `op-${n % 4}`,
  started_at: timeOf(n),
  attributes: { a: n },
  inputs: { n },
  thread_id: `t${n % 3}`,
  turn_id: idOf(n),
  ...(n % 5 ? { parent_id: idOf(n - (n % 5)) } : {}),
  ...more,
})
const end = (n: number, output: unknown = { n }) => ({
  project_id,
  id: idOf(n),
  ended_at: timeOf(n),
  output,
  summary: { usage: { m: { prompt_tokens: n, completion_tokens: 1 } } },
})

/** Calls of three months: whole ones, parts that come apart and twice, new names, other threads, deletes. */
async function write(count: number): Promise<void> {
  const from = written
  written += count
  const numbers = Array.from({ length: count }, (_, n) => from + n)
  await server.send('/call/upsert_batch', {
    batch: numbers.flatMap((n) => [
      { mode: 'start', req: { start: start(n) } },
      ...(n % 4 ? [{ mode: 'end', req: { end: end(n) } }] : []),
    ]),
  })
  await server.send('/call/upsert_batch', {
    batch: numbers.flatMap((n) => [
      ...(n % 8 ? [] : [{ mode: 'end', req: { end: end(n, 'late') } }]),
      ...(n % 9 ? [] : [{ mode: 'start', req: { start: start(n, { thread_id: 'other' }) } }]),
    ]),
  })
  await server.send('/call/update', { project_id, call_id: idOf(from + 1), display_name: `name ${from}` })
  await server.send('/calls/delete', { project_id, call_ids: [idOf(from + 2)] })
  await server.send('/obj/create', { obj: { project_id, object_id: `thing${from % 2}`, val: { from } } })
  await server.send('/cost/create', {
    project_id,
    costs: { m: { prompt_token_cost: from + 1, completion_token_cost: 2 } },
  })
  await server.send('/v1/preview/sft-training-jobs', {
    model_id: idOf(from),
    training_data_url: `platform-artifact:///${project_id}/examples:v${from}`,
  })
}

const rows = (sql: string): Promise<Row[]> => server.now().store.rows<Row>({ name: 'test.rows', sql, params: {} })

/**
 * Every row of a table as a reader finds it. What is hidden, how often a bucket was counted and how many versions of a
 * payload had leaves do not count.
 */
async function contents(table: string): Promise<string[]> {
  const wheres: Record<string, string> = {
    turns: 'WHERE hidden = 0',
    call_counts: 'WHERE calls > 0',
    call_stats: 'WHERE calls > 0',
    trace_parts: 'WHERE calls > 0',
  }
  const leaves = table === 'payload_leaves'
  const columns = leaves
    ? 'DISTINCT project_id, path, kind, part, leaf.1 AS time, leaf.2 AS number, leaf.3 AS text'
    : `* EXCEPT '^(revision|position)$'`
  const source = leaves
    ? 'ARRAY JOIN arrayZip(at, arrayResize(num, length(at)), arrayResize(str, length(at))) AS leaf'
    : 'FINAL'
  const found = await rows(`SELECT ${columns} FROM callhouse.${table} ${source} ${wheres[table] ?? ''}`)
  return found.map((row) => JSON.stringify(row)).sort()
}

async function answers(): Promise<unknown> {
  const of = { project_id }
  const sort_by = [{ field: 'started_at', direction: 'asc' }]
  return {
    calls: await server.list<Row>('/calls/stream_query', { ...of, sort_by }),
    children: await server.list<Row>('/calls/stream_query', { ...of, filter: { parent_ids: [idOf(5)] } }),
    trace: await server.list<Row>('/calls/stream_query', { ...of, filter: { trace_ids: [idOf(10)] } }),
    one: await server.send('/call/read', { ...of, id: idOf(1) }),
    count: await server.send('/calls/query_stats', of),
    threads: await server.list<Row>('/threads/stream_query', of),
    objects: await server.send('/objs/query', of),
    costs: await server.send('/cost/query', of),
  }
}

/** On a server the database has a name of its own. */
const database = usesServer ? 'currentDatabase()' : `'callhouse'`
const identity = async (table: string) =>
  (await rows(`SELECT toString(uuid) AS uuid FROM system.tables WHERE database = ${database} AND name = '${table}'`))[0]
    ?.uuid
const leftovers = () =>
  rows(`SELECT name FROM system.tables WHERE database = concat(${database}, '_rebuild')
    OR (database = ${database} AND (name LIKE 'rebuild%' OR name LIKE '%mirror'))`)

/** In the server, or beside it where any process may do the work. */
const where = <T>(work: (one: typeof ask) => Promise<T>): Promise<T> =>
  usesKafka ? withRebuilds(server.config, work) : work(ask)
/** Runs a command to its end; returns what it told. */
async function run(name: 'rebuild.start' | 'rebuild.replay', args: string[]): Promise<string[]> {
  const lines: string[] = []
  await where((one) => follow(one, name, args, (line) => lines.push(line)))
  return lines
}
const rebuild = (table: string): Promise<string[]> => run('rebuild.start', [table, '1000000'])
const refreshed = () => server.now().worker?.rollups.refresh()

const command = (sql: string): Promise<void> => server.now().store.command({ name: 'test.command', sql, params: {} })

/** Some tables of each kind; all of them in the deep tier, on one machine. */
const sources: [string, string[]][] = (
  [
    ['the log', ['calls', 'object_events', 'payloads', 'call_patches', 'objects', 'costs', 'training_jobs'], 2],
    ['the calls', ['call_keys', 'turns', 'calls_deleted'], 2],
    ['marks', ['call_counts', 'payload_leaves', 'call_stats'], 2],
  ] as const
).map(([from, tables, few]) => [from, tables.slice(0, usesKafka ? few : runs(few + 1, tables.length))])

beforeAll(async () => {
  server = await startLiveServer()
  await write(40)
  await answers()
  await refreshed()
  // Leaves change no answer, and deriving them rests for seconds while batches come.
  await server.now().worker?.fieldIndexRollups.refresh()
})
afterAll(() => server.remove())

it.each(sources)('made anew from %s when the old ones are lost', async (_from, tables) => {
  const before = { answers: await answers(), rows: await Promise.all(tables.map(contents)) }
  for (const [i, table] of tables.entries()) {
    expect(before.rows[i]?.length).toBeGreaterThan(0)
    const old = await identity(table)
    await command(`TRUNCATE TABLE callhouse.${table}`)
    expect((await rebuild(table)).at(-1)).toContain(`rebuild ${table}: done, 100 %`)
    expect(await identity(table)).not.toBe(old)
  }
  expect(await Promise.all(tables.map(contents))).toEqual(before.rows)
  expect(await answers()).toEqual(before.answers)
  expect(await leftovers()).toEqual([])
})

it.each(usesKafka ? ['calls'] : ['calls', 'call_keys', 'call_counts'])('%s, while writes go on', async (table) => {
  let isDone = false
  const writing = (async () => {
    do await write(10)
    while (!isDone)
  })()
  await rebuild(table).finally(() => {
    isDone = true
  })
  await writing
  const now = await answers()
  await refreshed()
  expect(await answers()).toEqual(now)
  const rowsNow = await contents(table)
  // Nothing goes on now: made once more, it is the same.
  await rebuild(table)
  expect(await contents(table)).toEqual(rowsNow)
  expect(await answers()).toEqual(now)
})

it('a replay of kept records changes nothing', async () => {
  const before = { answers: await answers(), calls: await contents('calls'), payloads: await contents('payloads') }
  const lines = await run('rebuild.replay', ['1', '1000000'])
  expect(lines.join()).toMatch(/calls: applied up to \d+/)
  expect(lines.at(-1)).toMatch(/replay: done, 100 %, [1-9]\d* rows/)
  await run('rebuild.replay', ['calls=3,objects=1', '1000000'])
  await refreshed()
  expect(await answers()).toEqual(before.answers)
  expect([await contents('calls'), await contents('payloads')]).toEqual([before.calls, before.payloads])
})

/** Removes the oldest records of the calls, but not all: files of an embedded log, records of the topic. */
async function forget(): Promise<void> {
  if (usesKafka) {
    const ends = await server.now().log.end('calls')
    expect(Math.min(...ends.map(({ offset }) => offset))).toBeGreaterThan(1)
    await removeRecords(server.config.kafkaBrokers, `${server.config.kafkaTopicPrefix}calls`, ends)
    return
  }
  // Else the log may merge the segments of before the restart while one of them is removed here.
  await (server.now().log as EmbeddedLog).tidy()
  const log = join(server.dataDir, 'log', 'calls')
  const segments = readdirSync(log).filter((name) => /\.(jsonl|zst)$/.test(name))
  expect(segments.length).toBeGreaterThan(1)
  rmSync(join(log, segments.sort()[0] as string))
}

it('a rebuild takes over rows that the log no longer holds, and reports it', async () => {
  await server.restart()
  await write(10)
  const before = { answers: await answers(), calls: await contents('calls'), payloads: await contents('payloads') }
  await forget()
  for (const table of ['calls', 'payloads'])
    expect((await rebuild(table)).join()).toMatch(
      /the log holds nothing from before 2\d{3}-.*: older rows are taken over/,
    )
  expect(await answers()).toEqual(before.answers)
  expect([await contents('calls'), await contents('payloads')]).toEqual([before.calls, before.payloads])
})

it('a rebuild refuses tables and options that it cannot do', async () => {
  await where(async (one) => {
    const refused = (command: string, ...args: string[]) => expect(one(command, args)).rejects
    await refused('rebuild.start', 'nothing').toThrow(
      'There is no table "nothing" that can be rebuilt; one of annotation_',
    )
    await refused('rebuild.start', 'call_marks').toThrow('There is no table')
    await refused('rebuild.start', 'calls; DROP TABLE callhouse.calls').toThrow('There is no table')
    await refused('rebuild.start', 'calls', '-1').toThrow('Invalid rows per second: "-1"')
    await refused('rebuild.abandon').toThrow('no rebuild is unfinished')
    await refused('rebuild.replay', 'calls').toThrow('Invalid')
    await refused('rebuild.replay', 'calls.2=1').toThrow('no partition 2')
    expect(await one('rebuild.list', [])).toEqual({
      tables: expect.arrayContaining(['turns', 'objects']),
      unfinished: null,
    })
  })
  const elsewhere = usesKafka
    ? ask('rebuild.start', ['calls'])
    : runCommand(rebuildCommandsElsewhere, { command: 'rebuild.start', args: ['calls'] })
  await expect(elsewhere).rejects.toThrow('in the process of the command')
})

type Attempt = { phase: string; reason?: string; isResumed: boolean }

/** A rebuild of a process that ends with it, through a store that may be broken. */
async function attempt(table: string, change: (store: Store) => Store): Promise<Attempt> {
  if (usesKafka) {
    const lines: string[] = []
    const work = (one: typeof ask) => follow(one, 'rebuild.start', [table, '1000000'], (line) => lines.push(line))
    const reason = await withRebuilds(server.config, work, change).then(
      () => undefined,
      (error: Error) => error.message,
    )
    const isResumed = lines.some((line) => line.includes('goes on from'))
    if (reason === undefined) return { phase: 'done', isResumed }
    return { phase: 'failed', reason: reason.replace(/.*: failed: /, ''), isResumed }
  }
  const { store, log, worker } = server.now()
  async function* records(topic: TopicName, _partition: number, fromOffset: number, toOffset: number) {
    yield* readSegments({ dir: join(server.dataDir, 'log'), topic, fromOffset, toOffset })
  }
  const ended = Promise.withResolvers<RebuildStatus>()
  const through = change(store)
  const shared = sharedServerOf(server.config)
  const rebuilds = createRebuilds({
    store: through,
    log,
    worker: worker as Worker,
    records,
    onEnd: ended.resolve,
    ...(shared ? { server: shared } : {}),
    state: shared ? createStateTable(through, shared) : createStateFile(join(server.dataDir, 'broken-off.json')),
  })
  await rebuilds.rebuild(table, 1_000_000)
  return ended.promise
}

it.each([
  ['after the exchange', 'rebuild.drop', 'turns'],
  ['in the middle of the exchange', 'rebuild.exchange', 'call_counts'],
])('a rebuild that broke off %s goes on', async (_when, statement, table) => {
  await answers()
  await refreshed()
  const before = { answers: await answers(), rows: await contents(table) }
  const old = await identity(table)
  let hasExchanged = false
  const breaking = (store: Store): Store => ({
    ...store,
    async command(query, options) {
      if (query.name === 'rebuild.exchange') hasExchanged = true
      if (!hasExchanged || query.name !== statement) return store.command(query, options)
      // The first of several tables.
      if (statement === 'rebuild.exchange')
        await store.command({ ...query, sql: query.sql.split(',')[0] ?? '' }, options)
      throw new Error('broken off')
    },
  })
  expect(await attempt(table, breaking)).toMatchObject({ phase: 'failed', reason: 'broken off' })
  expect(await identity(table)).not.toBe(old)
  await write(5)
  await answers()
  await refreshed()
  const now = { answers: await answers(), rows: await contents(table) }
  expect(now.rows.length).toBeGreaterThanOrEqual(before.rows.length)
  expect(await attempt(table, (store) => store)).toMatchObject({ phase: 'done', isResumed: true })
  expect({ answers: await answers(), rows: await contents(table) }).toEqual(now)
  expect(await leftovers()).toEqual([])
})

it('a rebuild waits for what is unavailable, and goes on', async () => {
  const before = await contents('turns')
  const outages = [unavailable('the positions cannot be read'), new StoreError('outage', 0, 'the server is away')]
  const away = (store: Store): Store => ({
    ...store,
    async command(query, options) {
      const outage = query.name === 'rebuild.exchange' ? outages.pop() : undefined
      if (outage !== undefined) throw outage
      return store.command(query, options)
    },
  })
  expect(await attempt('turns', away)).toMatchObject({ phase: 'done', isResumed: false })
  expect(outages).toEqual([])
  expect(await contents('turns')).toEqual(before)
})
