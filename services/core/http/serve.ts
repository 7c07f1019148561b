// Runs a declared route for one request: authentication, body, schema, handler, answer.
import { finished, Readable } from 'node:stream'
import { type BufferPool, freshBuffers } from '../buffer-pool.ts'
import type { Authenticate } from './auth.ts'
import { bodyStream, readBody } from './body.ts'
import { checkedBody } from './details.ts'
import { fault, invalid } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { parseJson } from './json-check.ts'
import type { KeyHolder } from './keys.ts'
import type { ByteBudget, ByteLease } from './limits.ts'
import { projectsOf } from './projects.ts'
import { writeReply } from './reply.ts'
import type { Right, Route, RouteContext } from './route.ts'
import type { TurnOf } from './turn.ts'

export type ServeDeps = {
  authenticate: Authenticate
  budget: ByteBudget
  turnOf: TurnOf
  /** Buffers of the bodies of `bytes` routes, which no one keeps beyond the handler. */
  pool: BufferPool
  maxBodyBytes: number
  maxFileBytes: number
  maxJsonDepth: number
  requestTimeoutMs: number
}

/** A client that sends nothing of its body for so long is cut off. */
const bodyIdleMs = 60_000
/** Room for the other parts and the boundaries of a multipart upload. */
const multipartOverheadBytes = 1024 * 1024

const anonymous: KeyHolder = { userId: '', entity: '', holds: () => false, may: () => false }
const noBytes = Buffer.alloc(0)

const contentTypeOf = (header: string | undefined): string =>
  (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** JSON comes with every type or none at all, so only what certainly is something else is refused. */
const isNotJson = (contentType: string) => contentType.startsWith('multipart/') || contentType.endsWith('protobuf')

const wrongType = (expected: string[]) => fault(415, `Unsupported Content-Type; expected ${expected.join(' or ')}`)

const reusesBody = ({ body }: Route): boolean => body.type === 'json' && body.check === 'bytes'

type Read = Pick<RouteContext, 'input' | 'body'> & { stream?: Readable }

/**
 * What the handler of a JSON route gets for these bytes.
 * @throws Fault 422 when there are none or they do not fit the schema, 413 when they are nested too deep
 */
export function jsonInput(body: Route['body'] & { type: 'json' }, bytes: Buffer, maxDepth: number): unknown {
  if (bytes.length === 0 && !body.optional) throw invalid({ loc: ['body'], msg: 'Field required', type: 'missing' })
  if (body.check === 'bytes') return undefined
  const value = bytes.length === 0 ? {} : parseJson(bytes, maxDepth)
  if (body.check === 'handler') return value
  return checkedBody(body.schema, value)
}

/** @throws Fault 403 when the caller's key gives the right on no project at all */
export function throwUnlessHeld(right: Right, holds: ((right: Right) => boolean) | undefined): void {
  if (right !== 'none' && holds?.(right) === false) throw fault(403, `Key has no right to ${right}`)
}

async function readInput(
  route: Route,
  exchange: Exchange,
  holder: KeyHolder,
  lease: ByteLease,
  deps: ServeDeps,
): Promise<Read> {
  const { request, response } = exchange
  const contentType = contentTypeOf(request.headers['content-type'])
  const { body } = route
  const nothing: Read = { input: undefined, body: { bytes: noBytes, contentType } }
  if (body.type === 'none') return nothing
  if (body.type === 'json' && isNotJson(contentType)) throw wrongType(['application/json'])
  if (body.type === 'raw' && contentType !== '' && !body.contentTypes.includes(contentType))
    throw wrongType(body.contentTypes)
  if (body.type === 'stream' && contentType !== body.contentType) throw wrongType([body.contentType])

  const onReceived = (bytes: number) => {
    exchange.bytesIn += bytes
  }
  if (body.type === 'stream') {
    const stream = bodyStream(request, { maxBytes: deps.maxFileBytes + multipartOverheadBytes, onReceived })
    if (exchange.waitsForContinue) response.writeContinue()
    exchange.waitsForContinue = false
    return { ...nothing, stream }
  }
  const maxBytes = deps.maxBodyBytes * ((body.type === 'json' && body.times) || 1)
  if (exchange.waitsForContinue && Number(request.headers['content-length'] ?? 0) <= maxBytes) {
    response.writeContinue()
    exchange.waitsForContinue = false
  }
  const pool = reusesBody(route) ? deps.pool : freshBuffers
  const takesZstd = body.type === 'raw'
  const bytes = await readBody(request, { maxBytes, idleMs: bodyIdleMs, takesZstd, onReceived }, lease, pool)
  await deps.turnOf(holder, bytes.length)
  if (body.type === 'raw') return { ...nothing, body: { bytes, contentType } }
  return { input: jsonInput(body, bytes, deps.maxJsonDepth), body: { bytes, contentType } }
}

/** Starts the time limit: at once, or for uploads when the last byte has come. */
function limitTime(exchange: Exchange, stream: Readable | undefined, ms: number): void {
  const start = () => exchange.limitTime(ms, () => fault(504, 'Request took too long'))
  if (stream === undefined) start()
  else finished(stream, { writable: false }, start)
}

/** Answers one request, or rejects with the reason why it could not. */
export async function serve(
  route: Route,
  exchange: Exchange,
  params: Record<string, string>,
  clientIp: () => string,
  deps: ServeDeps,
): Promise<void> {
  const { request } = exchange
  const { headers } = request
  const holder = route.right === 'none' ? anonymous : deps.authenticate(headers)
  exchange.userId = holder.userId
  throwUnlessHeld(route.right, holder.holds)
  const lease = deps.budget.lease(holder)
  let stream: Readable | undefined
  try {
    const read = await readInput(route, exchange, holder, lease, deps)
    const { input, body } = read
    stream = read.stream
    if (route.limitsItself !== true) limitTime(exchange, stream, deps.requestTimeoutMs)
    let query: URLSearchParams | undefined
    const projects = projectsOf(holder, route)
    const context: RouteContext = {
      requestId: exchange.requestId,
      caller: holder,
      header(name) {
        const value = headers[name]
        return typeof value === 'string' ? value : value?.[0]
      },
      clientIp,
      params,
      get query() {
        if (query === undefined) {
          const url = request.url ?? ''
          const mark = url.indexOf('?')
          query = new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1))
        }
        return query
      },
      input,
      body,
      maxJsonDepth: deps.maxJsonDepth,
      get stream() {
        return stream ?? Readable.from([])
      },
      get signal() {
        return exchange.signal
      },
      ...projects.context,
    }
    const handled = projects.run(() => route.handle(context))
    // Not when the answer is sent: a handler that ran out of time still reads its body.
    if (reusesBody(route)) {
      const giveBack = () => deps.pool.give(body.bytes)
      handled.then(giveBack, giveBack)
    }
    const reply = await exchange.unlessAborted(handled)
    await writeReply(exchange, reply)
  } finally {
    lease.release()
    stream?.destroy()
  }
}
