// The HTTP server: declared routes on Express, and what holds for every request before a route is found.
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Router,
} from 'express'
import { loopTurns } from '../concurrency/loop-turns.ts'
import { createBufferPool } from '../memory/buffer-pool.ts'
import { createConnections } from '../process/connections.ts'
import type { Logger } from '../process/logger.ts'
import type { Metrics } from '../process/metrics.ts'
import { createAuthenticate } from './auth.ts'
import { discardRest } from './body.ts'
import { createCors } from './cors.ts'
import { Fault, fault, retryLater } from './errors.ts'
import { beginExchange, type Exchange } from './exchange.ts'
import { isStillHeld } from './held-replies.ts'
import { createHostCheck, type HostCheck } from './host.ts'
import { closeHttpServer, createHttpServer, listenOn } from './http-server.ts'
import type { Keys } from './keys.ts'
import { createByteBudget } from './limits.ts'
import { openapiDocument } from './openapi.ts'
import type { Refusals } from './refusals.ts'
import { writeError, writeReply } from './reply.ts'
import { type Reply, type Route, route } from './route.ts'
import { securityHeaders } from './security-headers.ts'
import { askerOf, type HandlerDeps, type ServeDeps, serveRoute } from './serve.ts'
import type { Sessions } from './session.ts'
import type { Tls } from './tls.ts'
import { createVia, type Via } from './via.ts'

type HttpConfig = {
  host: string
  port: number
  allowedHosts: readonly string[]
  corsOrigins: readonly string[]
  trustProxy: readonly string[]
  otelVendorNamespaces: readonly string[]
  maxBodyBytes: number
  maxFileBytes: number
  maxJsonDepth: number
  maxInflightBytes: number
  maxConnections: number
  requestTimeoutMs: number
  basePath: string
  publicUrl: string
}

export type AppDeps = {
  routes: readonly Route[]
  config: HttpConfig
  keys: Pick<Keys, 'find' | 'findId' | 'refusal' | 'arriving'>
  log: Logger
  metrics: Metrics
  version: string
  /** While true, everything but /health and /ready is answered 503. */
  isShuttingDown(): boolean
  threads?: ServeDeps['threads']
  accounts?: ServeDeps['accounts']
  readAudit?: ServeDeps['readAudit']
  /** Called for answers that are faults. */
  refusals?: Pick<Refusals, 'onFault'>
  cutoffsOf?: ServeDeps['cutoffsOf']
  /** TLS of the port, which then speaks nothing else. */
  tls?: Tls | undefined
  /** Cookies of the page that count beside keys. */
  sessions?: Pick<Sessions, 'holder'>
  /** The page that a browser sees at an unknown path; undefined for everyone else. */
  notFoundPage?(request: IncomingMessage, via: () => Via): Reply | undefined
}

export type HttpServer = {
  server: Server
  /** Every route that is served, the server's own ones included. */
  routes: readonly Route[]
  /** Parts that other ports of the same server share with it. */
  shared: Pick<ServeDeps, 'authenticate' | 'budget' | 'pool' | 'connections'> & {
    checkHost: HostCheck
    serving: HandlerDeps
  }
  /** Resolves with the port that it listens on. */
  listen(): Promise<number>
  /** Stops accepting and waits for requests in flight; cuts what is left after the limit. False when it had to. */
  close(limitMs: number): Promise<boolean>
}

/** Time for reading the rest of a refused body, so that its sender gets to see the refusal. */
const discardMs = 30_000

/** Routes that say that the server is shutting down themselves. */
const answersAlways = new Set(['service.health', 'service.ready'])

/** The server's own routes. Metrics name no projects, but they need a key like everything else. */
const ownRoutes = (served: () => readonly Route[], metrics: Metrics, version: string): Route[] => {
  let document: Promise<string> | undefined
  return [
    route({
      name: 'service.openapi',
      method: 'GET',
      path: '/openapi.json',
      withoutProject: true,
      summary: 'This interface as an OpenAPI 3.1 document',
      body: { type: 'none' },
      response: null,
      async handle() {
        document ??= openapiDocument(served(), version).then((made) => JSON.stringify(made))
        return { jsonText: await document }
      },
    }),
    route({
      name: 'service.metrics',
      method: 'GET',
      path: '/metrics',
      withoutProject: true,
      summary: 'Metrics in the Prometheus exposition format',
      body: { type: 'none' },
      response: null,
      responseType: 'text/plain',
      async handle() {
        const { contentType, text } = await metrics.text()
        return { bytes: Buffer.from(text), contentType }
      },
    }),
  ]
}

type PathTable = Map<string, Map<string, Route>>

/** Routes by path, then by method; literal paths before those with placeholders, so that `/x/query` wins over `/x/{id}`. */
function tableOf(routes: readonly Route[]): [string, Map<string, Route>][] {
  const table: PathTable = new Map()
  for (const one of routes)
    for (const path of [one.path, ...(one.aliases ?? [])]) {
      const methods = table.get(path) ?? new Map<string, Route>()
      const other = methods.get(one.method)
      if (other !== undefined) throw new Error(`${one.method} ${path} is declared by ${other.name} and ${one.name}`)
      methods.set(one.method, one)
      table.set(path, methods)
    }
  // Paths that begin with any word, the links that SDKs print, come last: no name of an entity hides an operation.
  const rank = (path: string) => (path.startsWith('/{') ? 3 : path.includes('*}') ? 2 : path.includes('{') ? 1 : 0)
  return [...table].sort(([a], [b]) => rank(a) - rank(b))
}

const expressPath = (path: string) => path.replaceAll(/\{(\w+)\*\}/g, '*$1').replaceAll(/\{(\w+)\}/g, ':$1')

function paramsOf(request: Request): Record<string, string> {
  const params: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.params))
    params[name] = Array.isArray(value) ? value.join('/') : (value as string)
  return params
}

type Headers = ReturnType<typeof securityHeaders>

/** State that the handlers of the app share. */
type AppState = {
  deps: AppDeps
  serving: ServeDeps
  checkHost: HostCheck
  cors: ReturnType<typeof createCors>
  security: Headers
  /** The port of OTLP over HTTP, whose requests come here too, is no address of a browser. */
  securityOfOthers: Headers
  ownPort: number
  exchanges: WeakMap<IncomingMessage, Exchange>
  /** Requests whose clients wait until they are told to send the body. */
  waiting: WeakSet<IncomingMessage>
  /** Bytes of a refused body that are read. */
  discardBytes: number
  viaOf: ReturnType<typeof createVia>
}

export function createApp(deps: AppDeps): HttpServer {
  const { config, metrics } = deps
  const routes: Route[] = [...deps.routes]
  routes.push(...ownRoutes(() => routes, metrics, deps.version))
  const isSecure = deps.tls !== undefined || config.publicUrl.startsWith('https:')
  const app = bareExpress(config)
  const state: AppState = {
    deps,
    serving: servingOf(deps),
    checkHost: createHostCheck(config),
    cors: createCors(config.corsOrigins),
    security: securityHeaders(isSecure),
    securityOfOthers: securityHeaders(false),
    ownPort: 0,
    exchanges: new WeakMap(),
    waiting: new WeakSet(),
    discardBytes: 2 * config.maxBodyBytes,
    viaOf: createVia(app, config),
  }
  metrics.bodies(state.serving.budget.heldBytes)
  const router = routerOf(state, routes)
  app.use(beginningOf(state), router)
  app.use('/traces', router)
  app.use(notFoundOf(state), brokenOf(state))
  const server = listenerOf(state, app, isSecure)
  return {
    server,
    routes,
    shared: { ...state.serving, checkHost: state.checkHost, serving: state.serving },
    listen: () => listenOn(server, config.port, config.host),
    close: (limitMs) => closeHttpServer(server, limitMs),
  }
}

function bareExpress({ trustProxy }: HttpConfig): Express {
  const app = express()
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing')
  app.set('query parser', false)
  app.set('trust proxy', trustProxy.length === 0 ? false : [...trustProxy])
  return app
}

function servingOf({ config, keys, log, sessions, threads, ...deps }: AppDeps): ServeDeps {
  return {
    connections: createConnections({
      most: config.maxConnections,
      onFull: () => log.warn({ connections: config.maxConnections }, 'there is no room for more connections'),
    }),
    authenticate: createAuthenticate(keys, config.otelVendorNamespaces, sessions),
    accounts: deps.accounts,
    readAudit: deps.readAudit,
    cutoffsOf: deps.cutoffsOf,
    findKey: (id) => keys.findId(id),
    isHeld: (holder) => isStillHeld(holder, keys),
    budget: createByteBudget(config.maxInflightBytes, config.maxBodyBytes),
    bodyTurns: loopTurns,
    pool: createBufferPool({ isShared: true }),
    maxBodyBytes: config.maxBodyBytes,
    maxFileBytes: config.maxFileBytes,
    maxJsonDepth: config.maxJsonDepth,
    requestTimeoutMs: config.requestTimeoutMs,
    ...(threads && { threads }),
  }
}

const exchangeOf = ({ exchanges }: AppState, request: IncomingMessage): Exchange => exchanges.get(request) as Exchange

function fail({ deps, discardBytes }: AppState, exchange: Exchange, error: unknown): void {
  const { log, metrics } = deps
  writeError(exchange, error, { log, refused: metrics.refused, discardBytes, discardMs }).catch((broken: unknown) => {
    log.error({ request: exchange.requestId, error: String(broken) }, 'answer failed')
    exchange.response.destroy()
  })
}

/** Holds for every request before a route is found. */
function beginningOf(state: AppState): RequestHandler {
  const { deps, exchanges, waiting, checkHost, cors, security, securityOfOthers } = state
  const { log, metrics, isShuttingDown } = deps
  const exchangeDeps = { log, metrics: metrics.http }
  return (request, response, next) => {
    const exchange = beginExchange(request, response, waiting.has(request), exchangeDeps)
    exchanges.set(request, exchange)
    for (const [name, value] of request.socket.localPort === state.ownPort ? security : securityOfOthers)
      response.setHeader(name, value)
    const { origin, host } = request.headers
    if (host === undefined && request.httpVersion !== '1.0') return fail(state, exchange, fault(400, 'No Host header'))
    const refused = checkHost(host, origin)
    if (refused !== undefined) return fail(state, exchange, refused)
    const preflight = cors.preflight(request.method, request.headers)
    if (preflight !== undefined) {
      exchange.routeName = 'preflight'
      response.writeHead(204, preflight).end()
      return
    }
    for (const [name, value] of Object.entries(cors.headers(origin))) response.setHeader(name, value)
    if (isShuttingDown()) response.setHeader('Connection', 'close')
    next()
  }
}

function routerOf(state: AppState, routes: readonly Route[]): Router {
  const router = express.Router({ caseSensitive: true })
  for (const [path, methods] of tableOf(routes)) router.all(expressPath(path), dispatchOf(state, methods))
  return router
}

/** Runs the route that a path has for the method of a request. */
function dispatchOf(state: AppState, methods: ReadonlyMap<string, Route>): RequestHandler {
  const { deps, serving, discardBytes, viaOf } = state
  const { isShuttingDown, refusals } = deps
  const allow = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  return (request) => {
    const exchange = exchangeOf(state, request)
    const found = methods.get(request.method === 'HEAD' ? 'GET' : request.method)
    if (found === undefined)
      return fail(state, exchange, new Fault(405, { detail: 'Method Not Allowed' }, { Allow: allow }))
    exchange.routeName = found.name
    exchange.faultAs = found.faultAs
    exchange.via = () => viaOf(request)
    if (isShuttingDown() && !answersAlways.has(found.name))
      return fail(state, exchange, retryLater(503, 'Server is shutting down'))
    // A peer on an IPv4 address shows as an IPv6 one on a socket that serves both.
    const clientIp = () => (request.ip ?? '').replace(/^::ffff:(?=\d+\.)/, '')
    serveRoute(found, exchange, paramsOf(request), clientIp, serving).then(
      () => discardRest(request, discardBytes, discardMs),
      (error: unknown) => {
        refusals?.onFault(error, askerOf(exchange, clientIp))
        fail(state, exchange, error)
      },
    )
  }
}

function notFoundOf(state: AppState): RequestHandler {
  const { deps, discardBytes, viaOf } = state
  return (request) => {
    const exchange = exchangeOf(state, request)
    const page = deps.notFoundPage?.(request, () => viaOf(request))
    if (page === undefined) return fail(state, exchange, new Fault(404, { detail: 'Not Found' }))
    discardRest(request, discardBytes, discardMs)
    writeReply(exchange, page).catch((error: unknown) => fail(state, exchange, error))
  }
}

/** Express takes a function of four arguments for an error handler. */
const brokenOf =
  (state: AppState): ErrorRequestHandler =>
  (error, request, _response, _next) =>
    fail(state, exchangeOf(state, request), error instanceof URIError ? fault(400, 'Malformed path') : error)

/** The server of the main port, which does not listen yet. */
function listenerOf(state: AppState, app: Express, isSecure: boolean): Server {
  const { deps, serving, waiting } = state
  const server = createHttpServer(deps.tls, serving.connections, undefined, { isSecure })
  server.on('listening', () => {
    state.ownPort = (server.address() as AddressInfo).port
  })
  // One of each connection in turn: a pipeline of a thousand requests holds up nobody but itself.
  const beginInTurn: RequestListener = (request, response) =>
    loopTurns(request.socket, () => {
      // Whoever went away before the turn came reads no answer.
      if (!request.destroyed) app(request, response)
    })
  server.on('request', beginInTurn)
  server.on('checkContinue', (request, response) => {
    waiting.add(request)
    beginInTurn(request, response)
  })
  return server
}
