// Has a ClickHouse server back its tables up, all as of one moment, while workers go on; notes where the log goes on.
import type { KafkaGroup } from '../../core/log/kafka/group.ts'
import type { TopicSurvey } from '../../core/log/kafka/survey.ts'
import { packageVersion } from '../../core/process/version.ts'
import { quantity } from '../../core/quantity.ts'
import { sortedByKind } from '../../tables/registry.ts'
import { shadowDatabaseOf } from '../rebuild/shadow-tables.ts'
import { makeEmptyFolder } from '../transfer/export.ts'
import { parseDestination } from './destination.ts'
import { eachOf } from './folder.ts'
import { type ServerManifest, writeServerManifest } from './server-manifest.ts'
import { LeftRunning, operatorError, runOnServer, type ServerWork } from './server-work.ts'

type ServerBackupDeps = ServerWork & {
  database: string
  group: Pick<KafkaGroup, 'committed' | 'kept'>
  topics: readonly TopicSurvey[]
}

const aside = { background: true }
/**
 * The order in which tables are frozen. Tables of positions come before all tables that the positions are about. Dirty
 * buckets come before the tables that cover them, and these before counted and derived tables. Copies come before the
 * calls, and these before their payloads. So no table claims to cover rows that another lacks, and missing rows of one
 * are applied again.
 */
const order = ['applied', 'dirty', 'cover', 'rollup', 'finding', 'copy', 'call', 'payload'] as const

type Table = { name: string; uuid: string; engine: string }

/** The tables of an installation; those of single workers are not among them. */
export async function tablesOf({ store }: Pick<ServerWork, 'store'>, database: string): Promise<Table[]> {
  const found = await store.rows<Table>({
    name: 'backup.tables',
    sql: `SELECT name, toString(uuid) AS uuid, engine FROM system.tables
      WHERE database = {database:String} AND position(name, '_w_') = 0 ORDER BY name`,
    params: { database },
  })
  return sortedByKind(found, order)
}

/** Rows as they lie on the disk, by table. */
export async function rowCounts({ store }: Pick<ServerWork, 'store'>, database: string): Promise<Map<string, number>> {
  const found = await store.rows<{ name: string; n: number }>({
    name: 'backup.count',
    sql: `SELECT table AS name, toFloat64(sum(rows)) AS n FROM system.parts
      WHERE active AND database = {database:String} GROUP BY table`,
    params: { database },
  })
  return new Map(found.map(({ name, n }) => [name, Number(n)]))
}

export async function engineVersion({ store }: Pick<ServerWork, 'store'>): Promise<string> {
  const query = { name: 'backup.engine', sql: 'SELECT version() AS version', params: {} }
  return (await store.rows<{ version: string }>(query))[0]?.version ?? ''
}

/**
 * @param folder for the manifest; empty
 * @param to the destination as the operator gave it
 * @throws Error with a line for the operator
 */
export async function backupServer(deps: ServerBackupDeps, folder: string, to: string): Promise<void> {
  const { store, database, group, print, signal } = deps
  const destination = parseDestination(to)
  const held = `${database}_backup`
  let isOurs = false
  const run = (sql: string) => store.command({ name: 'backup.hold', sql, params: {} }, aside)
  const exists = async (name: string): Promise<boolean> => {
    const sql = 'SELECT name FROM system.databases WHERE name = {name:String}'
    return (await store.rows({ name: 'backup.database', sql, params: { name } })).length > 0
  }

  /** A backup that was killed leaves its tables behind; one that still runs has a statement on the server. */
  async function takeOver(): Promise<void> {
    if (!(await exists(held))) return
    const [row] = await store.rows<{ n: number }>({
      name: 'backup.running',
      sql: `SELECT toUInt32(countIf(query LIKE {like:String})
        + (SELECT count() FROM system.tables WHERE database = {held:String} AND metadata_modification_time > now() - 60)) AS n
        FROM system.processes`,
      params: { held, like: `BACKUP%${held}%` },
    })
    if ((row?.n ?? 0) > 0)
      throw new Error(`another backup is running, or was killed a moment ago: try again in a minute (database ${held})`)
    await run(`DROP DATABASE ${held} SYNC`)
  }

  /** Parts that are shared with the table: no space, no time. Nothing merges them, so that rows can be counted. */
  async function hold(tables: readonly Table[]): Promise<Record<string, number>> {
    await run(`CREATE DATABASE ${held} ENGINE = Atomic`)
    isOurs = true
    await eachOf(tables, async ({ name }) => {
      await run(`CREATE TABLE ${held}.${name} AS ${database}.${name}`)
      await run(`SYSTEM STOP MERGES ${held}.${name}`)
    })
    for (const { name } of tables)
      await run(`ALTER TABLE ${held}.${name} ATTACH PARTITION ALL FROM ${database}.${name}`)
    const counts = await rowCounts(deps, held)
    return Object.fromEntries(tables.map(({ name }) => [name, counts.get(name) ?? 0]))
  }

  /** Positions first: everything up to them is in every table that is held afterwards. */
  async function positions(): Promise<ServerManifest['positions']> {
    const [applied, kept] = [await group.committed(), await group.kept()]
    return kept.map(({ topic, partition, end }) => ({
      topic,
      partition,
      end,
      applied: applied.find((one) => one.topic === topic && one.partition === partition)?.offset ?? 0,
    }))
  }

  const refuseRebuilds = async (): Promise<void> => {
    if (await exists(shadowDatabaseOf({ database })))
      throw new Error('a table is being rebuilt, or its rebuild is unfinished: end it first')
  }

  await makeEmptyFolder(folder)
  await refuseRebuilds()
  const begunAt = new Date().toISOString()
  try {
    await takeOver()
  } catch (error) {
    throw operatorError(error, destination)
  }
  try {
    const all = await tablesOf(deps, database)
    const tables = all.filter(({ engine }) => engine.endsWith('MergeTree'))
    const definitions = all.filter(({ engine }) => !engine.endsWith('MergeTree')).map(({ name }) => name)
    if (tables.length === 0) throw new Error(`the database ${database} has no tables`)
    print(`backup ${folder}: holds ${quantity(tables.length, 'table')} fast`)
    const noted = await positions()
    const counts = await hold(tables).catch((error: unknown) => {
      throw operatorError(error, destination)
    })
    await refuseRebuilds()
    if (JSON.stringify(await tablesOf(deps, database)) !== JSON.stringify(all))
      throw new Error('tables were exchanged meanwhile: try again')
    signal.throwIfAborted()
    print(`backup ${folder}: the ClickHouse server writes ${destination.shown}`)
    const elements = [
      ...tables.map(({ name }) => `TABLE ${held}.${name} AS ${database}.${name}`),
      ...definitions.map((name) => `TABLE ${database}.${name}`),
    ]
    await runOnServer(deps, `BACKUP ${elements.join(', ')} TO ${destination.sql}`, destination).catch(
      (error: unknown) => {
        // Its tables are in use: the next backup drops them.
        if (error instanceof LeftRunning) isOurs = false
        throw error
      },
    )
    await writeServerManifest(folder, {
      format: 'callhouse server backup',
      version: 1,
      callhouse: await packageVersion(),
      engine: await engineVersion(deps),
      begunAt,
      destination: destination.shown,
      isDestinationWhole: destination.isWhole,
      database,
      positions: noted,
      tables: counts,
      definitions,
      topics: deps.topics.map(({ topic, partitions, replicas, settings }) => ({
        topic,
        partitions,
        replicas,
        settings,
      })),
    })
    const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
    print(
      `backup ${folder}: done, ${quantity(rows, 'row')} of ${quantity(tables.length, 'table')} in ${destination.shown}`,
    )
  } finally {
    if (isOurs)
      await run(`DROP DATABASE ${held} SYNC`).catch((error: unknown) =>
        print(`the database ${held} could not be dropped: ${String(error)}`),
      )
  }
}
