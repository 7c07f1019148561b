// Rows of a table as they come into view, their number, and one of them whole.
import { useQuery } from '@tanstack/react-query'
import { baseUrl, json } from '../api/client.ts'
import { objectText } from '../engine/json-texts.ts'
import { type ColumnChange, membersWithColumns, withColumns } from '../engine/table-columns.ts'
import type { Cells } from '../engine/table-edits.ts'
import { useList } from '../parts/use-list.ts'
import { ask } from '../worker/client.ts'
import type { TableCell, TableRow, WholeRow } from '../worker/tables.ts'

const pageRows = 200
/** Rows of a digest never change. */
const forEver = { staleTime: Number.POSITIVE_INFINITY }

export const useRowCount = (projectId: string, digest: string) =>
  useQuery({
    ...forEver,
    enabled: digest !== '',
    queryKey: ['table.count', projectId, digest],
    queryFn: ({ signal }) => json('tables.query_stats', { project_id: projectId, digest }, { signal }),
    select: ({ count }) => count,
  })

/** @param begins the row at hand at the start */
export const useTable = (projectId: string, digest: string, begins: number) =>
  useList<TableRow>({
    key: ['table', projectId, digest],
    pages: { by: 'range', size: pageRows },
    isFixed: true,
    begins,
    read: ({ offset, limit, signal }) =>
      ask('tableRows', [{ base: baseUrl, projectId, digest }, offset, limit], { signal }),
  })

/** Reads one row whole. */
export async function readRow(
  projectId: string,
  digest: string,
  index: number,
  columns: readonly ColumnChange[] = [],
): Promise<WholeRow | null> {
  const row = await ask('tableRow', [{ base: baseUrl, projectId, digest }, index])
  if (row === null || columns.length === 0) return row
  return ask('textDocument', [objectText(membersWithColumns(columns, row.cells))])
}

/** The row at a place, or the one that somebody has changed or added instead. */
export const useRow = (
  projectId: string,
  digest: string,
  index: number,
  edited: string | undefined,
  columns: readonly ColumnChange[],
) =>
  useQuery({
    queryKey: ['table.row', projectId, digest, index, edited, columns],
    queryFn: () => (edited === undefined ? readRow(projectId, digest, index, columns) : ask('textDocument', [edited])),
    // The worker keeps a document for a while only.
    gcTime: 60_000,
  })

const shownCharacters = 240

const shownCell = (name: string, text: string): TableCell => {
  const kind = kindOf(text)
  const shown = kind === 'string' ? stringOf(text) : text
  return { name, kind, text: shown.slice(0, shownCharacters), bytes: text.length }
}

/** A row that is not stored yet as the grid shows rows. */
export const rowOfCells = (cells: Cells): TableRow => ({ cells: cells.map(([name, text]) => shownCell(name, text)) })

/** A stored row with its columns changed. */
export const rowWithColumns = (columns: readonly ColumnChange[], row: TableRow | undefined): TableRow | undefined =>
  row === undefined || columns.length === 0
    ? row
    : {
        cells: withColumns(columns, row.cells, {
          nameOf: ({ name }) => name,
          renamed: (cell, name) => ({ ...cell, name }),
          made: shownCell,
        }),
      }

const stringOf = (text: string): string => JSON.parse(text) as string
const kinds = { '"': 'string', '{': 'object', '[': 'array', t: 'true', f: 'false', n: 'null' } as const
const kindOf = (text: string): TableRow['cells'][number]['kind'] =>
  kinds[text.charAt(0) as keyof typeof kinds] ?? 'number'
