// Removes parts of calls that retention hides, while it is known when these start: ends and names have no start of their own.
import type { Store } from '../../core/store/store.ts'
import type { HeldRows } from '../held-calls.ts'
import type { Budget } from './budget.ts'

/** Calls whose parts one statement looks for; an hour is never split. */
const callsAtOnce = 100_000
const hourUs = 3_600_000_000

/**
 * Before the calls themselves go, by which their parts are found.
 * @param month of the calls
 * @param around calls that are held
 * @returns rows by project
 */
export type PartsPurge = (
  month: string,
  projects: readonly string[],
  beforeUs: number,
  around?: HeldRows,
) => Promise<Map<string, number>>

export function createPartsPurge(deps: { store: Pick<Store, 'rows' | 'command'>; budget: Budget }): PartsPurge {
  const { store, budget } = deps
  const read = <Row>(name: string, sql: string, params: Record<string, unknown>): Promise<Row[]> =>
    budget.run(() => store.rows<Row>({ name, sql, params }, { pool: 'background' }))

  const hidden = `project_id IN {projects:Array(String)} AND started_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')`
  /** Ids that start in a range of time, and not once more where calls are seen. */
  const started = `(SELECT project_id, id FROM callhouse.calls WHERE ${hidden}
    AND started_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Micro({end:Int64}, 'UTC'))`
  const seen = `(SELECT project_id, key FROM callhouse.call_keys WHERE project_id IN {projects:Array(String)} AND kind = 'id'
    AND (project_id, key) IN ${started} AND started_at >= fromUnixTimestamp64Micro({before:Int64}, 'UTC'))`

  /** Ranges of whole hours of a month with so many calls at most, where hours have no more. */
  async function rangesOf(params: Record<string, unknown>): Promise<{ from: number; end: number; calls: number }[]> {
    const hours = await read<{ us: number; n: number }>(
      'purge.hours',
      `SELECT toFloat64(toUnixTimestamp(toStartOfHour(started_at))) * 1000000 AS us, toFloat64(count()) AS n
        FROM callhouse.calls WHERE _partition_id = {month:String} AND ${hidden} GROUP BY us ORDER BY us`,
      params,
    )
    const ranges: { from: number; end: number; calls: number }[] = []
    for (const { us, n } of hours) {
      const [from, calls, last] = [Number(us), Number(n), ranges.at(-1)]
      if (last && last.calls + calls <= callsAtOnce)
        Object.assign(last, { end: from + hourUs, calls: last.calls + calls })
      else ranges.push({ from, end: from + hourUs, calls })
    }
    return ranges
  }

  return async (month, projects, beforeUs, around) => {
    const of = { month, projects, before: beforeUs, ...around }
    const where = `project_id IN {projects:Array(String)} AND kind != 'delete' AND (project_id, id) IN ${started}
      AND (project_id, id) NOT IN ${seen}${around ? ' AND id NOT IN {ids:Array(String)}' : ''}`
    const removed = new Map<string, number>()
    for (const { from, end } of await rangesOf(of)) {
      const params = { ...of, from, end }
      const found = await read<{ project_id: string; n: string }>(
        'purge.known-parts',
        `SELECT project_id, toString(count()) AS n FROM callhouse.call_patches WHERE ${where} GROUP BY project_id`,
        params,
      )
      if (found.length === 0) continue
      const sql = `DELETE FROM callhouse.call_patches WHERE ${where}`
      await budget.run(() => store.command({ name: 'purge.parts', sql, params }, { background: true }))
      for (const { project_id, n } of found) removed.set(project_id, (removed.get(project_id) ?? 0) + Number(n))
    }
    return removed
  }
}
