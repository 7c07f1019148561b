// Marked calls as a file of JSON Lines, in the bytes that the server answers.
import { useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { send } from '../api/send.ts'
import { count } from '../engine/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { saveFile } from '../parts/save-file.ts'

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

type Progress = { asked: number; saved?: number; fault?: string }
type Props = { projectId: string; ids: readonly string[]; onClose(): void }

export function ExportDialog({ projectId, ids, onClose }: Props) {
  const [control] = useState(() => new AbortController())
  const [progress, setProgress] = useState<Progress>()
  const close = () => {
    control.abort()
    onClose()
  }
  const run = async () => {
    setProgress({ asked: 0 })
    const blobs: Blob[] = []
    let saved = 0
    try {
      for (let from = 0; from < ids.length; from += batchCalls) {
        const { blob, calls } = await linesOf(projectId, ids.slice(from, from + batchCalls), control.signal)
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
    saveFile(new Blob(blobs, { type: 'application/jsonl' }), 'calls.jsonl')
    setProgress({ asked: ids.length, saved })
  }
  const isOver = progress?.saved !== undefined || progress?.fault !== undefined
  return (
    <Dialog title={`Export ${count(ids.length)} ${ids.length === 1 ? 'call' : 'calls'}`} onClose={close}>
      <div className="delete-calls">
        {progress === undefined && <p>As JSON Lines with their inputs and output, a call a line.</p>}
        <p role="status">
          {progress?.saved !== undefined
            ? `${count(progress.saved)} of ${count(ids.length)} calls saved.`
            : progress !== undefined && !isOver && `${count(progress.asked)} of ${count(ids.length)} read.`}
        </p>
        {progress?.fault !== undefined && <p className="s-error">Nothing was saved: {progress.fault}</p>}
        <div className="acts">
          {progress === undefined && (
            <button type="button" className="line" onClick={() => void run()}>
              Export
            </button>
          )}
          <button type="button" className="line" onClick={close}>
            {progress === undefined ? 'Cancel' : isOver ? 'Done' : 'Stop'}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
