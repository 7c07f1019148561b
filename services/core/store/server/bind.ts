// Binds the parameters of a statement for the server: some travel beside it, the others within its text.
import { bind } from '../statement.ts'
import type { Query } from '../store.ts'

/** Scalars that are short and plain travel as the server's own parameters, everything else as literals (docs/adr/0015). */
const travelsBeside = (type: string, value: unknown): boolean => {
  if (/^U?Int(8|16|32|64)$/.test(type)) return ['number', 'bigint', 'string'].includes(typeof value)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is looking for
  return type === 'String' && typeof value === 'string' && value.length <= 200 && !/[\x00-\x1f\x7f]/.test(value)
}

export function bindForServer(
  query: Query,
  rename: (sql: string) => string,
): { sql: string; params: Record<string, unknown> } {
  const params: Record<string, unknown> = {}
  const bound = bind(query, (name, type) => {
    const value = query.params[name]
    if (name in params) return true
    if (Object.keys(params).length >= 20 || !travelsBeside(type, value)) return false
    params[name] = typeof value === 'string' ? value.toWellFormed() : value
    return true
  })
  return { sql: rename(bound), params }
}
