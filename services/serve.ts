// Everything in one process: opens the data folder, redoes what was unapplied, listens, and ends in order.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { createFolderBlobs } from './core/blobs.ts'
import { createClock } from './core/clock.ts'
import { listenForCommands } from './core/control-socket.ts'
import { createFreshness } from './core/freshness.ts'
import { createApp, type HttpServer } from './core/http/app.ts'
import { openKeys } from './core/http/keys.ts'
import { createEmbeddedLog } from './core/log/embedded.ts'
import type { Log } from './core/log/log.ts'
import type { LogOutput } from './core/logger.ts'
import { createMetrics } from './core/metrics.ts'
import { createProgress } from './core/progress.ts'
import { createShutdown, type Shutdown } from './core/shutdown.ts'
import { createEmbeddedStore } from './core/store/embedded.ts'
import type { Store } from './core/store/store.ts'
import { packageVersion } from './core/version.ts'
import { deadLetterCommands } from './deadletter-commands.ts'
import { openGeoRanges } from './query/geolocate.ts'
import { allRoutes } from './routes.ts'
import { openDeadLetters } from './worker/deadletters.ts'
import { createInFlight } from './worker/in-flight.ts'
import { createWorkerMetrics } from './worker/metrics.ts'
import { startWorker, type Worker } from './worker/run.ts'

export type Callhouse = {
  /** Where it listens, `http://127.0.0.1:6400`. */
  url: string
  /** Text of the first admin key, when this start made it. */
  firstKey: string | undefined
  log: Log
  store: Store
  worker: Worker
  http: HttpServer
  shutdown: Shutdown
}

const hourMs = 3_600_000

/** Starts every role. Throws with a readable message when the folder is held, damaged or not to be opened. */
export async function startCallhouse(config: Config, output: LogOutput): Promise<Callhouse> {
  const { log: logger } = output
  const { dataDir } = config
  await mkdir(dataDir, { recursive: true })
  const version = await packageVersion()
  const metrics = createMetrics()
  const opened: (() => Promise<void>)[] = []
  try {
    const keys = openKeys({ dataDir, configured: config.keys })
    const first = keys.firstKey(config.host)
    if (!first.ok) throw new Error(first.line)
    // A start that fails never shows the key; the next one makes another.
    opened.push(async () => void (first.id && keys.revoke(first.id)))

    const log = await createEmbeddedLog({
      dir: join(dataDir, 'log'),
      maxUnappliedBytes: config.maxUnappliedBytes,
      minFreeBytes: config.minFreeBytes,
      retentionMs: config.logRetentionHours * hourMs,
      logger,
    })
    opened.push(() => log.close())
    const workerMetrics = createWorkerMetrics(metrics.registry, log)
    const store = await createEmbeddedStore({
      dir: dataDir,
      memoryCapBytes: config.memoryCapBytes,
      queryTimeoutMs: config.queryTimeoutMs,
      queryMemoryBytes: config.queryMemoryBytes,
      logger,
      metrics: workerMetrics.store,
    })
    opened.push(() => store.close())
    await store.migrate()

    const clock = createClock(config.edgeNumber, log.lastClock())
    const blobs = await createFolderBlobs({ dir: join(dataDir, 'blobs'), minFreeBytes: config.minFreeBytes })
    const progress = createProgress()
    const deadLetters = await openDeadLetters(dataDir)
    opened.push(() => deadLetters.close())
    const failed = Promise.withResolvers<never>()
    failed.promise.catch(() => undefined)
    const worker = startWorker({
      log,
      store,
      progress,
      deadLetters,
      inFlight: createInFlight(dataDir),
      onBatch(report) {
        workerMetrics.batch(report)
        logger.info(report, 'batch')
      },
      onRetry(topic, error, retryMs) {
        workerMetrics.retry(topic)
        logger.warn({ topic, error: error.message, retryMs }, 'store refused, trying again')
      },
      onFatal: failed.reject,
    })
    opened.push(() => worker.stop())
    await Promise.race([worker.caughtUp(), failed.promise])

    const freshness = createFreshness({ log, progress, boundMs: config.freshnessMs })
    let shutdown: Shutdown | undefined
    const isShuttingDown = () => shutdown?.isShuttingDown() ?? false
    const routes = allRoutes({
      config,
      log,
      store,
      clock,
      blobs,
      freshness,
      service: {
        version,
        config,
        geo: openGeoRanges(config.geoRanges),
        isShuttingDown,
        async health() {
          const { status, lagMs } = log.health()
          return { log: status, storage: (await store.health()).status, workers: worker.status().status, lagMs }
        },
      },
    })
    const http = createApp({ routes, config, keys, log: logger, metrics, version, isShuttingDown })
    const socket = await listenForCommands(dataDir, deadLetterCommands({ deadLetters, log }))
    opened.push(() => socket.close())
    const sweeping = setInterval(() => {
      worker.sweep().catch((error: unknown) => logger.warn({ error: String(error) }, 'sweep failed'))
    }, hourMs)
    sweeping.unref()

    shutdown = createShutdown({
      log: logger,
      steps: [
        {
          name: 'http',
          limitMs: 35_000,
          close: async () => {
            clearInterval(sweeping)
            if (!(await http.close(30_000))) throw new Error('requests were cut off')
          },
        },
        { name: 'commands', limitMs: 2_000, close: () => socket.close() },
        { name: 'worker', limitMs: 60_000, close: () => worker.stop() },
        { name: 'dead letters', limitMs: 5_000, close: () => deadLetters.close() },
        { name: 'log', limitMs: 30_000, close: () => log.close() },
        { name: 'store', limitMs: 60_000, close: () => store.close() },
        { name: 'output', limitMs: 1_000, close: () => output.flush() },
      ],
    })
    const ending = shutdown
    failed.promise.catch((error: Error) => {
      logger.fatal({ error: error.message }, 'worker stopped')
      void ending.run(error.message).then(() => {
        process.exitCode = 1
      })
    })
    const port = await http.listen()
    return { url: `http://${config.host}:${port}`, firstKey: first.text, log, store, worker, http, shutdown }
  } catch (error) {
    for (const close of opened.reverse()) await close().catch(() => undefined)
    throw error
  }
}
