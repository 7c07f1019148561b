// The addresses of the pages of threads.
import { boundsOf, savedOf } from './calls-search.ts'
import { pageOf } from './lists.ts'
import { type Tab, tabNames } from './trace-search.ts'

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** Orders by the columns. */
export const sorts = {
  turn_count: 'Turns',
  start_time: 'Start',
  last_updated: 'Last turn',
  p50_turn_duration_ms: 'Median turn',
  p99_turn_duration_ms: 'p99 turn',
} as const
export type ThreadSort = keyof typeof sorts

export type ThreadsSearch = {
  /** None = by the last turn. */
  sort?: ThreadSort | undefined
  /** Range of the turns that count. */
  range?: string | undefined
  page?: string | undefined
  tz?: string | undefined
  /** The saved view that the list was opened from. */
  saved?: string | undefined
}

export function threadsSearch(search: Record<string, unknown>): ThreadsSearch {
  const { sort } = search
  const range = text(search.range)
  return {
    sort: (Object.keys(sorts) as ThreadSort[]).find((name) => name === sort && name !== 'last_updated'),
    range: range !== undefined && boundsOf(range, 0) !== undefined ? range : undefined,
    page: pageOf(search.page),
    tz: text(search.tz),
    saved: savedOf(search.saved),
  }
}

export type ThreadSearch = {
  page?: string | undefined
  /** The turn in the reader, by its call. */
  turn?: string | undefined
  /** Another call of the turn's trace that is in the reader instead. */
  call?: string | undefined
  tab?: Tab | undefined
  live?: '1' | undefined
  tz?: string | undefined
}

export function threadSearch(search: Record<string, unknown>): ThreadSearch {
  const turn = text(search.turn)
  const isTab = (tabNames as readonly unknown[]).includes(search.tab)
  return {
    page: pageOf(search.page),
    tz: text(search.tz),
    live: search.live === '1' ? '1' : undefined,
    ...(turn !== undefined && { turn, call: text(search.call), tab: isTab ? (search.tab as Tab) : undefined }),
  }
}
