// `npm run baseline`: writes clickhouse/baseline.sql, the tables and views that all migrations together make, so that a
// new installation makes each of them once.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEmbeddedStore } from '../services/core/store/chdb/chdb-store.ts'

const shipped = fileURLToPath(new URL('../clickhouse/', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'callhouse-baseline-'))
const store = await createEmbeddedStore({
  dir,
  memoryCapBytes: 2 ** 30,
  queryTimeoutMs: 60_000,
  queryMemoryBytes: 2 ** 29,
  migrationsDir: join(shipped, 'migrations'),
})
await store.migrate()
const made = await store.rows<{ sql: string }>({
  name: 'baseline',
  sql: `SELECT formatQuery(create_table_query) AS sql FROM system.tables
    WHERE database = 'callhouse' AND name != 'migrations' ORDER BY engine = 'MaterializedView', name`,
  params: {},
})
await store.close()
rmSync(dir, { recursive: true })

/** Columns of a view are those of its SELECT. */
const statementOf = (sql: string): string =>
  sql
    .replaceAll('`', '')
    .replace(/^(CREATE (?:TABLE|MATERIALIZED VIEW))/, '$1 IF NOT EXISTS')
    .replace(/^(CREATE MATERIALIZED VIEW.*)\n\([\s\S]*?\n\)\nAS /, '$1\nAS ')

const last = readdirSync(join(shipped, 'migrations'))
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .at(-1)
const head = `-- Written by \`npm run baseline\`. Stands for the migrations up to ${last}\n`
writeFileSync(join(shipped, 'baseline.sql'), [head, ...made.map(({ sql }) => `${statementOf(sql)};\n`)].join('\n'))
process.exit(0)
