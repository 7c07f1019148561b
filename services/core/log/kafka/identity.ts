// Ids of the topics, over a connection of its own: the others do not get through to a topic that was made anew.

import type { KeptRange, TopicIdentity } from '../log.ts'
import type { KafkaClient } from './client.ts'
import { createRawConnection } from './internals.ts'
import { fetchTopicIds } from './topic-ids.ts'

export type KafkaIdentity = {
  /**
   * The ids and contents of the topics, while they are the topics of the first call. @throws when the brokers do not
   * answer
   */
  identity(): Promise<TopicIdentity[]>
  close(): Promise<void>
}

/** @param kept looks at what the topics hold */
export function createKafkaIdentity(
  { kafka, config, topics, named }: KafkaClient,
  kept: () => Promise<(topic: string) => KeptRange[]>,
): KafkaIdentity {
  const { cluster, drop } = createRawConnection(kafka, config)
  let first: Map<string, string> | null = null

  async function look(): Promise<Map<string, string>> {
    const { brokerPool } = await cluster()
    return fetchTopicIds(await brokerPool.findConnectedBroker(), topics.map(named))
  }

  return {
    async identity() {
      // Brokers come and go: the second time with what they are like now.
      const ids = await look().catch(async () => {
        await drop()
        return look()
      })
      first ??= ids
      const isSame = topics.every(
        (topic) => ids.has(named(topic)) && ids.get(named(topic)) === first?.get(named(topic)),
      )
      const rangesOf = isSame ? await kept() : () => []
      return topics.map((topic) => ({ topic, id: ids.get(named(topic)) ?? '', kept: rangesOf(topic) }))
    },
    close: drop,
  }
}
