// Comma-separated values as spreadsheets read them, in which no text becomes a formula.
import { type Member, plainText } from './json-texts.ts'

/**
 * Signs that begin a formula, wide and small ones too, where a spreadsheet may begin a cell: at the start, behind blanks,
 * and behind what parts cells and lines in some countries. Bullets of a list are none.
 */
const formula =
  /(?<=(?:^|;)[\s\p{C}]*)[=+\-@＝＋－＠﹦﹢﹣﹫−]|(?<=[\t\r\n][\s\p{C}]*)(?:[=@＝＠﹦﹫]|[+\-＋－﹢﹣−](?!\s))/gu
const blankStart = /^[\t\r\n]/
const needsQuotes = /[",;\r\n]/

/** @param isText whether it may be taken for a formula: a number that was stored as one is no text */
function cell(text: string, isText: boolean): string {
  const safe = isText ? text.replaceAll(formula, "'$&").replace(blankStart, "'$&") : text
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const csvLine = (cells: readonly string[]): string => `${cells.map((text) => cell(text, true)).join(',')}\r\n`

/** A line of values given as JSON: strings as they sound, nothing for null and for what is not there. */
export function csvRow(columns: readonly string[], members: readonly Member[]): string {
  const found = new Map(members)
  const cells = columns.map((name) => {
    const text = found.get(name)
    if (text === undefined || text === 'null') return ''
    return cell(plainText(text), !/^-?\d/.test(text))
  })
  return `${cells.join(',')}\r\n`
}
