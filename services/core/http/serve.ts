// Runs a declared route for one request: authentication, body, schema, handler, answer.
import { finished, type Readable } from 'node:stream'
import { type InTurn, inTurn } from '../concurrency/loop-turns.ts'
import { type NeededRight, rightText } from '../directory/roles.ts'
import { type LongAnswer, TooLongHere } from '../errors.ts'
import { type BufferPool, freshBuffers } from '../memory/buffer-pool.ts'
import type { Connections } from '../process/connections.ts'
import type { Account, AuditedRequest, CutoffsOf } from '../process/running-handler.ts'
import type { Authenticate } from './auth.ts'
import { bodyStream, readBody } from './body.ts'
import { checkedBody } from './details.ts'
import { asFault, fault, invalid } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { anonymous, type Requested, runHandler } from './handler.ts'
import { whileHeld } from './held-replies.ts'
import { countsFrom, type KeyHolder } from './holder.ts'
import { parseJson } from './json-check.ts'
import { endsSoonMs } from './key-metrics.ts'
import type { ByteBudget, ByteLease } from './limits.ts'
import type { RequestThreads } from './long-requests.ts'
import { isLong, longRequest } from './long-requests.ts'
import { type Accounts, isRefusedByLimit, type RequestAccount } from './rates/accounts.ts'
import type { ReadAudit } from './read-audit.ts'
import { writeReply } from './reply.ts'
import type { Reply, Route, RouteContext } from './route.ts'

export type ServeDeps = {
  authenticate: Authenticate
  connections: Connections
  /** Limits of keys and projects; without it nothing is limited or counted. */
  accounts?: Accounts | undefined
  /** Called for reads; without it they leave nothing. */
  readAudit?: ReadAudit | undefined
  /** The cut-offs of a project's hidden data; absent: nothing is hidden. */
  cutoffsOf?: CutoffsOf | undefined
  /** Finds a holder by the id of a key, or the user of a session. */
  findKey(id: string): KeyHolder | undefined
  /** Whether a key still does all that it did. */
  isHeld(holder: KeyHolder): boolean
  budget: ByteBudget
  /** Turns for handling bodies that were read. */
  bodyTurns: InTurn
  /** Buffers of the bodies of `bytes` and `raw` routes, which no one keeps beyond the handler. */
  pool: BufferPool
  maxBodyBytes: number
  maxFileBytes: number
  maxJsonDepth: number
  requestTimeoutMs: number
  /** Threads for long requests; without them they run here. */
  threads?: Pick<RequestThreads, 'run'>
}

/** A client that sends nothing of its body for so long is cut off. */
const bodyIdleMs = 60_000
/** Room for the other parts and the boundaries of a multipart upload. */
const multipartOverheadBytes = 1024 * 1024

const noBytes = Buffer.alloc(0)

const contentTypeOf = (header: string | undefined): string =>
  (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** JSON comes with every type or none at all, so only what certainly is something else is refused. */
const isNotJson = (contentType: string) => contentType.startsWith('multipart/') || contentType.endsWith('protobuf')

const wrongType = (expected: string[]) => fault(415, `Unsupported Content-Type; expected ${expected.join(' or ')}`)

/** Handlers of these routes keep copies of their body. */
const reusesBody = ({ body }: Route): boolean => body.type === 'raw' || (body.type === 'json' && body.check === 'bytes')

type Body = RouteContext['body']

/**
 * Parses the bytes for the handler of a JSON route.
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
export function throwUnlessHeld(right: NeededRight, holds: KeyHolder['holds'] | undefined): void {
  if (right !== 'none' && holds?.(right) === false) throw fault(403, `Key has no right to ${rightText(right)}`)
}

/** @throws Fault 403 for a key that is none any more, or does not count from there */
function holderByAddress(holder: KeyHolder | undefined, clientIp: () => string): KeyHolder {
  if (holder === undefined || !countsFrom(holder, clientIp()))
    throw fault(403, 'The key that requested this address is no longer valid')
  return holder
}

type Read = { body: Body; stream?: Readable }

/** The body as it came; a route that reads by itself gets the stream. */
async function readRequest(route: Route, exchange: Exchange, lease: ByteLease, deps: ServeDeps): Promise<Read> {
  const { request, response } = exchange
  const contentType = contentTypeOf(request.headers['content-type'])
  const { body } = route
  const nothing: Read = { body: { bytes: noBytes, contentType } }
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
  const { times = 1, maxBytes: own = Number.POSITIVE_INFINITY } = body.type === 'json' ? body : {}
  const maxBytes = Math.min(own, deps.maxBodyBytes * times)
  if (exchange.waitsForContinue && Number(request.headers['content-length'] ?? 0) <= maxBytes) {
    response.writeContinue()
    exchange.waitsForContinue = false
  }
  const pool = reusesBody(route) ? deps.pool : freshBuffers
  const takesZstd = body.type === 'raw'
  const bytes = await readBody(request, { maxBytes, idleMs: bodyIdleMs, takesZstd, onReceived }, lease, pool)
  return { body: { bytes, contentType } }
}

/** Starts the time limit: at once, or for uploads when the last byte has come. */
function limitTime(exchange: Exchange, stream: Readable | undefined, ms: number): void {
  const start = () => exchange.limitTime(ms, () => fault(504, 'Request took too long'))
  if (stream === undefined) start()
  else finished(stream, { writable: false }, start)
}

export type Handling = {
  holder: KeyHolder
  account?: Account | undefined
  signal(): AbortSignal
  stream?: Readable | undefined
}
export type HandlerDeps = Pick<
  ServeDeps,
  'accounts' | 'bodyTurns' | 'cutoffsOf' | 'maxJsonDepth' | 'readAudit' | 'threads'
>

/** Runs the handler for a body that was read, over whichever protocol: here, or in a thread when that is long work. */
export async function runRoute(
  route: Route,
  requested: Requested,
  body: Body,
  { holder, account, signal, stream }: Handling,
  { bodyTurns, cutoffsOf, maxJsonDepth, readAudit, threads }: HandlerDeps,
): Promise<Reply> {
  let answer: LongAnswer | undefined
  try {
    if (threads === undefined || !isLong(route, body.bytes)) {
      const by = { holder, account, cutoffsOf, readAudit, maxJsonDepth, mayTakeLong: threads === undefined, signal }
      return await inTurn(bodyTurns, holder, async () => {
        const input = route.body.type === 'json' ? jsonInput(route.body, body.bytes, maxJsonDepth) : undefined
        return runHandler(route, requested, { input, body, ...(stream && { stream }) }, by)
      })
    }
  } catch (error) {
    if (threads === undefined || !(error instanceof TooLongHere)) throw error
    answer = error.takeAnswer()
  }
  const request = longRequest(route, requested, body.contentType, holder, maxJsonDepth)
  return threads.run(request, { body: body.bytes, answer }, holder, signal(), account)
}

/** SDKs drop what they cannot send, so that a key's end is told before it comes. */
function reportEnd({ endsMs }: KeyHolder, { response }: Exchange): void {
  if (endsMs === undefined || endsMs - Date.now() > endsSoonMs) return
  response.setHeader('X-Callhouse-Key-Expires', new Date(endsMs).toISOString())
}

/** Callers with little left see it in headers before they are refused. */
function reportLimits(account: RequestAccount | undefined, { response }: Exchange): void {
  const headers = account?.headers()
  if (headers === undefined || response.headersSent) return
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}

/** The caller as audit events name him. */
export const askerOf = ({ requestId, userId, keyId }: Exchange, address: () => string): AuditedRequest => ({
  requestId,
  userId,
  keyId,
  address,
})

/** Answers one request, or rejects with the reason why it could not. */
export async function serveRoute(
  route: Route,
  exchange: Exchange,
  params: Record<string, string>,
  clientIp: () => string,
  deps: ServeDeps,
): Promise<void> {
  const { headers, url = '', method = '' } = exchange.request
  const cameBy = { method, via: exchange.via, address: clientIp }
  const isExporter = route.takesExporterKeys === true
  const found =
    route.keyOf !== undefined
      ? holderByAddress(deps.findKey(route.keyOf(params)), clientIp)
      : route.right === 'none'
        ? anonymous
        : deps.authenticate(headers, isExporter, cameBy)
  // The holder is usually known at once, and nothing waits for a turn.
  const holder = found instanceof Promise ? await found : found
  if (holder !== anonymous) deps.connections.of(exchange.request.socket)?.isKnown()
  exchange.userId = holder.userId
  exchange.keyId = holder.keyId
  if (route.right !== 'none') exchange.response.setHeader('Cache-Control', 'no-store')
  reportEnd(holder, exchange)
  throwUnlessHeld(route.right, holder.holds)
  const requested = { requestId: exchange.requestId, headers, params, url, clientIp, via: exchange.via }
  const account = route.right === 'none' ? undefined : deps.accounts?.begin(holder, route)
  const beganMs = performance.now()
  let isRefused = false
  const lease = deps.budget.lease(holder)
  let stream: Readable | undefined
  let work: Promise<Reply> | undefined

  try {
    const read = await readRequest(route, exchange, lease, deps)
    const { body } = read
    stream = read.stream
    if (route.limitsItself !== true) limitTime(exchange, stream, deps.requestTimeoutMs)
    work = runRoute(route, requested, body, { holder, account, signal: () => exchange.signal, stream }, deps)
    if (reusesBody(route)) {
      const giveBack = () => deps.pool.give(body.bytes)
      work.then(giveBack, giveBack)
    }
    const reply = await exchange.unlessAborted(work)
    reportLimits(account, exchange)
    await writeReply(
      exchange,
      whileHeld(reply, () => deps.isHeld(holder)),
    )
  } catch (error) {
    isRefused = isRefusedByLimit(asFault(error))
    throw error
  } finally {
    // Not when the answer is sent: a handler that ran out of time still holds its body.
    const release = () => {
      lease.release()
      const { bytesIn, bytesOut } = exchange
      account?.end({ isRefused, bytesIn, bytesOut, ms: performance.now() - beganMs })
    }
    if (work === undefined) release()
    else work.then(release, release)
    stream?.destroy()
  }
}
