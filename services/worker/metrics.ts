// Metrics of the worker in the registry that /metrics shows.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { BatchReport } from './run.ts'

export type WorkerMetrics = {
  onBatch(report: BatchReport): void
  onRetry(topic: string): void
  /** Number of calls that log records became part of, and of feedback made of log records. */
  onJoined(counts: { calls: number; feedback: number }): void
  /** Publishes how far rollups lag behind the rows. */
  watchRollupLag(lags: () => { name: string; lagMs: number }[]): void
}

export function createWorkerMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry]
  const rows = new Counter({
    name: 'callhouse_rows_applied_total',
    help: 'Rows applied to the tables',
    labelNames: ['topic'] as const,
    registers,
  })
  const dead = new Counter({
    name: 'callhouse_dead_letters_total',
    help: 'Rows kept as dead letters',
    labelNames: ['topic'] as const,
    registers,
  })
  const retries = new Counter({
    name: 'callhouse_batch_retries_total',
    help: 'Batches tried again after an outage',
    labelNames: ['topic'] as const,
    registers,
  })
  const joins = new Counter({
    name: 'callhouse_log_joins_total',
    help: 'Calls that log records became part of, and feedback that they became',
    labelNames: ['kind'] as const,
    registers,
  })
  const took = new Histogram({
    name: 'callhouse_batch_seconds',
    help: 'Time from taking a batch to its commit',
    labelNames: ['topic'] as const,
    buckets: [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15],
    registers,
  })
  const visible = new Histogram({
    name: 'callhouse_visible_after_seconds',
    help: 'Time from the append of the oldest record of a batch to its commit',
    labelNames: ['topic'] as const,
    buckets: [0.05, 0.1, 0.2, 0.4, 1, 2, 5, 15, 60],
    registers,
  })
  return {
    onBatch(report) {
      rows.labels(report.topic).inc(report.rows)
      if (report.deadLetters > 0) dead.labels(report.topic).inc(report.deadLetters)
      took.labels(report.topic).observe(report.tookMs / 1000)
      visible.labels(report.topic).observe(report.lagMs / 1000)
    },
    onJoined(counts) {
      for (const [kind, count] of Object.entries(counts)) joins.labels(kind).inc(count)
    },
    onRetry: (topic) => retries.labels(topic).inc(),
    watchRollupLag(lags) {
      new Gauge({
        name: 'callhouse_rollup_lag_seconds',
        help: 'Age of the oldest change that a recomputed table does not hold; reads compute what it lacks',
        labelNames: ['table'] as const,
        registers,
        collect() {
          for (const { name, lagMs } of lags()) this.labels(name).set(lagMs / 1000)
        },
      })
    },
  }
}
