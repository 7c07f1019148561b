// Applies clickhouse/migrations: file by file, statement by statement, each one repeatable and recorded when it is done.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { splitStatements } from './sql-text.ts'
import { type Query, StoreError } from './store.ts'

type Recorded = { file: string; statement: number; checksum: string }

export type MigrationTarget = {
  command(query: Query): Promise<void>
  rows<T>(query: Query): Promise<T[]>
}

const table = `CREATE TABLE IF NOT EXISTS callhouse.migrations
(
    file String,
    statement UInt32,
    checksum String,
    applied_at DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree(applied_at)
ORDER BY (file, statement)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480`

const checksumOf = (statement: string): string =>
  createHash('sha256').update(statement.replace(/\s+/g, ' ')).digest('hex').slice(0, 32)

/** A migration is known by its name: its number says the order, and may change. */
const nameOf = (file: string): string => file.replace(/^\d+_/, '')

/**
 * Runs the statements that are not recorded. A crash between a statement and its record runs it again, so each is
 * additive and says IF NOT EXISTS.
 * @returns the files of which a statement was run
 * @throws StoreError before any of them when a recorded migration is not among the files, so that a newer build was here;
 * when a recorded statement reads differently now or is gone
 */
export async function applyMigrations(target: MigrationTarget, dir: string): Promise<{ applied: string[] }> {
  const files = (await readdir(dir)).filter((file) => file.endsWith('.sql')).sort()
  await target.command({ name: 'migrate.table', sql: table, params: {} })
  const recorded = await target.rows<Recorded>({
    name: 'migrate.recorded',
    sql: 'SELECT file, statement, checksum FROM callhouse.migrations FINAL',
    params: {},
  })
  const names = new Set(files.map(nameOf))
  const unknown = recorded.map(({ file }) => file).filter((file) => !names.has(nameOf(file)))
  if (unknown.length > 0) throw newer(unknown.sort().at(-1) as string)
  const checksums = new Map(recorded.map(({ file, statement, checksum }) => [`${nameOf(file)}:${statement}`, checksum]))
  const applied: string[] = []
  for (const file of files) {
    const statements = splitStatements(await readFile(join(dir, file), 'utf8'))
    const name = nameOf(file)
    const known = new Set(recorded.flatMap((row) => (nameOf(row.file) === name ? [row.statement] : []))).size
    if (known > statements.length) throw changed(file, statements.length)
    for (const [i, sql] of statements.entries()) {
      const checksum = checksumOf(sql)
      const before = checksums.get(`${name}:${i}`)
      if (before === checksum) continue
      if (before !== undefined) throw changed(file, i)
      await target.command({ name: `migrate.${file}`, sql, params: {} })
      await target.command({
        name: 'migrate.record',
        sql: 'INSERT INTO callhouse.migrations (file, statement, checksum) SELECT {file:String}, {i:UInt32}, {checksum:String}',
        params: { file, i, checksum },
      })
      if (applied.at(-1) !== file) applied.push(file)
    }
  }
  return { applied }
}

const newer = (file: string): StoreError =>
  new StoreError(
    'query',
    0,
    `the tables were migrated by a newer version of callhouse (${file} is not part of this one): start that version or a later one, or restore a backup`,
  )

const changed = (file: string, statement: number): StoreError =>
  new StoreError(
    'query',
    0,
    `migration ${file} was applied and has changed since (statement ${statement + 1}): add a new file instead`,
  )
