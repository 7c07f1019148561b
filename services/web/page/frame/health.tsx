// Shows the health of the server: read once the page is idle, again when somebody comes back to it, and while a list is
// live.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { askHealth, type HealthStatus, mayAdminister, useSession } from '../api/session.ts'
import { Icon } from '../parts/icon.tsx'
import { useConnection } from './connection-bar.tsx'

const words: Record<HealthStatus, string> = {
  ok: 'Server is healthy',
  degraded: 'Server is degraded',
  unavailable: 'Server is unavailable',
}

/** Questions that take longer do not keep the sign away. */
const longestMs = 2_000

/** While a list is live. */
const liveMs = 15_000

/** The contents of the page come before it. */
function useIsIdle(): boolean {
  const client = useQueryClient()
  const [isIdle, setIdle] = useState(false)
  useEffect(() => {
    const untilMs = performance.now() + longestMs
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      if (client.isFetching() === 0 || performance.now() >= untilMs) setIdle(true)
      else timer = setTimeout(look, 100)
    }
    if (typeof requestIdleCallback !== 'function') timer = setTimeout(look, longestMs)
    const asked = typeof requestIdleCallback === 'function' ? requestIdleCallback(look) : 0
    return () => {
      clearTimeout(timer)
      if (asked !== 0) cancelIdleCallback(asked)
    }
  }, [client])
  return isIdle
}

export function HealthSign() {
  const { data: session } = useSession()
  const isIdle = useIsIdle()
  const { live } = useSearch({ strict: false }) as { live?: string }
  const { isAway } = useConnection()
  const { data } = useQuery({
    queryKey: ['health'],
    queryFn: askHealth,
    refetchInterval: live === '1' && liveMs,
    enabled: isIdle,
    staleTime: 60_000,
    refetchOnWindowFocus: true,
    retry: false,
  })
  const status = isAway ? 'unavailable' : data
  if (status === undefined) return null
  const label = isAway ? 'Server is not responding' : words[status]
  const sign = (
    <span className={status === 'ok' ? 's-success' : 's-error'}>
      <Icon name={status === 'ok' ? 'success' : 'error'} />
    </span>
  )
  return mayAdminister(session) ? (
    <Link to="/system" className="health" aria-label={label} title={label}>
      {sign}
    </Link>
  ) : (
    <span className="health" role="img" aria-label={label} title={label}>
      {sign}
    </span>
  )
}
