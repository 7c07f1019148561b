// Query parameters of the evaluation routes.
import { integerIn, notAnInteger } from '../../schemas/coerce.ts'
import { fault, invalid } from '../core/http/errors.ts'

/** @throws Fault 422 when it is not an integer, 400 when it is negative */
function count(query: URLSearchParams, name: 'limit' | 'offset'): number | null {
  const sent = query.get(name)
  if (sent === null) return null
  const value = integerIn(sent)
  if (value === null) throw invalid({ loc: ['query', name], ...notAnInteger })
  if (value < 0) throw fault(400, `${name} must not be negative`)
  return Math.min(value, 0xffff_ffff)
}

/** Bounds of a page of a list; a limit of null means all. */
export type PageBounds = { limit: number | null; offset: number }

/** @throws Fault 422 or 400 */
export const boundsOfPage = (query: URLSearchParams): PageBounds => ({
  limit: count(query, 'limit'),
  offset: count(query, 'offset') ?? 0,
})

/** @throws Fault 422 when the parameter is there and no boolean */
export function checkBoolean(query: URLSearchParams, name: string): void {
  const sent = query.get(name)
  if (sent === null || /^(?:true|false|1|0|t|f|yes|no|y|n|on|off)$/i.test(sent)) return
  const msg = 'Input should be a valid boolean, unable to interpret input'
  throw invalid({ loc: ['query', name], msg, type: 'bool_parsing' })
}
