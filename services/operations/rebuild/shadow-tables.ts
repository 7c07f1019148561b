// Shadow tables: a second set beside the tables in use, filled by the same statements and then exchanged with them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Topic } from '../../core/log/topic.ts'
import { countingStatements } from '../../core/store/chdb/insert.ts'
import type { Query, Store } from '../../core/store/store.ts'
import type { View } from './lineage.ts'

/** A ClickHouse server that other processes use too; absent = the embedded engine, used by this process alone. */
export type SharedServer = {
  database: string
  /** Name of the cluster whose nodes all have the tables. */
  cluster?: string
}

/** Holds the new tables until the exchange, and the old ones after it. */
export const shadowDatabaseOf = (server?: SharedServer): string => `${server?.database ?? 'callhouse'}_rebuild`

/** Table beside the new ones that holds the state of a rebuild over a kill. */
export const stateTable = 'state'

export const onCluster = (server?: SharedServer): string =>
  server?.cluster === undefined ? '' : ` ON CLUSTER ${server.cluster}`

export type ShadowPlan = {
  /** Tables to rebuild. */
  tables: string[]
  /** Further tables that the statements write meanwhile. */
  helpers?: string[]
  /** The same, but not on a server, where each process has its own scratch tables anyway. */
  scratch?: string[]
  /** Tables whose rows are discarded. */
  sinks?: string[]
  /** Rows of this topic go into the shadow tables alone. */
  topic?: Topic
}

export type ShadowTables = {
  tables: readonly string[]
  /** The store with the shadow tables in place of those in use. */
  store: Store
  /** Creates the tables, empty, in place of earlier shadow tables; returns their identities. */
  create(views: readonly View[]): Promise<Record<string, string>>
  /** Copies rows that arrive in a table in use to its shadow table from now on. */
  mirror(table: string): Promise<void>
  /**
   * Resolves once inserts of any process that began before have ended: they know nothing of a mirror or an exchange that
   * was made meanwhile. At once where only this process inserts, in order.
   */
  awaitOlderInserts(signal: AbortSignal): Promise<void>
  /** The tables made by `create` that are in use by now. */
  inUse(made: Record<string, string>): Promise<string[]>
  /** Whether the tables in use still have the columns, order and settings of those that were made. */
  changed(): Promise<string[]>
  /** Exchanges the shadow tables with those in use. */
  exchange(options?: { background: boolean }): Promise<void>
  drop(): Promise<void>
}

const run = (name: string, sql: string): Query => ({ name: `rebuild.${name}`, sql, params: {} })
const landingOf = (topic: Topic): string => `rebuild_${topic.landing}`

/** The tables of a plan in the databases that have them. */
type Shadow = {
  store: Store
  plan: ShadowPlan
  server: SharedServer | undefined
  /** All tables that stand in the shadow database. */
  own: ReadonlySet<string>
  database: string
  shadowDatabase: string
  everywhere: string
}

/** Servers refuse by default to drop what is large. */
const anySize = ({ server }: Shadow): string => (server ? ' SETTINGS max_table_size_to_drop = 0' : '')

/** A statement with the shadow tables in place of those in use. */
const renamed = ({ own, shadowDatabase, plan: { topic } }: Shadow, sql: string): string =>
  sql.replace(/\bcallhouse\.(\w+)/g, (name, table: string) => {
    if (own.has(table)) return `${shadowDatabase}.${table}`
    return table === topic?.landing ? `callhouse.${landingOf(topic)} AS ${table}` : name
  })

async function readIdentities({ store, plan }: Shadow, of: string): Promise<Record<string, string>> {
  const rows = await store.rows<{ name: string; uuid: string }>({
    name: 'rebuild.identities',
    sql: `SELECT name, toString(uuid) AS uuid FROM system.tables
      WHERE database = {of:String} AND name IN {tables:Array(String)}`,
    params: { of, tables: plan.tables },
  })
  return Object.fromEntries(rows.map(({ name, uuid }) => [name, uuid]))
}

/** Definitions of the tables, without their names. */
async function readShapes({ store, plan }: Shadow, of: string): Promise<Map<string, string>> {
  const rows = await store.rows<{ name: string; text: string }>({
    name: 'rebuild.shapes',
    sql: `SELECT name, create_table_query AS text FROM system.tables
      WHERE database = {of:String} AND name IN {tables:Array(String)}`,
    params: { of, tables: plan.tables },
  })
  return new Map(rows.map(({ name, text }) => [name, text.replace(`${of}.${name}`, '')]))
}

async function dropLanding({ store, plan: { topic }, server, everywhere }: Shadow): Promise<void> {
  if (topic === undefined) return
  if (!server) await store.command(run('drop', `DROP VIEW IF EXISTS callhouse.${landingOf(topic)}_to_landed`))
  await store.command(run('drop', `DROP TABLE IF EXISTS callhouse.${landingOf(topic)}${everywhere}`))
}

/** Removes the tables of an earlier shadow, views first; the state stays. */
async function clear(shadow: Shadow): Promise<void> {
  const { store, shadowDatabase, everywhere } = shadow
  const left = await store.rows<{ name: string }>({
    name: 'rebuild.left',
    sql: `SELECT name FROM system.tables WHERE database = {of:String} AND name != {state:String}
      ORDER BY engine != 'MaterializedView', name`,
    params: { of: shadowDatabase, state: stateTable },
  })
  for (const { name } of left)
    await store.command(run('drop', `DROP TABLE IF EXISTS ${shadowDatabase}.${name}${everywhere}${anySize(shadow)}`))
  await dropLanding(shadow)
}

/** Inserts into our tables that are under way, of all processes. */
async function readInserts({ store, server, database }: Shadow): Promise<Set<string>> {
  const processes =
    server?.cluster === undefined ? 'system.processes' : `clusterAllReplicas(${server.cluster}, system.processes)`
  const rows = await store.rows<{ id: string }>({
    name: 'rebuild.inserting',
    sql: `SELECT query_id AS id FROM ${processes} WHERE query_kind = 'Insert' AND position(query, {begin:String}) > 0`,
    params: { begin: `${database}.` },
  })
  return new Set(rows.map(({ id }) => id))
}

async function awaitOlderInserts(shadow: Shadow, signal: AbortSignal): Promise<void> {
  if (!shadow.server) return
  const first = await readInserts(shadow)
  for (let now = first; first.size > 0 && !first.isDisjointFrom(now); now = await readInserts(shadow))
    await sleep(20, undefined, { signal })
}

/** The landing table of the topic, whose rows go into the shadow tables alone. */
async function createLanding({ store, server, everywhere }: Shadow, topic: Topic): Promise<void> {
  const landing = landingOf(topic)
  await store.command(run('create', `CREATE TABLE callhouse.${landing}${everywhere} AS callhouse.${topic.landing}`))
  // The store takes them for made when the landing table of an earlier rebuild had them.
  if (!server) for (const sql of countingStatements({ ...topic, landing })) await store.command(run('create', sql))
}

async function create(shadow: Shadow, views: readonly View[]): Promise<Record<string, string>> {
  const { store, plan, own, shadowDatabase, everywhere } = shadow
  const { topic, sinks = [] } = plan
  await clear(shadow)
  const made = `CREATE DATABASE IF NOT EXISTS ${shadowDatabase}${everywhere} ENGINE = Atomic`
  await store.command(run('create', made))
  for (const table of own) {
    const engine = sinks.includes(table) ? ' ENGINE = Null' : ''
    await store.command(
      run('create', `CREATE TABLE ${shadowDatabase}.${table}${everywhere} AS callhouse.${table}${engine}`),
    )
  }
  if (topic !== undefined) await createLanding(shadow, topic)
  for (const { name, source, target, select } of views) {
    if (!own.has(target) || !(own.has(source) || source === topic?.landing)) continue
    const into = `${shadowDatabase}.${name}${everywhere} TO ${shadowDatabase}.${target}`
    await store.command(run('create', `CREATE MATERIALIZED VIEW ${into} AS ${renamed(shadow, select)}`))
  }
  return readIdentities(shadow, shadowDatabase)
}

/** The store with the shadow tables in place of those in use. */
function shadowStore(shadow: Shadow): Store {
  const { store } = shadow
  const shadowed = (query: Query): Query => ({ ...query, sql: renamed(shadow, query.sql) })
  return {
    ...store,
    rows: (query, options) => store.rows(shadowed(query), options),
    bytes: (query, format, options) => store.bytes(shadowed(query), format, options),
    command: (query, options) => store.command(shadowed(query), options),
    insert: (to, source) => store.insert({ ...to, landing: landingOf(to) }, source),
  }
}

export function createShadowTables(store: Store, plan: ShadowPlan, server?: SharedServer): ShadowTables {
  const { tables, helpers = [], scratch = [], sinks = [] } = plan
  const own = new Set([...tables, ...helpers, ...sinks, ...(server ? [] : scratch)])
  const database = server?.database ?? 'callhouse'
  const shadowDatabase = shadowDatabaseOf(server)
  const everywhere = onCluster(server)
  const shadow: Shadow = { store, plan, server, own, database, shadowDatabase, everywhere }
  return {
    tables,
    store: shadowStore(shadow),
    create: (views) => create(shadow, views),
    mirror: (table) =>
      store.command(
        run(
          'mirror',
          `CREATE MATERIALIZED VIEW IF NOT EXISTS ${shadowDatabase}.${table}_mirror${everywhere} TO ${shadowDatabase}.${table}
          AS SELECT * FROM callhouse.${table}`,
        ),
      ),
    awaitOlderInserts: (signal) => awaitOlderInserts(shadow, signal),
    async inUse(made) {
      const used = await readIdentities(shadow, database)
      return tables.filter((table) => used[table] === made[table])
    },
    async changed() {
      const [used, mine] = [await readShapes(shadow, database), await readShapes(shadow, shadowDatabase)]
      return tables.filter((table) => used.get(table) !== mine.get(table))
    },
    exchange: (options) =>
      store.command(
        run(
          'exchange',
          `EXCHANGE TABLES ${tables.map((table) => `callhouse.${table} AND ${shadowDatabase}.${table}`).join(', ')}${everywhere}`,
        ),
        options,
      ),
    async drop() {
      await store.command(run('drop', `DROP DATABASE IF EXISTS ${shadowDatabase}${everywhere}${anySize(shadow)}`))
      await dropLanding(shadow)
    },
  }
}
