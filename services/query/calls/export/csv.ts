// Records of calls as rows of comma-separated values, in which no text becomes a formula of a spreadsheet.

import { placeOf } from '../../../core/json/byte-walk.ts'
import { jsonPath, splitPath } from '../../language/path.ts'
import type { PathSegment } from '../../language/types.ts'
import { neutralName } from '../../language/wire-names.ts'

/**
 * Signs that begin a formula, wide and small ones too, where a spreadsheet may begin a cell: at the start, behind blanks,
 * and behind what parts cells and lines in some countries. Bullets of a list are none.
 */
const formula =
  /(?<=(?:^|;)[\s\p{C}]*)[=+\-@＝＋－＠﹦﹢﹣﹫−]|(?<=[\t\r\n][\s\p{C}]*)(?:[=@＝＠﹦﹫]|[+\-＋－﹢﹣−](?!\s))/gu
const blankStart = /^[\t\r\n]/
const needsQuotes = /[",;\r\n]/
const quote = 0x22

/** @param isText whether it may be taken for a formula: a number that was stored as one is no text */
function cell(text: string, isText: boolean): string {
  const safe = isText ? text.replaceAll(formula, "'$&").replace(blankStart, "'$&") : text
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Fields by their dotted names, as filters spell them. */
export type CsvColumns = { names: readonly string[]; paths: readonly PathSegment[][] }

/**
 * @param prefix of users and runs in the records, which may be asked for by either spelling
 * @throws Fault 422 for names that can name nothing
 */
export const csvColumns = (names: readonly string[], prefix: string): CsvColumns => ({
  names,
  paths: names.map((name) => {
    const neutral = neutralName(name)
    return jsonPath(splitPath(neutral === '' || neutral === name ? name : `${prefix}_${neutral}`), name)
  }),
})

export const csvHead = ({ names }: CsvColumns): string => `${names.map((name) => cell(name, true)).join(',')}\r\n`

/** Strings as they sound, everything else as it is stored, nothing for null and for what is not there. */
function valueAt(record: Buffer, path: readonly PathSegment[]): string {
  const place = placeOf(record, path)
  if (place === null) return ''
  const text = record.toString('utf8', place.start, place.end)
  if (text === 'null') return ''
  return record[place.start] === quote ? cell(JSON.parse(text) as string, true) : cell(text, !/^-?\d/.test(text))
}

/** @param record JSON text of a call */
export const csvRow = ({ paths }: CsvColumns, record: Buffer): string =>
  `${paths.map((path) => valueAt(record, path)).join(',')}\r\n`
