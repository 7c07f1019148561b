// Filters of charts: narrowed by terms, and those of lists.
import { type CallsSearch, parsed, parsedList, parsedOf } from './calls-search.ts'
import type { DashboardSearch } from './dashboard-search.ts'
import type { RowsOf } from './filter-fields.ts'
import { type Expression, queryText, type Term } from './query-text.ts'

/** A filter and one more, as text. */
export function narrowed(filter: Expression, more: string): string {
  const { expression } = parsed(more)
  const all = [filter, expression].filter(([first = []]) => first.length > 0)
  return all.map((one) => (all.length > 1 && one.length > 1 ? `(${queryText(one)})` : queryText(one))).join(' ')
}

const isRoot = (term: Term): boolean => term.type === 'is' && term.what === 'root' && !term.not

/** The filter of a chart that counts such rows: whole traces are found by their roots. */
export const filterOfRows = (q: string | undefined, rows: RowsOf): string =>
  rows === 'traces' ? narrowed(withoutRoots(parsedOf(q, rows).expression), 'is:root') : (q ?? '')

const withoutRoots = (any: Expression): Expression =>
  any.length === 1 ? any.map((all) => all.filter((term) => !isRoot(term))) : any

/** The rows that a chart counts, and the rest of its filter. */
export function countIn(filter: string | undefined): { rows: RowsOf; filter: string } {
  const { rows, expression } = parsed(filter)
  return { rows, filter: rows === 'traces' ? queryText(withoutRoots(expression)) : (filter ?? '') }
}

/** The address of a new chart of the calls that a list shows. */
export function chartOfList({ q, view, range }: CallsSearch): DashboardSearch {
  const shown = filterOfRows(q, parsedList({ q, view }).rows)
  return { add: '1', range: range ?? 'all', ...(shown !== '' && { q: shown }) }
}
