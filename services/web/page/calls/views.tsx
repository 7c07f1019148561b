// Views of the list that have a name: objects of the class `SavedView`, as the Weave SDK knows them. Its filter stands in
// `definition`; the address that it was saved from, in `description`.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { mayWrite, useSession } from '../api/session.ts'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import { type CallsSearch, callsSearch, columnsOf, listRequest, parsed } from './search.ts'

type View = { id: string; label: string; search: CallsSearch | null }

/** What a view keeps of an address: neither the zone of the reader nor whether the list is live. */
const keptOf = ({ q, view, range, sort, cols }: CallsSearch): CallsSearch => callsSearch({ q, view, range, sort, cols })

const addressOf = (search: CallsSearch): string =>
  `calls?${new URLSearchParams(Object.entries(keptOf(search)) as [string, string][])}`

function viewOf(id: string, val: unknown): View {
  const { label, description } = (val ?? {}) as Record<string, unknown>
  const isOurs = typeof description === 'string' && description.startsWith('calls?')
  const search = isOurs ? callsSearch(Object.fromEntries(new URLSearchParams(description.slice(6)))) : null
  return { id, label: typeof label === 'string' ? label : id, search: search && keptOf(search) }
}

/** The value of the object. Ranges that end now are in the address only. */
function savedValue(project: string, label: string, search: CallsSearch) {
  const { range: _, ...rest } = keptOf(search)
  const { filter, query, sort_by } = listRequest(project, rest, parsed(search.q).expression, 0)
  const columns = columnsOf(search.cols).flatMap((path) =>
    path === '-' ? [] : [{ path: path.split('.'), label: path }],
  )
  return {
    ...{ view_type: 'traces', label, description: addressOf(search) },
    definition: { filter, ...(query !== undefined && { query }), columns, sort_by },
  }
}

function idOf(label: string): string {
  const words = label.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, '')
  return `view-${words.slice(0, 100) || crypto.randomUUID().slice(0, 8)}`
}

type ViewsProps = {
  projectId: string
  search: CallsSearch
  onOpen(search: CallsSearch): void
  onClose(): void
}

export function Views({ projectId, search, onOpen, onClose }: ViewsProps) {
  const client = useQueryClient()
  const { data: session } = useSession()
  const [label, setLabel] = useState('')
  const [removed, setRemoved] = useState<string>()
  const key = ['views', projectId]
  const { data, error } = useQuery({
    queryKey: key,
    async queryFn({ signal }) {
      const filter = { base_object_classes: ['SavedView'], latest_only: true }
      const { objs } = await json('objects.query', { project_id: projectId, filter, limit: 200 }, { signal })
      const views = objs.flatMap(({ object_id, val }) =>
        (val as { view_type?: unknown } | null)?.view_type === 'traces' ? [viewOf(object_id, val)] : [],
      )
      return views.sort((a, b) => a.label.localeCompare(b.label))
    },
  })
  const now = addressOf(search)
  const current = data?.find(({ id }) => id === search.saved)
  const isChanged = current?.search !== undefined && current.search !== null && addressOf(current.search) !== now
  const save = useMutation({
    async mutationFn({ id, name }: { id: string; name: string }) {
      const val = savedValue(projectId, name, search)
      const obj = { project_id: projectId, object_id: id, builtin_object_class: 'SavedView', val }
      await json('objects.create', { obj })
      return id
    },
    async onSuccess(id) {
      setLabel('')
      onOpen({ ...search, saved: id })
      await client.invalidateQueries({ queryKey: key })
    },
  })
  const remove = useMutation({
    mutationFn: (object_id: string) => json('objects.delete', { project_id: projectId, object_id }),
    async onSuccess(_, id) {
      setRemoved(undefined)
      if (id === search.saved) onOpen({ ...search, saved: undefined })
      await client.invalidateQueries({ queryKey: key })
    },
  })
  const reason = mayWrite(session) ? undefined : 'This key may not write'
  const name = label.trim()
  const isTaken = data?.some((view) => view.label === name || view.id === idOf(name)) ?? false
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name !== '' && !isTaken) save.mutate({ id: idOf(name), name })
  }
  const fault = error ?? save.error ?? remove.error
  if (data === undefined && error === null) return <p className="dim views">Loading views</p>
  return (
    <div className="views">
      {data?.length === 0 && <p className="dim">No views yet. A view keeps filter, range, order and columns.</p>}
      <ul>
        {data?.map((view) => (
          <li key={view.id}>
            {removed === view.id ? (
              <>
                <span className="grow">
                  Delete <T text={view.label} max={40} />?
                </span>
                <button type="button" className="line" onClick={() => remove.mutate(view.id)}>
                  Delete
                </button>
                <button type="button" onClick={() => setRemoved(undefined)}>
                  Keep
                </button>
              </>
            ) : (
              <>
                <button
                  type="button"
                  className="item"
                  aria-pressed={view.id === search.saved}
                  disabled={view.search === null}
                  title={view.search === null ? 'Made elsewhere: its filter cannot be written as text' : undefined}
                  onClick={() => {
                    if (view.search === null) return
                    onClose()
                    onOpen({ ...view.search, saved: view.id })
                  }}
                >
                  <T text={view.label} max={60} />
                  {view.id === current?.id && isChanged && <span className="dim"> changed</span>}
                </button>
                <button
                  type="button"
                  className="icon"
                  aria-label={`Delete ${view.label.slice(0, 60)}`}
                  disabled={reason !== undefined}
                  title={reason ?? 'Delete'}
                  onClick={() => setRemoved(view.id)}
                >
                  <Icon name="close" />
                </button>
              </>
            )}
          </li>
        ))}
      </ul>
      {current !== undefined && isChanged && (
        <button
          type="button"
          className="line"
          disabled={reason !== undefined || save.isPending}
          title={reason}
          onClick={() => save.mutate({ id: current.id, name: current.label })}
        >
          Save changes of <T text={current.label} max={40} />
        </button>
      )}
      <form onSubmit={submit}>
        <input
          type="text"
          aria-label="Name of a new view"
          placeholder="Save this list as…"
          value={label}
          maxLength={100}
          disabled={reason !== undefined}
          title={reason}
          onChange={({ target }) => setLabel(target.value)}
        />
        <button type="submit" className="line" disabled={name === '' || isTaken || save.isPending}>
          Save
        </button>
      </form>
      {isTaken && <p className="second">There is a view of this name</p>}
      {fault && (
        <p className="s-error" role="alert">
          {fault.message.slice(0, 300)}
        </p>
      )}
    </div>
  )
}
