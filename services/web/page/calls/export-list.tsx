// All calls that a list matches as a file, which the browser fetches by an address that is good for a minute.
import { useState } from 'react'
import { json } from '../api/client.ts'
import type { ListRequest } from '../engine/calls-search.ts'
import { plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActs } from '../parts/dialog.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { openAddress } from '../parts/save-file.ts'
import { columnsOfFile } from './export-columns.ts'

const formats = {
  jsonl: 'JSON Lines: complete calls as stored, one per line',
  csv: 'CSV: the columns of this list',
} as const
type Format = keyof typeof formats

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
