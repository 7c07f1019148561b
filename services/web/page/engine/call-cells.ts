// A call as one row of cells: what it is, then each of its inputs and what came out, as JSON that keeps its spelling.
import { type Member, membersIn, membersOfText } from './json-texts.ts'

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

/** @param at where the record begins */
export function callCells(bytes: Uint8Array, at: number): Member[] {
  const found = new Map(membersIn(bytes, at))
  const named = (names: readonly string[]): Member[] =>
    names.flatMap((name) => {
      const text = found.get(name)
      return text === undefined ? [] : [[name, text] as const]
    })
  return [
    ...named(heads),
    ...opened('inputs', found.get('inputs')),
    ...opened('output', found.get('output')),
    ...named(wholes),
  ]
}

/** What a row of a dataset calls a column that comes from a call. */
export const rowName = (column: string): string => column.replace(/^inputs\./, '')

/** Whether a column of calls is one that a dataset mostly wants. */
export const isPayload = (column: string): boolean => /^(?:inputs\.|output$|output\.)/.test(column)
