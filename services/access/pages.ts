// Lists of users, grants and keys: JSON Lines in the order of their ids, a page at a time.
import { listPage } from '../core/http/list-page.ts'
import type { Reply, RouteContext } from '../core/http/route.ts'

/** @param idOf what `after` names */
export function pageOf<T>(
  { query }: Pick<RouteContext, 'query'>,
  found: readonly T[],
  idOf: (one: T) => string,
): Reply {
  const { after, limit } = listPage(query)
  const page = found
    .filter((one) => idOf(one) > after)
    .sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
    .slice(0, limit)
  async function* lines() {
    yield page.map((one) => `${JSON.stringify(one)}\n`).join('')
  }
  return { lines: lines(), contentType: 'application/jsonl' }
}
