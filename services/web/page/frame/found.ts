// Results of the palette in the open project: operations, saved views, dashboards and threads.
import { useQueries, useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { json, lines } from '../api/client.ts'
import { boardsFilter, boardTitle, isOwnBoard, maxBoards } from '../engine/boards.ts'
import { opNameOf } from '../engine/rows.ts'
import type { ViewPage } from '../parts/default-view.ts'
import { useList } from '../parts/use-list.ts'
import { kinds, type SavedView } from '../views/kinds.ts'
import { viewsQuery } from '../views/saved-views.ts'

export type Here = { entity: string; project: string }

/** Number of results of each kind. */
const maxFound = 8
const keptMs = 60_000
const latestThreads = 100

/** Projects with these words in their name. */
export function useProjects(search: string): string[] {
  const { items = [], isOld } = useList<{ project_id: string }>({
    key: ['projects', 'found', search],
    keeps: 'projects',
    read: async ({ signal }) => (await json('projects.query', { search, limit: maxFound }, { signal })).projects,
  })
  const names = items.map(({ project_id }) => project_id)
  // Those that were found for other words stay while they fit.
  return isOld ? names.filter((name) => name.toLowerCase().includes(search.toLowerCase())) : names
}

/** Operations of the latest calls with these words in their name. */
export function useOperations(here: Here | undefined, search: string): { name: string; calls: number }[] {
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
    staleTime: keptMs,
  })
  if (words === '') return []
  const counts = new Map<string, number>()
  for (const { value, calls } of data?.fields.op_name?.values ?? []) {
    // Versions of an op are one operation.
    const name = opNameOf(String(value))
    if (name.toLowerCase().includes(words)) counts.set(name, (counts.get(name) ?? 0) + calls)
  }
  return [...counts].slice(0, maxFound).map(([name, calls]) => ({ name, calls }))
}

type FoundView = { page: ViewPage; view: SavedView & { search: NonNullable<SavedView['search']> } }

/** Saved views with these words in their name, of those that the page can open. */
export function useSavedViews(here: Here | undefined, search: string): FoundView[] {
  const words = useDeferredValue(search.toLowerCase())
  const all = Object.values(kinds)
  const results = useQueries({
    queries: all.map((kind) => ({
      ...viewsQuery(kind, `${here?.entity}/${here?.project}`),
      enabled: here !== undefined && words !== '',
      staleTime: keptMs,
    })),
  })
  if (words === '') return []
  return all
    .flatMap(({ page }, n) =>
      (results[n]?.data ?? []).flatMap(({ search, ...view }): FoundView[] =>
        search !== null && view.label.toLowerCase().includes(words) ? [{ page, view: { ...view, search } }] : [],
      ),
    )
    .slice(0, maxFound)
}

/** Dashboards of the project's own with these words in their title. */
export function useBoards(here: Here | undefined, search: string): { id: string; title: string }[] {
  const words = useDeferredValue(search.toLowerCase())
  const project_id = `${here?.entity}/${here?.project}`
  const { data } = useQuery({
    queryKey: ['dashboards', project_id, 'titles'],
    async queryFn({ signal }) {
      const { objs } = await json('objects.query', { project_id, filter: boardsFilter, limit: maxBoards }, { signal })
      return objs.map(({ object_id, val }) => ({ id: object_id, title: boardTitle(object_id, val) }))
    },
    enabled: here !== undefined && words !== '',
    staleTime: keptMs,
  })
  if (words === '') return []
  return (data ?? [])
    .filter(({ id, title }) => isOwnBoard(id) && title.toLowerCase().includes(words))
    .slice(0, maxFound)
}

async function threadIds(project_id: string, thread_ids: string[] | undefined, signal: AbortSignal): Promise<string[]> {
  const filter = thread_ids && { filter: { thread_ids } }
  const asked = { project_id, ...filter, sort_by: [{ field: 'last_updated', direction: 'desc' as const }] }
  const rows = await lines('threads.stream_query', { ...asked, limit: latestThreads }, { signal, fresh: 'any' })
  return rows.map(({ thread_id }) => thread_id)
}

/** The thread with this id, however old, and the latest ones with it in theirs. */
export function useThreads(here: Here | undefined, search: string): string[] {
  const id = useDeferredValue(search)
  const projectId = `${here?.entity}/${here?.project}`
  const enabled = here !== undefined && id !== ''
  const latest = useQuery({
    queryKey: ['threads', projectId, 'latest'],
    queryFn: ({ signal }) => threadIds(projectId, undefined, signal),
    enabled,
    staleTime: keptMs,
  })
  const named = useQuery({
    queryKey: ['threads', projectId, 'named', id],
    queryFn: ({ signal }) => threadIds(projectId, [id], signal),
    enabled: enabled && !/\s/.test(id),
    staleTime: keptMs,
  })
  if (id === '') return []
  const low = id.toLowerCase()
  const alike = (latest.data ?? []).filter((one) => one.toLowerCase().includes(low))
  return [...new Set([...(named.data ?? []), ...alike])].slice(0, maxFound)
}
