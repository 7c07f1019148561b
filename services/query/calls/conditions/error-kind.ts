// The kind of an error: its message with placeholders for numbers, ids and quoted values, alike for errors that differ in these.
import { param, type Sql, sql } from '../../../core/store/sql.ts'
import type { Column, ColumnSql } from '../../language/types.ts'

/** Characters of a message that are looked at, and of the kind. */
const maxMessage = 2_000
const maxKind = 200

/** A pattern for RE2 and JS alike: no classes whose letters differ. */
type Step = readonly [pattern: string, replacement: string]

/** In this order, over all of a text; `$1` is the first group. */
const steps: readonly Step[] = [
  // Values behind a word: `no order 'A-17'`. Members of objects tell errors of one status apart.
  [String.raw`([A-Za-z0-9_)][ :=(\[]{1,3})(?:"[^"]*"|'[^']*')`, '$1⟨text⟩'],
  ['0x[0-9a-fA-F]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}', '⟨id⟩'],
  ['[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+Z?)?', '⟨time⟩'],
  // Words with letters between digits.
  ['[A-Za-z0-9]*[0-9][A-Za-z]+[0-9][A-Za-z0-9]*', '⟨id⟩'],
  // A status of HTTP stays: it is the kind of an error itself.
  ['(^|(?:[Cc]ode|[Ss]tatus|HTTP(?:/[0-9.]+)?|Error)[ :=]{1,3})([45][0-9]{2})([^0-9A-Za-z]|$)', '$1⟨$2$3'],
  ['(^|[^0-9⟨])[0-9]+(?:[.,:][0-9]+)*', '$1⟨n⟩'],
  ['⟨([45][0-9]{2})', '$1'],
]

const space = String.raw`^[ \t\r\n]+`
const json = '{'
const traceback = 'Traceback (most recent call last)'
/** A traceback of Python up to the end of its last frame: what was thrown follows. */
const frames = String.raw`^[\s\S]*\n[ \t]+[^\n]*\n+`
const line = String.raw`^[^\r\n]*`
const memberOf = (name: string): string => String.raw`"${name}"[ \t\r\n]*:[ \t\r\n]*"((?:[^"\\]|\\[\s\S])*)`
const members = { type: memberOf('type'), message: memberOf('message') }
/** Escapes of JSON that matter: the end of a line, and a quote. */
const escapes: readonly Step[] = [
  [String.raw`\n`, '\n'],
  [String.raw`\"`, '"'],
]

const text = (value: string): Sql => param('String', value)
const replaced = (name: Sql, of: Sql, [pattern, replacement]: Step): Sql =>
  sql`${name}(${of}, ${text(pattern)}, ${text(replacement.replaceAll('$', '\\'))})`

function kindSql(of: ColumnSql): Sql {
  const trimmed = replaced(sql`replaceRegexpOne`, of('exception'), [space, ''])
  const member = (pattern: string): Sql =>
    escapes.reduce((value, step) => replaced(sql`replaceAll`, value, step), sql`extract(${trimmed}, ${text(pattern)})`)
  const [type, message] = [member(members.type), member(members.message)]
  const said = sql`multiIf(startsWith(${trimmed}, ${text(json)}) AND ${message} != '', concat(${type}, if(${type} = '', '', ': '), ${message}), startsWith(${trimmed}, ${text(traceback)}), ${replaced(sql`replaceRegexpOne`, trimmed, [frames, ''])}, ${trimmed})`
  const first = sql`substringUTF8(extract(${said}, ${text(line)}), 1, ${param('UInt32', maxMessage)})`
  const kind = steps.reduce((value, step) => replaced(sql`replaceRegexpAll`, value, step), first)
  return sql`nullIf(if(${of('exception')} = '', '', substringUTF8(${kind}, 1, ${param('UInt32', maxKind)})), '')`
}

const cut = (value: string, length: number): string => [...value.slice(0, 2 * length)].slice(0, length).join('')

/** The same in JS. */
export function errorKindOf(exception: string): string | null {
  const trimmed = exception.replace(new RegExp(space, 'u'), '')
  const member = (pattern: string): string =>
    escapes.reduce((value, [from, to]) => value.replaceAll(from, to), new RegExp(pattern, 'u').exec(trimmed)?.[1] ?? '')
  const said = (): string => {
    const [type, message] = [member(members.type), member(members.message)]
    if (trimmed.startsWith(json) && message !== '') return type === '' ? message : `${type}: ${message}`
    return trimmed.startsWith(traceback) ? trimmed.replace(new RegExp(frames, 'u'), '') : trimmed
  }
  const [first = ''] = new RegExp(line, 'u').exec(said()) ?? []
  const kind = steps.reduce(
    (value, [pattern, replacement]) => value.replaceAll(new RegExp(pattern, 'gu'), replacement),
    cut(first, maxMessage),
  )
  return cut(kind, maxKind) || null
}

export const errorKind: Column = {
  name: 'summary.weave.error_kind',
  kind: 'string',
  nullable: true,
  reads: ['exception'],
  sql: kindSql,
  read: (row) => errorKindOf(String(row.exception ?? '')),
}
