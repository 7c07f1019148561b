// A rectangle of cells, as spreadsheets copy it, over the rows of a table.
import { delimited, isValue } from './import-rows.ts'
import type { Cells } from './table-edits.ts'

/** Lines of cells. Quotes hold tabs and line ends; a text that only looks quoted is taken as it is. */
export function rectangleOf(text: string): string[][] {
  const records = delimited(text, '\t', true)
  if (records.some(({ fault }) => fault !== undefined))
    return text
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .map((line) => line.split('\t'))
  return records.map(({ cells }) => cells)
}

const isText = (json: string | undefined): boolean => json?.startsWith('"') === true

/**
 * Rows with the rectangle over them, and further ones where it is longer. A cell becomes JSON, as it is written, where the
 * table holds values there that are no texts: in the row that it replaces, else in the last one. Elsewhere it is a text.
 * @param rows what stands under it
 * @param columns of the rectangle, from its left edge on
 */
export function pastedRows(
  rows: readonly Cells[],
  last: Cells,
  columns: readonly string[],
  rectangle: string[][],
): Cells[] {
  return rectangle.map((line, n) => {
    const under = new Map(rows[n] ?? [])
    const kinds = rows[n] === undefined ? new Map(last) : under
    for (const [place, cell] of line.entries()) {
      const name = columns[place]
      if (name === undefined) continue
      const before = kinds.get(name)
      const isJson = before !== undefined && !isText(before) && cell.trim() !== '' && isValue(cell)
      under.set(name, isJson ? cell.trim() : JSON.stringify(cell))
    }
    return [...under]
  })
}
