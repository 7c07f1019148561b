// The arithmetic of lists: pages that are in view, rows that are known, rows that may stay, and what keys and marks do.

export type ViewRange = { from: number; to: number }

/**
 * An answer: its rows, the number of all where that is known, and by how much it may be behind. While more of its rows
 * are searched for it is a part.
 */
export type ListPage<Item> = {
  rows: readonly Item[]
  total?: number
  staleMs?: number | undefined
  isPart?: boolean
}

/** Pages that are read at one time for what is in view. */
const maxPages = 4

export function pagesInView({ from, to }: ViewRange, size: number): number[] {
  const first = Math.floor(from / size)
  const last = Math.max(first, Math.floor(Math.max(0, to - 1) / size))
  return Array.from({ length: Math.min(maxPages, last - first + 1) }, (_, n) => first + n)
}

/** Rows of some pages of a list. @param total of all its rows, where it is known */
export function windowOf<Item>(pages: ReadonlyMap<number, readonly Item[] | undefined>, size: number, total?: number) {
  const read = [...pages].flatMap(([page, rows]) => (rows === undefined ? [] : [{ page, rows: rows.length }]))
  const known = Math.max(0, ...read.map(({ page, rows }) => page * size + rows))
  return {
    rowAt: (index: number): Item | undefined => pages.get(Math.floor(index / size))?.[index % size],
    known,
    count: total === undefined ? known : Math.max(total, known),
  }
}

/** The number of all rows, where a page that is whole and not full tells it. */
export function rowsUpToEnd(pages: ReadonlyMap<number, ListPage<unknown> | undefined>, size: number) {
  const last = [...pages].find(([, page]) => page !== undefined && !page.isPart && page.rows.length < size)
  return last && last[0] * size + (last[1]?.rows.length ?? 0)
}

/** Pages are read as rows come into view (`range`), one by its number (`page`), or further ones when asked (`more`). */
export type ListPages = { by: 'range' | 'more'; size: number } | { by: 'page'; size: number; page: number }

const noRows: readonly never[] = []

/** Rows of the pages that are read; the same array for the same single page. */
export function rowsOf<Item>(read: readonly (readonly Item[] | undefined)[], pages: ListPages | undefined) {
  const [first = noRows] = read
  if (read.length > 1) return read.flatMap((rows) => rows ?? [])
  return pages?.by === 'page' && first.length > pages.size ? first.slice(0, pages.size) : first
}

/** @param last rows of the last page that was read */
export function hasNextPage(last: number, pages: ListPages | undefined, total: number | undefined): boolean {
  if (pages?.by !== 'page') return last === pages?.size
  return total === undefined ? last > pages.size : (pages.page + 1) * pages.size < total
}

/** A page is asked for with one row more, which tells whether there is another page. */
export const pageCut = (page: number, size: number) => ({ limit: size + 1, offset: page * size })

/** A valid page number beyond the first, as addresses have it. */
export const pageOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[1-9]\d{0,5}$/.test(value) && value !== '1' ? value : undefined

/** Rows as they show: `scope` holds the questions whose rows may stay for one another. */
export type KeptRows<Rows> = { scope: string; question: string; rows: Rows }

/**
 * Rows that stay while an answer is awaited: those of the same question, or for a moment those of another one of the
 * same scope.
 */
export const keptRows = <Rows>(
  shown: KeptRows<Rows> | undefined,
  asked: { scope: string | undefined; question: string },
  isLate: boolean,
): KeptRows<Rows> | undefined =>
  shown !== undefined && shown.scope === asked.scope && (!isLate || shown.question === asked.question)
    ? shown
    : undefined

/** The row that a key leads to. @param page rows of a page of the window */
export function rowOfKey(key: string, at: number, count: number, page: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    j: at + 1,
    ArrowUp: at - 1,
    k: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: count - 1,
  }
  const target = Object.hasOwn(steps, key) ? steps[key] : undefined
  return target === undefined || count === 0 ? undefined : Math.min(count - 1, Math.max(0, target))
}

/** @param max the latest of so many stay marked */
export function toggledMark(ids: ReadonlySet<string>, id: string, max = Number.POSITIVE_INFINITY): Set<string> {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return new Set([...next].slice(-Math.min(max, next.size)))
}

/** Marks with those of the rows between two, both included, as far as they are there. */
export function rangeMarked(
  ids: ReadonlySet<string>,
  from: number,
  to: number,
  idAt: (index: number) => string | undefined,
): Set<string> {
  const next = new Set(ids)
  for (let n = Math.min(from, to); n <= Math.max(from, to); n++) {
    const id = idAt(n)
    if (id !== undefined) next.add(id)
  }
  return next
}
