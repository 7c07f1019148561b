// Totals of the whole traces whose roots are in view, by one request for all of them.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { json } from '../api/client.ts'
import type { Row } from '../engine/rows.ts'
import type { TotalsOfRow } from '../engine/trace-totals.ts'

/** What ends below a root that has ended shows while the list is live. */
const liveMs = 5_000

type Asked = {
  projectId: string
  rows: readonly Row[]
  /** Without it rows are calls, and there are no totals. */
  ofTraces: boolean
  isOn: boolean
  isLive: boolean
  /** How often the list was asked for again: its totals are then, too. */
  looks: number
}

export function useTotals({ projectId, rows, ofTraces, isOn, isLive, looks }: Asked): (traceId: string) => TotalsOfRow {
  const ids = useMemo(() => [...new Set(rows.map(({ traceId }) => traceId))], [rows])
  const [entity = '', project = ''] = projectId.split('/')
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['traces.totals', projectId, ids, looks],
    async queryFn({ signal }) {
      const { traces } = await json('traces.query', { trace_ids: ids }, { params: { entity, project }, signal })
      return new Map(traces.map((one) => [one.trace_id, one]))
    },
    enabled: ofTraces && isOn && ids.length > 0,
    refetchInterval: isLive ? liveMs : false,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
  return (traceId) => {
    if (!ofTraces) return undefined
    const known = data?.get(traceId)
    if (known) return known
    if (error) return error.message
    return data && !isPlaceholderData ? 'This trace no longer exists' : undefined
  }
}
