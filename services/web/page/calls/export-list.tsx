// All calls that a list matches as a file, which the browser fetches by an address that is good for a minute.
import { useState } from 'react'
import { json } from '../api/client.ts'
import { isOfTraces, type ListRequest, madeColumns } from '../engine/calls-search.ts'
import { plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActs } from '../parts/dialog.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { openAddress } from '../parts/save-file.ts'
import { placesOfColumn } from './columns.ts'

const formats = {
  jsonl: 'JSON Lines: complete calls as stored, one per line',
  csv: 'CSV: the columns of this list',
} as const
type Format = keyof typeof formats

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

const columnsOfFile = (request: ListRequest, columns: readonly string[]): string[] => {
  const used = usedColumns[isOfTraces(request) ? 'traces' : 'calls']
  const chosen = columns.filter((path) => path !== '-' && !madeColumns.includes(path)).flatMap(placesOfColumn)
  return [...new Set([...firstColumns, ...used, 'exception', ...chosen])]
}

type Props = {
  request: ListRequest
  columns: readonly string[]
  total: number | undefined
  /** There are at least so many. */
  isBounded: boolean
  onClose(): void
}

export function ExportList({ request, columns, total, isBounded, onClose }: Props) {
  const isKnown = total !== undefined && !isBounded
  const [format, setFormat] = useState<Format>('jsonl')
  const [state, setState] = useState<'asked' | 'begun' | Error>()
  const run = async () => {
    setState('asked')
    const body = { ...request, format, ...(format === 'csv' && { columns: columnsOfFile(request, columns) }) }
    try {
      const { url } = await json('calls.export', body)
      openAddress(url)
      setState('begun')
    } catch (error) {
      setState(error instanceof Error ? error : new Error('failed'))
    }
  }
  const isOver = state === 'begun'
  return (
    <Dialog title={isKnown ? `Export ${plural(total, 'call')}` : 'Export all calls that match'} onClose={onClose}>
      <div className="delete-calls">
        {!isOver && (
          <fieldset className="choices">
            <legend className="hidden">Format</legend>
            {(Object.keys(formats) as Format[]).map((name) => (
              <label key={name} className="field">
                <input type="radio" name="format" checked={format === name} onChange={() => setFormat(name)} />
                {formats[name]}
              </label>
            ))}
          </fieldset>
        )}
        <p role="status">
          {isOver && 'Your browser saves the file. It is complete when the download ends without an error.'}
        </p>
        {state instanceof Error && <FaultBox error={state} onRetry={() => void run()} />}
        <DialogActs onClose={onClose} close={isOver ? 'Done' : 'Cancel'}>
          {!isOver && (
            <Button className="first" disabled={state === 'asked'} onClick={() => void run()}>
              Export
            </Button>
          )}
        </DialogActs>
      </div>
    </Dialog>
  )
}
