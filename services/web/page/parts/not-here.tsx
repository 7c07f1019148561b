// A call or trace that is not there: asked for again for half a minute, then how to look for it.

import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Icon } from './icon.tsx'

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
      <h2>This {what} has not arrived yet</h2>
      <p className="second" style={{ maxWidth: 460 }}>
        {seconds < patienceS
          ? 'Checking every 2 seconds.'
          : 'It may have been deleted, or the program has not sent it yet. End the program, or call flush() of its SDK.  '}
        {seconds >= patienceS && (
          <>
            See <Link to="/system">System</Link> for the write lag of the server.
          </>
        )}
      </p>
    </div>
  )
}
