// The list that a trace was opened from, for the tab: its neighbours and the way back, also after a reload.

type Remembered = { projectId: string; traces: readonly string[]; href: string }

const place = 'callhouse.list'
/** Traces on either side of the one that is opened. */
const maxBeside = 5_000
const none: Remembered = { projectId: '', traces: [], href: '' }
let list: Remembered | undefined

function stored(): Remembered {
  try {
    const { projectId, traces, href } = JSON.parse(sessionStorage.getItem(place) ?? '{}') as Record<string, unknown>
    const isList = Array.isArray(traces) && traces.every((one) => typeof one === 'string')
    if (typeof projectId === 'string' && typeof href === 'string' && isList) return { projectId, traces, href }
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
export function rememberList(projectId: string, traceIds: readonly string[], href: string, opened: string): void {
  const all = [...new Set(traceIds)]
  const at = all.indexOf(opened)
  list = { projectId, traces: all.slice(Math.max(0, at - maxBeside), at + maxBeside), href }
  try {
    sessionStorage.setItem(place, JSON.stringify(list))
  } catch {
    // Too long, or closed: then it lasts as long as the page.
  }
}

type Neighbours = { previous?: string; next?: string; place: number; of: number }

export function neighbours(projectId: string, traceId: string): Neighbours {
  const { traces } = of(projectId)
  const at = traces.indexOf(traceId)
  if (at === -1) return { place: 0, of: 0 }
  const previous = traces[at - 1]
  const next = traces[at + 1]
  return { ...(previous && { previous }), ...(next && { next }), place: at + 1, of: traces.length }
}

export const listHref = (projectId: string): string => of(projectId).href
