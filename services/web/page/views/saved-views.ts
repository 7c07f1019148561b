// Views of lists that have a name: objects of the class `SavedView`, as the Weave SDK knows them. The parts that it can
// use are in `definition`; the address that a view was saved from, in `description`.
import { json } from '../api/client.ts'
import { queries } from '../api/session.ts'
import type { ListSearch as Search, ViewPage } from '../parts/default-view.ts'
import { zoneOf } from '../preferences.ts'
import { addressOf, kinds, type SavedView, type ViewKind, viewOf } from './kinds.ts'

export const viewsKey = (page: ViewPage, projectId: string) => ['views', projectId, page]

export const viewsQuery = (kind: ViewKind, projectId: string) => ({
  queryKey: viewsKey(kind.page, projectId),
  async queryFn({ signal }: { signal: AbortSignal }): Promise<SavedView[]> {
    const filter = { base_object_classes: ['SavedView'], latest_only: true }
    const { objs } = await json('objects.query', { project_id: projectId, filter, limit: 200 }, { signal })
    const views = objs.flatMap(({ object_id, val }) =>
      (val as { view_type?: unknown } | null)?.view_type === kind.type ? [viewOf(kind, object_id, val)] : [],
    )
    return views.sort((a, b) => a.label.localeCompare(b.label))
  },
})

/** The search of a view; nothing where it cannot be read now. */
export async function loadView(page: ViewPage, projectId: string, id: string): Promise<Search | 'gone' | undefined> {
  try {
    const views = await queries.fetchQuery({ ...viewsQuery(kinds[page], projectId), staleTime: 10_000 })
    return views.find((view) => view.id === id)?.search ?? 'gone'
  } catch {
    return undefined
  }
}

export async function saveView(kind: ViewKind, projectId: string, { id, label, search }: SavedView): Promise<string> {
  const kept = kind.kept(search ?? {})
  const definition = kind.definition(projectId, kept, () => zoneOf(search?.tz))
  const val = { view_type: kind.type, label, description: addressOf(kind, kept), definition }
  const obj = { project_id: projectId, object_id: id, builtin_object_class: 'SavedView', val }
  await json('objects.create', { obj })
  return id
}
