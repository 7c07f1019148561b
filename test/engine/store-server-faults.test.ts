// tier: deep kafka
// The server driver when the server, the network or another worker misbehaves, over the bridge.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServerStore, type ServerStoreOptions } from '../../services/core/store/server/server-store.ts'
import type { Query, Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { scratchTables } from '../../services/tables/registry.ts'
import { type Bridge, startBridge } from '../fixtures/bridge.ts'
import { type FaultyProxy, startFaultyProxy } from '../fixtures/faulty-proxy.ts'
import { callLine, failure, linesOf } from './store-rows.ts'

let bridge: Bridge
let proxy: FaultyProxy
let store: Store
const opened: Store[] = []

const query = (sql: string): Query => ({ name: 'test', sql, params: {} })
const number = async (from: Store, sql: string) => Number((await from.rows<{ n: string }>(query(sql)))[0]?.n)
const bytesOf = (lines: string[]) => ({ bytes: [Buffer.from(linesOf(lines))] })
async function open(options: Partial<ServerStoreOptions> = {}): Promise<Store> {
  const one = await createServerStore({
    topics,
    scratch: scratchTables,
    url: bridge.url,
    user: bridge.user,
    password: bridge.password,
    compression: false,
    queryTimeoutMs: 20_000,
    queryMemoryBytes: 2 ** 28,
    startTimeoutMs: 0,
    ...options,
  })
  opened.push(one)
  return one
}
const tables = async (database: string) =>
  (
    await store.rows<{ name: string }>(
      query(`SELECT name FROM system.tables WHERE database = '${database}' ORDER BY name`),
    )
  ).map(({ name }) => name)

beforeAll(async () => {
  bridge = await startBridge()
  proxy = await startFaultyProxy(bridge.url)
  store = await open({ url: proxy.url, worker: 'first' })
  await store.migrate()
})
afterAll(async () => {
  for (const one of opened) await one.close()
  await proxy.close()
  await bridge.remove()
})

describe('the start', () => {
  test('ends at once when the password is wrong', async () => {
    expect(await failure(open({ password: 'wrong', startTimeoutMs: 60_000 }))).toMatchObject({ code: 516 })
  })
  test('ends when nothing answers in time, and says where', async () => {
    const error = await failure(open({ url: 'http://127.0.0.1:9' }))
    expect(error.kind).toBe('outage')
    expect(error.message).toContain('http://127.0.0.1:9')
  })
  test('waits for a server that comes', async () => {
    proxy.fail('EXISTS DATABASE waited_for', 'reset', 'bad gateway')
    const lines: string[] = []
    const logger = { info() {}, error() {}, warn: (_: object, message: string) => void lines.push(message) }
    await open({ url: proxy.url, database: 'waited_for', startTimeoutMs: 60_000, logger })
    expect(lines).toEqual(['waiting for ClickHouse', 'waiting for ClickHouse'])
  })
  test('refuses a database name that is not one', async () => {
    expect((await failure(open({ database: 'a; b' }))).kind).toBe('query')
  })
})

describe('a read', () => {
  const rows = 'SELECT number AS n FROM numbers(3)'
  const whole = [{ n: '0' }, { n: '1' }, { n: '2' }]

  test.each(['reset', 'half', 'bad gateway'] as const)('is asked again after: %s', async (fault) => {
    proxy.fail(rows, fault)
    expect(await store.rows(query(rows))).toEqual(whole)
  })
  test.each(['reset', 'half', 'bad gateway'] as const)('is an outage after too many: %s', async (fault) => {
    proxy.fail(rows, fault, fault, fault)
    expect((await failure(store.rows(query(rows)))).kind).toBe('outage')
    expect(await store.rows(query(rows))).toEqual(whole)
  })
  test.each(['marked error', 'bare error'] as const)('with status 200 that ends with a %s fails', async (fault) => {
    proxy.fail(rows, fault)
    expect(await failure(store.rows(query(rows)))).toMatchObject({ kind: 'query', code: 395 })
  })
  test('that is never answered ends in time', async () => {
    proxy.fail(rows, 'silent')
    expect((await failure(store.rows(query(rows), { timeoutMs: 50 }))).kind).toBe('timeout')
  })
  test('that is never answered ends when its reader leaves', async () => {
    proxy.fail(rows, 'silent')
    const leave = new AbortController()
    proxy.onArrival(rows, () => leave.abort())
    expect((await failure(store.rows(query(rows), { signal: leave.signal }))).kind).toBe('cancelled')
  })
  test('waits for a free connection no longer than its time', async () => {
    const narrow = await open({ url: proxy.url, interactiveConnections: 1 })
    proxy.fail('SELECT 7', 'silent')
    const first = failure(narrow.rows(query('SELECT 7'), { timeoutMs: 400 }))
    expect((await failure(narrow.rows(query('SELECT 8'), { timeoutMs: 1 }))).kind).toBe('timeout')
    expect((await first).kind).toBe('timeout')
    expect(await narrow.rows(query('SELECT 8 AS n'))).toEqual([{ n: 8 }])
  })
  test('of a database that is gone is a fault of the query', async () => {
    const lost = await open({ database: 'lost' })
    await lost.command(query('DROP DATABASE lost'))
    expect(await failure(lost.rows(query(rows)))).toMatchObject({ kind: 'query', code: 81 })
  })
})

describe('an insert', () => {
  const lines = (project: string) => Array.from({ length: 200 }, (_, i) => callLine({ project, id: `c${i}` }))
  const stored = (project: string) =>
    number(store, `SELECT count() AS n FROM callhouse.calls FINAL WHERE project_id = '${project}'`)

  test.each(['reset', 'half', 'bad gateway'] as const)('is an outage after: %s, and done again', async (fault) => {
    for (const step of ['INSERT INTO callhouse.calls_in_stage', 'INSERT INTO callhouse.calls_in (']) {
      proxy.fail(step, fault)
      const outcome = store.insert(topics.calls, bytesOf(lines(`${fault} ${step}`)))
      // The answer to a statement without rows may lose its second half unnoticed.
      if (fault !== 'half') expect((await failure(outcome)).kind).toBe('outage')
      else await outcome.catch(() => {})
      expect(await store.insert(topics.calls, bytesOf(lines(`${fault} ${step}`)))).toEqual({ rowsRead: 200 })
      expect(await stored(`${fault} ${step}`)).toBe(200)
    }
  })
  test('into a server that is killed meanwhile is an outage until it is back', async () => {
    let killed: Promise<void> | undefined
    proxy.onArrival('INSERT INTO callhouse.calls_in (', () => {
      killed ??= bridge.kill()
    })
    expect((await failure(store.insert(topics.calls, bytesOf(lines('killed'))))).kind).toBe('outage')
    await killed
    expect((await failure(store.rows(query('SELECT 1')))).kind).toBe('outage')
    expect((await store.health()).status).toBe('down')
    await bridge.start()
    expect(await store.insert(topics.calls, bytesOf(lines('killed')))).toEqual({ rowsRead: 200 })
    expect(await stored('killed')).toBe(200)
    expect((await store.health()).status).toBe('ok')
  })
})

test('a store that closes waits for what is in flight, and takes nothing more', async () => {
  const closing = await open()
  await closing.insert(topics.calls, bytesOf([callLine({ project: 'last', id: 'a' })]))
  const last = closing.insert(topics.calls, bytesOf([callLine({ project: 'last', id: 'b' })]))
  await closing.close()
  expect(await last).toEqual({ rowsRead: 1 })
  expect((await failure(closing.rows(query('SELECT 1')))).kind).toBe('outage')
  expect((await failure(closing.command(query('SELECT 1')))).kind).toBe('outage')
  expect((await closing.health()).status).toBe('down')
})

describe('several processes on one server', () => {
  test('may migrate at the same time', async () => {
    const stores = await Promise.all([0, 1].map(() => open({ database: 'crowded' })))
    await Promise.all(stores.map((one) => one.migrate()))
    expect(await stores[0]?.migrate()).toEqual({ applied: [] })
    const expected = (await tables('callhouse')).filter((name) => !name.includes('_w_'))
    expect(await tables('crowded')).toEqual(expected)
    expect(expected).toContain('calls')
    // Tables of one engine in one process must not be there: it would see the batches of all workers.
    expect(expected.filter((name) => /calls_batch|calls_touched|calls_folded|landed/.test(name))).toEqual([])
  })

  test('have scratch tables of their own, and the tables in common', async () => {
    const second = await open({ worker: 'second' })
    const batch = 'SELECT count() AS n FROM callhouse.calls_batch'
    await store.command(query('TRUNCATE TABLE callhouse.calls_batch'))
    await Promise.all([
      store.insert(topics.calls, bytesOf([callLine({ project: 'ours', id: 'a' })])),
      second.insert(topics.calls, bytesOf(['b', 'c'].map((id) => callLine({ project: 'ours', id })))),
    ])
    expect([await number(store, batch), await number(second, batch)]).toEqual([1, 2])
    expect(await number(store, "SELECT count() AS n FROM callhouse.calls WHERE project_id = 'ours'")).toBe(3)
    await second.close()
    expect((await tables('callhouse')).filter((name) => name.includes('_w_second'))).toEqual([])
    expect(await number(store, batch)).toBe(1)
  })

  test('remove what a dead one left, and one that was only asleep goes on', async () => {
    const asleep = await open({ worker: 'asleep' })
    const line = (id: string) => bytesOf([callLine({ project: 'asleep', id })])
    await asleep.insert(topics.calls, line('a'))
    const other = await open({ worker: 'other', workerGoneAfterMs: -1 })
    await other.insert(topics.calls, line('b'))
    expect((await tables('callhouse')).filter((name) => name.includes('_w_asleep'))).toEqual([])
    expect((await failure(asleep.insert(topics.calls, line('c')))).kind).toBe('outage')
    expect(await asleep.insert(topics.calls, line('c'))).toEqual({ rowsRead: 1 })
  })
})
