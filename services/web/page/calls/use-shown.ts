// Values beside the calls in view: previews, cells of chosen columns, totals of traces, feedback, and a scale of latencies.
import { useMemo } from 'react'
import { isOfTraces, type ListRequest } from '../engine/calls-search.ts'
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
  isLive: boolean
  /** How often the list was asked for again. */
  looks: number
}

export function useShown({ projectId, calls, request, columns, isLive, looks }: Asked) {
  const visible = useVisible(calls, request)
  const isOn = calls.isDrawn && !calls.isLoading
  const previews = usePreviews(projectId, visible, isOn)
  const cellOf = useCells(projectId, visible, columns, isOn)
  const totalsOf = useTotals({ projectId, rows: visible, ofTraces: isOfTraces(request), isOn, isLive, looks })
  const said = useFeedback(projectId, columns.includes('feedback') ? visible.map(({ id }) => id) : [])
  const longestMs = useMemo(() => {
    const known = visible.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs])).sort((a, b) => a - b)
    return Math.max(1, known[Math.floor(known.length * 0.95)] ?? known.at(-1) ?? 1)
  }, [visible])
  return { visible, previews, cellOf, totalsOf, feedbackOf: (id: string) => said.data?.of(id), longestMs }
}
