// Pages of a list of calls, as far as they are in view; cells of inputs and output for the rows that are seen.
import { keepPreviousData, type QueryClient, useQueries, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { baseUrl, json } from '../api/client.ts'
import type { Shapes } from '../api/routes.gen.ts'
import type { Row } from '../engine/rows.ts'
import { ask } from '../worker/client.ts'
import type { Preview } from '../worker/main.ts'
import { type ListRequest, madeColumns, usualColumns } from './search.ts'
import { useKept } from './searching.tsx'

export const pageRows = 100
/** Payloads of larger calls are not read for a row; their size is shown instead. */
export const cellBytes = 262_144
const countBound = 10_001

/** All rows of a list that are here and stand together with the row at hand. */
export function loadedRows(client: QueryClient, request: ListRequest | undefined, at: number): Row[] {
  const rowsOf = (page: number) =>
    client.getQueryData<Awaited<ReturnType<ReturnType<typeof pageQuery>['queryFn']>>>(pageQuery(request, page).queryKey)
      ?.rows
  let first = Math.floor(at / pageRows)
  while (first > 0 && rowsOf(first - 1) !== undefined) first--
  const all: Row[] = []
  for (let page = first, rows = rowsOf(page); rows !== undefined; rows = rowsOf(++page)) all.push(...rows)
  return all
}

type Range = { from: number; to: number }

export const pageQuery = (request: ListRequest | undefined, page: number) => ({
  queryKey: ['calls', request, page],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    ask('calls', [baseUrl, { ...request, limit: pageRows, offset: page * pageRows }], { signal }),
})

/** @param question what of the address decides which rows there are */
export function useCalls(request: ListRequest | undefined, hasText: boolean, range: Range, question: string) {
  const first = Math.floor(range.from / pageRows)
  const last = Math.max(first, Math.floor(Math.max(0, range.to - 1) / pageRows))
  const pages = Array.from({ length: Math.min(4, last - first + 1) }, (_, n) => first + n)
  const results = useQueries({
    queries: pages.map((page) => ({ ...pageQuery(request, page), enabled: request !== undefined })),
  })
  const hasRows = results.some(({ data }) => data !== undefined)
  // What stands beside the rows is asked for once they are drawn.
  const isDrawn = useDeferredValue(hasRows) && hasRows
  const counted = useQuery({
    queryKey: ['calls.count', request, hasText],
    queryFn: ({ signal }) => {
      const { sort_by: _, ...rest } = request as ListRequest
      return json('calls.query_stats', { ...rest, ...(hasText && { limit: countBound }) }, { signal })
    },
    enabled: request !== undefined && isDrawn,
    placeholderData: keepPreviousData,
  })
  const byPage = new Map(pages.map((page, n) => [page, results[n]?.data]))
  const rowAt = (index: number): Row | undefined => byPage.get(Math.floor(index / pageRows))?.rows[index % pageRows]
  // Until the count is there, a page that is full may have a next one.
  const known = Math.max(
    0,
    ...pages.map((page) => {
      const rows = byPage.get(page)?.rows.length
      return rows === undefined ? 0 : page * pageRows + rows
    }),
  )
  const short = pages.find((page) => (byPage.get(page)?.rows.length ?? pageRows) < pageRows)
  const ended = short === undefined ? undefined : short * pageRows + (byPage.get(short)?.rows.length ?? 0)
  const total = counted.isPlaceholderData ? undefined : counted.data?.count
  const isLoading = request !== undefined && results.some(({ data, error }) => data === undefined && error === null)
  const count = ended ?? Math.max(total ?? 0, known)
  const isFirst = isLoading && known === 0 && total === undefined
  const project = request?.project_id ?? ''
  const now = !isLoading && request !== undefined ? { project, question, rowAt, count } : undefined
  const { kept, isLate } = useKept(now, { project, question }, isFirst)
  return {
    rowAt: kept?.rowAt ?? rowAt,
    count: kept?.count ?? count,
    total,
    isBounded: hasText && total === countBound,
    isLoading,
    isDrawn,
    isFirst: isFirst && kept === undefined,
    /** It has some, or nobody knows yet. */
    mayHaveRows: (isFirst && kept === undefined) || (kept?.count ?? count) > 0,
    /** Nothing of the answer is here yet. */
    isOld: isFirst,
    /** For so long that it says what it does. */
    isLate: isFirst && kept === undefined && isLate,
    /** What shows is of the question before. */
    isKept: kept !== undefined,
    /** That was another one: these rows may be none of the answer. */
    isOfOther: kept !== undefined && kept.question !== question,
    error: results.find(({ error }) => error !== null)?.error ?? null,
    staleMs: Math.max(0, ...results.map(({ data }) => data?.staleMs ?? 0)),
    refetch: () => {
      for (const { refetch } of results) void refetch()
      void counted.refetch()
    },
  }
}

/** The rows in view. */
export function useVisible(calls: ReturnType<typeof useCalls>, range: Range, request: ListRequest | undefined): Row[] {
  const seen = useDeferredValue(range)
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows change with the request, its pages and their arrival
  return useMemo(() => {
    // Whole blocks, so that a step of one row asks for nothing new.
    const from = Math.floor(seen.from / 20) * 20
    const to = Math.ceil(seen.to / 20) * 20
    const found: Row[] = []
    for (let index = from; index < to; index++) {
      const row = calls.rowAt(index)
      if (row) found.push(row)
    }
    return found
  }, [seen, request, calls.isLoading, calls.count])
}

/** Previews of inputs and output of the rows in view, and the kinds that attributes name. */
export function usePreviews(project: string, rows: readonly Row[], isOn: boolean): ReadonlyMap<string, Preview> {
  // By blocks of the list, so that a scroll asks for what is new only.
  const ids = useMemo(() => rows.filter(({ size }) => (size ?? 0) <= cellBytes).map(({ id }) => id), [rows])
  const { data } = useQuery({
    queryKey: ['previews', project, ids],
    queryFn: ({ signal }) => ask('previews', [baseUrl, project, ids], { signal }),
    enabled: isOn && ids.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
  return useMemo(() => new Map(Object.entries(data ?? {})), [data])
}

export type Cell = NonNullable<Shapes['calls.cells']['out']['cells'][string][number]>

/** Cells of the chosen columns, by path; of large calls those of inputs and output too, which have no preview. */
export function useCells(project: string, rows: readonly Row[], columns: readonly string[], isOn: boolean) {
  const paths = columns.filter((path) => path !== '-' && ![...usualColumns, ...madeColumns].includes(path))
  const large = rows.some(({ size }) => (size ?? 0) > cellBytes)
  const asked = large ? [...paths, ...usualColumns] : paths
  const ids = rows.filter(({ size }) => paths.length > 0 || (size ?? 0) > cellBytes).map(({ id }) => id)
  const { data } = useQuery({
    queryKey: ['cells', project, ids, asked],
    queryFn: async ({ signal }) => {
      const { cells } = await json('calls.cells', { project_id: project, call_ids: ids, paths: asked }, { signal })
      return { asked, cells: new Map(Object.entries(cells)) }
    },
    enabled: isOn && ids.length > 0 && asked.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
  return (id: string, path: string): Cell | null => data?.cells.get(id)?.[data.asked.indexOf(path)] ?? null
}
