// Opens what a server process stands on, in order: the data folder, the directory of keys, the store, the log, the clock.
import { createClock } from '../core/clock/clock.ts'
import { createCutoffsOf, hiddenAfterMs } from '../core/directory/retention.ts'
import { statusOf } from '../core/http/errors.ts'
import { observeLog, withAppendMetrics } from '../core/log/metrics.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Metrics } from '../core/process/metrics.ts'
import type { Services } from '../core/process/services.ts'
import { followClock } from '../core/store/follow-clock.ts'
import { createStoreMetrics } from '../core/store/metrics.ts'
import { withReadLog } from '../core/store/read-log.ts'
import { createReadTimes } from '../core/store/read-times.ts'
import { openProviders } from '../inference/providers.ts'
import { refuseUnfinishedDatabase } from '../operations/backup/unfinished.ts'
import { keepWordIndex } from '../operations/word-index.ts'
import { watchApplied } from '../worker/applied/watch.ts'
import { serverAudit } from './audit.ts'
import { openBlobs } from './blobs.ts'
import type { Config } from './config.ts'
import { takeFolder } from './data-folder.ts'
import {
  hasEmbeddedStore,
  hasSharedLog,
  matchEngines,
  openEdgeNumber,
  openLog,
  openProgress,
  openStore,
} from './drivers.ts'
import { openKeysWith } from './keys.ts'
import { does, type ServerRole } from './roles.ts'
import { retentionsOf } from './shared-rules.ts'
import { tlsOf } from './tls-files.ts'

/** A server process, before anything of it is open. */
export type ServerProcess = {
  config: Config
  role: ServerRole
  version: string
  logger: Logger
  metrics: Metrics
  services: Services
  /** The clock of rates and quotas. */
  now(): number
  isShuttingDown(): boolean
}

export type OpenAccess = Awaited<ReturnType<typeof openAccess>>

/** The data folder, and what operators have set in it: keys, roles, retention, certificate, providers. */
export async function openAccess({ config, logger, services }: ServerProcess) {
  const lock = await takeFolder(config, logger, services)
  /** It goes through the data folder until the log is open. */
  const audit = serverAudit(config, logger)
  const { keys, directory } = await services.start({
    name: 'directory',
    start: () => openKeysWith(config, logger, audit),
    stop: (opened) => opened.close(),
  })
  const tls = await services.start({
    name: 'certificate',
    start: () => tlsOf(config, logger),
    stop: (files) => files.close(),
    stopMs: 1_000,
  })
  const providers = openProviders({
    file: config.providersFile,
    onBroken: (reason) => logger.error({ reason }, 'the providers file cannot be used; the one before stays'),
    onMended: () => logger.info('the providers file can be used again'),
  })
  const retention = retentionsOf(directory, config)
  return { lock, audit, keys, directory, tls, providers, retention, cutoffsOf: createCutoffsOf(retention) }
}

export type Engines = Awaited<ReturnType<typeof openEngines>>

/** The store and the log, compared with each other, and what tells how far one has come in the other. */
export async function openEngines(server: ServerProcess, access: OpenAccess) {
  const { config, role, logger, metrics, services } = server
  const { registry } = metrics
  const times = createReadTimes()
  // First, and last to go: nothing that is closed before it may need it, and the embedded engine has a lock of its own,
  // which builds respect that know nothing of ours.
  const store = await services.start({
    name: 'store',
    start: async () =>
      withReadLog(await openStore(config, logger, createStoreMetrics(registry)), { logger, registry, times }),
    stop: (opened) => opened.close(),
    stopMs: 60_000,
  })
  const edge = await services.start({
    name: 'edge number',
    start: () => openEdgeNumber(config, logger),
    stop: (opened) => opened.close(),
  })
  const log = await services.start({
    name: 'log',
    async start() {
      const { lock, retention } = access
      const opened = await openLog(config, role, logger, { lock, hiddenAfterMs: () => hiddenAfterMs(retention) })
      return withAppendMetrics(opened, registry, statusOf)
    },
    stop: (opened) => opened.close(),
    stopMs: 30_000,
  })
  observeLog(registry, log, config.maxUnappliedBytes)
  if (!hasEmbeddedStore(config)) await refuseUnfinishedDatabase(store, config.clickhouseDatabase)
  await store.migrate()
  const matched = await matchEngines({ log, store }, config, logger, does(role, 'apply'))
  await keepWordIndex(store, config.wordIndex)

  const clock = createClock(edge.number, log.lastClock())
  await services.start({
    name: 'clock',
    start: () =>
      hasSharedLog(config) && !hasEmbeddedStore(config) ? followClock({ store, clock, logger, registry }) : undefined,
    stop: (following) => following.stop(),
    stopMs: 1_000,
  })
  const blobs = await openBlobs(config, role, logger)
  const progress = openProgress(config, log)
  progress.holdBack(matched.behind)
  const applied = await services.start({
    name: 'applied positions',
    start: () =>
      watchApplied({
        log,
        store,
        progress,
        known: matched.applied,
        applies: does(role, 'apply'),
        // An edge goes on without the tables.
        looks: role !== 'ingest' && (hasSharedLog(config) || !hasEmbeddedStore(config)),
        onError: (error) => logger.warn({ error: error.message }, 'log and tables were not compared'),
      }),
    stop: (watch) => watch.stop(),
  })
  return { store, times, edge, log, clock, blobs, progress, applied }
}
