// Records of calls as rows of comma-separated values, in which no text becomes a formula of a spreadsheet.

import { csvCell } from '../../../../schemas/csv.ts'
import { placeOf } from '../../../core/json/byte-walk.ts'
import { isObject } from '../../../core/json/objects.ts'
import type { Tokens } from '../../costs/prices.ts'
import { jsonPath, splitPath } from '../../language/path.ts'
import type { PathSegment } from '../../language/types.ts'
import { neutralName } from '../../language/wire-names.ts'
import { costFieldName } from '../conditions/usage-fields.ts'
import { tokensOf } from '../costs.ts'
import { isTraceColumn } from './whole-traces.ts'

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

function membersAt(record: Buffer, path: readonly PathSegment[]): Record<string, unknown> {
  const place = placeOf(record, path)
  const value: unknown = place === null ? null : JSON.parse(record.toString('utf8', place.start, place.end))
  return isObject(value) ? value : {}
}

type Reported = readonly (readonly [model: string, usage: Record<string, unknown>])[]

const sumOf = (usage: Reported, of: (tokens: Tokens) => number): string =>
  usage.length === 0 ? '' : String(usage.reduce((sum, [, one]) => sum + of(tokensOf(one)), 0))

/** Fields of queries that follow from the usage of a call and its costs: no record holds them. */
const ofUsage: Readonly<Record<string, (usage: Reported, costs: Record<string, unknown>) => string>> = {
  'summary.weave.model': (usage) => csvCell(usage.map(([model]) => model).join(', '), true),
  'summary.weave.tokens': (usage) => sumOf(usage, ({ prompt, completion }) => prompt + completion),
  'summary.weave.input_tokens': (usage) => sumOf(usage, ({ prompt }) => prompt),
  'summary.weave.output_tokens': (usage) => sumOf(usage, ({ completion }) => completion),
  [costFieldName](_, costs) {
    const all = Object.values(costs).filter(isObject)
    const totals = all.flatMap((one) => Object.entries(one).filter(([name]) => name.endsWith('_total_cost')))
    return all.length === 0 ? '' : String(totals.reduce((sum, [, value]) => sum + Number(value), 0))
  },
}

export const readsCosts = (names: readonly string[]): boolean => names.includes(costFieldName)

/**
 * @param record JSON text of a call
 * @param traceCell of the columns that say something of its whole trace
 */
export function csvRow({ names, paths }: CsvColumns, record: Buffer, traceCell: (name: string) => string): string {
  const hasUsage = names.some((name) => Object.hasOwn(ofUsage, name))
  const usage = hasUsage ? Object.entries(membersAt(record, ['summary', 'usage'])) : []
  const reported = usage.filter((one): one is [string, Record<string, unknown>] => isObject(one[1]))
  const costs = hasUsage ? membersAt(record, ['summary', 'weave', 'costs']) : {}
  const cells = names.map((name, n) => {
    if (isTraceColumn(name)) return traceCell(name)
    const made = Object.hasOwn(ofUsage, name) ? ofUsage[name] : undefined
    return made ? made(reported, costs) : valueAt(record, paths[n] as PathSegment[])
  })
  return `${cells.join(',')}\r\n`
}
