// Reads one value out of a JSON text in SQL: its string form, whether it is there, with indexes that may also be keys.
import { holdsOwnValues, ownValueKey, ownValueLead } from '../../core/json/own-value.ts'
import { identifier, join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { ColumnSql, JsonField, PathSegment } from './types.ts'

/** Engine functions of (text, path...): string form, raw JSON text ('' for what is missing), type ('Null' for that). */
type Extract = 'JSONExtractString' | 'JSONExtractRaw' | 'JSONType'

/** Engine indexes count from 1. */
const asIndex = (segment: PathSegment): Sql => param('Int64', Number(segment) + 1)
const asKey = (segment: PathSegment): Sql => param('String', String(segment))
const call = (name: Extract, text: Sql, path: readonly Sql[]): Sql =>
  sql`${identifier(name)}(${join([text, ...path], ', ')})`

/**
 * An integer index means the n-th member to the engine when it meets an object, so the container's type decides between
 * index and key. A second integer segment goes on in the raw text of the first part, bound by a lambda.
 */
function extract(name: Extract, text: Sql, path: readonly PathSegment[], level = 0): Sql {
  const first = path.findIndex((segment) => typeof segment === 'number')
  if (first === -1) return call(name, text, path.map(asKey))
  const second = path.findIndex((segment, i) => i > first && typeof segment === 'number')
  if (second !== -1) {
    const bound = identifier(`json_${level}`)
    const rest = extract(name, bound, path.slice(second), level + 1)
    return sql`arrayMap(${bound} -> ${rest}, [${extract('JSONExtractRaw', text, path.slice(0, second), level)}])[1]`
  }
  const before = path.slice(0, first).map(asKey)
  const after = path.slice(first + 1).map(asKey)
  const segment = path[first] as PathSegment
  const isArray = sql`${call('JSONType', text, before)} = 'Array'`
  const item = call(name, text, [...before, asIndex(segment), ...after])
  return sql`if(${isArray}, ${item}, ${call(name, text, [...before, asKey(segment), ...after])})`
}

function read(name: Extract, { document, path, over }: JsonField, of: ColumnSql): Sql {
  const value = extract(name, of(document), path)
  if (over === undefined) return value
  return sql`if(${of(over.document)} != '', ${extract(name, of(over.document), over.path)}, ${value})`
}

/** String form of a JSON value; '' when missing or null. For an object with its own value it is that of this value. */
export function jsonString(json: JsonField, of: ColumnSql): Sql {
  const form = read('JSONExtractString', json, of)
  if (!holdsOwnValues(json.document)) return form
  return sql`if(startsWith(${form}, ${param('String', ownValueLead)}), JSONExtractString(${form}, ${param('String', ownValueKey)}), ${form})`
}

/** True when the value is present and not JSON null. */
export const jsonExists = (json: JsonField, of: ColumnSql): Sql => sql`${read('JSONType', json, of)} != 'Null'`

/** Text that can only lie inside one string or word of a minified document, never across tokens or in a number. */
function liesInsideOneToken(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are escaped in documents
  if (/["\\{}[\]\u0000-\u001f]|[,:](?! )/.test(text) || !/[^0-9eE.+-]/.test(text)) return false
  // The engine spells line separators \u2028 and \u2029 in the text form, whatever the document does.
  return !/^(u$|u2|[0289])/i.test(text)
}

/**
 * Cheap test of the stored text that every match of a substring passes: the text itself occurs, or an escape that may
 * spell it. Null when there is no such test. Building the text form of a whole document costs ten times as much.
 */
export function mayContain({ document, over }: JsonField, text: string, fold: boolean, of: ColumnSql): Sql | null {
  if (over !== undefined || !liesInsideOneToken(text)) return null
  const search = identifier(fold ? 'multiSearchAnyCaseInsensitiveUTF8' : 'multiSearchAny')
  return sql`${search}(${of(document)}, [${param('String', text)}, '\\\\u', '\\\\/'])`
}
