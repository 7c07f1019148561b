// A server of unary gRPC calls on node:http2: keys, deadlines, bounds of connections, and an orderly end.
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Server, Socket } from 'node:net'
import { type CallClock, callClock } from '../clock/call-clock.ts'
import { createShares, type Shares } from '../concurrency/shares.ts'
import type { Authenticate } from '../http/auth.ts'
import { asFault } from '../http/errors.ts'
import { anonymous } from '../http/handler.ts'
import type { KeyHolder } from '../http/holder.ts'
import type { HostCheck } from '../http/host.ts'
import { listenOn } from '../http/http-server.ts'
import type { ByteBudget, ByteLease } from '../http/limits.ts'
import { isRefusedByLimit } from '../http/rates/accounts.ts'
import type { Refusals } from '../http/refusals.ts'
import type { Reply, Route } from '../http/route.ts'
import { securityHeaders } from '../http/security-headers.ts'
import { type HandlerDeps, runRoute, throwUnlessHeld } from '../http/serve.ts'
import type { Tls } from '../http/tls.ts'
import { uuidv7 } from '../ids.ts'
import type { BufferPool } from '../memory/buffer-pool.ts'
import type { Connections } from '../process/connections.ts'
import type { Logger } from '../process/logger.ts'
import type { GrpcMetrics } from '../process/metrics.ts'
import { acceptedEncodings, frameOf, readMessage, streamWindowBytes } from './message.ts'
import { createGrpcSocket } from './socket.ts'
import { codeName, GrpcError, type GrpcStatus, grpcStatus, toGrpcError, trailersOf } from './status.ts'

/** The answer to a call; trailers beside the status. */
type GrpcAnswer = { message: Buffer; trailers?: Record<string, string> }

export type GrpcMethod =
  /** Answered without a key: probes. @throws GrpcError */
  | { name: string; answer(message: Buffer): GrpcAnswer | Promise<GrpcAnswer> }
  /** Run by a declared route, as over HTTP. `answerOf` @throws GrpcError */
  | { name: string; route: Route; contentType: string; answerOf(reply: Reply): GrpcAnswer }

export type GrpcServerDeps = {
  /** Methods by path, `/package.Service/Method`. */
  methods: Readonly<Record<string, GrpcMethod>>
  authenticate: Authenticate
  connections: Connections
  checkHost: HostCheck
  budget: ByteBudget
  /** Buffers of messages. */
  pool: BufferPool
  /** Dependencies of routes. */
  serving: HandlerDeps
  /** Called for answers that are faults. */
  refusals?: Pick<Refusals, 'onFault'> | undefined
  maxBodyBytes: number
  /** A call takes so long at most once its message is there. */
  requestTimeoutMs: number
  log: Logger
  metrics: GrpcMetrics
  /** The text for clients that speak HTTP/1.1 here. */
  hint(): string
  /** After so long without a frame a connection is closed: five minutes. */
  idleMs?: number
  /** The clock of deadlines, and of calls that wait for room. */
  clock?: CallClock
  isShuttingDown(): boolean
  /** TLS of the port, which then speaks nothing else. */
  tls?: Tls | undefined
}

export type GrpcServer = {
  /** Resolves with the port. */
  listen(port: number, host: string): Promise<number>
  /** Lets calls in flight end; cuts what is left after the limit. False when it had to. */
  close(limitMs: number): Promise<boolean>
}

const usualIdleMs = 300_000
/** Calls that a connection may take back in a second before it is ended. */
const maxResetsPerSecond = 100
const settings = {
  maxConcurrentStreams: 100,
  initialWindowSize: streamWindowBytes,
  maxHeaderListSize: 16 * 1024,
  enablePush: false,
}
const sessionWindowBytes = 8 * 2 ** 20
/** All calls together that wait for room hold so much of memory at most, one connection as much as its window. */
const maxWaitingBytes = 4 * sessionWindowBytes

const unitMs: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 }

/** Milliseconds of the header `grpc-timeout`; undefined = none. */
function timeoutOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const match = /^(\d{1,8})([HMSmun])$/.exec(header)
  if (match === null) throw new GrpcError(grpcStatus.invalidArgument, 'Malformed grpc-timeout')
  return Math.min(2 ** 31 - 1, Number(match[1]) * (unitMs[match[2] as string] as number))
}

const first = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)
const isGrpc = (headers: IncomingHttpHeaders): boolean =>
  /^application\/grpc(?:$|[+;])/.test(headers['content-type'] ?? '')

/** State that the calls of a port share. */
type GrpcState = GrpcServerDeps & {
  clock: CallClock
  sessions: Set<ServerHttp2Session>
  sockets: Set<Socket>
  /** Shares of connections in what waits for room. */
  waiting: Shares<object>
}

/** One call, from its headers to its log line. */
type Call = {
  stream: ServerHttp2Stream
  headers: IncomingHttpHeaders
  requestId: string
  address: string
  beganMs: number
  /** Ends the call with a reason. */
  ending: AbortController
  connection: ReturnType<Connections['of']> | undefined
  bytesIn: number
  userId: string
  keyId: string | undefined
  dropDeadline: (() => void) | undefined
  dropLimit: (() => void) | undefined
}

export function createGrpcServer(deps: GrpcServerDeps): GrpcServer {
  const state: GrpcState = {
    ...deps,
    clock: deps.clock ?? callClock,
    sessions: new Set(),
    sockets: new Set(),
    waiting: createShares<object>({ bound: () => maxWaitingBytes, minBytes: sessionWindowBytes }),
  }
  const { sockets, log, tls } = state
  const server = createGrpcSocket({ h2: createH2(state), tls, log, hint: () => deps.hint() })
  deps.connections.watch(server)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return {
    listen: (port, host) => listenOn(server, port, host),
    close: (limitMs) => closeGrpc(state, server, limitMs),
  }
}

function createH2(state: GrpcState): Http2Server {
  const { log } = state
  const h2 = createServer({ settings, maxSessionInvalidFrames: 100, maxHeaderListPairs: 128, maxSessionMemory: 32 })
  h2.on('session', (session) => onSession(state, session))
  h2.on('sessionError', (error) => log.debug({ error: error.message }, 'connection failed'))
  h2.on('stream', (stream, headers) => {
    stream.on('error', (error) => log.debug({ error: error.message }, 'call broken off'))
    if (headers[':method'] !== 'POST' || !isGrpc(headers)) {
      // No browser calls here, so none has to remember TLS.
      const security = Object.fromEntries(securityHeaders(false))
      stream.respond({ ':status': 415, 'content-type': 'text/plain', ...security })
      stream.resume().end(state.hint())
      return
    }
    void serve(state, stream, headers)
  })
  return h2
}

function onSession({ sessions, log, idleMs = usualIdleMs }: GrpcState, session: ServerHttp2Session): void {
  sessions.add(session)
  session.setLocalWindowSize(sessionWindowBytes)
  session.setTimeout(idleMs, () => session.close())
  session.once('close', () => sessions.delete(session))
  // A connection that breaks is the client's affair; its calls are told by their streams.
  session.on('error', (error) => log.debug({ error: error.message }, 'connection failed'))
  let resets = 0
  let second = 0
  session.on('stream', (stream: ServerHttp2Stream) =>
    stream.once('aborted', () => {
      const now = Math.floor(performance.now() / 1000)
      resets = now === second ? resets + 1 : 1
      second = now
      if (resets > maxResetsPerSecond)
        session.destroy(new Error('too many calls were taken back'), constants.NGHTTP2_ENHANCE_YOUR_CALM)
    }),
  )
}

const closeGrpc = ({ sessions, sockets }: GrpcState, server: Server, limitMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    let isOrderly = true
    const limit = setTimeout(() => {
      isOrderly = sockets.size === 0
      for (const session of sessions) session.destroy()
      for (const socket of sockets) socket.destroy()
    }, limitMs)
    server.close(() => {
      clearTimeout(limit)
      resolve(isOrderly)
    })
    // Each says goodbye and lets its calls end.
    for (const session of sessions) session.close()
  })

function beginCall({ connections, metrics }: GrpcState, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Call {
  const socket = stream.session?.socket
  const ending = new AbortController()
  const connection = socket && connections.of(socket)
  connection?.begins()
  if (connection) stream.once('close', connection.ends)
  metrics.started()
  stream.once('close', () => ending.abort(new GrpcError(grpcStatus.unavailable, 'The client went away')))
  return {
    stream,
    headers,
    requestId: uuidv7(),
    address: (socket?.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, ''),
    beganMs: performance.now(),
    ending,
    connection,
    bytesIn: 0,
    userId: '',
    keyId: undefined,
    dropDeadline: undefined,
    dropLimit: undefined,
  }
}

async function serve(state: GrpcState, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
  const { clock, log, refusals } = state
  const call = beginCall(state, stream, headers)
  const { ending, requestId, address } = call
  let outcome: GrpcAnswer | GrpcError
  try {
    const timeoutMs = timeoutOf(first(headers['grpc-timeout']))
    if (timeoutMs !== undefined)
      call.dropDeadline = clock.after(timeoutMs, () =>
        ending.abort(new GrpcError(grpcStatus.deadlineExceeded, 'Deadline exceeded')),
      )
    const failed = new Promise<never>((_, reject) =>
      ending.signal.addEventListener('abort', () => reject(ending.signal.reason as Error), { once: true }),
    )
    failed.catch(() => undefined)
    outcome = await Promise.race([answer(state, call), failed])
  } catch (error) {
    const { userId, keyId } = call
    refusals?.onFault(error, { requestId, userId, keyId, address: () => address })
    const known = toGrpcError(error)
    if (known === undefined) log.error({ request: requestId, error }, 'call failed')
    outcome = known ?? new GrpcError(grpcStatus.internal, 'Internal server error')
  }
  call.dropDeadline?.()
  call.dropLimit?.()
  send(stream, requestId, outcome)
  recordCall(state, call, outcome instanceof GrpcError ? outcome.status : grpcStatus.ok)
}

/** The call in the metrics and in the log. */
function recordCall({ metrics, methods, log }: GrpcState, call: Call, status: GrpcStatus): void {
  const { headers, requestId, bytesIn, userId, beganMs } = call
  const ms = performance.now() - beganMs
  const method = methods[headers[':path'] ?? '']
  const name = method?.name ?? 'unmatched'
  metrics.ended()
  metrics.observe(name, codeName(status), ms / 1000, bytesIn)
  const line = { request: requestId, method: name, grpc: status, ms: Math.round(ms * 10) / 10, in: bytesIn }
  const isProbe = status === 0 && method !== undefined && !('route' in method)
  log[isProbe ? 'debug' : 'info']({ ...line, user: userId || undefined }, 'call')
}

function methodOf({ checkHost, methods, isShuttingDown }: GrpcState, headers: IncomingHttpHeaders): GrpcMethod {
  const refused = checkHost(headers[':authority'] ?? headers.host, headers.origin)
  if (refused !== undefined) throw refused
  const path = headers[':path'] ?? ''
  const method = methods[path]
  if (method === undefined) throw new GrpcError(grpcStatus.unimplemented, `Unknown method ${path.slice(0, 200)}`)
  if (isShuttingDown() && 'route' in method) throw new GrpcError(grpcStatus.unavailable, 'Server is shutting down', 1)
  return method
}

/** Finds the caller. @throws Fault for a key that may not use the route */
async function authenticated({ authenticate }: GrpcState, call: Call, route: Route | undefined): Promise<KeyHolder> {
  const { headers, address, connection } = call
  if (route === undefined) return anonymous
  const holder = await authenticate(headers, true, { method: 'POST', via: undefined, address: () => address })
  if (holder !== anonymous) connection?.isKnown()
  call.userId = holder.userId
  call.keyId = holder.keyId
  throwUnlessHeld(route.right, holder.holds)
  return holder
}

async function answer(state: GrpcState, call: Call): Promise<GrpcAnswer> {
  const { serving, budget, pool } = state
  const method = methodOf(state, call.headers)
  const route = 'route' in method ? method.route : undefined
  const holder = await authenticated(state, call, route)
  const account = route && serving.accounts?.begin(holder, route)
  const beganMs = performance.now()
  let isRefused = false
  const lease = budget.lease(holder)
  let message: Buffer | undefined
  try {
    message = await readCall(state, call, lease)
    return await runMethod(state, call, method, message, { holder, account, signal: () => call.ending.signal })
  } catch (error) {
    isRefused = isRefusedByLimit(asFault(error))
    throw error
  } finally {
    if (message !== undefined) pool.give(message)
    lease.release()
    account?.end({ isRefused, bytesIn: call.bytesIn, bytesOut: 0, ms: performance.now() - beganMs })
  }
}

function readCall(state: GrpcState, call: Call, lease: ByteLease): Promise<Buffer> {
  const { maxBodyBytes: maxBytes, waiting, clock, pool } = state
  return readMessage(call.stream, {
    encoding: first(call.headers['grpc-encoding']),
    maxBytes,
    lease,
    waiting,
    clock,
    pool,
    onReceived(bytes) {
      call.bytesIn += bytes
    },
  })
}

/** Runs a call whose message is there: from now on its time is limited. */
async function runMethod(
  { clock, requestTimeoutMs, serving }: GrpcState,
  call: Call,
  method: GrpcMethod,
  bytes: Buffer,
  handling: Parameters<typeof runRoute>[3],
): Promise<GrpcAnswer> {
  const { ending, requestId, headers, address } = call
  ending.signal.throwIfAborted()
  call.dropLimit = clock.after(requestTimeoutMs, () =>
    ending.abort(new GrpcError(grpcStatus.deadlineExceeded, 'Request took too long')),
  )
  if (!('route' in method)) return method.answer(bytes)
  const requested = { requestId, headers, params: {}, url: '', clientIp: () => address }
  const body = { bytes, contentType: method.contentType }
  return method.answerOf(await runRoute(method.route, requested, body, handling, serving))
}

function send(stream: ServerHttp2Stream, requestId: string, outcome: GrpcAnswer | GrpcError): void {
  if (stream.destroyed || stream.closed) return
  const head = {
    ':status': 200,
    'content-type': 'application/grpc',
    'x-request-id': requestId,
    'grpc-accept-encoding': acceptedEncodings,
  }
  if (outcome instanceof GrpcError) {
    stream.respond({ ...head, ...trailersOf(outcome) }, { endStream: true })
    // Whatever the client still sends is not wanted any more; a stream with unread bytes would never end.
    stream.resume()
    stream.close(constants.NGHTTP2_NO_ERROR)
    return
  }
  stream.respond(head, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', ...outcome.trailers }))
  stream.end(frameOf(outcome.message))
}
