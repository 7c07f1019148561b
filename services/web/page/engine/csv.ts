// Comma-separated values as spreadsheets read them, in which no text becomes a formula.
import { csvCell } from '../../../../schemas/csv.ts'
import { type Member, plainText } from './json-texts.ts'

export const csvLine = (cells: readonly string[]): string => `${cells.map((text) => csvCell(text, true)).join(',')}\r\n`

/** A line of values given as JSON: strings as they sound, nothing for null and for what is not there. */
export function csvRow(columns: readonly string[], members: readonly Member[]): string {
  const found = new Map(members)
  const cells = columns.map((name) => {
    const text = found.get(name)
    if (text === undefined || text === 'null') return ''
    return csvCell(plainText(text), !/^-?\d/.test(text))
  })
  return `${cells.join(',')}\r\n`
}
