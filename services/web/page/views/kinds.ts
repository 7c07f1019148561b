// Saved properties of each kind of list: for the page its address, for others the members of `SavedView`.
import { type CallsSearch, callsSearch, columnsOf, listRequest, parsedList } from '../engine/calls-search.ts'
import type { ZoneOf } from '../engine/query-request.ts'
import { type ThreadsSearch, threadsSearch } from '../engine/threads-search.ts'
import type { ListSearch as Search, ViewPage } from '../parts/default-view.ts'

export type ViewKind = {
  page: ViewPage
  /** `view_type` of the object. */
  type: string
  /** The saved properties of a view, in words. */
  keeps: string
  /** The saved part of an address: neither the zone of the reader nor state of a visit. */
  kept(search: Search): Search
  /** @param zoneOf the zone of times in the filter that name none: for other programs they are instants */
  definition(projectId: string, search: Search, zoneOf: ZoneOf): object
}

const calls: ViewKind = {
  page: 'calls',
  type: 'traces',
  keeps: 'filter, range, order and columns',
  kept(search) {
    const { q, view, range, sort, cols, left, right } = callsSearch(search)
    return callsSearch({ q, view, range, sort, cols, left, right }) as Search
  },
  /** Ranges that end now are in the address only. */
  definition(projectId, search, zoneOf) {
    const { range: _, ...rest }: CallsSearch = callsSearch(search)
    const { filter, query, sort_by } = listRequest(projectId, rest, parsedList(rest).expression, 0, zoneOf)
    const columns = columnsOf(rest.cols).flatMap((path) =>
      path === '-' ? [] : [{ path: path.split('.'), label: path }],
    )
    const pin = { left: rest.left?.split(',') ?? [], right: rest.right?.split(',') ?? [] }
    return { filter, ...(query !== undefined && { query }), columns, pin, sort_by }
  },
}

const threads: ViewKind = {
  page: 'threads',
  type: 'threads',
  keeps: 'range and order',
  kept(search) {
    const { sort, range } = threadsSearch(search)
    return { ...(sort !== undefined && { sort }), ...(range !== undefined && { range }) }
  },
  definition(_, search) {
    const { sort }: ThreadsSearch = threadsSearch(search)
    return { sort_by: [{ field: sort ?? 'last_updated', direction: 'desc' }] }
  },
}

export const kinds: Record<ViewPage, ViewKind> = { calls, threads }

/** `search` is null where another program made the view, whose filter may be none that can be written as text. */
export type SavedView = { id: string; label: string; search: Search | null }

const queryOf = (search: Search): string =>
  String(new URLSearchParams(Object.entries(search).filter((pair): pair is [string, string] => pair[1] !== undefined)))

/** The saved part of an address as text: equal texts show the same. */
export const addressOf = (kind: ViewKind, search: Search): string => `${kind.page}?${queryOf(kind.kept(search))}`

export function viewOf(kind: ViewKind, id: string, val: unknown): SavedView {
  const { label, description } = (val ?? {}) as Record<string, unknown>
  const start = `${kind.page}?`
  const isOurs = typeof description === 'string' && description.startsWith(start)
  const search = isOurs ? kind.kept(Object.fromEntries(new URLSearchParams(description.slice(start.length)))) : null
  return { id, label: typeof label === 'string' ? label : id, search }
}

/** A link to what a view shows, wherever the page is served. */
export const linkOf = (href: string, { id, search }: SavedView): string =>
  `${href.split(/[?#]/)[0]}?${queryOf({ ...search, saved: id })}`

export function idOf(label: string): string {
  const words = label.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, '')
  return `view-${words.slice(0, 100) || crypto.randomUUID().slice(0, 8)}`
}
