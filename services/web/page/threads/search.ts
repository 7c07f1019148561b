// What the addresses of the pages of threads say.
import { type Tab, tabNames } from '../traces/search.ts'

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** Of a page number what is one, beyond the first. */
export const pageOf = (value: unknown): string | undefined => {
  const page = text(value)
  return page !== undefined && /^[1-9]\d{0,5}$/.test(page) && page !== '1' ? page : undefined
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
    ...{ page: pageOf(search.page), tz: text(search.tz), live: search.live === '1' ? '1' : undefined },
    ...(turn !== undefined && { turn, call: text(search.call), tab: isTab ? (search.tab as Tab) : undefined }),
  }
}
