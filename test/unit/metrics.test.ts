// The metrics of log, worker and process: what they say, and that their number does not grow with the installation.
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { overLimit, tooLarge, unavailable } from '../../services/core/errors.ts'
import { statusOf } from '../../services/core/http/errors.ts'
import type { Lag, Log, RecordInput } from '../../services/core/log/log.ts'
import { observeLog, withAppendMetrics } from '../../services/core/log/metrics.ts'
import { observeProcess } from '../../services/core/process/process-metrics.ts'
import { createStoreMetrics } from '../../services/core/store/metrics.ts'
import { createWorkerMetrics } from '../../services/worker/metrics.ts'
import { parseExposition } from '../fixtures/exposition.ts'
import { recordOf } from '../fixtures/log-record.ts'

const scrape = async (registry: Registry) => parseExposition(await registry.metrics())
const lag = (partition: number, more: Partial<Lag> = {}): Lag => ({
  topic: 'calls',
  partition,
  records: 0,
  bytes: 0,
  ageMs: 0,
  isOwn: false,
  ...more,
})

it('/metrics shows what waits in the log, per partition and per topic', async () => {
  const registry = new Registry()
  let lags = [lag(0, { records: 3, ageMs: 1_500, isOwn: true }), lag(1, { records: 4, ageMs: 250 })]
  const health = () => ({ status: 'ok' as const, unappliedBytes: 700, lagMs: 1_500 })
  observeLog(registry, { topics: ['calls', 'feedback'], health, lag: () => lags }, 10_000)
  const before = await scrape(registry)
  const seen = (samples: typeof before) => ({
    total: ['unapplied_bytes', 'unapplied_limit_bytes', 'lag_seconds'].map((name) =>
      samples.value(`callhouse_log_${name}`),
    ),
    topic: ['topic_unapplied_records', 'topic_lag_seconds', 'partitions', 'partitions_owned'].map((name) =>
      samples.value(`callhouse_log_${name}`, { topic: 'calls' }),
    ),
    partitions: ['0', '1'].map((partition) =>
      ['unapplied_records', 'lag_seconds'].map((name) =>
        samples.value(`callhouse_log_partition_${name}`, { topic: 'calls', partition }),
      ),
    ),
  })
  expect(seen(before)).toEqual({
    total: [700, 10_000, 1.5],
    topic: [7, 1.5, 2, 1],
    partitions: [
      [3, 1.5],
      [4, 0.25],
    ],
  })
  // Topics that nothing waits in are shown too: else an alert on them had nothing to look at.
  expect(before.value('callhouse_log_topic_lag_seconds', { topic: 'feedback' })).toBe(0)
  lags = [lag(1)]
  expect(seen(await scrape(registry))).toMatchObject({
    topic: [0, 0, 1, 0],
    partitions: [
      [undefined, undefined],
      [0, 0],
    ],
  })
})

it('/metrics shows of a topic with many partitions only those that this process applies', async () => {
  const registry = new Registry()
  const lags = Array.from({ length: 1_000 }, (_, n) => lag(n, { records: 1, isOwn: n % 100 === 0 }))
  const health = () => ({ status: 'ok' as const, unappliedBytes: 0, lagMs: 0 })
  observeLog(registry, { topics: ['calls', 'feedback'], health, lag: () => lags }, 1)
  const samples = await scrape(registry)
  expect(samples.count('callhouse_log_partition_lag_seconds')).toBe(10)
  expect(samples.value('callhouse_log_topic_unapplied_records', { topic: 'calls' })).toBe(1_000)
})

it('/metrics counts what is appended, and what is refused by the status of its answer', async () => {
  const registry = new Registry()
  const outcomes = [
    () => undefined,
    () => {
      throw overLimit('log', 'too much')
    },
    () => {
      throw unavailable('no brokers')
    },
    () => {
      throw tooLarge('too large')
    },
    () => {
      throw new TypeError('a fault of ours')
    },
  ]
  const record = recordOf(['a', 'b'])
  const sizeBytes = record.rows.length
  const log: Pick<Log, 'append'> = {
    async append(topic, records: RecordInput[]) {
      outcomes.shift()?.()
      // Buffers are used again once they are durable.
      for (const one of records) one.rows = Buffer.alloc(0)
      return { topic, partition: 0, offset: 1 }
    },
  }
  const metered = withAppendMetrics(log, registry, statusOf)
  expect(await metered.append('calls', [record])).toEqual({ topic: 'calls', partition: 0, offset: 1 })
  for (let n = 0; n < 4; n++) await expect(metered.append('calls', [recordOf(['c'])])).rejects.toThrow()
  const samples = await scrape(registry)
  const refused = ['429', '503', '413', '500'].map((status) =>
    samples.value('callhouse_append_refused_total', { topic: 'calls', status }),
  )
  expect(refused).toEqual([1, 1, 1, 1])
  expect(samples.value('callhouse_append_rows_total', { topic: 'calls' })).toBe(2)
  expect(samples.value('callhouse_append_bytes_total', { topic: 'calls' })).toBe(sizeBytes)
  expect(samples.value('callhouse_append_seconds_count', { topic: 'calls' })).toBe(1)
})

it('/metrics counts batches, dead letters, retries and failed statements', async () => {
  const registry = new Registry()
  const worker = createWorkerMetrics(registry)
  worker.onBatch({ topic: 'calls', rows: 10, records: 2, deadLetters: 1, tookMs: 150, lagMs: 900 })
  worker.onBatch({ topic: 'calls', rows: 5, records: 1, deadLetters: 0, tookMs: 50, lagMs: 100 })
  worker.onRetry('calls')
  worker.onLookUps('too many calls')
  worker.watchRollupLag(() => [{ name: 'call_counts', lagMs: 2_500 }])
  const { statement } = createStoreMetrics(registry)
  statement({ name: 'calls.page', pool: 'interactive', ms: 10, outcome: 'ok' })
  statement({ name: 'calls.page', pool: 'interactive', ms: 10, outcome: 'timeout' })
  const samples = await scrape(registry)
  const topic = { topic: 'calls' }
  expect({
    rows: samples.value('callhouse_rows_applied_total', topic),
    dead: samples.value('callhouse_dead_letters_total', topic),
    retries: samples.value('callhouse_batch_retries_total', topic),
    batches: [
      samples.value('callhouse_batch_seconds_count', topic),
      samples.value('callhouse_batch_seconds_sum', topic),
    ],
    visible: samples.value('callhouse_visible_after_seconds_sum', topic),
    rollup: samples.value('callhouse_rollup_lag_seconds', { table: 'call_counts' }),
    errors: samples.value('callhouse_store_errors_total', { kind: 'timeout' }),
    fine: samples.value('callhouse_store_errors_total', { kind: 'ok' }),
  }).toEqual({ rows: 15, dead: 1, retries: 1, batches: [2, 0.2], visible: 1, rollup: 2.5, errors: 1, fine: undefined })
})

it('/metrics shows what works, and all as down when nobody answers', async () => {
  const registry = new Registry()
  let health = async () => ({ log: 'ok', storage: 'degraded', workers: 'down' }) as const
  observeProcess(registry, { version: '1.2.3', role: 'worker', dataDir: import.meta.dirname }, () => health())
  const checks = async () => {
    const samples = await scrape(registry)
    return ['log', 'storage', 'workers'].map((check) => samples.value('callhouse_check_status', { check }))
  }
  expect(await checks()).toEqual([0, 1, 2])
  health = () => Promise.reject(new Error('no'))
  expect(await checks()).toEqual([2, 2, 2])
  const samples = await scrape(registry)
  expect(samples.value('callhouse_info', { version: '1.2.3', role: 'worker' })).toBe(1)
  const [free = 0, size = 0] = ['free', 'size'].map((name) => samples.value(`callhouse_disk_${name}_bytes`))
  expect(free).toBeGreaterThan(0)
  expect(size).toBeGreaterThan(free)
})
