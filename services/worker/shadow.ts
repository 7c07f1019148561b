// A second set of tables beside the ones in use: filled by the same statements, then exchanged with them.
import { countingStatements } from '../core/store/insert.ts'
import type { Query, Store } from '../core/store/store.ts'
import type { Topic } from '../core/topics.ts'
import type { View } from './origins.ts'

/** Holds the new tables until the exchange, and the old ones after it. */
export const shadowDatabase = 'callhouse_rebuild'

export type ShadowPlan = {
  /** Tables that are made anew. */
  tables: string[]
  /** Tables that the statements need for themselves meanwhile. */
  helpers?: string[]
  /** Tables whose rows are not wanted. */
  sinks?: string[]
  /** Rows of this topic go into the shadow alone. */
  topic?: Topic
}

export type Shadow = {
  tables: readonly string[]
  /** The store with the shadow's tables in place of those in use. */
  store: Store
  /** Makes the tables, empty, in place of those of an earlier shadow; returns the identities of the new tables. */
  create(views: readonly View[]): Promise<Record<string, string>>
  /** Copies what arrives in a table in use to the shadow's from now on. */
  mirror(table: string): Promise<void>
  /** Which of the tables made by `create` are in use by now. */
  inUse(made: Record<string, string>): Promise<string[]>
  /** Whether the tables in use still have the columns, order and settings of those that were made. */
  changed(): Promise<string[]>
  /** The shadow's tables are those in use from now on, and the other way round. */
  exchange(options?: { background: boolean }): Promise<void>
  drop(): Promise<void>
}

const run = (name: string, sql: string): Query => ({ name: `rebuild.${name}`, sql, params: {} })
const landingOf = (topic: Topic): string => `rebuild_${topic.landing}`

export function createShadow(store: Store, plan: ShadowPlan): Shadow {
  const { tables, helpers = [], sinks = [], topic } = plan
  const own = new Set([...tables, ...helpers, ...sinks])
  const renamed = (sql: string): string =>
    sql.replace(/\bcallhouse\.(\w+)/g, (name, table: string) => {
      if (own.has(table)) return `${shadowDatabase}.${table}`
      return table === topic?.landing ? `callhouse.${landingOf(topic)} AS ${table}` : name
    })
  const shadowed = (query: Query): Query => ({ ...query, sql: renamed(query.sql) })

  const identities = async (database: string): Promise<Record<string, string>> => {
    const rows = await store.rows<{ name: string; uuid: string }>({
      name: 'rebuild.identities',
      sql: `SELECT name, toString(uuid) AS uuid FROM system.tables
        WHERE database = {database:String} AND name IN {tables:Array(String)}`,
      params: { database, tables },
    })
    return Object.fromEntries(rows.map(({ name, uuid }) => [name, uuid]))
  }

  const shapes = async (database: string): Promise<Map<string, string>> => {
    const rows = await store.rows<{ name: string; text: string }>({
      name: 'rebuild.shapes',
      sql: `SELECT name, create_table_query AS text FROM system.tables
        WHERE database = {database:String} AND name IN {tables:Array(String)}`,
      params: { database, tables },
    })
    return new Map(rows.map(({ name, text }) => [name, text.replace(`${database}.${name}`, '')]))
  }

  const drop = async (): Promise<void> => {
    await store.command(run('drop', `DROP DATABASE IF EXISTS ${shadowDatabase}`))
    if (topic === undefined) return
    await store.command(run('drop', `DROP VIEW IF EXISTS callhouse.${landingOf(topic)}_to_landed`))
    await store.command(run('drop', `DROP TABLE IF EXISTS callhouse.${landingOf(topic)}`))
  }

  return {
    tables,
    store: {
      ...store,
      rows: (query, options) => store.rows(shadowed(query), options),
      bytes: (query, format, options) => store.bytes(shadowed(query), format, options),
      command: (query, options) => store.command(shadowed(query), options),
      insert: (to, source) => store.insert({ ...to, landing: landingOf(to) }, source),
    },
    async create(views) {
      await drop()
      await store.command(run('create', `CREATE DATABASE ${shadowDatabase} ENGINE = Atomic`))
      for (const table of own) {
        const engine = sinks.includes(table) ? ' ENGINE = Null' : ''
        await store.command(run('create', `CREATE TABLE ${shadowDatabase}.${table} AS callhouse.${table}${engine}`))
      }
      if (topic !== undefined) {
        const landing = landingOf(topic)
        await store.command(run('create', `CREATE TABLE callhouse.${landing} AS callhouse.${topic.landing}`))
        // The store takes them for made when the landing table of an earlier rebuild had them.
        for (const sql of countingStatements({ ...topic, landing })) await store.command(run('create', sql))
      }
      for (const { name, source, target, select } of views) {
        if (!own.has(target) || !(own.has(source) || source === topic?.landing)) continue
        const into = `${shadowDatabase}.${name} TO ${shadowDatabase}.${target}`
        await store.command(run('create', `CREATE MATERIALIZED VIEW ${into} AS ${renamed(select)}`))
      }
      return identities(shadowDatabase)
    },
    mirror: (table) =>
      store.command(
        run(
          'mirror',
          `CREATE MATERIALIZED VIEW IF NOT EXISTS ${shadowDatabase}.${table}_mirror TO ${shadowDatabase}.${table}
          AS SELECT * FROM callhouse.${table}`,
        ),
      ),
    async inUse(made) {
      const used = await identities('callhouse')
      return tables.filter((table) => used[table] === made[table])
    },
    async changed() {
      const [used, mine] = [await shapes('callhouse'), await shapes(shadowDatabase)]
      return tables.filter((table) => used.get(table) !== mine.get(table))
    },
    exchange: (options) =>
      store.command(
        run(
          'exchange',
          `EXCHANGE TABLES ${tables.map((table) => `callhouse.${table} AND ${shadowDatabase}.${table}`).join(', ')}`,
        ),
        options,
      ),
    drop,
  }
}
