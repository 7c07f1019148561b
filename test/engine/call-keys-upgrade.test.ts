// An installation from before the table of keys: every stored call is found by its keys, whenever the upgrade is cut off.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { applyMigrations } from '../../services/core/store/migrate.ts'
import type { Query, Store } from '../../services/core/store/store.ts'
import { baseUs, type CallWorld, complete, createCallWorld, end, start } from '../fixtures/call-world.ts'

const shipped = new URL('../../clickhouse/migrations/', import.meta.url).pathname
const added = '0025_call_keys.sql'
const dir = mkdtempSync(join(tmpdir(), 'callhouse-upgrade-'))
const migrationsDir = join(dir, 'migrations')
const copies = [
  'calls_by_id',
  'calls_by_parent',
  'calls_by_trace',
  'calls_to_by_id',
  'calls_to_by_parent',
  'calls_to_by_trace',
]
let store: Store
let world: CallWorld

const rows = <T>(sql: string) => store.rows<T>({ name: 'test', sql, params: {} })
const run = (sql: string) => store.command({ name: 'test', sql, params: {} })
const bring = (from: string) => {
  for (const file of readdirSync(shipped)) if (file >= from) cpSync(join(shipped, file), join(migrationsDir, file))
}
/** Missing rows of the table of keys, and rows that it has beyond the stored calls. */
const difference = async () => {
  const wanted = `SELECT DISTINCT project_id, pair.1 AS kind, pair.2 AS key, started_at FROM callhouse.calls
    ARRAY JOIN [('id', id), ('trace_id', trace_id), ('parent_id', parent_id)] AS pair WHERE pair.2 != ''`
  const [row] = await rows<{
    n: number
    of: number
  }>(`SELECT toUInt32(count()) AS n, (SELECT toUInt32(count()) FROM (${wanted})) AS of
    FROM (SELECT * FROM (${wanted}) EXCEPT SELECT * FROM callhouse.call_keys
      UNION ALL SELECT * FROM callhouse.call_keys EXCEPT ${wanted})`)
  return row
}
const left = async () =>
  (
    await rows<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = 'callhouse' AND name LIKE 'calls%by\\_%' ORDER BY name",
    )
  ).map(({ name }) => name)

beforeAll(async () => {
  mkdirSync(migrationsDir)
  for (const file of readdirSync(shipped)) if (file < added) cpSync(join(shipped, file), join(migrationsDir, file))
  store = await createEmbeddedStore({
    dir,
    memoryCapBytes: 2 ** 30,
    queryTimeoutMs: 20_000,
    queryMemoryBytes: 2 ** 28,
    migrationsDir,
  })
  await store.migrate()
  // Old enough calls for several statements, and some of every kind.
  await run(`INSERT INTO callhouse.calls (project_id, started_at, id, trace_id, parent_id, op_name, ended_at, start_ver, end_ver, version)
    SELECT 'ent/proj', toDateTime64('2025-06-01 00:00:00', 6, 'UTC') + number % 4 * 3600 * 24 * 31 + number * 0.01 AS at,
      concat('old-', toString(number)), concat('t-', toString(intDiv(number, 8))), if(number % 8 = 0, '', concat('old-', toString(number - 1))),
      'o', at, 1, 1, 2 FROM numbers(12000)`)
})
afterAll(() => world?.remove())

it('calls stored before the upgrade are found after it, wherever it was cut off', async () => {
  expect(await left()).toEqual(copies)
  bring(added)
  // Each command is followed by its record; the fill is one for each of two ranges of time.
  for (const commands of [1, 3, 5, 6, 7]) {
    let left = commands
    const killed = applyMigrations(
      {
        rows: store.rows,
        async command(query: Query) {
          if (left-- === 0) throw new Error('killed')
          await store.command(query)
        },
      },
      { dir: migrationsDir, isAlone: true, windowRows: 9_000 },
    )
    await expect(killed).rejects.toThrow('killed')
  }
  const fills: string[] = []
  await applyMigrations(
    {
      rows: store.rows,
      async command(query: Query) {
        if (query.name === `migrate.${added}`) fills.push(query.sql.slice(0, 6))
        await store.command(query)
      },
    },
    { dir: migrationsDir, isAlone: true },
  )
  expect(fills).toEqual([])
  expect(await difference()).toMatchObject({ n: 0, of: expect.any(Number) })
  expect((await difference())?.of).toBeGreaterThan(20_000)
  expect(await left()).toEqual([])
  expect(await store.migrate()).toEqual({ applied: [] })
})

it('calls from before and after the upgrade are found by id, trace and parent', async () => {
  const remove = async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  }
  world = await createCallWorld({ made: { store, remove } })
  await world.apply([complete('a', { startedUs: baseUs })])
  await world.apply([end('b', { endedUs: baseUs + 10 })])
  await world.apply([start('b', { startedUs: baseUs + 5 })])
  const ids = async (filter: object) => (await world.list({ filter, columns: ['id'] })).map(({ id }) => id).sort()
  expect(await ids({ call_ids: ['old-8001', 'a', 'b', 'none'] })).toEqual(['a', 'b', 'old-8001'])
  expect(await ids({ trace_ids: ['t-1000'] })).toHaveLength(8)
  expect(await ids({ parent_ids: ['old-8001'] })).toEqual(['old-8002'])
  expect(await difference()).toMatchObject({ n: 0 })
})

it('the old copies stay for a day where processes of the previous version may read them', async () => {
  const known = await rows<{ file: string }>('SELECT DISTINCT file FROM callhouse.migrations FINAL')
  expect(known.length).toBeGreaterThan(20)
  await run("ALTER TABLE callhouse.migrations DELETE WHERE file LIKE '%without_copies%' SETTINGS mutations_sync = 1")
  const shared = () =>
    applyMigrations({ rows: store.rows, command: store.command }, { dir: migrationsDir, isAlone: false })
  expect(await shared()).toEqual({ applied: [] })
  await run('CREATE TABLE callhouse.aged AS callhouse.migrations')
  await run(
    'INSERT INTO callhouse.aged SELECT file, statement, checksum, applied_at - 90000 FROM callhouse.migrations FINAL',
  )
  await run('EXCHANGE TABLES callhouse.aged AND callhouse.migrations')
  expect(await shared()).toEqual({ applied: ['0026_calls_without_copies.sql'] })
})
