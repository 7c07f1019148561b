// How the server is, asked every five seconds while somebody looks; the last fifteen minutes of its lag stay in the page.
import { useQuery } from '@tanstack/react-query'
import { baseUrl, json } from '../api/client.ts'
import type { Shapes } from '../api/routes.gen.ts'
import { type Metrics, parseMetrics, sumOf } from '../engine/metrics.ts'

export type Health = Shapes['service.health']['out']
type Lag = { atMs: number; lagS: number }

const everyMs = 5_000
const keptMs = 15 * 60_000
const lags: Lag[] = []

/** Unavailable servers answer 503 with the same body. */
async function health(signal: AbortSignal): Promise<Health> {
  const answer = await fetch(new URL('health', baseUrl), { signal })
  return (await answer.json()) as Health
}

/** Undefined for keys that may not read them. */
async function metrics(signal: AbortSignal): Promise<Metrics | undefined> {
  const headers = { 'X-Callhouse-Page': '1' }
  const answer = await fetch(new URL('metrics', baseUrl), { signal, headers, credentials: 'same-origin' })
  return answer.ok ? parseMetrics(await answer.text()) : undefined
}

export const useSystem = (mayReadMetrics: boolean) =>
  useQuery({
    queryKey: ['system'],
    async queryFn({ signal }) {
      const [state, figures, version] = await Promise.all([
        health(signal),
        mayReadMetrics ? metrics(signal) : undefined,
        json('service.version', undefined, { signal }),
      ])
      const atMs = Date.now()
      const lagS = (figures && sumOf(figures, 'callhouse_log_lag_seconds')) ?? state.lag_ms / 1_000
      lags.push({ atMs, lagS })
      while ((lags[0]?.atMs ?? atMs) < atMs - keptMs) lags.shift()
      return { health: state, figures, version, lags: [...lags], atMs }
    },
    refetchInterval: everyMs,
    staleTime: 0,
  })
