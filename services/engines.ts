// Chooses the drivers of the log and of the store by the settings; nothing else knows which ones are in use.
import { join } from 'node:path'
import type { Config } from './config.ts'
import { createEmbeddedLog } from './core/log/embedded.ts'
import type { Log } from './core/log/log.ts'
import type { Logger } from './core/logger.ts'
import { createProgress, followProgress, type Progress } from './core/progress.ts'
import { createEmbeddedStore } from './core/store/embedded.ts'
import { createServerStore } from './core/store/server.ts'
import type { Store, StoreMetrics } from './core/store/store.ts'
import type { ServerRole } from './server-role.ts'

const hourMs = 3_600_000

/** Whether the log is consumed by other processes too, so that only the log knows how far it is applied. */
export const hasSharedLog = (config: Config): boolean => config.kafkaBrokers.length > 0

/** Whether the store is the embedded engine, which can end the process and lives in the data folder. */
export const hasEmbeddedStore = (config: Config): boolean => config.clickhouseUrl === undefined

/** Throws when the role needs engines that several processes can share and the settings name none. */
export function checkEngines(config: Config, role: ServerRole): void {
  if (role === 'serve') return
  if (!hasSharedLog(config)) throw new Error(`callhouse ${role} needs CALLHOUSE_KAFKA_BROKERS`)
  if (hasEmbeddedStore(config)) throw new Error(`callhouse ${role} needs CALLHOUSE_CLICKHOUSE_URL`)
}

export function openLog(config: Config, _role: ServerRole, logger: Logger): Promise<Log> {
  return createEmbeddedLog({
    dir: join(config.dataDir, 'log'),
    maxUnappliedBytes: config.maxUnappliedBytes,
    minFreeBytes: config.minFreeBytes,
    retentionMs: config.logRetentionHours * hourMs,
    logger,
  })
}

export function openStore(config: Config, logger: Logger, metrics: StoreMetrics): Promise<Store> {
  const { clickhouseUrl: url, clickhouseCluster: cluster } = config
  if (url !== undefined)
    return createServerStore({
      url,
      user: config.clickhouseUser,
      password: config.clickhousePassword,
      database: config.clickhouseDatabase,
      ...(cluster === '' ? {} : { cluster }),
      ...(config.workerId === '' ? {} : { worker: config.workerId }),
      queryTimeoutMs: config.queryTimeoutMs,
      queryMemoryBytes: config.queryMemoryBytes,
      logger,
      metrics,
    })
  return createEmbeddedStore({
    dir: config.dataDir,
    memoryCapBytes: config.memoryCapBytes,
    queryTimeoutMs: config.queryTimeoutMs,
    queryMemoryBytes: config.queryMemoryBytes,
    logger,
    metrics,
  })
}

export const openProgress = (config: Config, log: Log): Progress =>
  hasSharedLog(config) ? followProgress(log) : createProgress()
