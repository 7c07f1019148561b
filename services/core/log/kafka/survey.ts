// Looks at the brokers, the topics and the group of an installation without changing anything.
import kafkajs from 'kafkajs'
import { createKafkaClient, type KafkaLogOptions } from './client.ts'

export type TopicSurvey = {
  topic: string
  partitions: number
  /** Least number of copies of a partition, and of copies that are up to date. */
  replicas: number
  inSync: number
  /** Settings by name; empty where this user may not read them. */
  settings: Record<string, string>
}

export type KafkaSurvey = {
  brokers: number
  /** Those that exist. */
  topics: TopicSurvey[]
  missing: string[]
  group: { state: string; members: number }
}

/** @throws when the brokers cannot be reached or refuse */
export async function surveyKafka(
  options: Omit<KafkaLogOptions, 'roles' | 'partitions' | 'replication' | 'retentionMs' | 'compression'>,
): Promise<KafkaSurvey> {
  const unused = { partitions: 1, replication: 1, retentionMs: 0, compression: 'none' } as const
  const client = createKafkaClient({ ...options, ...unused, roles: { produce: false, consume: false } })
  // A broker that has just begun to hold the group says so for a second or two.
  const admin = client.kafka.admin({ retry: { retries: 6, initialRetryTime: 100, maxRetryTime: 1_000 } })
  await admin.connect()
  try {
    const { brokers } = await admin.describeCluster()
    const all = new Set(await admin.listTopics())
    const existing = client.topics.filter((topic) => all.has(client.named(topic)))
    const settings = await settingsOf(existing.map(client.named))
    const { topics: found } =
      existing.length === 0 ? { topics: [] } : await admin.fetchTopicMetadata({ topics: existing.map(client.named) })
    const { groups } = await admin.describeGroups([options.group])
    return {
      brokers: brokers.length,
      topics: found.map(({ name, partitions }) => ({
        topic: client.topicOf(name) as string,
        partitions: partitions.length,
        replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
        inSync: Math.min(...partitions.map(({ isr }) => isr.length)),
        settings: settings.get(name) ?? {},
      })),
      missing: client.topics.map(client.named).filter((name) => !all.has(name)),
      group: { state: groups[0]?.state ?? 'unknown', members: groups[0]?.members.length ?? 0 },
    }
  } finally {
    await admin.disconnect()
  }

  async function settingsOf(names: string[]): Promise<Map<string, Record<string, string>>> {
    if (names.length === 0) return new Map()
    const resources = names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name }))
    try {
      const described = await admin.describeConfigs({ resources, includeSynonyms: false })
      return new Map(
        described.resources.map(({ resourceName, configEntries }) => [
          resourceName,
          Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
        ]),
      )
    } catch (error) {
      if ((error as { type?: unknown }).type === 'TOPIC_AUTHORIZATION_FAILED') return new Map()
      throw error
    }
  }
}
