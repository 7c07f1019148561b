// Reads the state of the server every five seconds while somebody looks; the last fifteen minutes of its lag stay in
// the page.
import { useQuery } from '@tanstack/react-query'
import { baseUrl, json } from '../api/client.ts'
import type { Shapes } from '../routes.gen.ts'

export type Health = Shapes['service.health']['out']
export type ServerStatus = Shapes['server.status']['out']
type Lag = { atMs: number; lagS: number }

const everyMs = 5_000
const keptMs = 15 * 60_000
const lags: Lag[] = []

/** Unavailable servers answer 503 with the same body. */
async function healthNow(signal: AbortSignal): Promise<Health> {
  const answer = await fetch(new URL('health', baseUrl), { signal })
  return (await answer.json()) as Health
}

/** @param mayReadStatus owners of everything see more than the health */
export const useSystem = (mayReadStatus: boolean) =>
  useQuery({
    queryKey: ['system'],
    async queryFn({ signal }) {
      const [health, status, version] = await Promise.all([
        healthNow(signal),
        // A part that is down may make the status fail: the health names it.
        mayReadStatus ? json('server.status', undefined, { signal }).catch(() => undefined) : undefined,
        json('service.version', undefined, { signal }),
      ])
      const atMs = Date.now()
      lags.push({ atMs, lagS: health.lag_ms / 1_000 })
      while ((lags[0]?.atMs ?? atMs) < atMs - keptMs) lags.shift()
      return { health, status, version, lags: [...lags], atMs }
    },
    refetchInterval: everyMs,
    staleTime: 0,
  })
