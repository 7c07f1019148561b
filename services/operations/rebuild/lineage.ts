// Lineage of each table: whether its rows come from a topic of the log, from the calls, or from dirty buckets.
import type { Query, Store } from '../../core/store/store.ts'
import type { TimeRange } from '../../derived/time-range.ts'
import { type TopicName, topicNames, topics } from '../../events/registry.ts'
import { tablesOfKind, tableViews } from '../../tables/registry.ts'

export type Lineage = { from: 'log'; topic: TopicName } | { from: 'calls' } | { from: 'marks' } | null

export function lineageOf(table: string): Lineage {
  const sources = tableViews.filter(({ target }) => target === table).map(({ source }) => source)
  const topic = topicNames.find((name) => sources.includes(topics[name].landing))
  if (topic !== undefined) return { from: 'log', topic }
  if (sources.includes('calls')) return { from: 'calls' }
  return tablesOfKind('dirty', 'cover', 'rollup').includes(table) ? { from: 'marks' } : null
}

/** A view of the installation: rows that arrive in `source` go to `target`. */
export type View = { name: string; target: string; source: string; select: string }

/** @param database name of the installation's database; the views are returned in the program's names */
export async function readViews(store: Pick<Store, 'rows'>, database = 'callhouse'): Promise<View[]> {
  const found = await store.rows<View>({
    name: 'origins.views',
    sql: `SELECT name, extract(create_table_query, concat(' TO ', {database:String}, '\\\\.(\\\\w+)')) AS target,
        extract(as_select, concat('FROM ', {database:String}, '\\\\.(\\\\w+)')) AS source, as_select AS select
      FROM system.tables WHERE database = {database:String} AND engine = 'MaterializedView'`,
    params: { database },
  })
  const own = new RegExp(`\\b${database}\\.`, 'g')
  return found.map((view) => ({ ...view, select: view.select.replace(own, 'callhouse.') }))
}

/** Reads the SELECT that makes the rows of a copy of the calls. */
export async function readSelect(store: Pick<Store, 'rows'>, table: string, database?: string): Promise<string> {
  const view = (await readViews(store, database)).find(({ target }) => target === table)
  if (view === undefined) throw new Error(`no view fills ${table}`)
  return view.select
}

/** Copies the newest row of each call of a range, so that a turn of an earlier thread stays hidden. */
export const copyOfCalls = (
  target: string,
  select: string,
  { fromUs, beforeExclusiveUs }: TimeRange,
  database = 'callhouse',
): Query => ({
  name: 'calls-copy',
  sql: `INSERT INTO ${target} ${select} SETTINGS final = 1, additional_table_filters =
    {'${database}.calls': 'toUnixTimestamp64Micro(started_at) >= ${fromUs} AND toUnixTimestamp64Micro(started_at) < ${beforeExclusiveUs}'}`,
  params: {},
})
