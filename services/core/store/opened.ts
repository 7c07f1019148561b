// The ports as handlers have them: they read what the request that runs has opened, and work that wrote stays where it is.
import type { Audit } from '../audit/audit.ts'
import type { EdgeLog } from '../log/log.ts'
import { keepWork, moveWork, throwUnlessOpened } from '../process/running-handler.ts'
import { parseRows } from './rows.ts'
import type { Query, QueryOptions, Store } from './store.ts'

/** The store as handlers see it. */
export type OpenedStore = Pick<Store, 'rows' | 'bytes'>

/** Answers of JSON that become values within some 25 ms, with what is done with them. */
const maxAnswerBytes = 1024 * 1024

/** The key by which a restarted thread finds the answer to its query. */
export const answerKey = ({ sql, params }: Query, format: string): string =>
  JSON.stringify([sql, params, format], (_, value) => (typeof value === 'bigint' ? `${value}n` : value))

/**
 * Reads reject with an error that no caller is told, unless the handler has called `context.project` first; and with
 * `TooLongHere` when the answer would keep the event loop.
 */
export function openedOnly(store: Pick<Store, 'bytes'>): OpenedStore {
  async function bytes(query: Query, format: string, options?: QueryOptions): Promise<Buffer> {
    throwUnlessOpened(query)
    const answer = await store.bytes(query, format, options)
    // Answers in other formats never become values.
    if (answer.length > maxAnswerBytes && format.startsWith('JSON'))
      moveWork({ key: answerKey(query, format), bytes: answer })
    return answer
  }
  return {
    bytes,
    rows: async <T>(query: Query, options?: QueryOptions) => parseRows<T>(await bytes(query, 'JSONEachRow', options)),
  }
}

/** The log as handlers have it: once they have written, their work stays where it is. */
export const writtenOnce = (log: EdgeLog): EdgeLog => ({
  ...(log.refusal && { refusal: log.refusal }),
  flush: (topic) => log.flush(topic),
  async append(topic, records) {
    keepWork()
    return log.append(topic, records)
  },
})

/** The audit log as handlers have it: an event that stands there is not told again elsewhere. */
export const recordedOnce = ({ record, begin }: Audit): Audit => ({
  record,
  async begin(events) {
    keepWork()
    return begin(events)
  },
})
