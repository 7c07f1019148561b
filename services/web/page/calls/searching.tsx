// A list whose answer takes long: what is searched, since when, and the way to stop it; and a list that was stopped.
import { type ReactNode, useEffect, useState } from 'react'
import { repeat } from '../api/repeat.ts'
import type { ListRequest } from '../engine/calls-search.ts'
import { Button } from '../parts/button.tsx'

/** A request until it is stopped; the one that comes next begins anew. */
export function useStoppable(request: ListRequest | undefined) {
  const [stopped, setStopped] = useState<ListRequest>()
  const isStopped = request !== undefined && stopped === request
  return {
    // What is asked for by nobody any more is given up, down to the statement of the server.
    request: isStopped ? undefined : request,
    isStopped,
    stop: () => setStopped(request),
    again: () => setStopped(undefined),
  }
}

function Searching({ isText, when, onStop }: { isText: boolean; when: string; onStop(): void }) {
  const [seconds, setSeconds] = useState(1)
  useEffect(() => repeat(() => setSeconds((before) => before + 1), 1_000), [])
  return (
    <div className="center">
      <div role="status">
        <h2>{isText ? `Searching the text of ${when}…` : `Searching ${when}…`}</h2>
      </div>
      <p className="second num">{seconds} s</p>
      <div className="acts">
        <Button onClick={onStop}>Cancel</Button>
      </div>
    </div>
  )
}

const Stopped = ({ onAgain }: { onAgain(): void }) => (
  <div className="center" role="status">
    <h2>The search was cancelled</h2>
    <div className="acts">
      <Button onClick={onAgain}>Search again</Button>
    </div>
  </div>
)

/** What stands in place of a list that is searched for long, or was stopped. */
export function searchingOf(
  { isStopped, stop, again }: Omit<ReturnType<typeof useStoppable>, 'request'>,
  isLate: boolean,
  q: string | undefined,
  isText: boolean,
  when: string,
): ReactNode | undefined {
  if (isStopped) return <Stopped onAgain={again} />
  return isLate && q !== undefined ? <Searching isText={isText} when={when} onStop={stop} /> : undefined
}
