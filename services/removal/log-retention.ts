// Removes log records and usage by age: a month at a time, once all of it is too old.

import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'
import { tables } from '../tables/registry.ts'

const dayMs = 86_400_000
/** Days for which the usage of keys is kept: thirteen months. */
const usageDays = 396
/** Days for which joins of log records stay noted as due. */
const dueDays = 2

/** A day or a month as the tables name their partitions: `20260331`, `202603`. */
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')
const monthOf = (ms: number): string => dayOf(ms).slice(0, 6)

/**
 * Drops the months of log records that ended before any project's days, and those of usage after thirteen months.
 * Records that some projects keep for less time are purged by rows.
 * @param days of log records, Infinity = for ever; of what was derived of them and can be derived again
 * @returns what was dropped, as `logs 202603`
 */
export async function dropOldLogs(
  store: Pick<Store, 'rows' | 'command'>,
  days: { own: number; derived: number },
  nowMs = Date.now(),
): Promise<string[]> {
  const keptDays = { logs: days.own, joins: days.derived, usage: usageDays, due: dueDays }
  /** The first partition of each table that stays. */
  const kept: Record<string, string> = {}
  for (const { name, engine, dropped } of tables) {
    if (!dropped) continue
    const sinceMs = nowMs - keptDays[dropped] * dayMs
    const partitionOf = engine.includes('toYYYYMMDD') ? dayOf : monthOf
    kept[name] = Number.isFinite(sinceMs) ? partitionOf(sinceMs) : ''
  }
  const found = await store.rows<{ table: string; id: string }>(
    statement('partitions', { tables: Object.keys(kept) }),
    { pool: 'background' },
  )
  const old = found.filter(({ table, id }) => /^\d+$/.test(id) && id < (kept[table] ?? ''))
  for (const part of old) await store.command(statement('partitions.drop', {}, part), { background: true })
  return old.map(({ table, id }) => `${table} ${id}`)
}
