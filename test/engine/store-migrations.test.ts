// Migrations: safe to kill at any moment, repeatable, and never silently different from what was applied.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { applyMigrations } from '../../services/core/store/migrate.ts'
import { splitStatements } from '../../services/core/store/sql-text.ts'
import type { Query, Store } from '../../services/core/store/store.ts'

const shipped = new URL('../../clickhouse/migrations/', import.meta.url).pathname
const settings =
  'SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480'

let dir: string
let files: string
let store: Store

const open = () =>
  createEmbeddedStore({
    dir,
    memoryCapBytes: 2 ** 30,
    queryTimeoutMs: 20_000,
    queryMemoryBytes: 2 ** 28,
    migrationsDir: files,
  })
const tables = async () =>
  store.rows<{ name: string; create: string }>({
    name: 'tables',
    sql: "SELECT name, create_table_query AS create FROM system.tables WHERE database = 'callhouse' ORDER BY name",
    params: {},
  })

const drop = async () => {
  for (const { name } of await tables())
    await store.command({ name: 'drop', sql: 'DROP TABLE callhouse.{name:Identifier} SYNC', params: { name } })
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'callhouse-migrations-'))
  files = join(dir, 'migrations')
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const write = (migrations: Record<string, string>) => {
  mkdirSync(files, { recursive: true })
  for (const [name, sql] of Object.entries(migrations)) writeFileSync(join(files, name), sql)
}
const shippedFiles = () =>
  Object.fromEntries(
    readdirSync(shipped)
      .filter((name) => name.endsWith('.sql'))
      .map((name) => [name, readFileSync(join(shipped, name), 'utf8')]),
  )

describe('migrations', () => {
  test('every shipped statement can be repeated, as it is after a crash between the statement and its record', async () => {
    write(shippedFiles())
    store = await open()
    await store.migrate()
    const whole = await tables()
    expect(whole.length).toBeGreaterThan(15)
    await drop()
    const twice = async (query: Query) => {
      await store.command(query)
      await store.command(query)
    }
    await applyMigrations({ rows: store.rows, command: twice }, { dir: files, isAlone: true })
    expect(await tables()).toEqual(whole)
    expect(await store.migrate()).toEqual({ applied: [] })
  })

  test('a run that is cut off after any command is completed by the next one', async () => {
    write({
      '0001_a.sql': `CREATE TABLE IF NOT EXISTS callhouse.a (a String) ENGINE = MergeTree ORDER BY a ${settings};
        CREATE TABLE IF NOT EXISTS callhouse.a_in (a String) ENGINE = Null;
        CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.a_view TO callhouse.a AS SELECT a FROM callhouse.a_in;`,
      '0002_b.sql': 'ALTER TABLE callhouse.a ADD COLUMN IF NOT EXISTS b String;',
    })
    store = await open()
    await store.migrate()
    const whole = await tables()
    // The first command makes the list of what is applied; then each of the four statements is followed by its record.
    for (let commands = 0; commands < 9; commands++) {
      await drop()
      let left = commands
      const killed = applyMigrations(
        {
          rows: store.rows,
          async command(query: Query) {
            if (left-- === 0) throw new Error('killed')
            await store.command(query)
          },
        },
        { dir: files, isAlone: true },
      )
      await expect(killed).rejects.toThrow('killed')
      await store.migrate()
      expect(await tables()).toEqual(whole)
      expect(await store.migrate()).toEqual({ applied: [] })
    }
  })

  test('a new file and a new statement are applied, in the order of the names', async () => {
    write({
      '0002_b.sql': `CREATE TABLE IF NOT EXISTS callhouse.b (a String) ENGINE = MergeTree ORDER BY a ${settings};`,
    })
    store = await open()
    expect(await store.migrate()).toEqual({ applied: ['0002_b.sql'] })
    write({
      '0003_c.sql': 'ALTER TABLE callhouse.b ADD COLUMN IF NOT EXISTS c String; -- a comment; with a semicolon\n',
      '0004_d.sql': "ALTER TABLE callhouse.b MODIFY COMMENT 'it''s; a \\'comment\\''",
    })
    expect(await store.migrate()).toEqual({ applied: ['0003_c.sql', '0004_d.sql'] })
    const [table] = (await tables()).filter(({ name }) => name === 'b')
    expect(table?.create).toContain("COMMENT 'it\\'s; a \\'comment\\''")
    await store.close()
    store = await open()
    expect(await store.migrate()).toEqual({ applied: [] })
  })

  test('a migration that got another number is the same one: it is neither run again nor missed', async () => {
    const table = (name: string) =>
      `CREATE TABLE IF NOT EXISTS callhouse.${name} (a String) ENGINE = MergeTree ORDER BY a ${settings};`
    write({ '0001_a.sql': table('a'), '0001_b.sql': `${table('b')} ${table('c')}` })
    store = await open()
    await store.migrate()
    renameSync(join(files, '0001_b.sql'), join(files, '0002_b.sql'))
    expect(await store.migrate()).toEqual({ applied: [] })
    // Recorded under both numbers, as after a version that knew the old one only.
    const record = `INSERT INTO callhouse.migrations (file, statement, checksum)
      SELECT '0002_b.sql', statement, checksum FROM callhouse.migrations WHERE file = '0001_b.sql'`
    await store.command({ name: 'record', sql: record, params: {} })
    expect(await store.migrate()).toEqual({ applied: [] })
    write({ '0002_b.sql': `${table('b')} ${table('c')} ${table('d')}` })
    expect(await store.migrate()).toEqual({ applied: ['0002_b.sql'] })
    write({ '0002_b.sql': table('b') })
    await expect(store.migrate()).rejects.toThrow('migration 0002_b.sql was applied and has changed since')
  })

  test('a migration of a newer version stops an older version before it changes anything', async () => {
    const table = (name: string) =>
      `CREATE TABLE IF NOT EXISTS callhouse.${name} (a String) ENGINE = MergeTree ORDER BY a ${settings};`
    write({ '0001_a.sql': table('a'), '0003_c.sql': table('c') })
    store = await open()
    await store.migrate()
    rmSync(join(files, '0003_c.sql'))
    write({ '0002_b.sql': table('b') })
    const before = await tables()
    await expect(store.migrate()).rejects.toThrow(
      'the tables were migrated by a newer version of callhouse (0003_c.sql is not part of this one)',
    )
    expect(await tables()).toEqual(before)
  })

  test('an applied statement that reads differently now is an error', async () => {
    const sql = `CREATE TABLE IF NOT EXISTS callhouse.a (a String) ENGINE = MergeTree ORDER BY a ${settings};`
    write({ '0001_a.sql': sql })
    store = await open()
    await store.migrate()
    write({ '0001_a.sql': `-- other words\n${sql.replaceAll(' ', '\n  ')}\n` })
    expect(await store.migrate()).toEqual({ applied: [] })
    write({ '0001_a.sql': sql.replace('a String', 'a UInt8') })
    await expect(store.migrate()).rejects.toThrow(
      'migration 0001_a.sql was applied and has changed since (statement 1)',
    )
    write({ '0001_a.sql': '' })
    await expect(store.migrate()).rejects.toThrow('0001_a.sql')
  })

  test('a statement that fails stops the run and is tried again', async () => {
    write({ '0001_a.sql': 'CREATE TABLE IF NOT EXISTS callhouse.a (a Nonsense) ENGINE = Memory;' })
    store = await open()
    await expect(store.migrate()).rejects.toMatchObject({ kind: 'query' })
    write({ '0001_a.sql': 'CREATE TABLE IF NOT EXISTS callhouse.a (a String) ENGINE = Memory;' })
    expect(await store.migrate()).toEqual({ applied: ['0001_a.sql'] })
  })
})

test('statements are split at semicolons of the code only', async () => {
  store = { close: async () => {} } as Store
  expect(
    splitStatements(`-- a; b
      SELECT 'x;y', "a;b", \`c;d\`, 'it''s; \\'', $$ ; $$ /* ; */ ; ;
      SELECT {a:String}; SELECT 2 -- end`),
  ).toEqual(["SELECT 'x;y', \"a;b\", `c;d`, 'it''s; \\'', $$ ; $$", 'SELECT {a:String}', 'SELECT 2'])
  expect(() => splitStatements("SELECT 'x")).toThrow('unterminated')
  expect(() => splitStatements('SELECT /* x')).toThrow('unterminated')
})
