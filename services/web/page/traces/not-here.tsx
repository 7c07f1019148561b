// A call or trace that is not there: asked for again for half a minute, then how to look for it.

import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Icon } from '../parts/icon.tsx'

const patienceS = 30

export function NotHere({ what, onRetry }: { what: 'call' | 'trace' | 'evaluation run'; onRetry(): void }) {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    if (seconds >= patienceS) return
    const timer = setTimeout(() => {
      setSeconds(seconds + 2)
      onRetry()
    }, 2_000)
    return () => clearTimeout(timer)
  }, [seconds, onRetry])
  return (
    <div className="center" role="status">
      <span className="big">
        <Icon name="wait" />
      </span>
      <h2>This {what} is not here yet</h2>
      <p className="second" style={{ maxWidth: 460 }}>
        {seconds < patienceS
          ? 'Looking again every two seconds.'
          : 'It may have been deleted, or the program has not sent it: end the program, or call its SDK’s flush(). '}
        {seconds >= patienceS && (
          <>
            <Link to="/system">/system</Link> tells how far the server is behind.
          </>
        )}
      </p>
    </div>
  )
}
