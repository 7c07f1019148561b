// The address of the dashboard.

import { boundsOf } from './calls-search.ts'

/** `range` as in a list of calls, `all` for all time; the last day without one. */
export type DashboardSearch = {
  /** A board that every project has, or the id of one of its own; the overview without one. */
  board?: string | undefined
  q?: string | undefined
  range?: string | undefined
  tz?: string | undefined
  /** Charts show the time before, too. */
  vs?: 'before' | undefined
  /** A new chart is asked for, of the calls that the filter finds. */
  add?: '1' | undefined
}

export const usualRange = '24h'
/** Longer than the id of any object. */
const maxBoardId = 200

export function dashboardSearch({ board, q, range, tz, vs, add }: Record<string, unknown>): DashboardSearch {
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  const named = text(range)
  const isRange = named === 'all' || (named !== undefined && boundsOf(named, 0) !== undefined)
  const asked = text(board)
  return {
    // One that does not exist stays: the page says so.
    board: asked === 'overview' ? undefined : asked?.slice(0, maxBoardId),
    q: text(q),
    range: isRange && named !== usualRange ? named : undefined,
    tz: text(tz),
    vs: vs === 'before' ? vs : undefined,
    add: add === '1' ? add : undefined,
  }
}
