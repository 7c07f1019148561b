// Marked calls as a file: JSON Lines in the bytes that the server answers, or CSV with a column for each input.
import { useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { send } from '../api/send.ts'
import { csvLine, csvRow } from '../engine/csv.ts'
import { count, plural } from '../engine/format.ts'
import type { Member } from '../engine/json-texts.ts'
import { columnNames } from '../engine/table-edits.ts'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActs } from '../parts/dialog.tsx'
import { saveFile } from '../parts/save-file.ts'
import { ask } from '../worker/client.ts'

/** Calls of one request: with their payloads, so fewer than a request may name. */
const batchCalls = 100
const newline = 10

type Lines = { blob: Blob; calls: number }

/** The lines of some calls, and how many there were. @throws ApiFault */
async function linesOf(projectId: string, call_ids: string[], signal: AbortSignal): Promise<Lines> {
  const body = { project_id: projectId, filter: { call_ids } }
  const response = await send(baseUrl, 'calls.stream_query', body, { signal })
  const parts: Uint8Array<ArrayBuffer>[] = []
  let calls = 0
  let last = newline
  const reader = response.body?.getReader()
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    for (const byte of read.value) if (byte === newline) calls++
    last = read.value.at(-1) ?? last
    parts.push(read.value)
  }
  if (last === newline) return { blob: new Blob(parts), calls }
  return { blob: new Blob([...parts, '\n']), calls: calls + 1 }
}

/** The same as rows of cells, kept as JSON until all columns are known. */
async function rowsOf(projectId: string, call_ids: string[], signal: AbortSignal): Promise<Lines> {
  const rows = await ask('callRows', [baseUrl, projectId, call_ids, 'usage'], { signal })
  return { blob: new Blob([JSON.stringify(rows)]), calls: rows.length }
}

/** A column for every name that any call has. */
async function csvOf(blobs: readonly Blob[]): Promise<Blob[]> {
  const read = async (blob: Blob) => JSON.parse(await blob.text()) as Member[][]
  let columns: string[] = []
  for (const blob of blobs) {
    const rows = (await read(blob)).map((row) => row.map(([name]) => ({ name })))
    columns = columnNames([columns.map((name) => ({ name })), ...rows])
  }
  const parts = [new Blob([csvLine(columns)])]
  for (const blob of blobs) parts.push(new Blob((await read(blob)).map((row) => csvRow(columns, row))))
  return parts
}

const formats = {
  jsonl: { label: 'JSON Lines: complete calls as stored, one per line', type: 'application/jsonl' },
  csv: { label: 'CSV: main fields, and a column for each input and output', type: 'text/csv' },
} as const

type Progress = { asked: number; saved?: number; fault?: string }
type Props = { projectId: string; ids: readonly string[]; onClose(): void }

export function ExportDialog({ projectId, ids, onClose }: Props) {
  const [control] = useState(() => new AbortController())
  const [progress, setProgress] = useState<Progress>()
  const [format, setFormat] = useState<keyof typeof formats>('jsonl')
  const close = () => {
    control.abort()
    onClose()
  }
  const run = async () => {
    setProgress({ asked: 0 })
    const blobs: Blob[] = []
    const read = format === 'csv' ? rowsOf : linesOf
    let saved = 0
    try {
      for (let from = 0; from < ids.length; from += batchCalls) {
        const { blob, calls } = await read(projectId, ids.slice(from, from + batchCalls), control.signal)
        blobs.push(blob)
        saved += calls
        setProgress({ asked: Math.min(ids.length, from + batchCalls) })
      }
    } catch (error) {
      if (control.signal.aborted) return
      setProgress({ asked: 0, fault: error instanceof Error ? error.message : 'failed' })
      return
    }
    if (control.signal.aborted) return
    const parts = format === 'csv' ? await csvOf(blobs) : blobs
    saveFile(new Blob(parts, { type: formats[format].type }), `calls.${format}`)
    setProgress({ asked: ids.length, saved })
  }
  const isOver = progress?.saved !== undefined || progress?.fault !== undefined
  return (
    <Dialog title={`Export ${plural(ids.length, 'call')}`} onClose={close}>
      <div className="delete-calls">
        {progress === undefined && (
          <fieldset className="choices">
            <legend className="hidden">Format</legend>
            {(Object.keys(formats) as (keyof typeof formats)[]).map((name) => (
              <label key={name} className="field">
                <input type="radio" name="format" checked={format === name} onChange={() => setFormat(name)} />
                {formats[name].label}
              </label>
            ))}
          </fieldset>
        )}
        <p role="status">
          {progress?.saved !== undefined
            ? `${count(progress.saved)} of ${count(ids.length)} calls saved.`
            : progress !== undefined && !isOver && `${count(progress.asked)} of ${count(ids.length)} read.`}
        </p>
        {progress?.fault !== undefined && <p className="s-error">Nothing was saved: {progress.fault}</p>}
        <DialogActs onClose={close} close={progress === undefined ? 'Cancel' : isOver ? 'Done' : 'Stop'}>
          {progress === undefined && (
            <Button className="first" onClick={() => void run()}>
              Export
            </Button>
          )}
        </DialogActs>
      </div>
    </Dialog>
  )
}
