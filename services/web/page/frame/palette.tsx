// Ctrl K: projects, their pages, operations, saved views, dashboards and threads, settings, and any id or ref that is pasted.
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { useSession } from '../api/session.ts'
import { callsSearch } from '../engine/calls-search.ts'
import { count } from '../engine/format.ts'
import { literalText } from '../engine/query-text.ts'
import { ranked } from '../engine/ranked.ts'
import { parsedRef } from '../engine/refs.ts'
import { threadsSearch } from '../engine/threads-search.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { placeOf, sections } from '../parts/sections.ts'
import { T } from '../parts/text.tsx'
import { type Here, useBoards, useOperations, useProjects, useSavedViews, useThreads } from './found.ts'
import { pages } from './rail.tsx'

type Target = { key: string; label: string; hint: string; icon: IconName; go(): void }

const idForm = /^[0-9a-fA-F-]{16,36}$/
/** Targets of a ref: its object, and the calls that used it. */
function targetsOfRef(text: string, navigate: ReturnType<typeof useNavigate>): Target[] {
  const ref = parsedRef(text)
  if (ref === undefined) return []
  const { entity, project, kind, name, version } = ref
  const params = { entity, project }
  const label = version === undefined ? name : `${name}:${version}`
  const objectId = { ...params, objectId: name }
  const go = () => {
    if (kind === 'call') return void navigate({ to: '/p/$entity/$project/calls/$id', params: { ...params, id: name } })
    if (kind === 'table')
      return void navigate({
        to: '/p/$entity/$project/tables/$digest',
        params: { ...params, digest: name },
        search: {},
      })
    const search = kind === 'op' ? { op: '1' as const } : {}
    if (version === undefined)
      return void navigate({ to: '/p/$entity/$project/objects/$objectId', params: objectId, search })
    const to = '/p/$entity/$project/objects/$objectId/$version'
    return void navigate({ to, params: { ...objectId, version }, search })
  }
  const calls = () =>
    void navigate({ to: '/p/$entity/$project/calls', params, search: { q: `ref:${literalText(text)}`, view: 'all' } })
  return [
    { key: text, label, hint: `${kind} of ${entity}/${project}`, icon: kind === 'call' ? 'calls' : 'other', go },
    ...(kind === 'call'
      ? []
      : [{ key: 'ref', label: 'Calls that used it', hint: 'filter', icon: 'filter', go: calls } as const]),
  ]
}

/** Targets of a text that is no ref: the call or the trace of an id, or the calls with the text. */
function targetsOfText(text: string, here: Here, navigate: ReturnType<typeof useNavigate>): Target[] {
  if (text === '') return []
  if (!idForm.test(text))
    return [
      {
        key: 'search',
        label: `Calls with “${text}”`,
        hint: 'filter',
        icon: 'filter',
        go: () => void navigate({ to: '/p/$entity/$project/calls', params: here, search: { q: text } }),
      },
    ]
  return [
    {
      key: `call ${text}`,
      label: text,
      hint: 'call',
      icon: 'calls',
      go: () => void navigate({ to: '/p/$entity/$project/calls/$id', params: { ...here, id: text } }),
    },
    {
      key: 'trace',
      label: text,
      hint: 'trace',
      icon: 'agent',
      go: () =>
        void navigate({ to: '/p/$entity/$project/traces/$traceId', params: { ...here, traceId: text }, search: {} }),
    },
  ]
}

type PaletteProps = { here: Here | undefined; onClose(): void }

/** @param here the project that is open */
export function Palette({ here, onClose }: PaletteProps) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const navigate = useNavigate()
  const search = text.trim()
  const projects = useProjects(search)
  const { data: session } = useSession()
  const operations = useOperations(here, search)
  const views = useSavedViews(here, search)
  const boards = useBoards(here, search)
  const threads = useThreads(here, search)
  const found = targetsOfRef(search, navigate)
  // A ref says by itself what it is of.
  if (found.length === 0 && here) found.push(...targetsOfText(search, here, navigate))
  const isNamed = (name: string) => search !== '' && name.toLowerCase().includes(search.toLowerCase())
  for (const { to, label, icon, search: shown = {} } of pages)
    if (here && isNamed(label))
      found.push({
        key: `page ${label}`,
        label,
        hint: 'page',
        icon,
        go: () => void navigate({ to, params: here, search: shown }),
      })
  for (const { name, calls } of operations)
    found.push({
      key: `op ${name}`,
      label: name,
      hint: `operation, ${count(calls)} of the latest calls`,
      icon: 'calls',
      go: () =>
        here &&
        void navigate({
          to: '/p/$entity/$project/calls',
          params: here,
          search: { q: `op:${literalText(name)}`, view: 'all' },
        }),
    })
  for (const { page, view } of views)
    found.push({
      key: `view ${view.id}`,
      label: view.label,
      hint: `saved view of ${page}`,
      icon: 'columns',
      go() {
        if (here === undefined) return
        const search = { ...view.search, saved: view.id }
        if (page === 'calls')
          void navigate({ to: '/p/$entity/$project/calls', params: here, search: callsSearch(search) })
        else void navigate({ to: '/p/$entity/$project/threads', params: here, search: threadsSearch(search) })
      },
    })
  for (const { id, title } of boards)
    found.push({
      key: `board ${id}`,
      label: title,
      hint: 'dashboard',
      icon: 'gauge',
      go: () => here && void navigate({ to: '/p/$entity/$project/dashboard', params: here, search: { board: id } }),
    })
  for (const id of threads)
    found.push({
      key: `thread ${id}`,
      label: id,
      hint: 'thread',
      icon: 'threads',
      go: () =>
        here &&
        void navigate({ to: '/p/$entity/$project/threads/$threadId', params: { ...here, threadId: id }, search: {} }),
    })
  for (const { id, label, icon, isFor } of sections)
    if (isFor(session) && isNamed(`settings ${label}`))
      found.push({
        key: `settings ${id}`,
        label,
        hint: 'settings',
        icon,
        go: () => void navigate({ ...placeOf(id), search: here ? { project: `${here.entity}/${here.project}` } : {} }),
      })
  for (const project_id of projects) {
    const [first = '', second = ''] = project_id.split('/')
    const params = { entity: first, project: second }
    found.push({
      key: project_id,
      label: project_id,
      hint: 'project',
      icon: 'other',
      go: () => void navigate({ to: '/p/$entity/$project/calls', params, search: {} }),
    })
  }
  const targets = ranked(found, search)
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
        aria-label="A project, an ID, a ref, or text"
        placeholder="A project, an ID, a ref, or text"
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
      {targets.length === 0 && <p className="dim">No results</p>}
    </Dialog>
  )
}
