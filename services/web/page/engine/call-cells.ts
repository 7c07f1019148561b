// A call as one row of cells: what it is, then each of its inputs and what came out, as JSON that keeps its spelling.
import { type Member, membersIn, membersOfText } from './json-texts.ts'
import { usageOf } from './rows.ts'

/** Members of a record that say what a call is; the rest is about the project, or is opened. */
const heads = [
  'id',
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'op_name',
  'display_name',
  'started_at',
  'ended_at',
  'exception',
]
const wholes = ['attributes', 'summary']

const opened = (name: string, text: string | undefined): Member[] => {
  if (text === undefined || text === 'null') return []
  if (!text.startsWith('{')) return [[name, text]]
  return membersOfText(text).map(([key, value]) => [`${name}.${key}`, value] as const)
}

const asJson = (value: string | number | null): string => (value === null ? 'null' : JSON.stringify(value))

/** The usage that a call reports of its models, under the names of the fields of queries. */
function usageCells(summary: string | undefined): Member[] {
  if (summary === undefined || !summary.startsWith('{')) return []
  const { model, tokensIn, tokensOut, cost } = usageOf(JSON.parse(summary) as Record<string, unknown>)
  const cells: Member[] = [
    ['summary.weave.model', asJson(model)],
    ['summary.weave.input_tokens', asJson(tokensIn)],
    ['summary.weave.output_tokens', asJson(tokensOut)],
    ['summary.weave.cost', asJson(cost)],
  ]
  return cells.filter(([, text]) => text !== 'null')
}

/** Further cells of a row: the usage of the call, or its inputs and output as they are. */
export type CellsWith = 'usage' | 'wholes'

/** @param at where the record begins */
export function callCells(bytes: Uint8Array, at: number, more?: CellsWith): Member[] {
  const found = new Map(membersIn(bytes, at))
  const named = (names: readonly string[]): Member[] =>
    names.flatMap((name) => {
      const text = found.get(name)
      return text === undefined ? [] : [[name, text] as const]
    })
  const wholeOf = (name: string): Member[] => {
    const text = found.get(name)
    return more === 'wholes' && text?.startsWith('{') ? [[name, text]] : []
  }
  return [
    ...named(heads),
    ...(more === 'usage' ? usageCells(found.get('summary')) : []),
    ...wholeOf('inputs'),
    ...wholeOf('output'),
    ...opened('inputs', found.get('inputs')),
    ...opened('output', found.get('output')),
    ...named(wholes),
  ]
}

/** Name of a call's column in a row of a dataset. */
export const rowName = (column: string): string => column.replace(/^inputs\./, '')

/** Whether a column is all of what went in, or of what came out: what a dataset has unless others are chosen. */
export const isWhole = (column: string): boolean => column === 'inputs' || column === 'output'
