// The pages of a project: links of the rail and keys that lead to them, from one table.
import { Link, useNavigate } from '@tanstack/react-router'
import { type KeyName, keyTable } from '../key-table.ts'
import { type Handlers, shownKey, useKeys } from '../keys.ts'
import { Icon, type IconName } from '../parts/icon.tsx'

type Page = {
  to: `/p/$entity/$project/${'calls' | 'dashboard' | 'threads' | 'evaluations' | 'objects' | 'queues' | 'playground'}`
  label: string
  icon: IconName
  key: KeyName
}

export const pages: readonly Page[] = [
  { to: '/p/$entity/$project/calls', label: 'Calls', icon: 'calls', key: 'goCalls' },
  { to: '/p/$entity/$project/dashboard', label: 'Dashboard', icon: 'gauge', key: 'goDashboard' },
  { to: '/p/$entity/$project/threads', label: 'Threads', icon: 'threads', key: 'goThreads' },
  { to: '/p/$entity/$project/evaluations', label: 'Evaluations', icon: 'evaluation', key: 'goEvaluations' },
  { to: '/p/$entity/$project/objects', label: 'Objects', icon: 'other', key: 'goObjects' },
  { to: '/p/$entity/$project/queues', label: 'Queues', icon: 'queue', key: 'goQueues' },
  { to: '/p/$entity/$project/playground', label: 'Playground', icon: 'play', key: 'goPlayground' },
]

type Project = { entity: string; project: string }

/** Handles the keys of the pages, where a project is open. */
export function usePageKeys(project: Project | undefined): void {
  const navigate = useNavigate()
  const handlers: Handlers = {}
  if (project !== undefined)
    for (const { to, key } of pages) handlers[key] = () => void navigate({ to, params: project, search: {} })
  useKeys(handlers)
}

export const PageLinks = ({ entity, project }: Project) =>
  pages.map(({ to, label, icon, key }) => (
    <Link
      key={to}
      to={to}
      params={{ entity, project }}
      search={{}}
      activeOptions={{ includeSearch: false }}
      aria-label={label}
      title={`${label} (${shownKey(keyTable[key].keys[0]).join(' ')})`}
    >
      <Icon name={icon} />
    </Link>
  ))
