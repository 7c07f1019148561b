// An error as the page tells it: what was asked, what the server said, and what to do now.
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { repeat } from '../api/repeat.ts'
import { ApiFault, type FaultValues } from '../api/send.ts'
import { moment } from '../engine/format.ts'
import { useZone } from '../preferences.ts'
import { Button } from './button.tsx'

const advice: Record<number, string> = {
  403: 'You don’t have permission to read this.',
  501: 'This server does not support that.',
  502: 'Try a shorter time range or fewer conditions.',
  504: 'Try a shorter time range or fewer conditions.',
}

/** Seconds until it is asked again by itself; 0 = it is not. Every refusal counts anew, also the one of a repetition. */
function useCountdown(error: unknown, onRetry: () => void): number {
  const [state, setState] = useState({ of: undefined as unknown, left: 0 })
  const retry = useRef(onRetry)
  retry.current = onRetry
  useEffect(() => {
    const values = error instanceof ApiFault ? error.values : undefined
    if (values === undefined || (values.status !== 429 && values.status !== 503)) return
    let left = Math.max(1, Math.ceil(values.retryAfterS) || 1)
    setState({ of: error, left })
    const stop = repeat(() => {
      left--
      setState({ of: error, left })
      if (left > 0) return
      stop()
      retry.current()
    }, 1_000)
    return stop
  }, [error])
  return state.of === error ? state.left : 0
}

/** A deleted object does not come back by a repetition: links to it lead here. */
function Deleted({ values, at }: { values: FaultValues; at: string }) {
  const { tz } = useSearch({ strict: false }) as { tz?: string }
  const zone = useZone(tz)
  return (
    <div className="center" role="status">
      <h2>{values.reason.slice(0, 400)}</h2>
      <p className="second">
        Deleted <time dateTime={at}>{moment(at, zone)}</time>. References to it remain.
      </p>
    </div>
  )
}

/** @param props.children another way on */
export function FaultBox({ error, onRetry, children }: { error: unknown; onRetry(): void; children?: ReactNode }) {
  const values = error instanceof ApiFault ? error.values : undefined
  const left = useCountdown(error, onRetry)
  if (values?.deletedAt !== undefined) return <Deleted values={values} at={values.deletedAt} />
  return (
    <div className="center">
      <div className="fault" role="alert">
        <h2>{error instanceof Error ? error.message.slice(0, 400) : 'Something went wrong'}</h2>
        {values && (
          <p className="second">
            {values.asked}
            {values.status > 0 && ` answered ${values.status}`}. {advice[values.status] ?? ''}
          </p>
        )}
        {values?.requestId && <code className="dim">X-Request-Id: {values.requestId}</code>}
        <div className="acts">
          <Button onClick={onRetry}>{left > 0 ? `Try again (${left})` : 'Try again'}</Button>
          {values?.curl !== undefined && (
            <Button
              title="With $KEY instead of your key"
              onClick={() => void navigator.clipboard.writeText(values.curl ?? '')}
            >
              Copy as curl
            </Button>
          )}
          {children}
        </div>
      </div>
    </div>
  )
}

/** An error beside what failed. */
export const ErrorLine = ({ text }: { text: string | null | undefined }) =>
  text && (
    <p className="s-error" role="alert">
      {text.slice(0, 400)}
    </p>
  )

export function Stale({ ms }: { ms: number }) {
  if (ms <= 0) return null
  return (
    <div className="notice" role="status">
      Data from the last {Math.max(1, Math.round(ms / 1_000))} s may be missing
    </div>
  )
}
