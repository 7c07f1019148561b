// The store as handlers have it: it reads what the request that runs has opened, and nothing else.
import { throwUnlessOpened } from '../http/projects.ts'
import type { Query, QueryOptions, Store } from './store.ts'

/** What handlers may do with the store. */
export type OpenedStore = Pick<Store, 'rows' | 'bytes'>

/** Reads reject with an error that no caller is told, unless the handler has called `context.project` first. */
export const openedOnly = (store: OpenedStore): OpenedStore => ({
  async rows<T>(query: Query, options?: QueryOptions) {
    throwUnlessOpened(query)
    return store.rows<T>(query, options)
  },
  async bytes(query, format, options) {
    throwUnlessOpened(query)
    return store.bytes(query, format, options)
  },
})
