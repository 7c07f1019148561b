// Prometheus metrics of this process; other parts add theirs to the registry.
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Policy } from '../errors.ts'
import { metricsIn } from './metrics-in.ts'

export type HttpMetrics = {
  /** Counts a finished request. `status` 499 = the client went away. */
  observe(route: string, status: number, seconds: number, bytesIn: number, bytesOut: number): void
  /** Requests being served right now. */
  started(): void
  ended(): void
}

export type GrpcMetrics = {
  /** Counts a finished call. `code` as the specification names it. */
  observe(method: string, code: string, seconds: number, bytesIn: number): void
  /** Calls being served right now. */
  started(): void
  ended(): void
}

export type Metrics = {
  registry: Registry
  http: HttpMetrics
  grpc: GrpcMetrics
  /** Counts a read's wait for earlier writes. */
  waited(outcome: 'current' | 'waited' | 'stale', ms: number): void
  /** Shows the bytes of request bodies in memory. */
  bodies(heldBytes: () => number): void
  /** Counts an answer 401 or 403, by the code of its body, or its status where it has none. */
  notAllowed(code: string): void
  /** Counts a request that a bound refused. */
  refused(policy: Policy): void
  /** Requests that were answered 429 and 503, and those that a bound refused, by its name. */
  refusals(): { statuses: { '429': number; '503': number }; policies: Record<string, number> }
  /** 99 of 100 turns of the event loop were late by less, since somebody looked last. */
  eventLoopP99Ms(): Promise<number>
  /** Text of the exposition format and its content type. */
  text(): Promise<{ contentType: string; text: string }>
}

const requestBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

/** @param withProcess also the process's own metrics (memory, event loop delay, garbage collection) */
export function createMetrics({ withProcess = true }: { withProcess?: boolean } = {}): Metrics {
  const registry = new Registry()
  if (withProcess) collectDefaultMetrics({ register: registry })
  const { counter, gauge, histogram, value } = metricsIn(registry)
  const duration = histogram(
    'callhouse_http_request_seconds',
    'Time from a request to the end of its answer',
    requestBuckets,
    ...(['route', 'status'] as const),
  )
  const calls = histogram(
    'callhouse_grpc_call_seconds',
    'Time from a gRPC call to its status',
    requestBuckets,
    ...(['method', 'code'] as const),
  )
  const callsReceived = counter('callhouse_grpc_received_bytes_total', 'Message bytes as they came, before inflating')
  const activeCalls = gauge('callhouse_grpc_active_calls', 'gRPC calls being served')
  const received = counter('callhouse_http_received_bytes_total', 'Body bytes as they came, before inflating')
  const sent = counter('callhouse_http_sent_bytes_total', 'Body bytes of answers')
  const active = gauge('callhouse_http_active_requests', 'Requests being served')
  const freshness = histogram(
    'callhouse_freshness_wait_seconds',
    'Wait of reads for earlier writes: current = nothing was missing, waited = it came, stale = it may be missing',
    [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 10],
    'outcome',
  )
  const refused = counter(
    'callhouse_refused_total',
    'Requests answered 429, by the bound: bodies in memory, unapplied log, waiting reads; …_share: that of one key or project',
    'policy',
  )
  const authFailures = counter(
    'callhouse_auth_failures_total',
    'Answers 401 and 403, over gRPC too: what was wrong with the key (key_unknown, key_malformed, key_expired, key_revoked), or the status',
    'code',
  )
  const statuses = { '429': 0, '503': 0 }
  const policies: Record<string, number> = {}
  return {
    registry,
    refusals: () => ({ statuses: { ...statuses }, policies: { ...policies } }),
    async eventLoopP99Ms() {
      const read = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values[0]?.value
      // Reading this one sets the others.
      await read('nodejs_eventloop_lag_seconds')
      return ((await read('nodejs_eventloop_lag_p99_seconds')) ?? 0) * 1_000
    },
    bodies: (heldBytes) => value('callhouse_http_body_bytes', 'Bytes of request bodies in memory', heldBytes),
    notAllowed: (code) => authFailures.labels(code).inc(),
    refused(policy) {
      refused.labels(policy).inc()
      policies[policy] = (policies[policy] ?? 0) + 1
    },
    waited: (outcome, ms) => freshness.labels(outcome).observe(ms / 1000),
    http: {
      observe(route, status, seconds, bytesIn, bytesOut) {
        duration.labels(route, String(status)).observe(seconds)
        if (status === 429 || status === 503) statuses[status]++
        received.inc(bytesIn)
        sent.inc(bytesOut)
      },
      started: () => active.inc(),
      ended: () => active.dec(),
    },
    grpc: {
      observe(method, code, seconds, bytesIn) {
        calls.labels(method, code).observe(seconds)
        callsReceived.inc(bytesIn)
      },
      started: () => activeCalls.inc(),
      ended: () => activeCalls.dec(),
    },
    text: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}
