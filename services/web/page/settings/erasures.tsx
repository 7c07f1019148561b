// Erasures of a project: requests, their progress and the counts of their receipts.
import { useState } from 'react'
import { json, lines } from '../api/client.ts'
import { age, count, moment, plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { FormDialog, SelectField, TextField } from '../parts/forms.tsx'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { useList } from '../parts/use-list.ts'
import type { Shapes } from '../routes.gen.ts'
import { partsOf } from './project.ts'

type Erasure = Shapes['erasures.list']['line']
type By = 'call_ids' | 'trace_ids' | 'thread_ids' | 'user_ids'

const ways: Record<By, string> = {
  call_ids: 'Calls by ID',
  trace_ids: 'Traces by ID',
  thread_ids: 'Threads by ID',
  user_ids: 'Everything by user of the key',
}
const states: Record<Erasure['status'], { kind: 'good' | 'warn' | 'off'; text: string }> = {
  accepted: { kind: 'warn', text: 'Accepted' },
  hidden: { kind: 'warn', text: 'Hidden' },
  removing: { kind: 'warn', text: 'Being removed' },
  verifying: { kind: 'warn', text: 'Removed, being verified' },
  done: { kind: 'good', text: 'Done' },
  held: { kind: 'off', text: 'Blocked by a legal hold' },
  failed: { kind: 'off', text: 'Failed' },
}

function NewErasure({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const [by, setBy] = useState<By>('thread_ids')
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const ids = typed.split(/[\s,]+/).filter((id) => id !== '')
  const run = () => json('erasures.create', { project_id: projectId, [by]: ids, reason: reason.trim() })
  const isReady = ids.length > 0 && reason.trim() !== ''
  return (
    <FormDialog title="Erase calls" act="Erase permanently" isDangerous run={run} isReady={isReady} onClose={onClose}>
      <p className="second">These calls and all calls below them disappear immediately. This cannot be undone.</p>
      <SelectField label="What" value={by} of={ways} onChange={setBy} />
      <TextField
        label="IDs"
        hint="One per line or separated by commas, up to 1,000."
        rows={3}
        value={typed}
        onText={setTyped}
      />
      <TextField label="Reason" hint="Included in the receipt." value={reason} onText={setReason} />
    </FormDialog>
  )
}

function when({ status, done_at, deadline, held }: Erasure, zone: string): string {
  if (status === 'done') return `at ${moment(done_at ?? '', zone)}`
  return status === 'held' ? `${plural(held ?? 0, 'call')} under a hold` : `until ${moment(deadline ?? '', zone)}`
}

const columnsOf = (zone: string): ShortColumn<Erasure>[] => [
  {
    head: 'Requested',
    width: '16rem',
    cell: ({ requested_at, requested_by }) => (
      <span className="second" title={requested_at ?? ''}>
        {age(requested_at ?? '')} by <T text={requested_by} max={60} />
      </span>
    ),
  },
  {
    head: 'Reason',
    width: 'minmax(14rem, 2fr)',
    cell: ({ reason }) => (reason === '' ? <span className="dim">deleted</span> : <T text={reason} max={1_000} />),
  },
  { head: 'Calls', width: '7rem', isNumber: true, cell: ({ counts }) => count(counts.calls) },
  {
    head: 'Status',
    width: 'minmax(16rem, 1fr)',
    cell: (erasure) => (
      <span>
        <span className={`pill ${states[erasure.status].kind}`}>{states[erasure.status].text}</span>
        <small className="second">{when(erasure, zone)}</small>
      </span>
    ),
  },
  {
    head: 'Receipt',
    width: '12rem',
    cell: ({ erasure_id, hash }) => (
      <code title={hash === '' ? erasure_id : `${erasure_id}\nSHA-256 ${hash}`}>
        {erasure_id.slice(0, 8)}…{hash !== '' && ` ${hash.slice(0, 6)}…`}
      </code>
    ),
  },
]

export function Erasures({ projectId, zone }: { projectId: string; zone: string }) {
  const [isAsking, setAsking] = useState(false)
  const list = useList({
    key: ['settings', 'erasures', projectId],
    read: ({ signal }) => lines('erasures.list', undefined, { params: partsOf(projectId), signal }),
  })
  return (
    <section className="part" aria-labelledby="erasures">
      <div className="section-head">
        <div>
          <h2 id="erasures">Erasures</h2>
          <p className="second">Deleted data is permanently removed from tables, their files and the log.</p>
        </div>
        <Button onClick={() => setAsking(true)}>Erase calls…</Button>
      </div>
      <ShortTable
        label="Erasures"
        columns={columnsOf(zone)}
        list={list}
        idOf={({ erasure_id }) => erasure_id}
        none="No erasures yet."
      />
      {isAsking && <NewErasure projectId={projectId} onClose={() => setAsking(false)} />}
    </section>
  )
}
