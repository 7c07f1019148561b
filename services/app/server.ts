// One server process, whatever its role: opens the engines, redoes what was unapplied, listens, and ends in order.

import type { Registry } from 'prom-client'
import { createClock } from '../core/clock/clock.ts'
import { followClock } from '../core/clock/follow.ts'
import { createKeyedLock } from '../core/concurrency/keyed-lock.ts'
import { createSharedSlots } from '../core/concurrency/slots.ts'
import { expiredKeyEvents } from '../core/directory/audited.ts'
import { heldOf } from '../core/directory/holds.ts'
import { removalsOf } from '../core/directory/removed-projects.ts'
import {
  countedAgain,
  createCutoffsOf,
  fileCutoffs,
  hiddenAfterMs,
  logsRemovedBeforeUs,
  mostLogsDays,
  retentionOf,
} from '../core/directory/retention.ts'
import { createApp, type HttpServer } from '../core/http/app.ts'
import { statusOf } from '../core/http/errors.ts'
import { createInvoke, type Invoke } from '../core/http/invoke.ts'
import { observeKeys } from '../core/http/key-metrics.ts'
import { createRefusals } from '../core/http/refusals.ts'
import { createSessions } from '../core/http/session.ts'
import { createFreshness } from '../core/log/freshness.ts'
import type { Log } from '../core/log/log.ts'
import { observeLog, withAppendMetrics } from '../core/log/metrics.ts'
import type { Logger, LogOutput } from '../core/process/logger.ts'
import { openMasterKey } from '../core/process/master-key.ts'
import { createMetrics } from '../core/process/metrics.ts'
import { observeProcess } from '../core/process/process-metrics.ts'
import { createShutdown, type Shutdown, type ShutdownStep } from '../core/process/shutdown.ts'
import { packageVersion } from '../core/process/version.ts'
import { createStoreMetrics } from '../core/store/metrics.ts'
import { withReadLog } from '../core/store/read-log.ts'
import { createReadTimes } from '../core/store/read-times.ts'
import type { Store } from '../core/store/store.ts'
import {
  type EvaluationJobs,
  rowsAtOneTime,
  startEvaluationJobs,
} from '../evaluation/evaluate-model/evaluation-jobs.ts'
import { callSplitOf } from '../events/calls-writer.ts'
import { openProviders } from '../inference/providers.ts'
import { createSlots } from '../inference/slots.ts'
import { createOtelGrpcMethods } from '../ingest/otel/grpc.ts'
import { refuseUnfinishedDatabase } from '../operations/backup/unfinished.ts'
import { keepWordIndex } from '../operations/word-index.ts'
import { ageOfPrices, observePrices, staleAfterDays, stalePricesText } from '../query/costs/price-age.ts'
import { queuedJobsQuery } from '../query/evaluation-jobs/queued.ts'
import { openGeoRanges } from '../query/service/geolocate.ts'
import { builtPage, openAssets } from '../web/assets.ts'
import { createNotFoundPage } from '../web/routes.ts'
import { watchApplied } from '../worker/applied/watch.ts'
import { createTableDeadLetters } from '../worker/dead-letters/dead-letters-table.ts'
import { createWorkerMetrics } from '../worker/metrics.ts'
import type { Worker } from '../worker/run.ts'
import { openAudit, readAuditOf, serverAudit } from './audit.ts'
import { openBlobs } from './blobs.ts'
import type { Config } from './config.ts'
import { replayDeadLetters } from './control/dead-letters.ts'
import { takeFolder } from './data-folder.ts'
import {
  checkEngines,
  hasEmbeddedStore,
  hasSharedLog,
  matchEngines,
  openEdgeNumber,
  openLog,
  openProgress,
  openStore,
} from './drivers.ts'
import { healthOf } from './health.ts'
import { keptTopicsOf } from './kept-topics.ts'
import { keepKeyUses, openKeysWith } from './keys.ts'
import { openLimits } from './limits.ts'
import { itemCounters, maskingsOf, masksOf } from './masks.ts'
import { type OtlpPorts, openOtlpPorts } from './otlp-ports.ts'
import { startRequestThreads } from './request-threads.ts'
import { does, type ServerRole } from './roles.ts'
import { routesOf } from './routes.ts'
import { ownSecrets, refuseUnopened } from './secrets.ts'
import { createStatus } from './server-status.ts'
import { retentionsOf, sharedRulesOf } from './shared-rules.ts'
import { shownSettings } from './shown-settings.ts'
import { tlsOf } from './tls-files.ts'
import { startApplying } from './worker-role.ts'

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

function watchPrices(registry: Registry, logger: Logger): void {
  observePrices(registry)
  const age = ageOfPrices(Date.now())
  if (age.days > staleAfterDays) logger.warn(age, stalePricesText(age))
}

/** Starts a role; `now` counts its rates and quotas. Throws a readable message when engines or settings do not fit it. */
export async function startCallhouse(
  config: Config,
  output: LogOutput,
  role: ServerRole = 'serve',
  now: () => number = Date.now,
): Promise<Callhouse> {
  const { log: logger } = output
  const { dataDir } = config
  checkEngines(config, role)
  const version = await packageVersion()
  const metrics = createMetrics()
  /** Opened parts, in the order of opening: the shutdown, or a start that fails, closes them the other way round. */
  const open: ShutdownStep[] = []
  let unshown = (): void => undefined
  try {
    const lock = await takeFolder(config, logger, open)
    const audit = serverAudit(config, logger)
    const { keys, directory, close: closeKeys } = await openKeysWith(config, logger, audit)
    open.push({ name: 'directory', limitMs: 5_000, close: closeKeys })
    const tls = tlsOf(config, logger)
    if (tls) open.push({ name: 'certificate', limitMs: 1_000, close: async () => tls.close() })
    const providers = openProviders({
      file: config.providersFile,
      onBroken: (reason) => logger.error({ reason }, 'the providers file cannot be used; the one before stays'),
      onMended: () => logger.info('the providers file can be used again'),
    })
    const first = await keys.firstKey(config.host)
    if (!first.ok) throw new Error(first.line)
    // A start that fails never shows the key; the next one makes another.
    unshown = () => void (first.id && keys.revoke(first.id).catch(() => undefined))
    const { registry } = metrics
    // First, and last to go: nothing that is closed before it may need it, and the embedded engine has a lock of its own,
    // which builds respect that know nothing of ours.
    const times = createReadTimes()
    const opened = await openStore(config, logger, createStoreMetrics(registry))
    const store = withReadLog(opened, { logger, registry, times })
    open.push({ name: 'store', limitMs: 60_000, close: () => store.close() })
    const retention = retentionsOf(directory, config)
    const cutoffsOf = createCutoffsOf(retention)
    const edge = await openEdgeNumber(config, logger)
    open.push({ name: 'edge number', limitMs: 5_000, close: () => edge.close() })
    const log = withAppendMetrics(
      await openLog(config, role, logger, { lock, hiddenAfterMs: () => hiddenAfterMs(retention) }),
      registry,
      statusOf,
    )
    open.push({ name: 'log', limitMs: 30_000, close: () => log.close() })
    observeLog(registry, log, config.maxUnappliedBytes)
    if (!hasEmbeddedStore(config)) await refuseUnfinishedDatabase(store, config.clickhouseDatabase)
    await store.migrate()
    const matched = await matchEngines({ log, store }, config, logger, does(role, 'apply'))
    await keepWordIndex(store, config.wordIndex)

    const clock = createClock(edge.number, log.lastClock())
    if (hasSharedLog(config) && !hasEmbeddedStore(config)) {
      const following = await followClock({ store, clock, logger, registry: metrics.registry })
      open.push({ name: 'clock', limitMs: 1_000, close: () => following.stop() })
    }
    const blobs = await openBlobs(config, role, logger)
    const progress = openProgress(config, log)
    progress.holdBack(matched.behind)
    const engines = { log, store, blobs, clock, progress }
    const applied = await watchApplied({
      log,
      store,
      progress,
      known: matched.applied,
      applies: does(role, 'apply'),
      // An edge goes on without the tables.
      looks: role !== 'ingest' && (hasSharedLog(config) || !hasEmbeddedStore(config)),
      onError: (error) => logger.warn({ error: error.message }, 'log and tables were not compared'),
    })
    open.push({ name: 'applied positions', limitMs: 5_000, close: () => applied.stop() })
    const masterKey = openMasterKey(config, { mayMake: !hasSharedLog(config) })
    const masks = masksOf(directory)
    const secrets = ownSecrets(() => directory.state().secrets, { config, masterKey })
    if (role !== 'ingest') refuseUnopened(directory, { config, masterKey })
    const counters = itemCounters(registry)
    const maskings = maskingsOf(masks, config, masterKey, logger, counters.onMasked)
    let jobs: EvaluationJobs | undefined
    let invoke: Invoke | undefined
    let url: string | undefined
    const applying = does(role, 'apply')
      ? await startApplying({
          config,
          ...engines,
          maskings,
          audit,
          logger,
          metrics: createWorkerMetrics(registry),
          open,
          applied,
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
          invoke: () => invoke,
          address: () => url,
          onApplied: (topic) => topic === 'evaluation_jobs' && jobs?.touch(),
        })
      : undefined
    const worker = applying?.worker

    const auditing = await openAudit(audit, { config, log, store, role, version, logger })
    open.push({ name: 'audit', limitMs: 10_000, close: auditing.close })
    const refusals = createRefusals(audit, {
      onRefused: metrics.notAllowed,
      onLost: (error) => logger.warn({ error: error.message }, 'refusals were not recorded'),
    })
    open.push({ name: 'refusals', limitMs: 10_000, close: refusals.close })

    const freshness = createFreshness({ log, progress, boundMs: config.freshnessMs, onWait: metrics.waited })
    const keptTopics = keptTopicsOf({ config, logger, open }, role, retention)
    let shutdown: Shutdown | undefined
    const isShuttingDown = () => shutdown?.isShuttingDown() ?? false
    const service = {
      version,
      config,
      geo: openGeoRanges(config.geoRanges),
      isShuttingDown,
      // An edge takes writes as long as the log does.
      needs: role === 'ingest' ? (['log'] as const) : (['log', 'storage'] as const),
      health: () => healthOf({ log, store, edge, applied, keys, providers, applying, topics: keptTopics }),
    }
    // An edge prices nothing.
    if (role !== 'ingest') watchPrices(registry, logger)
    observeKeys(registry, keys)
    const writing = keepKeyUses(keys.uses, logger)
    open.push({ name: 'uses of keys', limitMs: 5_000, close: writing.close })
    observeProcess(registry, { version, role, dataDir }, service.health)
    const split = callSplitOf(log)
    const limits = await openLimits({ directory, log, store, clock, config, logger, registry, audit, now })
    open.push({ name: 'usage', limitMs: 10_000, close: limits.close })
    const slots = createSlots(
      config.inferenceConcurrency,
      (projectId) => limits.settings.ofProject(projectId)?.inference_concurrency,
    )
    const rowSlots = createSharedSlots(rowsAtOneTime)
    const ports = {
      log: limits.log,
      store: limits.store,
      blobs,
      freshness,
      logger,
      lock: createKeyedLock(),
      slots,
      rowSlots,
      rules: sharedRulesOf(directory, masks),
      audit,
      ...counters,
    }
    const sessions = createSessions({ keys, masterKey, directory, config })
    const assets = config.page ? openAssets(builtPage) : undefined
    const web = assets && { assets, sessions, keys, audit, masterKey, server: { version, config } }
    const threads = startRequestThreads({ config, role, split, clock }, ports, registry)
    open.push({ name: 'threads', limitMs: 5_000, close: threads.close })
    const deadLetters = applying?.deadLetters ?? createTableDeadLetters(store)
    const routeDeps = {
      ...ports,
      secrets,
      config,
      directory,
      keyUses: keys.uses,
      providers: providers.current,
      maskings,
      retention,
      holds: () => directory.state().holds,
      masterKey,
      split,
      clock,
      service,
      operator: {
        settings: () => shownSettings(config),
        status: createStatus({
          version,
          role,
          config,
          log,
          store,
          times,
          metrics,
          deadLetters,
          lags: applying?.lags,
          health: service.health,
        }),
        deadLetters: {
          list: () => deadLetters.list(),
          show: (id: string) => deadLetters.show(id),
          replay: (id: string) => replayDeadLetters({ deadLetters, log }, id),
        },
      },
      threads,
      ...(web && { web }),
    }
    const { served: routes, all } = routesOf(role, routeDeps)
    // Jobs and commands work through the routes that others serve, too.
    const every = does(role, 'apply') && !does(role, 'query') ? routesOf('serve', routeDeps).all : all
    invoke = createInvoke({ routes: () => every, config, threads })
    if (does(role, 'apply') && config.evaluateDispatch) {
      jobs = startEvaluationJobs({
        queued: (signal) => limits.store.rows(queuedJobsQuery, { pool: 'background', signal }),
        log: limits.log,
        clock,
        logger,
        invoke,
      })
      open.push({ name: 'evaluations', limitMs: 10_000, close: jobs.stop })
    }
    const page = assets && does(role, 'query') && { notFoundPage: createNotFoundPage(assets) }
    const http = createApp({
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
      ...page,
    })
    open.push({
      name: 'http',
      limitMs: 35_000,
      close: async () => {
        if (!(await http.close(30_000))) throw new Error('requests were cut off')
      },
    })
    let otlp: OtlpPorts | undefined
    open.push({
      name: 'otlp',
      limitMs: 35_000,
      close: async () => {
        if ((await otlp?.close(30_000)) === false) throw new Error('calls were cut off')
      },
    })
    const ending = createShutdown({
      log: logger,
      steps: [...open.toReversed(), { name: 'output', limitMs: 1_000, close: () => output.flush() }],
    })
    shutdown = ending
    const fail = (error: Error) => {
      logger.fatal({ error: error.message }, 'worker stopped')
      void ending.run(error.message).then(() => {
        process.exitCode = 1
      })
    }
    applying?.failed.catch(fail)
    applied.failed.catch(fail)
    const port = await http.listen()
    if (does(role, 'ingest')) {
      otlp = await openOtlpPorts({
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
    }
    url = `http${tls ? 's' : ''}://${config.host}:${port}`
    return { url, firstKey: first.text, log, store, worker, http, invoke, otlp, shutdown }
  } catch (error) {
    unshown()
    for (const { close } of open.toReversed()) await Promise.resolve(close()).catch(() => undefined)
    throw error
  }
}
