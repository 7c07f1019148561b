// A list whose answer takes long: what is searched, since when, and the way to stop it; and a list that was stopped.
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { repeat } from '../api/repeat.ts'
import type { ListRequest } from '../engine/calls-search.ts'
import type { Row } from '../engine/rows.ts'
import { Button } from '../parts/button.tsx'
import type { List } from '../parts/use-list.ts'
import { callsQuestion } from './use-calls.ts'

/** Whether a request was stopped; the one that comes next begins anew. */
export function useStoppable(request: ListRequest | undefined) {
  const client = useQueryClient()
  const [stopped, setStopped] = useState<ListRequest>()
  return {
    isStopped: request !== undefined && stopped === request,
    stop() {
      setStopped(request)
      // It is given up, down to the statement of the server.
      void client.cancelQueries({ queryKey: callsQuestion(request).key })
    },
    again: () => setStopped(undefined),
  }
}

/** In place of the rows, or below those that are found. */
const placeOf = (hasRows: boolean): string => (hasRows ? 'foot searching' : 'center')

type State = { hasRows: boolean; of: string; onStop(): void }

function Searching({ hasRows, of, onStop }: State) {
  const [seconds, setSeconds] = useState(1)
  useEffect(() => repeat(() => setSeconds((before) => before + 1), 1_000), [])
  return (
    <div className={placeOf(hasRows)}>
      <div role="status">
        <h2>Searching {of}…</h2>
      </div>
      <p className="second num">{seconds} s</p>
      <div className="acts">
        <Button onClick={onStop}>Cancel</Button>
      </div>
    </div>
  )
}

type Ended = { hasRows: boolean; said: string; onAgain(): void }

const Stopped = ({ hasRows, said, onAgain }: Ended) => (
  <div className={placeOf(hasRows)} role="status">
    <h2>{said}</h2>
    {hasRows && <p className="second">There may be more matching calls</p>}
    <div className="acts">
      <Button onClick={onAgain}>Search again</Button>
    </div>
  </div>
)

/**
 * The state of a list that is searched for long, or was stopped: in place of its rows, or below those that are found.
 * @param when words for the range of time
 */
export function searchingOf(
  { isStopped, stop, again }: ReturnType<typeof useStoppable>,
  { isLate, isPart, error, refetch }: List<Row>,
  q: string | undefined,
  isText: boolean,
  when: string,
): ReactNode | undefined {
  if (isStopped) return <Stopped hasRows={isPart} said="The search was cancelled" onAgain={again} />
  if (isPart && error) return <Stopped hasRows said={`The search failed: ${error.message}`} onAgain={refetch} />
  const of = isText ? `the text of ${when}` : when
  return isLate && q !== undefined ? <Searching hasRows={isPart} of={of} onStop={stop} /> : undefined
}
