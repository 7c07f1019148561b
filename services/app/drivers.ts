// Chooses the drivers of the log and of the store by the settings; nothing else knows which ones are in use.
import { hostname } from 'node:os'
import { join } from 'node:path'
import { maxEdgeNumber } from '../core/clock/clock.ts'
import type { ItemLog } from '../core/directory/shared.ts'
import type { Reach } from '../core/files/private-folder.ts'
import type { KafkaLogOptions } from '../core/log/kafka/client.ts'
import { type EdgeLease, leaseEdgeNumber } from '../core/log/kafka/edge-lease.ts'
import type { KafkaGroup } from '../core/log/kafka/group.ts'
import type { KafkaReader } from '../core/log/kafka/read.ts'
import type { KafkaSurvey } from '../core/log/kafka/survey.ts'
import type { Log } from '../core/log/log.ts'
import { createProgress, followProgress, type Progress } from '../core/log/progress.ts'
import { readSegments } from '../core/log/segments/read.ts'
import { createEmbeddedLog } from '../core/log/segments/segment-log.ts'
import type { FolderLock } from '../core/process/folder-lock.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Store, StoreMetrics } from '../core/store/store.ts'
import { topics } from '../events/registry.ts'
import type { SharedServer } from '../operations/rebuild/shadow-tables.ts'
import { scratchTables } from '../tables/registry.ts'
import { type Matched, matchLog } from '../worker/applied/match.ts'
import { openLargeRecords } from './blobs.ts'
import type { Config } from './config.ts'
import { does, type ServerRole } from './roles.ts'

const hourMs = 3_600_000

/** Whether the log is consumed by other processes too, so that only the log knows how far it is applied. */
export const hasSharedLog = (config: Config): boolean => config.kafkaBrokers.length > 0

/** Name of the database of the tables. */
export const databaseOf = (config: Config): string =>
  hasEmbeddedStore(config) ? 'callhouse' : config.clickhouseDatabase

/** Whether the store is the embedded engine, which can end the process and lives in the data folder. */
export const hasEmbeddedStore = (config: Config): boolean => config.clickhouseUrl === undefined

/** Whether the data folder is this process's alone: log or tables lie in it. Else roles may share it for large files. */
export const hasOwnEngine = (config: Config): boolean => !hasSharedLog(config) || hasEmbeddedStore(config)

/** Whether log and tables are files of this machine that lie together. */
export const isOneMachine = (config: Config): boolean => !hasSharedLog(config) && hasEmbeddedStore(config)

/** The users who may enter the data folder. */
export const reachOf = (config: Config): Reach => (hasOwnEngine(config) ? 'user' : 'group')

/** Throws when the role needs engines that several processes can share and the settings name none. */
export function checkEngines(config: Config, role: ServerRole): void {
  if (role === 'serve') return
  if (!hasSharedLog(config)) throw new Error(`callhouse ${role} needs CALLHOUSE_KAFKA_BROKERS`)
  if (hasEmbeddedStore(config)) throw new Error(`callhouse ${role} needs CALLHOUSE_CLICKHOUSE_URL`)
}

const saslOf = ({ kafkaSasl, kafkaUser: username, kafkaPassword: password }: Config) =>
  kafkaSasl === 'none'
    ? {}
    : { sasl: { mechanism: kafkaSasl, username, password } as NonNullable<KafkaLogOptions['sasl']> }

async function kafkaOptionsOf(config: Config, role: ServerRole, logger: Logger): Promise<KafkaLogOptions> {
  return {
    brokers: config.kafkaBrokers,
    topics,
    // Every role writes: reads append deletes and queue items, workers replay dead letters.
    roles: { produce: true, consume: does(role, 'apply') },
    topicPrefix: config.kafkaTopicPrefix,
    group: config.kafkaGroup,
    ...(config.workerId === '' ? {} : { instanceId: config.workerId }),
    partitions: config.kafkaPartitions,
    replication: config.kafkaReplication,
    retentionMs: config.logRetentionHours * hourMs,
    compression: config.kafkaCompression,
    sessionTimeoutMs: config.kafkaSessionTimeoutMs,
    deliveryTimeoutMs: config.kafkaDeliveryTimeoutMs,
    tls: config.kafkaTls,
    ...saslOf(config),
    maxUnappliedBytes: config.maxUnappliedBytes,
    largeRecords: await openLargeRecords(config, logger),
    logger,
  }
}

/** @param own of a log in the data folder: its lock, and the age at which the data of some project is hidden */
export async function openLog(
  config: Config,
  role: ServerRole,
  logger: Logger,
  { lock, hiddenAfterMs }: { lock?: FolderLock | undefined; hiddenAfterMs?: () => number } = {},
): Promise<Log> {
  if (hasSharedLog(config)) {
    // Loaded on demand: the embedded form needs no Kafka client.
    const { createKafkaLog } = await import('../core/log/kafka/kafka-log.ts')
    return createKafkaLog(await kafkaOptionsOf(config, role, logger))
  }
  return createEmbeddedLog({
    dir: join(config.dataDir, 'log'),
    topics,
    ...(lock && { lock }),
    maxUnappliedBytes: config.maxUnappliedBytes,
    readersWaitMs: config.staleCounts || config.freshnessMs === 0 ? undefined : config.freshnessMs,
    minFreeBytes: config.minFreeBytes,
    retentionMs: config.logRetentionHours * hourMs,
    ...(hiddenAfterMs && { hiddenAfterMs }),
    mayEndEarly: config.adoptLog,
    logger,
  })
}

/**
 * Opens the number of an edge: of several processes that accept writes each has its own, so that no two give the same
 * accept timestamp.
 * @throws Error when none can be leased
 */
export async function openEdgeNumber(config: Config, logger: Logger): Promise<EdgeLease> {
  const { edgeNumber } = config
  const own: EdgeLease = {
    number: () => edgeNumber,
    problem: () => null,
    renew: async () => undefined,
    close: async () => undefined,
  }
  if (!hasSharedLog(config)) return own
  const { openKafkaClaims } = await import('../core/log/kafka/claims.ts')
  const claims = await openKafkaClaims(await kafkaOptionsOf(config, 'query', logger))
  try {
    return await leaseEdgeNumber({ claims, fixed: edgeNumber, maxNumber: maxEdgeNumber, logger })
  } catch (error) {
    await claims.close()
    throw error
  }
}

/** The log of the directory that processes share. */
export async function openItemLog(config: Config, logger: Logger): Promise<ItemLog> {
  const { openKafkaItems } = await import('../core/log/kafka/items.ts')
  return openKafkaItems(await kafkaOptionsOf(config, 'query', logger))
}

/** Records that the log still holds, for rebuilds and replays. */
export async function openRecords(config: Config, logger: Logger): Promise<Pick<KafkaReader, 'records' | 'close'>> {
  if (hasSharedLog(config)) {
    const { createKafkaReader } = await import('../core/log/kafka/read.ts')
    return createKafkaReader(await kafkaOptionsOf(config, 'query', logger))
  }
  const dir = join(config.dataDir, 'log')
  return {
    async *records(topic, _partition, fromOffset, toOffset) {
      if (toOffset >= fromOffset) yield* readSegments({ dir, topic, fromOffset, toOffset })
    },
    close: async () => {},
  }
}

/**
 * Brings a log and the tables of a store together before anything is applied.
 * @throws LogMismatch with a line for the operator
 */
export async function matchEngines(
  { log, store }: { log: Log; store: Store },
  config: Config,
  logger: Logger,
  applies: boolean,
): Promise<Matched> {
  return matchLog({
    log,
    store,
    applies,
    adopts: config.adoptLog,
    database: databaseOf(config),
    async acceptedMs({ topic, partition, offset }) {
      const { records, close } = await openRecords(config, logger)
      try {
        for await (const { appendedMs } of records(topic, partition, offset, offset)) return appendedMs
        return Date.now()
      } finally {
        await close()
      }
    },
    onNote: (fields, message) => logger.warn(fields, message),
  })
}

/** Surveys the brokers, topics and workers of a Kafka log. Throws when the brokers cannot be reached. */
export async function surveyLog(config: Config, logger: Logger): Promise<KafkaSurvey> {
  const { surveyKafka } = await import('../core/log/kafka/survey.ts')
  return surveyKafka(await kafkaOptionsOf(config, 'query', logger))
}

/** The workers' group of a Kafka log, for backups and restores. Throws when the brokers cannot be reached. */
export async function openGroup(config: Config, logger: Logger): Promise<KafkaGroup> {
  const { openKafkaGroup } = await import('../core/log/kafka/group.ts')
  return openKafkaGroup(await kafkaOptionsOf(config, 'query', logger))
}

/** The ClickHouse server of the settings; undefined = the embedded engine. */
export const sharedServerOf = (config: Config): SharedServer | undefined =>
  hasEmbeddedStore(config)
    ? undefined
    : {
        database: config.clickhouseDatabase,
        ...(config.clickhouseCluster === '' ? {} : { cluster: config.clickhouseCluster }),
      }

export async function openStore(config: Config, logger: Logger, metrics: StoreMetrics): Promise<Store> {
  const { clickhouseUrl: url, clickhouseCluster: cluster } = config
  // Each on demand: an image for roles on a server has no engine in it.
  if (url !== undefined) {
    const { createServerStore } = await import('../core/store/server/server-store.ts')
    return createServerStore({
      url,
      topics,
      scratch: scratchTables,
      user: config.clickhouseUser,
      password: config.clickhousePassword,
      database: config.clickhouseDatabase,
      ...(cluster === '' ? {} : { cluster }),
      worker: config.workerId || `${hostname()}-${process.pid}`,
      queryTimeoutMs: config.queryTimeoutMs,
      queryMemoryBytes: config.queryMemoryBytes,
      queryRows: config.queryRows,
      logger,
      metrics,
    })
  }
  const { createEmbeddedStore } = await import('../core/store/chdb/chdb-store.ts')
  return createEmbeddedStore({
    dir: config.dataDir,
    memoryCapBytes: config.memoryCapBytes,
    queryTimeoutMs: config.queryTimeoutMs,
    queryMemoryBytes: config.queryMemoryBytes,
    queryRows: config.queryRows,
    logger,
    metrics,
  })
}

export const openProgress = (config: Config, log: Log): Progress =>
  hasSharedLog(config) ? followProgress(log) : createProgress()
