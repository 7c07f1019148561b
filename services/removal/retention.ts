// Removal by age of what is no project's to keep: whole partitions of log records and usage, and receipts of erasures.
import { tables } from '../tables/registry.ts'
import { dropPartitions, type Engine, find, partitionsOf, removeRows } from './engine.ts'

const dayMs = 86_400_000
/** Days for which the usage of keys is kept: thirteen months. */
const usageDays = 396
/** Days for which joins of log records stay noted as due. */
const dueDays = 2
/** Receipts that go at once. */
const receiptsAtOnce = 10_000

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
  store: Engine['store'],
  days: { own: number; derived: number },
  nowMs = Date.now(),
): Promise<string[]> {
  const engine = { store }
  const keptDays = { logs: days.own, joins: days.derived, usage: usageDays, due: dueDays }
  /** The first partition of each table that stays. */
  const kept: Record<string, string> = {}
  for (const { name, engine: definition, dropped } of tables) {
    if (!dropped) continue
    const sinceMs = nowMs - keptDays[dropped] * dayMs
    const partitionOf = definition.includes('toYYYYMMDD') ? dayOf : monthOf
    kept[name] = Number.isFinite(sinceMs) ? partitionOf(sinceMs) : ''
  }
  const found = await partitionsOf(engine, Object.keys(kept))
  const old = found.filter(({ table, id }) => /^\d+$/.test(id) && id < (kept[table] ?? ''))
  await dropPartitions(engine, old)
  return old.map(({ table, id }) => `${table} ${id}`)
}

/**
 * Removes erasures with what they were before they were done, which would count again otherwise.
 * @returns how many were removed: those that were done more than `years` years ago
 */
export async function dropOldReceipts(store: Engine['store'], years: number, nowMs = Date.now()): Promise<number> {
  const engine = { store }
  const before = new Date(nowMs)
  before.setUTCFullYear(before.getUTCFullYear() - years)
  for (let dropped = 0; ; ) {
    const rows = await find<{ project_id: string; id: string }>(engine, 'receipts.old', {
      before: before.getTime() * 1_000,
      limit: receiptsAtOnce,
    })
    if (rows.length === 0) return dropped
    const projects = [...new Set(rows.map(({ project_id }) => project_id))]
    const named = { ids: rows.map(({ id }) => id) }
    await removeRows(engine, { table: 'erasures', where: 'id IN {ids:Array(String)}' }, projects, named)
    dropped += rows.length
  }
}
