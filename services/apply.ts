// The part of a process that applies the log to the store: worker, dead letters, commands, hourly housekeeping.
import type { Config } from './config.ts'
import { listenForCommands } from './core/control-socket.ts'
import type { Log } from './core/log/log.ts'
import type { Logger } from './core/logger.ts'
import type { Progress } from './core/progress.ts'
import type { ShutdownStep } from './core/shutdown.ts'
import type { Store } from './core/store/store.ts'
import { deadLetterCommands } from './deadletter-commands.ts'
import { hasEmbeddedStore, hasSharedLog } from './engines.ts'
import { openDeadLetters } from './worker/deadletters.ts'
import { createTableDeadLetters } from './worker/deadletters-table.ts'
import { createInFlight } from './worker/in-flight.ts'
import type { WorkerMetrics } from './worker/metrics.ts'
import { startWorker, type Worker } from './worker/run.ts'

const hourMs = 3_600_000
const lookMs = 2_000

export type Applying = {
  worker: Worker
  /** Rejects when the worker cannot go on and the process must end; never resolves. */
  failed: Promise<never>
}

/**
 * Starts the worker. A log of this process alone is redone first: what was accepted before is in the tables when this
 * resolves. Each piece that is opened adds its closing to `open`.
 */
export async function startApplying(deps: {
  config: Config
  log: Log
  store: Store
  progress: Progress
  logger: Logger
  metrics: WorkerMetrics
  open: ShutdownStep[]
}): Promise<Applying> {
  const { config, log, store, progress, logger, metrics, open } = deps
  const { dataDir } = config
  const deadLetters = hasEmbeddedStore(config) ? await openDeadLetters(dataDir) : createTableDeadLetters(store)
  open.push({ name: 'dead letters', limitMs: 5_000, close: () => deadLetters.close() })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  const worker = startWorker({
    log,
    store,
    progress,
    deadLetters,
    inFlight: createInFlight(dataDir),
    onBatch(report) {
      metrics.batch(report)
      logger.info(report, 'batch')
    },
    onRetry(topic, error, retryMs) {
      metrics.retry(topic)
      logger.warn({ topic, error: error.message, retryMs }, 'store refused, trying again')
    },
    onFatal: failed.reject,
  })
  open.push({ name: 'worker', limitMs: 60_000, close: () => worker.stop() })
  if (!hasSharedLog(config)) await Promise.race([worker.caughtUp(), failed.promise])
  const socket = await listenForCommands(dataDir, deadLetterCommands({ deadLetters, log }))
  open.push({ name: 'commands', limitMs: 2_000, close: () => socket.close() })
  if (hasSharedLog(config)) {
    // The batches of other workers leave marks too.
    const looking = setInterval(() => worker.rollups.touch(), lookMs)
    open.push({ name: 'rollups', limitMs: 1_000, close: () => clearInterval(looking) })
  }
  const sweeping = setInterval(() => {
    if (!log.leads('calls')) return
    worker.sweep().catch((error: unknown) => logger.warn({ error: String(error) }, 'sweep failed'))
  }, hourMs)
  sweeping.unref()
  open.push({ name: 'housekeeping', limitMs: 1_000, close: () => clearInterval(sweeping) })
  return { worker, failed: failed.promise }
}
