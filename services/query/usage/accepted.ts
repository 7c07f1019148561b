// Bytes that were accepted in the last day, for quotas.
import { param, sql, systemQuery } from '../../core/store/sql.ts'
import type { Query, Store } from '../../core/store/store.ts'

/** Rows of a project, or of all projects of an entity. */
const ofScope = (scope: string) =>
  scope.includes('/')
    ? sql`project_id = ${param('String', scope)}`
    : sql`startsWith(project_id, ${param('String', `${scope}/`)})`

type Counted = { process: string; sinceMinuteMs: number }

export function acceptedBytesQuery(scope: string, but: Counted): Query {
  const own = sql`process = ${param('String', but.process)} AND minute >= toDateTime(${param('Int64', but.sinceMinuteMs / 1000)}, 'UTC')`
  return systemQuery(
    'usage.accepted-bytes',
    sql`SELECT toString(sum(bytes_stored)) AS bytes FROM callhouse.usage_minutes FINAL
      WHERE ${ofScope(scope)} AND minute >= now('UTC') - INTERVAL 24 HOUR AND NOT (${own})`,
  )
}

/**
 * @param scope project or entity
 * @param but what this process counted since the minute, and knows better
 */
export async function acceptedBytes(store: Pick<Store, 'rows'>, scope: string, but: Counted): Promise<number> {
  const [row] = await store.rows<{ bytes: string }>(acceptedBytesQuery(scope, but), { pool: 'background' })
  return Number(row?.bytes ?? 0)
}
