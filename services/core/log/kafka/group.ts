// The workers' group and what the brokers keep, from outside: where a backup was made, and where a restore begins again.

import type { Position, TopicIdentity } from '../log.ts'
import { createKafkaClient, type KafkaLogOptions } from './client.ts'
import { createKafkaIdentity } from './identity.ts'
import { createRawCluster, type RawCluster } from './internals.ts'

/** A partition: the oldest record that is kept, or the next one if there is none, and the last one. */
export type KeptPartition = { topic: string; partition: number; first: number; end: number }

export type KafkaGroup = {
  /** Workers that are in the group, or may come back to their place in it. */
  members(): Promise<number>
  /** Positions of every partition of the topics that exist. */
  kept(): Promise<KeptPartition[]>
  /** Ids of all topics. */
  identity(): Promise<TopicIdentity[]>
  /** Applied positions, of the same partitions. */
  committed(): Promise<Position[]>
  /** The group goes on after these positions. Throws while it has members. */
  moveTo(positions: Position[]): Promise<void>
  close(): Promise<void>
}

/** Pauses between tries: a coordinator may still read what it knows of the group. */
const retryAfterMs = [50, 200, 1_000, 3_000]

/** Finds the topics that exist; makes none. @throws when the brokers cannot be reached or refuse */
export async function openKafkaGroup(options: KafkaLogOptions): Promise<KafkaGroup> {
  const client = createKafkaClient({ ...options, roles: { produce: false, consume: false } })
  const groupId = options.group
  const admin = client.kafka.admin({ retry: { retries: 2 } })
  const cluster: RawCluster = createRawCluster(client.kafka, client.config)
  const identities = createKafkaIdentity(client, async () => {
    const all = await kept()
    return (topic) => all.filter((one) => one.topic === topic)
  })
  const close = async (): Promise<void> => {
    await identities.close()
    await cluster.disconnect()
    await admin.disconnect()
  }

  const partitionsOf = (topic: string): number[] =>
    cluster
      .findTopicPartitionMetadata(client.named(topic))
      .map(({ partitionId }) => partitionId)
      .sort((a, b) => a - b)

  async function again<T>(step: () => Promise<T>): Promise<T> {
    for (const waitMs of retryAfterMs)
      try {
        return await step()
      } catch (error) {
        if (!(error as { retriable?: unknown }).retriable) throw error
        await new Promise((resolve) => setTimeout(resolve, waitMs))
      }
    return step()
  }
  const ask = async (topics: readonly string[], fromBeginning: boolean) =>
    topics.length === 0
      ? []
      : again(() =>
          cluster.fetchTopicsOffset(
            topics.map((topic) => ({
              topic: client.named(topic),
              fromBeginning,
              partitions: partitionsOf(topic).map((partition) => ({ partition })),
            })),
          ),
        )
  const flat = (found: { topic: string; partitions: { partition: number; offset: string }[] }[]): Position[] =>
    found.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset }) => ({
        topic: client.topicOf(topic) as string,
        partition,
        offset: Math.max(0, Number(offset)),
      })),
    )

  let existing: string[] = []
  async function kept(): Promise<KeptPartition[]> {
    const ends = flat(await ask(existing, false))
    const firsts = flat(await ask(existing, true))
    return ends
      .map(({ topic, partition, offset: end }) => ({
        topic,
        partition,
        end,
        first: (firsts.find((one) => one.topic === topic && one.partition === partition)?.offset ?? 0) + 1,
      }))
      .sort((a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition)
  }

  try {
    await admin.connect()
    const all = new Set(await admin.listTopics())
    existing = client.topics.filter((topic) => all.has(client.named(topic)))
    await cluster.connect()
    await cluster.addMultipleTargetTopics(existing.map(client.named))
    return {
      async members() {
        const { groups } = await admin.describeGroups([groupId])
        return groups[0]?.members.length ?? 0
      },
      kept,
      identity: identities.identity,
      committed: () =>
        again(async () => {
          const coordinator = await cluster.findGroupCoordinator({ groupId })
          const topics = existing.map((topic) => ({
            topic: client.named(topic),
            partitions: partitionsOf(topic).map((partition) => ({ partition })),
          }))
          return flat((await coordinator.offsetFetch({ groupId, topics })).responses)
        }),
      moveTo: (positions) =>
        again(async () => {
          const coordinator = await cluster.findGroupCoordinator({ groupId })
          const topics = existing.map((topic) => ({
            topic: client.named(topic),
            partitions: positions
              .filter((one) => one.topic === topic)
              // Position n is the offset of the record after it.
              .map(({ partition, offset }) => ({ partition, offset: String(offset) })),
          }))
          // The offsets belong to no member: the coordinator takes them only while the group is empty.
          await coordinator.offsetCommit({ groupId, groupGenerationId: -1, memberId: '', topics })
        }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
