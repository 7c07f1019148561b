// The list that a trace was opened from, for the tab: its neighbours and the way back, also after a reload.

/** `before`: how many traces of the list come before these; `total`: how many it has, null where that is not known. */
type Remembered = {
  projectId: string
  traces: readonly string[]
  href: string
  before: number
  total: number | null
}

/** Rows of a list that are loaded and stand together. */
type LoadedRows = {
  traceIds: readonly string[]
  before: number
  /** Rows of the whole list, as far as they are counted. */
  total: number | undefined
  /** Whether each row is a trace. */
  ofTraces: boolean
}

const place = 'callhouse.list'
/** Traces on either side of the one that is opened. */
const maxBeside = 5_000
const none: Remembered = { projectId: '', traces: [], href: '', before: 0, total: null }
let list: Remembered | undefined

function stored(): Remembered {
  try {
    const kept = JSON.parse(sessionStorage.getItem(place) ?? '{}') as Record<string, unknown>
    const { projectId, traces, href, before, total } = kept
    const isList = Array.isArray(traces) && traces.every((one) => typeof one === 'string')
    if (typeof projectId === 'string' && typeof href === 'string' && isList && typeof before === 'number')
      return { projectId, traces, href, before, total: typeof total === 'number' ? total : null }
  } catch {
    // Another version has kept it, or storage is closed.
  }
  return none
}

const of = (projectId: string): Remembered => {
  list ??= stored()
  return list.projectId === projectId ? list : none
}

/** @param opened the trace that is opened from it */
export function rememberList(projectId: string, rows: LoadedRows, href: string, opened: string): void {
  const all = [...new Set(rows.traceIds)]
  const from = Math.max(0, all.indexOf(opened) - maxBeside)
  // Rows that are calls are more than their traces: these are counted where all rows are here.
  const areTraces = rows.ofTraces && all.length === rows.traceIds.length
  const isWhole = rows.before === 0 && rows.traceIds.length === rows.total
  const total = isWhole ? all.length : areTraces ? (rows.total ?? null) : null
  const before = from + (areTraces ? rows.before : 0)
  list = { projectId, traces: all.slice(from, from + 2 * maxBeside), href, before, total }
  try {
    sessionStorage.setItem(place, JSON.stringify(list))
  } catch {
    // Too long, or closed: then it lasts as long as the page.
  }
}

/** Place in the list, of how many traces; `isMore` where these are only those that were loaded. */
type Neighbours = { previous?: string; next?: string; place: number; of: number; isMore: boolean }

export function neighbours(projectId: string, traceId: string): Neighbours {
  const { traces, before, total } = of(projectId)
  const at = traces.indexOf(traceId)
  if (at === -1) return { place: 0, of: 0, isMore: false }
  const previous = traces[at - 1]
  const next = traces[at + 1]
  return {
    ...(previous && { previous }),
    ...(next && { next }),
    place: before + at + 1,
    of: total ?? before + traces.length,
    isMore: total === null,
  }
}

export const listHref = (projectId: string): string => of(projectId).href
