// The view that a list of a project opens with in this browser, where its address asks for nothing: taste, and no more.

export type ViewPage = 'calls' | 'threads'

/** Value in an address: this list has no view, also where one is the default. */
export const noView = '-'

const keyOf = (page: ViewPage, projectId: string): string => `callhouse.view.${page}.${projectId}`

export function defaultView(page: ViewPage, projectId: string): string | undefined {
  try {
    return localStorage.getItem(keyOf(page, projectId)) ?? undefined
  } catch {
    // Storage may be closed to the page.
    return undefined
  }
}

export function setDefaultView(page: ViewPage, projectId: string, id: string | undefined): void {
  try {
    if (id === undefined) localStorage.removeItem(keyOf(page, projectId))
    else localStorage.setItem(keyOf(page, projectId), id)
  } catch {
    // Then lists open as they are.
  }
}

export type ListSearch = Record<string, string | undefined>

/** Whether an address leaves it to the browser what a list shows. The zone is that of its reader. */
export const asksForNothing = (search: ListSearch): boolean =>
  Object.entries(search).every(([name, value]) => value === undefined || name === 'tz')
