// Runs a statement, tells the metrics how long it took, and turns what it throws into an error of the store.
import { toStoreError } from './errors.ts'
import type { StoreError, StoreMetrics } from './store.ts'

export type Timed = <T>(
  name: string,
  pool: string,
  purpose: 'read' | 'command' | 'insert',
  run: () => Promise<T>,
) => Promise<T>

/** @param refine what a driver knows better about its errors */
export function timedWith(
  metrics: StoreMetrics | undefined,
  refine: (failure: StoreError) => StoreError = (failure) => failure,
): Timed {
  return async (name, pool, purpose, run) => {
    const start = performance.now()
    try {
      const result = await run()
      metrics?.statement({ name, pool, ms: performance.now() - start, outcome: 'ok' })
      return result
    } catch (error) {
      const failure = toStoreError(error, purpose)
      metrics?.statement({ name, pool, ms: performance.now() - start, outcome: failure.kind })
      throw refine(failure)
    }
  }
}
