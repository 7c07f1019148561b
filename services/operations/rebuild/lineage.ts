// Lineage of each table: whether its rows come from a topic of the log, from the calls, or from dirty buckets.

import type { Query, Store } from '../../core/store/store.ts'
import { topics } from '../../events/registry.ts'
import { tablesOfKind } from '../../tables/registry.ts'
import type { TimeRange } from '../../worker/time-range.ts'

export type Lineage = { from: 'log'; topic: string } | { from: 'calls'; select: string } | { from: 'marks' } | null

/** A view of the installation: rows that arrive in `source` go to `target`. */
export type View = { name: string; target: string; source: string; select: string }

/**
 * Reads the lineage of all tables from the views that fill them.
 * @param database name of the installation's database; the views are returned in the program's names
 */
export async function readLineage(
  store: Pick<Store, 'rows'>,
  database = 'callhouse',
): Promise<{ views: View[]; of(table: string): Lineage }> {
  const found = await store.rows<View>({
    name: 'origins.views',
    sql: `SELECT name, extract(create_table_query, concat(' TO ', {database:String}, '\\\\.(\\\\w+)')) AS target,
        extract(as_select, concat('FROM ', {database:String}, '\\\\.(\\\\w+)')) AS source, as_select AS select
      FROM system.tables WHERE database = {database:String} AND engine = 'MaterializedView'`,
    params: { database },
  })
  const own = new RegExp(`\\b${database}\\.`, 'g')
  const views = found.map((view) => ({ ...view, select: view.select.replace(own, 'callhouse.') }))
  const topicOf = new Map(Object.values(topics).map(({ landing, name }) => [landing, name]))
  return {
    views,
    of(table) {
      const mine = views.filter(({ target }) => target === table)
      for (const { source } of mine) {
        const topic = topicOf.get(source)
        if (topic !== undefined) return { from: 'log', topic }
      }
      const [first] = mine
      if (first?.source === 'calls') return { from: 'calls', select: first.select }
      return tablesOfKind('dirty', 'cover', 'rollup').includes(table) ? { from: 'marks' } : null
    },
  }
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
