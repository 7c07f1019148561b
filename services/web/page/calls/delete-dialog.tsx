// Deletes calls, with all below them, once somebody is sure of how many the server counts; many in several requests.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import type { ListRequest } from '../engine/calls-search.ts'
import { count, plural } from '../engine/format.ts'
import { Dialog, DialogActs } from '../parts/dialog.tsx'
import { Input } from '../parts/input.tsx'

/** Ids of one request, as the server takes them. */
const batchRows = 1_000
/** From here on the number has to be typed. */
const typedAbove = 100

type DeleteProps = {
  projectId: string
  ids: readonly string[]
  /** The list of which they are all that matches; its filter is counted then, not their ids. */
  matches?: ListRequest | undefined
  onClose(isDone: boolean): void
}
type Progress = { asked: number; deleted: number; faults: string[]; isOver: boolean }

async function countOf({ projectId, ids, matches }: DeleteProps, signal: AbortSignal): Promise<number> {
  if (matches !== undefined) {
    const { sort_by: _, ...list } = matches
    return (await json('calls.query_stats', list, { signal })).count
  }
  let found = 0
  for (let from = 0; from < ids.length; from += batchRows) {
    const filter = { call_ids: ids.slice(from, from + batchRows) }
    found += (await json('calls.query_stats', { project_id: projectId, filter }, { signal })).count
  }
  return found
}

function Counted({ found, marked, matches }: { found: number; marked: number; matches: boolean }) {
  const what = `${plural(found, 'call')}${matches ? ' matching the filter' : ''}. `
  const differ = found > marked ? `Only the ${count(marked)} marked ones are deleted. ` : ''
  return (
    <p>
      {what}
      {differ}All calls below them are deleted too. This cannot be undone.
    </p>
  )
}

export function DeleteDialog(props: DeleteProps) {
  const { projectId, ids, matches, onClose } = props
  const client = useQueryClient()
  const [typed, setTyped] = useState('')
  const [progress, setProgress] = useState<Progress>()
  const [control] = useState(() => new AbortController())
  const counted = useQuery({
    queryKey: ['calls.delete', projectId, ids, matches],
    queryFn: ({ signal }) => countOf(props, signal),
    gcTime: 0,
  })
  const isSure =
    counted.data !== undefined && (ids.length <= typedAbove || typed.replaceAll(/\D/g, '') === String(ids.length))
  const close = () => {
    control.abort()
    onClose(progress !== undefined)
  }
  const run = async (event: FormEvent) => {
    event.preventDefault()
    if (!isSure || progress !== undefined) return
    const now: Progress = { asked: 0, deleted: 0, faults: [], isOver: false }
    setProgress(now)
    for (let from = 0; from < ids.length && !control.signal.aborted; from += batchRows) {
      const call_ids = ids.slice(from, from + batchRows)
      try {
        const { num_deleted } = await json(
          'calls.delete',
          { project_id: projectId, call_ids },
          { signal: control.signal },
        )
        now.deleted += num_deleted
      } catch (error) {
        if (control.signal.aborted) break
        now.faults.push(`${plural(call_ids.length, 'call')}: ${error instanceof Error ? error.message : 'failed'}`)
      }
      now.asked = from + call_ids.length
      setProgress({ ...now })
    }
    setProgress({ ...now, isOver: true })
    await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  }
  return (
    <Dialog title={`Delete ${plural(ids.length, 'call')}`} onClose={close}>
      {progress === undefined ? (
        <form onSubmit={(event) => void run(event)} className="delete-calls">
          {counted.data !== undefined && (
            <Counted found={counted.data} marked={ids.length} matches={matches !== undefined} />
          )}
          {counted.isPending && <p role="status">Counting…</p>}
          {counted.error && <p className="s-error">Could not count the calls: {counted.error.message}</p>}
          {ids.length > typedAbove && (
            <label>
              Type {ids.length} to confirm <Input inputMode="numeric" value={typed} onText={setTyped} />
            </label>
          )}
          <DialogActs onClose={close}>
            <button type="submit" className="first danger" disabled={!isSure}>
              Delete
            </button>
          </DialogActs>
        </form>
      ) : (
        <div role="status" className="delete-calls">
          <p>
            {progress.isOver ? '' : `${count(progress.asked)} of ${count(ids.length)} sent. `}
            {count(progress.deleted)} deleted, including calls below them.
          </p>
          {progress.faults.map((fault) => (
            <p key={fault} className="s-error">
              {fault}
            </p>
          ))}
          <DialogActs onClose={close} close={progress.isOver ? 'Done' : 'Stop'} />
        </div>
      )}
    </Dialog>
  )
}
