// Applies clickhouse/migrations: file by file, statement by statement, each one repeatable and recorded when it is done.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { splitStatements } from './sql-text.ts'
import { type Query, StoreError } from './store.ts'

type Recorded = { file: string; statement: number; checksum: string; ageSeconds: number }

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

/** First line of a file whose statements wait until older processes have had a day to end. */
const waitsFor = /^-- A day after (\w+\.sql)/
const daySeconds = 86_400

const hourUs = 3_600_000_000
/** Text in place of the checksum while such a statement is not through: the time from which on it may run. */
const untilText = 'until '

/** A migration is known by its name: its number says the order, and may change. */
const nameOf = (file: string): string => file.replace(/^\d+_/, '')

/**
 * Runs the statements that are not recorded. A crash between a statement and its record runs it again, so each is
 * repeatable and says IF EXISTS or IF NOT EXISTS. One with the parameters `from` and `before` goes through the stored
 * calls, oldest first, and goes on where it was when it is cut off.
 * @param windowRows rows of calls that one statement goes through; an hour is never split
 * @param isAlone no other process uses the tables: what waits for older ones to end is run at once
 * @returns the files of which a statement was run
 * @throws StoreError before any of them when a recorded migration is not among the files, so that a newer build was here;
 * when a recorded statement reads differently now or is gone
 */
export async function applyMigrations(
  target: MigrationTarget,
  dir: string,
  isAlone: boolean,
  windowRows = 1_000_000,
): Promise<{ applied: string[] }> {
  const files = (await readdir(dir)).filter((file) => file.endsWith('.sql')).sort()
  await target.command({ name: 'migrate.table', sql: table, params: {} })
  const recorded = await target.rows<Recorded>({
    name: 'migrate.recorded',
    sql: `SELECT file, statement, checksum, toFloat64(dateDiff('second', applied_at, now('UTC'))) AS ageSeconds
      FROM callhouse.migrations FINAL`,
    params: {},
  })
  const names = new Set(files.map(nameOf))
  const unknown = recorded.map(({ file }) => file).filter((file) => !names.has(nameOf(file)))
  if (unknown.length > 0) throw newer(unknown.sort().at(-1) as string)
  const checksums = new Map(recorded.map(({ file, statement, checksum }) => [`${nameOf(file)}:${statement}`, checksum]))
  /** Whether older processes may still read what the statements of a file take away. */
  const isEarly = (text: string): boolean => {
    const first = waitsFor.exec(text)?.[1]
    if (first === undefined || isAlone) return false
    const ages = recorded.filter(({ file }) => nameOf(file) === first).map(({ ageSeconds }) => Number(ageSeconds))
    return Math.min(...ages, ages.length === 0 ? 0 : daySeconds) < daySeconds
  }
  const record = (file: string, i: number, checksum: string) =>
    target.command({
      name: 'migrate.record',
      sql: 'INSERT INTO callhouse.migrations (file, statement, checksum) SELECT {file:String}, {i:UInt32}, {checksum:String}',
      params: { file, i, checksum },
    })
  const run = async (file: string, i: number, sql: string, fromUs: number): Promise<void> => {
    const name = `migrate.${file}`
    if (!sql.includes('{from:Int64}')) return target.command({ name, sql, params: {} })
    for (const { from, before } of await windowsOf(target, fromUs, windowRows)) {
      await target.command({ name, sql, params: { from, before } })
      await record(file, i, `${untilText}${before}`)
    }
  }
  const applied: string[] = []
  for (const file of files) {
    const text = await readFile(join(dir, file), 'utf8')
    if (isEarly(text)) continue
    const statements = splitStatements(text)
    const name = nameOf(file)
    const known = new Set(recorded.flatMap((row) => (nameOf(row.file) === name ? [row.statement] : []))).size
    if (known > statements.length) throw changed(file, statements.length)
    for (const [i, sql] of statements.entries()) {
      const checksum = checksumOf(sql)
      const before = checksums.get(`${name}:${i}`)
      if (before === checksum) continue
      const isUnderWay = before?.startsWith(untilText)
      if (before !== undefined && !isUnderWay) throw changed(file, i)
      await run(file, i, sql, isUnderWay ? Number(before?.slice(untilText.length)) : 0)
      await record(file, i, checksum)
      if (applied.at(-1) !== file) applied.push(file)
    }
  }
  return { applied }
}

/** Whole hours of the stored calls from a time on, so many together that a statement over them stays short. */
async function windowsOf(
  target: MigrationTarget,
  fromUs: number,
  most: number,
): Promise<{ from: number; before: number }[]> {
  const hours = await target.rows<{ us: number; n: number }>({
    name: 'migrate.hours',
    sql: `SELECT toFloat64(toUnixTimestamp(toStartOfHour(started_at))) * 1000000 AS us, toFloat64(count()) AS n
      FROM callhouse.calls WHERE started_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') GROUP BY us ORDER BY us`,
    params: { from: fromUs },
  })
  const windows: { from: number; before: number; rows: number }[] = []
  for (const { us, n } of hours) {
    const last = windows.at(-1)
    if (last && last.rows + Number(n) <= most) {
      last.rows += Number(n)
      last.before = Number(us) + hourUs
    } else windows.push({ from: Number(us), before: Number(us) + hourUs, rows: Number(n) })
  }
  return windows
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
