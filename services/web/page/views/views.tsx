// The menu of a list's saved views: opening one, saving, renaming, a link to share, the default, deleting.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { callsSearch } from '../engine/calls-search.ts'
import { chartOfList } from '../engine/dashboard-filters.ts'
import { Button } from '../parts/button.tsx'
import { defaultView, noView, type ListSearch as Search, setDefaultView } from '../parts/default-view.ts'
import { ErrorLine } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { Input } from '../parts/input.tsx'
import { T } from '../parts/text.tsx'
import { addressOf, idOf, kinds, linkOf, type SavedView, type ViewKind } from './kinds.ts'
import { saveView, viewsKey, viewsQuery } from './saved-views.ts'
import type { ViewsProps } from './views-menu.tsx'

type Changes = {
  save(view: SavedView, onDone: () => void): void
  remove(id: string): void
  isBusy: boolean
  fault: Error | null
  /** The reason why nothing can be changed. */
  reason: string | undefined
}

function useChanges(kind: ViewKind, projectId: string, onGone: (id: string) => void): Changes {
  const client = useQueryClient()
  const { data: session } = useSession()
  const again = () => client.invalidateQueries({ queryKey: viewsKey(kind.page, projectId) })
  const save = useMutation({
    mutationFn: (view: SavedView) => saveView(kind, projectId, view),
    onSuccess: again,
  })
  const remove = useMutation({
    mutationFn: (object_id: string) => json('objects.delete', { project_id: projectId, object_id }),
    onSuccess: (_, id) => {
      onGone(id)
      return again()
    },
  })
  return {
    save: (view, onSuccess) => save.mutate(view, { onSuccess }),
    remove: (id) => remove.mutate(id),
    isBusy: save.isPending || remove.isPending,
    fault: save.error ?? remove.error,
    reason: mayWrite(session) ? undefined : noWrite,
  }
}

export function Views({ projectId, page, search, onOpen, onClose }: ViewsProps) {
  const kind = kinds[page]
  const [entity = '', project = ''] = projectId.split('/')
  const [opened, setOpened] = useState<string>()
  const [first, setFirst] = useState(() => defaultView(page, projectId))
  const { data, error } = useQuery(viewsQuery(kind, projectId))
  const makeFirst = (id: string | undefined) => {
    setDefaultView(page, projectId, id)
    setFirst(id)
  }
  const changes = useChanges(kind, projectId, (id) => {
    setOpened(undefined)
    if (id === first) makeFirst(undefined)
    if (id === search.saved) onOpen({ ...search, saved: noView })
  })
  if (data === undefined && error === null) return <p className="dim views">Loading views</p>
  const current = data?.find(({ id }) => id === search.saved)
  const isChanged = current?.search != null && addressOf(kind, current.search) !== addressOf(kind, search)
  const fault = error ?? changes.fault
  const open = (next: Search) => {
    onClose()
    onOpen(next)
  }
  return (
    <div className="views">
      {data?.length === 0 && <p className="dim">No views yet. A view keeps {kind.keeps}.</p>}
      <ul>
        {first !== undefined && (
          <li>
            <button type="button" className="item" onClick={() => open({ saved: noView })}>
              No view
            </button>
          </li>
        )}
        {data?.map((view) => (
          <ViewRow
            key={view.id}
            view={view}
            views={data}
            changes={changes}
            isCurrent={view.id === search.saved}
            isChanged={isChanged && view.id === current?.id}
            isFirst={view.id === first}
            hasActs={view.id === opened}
            onActs={() => setOpened(view.id === opened ? undefined : view.id)}
            onFirst={makeFirst}
            onOpen={() => view.search && open({ ...view.search, saved: view.id })}
          />
        ))}
      </ul>
      {current !== undefined && isChanged && (
        <Button
          whyNot={changes.reason}
          disabled={changes.isBusy}
          onClick={() => changes.save({ ...current, search }, () => undefined)}
        >
          Save changes of <T text={current.label} max={40} />
        </Button>
      )}
      <NameForm
        changes={changes}
        views={data ?? []}
        label="Name of a new view"
        placeholder="Save this list as…"
        act="Save"
        onName={(name, done) => {
          const view = { id: idOf(name), label: name, search }
          changes.save(view, () => {
            done()
            onOpen({ ...search, saved: view.id })
          })
        }}
      />
      {page === 'calls' && changes.reason === undefined && (
        <Link
          to="/p/$entity/$project/dashboard"
          params={{ entity, project }}
          search={chartOfList(callsSearch(search))}
          className="line"
          onClick={onClose}
        >
          <Icon name="gauge" /> Save as chart…
        </Link>
      )}
      <ErrorLine text={fault?.message} />
    </div>
  )
}

type NameFormProps = {
  views: readonly SavedView[]
  changes: Changes
  label: string
  placeholder?: string
  act: string
  /** The view that is given another name. */
  renamed?: SavedView
  onName(name: string, done: () => void): void
}

function NameForm({ views, changes, label, placeholder, act, renamed, onName }: NameFormProps) {
  const [typed, setTyped] = useState(renamed?.label ?? '')
  const name = typed.trim()
  const others = views.filter((view) => view !== renamed)
  const isTaken = others.some((view) => view.label === name || (!renamed && view.id === idOf(name)))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name !== '' && !isTaken) onName(name, () => setTyped(''))
  }
  return (
    <>
      <form onSubmit={submit}>
        <Input
          aria-label={label}
          placeholder={placeholder}
          value={typed}
          maxLength={100}
          disabled={changes.reason !== undefined}
          title={changes.reason}
          onText={setTyped}
        />
        <button type="submit" className="line" disabled={name === '' || isTaken || changes.isBusy}>
          {act}
        </button>
      </form>
      {isTaken && <p className="second">A view with this name already exists</p>}
    </>
  )
}

type RowProps = {
  view: SavedView
  views: readonly SavedView[]
  changes: Changes
  isCurrent: boolean
  isChanged: boolean
  /** Whether the list opens with it. */
  isFirst: boolean
  hasActs: boolean
  onActs(): void
  onFirst(id: string | undefined): void
  onOpen(): void
}

const madeElsewhere = 'Created by another client: its filter cannot be shown as text'

function ViewRow({ view, isCurrent, isChanged, isFirst, hasActs, onActs, onOpen, ...rest }: RowProps) {
  const isForeign = view.search === null
  return (
    <li>
      <div className="view-line">
        <button
          type="button"
          className="item"
          aria-pressed={isCurrent}
          disabled={isForeign}
          title={isForeign ? madeElsewhere : undefined}
          onClick={onOpen}
        >
          <T text={view.label} max={60} />
          {isFirst && <span className="dim"> default</span>}
          {isChanged && <span className="dim"> changed</span>}
        </button>
        <button
          type="button"
          className="icon"
          aria-label={`Actions of ${view.label.slice(0, 60)}`}
          aria-expanded={hasActs}
          onClick={onActs}
        >
          ⋯
        </button>
      </div>
      {hasActs && <Acts view={view} isFirst={isFirst} isForeign={isForeign} onActs={onActs} {...rest} />}
    </li>
  )
}

type ActsProps = Pick<RowProps, 'view' | 'views' | 'changes' | 'isFirst' | 'onActs' | 'onFirst'> & {
  isForeign: boolean
}

function Acts({ view, views, changes, isFirst, isForeign, onActs, onFirst }: ActsProps) {
  const [does, setDoes] = useState<'rename' | 'delete'>()
  const [isCopied, setCopied] = useState(false)
  const { reason } = changes
  if (does === 'rename')
    return (
      <NameForm
        views={views}
        changes={changes}
        renamed={view}
        label={`New name of ${view.label.slice(0, 60)}`}
        act="Rename"
        onName={(label) => changes.save({ ...view, label }, onActs)}
      />
    )
  if (does === 'delete')
    return (
      <div className="view-acts">
        <span className="grow">Delete it?</span>
        <button type="button" className="line danger" onClick={() => changes.remove(view.id)}>
          Delete
        </button>
        <button type="button" onClick={() => setDoes(undefined)}>
          Cancel
        </button>
      </div>
    )
  const copy = () => void navigator.clipboard.writeText(linkOf(location.href, view)).then(() => setCopied(true))
  return (
    <div className="view-acts">
      {!isForeign && (
        <>
          <Button onClick={copy}>
            <Icon name={isCopied ? 'success' : 'copy'} /> {isCopied ? 'Copied' : 'Copy link'}
          </Button>
          <Button
            title="Open this view by default in this browser"
            aria-pressed={isFirst}
            onClick={() => onFirst(isFirst ? undefined : view.id)}
          >
            Set as default
          </Button>
          <Button whyNot={reason} onClick={() => setDoes('rename')}>
            Rename
          </Button>
        </>
      )}
      <Button whyNot={reason} onClick={() => setDoes('delete')}>
        Delete
      </Button>
    </div>
  )
}
