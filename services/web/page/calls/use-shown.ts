// Values beside the calls in view: previews, cells of chosen columns, totals of traces, feedback, a scale of latencies, and
// the room that times need.
import { useMemo, useState } from 'react'
import { isOfTraces, type ListRequest } from '../engine/calls-search.ts'
import { moment } from '../engine/format.ts'
import { latencyScale } from '../engine/latency-bars.ts'
import type { Row } from '../engine/rows.ts'
import { useFeedback } from '../parts/use-feedback.ts'
import type { List } from '../parts/use-list.ts'
import { useCells, usePreviews, useVisible } from './use-calls.ts'
import { useTotals } from './use-totals.ts'

type Asked = {
  projectId: string
  calls: List<Row>
  request: ListRequest | undefined
  columns: readonly string[]
  zone: string
  isLive: boolean
  /** How often the list was asked for again. */
  looks: number
}

/** Letters of the longest time of start that has been in view: the column does not move to and fro. */
function useStartedLetters(visible: readonly Row[], zone: string): number {
  const [longest, setLongest] = useState(0)
  const now = useMemo(
    () => Math.max(0, ...visible.map(({ startedAt }) => moment(startedAt, zone).length)),
    [visible, zone],
  )
  if (now > longest) setLongest(now)
  return Math.max(now, longest)
}

export function useShown({ projectId, calls, request, columns, zone, isLive, looks }: Asked) {
  const visible = useVisible(calls)
  const isOn = calls.isDrawn && !calls.isLoading
  const previewOf = usePreviews(projectId, visible, isOn)
  const cellOf = useCells(projectId, visible, columns, isOn)
  const totalsOf = useTotals({ projectId, rows: visible, ofTraces: isOfTraces(request), isOn, isLive, looks })
  const said = useFeedback(projectId, columns.includes('feedback') ? visible.map(({ id }) => id) : [])
  const longestMs = useMemo(() => latencyScale(visible.map(({ latencyMs }) => latencyMs)), [visible])
  const startedLetters = useStartedLetters(visible, zone)
  return {
    visible,
    previewOf,
    cellOf,
    totalsOf,
    feedbackOf: (id: string) => said.data?.of(id),
    longestMs,
    startedLetters,
  }
}
