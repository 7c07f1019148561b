// What can be done with all marked rows at once.
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { AddToQueue } from '../annotation-queues/add-to-queue.tsx'
import { mayAnnotate, mayWrite, noWrite, useSession } from '../api/session.ts'
import { AddToDataset } from '../datasets/add-to-dataset.tsx'
import type { CallsSearch } from '../engine/calls-search.ts'
import { count, plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { ExportDialog } from './export.tsx'
import { FeedbackMarked } from './feedback-marked.tsx'
import { type Marks, maxMarked } from './use-marks.ts'
import { WhatDiffers } from './what-differs.tsx'

/** Ids that one question of what sets them apart names. */
const maxApart = 1_000

/** What else can be done with marked calls, and who may. */
const acts = [
  { label: 'Feedback…', may: mayAnnotate, Act: FeedbackMarked },
  { label: 'Add to queue…', may: mayWrite, Act: AddToQueue },
  { label: 'Add to dataset…', may: mayWrite, Act: AddToDataset },
  { label: 'Export…', may: () => true, Act: ExportDialog },
] as const

export type MarkBarProps = {
  projectId: string
  marks: Marks
  /** Of the list. */
  search: CallsSearch
  nowS: number
  total: number | undefined
  onChanged(): void
  onFilter(q: string): void
}

export function MarkBar({ projectId, marks, search, nowS, total, onChanged, onFilter }: MarkBarProps) {
  const { data: session } = useSession()
  const [deletes, setDeletes] = useState(false)
  const [differs, setDiffers] = useState(false)
  const [label, setLabel] = useState('')
  const { size } = marks.ids
  const fault = marks.fault !== undefined && (
    <span className="s-error" role="alert">
      Could not select all matching rows: {marks.fault}
    </span>
  )
  if (size === 0) return fault ? <div className="bar">{fault}</div> : null
  const reason = mayWrite(session) ? undefined : 'You don’t have permission to delete calls'
  const Act = acts.find((act) => act.label === label)?.Act
  return (
    <div className="bar" role="group" aria-label="Marked calls">
      <span className="num" role="status">
        {count(size)} marked
      </span>
      {fault}
      {total !== undefined && total > size && (
        <Button onClick={() => void marks.all()}>Mark all {count(Math.min(total, maxMarked))} that match</Button>
      )}
      <Button onClick={() => void navigator.clipboard.writeText([...marks.ids].join('\n'))}>
        <Icon name="copy" /> Copy IDs
      </Button>
      {size === 2 && <CompareLink projectId={projectId} ids={[...marks.ids]} />}
      {size > 1 && (
        <Button
          disabled={size > maxApart}
          title={size > maxApart ? `At most ${plural(maxApart, 'call')}` : undefined}
          onClick={() => setDiffers(true)}
        >
          Compare with the rest
        </Button>
      )}
      {acts.map((act) => (
        <Button
          key={act.label}
          disabled={!act.may(session)}
          title={act.may(session) ? undefined : noWrite}
          onClick={() => setLabel(act.label)}
        >
          {act.label}
        </Button>
      ))}
      <Button whyNot={reason} onClick={() => setDeletes(true)}>
        Delete…
      </Button>
      <button type="button" onClick={marks.clear}>
        Clear
      </button>
      {Act && <Act projectId={projectId} ids={[...marks.ids]} onClose={() => setLabel('')} />}
      {differs && (
        <WhatDiffers
          projectId={projectId}
          search={search}
          nowS={nowS}
          ids={[...marks.ids]}
          onFilter={(q) => {
            setDiffers(false)
            onFilter(q)
          }}
          onClose={() => setDiffers(false)}
        />
      )}
      {deletes && (
        <DeleteDialog
          projectId={projectId}
          ids={[...marks.ids]}
          matches={marks.matches}
          onClose={(isDone) => {
            setDeletes(false)
            if (!isDone) return
            marks.clear()
            onChanged()
          }}
        />
      )}
    </div>
  )
}

/** Two marked calls beside each other. */
function CompareLink({ projectId, ids }: { projectId: string; ids: readonly string[] }) {
  const [entity = '', project = ''] = projectId.split('/')
  const [a, b] = ids.map((id) => `call/${id}`)
  return (
    <Link to="/p/$entity/$project/diff" params={{ entity, project }} search={{ a, b }} className="line">
      Compare
    </Link>
  )
}
