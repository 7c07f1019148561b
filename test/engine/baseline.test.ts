// A new installation takes the baseline in place of the migrations that it stands for, and comes to the same tables.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { applyMigrations } from '../../services/core/store/migrate.ts'
import { splitStatements } from '../../services/core/store/sql-text.ts'
import type { Query, Store } from '../../services/core/store/store.ts'

const shipped = fileURLToPath(new URL('../../clickhouse/', import.meta.url))
const options = { queryTimeoutMs: 20_000, queryMemoryBytes: 2 ** 28 }
/** Options of a store that has the migrations alone. */
const chain = { migrationsDir: join(shipped, 'migrations') }

/** Calls `then` with a new store, and removes it. */
async function withStore<T>(own: { migrationsDir?: string }, then: (store: Store) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-baseline-'))
  const store = await createEmbeddedStore({ dir, memoryCapBytes: 2 ** 30, ...options, ...own })
  try {
    return await then(store)
  } finally {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

const rows = <T>(store: Store, sql: string) => store.rows<T>({ name: 'test', sql, params: {} })

/** Definitions of tables and views as the engine says them, what has rows, and the records of migrations. */
async function contentsOf(store: Store) {
  const found = await rows<{ name: string; sql: string; filled: number }>(
    store,
    `SELECT name, create_table_query AS sql, total_rows > 0 AS filled FROM system.tables
      WHERE database = 'callhouse' ORDER BY name`,
  )
  return {
    definitions: Object.fromEntries(found.map(({ name, sql }) => [name, sql])),
    filled: found.filter(({ filled }) => filled).map(({ name }) => name),
    recorded: await rows(
      store,
      'SELECT file, statement, checksum FROM callhouse.migrations FINAL ORDER BY file, statement',
    ),
  }
}

type Run = { commands?: number | undefined; baseline?: string; names?: string[] }

/** Runs the migrations, and is killed after so many commands, whose names it adds to `names`. */
function migrateOf(store: Store, { commands = Number.POSITIVE_INFINITY, baseline, names = [] }: Run) {
  let left = commands
  const command = async (query: Query) => {
    if (left-- === 0) throw new Error('killed')
    names.push(query.name)
    await store.command(query)
  }
  return applyMigrations({ rows: store.rows, command }, { dir: chain.migrationsDir, baseline, isAlone: true })
}

it('makes the tables, views and records that all migrations make', async () => {
  const made = await withStore({}, async (store) => {
    expect((await store.migrate()).applied[0]).toBe('baseline.sql')
    expect(await store.migrate()).toEqual({ applied: [] })
    return contentsOf(store)
  })
  const migrated = await withStore(chain, async (store) => {
    await store.migrate()
    return contentsOf(store)
  })
  expect(Object.keys(made.definitions).length).toBeGreaterThan(60)
  expect(made.definitions).toEqual(migrated.definitions)
  expect(made.recorded).toEqual(migrated.recorded)
  expect(made.filled).toEqual(['migrations'])
})

it('is made once more when it was cut off, and never where migrations were applied', async () => {
  await withStore(chain, async (store) => {
    const baseline = join(shipped, 'baseline.sql')
    const all = splitStatements(readFileSync(baseline, 'utf8')).length
    const names: string[] = []
    const migrate = (commands?: number) => migrateOf(store, { commands, baseline, names })
    const made = () => names.filter((name) => name === 'migrate.baseline').length
    // The list of what is applied and the mark come first, the records of everything after all tables.
    for (const commands of [1, 2, 3, 60, 2 + all, 3 + all]) await expect(migrate(commands)).rejects.toThrow('killed')
    names.length = 0
    expect(await migrate()).toEqual({ applied: ['baseline.sql'] })
    expect(made()).toBe(all)
    names.length = 0
    expect(await migrate()).toEqual({ applied: [] })
    expect(made()).toBe(0)
    await store.command({
      name: 'test',
      sql: `ALTER TABLE callhouse.migrations DELETE WHERE file LIKE '%orphan_roots%' SETTINGS mutations_sync = 1`,
      params: {},
    })
    expect(await migrate()).toEqual({ applied: ['0047_orphan_roots.sql'] })
    expect(made()).toBe(0)
  })
}, 240_000)

it('the migrations go on where they were cut off before anything was recorded', async () => {
  await withStore(chain, async (store) => {
    const [first] = readdirSync(chain.migrationsDir).sort() as [string]
    // The list of what is applied, the first table, and then its record.
    await expect(migrateOf(store, { commands: 2 })).rejects.toThrow('killed')
    expect(await rows(store, 'SELECT file FROM callhouse.migrations')).toEqual([])
    const { applied } = await migrateOf(store, { baseline: join(shipped, 'baseline.sql') })
    expect(applied[0]).toBe(first)
  })
}, 120_000)
