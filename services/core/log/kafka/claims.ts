// Claims of edges on their numbers in a topic of one partition: the brokers give them an order and a time.
import type { Admin } from 'kafkajs'
import { createKafkaClient, type KafkaLogOptions } from './client.ts'
import type { Claim, ClaimLog } from './edge-lease.ts'
import { createRawConnection, type RawCluster, type RawMessage } from './internals.ts'
import { mayPassForNewTopic } from './new-topics.ts'

const hourMs = 3_600_000
/** Longest wait for the topic when it is new. */
const readyMs = 30_000
/** Claims are a hundred bytes: this holds those of a thousand edges in a minute. */
const fetchBytes = 2 ** 20
/** Leaders move. */
const readAttempts = 3

async function createTopic(admin: Admin, topic: string, replicationFactor: number): Promise<void> {
  const existing = await admin.listTopics()
  if (existing.includes(topic)) return
  const configEntries = [
    { name: 'cleanup.policy', value: 'delete' },
    // Claims of the last minutes count; older ones go with their segment.
    { name: 'retention.ms', value: String(hourMs) },
    { name: 'segment.ms', value: String(hourMs) },
    { name: 'min.insync.replicas', value: String(Math.max(1, replicationFactor - 1)) },
    { name: 'message.timestamp.type', value: 'LogAppendTime' },
  ]
  await admin.createTopics({
    waitForLeaders: false,
    topics: [{ topic, numPartitions: 1, replicationFactor, configEntries }],
  })
}

/** Claims of the messages; what is none was written by someone else. */
const claimsOf = (messages: readonly RawMessage[]): Claim[] =>
  messages.flatMap(({ value }) => {
    try {
      const { owner, number, isFixed } = JSON.parse(String(value)) as Claim
      return [{ owner, number, isFixed }]
    } catch {
      return []
    }
  })

/** Creates the topic when it is missing. @throws when the brokers cannot be reached, or the rights are missing */
export async function openKafkaClaims(options: KafkaLogOptions): Promise<ClaimLog> {
  const client = createKafkaClient({ ...options, roles: { produce: false, consume: false } })
  const topic = `${options.topicPrefix}edges`
  const admin = client.kafka.admin()
  await admin.connect()
  try {
    await createTopic(admin, topic, options.replication)
  } finally {
    await admin.disconnect()
  }
  const producer = client.kafka.producer({ allowAutoTopicCreation: false, retry: { retries: 2, initialRetryTime: 50 } })
  await producer.connect()
  const connection = createRawConnection(client.kafka, client.config, (cluster) =>
    cluster.addMultipleTargetTopics([topic]),
  )

  async function append(claim: Claim): Promise<{ offset: number; atMs: number }> {
    const [answer] = await producer.send({
      topic,
      messages: [{ value: Buffer.from(JSON.stringify(claim)), headers: {} }],
    })
    const atMs = Number(answer?.logAppendTime ?? -1)
    if (!(atMs > 0)) throw new Error(`${topic}: message.timestamp.type must be LogAppendTime`)
    return { offset: Number(answer?.baseOffset), atMs }
  }

  async function read(cluster: RawCluster, offset: number, sinceMs: number): Promise<Claim[]> {
    const partitions = [{ partition: 0 }]
    const [found] = await cluster.fetchTopicsOffset([{ topic, partitions, fromTimestamp: sinceMs }])
    const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [0]))
    const broker = await cluster.findBroker({ nodeId: nodeId as string })
    const claims: Claim[] = []
    for (let next = Number(found?.partitions[0]?.offset); next < offset; ) {
      const { responses } = await broker.fetch({
        maxWaitTime: 1_000,
        minBytes: 1,
        maxBytes: fetchBytes,
        isolationLevel: 0,
        topics: [{ topic, partitions: [{ partition: 0, fetchOffset: String(next), maxBytes: fetchBytes }] }],
      })
      const messages = responses
        .flatMap((one) => one.partitions)
        .flatMap((one) => one.messages)
        // A fetch begins with the batch that holds the record.
        .filter((message) => Number(message.offset) >= next)
      const last = messages.at(-1)
      if (last === undefined) throw new Error(`${topic}: claims from ${next} on are missing`)
      claims.push(...claimsOf(messages.filter((message) => Number(message.offset) < offset)))
      next = Number(last.offset) + 1
    }
    return claims
  }

  let isReady = false
  return {
    async append(claim) {
      for (const giveUpAt = performance.now() + readyMs; ; ) {
        try {
          const appended = await append(claim)
          isReady = true
          return appended
        } catch (error) {
          // Later ones are tried again by whoever keeps the lease.
          if (isReady || performance.now() > giveUpAt || !mayPassForNewTopic(error)) throw error
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    },
    async before(offset, sinceMs) {
      for (let attempt = 1; ; attempt++)
        try {
          return await read(await connection.cluster(), offset, sinceMs)
        } catch (error) {
          // The next look opens new connections, with new metadata.
          await connection.drop()
          if (attempt === readAttempts) throw error
          await new Promise((resolve) => setTimeout(resolve, attempt * 100))
        }
    },
    async close() {
      await connection.drop()
      await producer.disconnect()
    },
  }
}
