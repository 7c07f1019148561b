// Metrics of the statements that the store runs.
import type { Registry } from 'prom-client'
import { metricsIn } from '../process/metrics-in.ts'
import type { StoreMetrics } from './store.ts'

export function createStoreMetrics(registry: Registry): StoreMetrics {
  const { counter, histogram } = metricsIn(registry)
  const seconds = histogram(
    'callhouse_statement_seconds',
    'Time of statements in the store',
    [0.005, 0.02, 0.05, 0.2, 1, 5, 30],
    ...(['name', 'outcome'] as const),
  )
  const errors = counter(
    'callhouse_store_errors_total',
    'Statements that failed: data = rows that it does not take, busy = too many of a project wait, rows = it would read too many, outage, timeout, memory, cancelled, query',
    'kind',
  )
  return {
    statement({ name, ms, outcome }) {
      seconds.labels(name, outcome).observe(ms / 1000)
      if (outcome !== 'ok') errors.labels(outcome).inc()
    },
  }
}
