// A start waits until the brokers know the topics that it made, also where the client gave up by itself before.
import { KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } from 'kafkajs'
import { expect, it } from 'vitest'
import { type KafkaClient, type KafkaLogOptions, prepareTopics } from '../../services/core/log/kafka/client.ts'
import { topicNames } from '../../services/events/registry.ts'

const refusal = (type: string, retriable: boolean) =>
  new KafkaJSProtocolError(Object.assign(new Error(type), { type, code: 3, retriable }) as never)
const givenUp = (error: Error) =>
  new KafkaJSNumberOfRetriesExceeded(error as never, { retryCount: 3, retryTime: 100 } as never)

/** A client of brokers that first answer with the errors. */
function clientOf(errors: Error[]) {
  const left = [...errors]
  const admin = {
    connect: async () => {},
    disconnect: async () => {},
    listTopics: async () => topicNames,
    describeConfigs: async () => ({ resources: [] }),
    async fetchTopicMetadata() {
      const error = left.shift()
      if (error) throw error
      return { topics: topicNames.map((name) => ({ name, partitions: [{ leader: 1 }] })) }
    },
  }
  const named = (name: string) => name
  const client = { kafka: { admin: () => admin }, topics: topicNames, named, topicOf: named }
  return { client: client as unknown as KafkaClient, left }
}
const options = {} as KafkaLogOptions

it('a start waits for topics that are not known yet or have no leader', async () => {
  const { client } = clientOf([
    refusal('UNKNOWN_TOPIC_OR_PARTITION', true),
    givenUp(refusal('UNKNOWN_TOPIC_OR_PARTITION', true)),
    givenUp(refusal('LEADER_NOT_AVAILABLE', true)),
  ])
  expect((await prepareTopics(client, options)).partitions.size).toBe(topicNames.length)
})

it.each([
  ['TOPIC_AUTHORIZATION_FAILED', refusal('TOPIC_AUTHORIZATION_FAILED', false)],
  ['NETWORK_EXCEPTION', givenUp(refusal('NETWORK_EXCEPTION', true))],
])('does not wait after %s', async (type, error) => {
  const { client, left } = clientOf([error, refusal('UNKNOWN_TOPIC_OR_PARTITION', true)])
  await expect(prepareTopics(client, options)).rejects.toThrow(type)
  expect(left).toHaveLength(1)
})
