// The page of a list that a request asks for.
import { invalid } from './errors.ts'

const maxLimit = 1_000

/**
 * The piece behind the id `after` ('' = the first one), of up to `limit` lines.
 * @throws Fault 422 when the limit is not from 1 to 1,000
 */
export function listPage(query: URLSearchParams): { after: string; limit: number } {
  const limit = query.get('limit') ?? String(maxLimit)
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > maxLimit)
    throw invalid({ loc: ['query', 'limit'], msg: `must be a whole number from 1 to ${maxLimit}`, type: 'value_error' })
  return { after: query.get('after') ?? '', limit: Number(limit) }
}
