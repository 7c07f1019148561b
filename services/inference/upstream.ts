// Requests to providers: connection limits, time limits, the end of the client, and bodies within bounds.
import { Agent, type Dispatcher, request } from 'undici'
import { concatYielding, yieldingBetween } from '../core/concurrency/yielding.ts'
import { baseUrlFault } from '../core/http/public-url.ts'
import { keepWork } from '../core/process/running-handler.ts'
import { createGuardedLookup, ForbiddenAddress } from './url-guard.ts'

type UpstreamRequest = {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body?: string | Buffer
  /** The address comes from the operator, not from a project. */
  isTrusted: boolean
  /** Time up to the end of the answer; of a stream up to its next piece. */
  timeoutMs: number
  /** Aborted when the client is gone. */
  signal: AbortSignal
}

export type UpstreamAnswer = {
  status: number
  /** Header by lower-case name, first value. */
  header(name: string): string | undefined
  /** The whole body. @throws UpstreamFailure */
  bytes(maxBytes: number): Promise<Buffer>
  /** The pieces as they come. @throws UpstreamFailure */
  pieces(): AsyncGenerator<Buffer>
  /** Ends the connection when the body is not read to its end. */
  drop(): void
}

type FailureKind = 'timeout' | 'unreachable' | 'broken' | 'forbidden' | 'gone' | 'large'

/** The reason why a provider gave no answer, or no whole one. */
export class UpstreamFailure extends Error {
  readonly kind: FailureKind
  constructor(kind: FailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

export type Upstream = { send(asked: UpstreamRequest): Promise<UpstreamAnswer> }

const connectTimeoutMs = 10_000

const forbidden = new UpstreamFailure('forbidden', 'The address of the provider must be public')
const timedOut = new UpstreamFailure('timeout', 'The provider did not answer in time')
const gone = new UpstreamFailure('gone', 'client disconnected')

/** Codes of faults before a byte of the request was sent. */
const unreachable =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL|EACCES|UND_ERR_CONNECT_TIMEOUT|ERR_TLS\w*|ERR_SSL\w*|\w*CERT\w*|DEPTH_ZERO\w*)$/

const causesOf = (error: unknown): unknown[] =>
  error instanceof AggregateError ? [error, ...error.errors] : error instanceof Error ? [error, error.cause] : []

function failureOf(error: unknown, signal: AbortSignal): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  if (signal.reason instanceof UpstreamFailure) return signal.reason
  if (causesOf(error).some((cause) => cause instanceof ForbiddenAddress)) return forbidden
  const codes = causesOf(error).map((cause) => (cause as NodeJS.ErrnoException | undefined)?.code ?? '')
  if (codes.some((code) => unreachable.test(code)))
    return new UpstreamFailure('unreachable', 'The provider cannot be reached')
  return new UpstreamFailure('broken', 'The connection to the provider broke off')
}

/** One signal of the client and of a limit that runs only while something is awaited of the provider. */
function limited(client: AbortSignal, timeoutMs: number) {
  const controller = new AbortController()
  const start = () => setTimeout(() => controller.abort(timedOut), timeoutMs)
  let timer = start()
  const onGone = () => controller.abort(gone)
  if (client.aborted) onGone()
  else client.addEventListener('abort', onGone, { once: true })
  return {
    signal: controller.signal,
    pause: () => clearTimeout(timer),
    /** Starts the whole limit anew. */
    restart() {
      clearTimeout(timer)
      timer = start()
    },
    clear() {
      clearTimeout(timer)
      client.removeEventListener('abort', onGone)
    },
  }
}

export function createUpstream({ allowPrivateNetworks }: { allowPrivateNetworks: boolean }): Upstream {
  const guard = { allowPrivate: allowPrivateNetworks }
  const agents = new Map<boolean, Agent>()
  const agentFor = (isTrusted: boolean): Agent => {
    const known = agents.get(isTrusted)
    if (known !== undefined) return known
    const connect = { timeout: connectTimeoutMs, ...(isTrusted ? {} : { lookup: createGuardedLookup(guard) }) }
    const made = new Agent({ connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 })
    agents.set(isTrusted, made)
    return made
  }

  return {
    async send({ method, url, headers, body, isTrusted, timeoutMs, signal: client }) {
      // A literal address is never looked up.
      if (!isTrusted && baseUrlFault(new URL(url).origin, guard) !== null) throw forbidden
      // A request for work must not be repeated.
      if (method !== 'GET') keepWork()
      const limit = limited(client, timeoutMs)
      let answer: Dispatcher.ResponseData
      try {
        answer = await request(url, {
          method,
          headers,
          body: body ?? null,
          signal: limit.signal,
          // Redirects are not followed: a key stays with the address that it was meant for.
          dispatcher: agentFor(isTrusted),
        })
      } catch (error) {
        limit.clear()
        throw failureOf(error, limit.signal)
      }
      const source = answer.body
      // A body that nobody reads any more still tells of its end.
      source.on('error', () => undefined)
      const drop = () => {
        limit.clear()
        source.destroy()
      }
      async function* pieces(): AsyncGenerator<Buffer> {
        try {
          limit.restart()
          for await (const piece of yieldingBetween(source)) {
            limit.pause()
            yield piece as Buffer
            limit.restart()
          }
        } catch (error) {
          throw failureOf(error, limit.signal)
        } finally {
          drop()
        }
      }
      return {
        status: answer.statusCode,
        header(name) {
          const value = answer.headers[name]
          return Array.isArray(value) ? value[0] : value
        },
        pieces,
        drop,
        async bytes(maxBytes) {
          const found: Buffer[] = []
          let size = 0
          try {
            for await (const piece of source) {
              size += (piece as Buffer).length
              if (size > maxBytes) throw new UpstreamFailure('large', 'The answer of the provider is too large')
              found.push(piece as Buffer)
            }
          } catch (error) {
            throw failureOf(error, limit.signal)
          } finally {
            drop()
          }
          return concatYielding(found, size)
        },
      }
    },
  }
}
