// Records of calls as rows of comma-separated values, in which no text becomes a formula of a spreadsheet.

import { csvCell } from '../../../../schemas/csv.ts'
import { placeOf } from '../../../core/json/byte-walk.ts'
import { jsonPath, splitPath } from '../../language/path.ts'
import type { PathSegment } from '../../language/types.ts'
import { neutralName } from '../../language/wire-names.ts'

const quote = 0x22

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

export const csvHead = ({ names }: CsvColumns): string => `${names.map((name) => csvCell(name, true)).join(',')}\r\n`

/** Strings as they sound, everything else as it is stored, nothing for null and for what is not there. */
function valueAt(record: Buffer, path: readonly PathSegment[]): string {
  const place = placeOf(record, path)
  if (place === null) return ''
  const text = record.toString('utf8', place.start, place.end)
  if (text === 'null') return ''
  return record[place.start] === quote ? csvCell(JSON.parse(text) as string, true) : csvCell(text, !/^-?\d/.test(text))
}

/** @param record JSON text of a call */
export const csvRow = ({ paths }: CsvColumns, record: Buffer): string =>
  `${paths.map((path) => valueAt(record, path)).join(',')}\r\n`
