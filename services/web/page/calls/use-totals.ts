// Totals of the whole traces whose roots are in view, by one request for all of them.
import { useMemo } from 'react'
import { json } from '../api/client.ts'
import type { Row } from '../engine/rows.ts'
import type { Totals, TotalsOfRow } from '../engine/trace-totals.ts'
import { useRowValues } from './use-row-values.ts'

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
  const totalsOf = useRowValues<Totals>({
    kind: 'traces.totals',
    project: projectId,
    ids,
    more: looks,
    isOn: ofTraces && isOn,
    everyMs: isLive ? liveMs : undefined,
    async read(signal) {
      const { traces } = await json('traces.query', { trace_ids: ids }, { params: { entity, project }, signal })
      return new Map(traces.map((one) => [one.trace_id, one]))
    },
  })
  return (traceId) => (ofTraces ? totalsOf(traceId) : undefined)
}
