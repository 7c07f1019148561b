// Actions on the call in the reader: datasets, queues, another name, copies, files, comparisons; and its deletion.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { AddToQueue } from '../annotation-queues/add-to-queue.tsx'
import { baseUrl, json } from '../api/client.ts'
import { send } from '../api/send.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { DeleteDialog } from '../calls/delete-dialog.tsx'
import { AddToDataset } from '../datasets/add-to-dataset.tsx'
import { curlOf } from '../engine/curl.ts'
import { moment } from '../engine/format.ts'
import type { Row } from '../engine/rows.ts'
import { useKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActs } from '../parts/dialog.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { FormDialog, TextField } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { saveFile } from '../parts/save-file.ts'
import { T } from '../parts/text.tsx'
import { ask } from '../worker/client.ts'
import type { NodeRef } from '../worker/documents.ts'
import './reader.css'

/** Names that the server takes. */
const maxName = 1_024
/** Calls of the same op that are offered for a comparison. */
const maxOffered = 20

type ActsProps = { projectId: string; row: Row; record: NodeRef | undefined; zone: string; onDeleted(): void }
type Opened = 'rename' | 'delete' | 'queue' | 'dataset' | 'compare'

export function CallActs({ projectId, row, record, zone, onDeleted }: ActsProps) {
  const { data: session } = useSession()
  const [opened, setOpened] = useState<Opened>()
  const [told, setTold] = useState('')
  const whyNot = mayWrite(session) ? undefined : noWrite
  const close = () => setOpened(undefined)
  const { id, traceId } = row
  useKeys({ acts: () => document.getElementById('call-acts')?.click() })
  const tell = (work: Promise<unknown>, done: string) =>
    void work.then(
      () => setTold(done),
      (error: unknown) => setTold(error instanceof Error ? error.message.slice(0, 200) : 'Failed'),
    )
  const copy = (text: string, what: string) => tell(navigator.clipboard.writeText(text), `${what} copied`)
  const read = JSON.stringify({ project_id: projectId, id })
  const copyRecord = async (ref: NodeRef) =>
    navigator.clipboard.writeText(await ask('copy', [ref.doc, ref.start, ref.end]))
  const saveTrace = async () => {
    const body = { project_id: projectId, filter: { trace_ids: [traceId] } }
    const response = await send(baseUrl, 'calls.stream_query', body)
    saveFile(new Blob([await response.blob()], { type: 'application/jsonl' }), `trace-${traceId.slice(0, 32)}.jsonl`)
  }
  const acts: [name: string, run: () => void, needsWriting: boolean][] = [
    ['Rename…', () => setOpened('rename'), true],
    ['Add to queue…', () => setOpened('queue'), true],
    ['Compare with…', () => setOpened('compare'), false],
    ['Copy as curl', () => copy(curlOf(new URL('call/read', baseUrl), 'POST', read), 'Command'), false],
    ['Copy as JSON line', () => record && tell(copyRecord(record), 'Record copied'), false],
    ['Copy link', () => copy(location.href, 'Link'), false],
    ['Save trace as JSON Lines', () => tell(saveTrace(), 'Trace saved'), false],
    ['Delete…', () => setOpened('delete'), true],
  ]
  return (
    <div className="acts call-acts">
      <Button whyNot={whyNot} onClick={() => setOpened('dataset')}>
        Add to dataset…
      </Button>
      <Menu
        id="call-acts"
        label="Actions of the call"
        className="line"
        button={
          <>
            Actions <Icon name="down" />
          </>
        }
      >
        {(shut) =>
          acts.map(([name, run, needsWriting]) => (
            <button
              key={name}
              type="button"
              className="item"
              disabled={needsWriting && whyNot !== undefined}
              title={needsWriting ? whyNot : undefined}
              onClick={() => {
                shut()
                run()
              }}
            >
              {name}
            </button>
          ))
        }
      </Menu>
      <span className="second" role="status">
        {told}
      </span>
      {opened === 'dataset' && <AddToDataset projectId={projectId} ids={[id]} onClose={close} />}
      {opened === 'queue' && <AddToQueue projectId={projectId} ids={[id]} onClose={close} />}
      {opened === 'rename' && <Rename projectId={projectId} row={row} onClose={close} />}
      {opened === 'compare' && <CompareWith projectId={projectId} row={row} zone={zone} onClose={close} />}
      {opened === 'delete' && (
        <DeleteDialog
          projectId={projectId}
          ids={[id]}
          onClose={(isDone) => {
            close()
            if (isDone) onDeleted()
          }}
        />
      )}
    </div>
  )
}

type DialogProps = { projectId: string; row: Row; onClose(): void }

function Rename({ projectId, row, onClose }: DialogProps) {
  const client = useQueryClient()
  const [name, setName] = useState(row.name)
  return (
    <FormDialog
      title="Rename call"
      act="Rename"
      isReady={name.trim() !== '' && name !== row.name}
      run={async () => {
        await json('calls.update', { project_id: projectId, call_id: row.id, display_name: name.trim() })
        await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
      }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="The op name is not changed."
        dir="auto"
        maxLength={maxName}
        value={name}
        onText={setName}
      />
    </FormDialog>
  )
}

/** A call to compare with: one of the latest of the same op, or any by its id. */
function CompareWith({ projectId, row, zone, onClose }: DialogProps & { zone: string }) {
  const [entity = '', project = ''] = projectId.split('/')
  const navigate = useNavigate()
  const [id, setId] = useState('')
  const filter = { op_names: [row.opName] }
  const sort_by = [{ field: 'started_at', direction: 'desc' }]
  const { data, error, refetch } = useQuery({
    queryKey: ['calls.same', projectId, row.opName],
    queryFn: ({ signal }) =>
      ask('calls', [baseUrl, { project_id: projectId, filter, sort_by, limit: maxOffered + 1 }], { signal }),
  })
  const to = (other: string) => {
    // The trace stays, with its dialogs, until the file of the page that follows has come.
    onClose()
    void navigate({
      to: '/p/$entity/$project/diff',
      params: { entity, project },
      search: { a: `call/${row.id}`, b: `call/${other}` },
    })
  }
  const others = data?.rows.filter((one) => one.id !== row.id).slice(0, maxOffered)
  const list = (): ReactNode => {
    if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
    if (others?.length === 0) return <p className="second">No other calls of this op.</p>
    return (
      <ul aria-label="The latest calls of the same op" aria-busy={others === undefined} className="offered">
        {others?.map((one) => (
          <li key={one.id}>
            <button type="button" className="item" onClick={() => to(one.id)}>
              <Icon name={one.status} label={one.status} className={`s-${one.status}`} />
              <T text={one.name} max={60} />
              <span className="grow" />
              <span className="dim num">{moment(one.startedAt, zone)}</span>
            </button>
          </li>
        ))}
      </ul>
    )
  }
  return (
    <Dialog title="Compare with" onClose={onClose}>
      <form
        className="set-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (id.trim() !== '') to(id.trim())
        }}
      >
        <TextField label="Call ID" spellCheck={false} value={id} onText={setId} />
        <DialogActs onClose={onClose}>
          <button type="submit" className="first" disabled={id.trim() === ''}>
            Compare
          </button>
        </DialogActs>
      </form>
      {list()}
    </Dialog>
  )
}
