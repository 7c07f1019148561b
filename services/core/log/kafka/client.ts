// Settings of the Kafka driver, the clients made from them, and the topics of the event families.
import kafkajs, { type Admin, Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs'
import type { LogLogger } from '../segments/writer.ts'
import type { Topics } from '../topic.ts'
import { prepareKafkajs } from './internals.ts'
import type { LargeRecords } from './large-records.ts'
import { mayPassForNewTopic } from './new-topics.ts'

export type KafkaLogOptions = {
  brokers: string[]
  topics: Topics
  /** The work of this process on the log; a process that only reads positions does neither. */
  roles: { produce: boolean; consume: boolean }
  /** First part of the topics' names; `callhouse.calls` with `callhouse.` */
  topicPrefix: string
  /** Consumer group of the workers; its positions are the applied positions. */
  group: string
  /**
   * Name of this worker in the group. With it the worker is a static member: after a restart within
   * `sessionTimeoutMs` it gets its partitions back without a rebalance. Unique per running worker. Absent: dynamic.
   */
  instanceId?: string
  /** Partitions and replicas of topics that are created; existing ones stay as they are. */
  partitions: number
  replication: number
  /** Retention of records. */
  retentionMs: number
  compression: 'none' | 'gzip'
  tls?: boolean
  sasl?: SASLOptions
  /** Bytes of appends in memory, not yet acknowledged by the brokers; more is 429. Default 64 MiB. */
  maxInflightBytes?: number
  /** More than this appended and not applied, by estimate: 429. Default: no bound, the brokers keep it. */
  maxUnappliedBytes?: number
  /** An append that is not acknowledged after this is refused with 503; it may still be stored. Default 10 s. */
  deliveryTimeoutMs?: number
  /** A batch is delivered at this size, or this long after its first record came. Defaults 8 MiB, 60 ms. */
  batchBytes?: number
  sealAfterMs?: number
  /** Least time between batches of a topic that a waiting reader asks for. Default 50 ms. */
  flushEveryMs?: number
  /** Records in memory of the consumer, all partitions. Default 128 MiB. */
  maxBufferedBytes?: number
  /** A worker that is silent for this long loses its partitions. Default 30 s. */
  sessionTimeoutMs?: number
  /** Storage of rows that no message can hold. Absent: they are refused with 413. */
  largeRecords?: LargeRecords
  logger?: LogLogger
}

const mib = 2 ** 20

/** Largest message of our topics. */
const maxMessageBytes = 8 * mib
/** Longest wait for new topics. */
const readyMs = 30_000

export type KafkaClient = {
  kafka: Kafka
  config: KafkaConfig
  /** Names of the topics here; on the brokers they have others. */
  topics: readonly string[]
  /** A topic's name on the brokers. */
  named(topic: string): string
  /** The topic of a name on the brokers. */
  topicOf(name: string): string | undefined
}

export function createKafkaClient(options: KafkaLogOptions): KafkaClient {
  const { brokers, topicPrefix, instanceId, logger, deliveryTimeoutMs = 10_000 } = options
  const clientId = `callhouse-${instanceId ?? process.pid}`
  prepareKafkajs(
    options.roles.consume && instanceId !== undefined ? { clientId, groupInstanceId: instanceId } : undefined,
  )
  const config: KafkaConfig = {
    clientId,
    brokers,
    ssl: options.tls ?? false,
    ...(options.sasl ? { sasl: options.sasl } : {}),
    connectionTimeout: 3_000,
    requestTimeout: Math.max(1_000, Math.round(deliveryTimeoutMs / 2)),
    enforceRequestTimeout: true,
    retry: { retries: 3, initialRetryTime: 100, maxRetryTime: 1_000 },
    logLevel: logLevel.WARN,
    logCreator:
      () =>
      ({ namespace, level, log: { message, error } }) => {
        const fields = { namespace, ...(error === undefined ? {} : { error: String(error) }) }
        // kafkajs mostly retries what it calls an error.
        if (level === logLevel.ERROR) logger?.warn(fields, message)
        else logger?.info(fields, message)
      },
  }
  const topics = Object.keys(options.topics)
  const byName = new Map(topics.map((topic) => [topicPrefix + topic, topic]))
  return {
    kafka: new Kafka(config),
    config,
    topics,
    named: (topic) => topicPrefix + topic,
    topicOf: (name) => byName.get(name),
  }
}

export type TopicFacts = {
  partitions: Map<string, number>
  /** Largest record that every topic takes. */
  recordBytes: number
}

/** Creates the topics that are missing and reads what the existing ones are like. */
export async function prepareTopics(client: KafkaClient, options: KafkaLogOptions): Promise<TopicFacts> {
  const admin = client.kafka.admin()
  await admin.connect()
  try {
    const existing = new Set(await admin.listTopics())
    const missing = client.topics.filter((topic) => !existing.has(client.named(topic)))
    if (missing.length > 0) await createTopics(admin, client, options, missing)
    for (const giveUpAt = performance.now() + readyMs; ; ) {
      try {
        return await factsOf(admin, client)
      } catch (error) {
        if (performance.now() > giveUpAt || !mayPassForNewTopic(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  } finally {
    await admin.disconnect()
  }
}

async function factsOf(admin: Admin, client: KafkaClient): Promise<TopicFacts> {
  const { topics: found } = await admin.fetchTopicMetadata({ topics: client.topics.map(client.named) })
  const partitions = new Map(found.map((one) => [client.topicOf(one.name) as string, one.partitions.length]))
  const isReady = found.every((one) => one.partitions.length > 0 && one.partitions.every(({ leader }) => leader >= 0))
  if (!isReady) throw Object.assign(new Error('Topics have no leaders'), { retriable: true })
  return { partitions, recordBytes: (await smallestMessageBytes(admin, client)) - 64 * 1024 }
}

async function createTopics(
  admin: Admin,
  { named }: KafkaClient,
  options: KafkaLogOptions,
  missing: string[],
): Promise<void> {
  const { partitions, replication, retentionMs } = options
  const configEntries = [
    { name: 'cleanup.policy', value: 'delete' },
    { name: 'max.message.bytes', value: String(maxMessageBytes) },
    { name: 'retention.ms', value: String(retentionMs) },
    // A segment goes as a whole, and its last record counts: the brokers' own seven days would double the age.
    { name: 'segment.ms', value: String(24 * 3_600_000) },
    // With three replicas one broker may be down, and what is acknowledged is on two.
    { name: 'min.insync.replicas', value: String(Math.max(1, replication - 1)) },
    // The brokers' time: the clock of an edge must not decide how long a record is kept or how old it is.
    { name: 'message.timestamp.type', value: 'LogAppendTime' },
  ]
  await admin.createTopics({
    waitForLeaders: false,
    topics: missing.map((topic) => ({
      topic: named(topic),
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries,
    })),
  })
}

/** The size that the topics allow; where it may not be read, the size that they are created with. */
async function smallestMessageBytes(admin: Admin, { topics, named }: KafkaClient): Promise<number> {
  const resources = topics.map((topic) => ({
    type: kafkajs.ConfigResourceTypes.TOPIC,
    name: named(topic),
    configNames: ['max.message.bytes'],
  }))
  try {
    const described = await admin.describeConfigs({ resources, includeSynonyms: false })
    const sizes = described.resources.flatMap(({ configEntries }) =>
      configEntries.map(({ configValue }) => configValue),
    )
    return Math.min(maxMessageBytes, ...sizes.map(Number).filter((size) => size > 0))
  } catch (error) {
    if ((error as { type?: unknown }).type === 'TOPIC_AUTHORIZATION_FAILED') return maxMessageBytes
    throw error
  }
}
