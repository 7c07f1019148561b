// The list that a trace was opened from, for as long as the page is open: its neighbours and the way back.

let traces: readonly string[] = []
let from = ''

export function rememberList(traceIds: readonly string[], href: string): void {
  traces = [...new Set(traceIds)]
  from = href
}

export function neighbours(traceId: string): { previous?: string; next?: string; place: number; of: number } {
  const place = traces.indexOf(traceId)
  if (place === -1) return { place: 0, of: 0 }
  const previous = traces[place - 1]
  const next = traces[place + 1]
  return { ...(previous && { previous }), ...(next && { next }), place: place + 1, of: traces.length }
}

export const listHref = (): string => from
