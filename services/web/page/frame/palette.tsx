// Ctrl K: projects, their pages and operations, settings, and any id of a call or trace that is pasted.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useDeferredValue, useState } from 'react'
import { json } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { count } from '../engine/format.ts'
import { literalText } from '../engine/query-text.ts'
import { opNameOf } from '../engine/rows.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import { placeOf, sections } from '../settings/sections.ts'
import { pages } from './rail.tsx'

type Target = { key: string; label: string; hint: string; icon: IconName; go(): void }

const idForm = /^[0-9a-fA-F-]{16,36}$/
const refForm = /^weave:\/\/\/([^/]+)\/([^/]+)\/call\/([^/?#]+)$/

/** Operations of the latest calls with these words in their name. */
function useOperations(here: PaletteProps['here'], search: string): { name: string; calls: number }[] {
  const words = useDeferredValue(search.toLowerCase())
  const { data } = useQuery({
    queryKey: ['operations', here?.entity, here?.project],
    queryFn: ({ signal }) =>
      json(
        'calls.values',
        { project_id: `${here?.entity}/${here?.project}`, fields: ['op_name'], limit: 100 },
        { signal, fresh: 'any' },
      ),
    enabled: here !== undefined && words !== '',
    staleTime: 60_000,
  })
  if (words === '') return []
  const counts = new Map<string, number>()
  for (const { value, calls } of data?.fields.op_name?.values ?? []) {
    // Versions of an op are one operation.
    const name = opNameOf(String(value))
    if (name.toLowerCase().includes(words)) counts.set(name, (counts.get(name) ?? 0) + calls)
  }
  return [...counts].slice(0, 8).map(([name, calls]) => ({ name, calls }))
}

type PaletteProps = { here: { entity: string; project: string } | undefined; onClose(): void }

/** @param here the project that is open */
export function Palette({ here, onClose }: PaletteProps) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const navigate = useNavigate()
  const search = text.trim()
  const { data } = useQuery({
    queryKey: ['projects', search],
    queryFn: ({ signal }) => json('projects.query', { search, limit: 8 }, { signal }),
    placeholderData: (before) => before,
  })
  const { data: session } = useSession()
  const operations = useOperations(here, search)
  const ref = refForm.exec(search)
  const targets: Target[] = []
  const toCall = (params: { entity: string; project: string; id: string }) =>
    targets.push({
      ...{ key: `call ${params.id}`, label: params.id, hint: 'call', icon: 'calls' },
      go: () => void navigate({ to: '/p/$entity/$project/calls/$id', params }),
    })
  if (ref) toCall({ entity: ref[1] ?? '', project: ref[2] ?? '', id: ref[3] ?? '' })
  else if (here && idForm.test(search)) {
    toCall({ ...here, id: search })
    targets.push({
      ...{ key: 'trace', label: search, hint: 'trace', icon: 'agent' },
      go: () =>
        void navigate({ to: '/p/$entity/$project/traces/$traceId', params: { ...here, traceId: search }, search: {} }),
    })
  } else if (here && search !== '')
    targets.push({
      ...{ key: 'search', label: `Calls with “${search}”`, hint: 'filter', icon: 'filter' },
      go: () => void navigate({ to: '/p/$entity/$project/calls', params: here, search: { q: search } }),
    })
  const words = search.toLowerCase()
  for (const { to, label, icon } of here && words !== '' ? pages : [])
    if (label.toLowerCase().includes(words))
      targets.push({
        ...{ key: to, label, hint: 'page', icon },
        go: () => here && void navigate({ to, params: here, search: {} }),
      })
  for (const { name, calls } of operations)
    targets.push({
      ...{ key: `op ${name}`, label: name, hint: `operation, ${count(calls)} of the latest calls`, icon: 'calls' },
      go: () =>
        here &&
        void navigate({
          ...{ to: '/p/$entity/$project/calls', params: here },
          search: { q: `op:${literalText(name)}`, view: 'all' },
        }),
    })
  for (const { id, label, icon, isFor } of words === '' ? [] : sections)
    if (isFor(session) && `settings ${label}`.toLowerCase().includes(words))
      targets.push({
        ...{ key: `settings ${id}`, label, hint: 'settings', icon },
        go: () => void navigate({ ...placeOf(id), search: here ? { project: `${here.entity}/${here.project}` } : {} }),
      })
  for (const { project_id } of data?.projects ?? []) {
    const [first = '', second = ''] = project_id.split('/')
    const params = { entity: first, project: second }
    targets.push({
      ...{ key: project_id, label: project_id, hint: 'project', icon: 'other' },
      go: () => void navigate({ to: '/p/$entity/$project/calls', params, search: {} }),
    })
  }
  const chosen = Math.min(at, targets.length - 1)
  const pick = (target: Target | undefined) => {
    if (target === undefined) return
    onClose()
    target.go()
  }
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setAt(Math.max(0, Math.min(targets.length - 1, chosen + step)))
    } else if (event.key === 'Enter') pick(targets[chosen])
  }
  return (
    <Dialog title="Go to" onClose={onClose} className="palette">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={targets[chosen] && `palette-${chosen}`}
        aria-label="A project, an id of a call or trace, or words"
        placeholder="A project, an id of a call or trace, or words"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKey}
      />
      <div id="palette-list" role="listbox" aria-label="Results">
        {targets.map((target, place) => (
          <button
            key={target.key}
            id={`palette-${place}`}
            type="button"
            role="option"
            aria-selected={place === chosen}
            tabIndex={-1}
            className="item"
            onClick={() => pick(target)}
          >
            <Icon name={target.icon} /> <T text={target.label} /> <span className="dim">{target.hint}</span>
          </button>
        ))}
      </div>
      {targets.length === 0 && <p className="dim">Nothing by this name</p>}
    </Dialog>
  )
}
