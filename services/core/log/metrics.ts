// Metrics of the log: what waits to be applied, per topic and partition, and what appends took or were refused for.
import type { Registry } from 'prom-client'
import { metricsIn } from '../process/metrics-in.ts'
import type { Lag, Log } from './log.ts'

/** With more partitions a process shows only those that it applies: otherwise every process would show them all. */
const maxForeignPartitions = 64

/** @param limitBytes where appends are refused */
export function observeLog(registry: Registry, log: Pick<Log, 'health' | 'lag' | 'topics'>, limitBytes: number): void {
  const metrics = metricsIn(registry)
  metrics.value(
    'callhouse_log_unapplied_bytes',
    'Bytes in the log that are not applied',
    () => log.health().unappliedBytes,
  )
  metrics.value(
    'callhouse_log_unapplied_limit_bytes',
    'Unapplied bytes above which writes are refused',
    () => limitBytes,
  )
  metrics.value(
    'callhouse_log_lag_seconds',
    'Age of the oldest record that is not applied',
    () => log.health().lagMs / 1000,
  )

  const perTopic = (name: string, help: string, read: (lags: Lag[]) => number): void =>
    metrics.looked(
      name,
      help,
      (gauge) => {
        const lags = Map.groupBy(log.lag(), ({ topic }) => topic)
        for (const topic of log.topics) gauge.labels(topic).set(read(lags.get(topic) ?? []))
      },
      'topic',
    )
  perTopic('callhouse_log_topic_unapplied_records', 'Records of a topic that are not applied', (lags) =>
    lags.reduce((sum, { records }) => sum + records, 0),
  )
  perTopic(
    'callhouse_log_topic_lag_seconds',
    'Age of the oldest record of a topic that is not applied; its tables lack what is younger',
    (lags) => Math.max(0, ...lags.map(({ ageMs }) => ageMs)) / 1000,
  )
  perTopic('callhouse_log_partitions', 'Partitions of a topic', (lags) => lags.length)
  perTopic(
    'callhouse_log_partitions_owned',
    'Partitions of a topic that this process applies',
    (lags) => lags.filter(({ isOwn }) => isOwn).length,
  )

  const perPartition = (name: string, help: string, read: (lag: Lag) => number): void =>
    metrics.looked(
      name,
      help,
      (gauge) => {
        // A partition that another process applies now must not stay with its last value.
        gauge.reset()
        for (const lags of Map.groupBy(log.lag(), ({ topic }) => topic).values())
          for (const lag of lags)
            if (lag.isOwn || lags.length <= maxForeignPartitions)
              gauge.labels(lag.topic, `${lag.partition}`).set(read(lag))
      },
      ...(['topic', 'partition'] as const),
    )
  perPartition(
    'callhouse_log_partition_unapplied_records',
    'Records of a partition that are not applied',
    ({ records }) => records,
  )
  perPartition(
    'callhouse_log_partition_lag_seconds',
    'Age of the oldest record of a partition that is not applied',
    ({ ageMs }) => ageMs / 1000,
  )
}

/**
 * The same log, which counts appends: their time, rows and bytes, and by status those that were refused.
 * @param statusOf what such an error is answered with
 */
export function withAppendMetrics<L extends Pick<Log, 'append'>>(
  log: L,
  registry: Registry,
  statusOf: (error: unknown) => number,
): L {
  const { counter, histogram } = metricsIn(registry)
  const seconds = histogram(
    'callhouse_append_seconds',
    'Time until appended rows are durable',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15],
    'topic',
  )
  const rows = counter('callhouse_append_rows_total', 'Rows that are durable', 'topic')
  const bytes = counter('callhouse_append_bytes_total', 'Bytes of rows that are durable', 'topic')
  const refused = counter(
    'callhouse_append_refused_total',
    'Appends that were refused, by the status of the answer: 429 too much waits, 503 no disk or broker, 413 too large',
    ...(['topic', 'status'] as const),
  )
  return {
    ...log,
    async append(topic, records) {
      const beganMs = performance.now()
      // The rows may change once they are durable.
      const rowCount = records.reduce((sum, record) => sum + record.rowCount, 0)
      const sizeBytes = records.reduce((sum, record) => sum + record.rows.length, 0)
      try {
        const position = await log.append(topic, records)
        seconds.labels(topic).observe((performance.now() - beganMs) / 1000)
        rows.labels(topic).inc(rowCount)
        bytes.labels(topic).inc(sizeBytes)
        return position
      } catch (error) {
        refused.labels(topic, String(statusOf(error))).inc()
        throw error
      }
    },
  }
}
