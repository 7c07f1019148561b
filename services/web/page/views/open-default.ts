// Opens a list with its default view; what reads views comes only where there is one.
import { asksForNothing, defaultView, type ListSearch, setDefaultView, type ViewPage } from '../parts/default-view.ts'

/** The search of the default view, where there is one and the address has none. */
export async function searchOfDefault(
  page: ViewPage,
  projectId: string,
  search: ListSearch,
): Promise<ListSearch | undefined> {
  const id = asksForNothing(search) ? defaultView(page, projectId) : undefined
  if (id === undefined) return undefined
  const { loadView } = await import('../lazy-routes.tsx')
  const found = await loadView(page, projectId, id)
  if (found === 'gone') setDefaultView(page, projectId, undefined)
  return typeof found === 'object' ? { ...found, tz: search.tz, saved: id } : undefined
}
