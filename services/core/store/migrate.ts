// Applies clickhouse/migrations: file by file, statement by statement, each one repeatable and recorded when it is done.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
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

export type MigrationOptions = {
  /** Folder of the migrations. */
  dir: string
  /**
   * File with the tables and views that the migrations together make, up to the one that its first line names: what a
   * new installation takes in place of them.
   */
  baseline?: string | undefined
  /** No other process uses the tables: what waits for older ones to end is run at once. */
  isAlone: boolean
  /** Rows of calls that one statement goes through, default 1,000,000; an hour is never split. */
  windowRows?: number
}

type Migration = { file: string; text: string; statements: string[] }

const readMigration = async (dir: string, file: string): Promise<Migration> => {
  const text = await readFile(join(dir, file), 'utf8')
  return { file, text, statements: splitStatements(text) }
}

/**
 * Runs the statements that are not recorded. A crash between a statement and its record runs it again, so each is
 * repeatable and says IF EXISTS or IF NOT EXISTS. One with the parameters `from` and `before` goes through the stored
 * calls, oldest first, and goes on where it was when it is cut off.
 * @returns the files of which a statement was run
 * @throws StoreError before any of them when a recorded migration is not among the files, so that a newer build was here;
 * when a recorded statement reads differently now or is gone
 */
export async function applyMigrations(
  target: MigrationTarget,
  { dir, baseline, isAlone, windowRows = 1_000_000 }: MigrationOptions,
): Promise<{ applied: string[] }> {
  const names = (await readdir(dir)).filter((file) => file.endsWith('.sql')).sort()
  const migrations = await Promise.all(names.map((file) => readMigration(dir, file)))
  await target.command({ name: 'migrate.table', sql: table, params: {} })
  const applied: string[] = []
  let { recorded, isNew } = await found(target)
  if (baseline !== undefined && isNew) {
    applied.push(await applyBaseline(target, baseline, migrations))
    recorded = await recordedOf(target)
  }
  const known = new Set(names.map(nameOf))
  const unknown = recorded.map(({ file }) => file).filter((file) => !known.has(nameOf(file)))
  if (unknown.length > 0) throw newer(unknown.sort().at(-1) as string)
  for (const migration of migrations) {
    if (!isAlone && isEarly(migration, recorded)) continue
    if (await applyMigration(target, migration, recorded, windowRows)) applied.push(migration.file)
  }
  return { applied }
}

const recordedOf = (target: MigrationTarget): Promise<Recorded[]> =>
  target.rows<Recorded>({
    name: 'migrate.recorded',
    sql: `SELECT file, statement, checksum, toFloat64(dateDiff('second', applied_at, now('UTC'))) AS ageSeconds
      FROM callhouse.migrations FINAL`,
    params: {},
  })

/** @param statements each with its checksum, or what stands in place of it */
async function record(
  target: MigrationTarget,
  statements: readonly { file: string; statement: number; checksum: string }[],
): Promise<void> {
  await target.command({
    name: 'migrate.record',
    sql: `INSERT INTO callhouse.migrations (file, statement, checksum) SELECT one.1, one.2, one.3 FROM
      (SELECT arrayJoin(arrayZip({files:Array(String)}, {statements:Array(UInt32)}, {checksums:Array(String)})) AS one)`,
    params: {
      files: statements.map(({ file }) => file),
      statements: statements.map(({ statement }) => statement),
      checksums: statements.map(({ checksum }) => checksum),
    },
  })
}

/** Whether older processes may still read what the statements of a file take away. */
function isEarly({ text }: Migration, recorded: readonly Recorded[]): boolean {
  const first = waitsFor.exec(text)?.[1]
  if (first === undefined) return false
  const ages = recorded.filter(({ file }) => nameOf(file) === first).map(({ ageSeconds }) => Number(ageSeconds))
  return Math.min(...ages, ages.length === 0 ? 0 : daySeconds) < daySeconds
}

/** @returns whether any of its statements was run */
async function applyMigration(
  target: MigrationTarget,
  { file, statements }: Migration,
  recorded: readonly Recorded[],
  windowRows: number,
): Promise<boolean> {
  const own = recorded.filter((row) => nameOf(row.file) === nameOf(file))
  const checksums = new Map(own.map(({ statement, checksum }) => [Number(statement), checksum]))
  if (checksums.size > statements.length) throw changed(file, statements.length)
  let isApplied = false
  for (const [i, sql] of statements.entries()) {
    const checksum = checksumOf(sql)
    const before = checksums.get(i)
    if (before === checksum) continue
    const isUnderWay = before?.startsWith(untilText)
    if (before !== undefined && !isUnderWay) throw changed(file, i)
    const fromUs = isUnderWay ? Number(before?.slice(untilText.length)) : 0
    for (const params of await windowsFor(target, sql, fromUs, windowRows)) {
      await target.command({ name: `migrate.${file}`, sql, params })
      if ('before' in params) await record(target, [{ file, statement: i, checksum: `${untilText}${params.before}` }])
    }
    await record(target, [{ file, statement: i, checksum }])
    isApplied = true
  }
  return isApplied
}

/** Text in the record of the first statement while the baseline is under way. */
const baselineText = 'baseline'
const standsFor = /^-- .* Stands for the migrations up to (\w+\.sql)\n/

/** The records of an installation, and whether it has no tables, or a baseline that was cut off. */
async function found(target: MigrationTarget): Promise<{ recorded: Recorded[]; isNew: boolean }> {
  const withBaseline = (recorded: Recorded[]) => ({
    recorded,
    isNew: recorded.some(({ checksum }) => checksum === baselineText),
  })
  const recorded = await recordedOf(target)
  if (recorded.length > 0) return withBaseline(recorded)
  // Another process says that it begins before it makes the first table.
  const tables = await target.rows({
    name: 'migrate.tables',
    sql: `SELECT name FROM system.tables WHERE database = currentDatabase() AND name = 'calls_in'`,
    params: {},
  })
  return tables.length === 0 ? { recorded, isNew: true } : withBaseline(await recordedOf(target))
}

/** Makes all tables and views at once, and records the migrations that they come from. */
async function applyBaseline(target: MigrationTarget, path: string, migrations: readonly Migration[]): Promise<string> {
  const text = await readFile(path, 'utf8')
  const last = nameOf(standsFor.exec(text)?.[1] ?? '')
  const until = migrations.findIndex(({ file }) => nameOf(file) === last)
  const [first] = migrations
  if (first === undefined || until === -1) throw new Error(`${path} stands for migrations up to one that is not there`)
  await record(target, [{ file: first.file, statement: 0, checksum: baselineText }])
  for (const sql of splitStatements(text)) await target.command({ name: 'migrate.baseline', sql, params: {} })
  const statements = migrations
    .slice(0, until + 1)
    .flatMap(({ file, statements: all }) =>
      all.map((sql, statement) => ({ file, statement, checksum: checksumOf(sql) })),
    )
  // The first ends the baseline: a crash between the two inserts makes it once more.
  await record(target, statements.slice(1))
  await record(target, statements.slice(0, 1))
  return basename(path)
}

/** Parameters of a statement, for each time that it runs. */
async function windowsFor(target: MigrationTarget, sql: string, fromUs: number, windowRows: number) {
  return sql.includes('{from:Int64}') ? windowsOf(target, fromUs, windowRows) : [{}]
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
