// An error as the page tells it: what was asked, what the server said, and what to do now.
import { useEffect, useState } from 'react'
import { ApiFault } from '../api/send.ts'

const advice: Record<number, string> = {
  403: 'This key has no right to read here.',
  501: 'This server does not do that.',
  502: 'A shorter time range or fewer conditions need less.',
  504: 'A shorter time range or fewer conditions take less time.',
}

export function FaultBox({ error, onRetry }: { error: unknown; onRetry(): void }) {
  const values = error instanceof ApiFault ? error.values : undefined
  const repeats = values !== undefined && (values.status === 429 || values.status === 503)
  const [left, setLeft] = useState(repeats ? Math.max(1, values.retryAfterS) : 0)
  useEffect(() => {
    if (left <= 0) return
    const timer = setTimeout(() => {
      setLeft(left - 1)
      if (left === 1) onRetry()
    }, 1_000)
    return () => clearTimeout(timer)
  }, [left, onRetry])
  return (
    <div className="center">
      <div className="fault" role="alert">
        <h2>{error instanceof Error ? error.message.slice(0, 400) : 'Something failed'}</h2>
        {values && (
          <p className="second">
            {values.asked}
            {values.status > 0 && ` answered ${values.status}`}. {advice[values.status] ?? ''}
          </p>
        )}
        {values?.requestId && <code className="dim">X-Request-Id: {values.requestId}</code>}
        <div className="acts">
          <button type="button" className="line" onClick={onRetry}>
            {left > 0 ? `Try again (${left})` : 'Try again'}
          </button>
        </div>
      </div>
    </div>
  )
}

export function Stale({ ms }: { ms: number }) {
  if (ms <= 0) return null
  return (
    <div className="notice" role="status">
      May lack what was written in the last {Math.max(1, Math.round(ms / 1_000))} s
    </div>
  )
}
