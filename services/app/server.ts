// One server process, whatever its role: starts its services in order, redoes what was unapplied, listens, and ends in order.
import { expiredKeyEvents } from '../core/directory/audited.ts'
import { heldOf } from '../core/directory/holds.ts'
import { removalsOf } from '../core/directory/removed-projects.ts'
import {
  countedAgain,
  fileCutoffs,
  logsRemovedBeforeUs,
  mostLogsDays,
  retentionOf,
} from '../core/directory/retention.ts'
import { createApp, type HttpServer } from '../core/http/app.ts'
import { createInvoke, type Invoke } from '../core/http/invoke.ts'
import type { Refusals } from '../core/http/refusals.ts'
import type { Route } from '../core/http/route.ts'
import type { Log } from '../core/log/log.ts'
import type { LogOutput } from '../core/process/logger.ts'
import { createMetrics } from '../core/process/metrics.ts'
import { createServices } from '../core/process/services.ts'
import { createShutdown, type Shutdown } from '../core/process/shutdown.ts'
import { packageVersion } from '../core/process/version.ts'
import type { Store } from '../core/store/store.ts'
import { type EvaluationJobs, startEvaluationJobs } from '../evaluation/evaluate-model/evaluation-jobs.ts'
import { createOtelGrpcMethods } from '../ingest/otel/grpc.ts'
import { queuedJobsQuery } from '../query/evaluation-jobs/queued.ts'
import { createNotFoundPage } from '../web/routes.ts'
import { createWorkerMetrics } from '../worker/metrics.ts'
import type { Worker } from '../worker/run.ts'
import { readAuditOf } from './audit.ts'
import type { Config } from './config.ts'
import { checkEngines } from './drivers.ts'
import { type Engines, type OpenAccess, openAccess, openEngines, type ServerProcess } from './engines.ts'
import { type OtlpPorts, openOtlpPorts } from './otlp-ports.ts'
import { does, type ServerRole } from './roles.ts'
import { routesOf } from './routes.ts'
import { openAuditing, openSecrecy, openServing, type Secrecy, type Serving } from './serving.ts'
import { type Applying, startApplying } from './worker-role.ts'

export type Callhouse = {
  /** Address that it listens on, `http://127.0.0.1:6400`. */
  url: string
  /** Text of the first admin key, when this start made it. */
  firstKey: string | undefined
  log: Log
  store: Store
  /** Only where the log is applied. */
  worker: Worker | undefined
  http: HttpServer
  /** Runs routes without a socket. */
  invoke: Invoke
  /** The standard ports of OTLP; undefined where no writes are accepted. */
  otlp: OtlpPorts | undefined
  shutdown: Shutdown
}

/** Parts that start last, for those that started before them: undefined until then. */
type LateParts = { invoke?: Invoke; jobs?: EvaluationJobs | undefined; url?: string }

/** Starts a role; `now` counts its rates and quotas. Throws a readable message when engines or settings do not fit it. */
export async function startCallhouse(
  config: Config,
  output: LogOutput,
  role: ServerRole = 'serve',
  now: () => number = Date.now,
): Promise<Callhouse> {
  const { log: logger } = output
  checkEngines(config, role)
  const services = createServices(logger)
  const shutdown = createShutdown({
    log: logger,
    steps: () => [...services.stops(), { name: 'output', limitMs: 1_000, close: () => output.flush() }],
  })
  const { isShuttingDown } = shutdown
  const metrics = createMetrics()
  const server = { config, role, version: await packageVersion(), logger, metrics, services, now, isShuttingDown }
  const late: LateParts = {}
  let unshown = (): void => undefined
  try {
    const access = await openAccess(server)
    const { keys } = access
    const first = await keys.firstKey(config.host)
    if (!first.ok) throw new Error(first.line)
    // A start that fails never shows the key; the next one makes another.
    unshown = () => void (first.id && keys.revoke(first.id).catch(() => undefined))
    const engines = await openEngines(server, access)
    const secrecy = openSecrecy(server, access)
    const applying = does(role, 'apply') ? await startWorkerRole(server, access, engines, secrecy, late) : undefined
    const refusals = await openAuditing(server, access, engines)
    const serving = await openServing(server, access, engines, secrecy, applying)
    const { served: routes, all } = routesOf(role, serving.routeDeps)
    // Jobs and commands work through the routes that others serve, too.
    const every = does(role, 'apply') && !does(role, 'query') ? routesOf('serve', serving.routeDeps).all : all
    const invoke = createInvoke({ routes: () => every, config, threads: serving.threads })
    late.invoke = invoke
    late.jobs = await startJobs(server, engines, serving, invoke)
    const http = await startHttp(server, access, serving, refusals, routes)
    const fail = (error: Error) => {
      logger.fatal({ error: error.message }, 'worker stopped')
      void shutdown.run(error.message).then(() => {
        process.exitCode = 1
      })
    }
    applying?.failed.catch(fail)
    engines.applied.failed.catch(fail)
    const port = await http.listen()
    const otlp = await startOtlp(server, access, http, refusals, routes)
    const url = `http${access.tls ? 's' : ''}://${config.host}:${port}`
    late.url = url
    const { log, store } = engines
    return { url, firstKey: first.text, log, store, worker: applying?.worker, http, invoke, otlp, shutdown }
  } catch (error) {
    unshown()
    await services.stopAll()
    throw error
  }
}

/** Starts applying the log, by the rules that the directory holds. */
function startWorkerRole(
  { config, logger, metrics, services }: ServerProcess,
  { audit, directory, retention, cutoffsOf }: OpenAccess,
  engines: Engines,
  { maskings }: Secrecy,
  late: LateParts,
): Promise<Applying> {
  return startApplying({
    ...engines,
    config,
    maskings,
    audit,
    logger,
    metrics: createWorkerMetrics(metrics.registry),
    services,
    endedKeys: (fromMs, toMs) => expiredKeyEvents(directory.state(), fromMs, toMs),
    countedAgain: () => countedAgain(retention),
    removedProjects: () => removalsOf(directory.state()),
    // A month that goes as a whole takes what is held with it.
    mostLogsDays: () => (directory.state().holds.size > 0 ? Number.POSITIVE_INFINITY : mostLogsDays(retention)),
    heldOf: (projectId) => heldOf(directory.state(), projectId, Date.now()),
    purgeRules: {
      cutoffsOf,
      keepsFeedback: (projectId) => retentionOf(retention, projectId).feedback === 'keep',
      fileCutoffs: (nowMs) => fileCutoffs(retention, nowMs),
      logsBeforeUs: (projectId) => logsRemovedBeforeUs(retention, projectId),
    },
    invoke: () => late.invoke,
    address: () => late.url,
    onApplied: (topic) => topic === 'evaluation_jobs' && late.jobs?.touch(),
  })
}

/** Runs evaluations that were asked for, where the log is applied. */
function startJobs(
  { config, role, logger, services }: ServerProcess,
  engines: Engines,
  serving: Serving,
  invoke: Invoke,
) {
  const { log, store } = serving.limits
  return services.start({
    name: 'evaluations',
    start: () =>
      does(role, 'apply') && config.evaluateDispatch
        ? startEvaluationJobs({
            queued: (signal) => store.rows(queuedJobsQuery, { pool: 'background', signal }),
            log,
            clock: engines.clock,
            logger,
            invoke,
          })
        : undefined,
    stop: (jobs) => jobs.stop(),
    stopMs: 10_000,
  })
}

/** The main port, which does not listen yet. */
function startHttp(
  { config, role, version, logger, metrics, services, isShuttingDown }: ServerProcess,
  { audit, keys, cutoffsOf, tls }: OpenAccess,
  { limits, sessions, threads, assets }: Serving,
  refusals: Refusals,
  routes: readonly Route[],
): Promise<HttpServer> {
  return services.start({
    name: 'http',
    start: () =>
      createApp({
        accounts: limits.accounts,
        readAudit: readAuditOf(audit, config, logger),
        refusals,
        cutoffsOf,
        routes,
        config,
        keys,
        sessions,
        log: logger,
        metrics,
        version,
        isShuttingDown,
        threads,
        tls,
        ...(assets && does(role, 'query') && { notFoundPage: createNotFoundPage(assets) }),
      }),
    async stop(http) {
      if (!(await http.close(30_000))) throw new Error('requests were cut off')
    },
    stopMs: 35_000,
  })
}

/** The standard ports of OTLP, where writes are accepted. */
function startOtlp(
  { config, role, logger, metrics, services, isShuttingDown }: ServerProcess,
  { tls }: OpenAccess,
  http: HttpServer,
  refusals: Refusals,
  routes: readonly Route[],
): Promise<OtlpPorts | undefined> {
  return services.start({
    name: 'otlp',
    start: () =>
      does(role, 'ingest')
        ? openOtlpPorts({
            config,
            main: http.server,
            logger,
            log: logger,
            methods: createOtelGrpcMethods({ routes, isShuttingDown }),
            isShuttingDown,
            metrics: metrics.grpc,
            ...http.shared,
            refusals,
            maxBodyBytes: config.maxBodyBytes,
            requestTimeoutMs: config.requestTimeoutMs,
            tls,
          })
        : undefined,
    async stop(otlp) {
      if (!(await otlp.close(30_000))) throw new Error('calls were cut off')
    },
    stopMs: 35_000,
  })
}
