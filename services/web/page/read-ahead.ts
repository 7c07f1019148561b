// Requests the data of the first page at once, beside the session and before React has begun.
import { baseUrl } from './api/client.ts'
import { loadSession, queries, wasSignedIn } from './api/session.ts'
import { callsQuestion } from './calls/use-calls.ts'
import { callsSearch, listRequest, parsedList } from './engine/calls-search.ts'
import { comparedOf, comparisonQuery } from './evaluations/comparison-query.ts'
import { asksForNothing, defaultView } from './parts/default-view.ts'
import { openQuery, traceQuery } from './parts/trace-query.ts'
import { listPageQuery } from './parts/use-list.ts'
import { zoneOf } from './preferences.ts'
import { startWorker } from './worker/client.ts'

let askedS: number | undefined

/** Now, in seconds; of the read ahead for the page that opens by it, so that both ask the same. */
export function openedS(): number {
  const taken = askedS ?? Math.floor(Date.now() / 1000)
  askedS = undefined
  return taken
}

/** @param path below the base, as `p/acme/demo/calls` */
function ask(path: string, search: Record<string, string>): void {
  const [first, entity, project, page, id] = path.split('/').map(decodeURIComponent)
  if (first !== 'p' || !entity || !project) return
  const projectId = `${entity}/${project}`
  if (page === 'calls' && id === undefined) {
    const found = callsSearch(search)
    const { expression, fault } = parsedList(found)
    if (fault || (asksForNothing(found) && defaultView('calls', projectId) !== undefined)) return
    askedS = Math.floor(Date.now() / 1000)
    const request = listRequest(projectId, found, expression, askedS, () => zoneOf(found.tz))
    void queries.prefetchQuery(listPageQuery(callsQuestion(request), 0))
  }
  if (page === 'traces' && id) {
    void queries.prefetchQuery(traceQuery(projectId, id))
    if (search.call) void queries.prefetchQuery(openQuery(projectId, search.call))
  }
  if (page === 'calls' && id) void queries.prefetchQuery(openQuery(projectId, id))
  if (page === 'evaluations' && id === 'compare') {
    const compared = comparedOf(search)
    if (compared.ids.length > 1) void queries.prefetchQuery(comparisonQuery(projectId, compared))
  }
}

export function readAhead(): void {
  if (!wasSignedIn()) return
  startWorker()
  // The caller that waits for it gets the error.
  loadSession().catch(() => undefined)
  try {
    ask(
      location.pathname.slice(new URL(baseUrl).pathname.length),
      Object.fromEntries(new URLSearchParams(location.search)),
    )
  } catch (error) {
    // An address that cannot be decoded has a page that says so.
    if (!(error instanceof URIError)) throw error
  }
}
