// The pages of a project: links and keys that lead to them, from one table.
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { type KeyName, keyTable } from '../key-table.ts'
import { type Handlers, shownKey, useKeys } from '../keys.ts'
import { Icon, type IconName } from '../parts/icon.tsx'

type Page = {
  to: `/p/$entity/$project/${'calls' | 'dashboard' | 'threads' | 'evaluations' | 'prompts' | 'objects' | 'queues' | 'playground'}`
  label: string
  icon: IconName
  key: KeyName
  /** Query of the address. */
  search?: { class: 'datasets' }
}

export const pages: readonly Page[] = [
  { to: '/p/$entity/$project/calls', label: 'Calls', icon: 'calls', key: 'goCalls' },
  { to: '/p/$entity/$project/dashboard', label: 'Dashboard', icon: 'gauge', key: 'goDashboard' },
  { to: '/p/$entity/$project/threads', label: 'Threads', icon: 'threads', key: 'goThreads' },
  { to: '/p/$entity/$project/evaluations', label: 'Evaluations', icon: 'evaluation', key: 'goEvaluations' },
  {
    to: '/p/$entity/$project/objects',
    label: 'Datasets',
    icon: 'columns',
    key: 'goDatasets',
    search: { class: 'datasets' },
  },
  { to: '/p/$entity/$project/objects', label: 'Objects', icon: 'other', key: 'goObjects' },
  { to: '/p/$entity/$project/queues', label: 'Queues', icon: 'queue', key: 'goQueues' },
  { to: '/p/$entity/$project/prompts', label: 'Prompts', icon: 'prompt', key: 'goPrompts' },
  { to: '/p/$entity/$project/playground', label: 'Playground', icon: 'play', key: 'goPlayground' },
]

export type ProjectHere = { entity: string; project: string }

/** Handles the keys of the pages, where a project is open. */
export function usePageKeys(project: ProjectHere | undefined): void {
  const navigate = useNavigate()
  const handlers: Handlers = {}
  if (project !== undefined)
    for (const { to, key, search = {} } of pages) handlers[key] = () => void navigate({ to, params: project, search })
  useKeys(handlers)
}

export function PageLinks({ entity, project }: ProjectHere) {
  const isOfDatasets = useLocation({ select: ({ search }) => (search as { class?: string }).class === 'datasets' })
  return pages.map(({ to, label, icon, key, search }) => (
    <Link
      key={key}
      to={to}
      params={{ entity, project }}
      search={search ?? {}}
      // Datasets are objects, and have a sign of their own.
      activeOptions={{ includeSearch: search !== undefined, exact: isOfDatasets && key === 'goObjects' }}
      title={`${label} (${shownKey(keyTable[key].keys[0]).join(' ')})`}
    >
      <Icon name={icon} /> <span className="word">{label}</span>
    </Link>
  ))
}
