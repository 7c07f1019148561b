// Filters of charts: narrowed by terms, and those of lists.
import { type CallsSearch, parsed, parsedList } from './calls-search.ts'
import type { DashboardSearch } from './dashboard-search.ts'
import { type Expression, queryText } from './query-text.ts'

/** A filter and one more, as text. */
export function narrowed(filter: Expression, more: string): string {
  const { expression } = parsed(more)
  const all = [filter, expression].filter(([first = []]) => first.length > 0)
  return all.map((one) => (all.length > 1 && one.length > 1 ? `(${queryText(one)})` : queryText(one))).join(' ')
}

/** The address of a new chart of the calls that a list shows. */
export function chartOfList({ q, view, range }: CallsSearch): DashboardSearch {
  const shown = view === 'all' ? (q ?? '') : narrowed(parsedList({ q, view }).expression, 'is:root')
  return { add: '1', range: range ?? 'all', ...(shown !== '' && { q: shown }) }
}
