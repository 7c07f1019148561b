// Removes log records by age: a month at a time, once all of it is too old.
import type { Store } from '../core/store/store.ts'

const tables = ['logs', 'logs_by_span']
const dayMs = 86_400_000

/** The month of a time as the tables name their partitions: `202603`. */
const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7).replace('-', '')

/**
 * Drops the months that ended more than so many days ago.
 * @returns the months
 */
export async function dropOldLogs(
  store: Pick<Store, 'rows' | 'command'>,
  days: number,
  nowMs = Date.now(),
): Promise<string[]> {
  const kept = monthOf(nowMs - days * dayMs)
  const old = await store.rows<{ table: string; month: string }>(
    {
      name: 'logs.old',
      sql: `SELECT DISTINCT table, partition_id AS month FROM system.parts
        WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)} AND partition_id < {kept:String}`,
      params: { tables, kept },
    },
    { pool: 'background' },
  )
  for (const { table, month } of old) {
    if (!tables.includes(table) || !/^\d{6}$/.test(month)) continue
    const sql = `ALTER TABLE callhouse.${table} DROP PARTITION ID '${month}'`
    await store.command({ name: 'logs.drop-month', sql, params: {} }, { background: true })
  }
  return [...new Set(old.map(({ month }) => month))]
}
