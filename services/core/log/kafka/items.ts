// The log of a shared directory: a compacted topic of one partition, of which the last record of every key stays.
import type { ItemLog, ItemRecord } from '../../directory/shared.ts'
import { createKafkaClient, type KafkaLogOptions } from './client.ts'
import { createRawConnection, type RawCluster } from './internals.ts'
import { mayPassForNewTopic } from './new-topics.ts'

const dayMs = 86_400_000
const readyMs = 30_000
const fetchBytes = 2 ** 20
const waitMs = 500

/** @throws when the brokers cannot be reached, or the rights are missing */
async function createTopic(client: ReturnType<typeof createKafkaClient>, topic: string, replicationFactor: number) {
  const admin = client.kafka.admin()
  await admin.connect()
  try {
    if ((await admin.listTopics()).includes(topic)) return
    const configEntries = [
      { name: 'cleanup.policy', value: 'compact' },
      // Replaced items are gone after two days: a person's name or address can be erased.
      { name: 'max.compaction.lag.ms', value: String(dayMs) },
      { name: 'segment.ms', value: String(dayMs) },
      { name: 'delete.retention.ms', value: String(dayMs) },
      { name: 'min.insync.replicas', value: String(Math.max(1, replicationFactor - 1)) },
    ]
    await admin.createTopics({
      waitForLeaders: false,
      topics: [{ topic, numPartitions: 1, replicationFactor, configEntries }],
    })
  } finally {
    await admin.disconnect()
  }
}

/** Creates the topic when it is missing. */
export async function openKafkaItems(options: KafkaLogOptions): Promise<ItemLog> {
  const client = createKafkaClient({ ...options, roles: { produce: false, consume: false } })
  const topic = `${options.topicPrefix}directory`
  await createTopic(client, topic, options.replication)
  const producer = client.kafka.producer({ allowAutoTopicCreation: false, retry: { retries: 2, initialRetryTime: 50 } })
  await producer.connect()
  const connection = createRawConnection(client.kafka, client.config)

  async function connected(): Promise<RawCluster> {
    const cluster = await connection.cluster()
    await cluster.addMultipleTargetTopics([topic])
    return cluster
  }

  /** A step that fails begins anew with new connections and metadata the next time. */
  async function dropping<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      await connection.drop()
      throw error
    }
  }

  /** While the topic is new the brokers do not know it. */
  async function whenReady<T>(step: () => Promise<T>): Promise<T> {
    for (const giveUpAt = performance.now() + readyMs; ; )
      try {
        return await step()
      } catch (error) {
        if (performance.now() > giveUpAt || !mayPassForNewTopic(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
  }

  async function endOf(cluster: RawCluster, fromBeginning: boolean): Promise<number> {
    const [found] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition: 0 }], fromBeginning }])
    return Number(found?.partitions[0]?.offset)
  }

  return {
    append: (records: readonly ItemRecord[]) =>
      whenReady(async () => {
        const messages = records.map(({ key, text }) => ({ key, value: text === null ? null : Buffer.from(text) }))
        const [answer] = await producer.send({ topic, messages: messages.map((one) => ({ ...one, headers: {} })) })
        return Number(answer?.baseOffset) + records.length - 1
      }),
    ends: () =>
      whenReady(() =>
        dropping(async () => {
          const cluster = await connected()
          return { first: await endOf(cluster, true), next: await endOf(cluster, false) }
        }),
      ),
    read: (from) =>
      dropping(async () => {
        const cluster = await connected()
        const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [0]))
        const broker = await cluster.findBroker({ nodeId: nodeId as string })
        const { responses } = await broker.fetch({
          maxWaitTime: waitMs,
          minBytes: 1,
          maxBytes: fetchBytes,
          isolationLevel: 0,
          topics: [{ topic, partitions: [{ partition: 0, fetchOffset: String(from), maxBytes: fetchBytes }] }],
        })
        const [partition] = responses.flatMap(({ partitions }) => partitions)
        // A fetch begins with the batch that holds the record.
        const messages = (partition?.messages ?? []).filter(({ offset }) => Number(offset) >= from)
        const last = messages.at(-1)
        // A batch that compaction has left empty: what is behind it comes by the next position.
        if (last === undefined) return { records: [], next: Number(partition?.highWatermark) > from ? from + 1 : from }
        const records = messages.map(({ key, value }) => ({
          key: String(key ?? ''),
          text: value === null ? null : value.toString(),
        }))
        return { records, next: Number(last.offset) + 1 }
      }),
    async close() {
      await connection.drop()
      await producer.disconnect()
    },
  }
}
