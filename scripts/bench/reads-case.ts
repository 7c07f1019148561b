// A case of `npm run bench reads`: a route, SQL on the same tables, and SQL of the usual shape on its own table.
import type { Store } from '../../services/core/store/store.ts'

export type ReadCase = {
  name: string
  path: string
  body: Record<string, unknown>
  /** Hand-written on the tables of the project. */
  sql?: (store: Store) => Promise<unknown>
  /** Parts of calls grouped at read time, payloads looked into by JSONExtract (`callhouse.bench_parts`). */
  usual?: (store: Store) => Promise<unknown>
  /** Factor by which the route should be faster than the usual shape. */
  goal?: number
}
