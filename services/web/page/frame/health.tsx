// How the server is, in a sign: asked once the page stands still, and again when somebody comes back to it.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { baseUrl } from '../api/client.ts'
import type { Shapes } from '../api/routes.gen.ts'
import { mayAdminister, useSession } from '../api/session.ts'
import { Icon } from '../parts/icon.tsx'

type Health = Shapes['service.health']['out']

const words: Record<Health['status'], string> = {
  ok: 'The server is well',
  degraded: 'A part of the server is not well',
  unavailable: 'The server does not work',
}

/** The first rows are asked for before it. */
function useIsIdle(): boolean {
  const [isIdle, setIdle] = useState(false)
  useEffect(() => {
    if (typeof requestIdleCallback !== 'function') {
      const timer = setTimeout(() => setIdle(true), 2_000)
      return () => clearTimeout(timer)
    }
    const asked = requestIdleCallback(() => setIdle(true))
    return () => cancelIdleCallback(asked)
  }, [])
  return isIdle
}

export function HealthSign() {
  const { data: session } = useSession()
  const isIdle = useIsIdle()
  const { data, isError } = useQuery({
    queryKey: ['health'],
    async queryFn({ signal }): Promise<Health['status']> {
      // Unavailable servers answer 503 with the same body.
      const answer = await fetch(new URL('health', baseUrl), { signal })
      return ((await answer.json()) as Health).status
    },
    enabled: isIdle,
    staleTime: 60_000,
    refetchOnWindowFocus: true,
    retry: false,
  })
  const status = isError ? 'unavailable' : data
  if (status === undefined) return null
  const label = isError ? 'The server does not answer' : words[status]
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
