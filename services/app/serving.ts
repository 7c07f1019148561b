// Opens what the routes of a server process work through: limits, ports, request threads, and what the process says of itself.
import type { Registry } from 'prom-client'
import { createKeyedLock } from '../core/concurrency/keyed-lock.ts'
import { createSharedSlots } from '../core/concurrency/slots.ts'
import { observeKeys } from '../core/http/key-metrics.ts'
import { createRefusals } from '../core/http/refusals.ts'
import { createSessions } from '../core/http/session.ts'
import { createFreshness } from '../core/log/freshness.ts'
import { openMasterKey } from '../core/process/master-key.ts'
import { observeProcess } from '../core/process/process-metrics.ts'
import { rowsAtOneTime } from '../evaluation/evaluate-model/evaluation-jobs.ts'
import { callSplitOf } from '../events/calls-writer.ts'
import { createSlots } from '../inference/slots.ts'
import { ageOfPrices, observePrices, staleAfterDays, stalePricesText } from '../query/costs/price-age.ts'
import { openGeoRanges } from '../query/service/geolocate.ts'
import { builtPage, openAssets } from '../web/assets.ts'
import { createTableDeadLetters } from '../worker/dead-letters/dead-letters-table.ts'
import { openAudit } from './audit.ts'
import { replayDeadLetters } from './control/dead-letters.ts'
import { hasSharedLog } from './drivers.ts'
import type { Engines, OpenAccess, ServerProcess } from './engines.ts'
import { healthOf } from './health.ts'
import { keptTopicsOf } from './kept-topics.ts'
import { keepKeyUses } from './keys.ts'
import { openLimits } from './limits.ts'
import { itemCounters, maskingsOf, masksOf } from './masks.ts'
import { startRequestThreads } from './request-threads.ts'
import type { RouteDeps } from './routes.ts'
import { ownSecrets, refuseUnopened } from './secrets.ts'
import { createStatus } from './server-status.ts'
import { sharedRulesOf } from './shared-rules.ts'
import { shownSettings } from './shown-settings.ts'
import type { Applying } from './worker-role.ts'

export type Secrecy = ReturnType<typeof openSecrecy>

/** Secrets and masking rules of projects. @throws Error where the secrets cannot be opened */
export function openSecrecy({ config, role, logger, metrics }: ServerProcess, { directory }: OpenAccess) {
  const masterKey = openMasterKey(config, { mayMake: !hasSharedLog(config) })
  const masks = masksOf(directory)
  const secrets = ownSecrets(() => directory.state().secrets, { config, masterKey })
  if (role !== 'ingest') refuseUnopened(directory, { config, masterKey })
  const counters = itemCounters(metrics.registry)
  const maskings = maskingsOf(masks, config, masterKey, logger, counters.onMasked)
  return { masterKey, masks, secrets, counters, maskings }
}

/** The audit log takes over what was recorded before the log was open; refusals are recorded from now on. */
export async function openAuditing(
  { config, role, version, logger, metrics, services }: ServerProcess,
  access: OpenAccess,
  engines: Engines,
) {
  const { audit } = access
  const { log, store } = engines
  await services.start({
    name: 'audit',
    start: () => openAudit(audit, { config, log, store, role, version, logger }),
    stop: (opened) => opened.close(),
    stopMs: 10_000,
  })
  return services.start({
    name: 'refusals',
    start: () =>
      createRefusals(audit, {
        onRefused: metrics.notAllowed,
        onLost: (error) => logger.warn({ error: error.message }, 'refusals were not recorded'),
      }),
    stop: (refusals) => refusals.close(),
    stopMs: 10_000,
  })
}

function watchPrices(registry: Registry, logger: ServerProcess['logger']): void {
  observePrices(registry)
  const age = ageOfPrices(Date.now())
  if (age.days > staleAfterDays) logger.warn(age, stalePricesText(age))
}

/** Describes the process to probes and in its metrics. */
async function describeProcess(
  server: ServerProcess,
  access: OpenAccess,
  engines: Engines,
  applying: Applying | undefined,
) {
  const { config, role, version, logger, metrics, services, isShuttingDown } = server
  const { keys, providers } = access
  const topics = await keptTopicsOf({ config, logger, services }, role, access.retention)
  const health = () => healthOf({ ...engines, keys, providers, applying, topics })
  // An edge prices nothing.
  if (role !== 'ingest') watchPrices(metrics.registry, logger)
  observeKeys(metrics.registry, keys)
  observeProcess(metrics.registry, { version, role, dataDir: config.dataDir }, health)
  return {
    version,
    config,
    geo: openGeoRanges(config.geoRanges),
    isShuttingDown,
    // An edge takes writes as long as the log does.
    needs: role === 'ingest' ? (['log'] as const) : (['log', 'storage'] as const),
    health,
  }
}

/** Limits of keys and projects, and the ports that routes work through, in this thread or in another. */
async function openPorts(server: ServerProcess, access: OpenAccess, engines: Engines, { masks, counters }: Secrecy) {
  const { config, role, logger, metrics, services, now } = server
  const { registry } = metrics
  const { directory, audit, keys } = access
  const { log, store, clock, blobs, progress } = engines
  await services.start({
    name: 'uses of keys',
    start: () => keepKeyUses(keys.uses, logger),
    stop: (writing) => writing.close(),
  })
  const limits = await services.start({
    name: 'usage',
    start: () => openLimits({ directory, log, store, clock, config, logger, registry, audit, now }),
    stop: (opened) => opened.close(),
    stopMs: 10_000,
  })
  const ports = {
    log: limits.log,
    store: limits.store,
    blobs,
    freshness: createFreshness({ log, progress, boundMs: config.freshnessMs, onWait: metrics.waited }),
    logger,
    lock: createKeyedLock(),
    slots: createSlots(
      config.inferenceConcurrency,
      (projectId) => limits.settings.ofProject(projectId)?.inference_concurrency,
    ),
    rowSlots: createSharedSlots(rowsAtOneTime),
    rules: sharedRulesOf(directory, masks),
    audit,
    ...counters,
  }
  const split = callSplitOf(log)
  const threads = await services.start({
    name: 'threads',
    start: () => startRequestThreads({ config, role, split, clock }, ports, registry),
    stop: (started) => started.close(),
  })
  return { limits, ports, split, threads }
}

export type Serving = Awaited<ReturnType<typeof openServing>>

/** Everything that the routes of this process need. */
export async function openServing(
  server: ServerProcess,
  access: OpenAccess,
  engines: Engines,
  secrecy: Secrecy,
  applying: Applying | undefined,
) {
  const { config, role, version, metrics } = server
  const { keys, directory, audit, providers, retention } = access
  const { log, store, clock, times } = engines
  const { masterKey, secrets, maskings } = secrecy
  const service = await describeProcess(server, access, engines, applying)
  const { limits, ports, split, threads } = await openPorts(server, access, engines, secrecy)
  const sessions = createSessions({ keys, masterKey, directory, config })
  const assets = config.page ? openAssets(builtPage) : undefined
  const deadLetters = applying?.deadLetters ?? createTableDeadLetters(store)
  const routeDeps: RouteDeps = {
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
        show: (id) => deadLetters.show(id),
        replay: (id) => replayDeadLetters({ deadLetters, log }, id),
      },
    },
    threads,
    ...(assets && { web: { assets, sessions, keys, audit, masterKey, server: { version, config } } }),
  }
  return { limits, threads, sessions, assets, routeDeps }
}
