// A server of unary gRPC calls on node:http2: keys, deadlines, bounds of connections, and an orderly end.
import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { type CallClock, callClock } from '../clock/call-clock.ts'
import { createShares } from '../concurrency/shares.ts'
import type { Authenticate } from '../http/auth.ts'
import { asFault } from '../http/errors.ts'
import { anonymous } from '../http/handler.ts'
import type { KeyHolder } from '../http/holder.ts'
import type { HostCheck } from '../http/host.ts'
import { rawAnswer } from '../http/http-server.ts'
import type { ByteBudget } from '../http/limits.ts'
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
import { codeName, GrpcError, grpcStatus, toGrpcError, trailersOf } from './status.ts'

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
/** A connection that does not say what it speaks. */
const prefaceMs = 10_000
const preface = Buffer.from('PRI * HTTP/2.0')
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

export function createGrpcServer(deps: GrpcServerDeps): GrpcServer {
  const { methods, log, metrics, idleMs = usualIdleMs, clock = callClock } = deps
  const sessions = new Set<ServerHttp2Session>()
  const sockets = new Set<Socket>()
  const waiting = createShares<object>({ bound: () => maxWaitingBytes, minBytes: sessionWindowBytes })

  async function answer(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    call: {
      signal: AbortSignal
      requestId: string
      onReceived(bytes: number): void
      address: string
      onCaller(holder: KeyHolder): void
      /** The whole message is there. */
      onMessage(): void
    },
  ): Promise<GrpcAnswer> {
    const refused = deps.checkHost(headers[':authority'] ?? headers.host, headers.origin)
    if (refused !== undefined) throw refused
    const method = methods[headers[':path'] ?? '']
    if (method === undefined)
      throw new GrpcError(grpcStatus.unimplemented, `Unknown method ${(headers[':path'] ?? '').slice(0, 200)}`)
    const route = 'route' in method ? method.route : undefined
    if (deps.isShuttingDown() && route !== undefined)
      throw new GrpcError(grpcStatus.unavailable, 'Server is shutting down', 1)
    const { address } = call
    const cameBy = { method: 'POST', via: undefined, address: () => address }
    const holder = route === undefined ? anonymous : await deps.authenticate(headers, true, cameBy)
    call.onCaller(holder)
    if (route !== undefined) throwUnlessHeld(route.right, holder.holds)
    const account = route && deps.serving.accounts?.begin(holder, route)
    const beganMs = performance.now()
    let bytesIn = 0
    let isRefused = false
    const lease = deps.budget.lease(holder)
    let message: Buffer | undefined
    try {
      const bytes = await readMessage(stream, {
        encoding: first(headers['grpc-encoding']),
        maxBytes: deps.maxBodyBytes,
        lease,
        waiting,
        clock,
        pool: deps.pool,
        onReceived(received) {
          bytesIn += received
          call.onReceived(received)
        },
      })
      message = bytes
      call.signal.throwIfAborted()
      call.onMessage()
      if (!('route' in method)) return await method.answer(bytes)
      const requested = { requestId: call.requestId, headers, params: {}, url: '', clientIp: () => address }
      const handling = { holder, account, signal: () => call.signal }
      const body = { bytes, contentType: method.contentType }
      return method.answerOf(await runRoute(method.route, requested, body, handling, deps.serving))
    } catch (error) {
      isRefused = isRefusedByLimit(asFault(error))
      throw error
    } finally {
      if (message !== undefined) deps.pool.give(message)
      lease.release()
      account?.end({ isRefused, bytesIn, bytesOut: 0, ms: performance.now() - beganMs })
    }
  }

  async function serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const beganMs = performance.now()
    const requestId = uuidv7()
    const ending = new AbortController()
    const over = new GrpcError(grpcStatus.deadlineExceeded, 'Deadline exceeded')
    const tookTooLong = new GrpcError(grpcStatus.deadlineExceeded, 'Request took too long')
    let dropDeadline: (() => void) | undefined
    let bytesIn = 0
    let userId = ''
    let keyId: string | undefined
    const address = (stream.session?.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '')
    let outcome: GrpcAnswer | GrpcError
    let dropLimit: (() => void) | undefined
    const connection = stream.session?.socket && deps.connections.of(stream.session.socket)
    connection?.begins()
    if (connection) stream.once('close', connection.ends)
    metrics.started()
    stream.once('close', () => ending.abort(new GrpcError(grpcStatus.unavailable, 'The client went away')))
    try {
      const timeoutMs = timeoutOf(first(headers['grpc-timeout']))
      if (timeoutMs !== undefined) dropDeadline = clock.after(timeoutMs, () => ending.abort(over))
      const failed = new Promise<never>((_, reject) =>
        ending.signal.addEventListener('abort', () => reject(ending.signal.reason as Error), { once: true }),
      )
      failed.catch(() => undefined)
      const call = {
        signal: ending.signal,
        requestId,
        address,
        onReceived(bytes: number) {
          bytesIn += bytes
        },
        onCaller(holder: KeyHolder) {
          if (holder !== anonymous) connection?.isKnown()
          userId = holder.userId
          keyId = holder.keyId
        },
        onMessage() {
          dropLimit = clock.after(deps.requestTimeoutMs, () => ending.abort(tookTooLong))
        },
      }
      outcome = await Promise.race([answer(stream, headers, call), failed])
    } catch (error) {
      deps.refusals?.onFault(error, { requestId, userId, keyId, address: () => address })
      const known = toGrpcError(error)
      if (known === undefined) log.error({ request: requestId, error }, 'call failed')
      outcome = known ?? new GrpcError(grpcStatus.internal, 'Internal server error')
    }
    dropDeadline?.()
    dropLimit?.()
    const status = outcome instanceof GrpcError ? outcome.status : grpcStatus.ok
    send(stream, requestId, outcome)
    const ms = performance.now() - beganMs
    const method = methods[headers[':path'] ?? '']
    const name = method?.name ?? 'unmatched'
    metrics.ended()
    metrics.observe(name, codeName(status), ms / 1000, bytesIn)
    const line = { request: requestId, method: name, grpc: status, ms: Math.round(ms * 10) / 10, in: bytesIn }
    const isProbe = status === 0 && method !== undefined && !('route' in method)
    log[isProbe ? 'debug' : 'info']({ ...line, user: userId || undefined }, 'call')
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

  const h2 = createServer({ settings, maxSessionInvalidFrames: 100, maxHeaderListPairs: 128, maxSessionMemory: 32 })
  h2.on('session', (session) => {
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
  })
  h2.on('sessionError', (error) => log.debug({ error: error.message }, 'connection failed'))
  h2.on('stream', (stream, headers) => {
    stream.on('error', (error) => log.debug({ error: error.message }, 'call broken off'))
    if (headers[':method'] !== 'POST' || !isGrpc(headers)) {
      // No browser calls here, so none has to remember TLS.
      const security = Object.fromEntries(securityHeaders(false))
      stream.respond({ ':status': 415, 'content-type': 'text/plain', ...security })
      stream.resume().end(deps.hint())
      return
    }
    void serve(stream, headers)
  })

  function secureServer(tls: Tls) {
    const protocols = { ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: prefaceMs }
    const server = createTlsServer({ ...tls.options(), ...protocols }, welcome)
    server.on('tlsClientError', (error) => log.debug({ error: error.message }, 'no TLS with a client'))
    tls.renews(server)
    return server
  }

  /** Finds the protocol of a connection in its first bytes; HTTP/1.1 gets an answer in HTTP/1.1. */
  function welcome(socket: Socket): void {
    const patience = setTimeout(() => socket.destroy(), prefaceMs)
    socket.on('error', () => undefined).once('close', () => clearTimeout(patience))
    const look = (): void => {
      const chunk = socket.read() as Buffer | null
      if (chunk === null) return void socket.once('readable', look)
      const isPreface = preface
        .subarray(0, Math.min(chunk.length, preface.length))
        .equals(chunk.subarray(0, preface.length))
      socket.unshift(chunk)
      if (isPreface && chunk.length < preface.length) return void socket.once('readable', look)
      clearTimeout(patience)
      if (isPreface) h2.emit('connection', socket)
      else if (/^[A-Z]{3,7} /.test(chunk.toString('latin1', 0, 8))) {
        // Otherwise its bytes stay unread, and the connection open.
        socket.resume().end(rawAnswer('400 Bad Request', 'text/plain', deps.hint(), false))
      } else socket.destroy()
    }
    socket.once('readable', look)
  }

  const { tls } = deps
  const server = tls ? secureServer(tls) : createSocketServer(welcome)
  deps.connections.watch(server)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          resolve((server.address() as AddressInfo).port)
        })
      }),
    close: (limitMs) =>
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
      }),
  }
}
