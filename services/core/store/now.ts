// Reads the clock of the database.
import type { Store } from './store.ts'

/** @returns milliseconds since 1970, undefined when it does not say */
export async function databaseNowMs(store: Pick<Store, 'rows'>): Promise<number | undefined> {
  const [answer] = await store.rows<{ ms: number }>({
    name: 'clock.now',
    sql: 'SELECT toFloat64(toUnixTimestamp64Milli(now64(3))) AS ms',
    params: {},
  })
  return answer?.ms
}
