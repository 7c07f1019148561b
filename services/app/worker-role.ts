// The part of a process that applies the log to the store: worker, dead letters, commands, hourly housekeeping.
import { join } from 'node:path'
import { slotsOf } from '../content/hash-slots.ts'
import type { Maskings } from '../content/masking/maskings.ts'
import type { ProcessAudit } from '../core/audit/audit.ts'
import type { AuditEvent } from '../core/audit/chain.ts'
import type { StoredBlobs } from '../core/blobs/blobs.ts'
import type { Clock } from '../core/clock/clock.ts'
import type { Invoke } from '../core/http/invoke.ts'
import { createFreshness, latestOfLog, staleHeader } from '../core/log/freshness.ts'
import type { Log } from '../core/log/log.ts'
import type { Progress } from '../core/log/progress.ts'
import { listenForCommands } from '../core/process/control-socket.ts'
import type { Logger } from '../core/process/logger.ts'
import type { ShutdownStep } from '../core/process/shutdown.ts'
import { packageVersion } from '../core/process/version.ts'
import type { Store } from '../core/store/store.ts'
import { scheduleCleanup } from '../derived/cleanup-schedule.ts'
import { createJoiner } from '../derived/logs/joiner.ts'
import { createMerges } from '../derived/merges.ts'
import type { CountedAgain } from '../derived/rollups/rollups.ts'
import { createEventMapping } from '../ingest/otel/join.ts'
import { backupOf } from '../operations/backup/backup.ts'
import { takeErased } from '../operations/backup/erased.ts'
import { createRebuilds, type Rebuilds } from '../operations/rebuild/rebuild.ts'
import { createStateFile, createStateTable } from '../operations/rebuild/state.ts'
import { createTasks } from '../operations/tasks.ts'
import { loadDefaultPrices } from '../query/costs/default-prices.ts'
import { createCostExplainer } from '../query/costs/explain.ts'
import { createPrices } from '../query/costs/prices.ts'
import { dropOldAudit, recordEndedKeys, writeCheckpoint } from '../removal/audit-housekeeping.ts'
import { createErasing, type Erasing } from '../removal/erasures.ts'
import { dropOldLogs } from '../removal/log-retention.ts'
import { dropOldReceipts } from '../removal/old-receipts.ts'
import { isPurgeDue } from '../removal/purge.ts'
import type { AppliedWatch } from '../worker/applied/watch.ts'
import { lookupRows } from '../worker/calls/merge-fragments.ts'
import type { DeadLetters } from '../worker/dead-letters/dead-letters.ts'
import { openFileDeadLetters } from '../worker/dead-letters/dead-letters-file.ts'
import { createTableDeadLetters } from '../worker/dead-letters/dead-letters-table.ts'
import { Held } from '../worker/held.ts'
import type { WorkerMetrics } from '../worker/metrics.ts'
import { startWorker, type Worker } from '../worker/run.ts'
import { probeInChild } from '../worker/split/child-probe.ts'
import type { KeptRecords } from '../worker/split/control-insert.ts'
import { createInFlight, noInFlight } from '../worker/split/in-flight.ts'
import { createViews } from '../worker/views.ts'
import type { Config } from './config.ts'
import { auditCommands } from './control/audit.ts'
import { costCommands } from './control/costs.ts'
import { deadLetterCommands } from './control/dead-letters.ts'
import { erasureCommands } from './control/erasures.ts'
import { rebuildCommands } from './control/rebuild.ts'
import { routeCommands } from './control/routes.ts'
import { moveCommands } from './control/transfer.ts'
import { examineStore } from './doctor.ts'
import { hasEmbeddedStore, hasOwnEngine, hasSharedLog, openRecords, openStore, sharedServerOf } from './drivers.ts'
import { createRemovals, type RemovalRules } from './removals.ts'
import { repairing } from './repairing.ts'

const lookMs = 2_000
/** Views are looked for also when nothing comes; */
const viewsEveryMs = 10_000
/** with each batch where others can drop them, so rarely where this process alone has the tables. */
const ownViewsTrustMs = 2_000

type ApplyingDeps = RemovalRules & {
  config: Config
  log: Log
  store: Store
  blobs: StoredBlobs
  clock: Clock
  progress: Progress
  logger: Logger
  metrics: WorkerMetrics
  open: ShutdownStep[]
  maskings: Maskings
  audit: ProcessAudit
  /** The most days for which log records of some project are kept. */
  mostLogsDays(): number
  /** The time from which on minutes of statistics may be counted again. */
  countedAgain(): CountedAgain
  /** Removed projects, with the time of their removal. */
  removedProjects(): ReadonlyMap<string, number>
  /** Keys whose end came within a time, as audit events. */
  endedKeys(fromMs: number, toMs: number): AuditEvent[]
  /** Watches the applied positions. */
  applied: AppliedWatch
  /** Calls routes for commands; undefined while the server starts. */
  invoke(): Pick<Invoke, 'json'> | undefined
  /** Address that this process listens on; undefined while it starts. */
  address(): string | undefined
  /** Rows of a topic are in the tables. */
  onApplied?(topic: string): void
}

export type Applying = {
  worker: Worker
  deadLetters: DeadLetters
  /** Lag of rollups behind the rows. */
  lags: Worker['rollups']['lag']
  /** Records of broken parts that the log does not have any more; undefined when nothing is known to be missing. */
  missing(): string | undefined
  /** Rejects when the worker cannot go on and the process must end; never resolves. */
  failed: Promise<never>
}

/**
 * Starts the worker. A log of this process alone is redone first: what was accepted before is in the tables when this
 * resolves. Each piece that is opened adds its closing to `open`.
 */
export async function startApplying(deps: ApplyingDeps): Promise<Applying> {
  const { config, log, store, progress, logger, metrics, open, applied } = deps
  const { dataDir } = config
  const deadLetters = hasEmbeddedStore(config) ? await openFileDeadLetters(dataDir) : createTableDeadLetters(store)
  open.push({ name: 'dead letters', limitMs: 5_000, close: () => deadLetters.close() })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  const merges = createMerges({ store, budget: { run: (piece) => worker.budget.run(piece) } })
  const freshness = createFreshness({ log, progress, boundMs: config.freshnessMs })
  /** Whatever may name what is to be removed is in the tables. */
  const settled = async () =>
    !(
      staleHeader in
      (await freshness.wait(latestOfLog(), ['calls', 'erasures', 'feedback', 'files', 'logs', 'objects', 'tables']))
    )
  const budget = { run: <T>(piece: () => Promise<T>) => worker.budget.run(piece) }
  const { held, removal, fileRemoval, purge } = createRemovals({ ...deps, budget, settled, worker: () => worker })
  let erasing: Erasing | undefined
  let purgedMs: number | undefined
  const purgeDaily = async (): Promise<void> => {
    const nowMs = Date.now()
    if (!isPurgeDue(config.purgeHour, purgedMs, nowMs)) return
    const purged = await purge.run(nowMs)
    purgedMs = nowMs
    const receipts = await dropOldReceipts(store, config.receiptYears, nowMs)
    if (receipts > 0) {
      const details = { rows: receipts }
      await deps.audit.record({ action: 'retention.purged', scope: '*', target: 'receipts', details })
    }
    if (purged.rows > 0 || purged.rewritten.length > 0) logger.info(purged, 'expired data removed')
  }
  const cleanup = scheduleCleanup({
    deduplicate: () => worker.deduplicateChanged(),
    async hourly() {
      if (!log.owns('calls', 0)) return
      const dropped = await dropOldLogs(store, { own: deps.mostLogsDays(), derived: config.logsDays })
      if (dropped.length > 0) {
        logger.info({ dropped }, 'old log records removed')
        const details = { months: dropped }
        await deps.audit.record({ action: 'retention.purged', scope: '*', target: 'logs', details })
      }
      await keepAudit(deps)
      await purgeDaily()
      await merges.run()
      // Migrations that wait for older processes to end.
      await store.migrate()
    },
    onError: (error) => logger.warn({ error: String(error) }, 'clean-up failed'),
  })
  const views = createViews(store, hasEmbeddedStore(config) ? ownViewsTrustMs : 0)
  const lookAtViews = () =>
    views.look().catch((error: unknown) => logger.warn({ error: String(error) }, 'views were not looked for'))
  await lookAtViews()
  const viewing = setInterval(lookAtViews, viewsEveryMs)
  viewing.unref()
  open.push({ name: 'views', limitMs: 1_000, close: () => clearInterval(viewing) })
  const onJoinError = (error: Error) =>
    logger.warn({ error: error.message }, 'log records are not joined, trying again')
  const joiner = config.otelLogsAsIo
    ? createJoiner({
        store,
        log,
        progress,
        mapping: createEventMapping(config, deps.maskings),
        onError: onJoinError,
        slots: () => slotsOf(log.partitions('calls'), (partition) => log.owns('calls', partition)),
        onJoined(counts) {
          metrics.onJoined(counts)
          logger.info(counts, 'log records joined')
        },
      })
    : undefined
  void joiner?.learn().catch(onJoinError)
  const worker = startWorker({
    views,
    log: {
      ...log,
      async commit(position) {
        await log.commit(position)
        applied.applied(position)
      },
    },
    verify: applied.verify,
    logJoins: joiner && { ...joiner, onSpans: joiner.onApplied },
    ownsTables: hasEmbeddedStore(config),
    store,
    countedAgain: deps.countedAgain,
    orphanGraceMs: config.orphanSeconds * 1_000,
    progress,
    deadLetters,
    inFlight: hasEmbeddedStore(config) ? createInFlight(dataDir, await packageVersion()) : noInFlight,
    // beside the engine of this process
    probe: probeInChild({ memoryCapBytes: Math.floor(Math.min(2 ** 32, config.memoryCapBytes) / 2) }),
    keptRecords: recordsOnce(config, logger),
    onBatch(report) {
      metrics.onBatch(report)
      logger.info(report, 'batch')
      deps.onApplied?.(report.topic)
      if (report.topic === 'erasures') erasing?.onAsked()
      if (report.topic === 'calls' && report.rows > lookupRows) cleanup.onLargeBatch()
    },
    onLookUps(reason) {
      metrics.onLookUps(reason)
      logger.warn({ reason }, 'each new call is looked up in the tables until the next start')
    },
    onRetry(topic, error, retryMs) {
      metrics.onRetry(topic)
      if (error instanceof Held)
        logger.error({ topic, error: error.message, detail: error.detail, retryMs }, 'rows are not applied')
      else logger.warn({ topic, error: error.message, retryMs }, 'store refused, trying again')
    },
    onFatal: failed.reject,
  })
  const lags = () => [...worker.rollups.lag(), ...worker.fieldIndexRollups.lag()]
  metrics.watchRollupLag(lags)
  open.push({ name: 'worker', limitMs: 60_000, close: () => worker.stop() })
  if (!hasSharedLog(config)) {
    const again = await takeErased(dataDir, log)
    if (again !== undefined) logger.info({ calls: again }, 'data erased since the backup is deleted again')
    await Promise.race([worker.caughtUp(), failed.promise])
  }
  if (joiner) {
    joiner.start()
    open.push({ name: 'joins of logs', limitMs: 30_000, close: joiner.stop })
  }
  const prices = createPrices({ store, shipped: loadDefaultPrices(config.pricesFile) })
  erasing = createErasing({
    store,
    log,
    deadLetters,
    audit: deps.audit,
    clock: deps.clock,
    held,
    removedProjects: deps.removedProjects,
    eraseHours: config.eraseHours,
    logRetentionMs: config.logRetentionHours * 3_600_000,
    removal,
    fileRemoval,
    settled,
    onOpen: metrics.onOpenErasures,
    onDone: (done) => logger.info(done, 'erased'),
    onError: (error) => logger.warn({ error: error.message }, 'erasing failed, trying again'),
  })
  const audits = auditCommands({ store, freshness })
  const erasures = erasureCommands({ store, freshness })
  const costs = costCommands({ explainer: createCostExplainer({ store, prices }), freshness })
  const routes = routeCommands(deps.invoke)
  const letters = deadLetterCommands({ deadLetters, log })
  const isOneMachine = !hasSharedLog(config) && hasEmbeddedStore(config)
  // Where any process may use both engines the command does the work itself.
  const rebuilds = hasOwnEngine(config) ? await rebuilding(deps, worker) : undefined
  const rebuild = rebuildCommands(rebuilds, log)
  const move = moving(deps, worker, rebuilds, deadLetters)
  const socket = await listenForCommands(dataDir, async (message) => {
    if (message.command === 'ping') return 'here'
    if (message.command === 'address') return deps.address()
    if (message.command === 'doctor') return examineStore(config, store)
    if (/^(rebuild|replay)\./.test(message.command)) return rebuild(message)
    if (message.command.startsWith('move.')) return move(message)
    if (message.command.startsWith('audit.')) return audits(message)
    if (message.command === 'routes.ask') return routes(message)
    if (message.command.startsWith('erasures.')) return erasures(message)
    return message.command.startsWith('costs.') ? costs(message) : letters(message)
  })
  open.push({ name: 'commands', limitMs: 2_000, close: () => socket.close() })
  if (hasSharedLog(config)) {
    // The batches of other workers make minutes dirty too.
    const looking = setInterval(() => {
      worker.rollups.onDirty()
      worker.fieldIndexRollups.onDirty()
    }, lookMs)
    open.push({ name: 'rollups', limitMs: 1_000, close: () => clearInterval(looking) })
  }
  const repair = isOneMachine ? repairing(deps, worker) : undefined
  open.push({
    name: 'housekeeping',
    limitMs: 60_000,
    async close() {
      cleanup.stop()
      purge.stop()
      await erasing?.stop()
      await merges.stop()
    },
  })
  return { worker, deadLetters, lags, failed: failed.promise, missing: () => repair?.reason() }
}

/** A log that takes no events leaves the other work of the hour to be done. */
async function keepAudit({ store, audit, config, logger, endedKeys }: ApplyingDeps): Promise<void> {
  try {
    await recordEndedKeys({ store, audit }, endedKeys, config.auditDays)
    const months = await dropOldAudit({ store, audit }, config.auditDays)
    if (months.length > 0) logger.info({ months }, 'old audit events removed')
    logger.info(await writeCheckpoint({ store, audit }, config.auditDays), 'audit checkpoint')
  } catch (error) {
    logger.warn({ error: String(error) }, 'no checkpoint of the audit log was made')
  }
}

function moving(deps: ApplyingDeps, worker: Worker, rebuilds: Rebuilds | undefined, deadLetters: DeadLetters) {
  const { config, log, store, blobs, clock, logger, open, audit } = deps
  const { dataDir, fileBucket: bucket } = config
  const isOneMachine = !hasSharedLog(config) && hasEmbeddedStore(config)
  const isRebuilding = async () =>
    rebuilds?.status()?.phase === 'working' || ((await rebuilds?.unfinished()) ?? null) !== null
  const tasks = createTasks((status) => {
    if (status.phase === 'done') logger.info(status, 'task ended')
    else logger.warn(status, 'task not ended')
  })
  open.push({ name: 'move', limitMs: 60_000, close: () => tasks.stop() })
  return moveCommands({
    config,
    store,
    log,
    blobs,
    deadLetters,
    tasks,
    audit,
    onClock: clock.pass,
    applies: true,
    // only the log and the tables of one machine are files that lie together
    backup: isOneMachine ? backupOf({ dataDir, store, log, worker, isRebuilding, bucket }) : undefined,
  })
}

/** Opens the log for as long as its records are read: seldom needed. */
const recordsOnce = (config: Config, logger: Logger): KeptRecords =>
  async function* (...range) {
    const { records, close } = await openRecords(config, logger)
    try {
      yield* records(...range)
    } finally {
      await close()
    }
  }

async function rebuilding(deps: ApplyingDeps, worker: Worker): Promise<Rebuilds> {
  const { config, log, logger, open } = deps
  const { records, close } = await openRecords(config, logger)
  open.push({ name: 'kept records', limitMs: 5_000, close })
  const server = sharedServerOf(config)
  // On a server the scratch tables belong to a store: those of the batches are not to be used.
  const store = server ? await openStore(config, logger, { statement() {} }) : deps.store
  if (server) open.push({ name: 'store of rebuilds', limitMs: 60_000, close: () => store.close() })
  const rebuilds = createRebuilds({
    store,
    log,
    worker,
    records,
    ...(server ? { server } : {}),
    state: server ? createStateTable(store, server) : createStateFile(join(config.dataDir, 'rebuild.json')),
    onEnd(status) {
      if (status.phase === 'done') logger.info(status, 'rebuilt')
      else logger.warn(status, 'rebuild not ended')
    },
  })
  open.push({ name: 'rebuild', limitMs: 60_000, close: () => rebuilds.stop() })
  const unfinished = await rebuilds.unfinished()
  if (unfinished !== null)
    logger.warn({ table: unfinished }, 'a rebuild is unfinished: callhouse rebuild goes on with it, or gives it up')
  return rebuilds
}
