// Pages of a list of calls, as far as they are in view; cells of inputs and output for the rows that are seen.
import { keepPreviousData, type QueryClient, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { baseUrl, json } from '../api/client.ts'
import { type ListRequest, madeColumns, usualColumns } from '../engine/calls-search.ts'
import type { ListPage } from '../engine/lists.ts'
import type { Row } from '../engine/rows.ts'
import { type List, type ListQuestion, listPageQuery } from '../parts/use-list.ts'
import type { Shapes } from '../routes.gen.ts'
import { ask } from '../worker/client.ts'
import type { Preview } from '../worker/main.ts'
import { placesOfColumn } from './columns.ts'

const pageRows = 100
/** Payloads of larger calls are not read for a row; their size is shown instead. */
export const cellBytes = 262_144
export const countBound = 10_001

/** @param question the part of the address that decides which rows there are */
export const callsQuestion = (request: ListRequest | undefined, hasText = false, question = ''): ListQuestion<Row> => ({
  key: ['calls', request],
  pages: { by: 'range', size: pageRows },
  isOn: request !== undefined,
  question,
  keeps: request?.project_id ?? '',
  read: ({ offset, limit, signal }) => ask('calls', [baseUrl, { ...request, limit, offset }], { signal }),
  async total(signal) {
    const { sort_by: _, ...rest } = request as ListRequest
    return (await json('calls.query_stats', { ...rest, ...(hasText && { limit: countBound }) }, { signal })).count
  },
})

/** All rows of a list that are here and stand together with the row at hand, and how many come before them. */
export function loadedRows(
  client: QueryClient,
  request: ListRequest | undefined,
  at: number,
): { rows: Row[]; before: number } {
  const rowsOf = (page: number) =>
    client.getQueryData<ListPage<Row>>(listPageQuery(callsQuestion(request), page).queryKey)?.rows
  let first = Math.floor(at / pageRows)
  while (first > 0 && rowsOf(first - 1) !== undefined) first--
  const all: Row[] = []
  for (let page = first, rows = rowsOf(page); rows !== undefined; rows = rowsOf(++page)) all.push(...rows)
  return { rows: all, before: first * pageRows }
}

/** The rows in view. */
export function useVisible(calls: List<Row>, request: ListRequest | undefined): Row[] {
  const seen = useDeferredValue(calls.range)
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
  const paths = columns
    .filter((path) => path !== '-' && ![...usualColumns, ...madeColumns].includes(path))
    .flatMap(placesOfColumn)
  const large = rows.some(({ size }) => (size ?? 0) > cellBytes)
  const asked = large ? [...paths, ...usualColumns] : paths
  const ids = rows.filter(({ size }) => paths.length > 0 || (size ?? 0) > cellBytes).map(({ id }) => id)
  const { data } = useQuery({
    queryKey: ['cells', project, ids, asked],
    queryFn: async ({ signal }) => {
      const { cells } = await json('calls.cells', { project_id: project, call_ids: ids, paths: asked }, { signal })
      return new Map(
        Object.entries(cells).map(([id, of]) => [id, new Map(asked.map((path, n) => [path, of[n]]))] as const),
      )
    },
    enabled: isOn && ids.length > 0 && asked.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
  return (id: string, path: string): Cell | null => {
    const cells = data?.get(id)
    const place = placesOfColumn(path).find((one) => cells?.get(one))
    return (place === undefined ? undefined : cells?.get(place)) ?? null
  }
}
