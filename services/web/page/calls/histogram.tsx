// Calls over time above their list, errors in front; a range of it is chosen by dragging, or by keys.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { json } from '../api/client.ts'
import { boundsOf, type ListRequest } from '../engine/calls-search.ts'
import { moment } from '../engine/format.ts'
import type { Row } from '../engine/rows.ts'
import { rangeOfBuckets } from '../engine/time-axis.ts'
import { TimeBrush } from '../parts/time-brush.tsx'
import { useOverTime } from './use-over-time.ts'

const height = 36

/** Projects are listed by counters, which follow their calls by seconds. */
const uncountedMs = 2_000

type Listed = { projects: readonly { project_id: string; first_call_at?: string | null }[] }

function firstOf({ projects }: Listed, project_id: string): number | null {
  const first = projects.find((one) => one.project_id === project_id)?.first_call_at
  return first ? Math.floor(Date.parse(first) / 1000) : null
}

/** Start of the project's calls, where the range has none. @param hasCalls it is asked for until it is known */
export function useFirstS(project_id: string, isNeeded: boolean, hasCalls = false): number | null | undefined {
  const { data } = useQuery({
    queryKey: ['projects', project_id, 'first'],
    queryFn: ({ signal }) => json('projects.query', { search: project_id, limit: 10 }, { signal }),
    enabled: isNeeded && project_id !== '',
    staleTime: 60_000,
    refetchInterval: ({ state }) =>
      hasCalls && state.data && firstOf(state.data, project_id) === null ? uncountedMs : false,
  })
  return data && firstOf(data, project_id)
}

/** One shape for all bars, a unit wide each. */
const barsOf = (values: readonly (number | null)[], most: number): string =>
  values
    .map((value, n) => {
      const size = ((value ?? 0) / most) * (height - 2)
      return size === 0 ? '' : `M${n + 0.08} ${height}v${-size}h0.84v${size}z`
    })
    .join('')

type HistogramProps = {
  /** What of the address decides which rows there are. */
  question: string
  request: ListRequest | undefined
  /** All rows of the list, where they are here. */
  all: readonly Row[] | undefined
  range: string | undefined
  nowS: number
  /** How often the list was asked for again. */
  looks: number
  zone: string
  isOn: boolean
  /** Its numbers are of the question before: they are not shown as the answer. */
  isOld: boolean
  onRange(range: string): void
  /** Behind what it says. */
  acts?: ReactNode
}

export function Histogram({
  question,
  request,
  all,
  range,
  nowS,
  looks,
  zone,
  isOn,
  isOld,
  onRange,
  acts,
}: HistogramProps) {
  const bounds = boundsOf(range ?? '', nowS) ?? {}
  const firstS = useFirstS(request?.project_id ?? '', isOn && bounds.from === undefined, true)
  const startS = bounds.from ?? firstS ?? undefined
  const endS = bounds.to ?? nowS + 1
  const [at, setAt] = useState<number>()
  const found = useOverTime({ question, request, rows: all }, { startS, endS, zone }, looks, isOn)
  const { buckets } = found
  const [rows, failed] = isOld ? [[], []] : [found.rows, found.failed]
  const most = Math.max(1, ...rows.map((one) => one ?? 0))
  const place = at === undefined ? undefined : buckets[at]
  const said = isOld ? undefined : found.said
  const atPlace = place === undefined ? undefined : `${moment(place, zone)}: ${found.saidAt(at as number)}`
  return (
    <div className="histogram">
      <TimeBrush
        label="Calls over time"
        size={buckets.length}
        at={at}
        told={atPlace ?? said ?? ''}
        onAt={setAt}
        onTake={(from, to) => onRange(rangeOfBuckets(buckets, from, to, endS))}
      >
        <svg viewBox={`0 0 ${Math.max(1, buckets.length)} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <path className="all" d={barsOf(rows, most)} />
          <path className="failed" d={barsOf(failed, most)} />
        </svg>
      </TimeBrush>
      <p className="second num">
        {atPlace ?? said} {acts}
      </p>
    </div>
  )
}
