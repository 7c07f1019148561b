// Calls over time above their list, errors in front; a range of it is chosen by dragging, or by keys.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { json } from '../api/client.ts'
import { count, moment } from '../engine/format.ts'
import { bucketFor, rangeOfBuckets } from '../engine/time-axis.ts'
import { boundsOf, type ListRequest } from './search.ts'

const height = 36

/** Start of the project's calls, where the range has none. */
function useFirstS(request: ListRequest | undefined, isNeeded: boolean): number | undefined {
  const project_id = request?.project_id ?? ''
  const { data } = useQuery({
    queryKey: ['projects', project_id, 'first'],
    queryFn: ({ signal }) => json('projects.query', { search: project_id, limit: 10 }, { signal }),
    enabled: isNeeded && request !== undefined,
    staleTime: 60_000,
  })
  const first = data?.projects.find((one) => one.project_id === project_id)?.first_call_at
  return first ? Math.floor(Date.parse(first) / 1000) : undefined
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
  request: ListRequest | undefined
  range: string | undefined
  nowS: number
  zone: string
  isOn: boolean
  onRange(range: string): void
}

export function Histogram({ request, range, nowS, zone, isOn, onRange }: HistogramProps) {
  const bounds = boundsOf(range ?? '', nowS) ?? {}
  const firstS = useFirstS(request, isOn && bounds.from === undefined)
  const startS = bounds.from ?? firstS
  const endS = bounds.to ?? nowS + 1
  const box = useRef<HTMLDivElement>(null)
  const [brush, setBrush] = useState<{ from: number; to: number }>()
  const [at, setAt] = useState<number>()
  const isKnown = isOn && request !== undefined && startS !== undefined && startS < endS
  const { data } = useQuery({
    queryKey: ['calls.histogram', request?.filter, request?.query, request?.project_id, startS, endS, zone],
    queryFn: ({ signal }) => {
      const { sort_by: _, ...rest } = request as ListRequest
      const asked = {
        ...{
          ...rest,
          start: startS as number,
          end: endS,
          timezone: zone,
          bucket: bucketFor(endS - 1 - (startS as number)),
        },
        metrics: [
          { field: 'calls', as: 'sum' },
          { field: 'errors', as: 'sum' },
        ],
      }
      return json('calls.aggregate', asked, { signal })
    },
    enabled: isKnown,
    placeholderData: keepPreviousData,
  })
  const group = data?.groups[0]
  const calls = group?.series['calls.sum'] ?? []
  const errors = group?.series['errors.sum'] ?? []
  const most = Math.max(1, ...calls.map((one) => one ?? 0))
  const buckets = data?.buckets ?? []
  const bucketAt = (event: PointerEvent): number => {
    const { left, width } = (box.current as HTMLDivElement).getBoundingClientRect()
    return Math.max(0, Math.min(buckets.length - 1, Math.floor(((event.clientX - left) / width) * buckets.length)))
  }
  const choose = (from: number, to: number) => {
    setBrush(undefined)
    setAt(undefined)
    onRange(rangeOfBuckets(buckets, from, to, endS))
  }
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step !== 0 && buckets.length > 0) {
      event.preventDefault()
      const next = Math.max(0, Math.min(buckets.length - 1, (at ?? (step > 0 ? -1 : buckets.length)) + step))
      setAt(next)
      setBrush(event.shiftKey ? { from: brush?.from ?? at ?? next, to: next } : { from: next, to: next })
    } else if (event.key === 'Enter' && brush) {
      event.preventDefault()
      choose(brush.from, brush.to)
    } else if (event.key === 'Escape') setBrush(undefined)
  }
  const told = at ?? brush?.to
  const place = told === undefined ? undefined : buckets[told]
  const sums = `${count(group?.total['calls.sum'] ?? 0)} calls · ${count(group?.total['errors.sum'] ?? 0)} errors`
  const atPlace =
    place === undefined
      ? undefined
      : `${moment(place, zone)}: ${count(calls[told as number] ?? 0)} calls, ${count(errors[told as number] ?? 0)} errors`
  const percent = (n: number): string => `${(n / Math.max(1, buckets.length)) * 100}%`
  return (
    <div className="histogram">
      <div
        ref={box}
        role="slider"
        tabIndex={0}
        aria-label="Calls over time: arrows move, Shift extends, Enter takes the range"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, buckets.length - 1)}
        aria-valuenow={told ?? 0}
        aria-valuetext={atPlace ?? sums}
        onKeyDown={onKey}
        onBlur={() => setBrush(undefined)}
        onPointerDown={(event) => {
          if (event.button !== 0 || buckets.length === 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          const from = bucketAt(event)
          setBrush({ from, to: from })
        }}
        onPointerMove={(event) => {
          if (buckets.length === 0) return
          const to = bucketAt(event)
          setAt(to)
          if (brush && event.buttons === 1) setBrush({ ...brush, to })
        }}
        onPointerLeave={() => setAt(undefined)}
        onPointerUp={(event) => brush && choose(brush.from, bucketAt(event))}
        onPointerCancel={() => setBrush(undefined)}
      >
        <svg viewBox={`0 0 ${Math.max(1, buckets.length)} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <path className="all" d={barsOf(calls, most)} />
          <path className="failed" d={barsOf(errors, most)} />
        </svg>
        {brush && (
          <span
            className="brush"
            style={{
              left: percent(Math.min(brush.from, brush.to)),
              width: percent(Math.abs(brush.to - brush.from) + 1),
            }}
          />
        )}
      </div>
      <p className="second num">{atPlace ?? (group ? sums : '')}</p>
    </div>
  )
}
