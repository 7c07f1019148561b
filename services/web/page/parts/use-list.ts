// The one mechanism of lists: all rows, one page, the pages in view or page after page; their total, the row at hand,
// marks, and asking again. Rows of another question never count as the answer: they stay for a moment, and say so.
import { type QueryClient, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useRef, useState } from 'react'
import {
  hasNextPage,
  type KeptRows,
  keptRows,
  type ListPage,
  type ListPages,
  pageCut,
  pagesInView,
  rangeMarked,
  rowsOf,
  rowsUpToEnd,
  toggledMark,
  type ViewRange,
  windowOf,
} from '../engine/lists.ts'

/** Rows to read: `after` is the last one of the page before. */
type Cut<Item> = {
  offset: number
  limit: number
  after: Item | undefined
  signal: AbortSignal
  /** Takes the rows that were found so far. */
  part(rows: readonly Item[]): void
}

export type ListQuestion<Item> = {
  key: readonly unknown[]
  read(cut: Cut<Item>): Promise<ListPage<Item> | readonly Item[]>
  /** Without it all rows are read at once. */
  pages?: ListPages
  /** Counts the rows, once the first of them are drawn. */
  total?: ((signal: AbortSignal) => Promise<number>) | undefined
  isOn?: boolean
  /** Its rows never change. */
  isFixed?: boolean
  /** Time between two reads. */
  everyMs?: number | ((rows: readonly Item[]) => number | false)
  /** The question in words of the address, where the key has more, such as the moment. */
  question?: string
  /** The row at hand at the start. */
  begins?: number
  /** Questions of one scope keep each other's rows, pale, while they wait for a moment. */
  keeps?: string
}

/** Before that rows of the question before stay, pale: most answers come sooner. */
const lateMs = 1_000

/** Whether something goes on for long; each `of` counts anew. */
function useLate(isOn: boolean, of: unknown): boolean {
  const [late, setLate] = useState<{ of: unknown }>()
  useEffect(() => {
    if (!isOn) return
    const timer = setTimeout(() => setLate({ of }), lateMs)
    return () => {
      clearTimeout(timer)
      setLate(undefined)
    }
  }, [isOn, of])
  return isOn && late !== undefined && late.of === of
}

/** State of a question: the one of another question is as it begins. */
function useOfQuestion<Value>(question: string, begins: Value): [Value, (next: Value) => void] {
  const [state, setState] = useState({ question, value: begins })
  return [state.question === question ? state.value : begins, (value) => setState({ question, value })]
}

/** The row at hand, and the rows in view. */
export function useListPlace(question: string, begins = 0) {
  const [at, onAt] = useOfQuestion(question, begins)
  const [range, setRange] = useState<ViewRange>({ from: 0, to: 0 })
  const [onRange] = useState(() => (from: number, to: number) => {
    setRange((before) => (before.from === from && before.to === to ? before : { from, to }))
  })
  return { at, onAt, range, onRange }
}
export type ListPlace = Pick<ReturnType<typeof useListPlace>, 'at' | 'onAt'>

const noMarks = { ids: new Set<string>() as ReadonlySet<string>, last: 0 }

/** Rows that are marked, by id. @param idAt rows that cannot be marked have none */
export function useMarked(question: string, idAt: (index: number) => string | undefined, max?: number) {
  const [{ ids, last }, setState] = useOfQuestion(question, noMarks)
  const set = (next: ReadonlySet<string>, from = 0) => setState({ ids: next, last: from })
  return {
    ids,
    set,
    toggle(index: number) {
      const id = idAt(index)
      if (id !== undefined) set(toggledMark(ids, id, max), index)
    },
    /** From the row that was marked last to this one. */
    range: (index: number) => set(rangeMarked(ids, last, index, idAt), index),
    clear: () => set(new Set()),
  }
}

type Fetching = { signal: AbortSignal; client: QueryClient; queryKey: readonly unknown[] }

/** The question of one page. */
export const listPageQuery = <Item>({ key, read, pages }: ListQuestion<Item>, page: number, after?: Item) => ({
  queryKey: pages === undefined ? key : [...key, page, ...(after === undefined ? [] : [after])],
  async queryFn({ signal, client, queryKey }: Fetching): Promise<ListPage<Item>> {
    const { size = 0 } = pages ?? {}
    const cut = pages?.by === 'page' ? pageCut(page, size) : { limit: size, offset: page * size }
    const part = (rows: readonly Item[]) =>
      void client.setQueryData<ListPage<Item>>(
        queryKey,
        (before) => (before === undefined || before.isPart ? { rows, isPart: true } : undefined),
        // It is old as it comes: who looks again after the search was given up searches again.
        { updatedAt: 0 },
      )
    const answer = await read({ ...cut, after, signal, part })
    return 'rows' in answer ? answer : { rows: answer }
  },
})

const questionText = <Item>({ key, pages, question }: ListQuestion<Item>): string =>
  question ?? JSON.stringify(pages?.by === 'page' ? [...key, pages.page] : key)

/** The one page that is read; where several are, the first. */
const pageOf = (pages: ListPages | undefined): number => (pages?.by === 'page' ? pages.page : 0)

/** Pages that are asked for: of further ones each needs the last row of the one before. */
function useAsked<Item>(asked: ListQuestion<Item>, range: ViewRange, further: number) {
  const client = useQueryClient()
  const { pages } = asked
  if (pages?.by === 'range')
    return pagesInView(range, pages.size).map((page) => ({ page, query: listPageQuery(asked, page) }))
  const first = pageOf(pages)
  const all = [{ page: first, query: listPageQuery(asked, first) }]
  for (let page = 1; page <= further; page++) {
    const last = client.getQueryData<ListPage<Item>>(all.at(-1)?.query.queryKey ?? [])?.rows.at(-1)
    if (last === undefined) break
    all.push({ page, query: listPageQuery(asked, page, last) })
  }
  return all
}

type Known<Item> = {
  items: readonly Item[] | undefined
  rowAt(index: number): Item | undefined
  count: number
  total: number | undefined
}

type Wanted<Item> = { page: number; query: ReturnType<typeof listPageQuery<Item>> }
type Result<Item> = { data: ListPage<Item> | undefined; error: Error | null }

/** The answers to some pages, together. */
const answered = <Item>(
  results: readonly Result<Item>[],
  wanted: readonly Wanted<Item>[],
  pages: ListPages | undefined,
) => ({
  isAnswered: results.some(({ data }) => data !== undefined),
  isPart: results.some(({ data }) => data?.isPart === true),
  isAwaited: results.some(({ data, error }) => data === undefined && error === null),
  error: results.find(({ error }) => error !== null)?.error ?? null,
  total:
    results.find(({ data }) => data?.total !== undefined)?.data?.total ??
    (pages?.by === 'range'
      ? rowsUpToEnd(new Map(wanted.map(({ page }, n) => [page, results[n]?.data])), pages.size)
      : undefined),
  staleMs: Math.max(0, ...results.map(({ data }) => data?.staleMs ?? 0)),
})

function usePages<Item>(asked: ListQuestion<Item>, wanted: readonly Wanted<Item>[]) {
  const { isOn = true, isFixed = false, everyMs = false } = asked
  return useQueries({
    queries: wanted.map(({ query }) => ({
      ...query,
      ...(isFixed && { staleTime: Number.POSITIVE_INFINITY }),
      enabled: isOn,
      refetchInterval: ({ state }: { state: { data?: ListPage<Item> | undefined } }) =>
        typeof everyMs === 'function' ? everyMs(state.data?.rows ?? []) : everyMs,
    })),
  })
}

/** @param known nothing is counted that the answer tells already */
const useCounted = <Item>({ key, total }: ListQuestion<Item>, known: number | undefined, isOn: boolean) =>
  useQuery({
    queryKey: [...key, 'total'],
    queryFn: ({ signal }) => total?.(signal) ?? 0,
    enabled: isOn && total !== undefined && known === undefined,
  })

export function useList<Item>(asked: ListQuestion<Item>) {
  const { pages, isOn = true, keeps } = asked
  const question = questionText(asked)
  const place = useListPlace(question, asked.begins)
  const [further, setFurther] = useOfQuestion(question, 0)
  const wanted = useAsked(asked, place.range, further)
  const results = usePages(asked, wanted)
  const { isAnswered, isPart, isAwaited, error, staleMs, ...said } = answered(results, wanted, pages)
  // The total is asked for once rows are drawn, and all of them are found.
  const isDrawn = useDeferredValue(isAnswered) && isAnswered
  const counted = useCounted(asked, said.total, isOn && isDrawn && !isPart)
  const total = said.total ?? counted.data
  const read = results.map(({ data }) => data?.rows)
  const items = rowsOf(read, pages)
  const last = read.findLast((rows) => rows !== undefined)?.length ?? 0
  const { rowAt, known, count } =
    pages?.by === 'range'
      ? windowOf(new Map(wanted.map(({ page }, n) => [page, read[n]])), pages.size, total)
      : windowOf(new Map([[0, items]]), items.length + 1)
  const isLoading = isOn && isAwaited
  const isFirst = isLoading && known === 0 && total === undefined
  const isLate = useLate(isFirst || isPart, question)
  const before = useRef<KeptRows<Known<Item>> | undefined>(undefined)
  const kept = isFirst ? keptRows(before.current, { scope: keeps, question }, isLate) : undefined
  const now: Known<Item> = { items: isAnswered ? items : undefined, rowAt, count, total }
  // Without rows there is nothing to keep: the list says that it loads.
  if (isOn && !isLoading) before.current = count > 0 ? { scope: keeps ?? '', question, rows: now } : undefined
  const isBlank = isFirst && kept === undefined
  return {
    ...place,
    ...(kept?.rows ?? now),
    /** Nothing of the answer is here yet. */
    isOld: isFirst,
    /** There is nothing to show yet. */
    isFirst: isBlank,
    /** It is searched for, or for more of it, for so long that it is worth saying. */
    isLate: isLate && kept === undefined,
    /** More rows of the answer are searched for, or were until that was stopped. */
    isPart,
    /** The rows are of the question before. */
    isKept: kept !== undefined,
    /** That was another one: these rows may be none of the answer. */
    isOfOther: kept !== undefined && kept.question !== question,
    isLoading,
    isDrawn,
    error,
    staleMs,
    page: pageOf(pages),
    size: pages?.size ?? items.length,
    hasNext: hasNextPage(last, pages, total),
    more: () => setFurther(further + 1),
    refetch() {
      for (const { refetch } of results) void refetch()
      if (asked.total !== undefined && said.total === undefined) void counted.refetch()
    },
  }
}
export type List<Item> = ReturnType<typeof useList<Item>>
