// Metrics of the statements that the store runs.
import { Counter, Histogram, type Registry } from 'prom-client'
import type { StoreMetrics } from './store.ts'

export function createStoreMetrics(registry: Registry): StoreMetrics {
  const registers = [registry]
  const seconds = new Histogram({
    name: 'callhouse_statement_seconds',
    help: 'Time of statements in the store',
    labelNames: ['name', 'outcome'] as const,
    buckets: [0.005, 0.02, 0.05, 0.2, 1, 5, 30],
    registers,
  })
  const errors = new Counter({
    name: 'callhouse_store_errors_total',
    help: 'Statements that failed: data = rows that it does not take, busy = too many of a project wait, rows = it would read too many, outage, timeout, memory, cancelled, query',
    labelNames: ['kind'] as const,
    registers,
  })
  return {
    statement({ name, ms, outcome }) {
      seconds.labels(name, outcome).observe(ms / 1000)
      if (outcome !== 'ok') errors.labels(outcome).inc()
    },
  }
}
