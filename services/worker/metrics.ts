// Metrics of the worker in the registry that /metrics shows.
import type { Registry } from 'prom-client'
import { metricsIn } from '../core/process/metrics-in.ts'
import type { JoinedCounts } from '../derived/logs/look.ts'
import type { BatchReport } from './run.ts'

export type WorkerMetrics = {
  onBatch(report: BatchReport): void
  onRetry(topic: string): void
  /** Each new call is looked up in the tables from now on. */
  onLookUps(reason: string): void
  onJoined(counts: JoinedCounts): void
  /** Number of erasures that are not done by their deadline, and of those that failed. */
  onOpenErasures(counts: { overdue: number; failed: number }): void
  /** Publishes how far rollups lag behind the rows. */
  watchRollupLag(lags: () => { name: string; lagMs: number }[]): void
}

export function createWorkerMetrics(registry: Registry): WorkerMetrics {
  const { counter, gauge, histogram, looked } = metricsIn(registry)
  const rows = counter('callhouse_rows_applied_total', 'Rows applied to the tables', 'topic')
  const dead = counter('callhouse_dead_letters_total', 'Rows kept as dead letters', 'topic')
  const retries = counter('callhouse_batch_retries_total', 'Batches tried again after an outage', 'topic')
  const joins = counter(
    'callhouse_log_joins_total',
    'Calls that log records became part of, feedback that they became, those beyond the bound of a span, and calls of coding agents that lie below a prompt now',
    'kind',
  )
  const ended = counter(
    'callhouse_fingerprints_ended_total',
    'Processes that look each new call up in the tables: fingerprints have no room for more, or met a row of another build',
    'reason',
  )
  const took = histogram(
    'callhouse_batch_seconds',
    'Time from taking a batch to its commit',
    [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15],
    'topic',
  )
  const visible = histogram(
    'callhouse_visible_after_seconds',
    'Time from the append of the oldest record of a batch to its commit',
    [0.05, 0.1, 0.2, 0.4, 1, 2, 5, 15, 60],
    'topic',
  )
  const open = gauge('callhouse_erasures_open', 'Erasures that are overdue, and those that failed', 'state')
  for (const state of ['overdue', 'failed']) open.labels(state).set(0)
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
    onOpenErasures(counts) {
      for (const [state, count] of Object.entries(counts)) open.labels(state).set(count)
    },
    onRetry: (topic) => retries.labels(topic).inc(),
    onLookUps: (reason) => ended.labels(reason).inc(),
    watchRollupLag(lags) {
      looked(
        'callhouse_rollup_lag_seconds',
        'Age of the oldest change that a recomputed table does not hold; reads compute what it lacks',
        (gauge) => {
          for (const { name, lagMs } of lags()) gauge.labels(name).set(lagMs / 1000)
        },
        'table',
      )
    },
  }
}
