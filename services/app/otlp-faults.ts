// Counts what was wrong with items of OTLP that were taken all the same.
import type { Registry } from 'prom-client'
import { metricsIn } from '../core/process/metrics-in.ts'

export function faultCounter(registry: Registry): (kind: string, items: number) => void {
  const counter = metricsIn(registry).counter(
    'callhouse_otlp_faults_total',
    'Spans, log records and resources that were taken although something was wrong with them, by what it was',
    'kind',
  )
  return (kind, items) => counter.labels(kind).inc(items)
}
