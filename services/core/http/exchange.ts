// One request and its answer: identity, time limit, early end, and the log line and metrics when it is over.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { uuidv7 } from '../ids.ts'
import type { Logger } from '../process/logger.ts'
import type { HttpMetrics } from '../process/metrics.ts'
import { ClientGone } from './body.ts'
import type { Fault } from './errors.ts'
import type { Via } from './via.ts'

export type Exchange = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** Name of the route; what did not match any is counted together. */
  routeName: string
  /** The route's own form of a fault. */
  faultAs: ((fault: Fault) => Fault) | undefined
  via: (() => Via) | undefined
  userId: string
  keyId: string | undefined
  bytesIn: number
  bytesOut: number
  /** The client sends its body only after it was told to. */
  waitsForContinue: boolean
  /** Set while the answer can no longer be given. */
  readonly isGone: boolean
  /** Aborted together with the exchange. */
  readonly signal: AbortSignal
  /** Ends the work: whatever waits in `unlessAborted` rejects with the reason. The first reason counts. */
  abort(reason: Error): void
  /** The promise's outcome, or a rejection as soon as the exchange is aborted. One wait at a time. */
  unlessAborted<T>(work: PromiseLike<T>): Promise<T>
  /** Aborts with the reason when the time is over; replaces the limit set before. */
  limitTime(ms: number, reason: () => Error): void
  clearTimeLimit(): void
}

export type ExchangeDeps = { log: Logger; metrics: HttpMetrics }

const requestIdForm = /^[\w.:-]{1,128}$/
/** Routes that probes call every few seconds; their lines would drown the others. */
const quietRoutes = new Set(['service.health', 'service.metrics'])

function ignoreLateOutcome(): void {
  // The exchange was aborted and answered before: the outcome has no one left to go to.
}

export function beginExchange(
  request: IncomingMessage,
  response: ServerResponse,
  waitsForContinue: boolean,
  { log, metrics }: ExchangeDeps,
): Exchange {
  const startedMs = performance.now()
  const given = request.headers['x-request-id']
  let controller: AbortController | undefined
  let ended: Error | undefined
  let onAbort: ((reason: Error) => void) | undefined
  let timer: NodeJS.Timeout | undefined

  const exchange: Exchange = {
    request,
    response,
    requestId: typeof given === 'string' && requestIdForm.test(given) ? given : uuidv7(),
    routeName: 'unmatched',
    faultAs: undefined,
    via: undefined,
    userId: '',
    keyId: undefined,
    bytesIn: 0,
    bytesOut: 0,
    waitsForContinue,
    get isGone() {
      return ended instanceof ClientGone
    },
    get signal() {
      // The controller is made on demand: most handlers of the hot routes never use it.
      if (controller === undefined) {
        controller = new AbortController()
        if (ended !== undefined) controller.abort(ended)
      }
      return controller.signal
    },
    abort(reason) {
      if (ended !== undefined) return
      ended = reason
      clearTimeout(timer)
      onAbort?.(reason)
      controller?.abort(reason)
    },
    unlessAborted(work) {
      return new Promise((resolve, reject) => {
        if (ended !== undefined) {
          Promise.resolve(work).catch(ignoreLateOutcome)
          reject(ended)
          return
        }
        onAbort = reject
        work.then(resolve, reject)
      })
    },
    limitTime(ms, reason) {
      clearTimeout(timer)
      if (ended !== undefined || response.closed) return
      timer = setTimeout(() => exchange.abort(reason()), ms)
    },
    clearTimeLimit() {
      clearTimeout(timer)
    },
  }

  metrics.started()
  response.setHeader('X-Request-Id', exchange.requestId)
  response.once('close', () => {
    const isWhole = response.writableFinished
    if (!isWhole) exchange.abort(new ClientGone('went away'))
    clearTimeout(timer)
    const ms = performance.now() - startedMs
    const status = isWhole ? response.statusCode : ended instanceof ClientGone ? 499 : 500
    metrics.ended()
    metrics.observe(exchange.routeName, status, ms / 1000, exchange.bytesIn, exchange.bytesOut)
    const line = {
      request: exchange.requestId,
      route: exchange.routeName,
      method: request.method,
      status,
      ms: Math.round(ms * 10) / 10,
      in: exchange.bytesIn,
      out: exchange.bytesOut,
      user: exchange.userId || undefined,
      retry: request.headers['x-weave-retry-id'],
    }
    if (quietRoutes.has(exchange.routeName)) log.debug(line, 'request')
    else log.info(line, 'request')
  })
  return exchange
}
