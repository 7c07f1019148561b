// The calls of a list counted by a field: its values that most calls have, each a way to those calls.

import { useFirstS } from '../calls/histogram.tsx'
import { boundsOf, type CallsSearch, type ListRequest, parsedList } from '../engine/calls-search.ts'
import { narrowed } from '../engine/dashboard-filters.ts'
import { Dialog } from '../parts/dialog.tsx'
import { groupBy } from './groups.ts'
import { measures } from './measures.ts'
import { ShownRanking } from './panel.tsx'
import './dashboards.css'

type Props = {
  by: string
  search: CallsSearch
  request: ListRequest
  nowS: number
  onClose(): void
}

export function GroupsOfCalls({ by, search, request, nowS, onClose }: Props) {
  const { project_id, sort_by: _, ...rest } = request
  const bounds = boundsOf(search.range ?? '', nowS) ?? {}
  const firstS = useFirstS(project_id, bounds.from === undefined)
  const start = bounds.from ?? firstS ?? undefined
  const end = bounds.to ?? nowS + 1
  const name = groupBy(by).head
  const { expression, rows } = parsedList(search)
  return (
    <Dialog title={`Calls by ${name.slice(0, 80)}`} onClose={onClose} className="wide">
      {rows === 'traces' && by === 'model' ? (
        <p className="second">A trace has the models of all its calls: choose All calls to count calls by model.</p>
      ) : firstS === null || (start !== undefined && start >= end) ? (
        <p className="second">No calls in this time range.</p>
      ) : start === undefined ? (
        <p className="second" role="status">
          Counting…
        </p>
      ) : (
        <ShownRanking
          by={by}
          rows={rows}
          measure={measures[rows].calls}
          range={search.range ?? 'all'}
          view={search.view}
          panel={{ title: `By ${name}`, type: 'table', measure: 'calls', by }}
          requestOf={() => ({ ...rest, project_id, start, end, count: rows })}
          within={(term) => narrowed(expression, term)}
          acts={null}
        />
      )}
    </Dialog>
  )
}
