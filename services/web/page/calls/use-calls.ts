// Pages of a list of calls, as far as they are in view; cells of inputs and output for the rows that are seen.
import type { QueryClient } from '@tanstack/react-query'
import { useDeferredValue, useMemo, useRef } from 'react'
import { baseUrl, json } from '../api/client.ts'
import { type ListRequest, madeColumns, usualColumns } from '../engine/calls-search.ts'
import type { ListPage } from '../engine/lists.ts'
import { sameRows, type ValueOfRow } from '../engine/row-values.ts'
import type { Row } from '../engine/rows.ts'
import { type List, type ListQuestion, listPageQuery } from '../parts/use-list.ts'
import type { Shapes } from '../routes.gen.ts'
import { ask } from '../worker/client.ts'
import type { Preview } from '../worker/main.ts'
import { placesOfColumn } from './columns.ts'
import { useRowValues } from './use-row-values.ts'

const pageRows = 100
/** Payloads of larger calls are not read for a row; their size is shown instead. */
export const cellBytes = 262_144
export const countBound = 10_001

/** @param question the part of the address that decides which rows there are */
export const callsQuestion = (
  request: ListRequest | undefined,
  hasText = false,
  question = '',
  isOn = true,
): ListQuestion<Row> => ({
  key: ['calls', request],
  pages: { by: 'range', size: pageRows },
  isOn: isOn && request !== undefined,
  question,
  keeps: request?.project_id ?? '',
  read: ({ offset, limit, ...asking }) => ask('calls', [baseUrl, { ...request, limit, offset }], asking),
  async total(signal) {
    const { sort_by: _, ...rest } = request as ListRequest
    return (await json('calls.query_stats', { ...rest, ...(hasText && { limit: countBound }) }, { signal })).count
  },
})

/** All rows of a list, where they are here. */
export const allOf = ({ items, total, isPart, isOld }: List<Row>): readonly Row[] | undefined =>
  !isPart && !isOld && items?.length === total ? items : undefined

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
export function useVisible(calls: List<Row>): readonly Row[] {
  const seen = useDeferredValue(calls.range)
  const shown = useRef<readonly Row[]>([])
  // Whole blocks, so that a step of one row asks for nothing new.
  const from = Math.floor(seen.from / 20) * 20
  const to = Math.ceil(seen.to / 20) * 20
  const found: Row[] = []
  for (let index = from; index < to; index++) {
    const row = calls.rowAt(index)
    if (row) found.push(row)
  }
  shown.current = sameRows(shown.current, found)
  return shown.current
}

/** What is said of calls that run changes with their end. */
const runningOf = (rows: readonly Row[]): string[] =>
  rows.filter(({ status }) => status === 'running').map(({ id }) => id)
const isLarge = ({ size }: Row): boolean => (size ?? 0) > cellBytes

/** Previews of inputs and output of the rows in view, and the kinds that attributes name; null for large calls. */
export function usePreviews(project: string, rows: readonly Row[], isOn: boolean) {
  // By blocks of the list, so that a scroll asks for what is new only.
  const ids = useMemo(() => rows.filter((row) => !isLarge(row)).map(({ id }) => id), [rows])
  const known = useRowValues<Preview>({
    kind: 'previews of rows',
    project,
    ids,
    more: runningOf(rows),
    isOn,
    read: async (signal) => new Map(Object.entries(await ask('previews', [baseUrl, project, [...ids]], { signal }))),
  })
  return (row: Row): ValueOfRow<Preview> => (isLarge(row) ? null : known(row.id))
}

export type Cell = NonNullable<Shapes['calls.cells']['out']['cells'][string][number]>

/** Cells of the chosen columns, by path; of large calls those of inputs and output too, which have no preview. */
export function useCells(project: string, rows: readonly Row[], columns: readonly string[], isOn: boolean) {
  const paths = columns
    .filter((path) => path !== '-' && ![...usualColumns, ...madeColumns].includes(path))
    .flatMap(placesOfColumn)
  const asked = rows.some(isLarge) ? [...paths, ...usualColumns] : paths
  const ids = rows.filter((row) => paths.length > 0 || isLarge(row)).map(({ id }) => id)
  const known = useRowValues<ReadonlyMap<string, Cell | null>>({
    kind: 'cells',
    project,
    ids,
    more: [asked, runningOf(rows)],
    isOn: isOn && asked.length > 0,
    async read(signal) {
      const { cells } = await json('calls.cells', { project_id: project, call_ids: ids, paths: asked }, { signal })
      return new Map(
        Object.entries(cells).map(([id, of]) => [id, new Map(asked.map((path, n) => [path, of[n] ?? null]))] as const),
      )
    },
  })
  return (id: string, path: string): ValueOfRow<Cell> => {
    const places = placesOfColumn(path)
    if (!ids.includes(id) || !places.some((place) => asked.includes(place))) return null
    const cells = known(id)
    if (cells === null || typeof cells !== 'object') return cells
    const found = places.map((place) => cells.get(place))
    return found.find((cell) => cell) ?? (found.includes(undefined) ? undefined : null)
  }
}
