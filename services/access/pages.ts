// Lists of users, grants and keys: JSON Lines in the order of their ids, a page at a time.
import { invalid } from '../core/http/errors.ts'
import type { Reply, RouteContext } from '../core/http/route.ts'

const maxLimit = 1_000

/** @param idOf what `after` names */
export function pageOf<T>(
  { query }: Pick<RouteContext, 'query'>,
  found: readonly T[],
  idOf: (one: T) => string,
): Reply {
  const limit = query.get('limit') ?? String(maxLimit)
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > maxLimit)
    throw invalid({ loc: ['query', 'limit'], msg: `must be a whole number from 1 to ${maxLimit}`, type: 'value_error' })
  const after = query.get('after') ?? ''
  const page = found
    .filter((one) => idOf(one) > after)
    .sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
    .slice(0, Number(limit))
  async function* lines() {
    yield page.map((one) => `${JSON.stringify(one)}\n`).join('')
  }
  return { lines: lines(), contentType: 'application/jsonl' }
}
