// Runs a handler, in whichever thread: what it gets to see of its request.
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Account, CutoffsOf } from '../process/running-handler.ts'
import type { KeyHolder } from './holder.ts'
import { projectsOf } from './projects.ts'
import type { ReadAudit } from './read-audit.ts'
import type { Reply, Route, RouteContext } from './route.ts'

/** A header as it was sent: clients write UTF-8, Node reads Latin-1. Bytes that are no UTF-8 become U+FFFD. */
const asUtf8 = (header: string | undefined): string | undefined =>
  header !== undefined && /[^\0-\x7f]/.test(header) ? Buffer.from(header, 'latin1').toString() : header

/** A caller without a key. */
export const anonymous: KeyHolder = { userId: '', entity: '', holds: () => false, may: () => false }

export type Requested = {
  requestId: string
  headers: IncomingHttpHeaders
  params: Record<string, string>
  /** URL with the query string. */
  url: string
  clientIp(): string
  via?: RouteContext['via']
}

export type Read = Pick<RouteContext, 'input' | 'body'> & { stream?: Readable }

/** @param by.signal asked for when the handler looks at it: most of the hot routes never do */
export function runHandler(
  route: Route,
  { requestId, headers, params, url, clientIp, via }: Requested,
  { input, body, stream }: Read,
  by: {
    holder: KeyHolder
    account?: Account | undefined
    cutoffsOf?: CutoffsOf | undefined
    readAudit?: ReadAudit | undefined
    maxJsonDepth: number
    mayTakeLong: boolean
    signal(): AbortSignal
  },
): Promise<Reply> {
  const { holder, maxJsonDepth, mayTakeLong } = by
  let query: URLSearchParams | undefined
  // A stream is read once.
  const asker = { requestId, userId: holder.userId, keyId: holder.keyId, address: clientIp }
  const projects = projectsOf(holder, route, !mayTakeLong && stream === undefined, {
    account: by.account,
    request: asker,
    cutoffsOf: by.cutoffsOf,
  })
  const context: RouteContext = {
    requestId,
    caller: holder,
    header(name) {
      const value = headers[name]
      return asUtf8(typeof value === 'string' ? value : value?.[0])
    },
    clientIp,
    ...(via && { via }),
    params,
    get query() {
      if (query === undefined) {
        const mark = url.indexOf('?')
        query = new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1))
      }
      return query
    },
    input,
    body,
    maxJsonDepth,
    mayTakeLong,
    ...(route.countsAll && { countsAll: true }),
    get stream() {
      return stream ?? Readable.from([])
    },
    get signal() {
      return by.signal()
    },
    ...projects.context,
  }
  const { readAudit } = by
  if (readAudit === undefined || route.right !== 'read') return projects.run(() => route.handle(context))
  const read = { route, params, input, projects: context.projects }
  return projects.run(async () => readAudit(read, await route.handle(context)))
}
