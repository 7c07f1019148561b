// Holds of a project, made by admins and released by owners.
import { useState } from 'react'
import { json, lines } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { moment, plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Confirm, FormDialog, RowButton, SelectField, TextField } from '../parts/forms.tsx'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { AgeBy, T } from '../parts/text.tsx'
import { useList } from '../parts/use-list.ts'
import type { Shapes } from '../routes.gen.ts'
import { partsOf } from './project.ts'

type Hold = Shapes['holds.list']['line']
type What = 'all' | 'call_ids' | 'trace_ids' | 'thread_ids'

const whats: Record<What, string> = {
  all: 'Everything of the project',
  call_ids: 'Calls by ID',
  trace_ids: 'Traces by ID',
  thread_ids: 'Threads by ID',
}

function heldBy({ all, call_ids, trace_ids, thread_ids }: Hold): string {
  if (all) return 'everything'
  const [name, ids] = call_ids ? ['call', call_ids] : trace_ids ? ['trace', trace_ids] : ['thread', thread_ids ?? []]
  return ids.length === 1 ? `${name} ${ids[0]}` : plural(ids.length, name)
}

function NewHold({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const [what, setWhat] = useState<What>('trace_ids')
  const [ids, setIds] = useState('')
  const [reason, setReason] = useState('')
  const [until, setUntil] = useState('')
  const list = ids.split(/[\s,]+/).filter((id) => id !== '')
  const make = () => {
    const held = what === 'all' ? { all: true as const } : { [what]: list }
    const end = until === '' ? {} : { until: new Date(until).toISOString() }
    return json('holds.create', { ...held, reason: reason.trim(), ...end }, { params: partsOf(projectId) })
  }
  const isReady = reason.trim() !== '' && (what === 'all' || list.length > 0)
  return (
    <FormDialog title="New hold" act="Create hold" run={make} isReady={isReady} onClose={onClose}>
      <SelectField label="What to keep" value={what} of={whats} onChange={setWhat} />
      {what !== 'all' && (
        <TextField label="IDs" hint="One per line or separated by commas." rows={3} value={ids} onText={setIds} />
      )}
      <TextField label="Reason" value={reason} onText={setReason} />
      <TextField
        label="Until"
        hint="The hold ends then. Empty: until it is released."
        type="datetime-local"
        value={until}
        onText={setUntil}
      />
    </FormDialog>
  )
}

const columnsOf = (zone: string, mayRelease: boolean, release: (hold: Hold) => void): ShortColumn<Hold>[] => [
  {
    head: 'Held data',
    width: 'minmax(14rem, 1fr)',
    cell: (hold) => (
      <span title={[hold.call_ids, hold.trace_ids, hold.thread_ids].flatMap((ids) => ids ?? []).join('\n')}>
        <T text={heldBy(hold)} />
      </span>
    ),
  },
  { head: 'Reason', width: 'minmax(14rem, 2fr)', cell: ({ reason }) => <T text={reason} max={1_000} /> },
  {
    head: 'Until',
    width: '15rem',
    cell: ({ until }) => (until === undefined ? 'released' : moment(until, zone)),
  },
  {
    head: 'Created',
    width: '15rem',
    cell: ({ created_at, created_by }) => <AgeBy at={created_at} by={created_by} />,
  },
  {
    head: 'Actions',
    width: '8rem',
    cell: (hold) => (
      <RowButton
        name="Release…"
        of={heldBy(hold)}
        run={() => release(hold)}
        whyNot={mayRelease ? undefined : 'Only owners can release holds'}
      />
    ),
  },
]

export function Holds({ projectId, zone }: { projectId: string; zone: string }) {
  const { data: session } = useSession()
  const [isMaking, setMaking] = useState(false)
  const [leaving, setLeaving] = useState<Hold>()
  const list = useList({
    key: ['settings', 'holds', projectId],
    read: ({ signal }) => lines('holds.list', undefined, { params: partsOf(projectId), signal }),
  })
  const mayRelease = session?.role === undefined || session.role === 'owner'
  const release = () => json('holds.delete', undefined, { params: { ...partsOf(projectId), id: leaving?.id ?? '' } })
  return (
    <section className="part" aria-labelledby="holds">
      <div className="section-head">
        <div>
          <h2 id="holds">Legal holds</h2>
          <p className="second">Data under a hold is never deleted.</p>
        </div>
        <Button onClick={() => setMaking(true)}>New hold</Button>
      </div>
      <ShortTable
        label="Legal holds"
        columns={columnsOf(zone, mayRelease, setLeaving)}
        list={list}
        idOf={({ id }) => id}
        rowClass={({ until }) => (until !== undefined && Date.parse(until) < Date.now() ? 'over' : '')}
        none="No holds."
      />
      {isMaking && <NewHold projectId={projectId} onClose={() => setMaking(false)} />}
      {leaving && (
        <Confirm title="Release hold" act="Release" run={release} onClose={() => setLeaving(undefined)}>
          After release, its data ({heldBy(leaving)}) can be deleted.
        </Confirm>
      )}
    </section>
  )
}
