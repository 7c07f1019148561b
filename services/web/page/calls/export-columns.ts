// Columns of a CSV file of the calls that a list matches.
import { isOfTraces, type ListRequest, madeColumns } from '../engine/calls-search.ts'
import { placesOfColumn } from './columns.ts'

/** What stands before the columns that a reader chooses. */
const firstColumns = [
  'id',
  'trace_id',
  'op_name',
  'display_name',
  'started_at',
  'ended_at',
  'summary.weave.status',
  'summary.weave.latency_ms',
]
/** What calls used, or whole traces, as the rows say. */
const usedColumns = {
  calls: ['summary.weave.model', 'summary.weave.input_tokens', 'summary.weave.output_tokens', 'summary.weave.cost'],
  traces: [
    'trace.models',
    'trace.input_tokens',
    'trace.output_tokens',
    'trace.cost',
    'trace.duration_ms',
    'trace.errors',
    'trace.spans',
  ],
} as const

/** What every file has, then what the list shows: each place of a name that lies in two of them is a column. */
export const columnsOfFile = (request: ListRequest, columns: readonly string[]): string[] => {
  const used = usedColumns[isOfTraces(request) ? 'traces' : 'calls']
  const chosen = columns.filter((path) => path !== '-' && !madeColumns.includes(path)).flatMap(placesOfColumn)
  return [...new Set([...firstColumns, ...used, 'exception', ...chosen])]
}
