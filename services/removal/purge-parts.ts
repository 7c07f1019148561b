// Removes parts of calls that retention hides, while it is known when these start: ends and names have no start of their own.

import { statement } from '../core/store/statements.ts'
import type { Query, Store } from '../core/store/store.ts'
import type { Budget } from '../derived/budget.ts'
import type { HeldRows } from './held-calls.ts'

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
  const read = <Row>(query: Query): Promise<Row[]> => budget.run(() => store.rows<Row>(query, { pool: 'background' }))

  /** Ranges of whole hours of a month with so many calls at most, where hours have no more. */
  async function rangesOf(params: Record<string, unknown>): Promise<{ from: number; end: number; calls: number }[]> {
    const hours = await read<{ us: number; n: number }>(statement('purge.hours', params))
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
    const others = around ? ' AND id NOT IN {ids:Array(String)}' : ''
    const started = statement('purge.hidden-calls').sql
    const where = statement('purge.of-hidden', {}, { started, others }).sql
    const removed = new Map<string, number>()
    for (const { from, end } of await rangesOf(of)) {
      const params = { ...of, from, end }
      const found = await read<{ project_id: string; n: string }>(statement('purge.known-parts', params, { where }))
      if (found.length === 0) continue
      const removal = statement('purge.parts', params, { where })
      await budget.run(() => store.command(removal, { background: true }))
      for (const { project_id, n } of found) removed.set(project_id, (removed.get(project_id) ?? 0) + Number(n))
    }
    return removed
  }
}
