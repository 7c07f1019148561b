// Rows that are marked, and what can be done with all of them at once.
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { mayAnnotate, mayWrite, noWrite, useSession } from '../api/session.ts'
import type { CallsSearch, ListRequest } from '../engine/calls-search.ts'
import { count, plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { useMarked } from '../parts/use-list.ts'
import { ask } from '../worker/client.ts'

const AddToQueue = lazy(() => import('../lazy-routes.tsx').then((module) => ({ default: module.AddToQueue })))
const AddToDataset = lazy(() => import('../lazy-routes.tsx').then((module) => ({ default: module.AddToDataset })))
const FeedbackMarked = lazy(() => import('../lazy-routes.tsx').then((module) => ({ default: module.FeedbackMarked })))
const ExportDialog = lazy(() => import('../lazy-routes.tsx').then((module) => ({ default: module.ExportDialog })))
const DeleteDialog = lazy(() => import('../lazy-routes.tsx').then((module) => ({ default: module.DeleteDialog })))
const WhatDiffers = lazy(() => import('../lazy-routes.tsx').then((module) => ({ default: module.WhatDiffers })))

/** Ids that one question of what sets them apart names. */
const maxApart = 1_000
/** Most calls that "all that match" marks. */
const maxMarked = 100_000

/**
 * Marks are kept by project and filter: another list begins without any.
 * @param idAt of this list: rows of another one, which still show, cannot be marked
 */
export function useMarks(request: ListRequest | undefined, idAt: (index: number) => string | undefined) {
  const list = JSON.stringify([request?.project_id, request?.filter, request?.query])
  const marked = useMarked(list, idAt)
  const [found, setFound] = useState<{ list: string; ids: ReadonlySet<string>; fault?: string }>()
  // It counts until others are marked.
  const all = found?.list === list && found.ids === marked.ids ? found : undefined
  return {
    ...marked,
    /** Why those that match could not be marked. */
    fault: all?.fault,
    /** What they are the matches of, unless they were marked one by one. */
    matches: all !== undefined && all.fault === undefined ? request : undefined,
    async all() {
      if (request === undefined) return
      try {
        const ids = new Set(await ask('ids', [baseUrl, { ...request, limit: maxMarked }]))
        marked.set(ids)
        setFound({ list, ids })
      } catch (error) {
        setFound({ list, ids: marked.ids, fault: error instanceof Error ? error.message : 'failed' })
      }
    },
  }
}
type Marks = ReturnType<typeof useMarks>

/** What else can be done with marked calls, and who may. */
const acts = [
  { label: 'Feedback…', may: mayAnnotate, Act: FeedbackMarked },
  { label: 'Add to queue…', may: mayWrite, Act: AddToQueue },
  { label: 'Add to dataset…', may: mayWrite, Act: AddToDataset },
  { label: 'Export…', may: () => true, Act: ExportDialog },
] as const

type BarProps = {
  projectId: string
  marks: Marks
  /** Of the list. */
  search: CallsSearch
  nowS: number
  total: number | undefined
  onChanged(): void
  onFilter(q: string): void
}

export function MarkBar({ projectId, marks, search, nowS, total, onChanged, onFilter }: BarProps) {
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
      <Suspense fallback={null}>
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
      </Suspense>
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
