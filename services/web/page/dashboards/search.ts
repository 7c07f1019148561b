// What the address of the dashboard says.
import { boundsOf } from '../calls/search.ts'
import { type BoardName, boardNames } from './boards.ts'

/** `range` as in a list of calls, `all` for all time; the last day without one. */
export type DashboardSearch = {
  /** The overview without one. */
  board?: BoardName | undefined
  q?: string | undefined
  range?: string | undefined
  tz?: string | undefined
}

export const usualRange = '24h'

export function dashboardSearch({ board, q, range, tz }: Record<string, unknown>): DashboardSearch {
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  const named = text(range)
  const isRange = named === 'all' || (named !== undefined && boundsOf(named, 0) !== undefined)
  const found = boardNames.find((name) => name === board && name !== 'overview')
  return { board: found, q: text(q), range: isRange && named !== usualRange ? named : undefined, tz: text(tz) }
}
