// The part of a process that applies the log to the store: worker, dead letters, joins, erasures, commands, housekeeping.
import { slotsOf } from '../content/hash-slots.ts'
import type { Maskings } from '../content/masking/maskings.ts'
import { createFreshness, latestOfLog, staleHeader } from '../core/log/freshness.ts'
import type { Progress } from '../core/log/progress.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Service } from '../core/process/services.ts'
import { packageVersion } from '../core/process/version.ts'
import { createJoiner, type Joiner } from '../derived/logs/joiner.ts'
import { createMerges } from '../derived/merges.ts'
import type { CountedAgain } from '../derived/rollups/rollup-table.ts'
import { createEventMapping } from '../ingest/otel/join.ts'
import { takeErased } from '../operations/backup/erased.ts'
import { createErasing, type Erasing } from '../removal/erasures.ts'
import type { AppliedWatch } from '../worker/applied/watch.ts'
import { lookupRows } from '../worker/calls/merge-fragments.ts'
import type { DeadLetters } from '../worker/dead-letters/dead-letters.ts'
import { openFileDeadLetters } from '../worker/dead-letters/dead-letters-file.ts'
import { createTableDeadLetters } from '../worker/dead-letters/dead-letters-table.ts'
import type { WorkerMetrics } from '../worker/metrics.ts'
import { type BatchReport, startWorker, type Worker } from '../worker/run.ts'
import { probeInChild } from '../worker/split/child-probe.ts'
import type { KeptRecords } from '../worker/split/control-insert.ts'
import { Held } from '../worker/split/held.ts'
import { createInFlight, noInFlight } from '../worker/split/in-flight.ts'
import { createViews, type Views } from '../worker/views.ts'
import type { Config } from './config.ts'
import { deadLetterCommands } from './control/dead-letters.ts'
import { hasEmbeddedStore, hasSharedLog, isOneMachine, openRecords } from './drivers.ts'
import { type HousekeepingDeps, scheduleHousekeeping } from './housekeeping.ts'
import { createRemovals, type RemovalRules } from './removals.ts'
import { repairing } from './repairing.ts'
import { type CommandDeps, startCommands } from './worker-commands.ts'

const lookMs = 2_000
/** Views are looked for also when nothing comes; */
const viewsEveryMs = 10_000
/** with each batch where others can drop them, so rarely where this process alone has the tables. */
const ownViewsTrustMs = 2_000

type ApplyingDeps = RemovalRules &
  HousekeepingDeps &
  CommandDeps & {
    progress: Progress
    metrics: WorkerMetrics
    maskings: Maskings
    /** The time from which on minutes of statistics may be counted again. */
    countedAgain(): CountedAgain
    /** Removed projects, with the time of their removal. */
    removedProjects(): ReadonlyMap<string, number>
    /** Watches the applied positions. */
    applied: AppliedWatch
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
 * Starts the worker and what belongs to it. A log of this process alone is redone first: what was accepted before is in
 * the tables when this resolves.
 */
export async function startApplying(deps: ApplyingDeps): Promise<Applying> {
  const { config, log, store, progress, logger, metrics, services } = deps
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  const freshness = createFreshness({ log, progress, boundMs: config.freshnessMs })
  const budget = { run: <T>(piece: () => Promise<T>) => worker.budget.run(piece) }
  const settled = isSettled(freshness)
  const { held, removal, fileRemoval, purge } = createRemovals({ ...deps, budget, settled, worker: () => worker })
  const merges = createMerges({ store, budget })
  const cleanup = scheduleHousekeeping(deps, { merges, purge, deduplicate: () => worker.deduplicateChanged() })
  let erasing: Erasing | undefined

  const deadLetters = await services.start(deadLettersOf(deps))
  const views = await services.start(viewsOf(deps))
  const joiner = joinerOf(deps)
  const onBatch = ({ topic, rows }: BatchReport) => {
    deps.onApplied?.(topic)
    if (topic === 'erasures') erasing?.onAsked()
    if (topic === 'calls' && rows > lookupRows) cleanup.onLargeBatch()
  }
  const worker = await services.start(workerOf(deps, { deadLetters, views, joiner, onBatch, onFatal: failed.reject }))
  const lags = () => [...worker.rollups.lag(), ...worker.fieldIndexRollups.lag()]
  metrics.watchRollupLag(lags)
  if (!hasSharedLog(config)) {
    const again = await takeErased(config.dataDir, log)
    if (again !== undefined) logger.info({ calls: again }, 'data erased since the backup is deleted again')
    await Promise.race([worker.caughtUp(), failed.promise])
  }
  await services.start({
    name: 'joins of logs',
    start() {
      joiner?.start()
      return joiner
    },
    stop: (started) => started.stop(),
    stopMs: 30_000,
  })
  erasing = createErasing({
    store,
    log,
    deadLetters,
    held,
    removal,
    fileRemoval,
    settled,
    audit: deps.audit,
    clock: deps.clock,
    removedProjects: deps.removedProjects,
    eraseHours: config.eraseHours,
    logRetentionMs: config.logRetentionHours * 3_600_000,
    onOpen: metrics.onOpenErasures,
    onDone: (done) => logger.info(done, 'erased'),
    onError: (error) => logger.warn({ error: error.message }, 'erasing failed, trying again'),
  })
  await startCommands(deps, { worker, deadLetters, freshness })
  await services.start(rollupsOfOthers(deps, worker))
  const repair = isOneMachine(config) ? await services.start(repairing(deps, worker)) : undefined
  await services.start({
    name: 'housekeeping',
    start: () => cleanup,
    async stop() {
      cleanup.stop()
      purge.stop()
      await erasing?.stop()
      await merges.stop()
    },
    stopMs: 60_000,
  })
  return { worker, deadLetters, lags, failed: failed.promise, missing: () => repair?.reason() }
}

/** Whether whatever may name what is to be removed is in the tables. */
const isSettled = (freshness: ReturnType<typeof createFreshness>) => async (): Promise<boolean> =>
  !(
    staleHeader in
    (await freshness.wait(latestOfLog(), ['calls', 'erasures', 'feedback', 'files', 'logs', 'objects', 'tables']))
  )

const deadLettersOf = ({ config, store, log }: ApplyingDeps): Service<DeadLetters> => ({
  name: 'dead letters',
  start: () => (hasEmbeddedStore(config) ? openFileDeadLetters(config.dataDir) : createTableDeadLetters(store)),
  stop: (deadLetters) => deadLetters.close(),
  commands: (deadLetters) => deadLetterCommands({ deadLetters, log }),
})

/** The views of the tables are looked for now, and then regularly. */
function viewsOf({ config, store, logger }: ApplyingDeps): Service<Views> {
  let looking: NodeJS.Timeout | undefined
  return {
    name: 'views',
    async start() {
      const views = createViews(store, hasEmbeddedStore(config) ? ownViewsTrustMs : 0)
      const look = () =>
        views.look().catch((error: unknown) => logger.warn({ error: String(error) }, 'views were not looked for'))
      await look()
      looking = setInterval(look, viewsEveryMs)
      looking.unref()
      return views
    },
    stop: () => clearInterval(looking),
    stopMs: 1_000,
  }
}

/** Joins log records to calls; undefined where the settings leave them apart. */
function joinerOf({ config, store, log, progress, maskings, logger, metrics }: ApplyingDeps): Joiner | undefined {
  if (!config.otelLogsAsIo) return undefined
  const onError = (error: Error) => logger.warn({ error: error.message }, 'log records are not joined, trying again')
  const joiner = createJoiner({
    store,
    log,
    progress,
    mapping: createEventMapping(config, maskings),
    onError,
    slots: () => slotsOf(log.partitions('calls'), (partition) => log.owns('calls', partition)),
    onJoined(counts) {
      metrics.onJoined(counts)
      logger.info(counts, 'log records joined')
    },
  })
  void joiner.learn().catch(onError)
  return joiner
}

type WorkerParts = {
  deadLetters: DeadLetters
  views: Views
  joiner: Joiner | undefined
  onBatch(report: BatchReport): void
  onFatal(error: Error): void
}

function workerOf(deps: ApplyingDeps, { joiner, onBatch, ...parts }: WorkerParts): Service<Worker> {
  const { config, log, store, progress, logger, metrics, applied } = deps
  const start = async () =>
    startWorker({
      ...parts,
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
      inFlight: hasEmbeddedStore(config) ? createInFlight(config.dataDir, await packageVersion()) : noInFlight,
      // beside the engine of this process
      probe: probeInChild({ memoryCapBytes: Math.floor(Math.min(2 ** 32, config.memoryCapBytes) / 2) }),
      keptRecords: recordsOnce(config, logger),
      onBatch(report) {
        metrics.onBatch(report)
        logger.info(report, 'batch')
        onBatch(report)
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
    })
  return { name: 'worker', start, stop: (worker) => worker.stop(), stopMs: 60_000 }
}

/** The batches of other workers make minutes dirty too. */
const rollupsOfOthers = ({ config }: ApplyingDeps, worker: Worker): Service<NodeJS.Timeout | undefined> => ({
  name: 'rollups',
  start() {
    if (!hasSharedLog(config)) return undefined
    return setInterval(() => {
      worker.rollups.onDirty()
      worker.fieldIndexRollups.onDirty()
    }, lookMs)
  },
  stop: (looking) => clearInterval(looking),
  stopMs: 1_000,
})

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
