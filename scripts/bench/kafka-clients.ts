// Client CPU per message of kafkajs, of our driver over it, and of @platformatic/kafka, on one real broker.
import { randomBytes } from 'node:crypto'
import { Consumer, type Message, Producer } from '@platformatic/kafka'
import { Kafka, logLevel } from 'kafkajs'
import { createKafkaLog } from '../../services/core/log/kafka/kafka-log.ts'
import { topics } from '../../services/events/registry.ts'
import { type Broker, startBroker } from '../../test/fixtures/kafka-broker.ts'
import { recordOf } from '../../test/fixtures/log-record.ts'

type Client = {
  name: string
  /** Sends batches of messages one after the other. */
  produce(topic: string, batches: Buffer[][]): Promise<void>
  /** Reads that many messages from the start of the topic. */
  consume(topic: string, count: number): Promise<void>
}

const perBatch = 100
const unique = (): string => `bench-${randomBytes(6).toString('hex')}`

const kafkajs = (brokers: string[]): Client => {
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })
  return {
    name: 'kafkajs, own encoding',
    async produce(topic, batches) {
      const producer = kafka.producer({ idempotent: true, createPartitioner: () => () => 0 })
      await producer.connect()
      for (const values of batches)
        await producer.send({ topic, acks: -1, messages: values.map((value) => ({ value, headers: { record: '1' } })) })
      await producer.disconnect()
    },
    async consume(topic, count) {
      const consumer = kafka.consumer({ groupId: unique(), maxBytesPerPartition: 4 * 2 ** 20, maxWaitTimeInMs: 100 })
      await consumer.connect()
      await consumer.subscribe({ topic, fromBeginning: true })
      let seen = 0
      const all = Promise.withResolvers<void>()
      await consumer.run({
        autoCommit: false,
        eachBatch: async ({ batch: { messages } }) => {
          seen += messages.length
          if (seen >= count) all.resolve()
        },
      })
      await all.promise
      await consumer.disconnect()
    },
  }
}

const platformatic = (bootstrapBrokers: string[]): Client => ({
  name: '@platformatic/kafka',
  async produce(topic, batches) {
    const producer = new Producer({ clientId: 'bench', bootstrapBrokers, idempotent: true, acks: -1 })
    for (const values of batches)
      await producer.send({
        messages: values.map((value) => ({
          topic,
          partition: 0,
          value,
          headers: new Map([[Buffer.from('record'), Buffer.from('1')]]),
        })),
      })
    await producer.close()
  },
  async consume(topic, count) {
    const consumer = new Consumer({ clientId: 'bench', groupId: unique(), bootstrapBrokers })
    const options = { topics: [topic], mode: 'earliest', autocommit: false, maxBytes: 4 * 2 ** 20, maxWaitTime: 100 }
    const stream = await consumer.consume({ ...options, mode: 'earliest' })
    let seen = 0
    for await (const _ of stream as AsyncIterable<Message<Buffer, Buffer, Buffer, Buffer>>) if (++seen === count) break
    await stream.close()
    await consumer.close()
  },
})

/** Milliseconds of CPU of this process. */
async function cpuOf(step: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await step()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] as number

async function measure(broker: Broker, valueBytes: number, count: number, rounds: number): Promise<void> {
  const brokers = [broker.address]
  const clients = [kafkajs(brokers), platformatic(brokers)]
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const batches = Array.from({ length: count / perBatch }, () =>
    Array.from({ length: perBatch }, () => randomBytes(valueBytes)),
  )
  const figures = new Map<string, number[]>()
  const note = (name: string, ms: number) => figures.set(name, [...(figures.get(name) ?? []), (ms * 1000) / count])
  for (let round = 0; round <= rounds; round++)
    for (const client of clients) {
      const topic = unique()
      const configEntries = [{ name: 'max.message.bytes', value: String(8 * 2 ** 20) }]
      await admin.createTopics({ topics: [{ topic, numPartitions: 1, configEntries }] })
      const produce = await cpuOf(() => client.produce(topic, batches))
      const consume = await cpuOf(() => client.consume(topic, count))
      await admin.deleteTopics({ topics: [topic] })
      // The first round warms the compiler.
      if (round === 0) continue
      note(`${client.name} produce`, produce)
      note(`${client.name} consume`, consume)
    }
  for (let round = 0; round <= rounds; round++) {
    const name = unique()
    const log = await createKafkaLog({
      brokers,
      topics,
      group: name,
      topicPrefix: `${name}.`,
      partitions: 1,
      replication: 1,
      retentionMs: 3_600_000,
      roles: { produce: true, consume: true },
      compression: 'none',
    })
    const records = batches.map((values) => values.map(() => recordOf(['a'], { text: 'x'.repeat(valueBytes - 50) })))
    const produce = await cpuOf(async () => {
      for (const group of records) await Promise.all(group.map((record) => log.append('calls', [record])))
    })
    const consume = await cpuOf(async () => {
      let seen = 0
      for await (const batch of log.consume('calls', new AbortController().signal)) {
        seen += batch.records.length
        await log.commit({ topic: 'calls', partition: batch.partition, offset: batch.lastOffset })
        if (seen === count) break
      }
    })
    await log.close()
    if (round === 0) continue
    note('driver over kafkajs produce', produce)
    note('driver over kafkajs consume', consume)
  }
  await admin.disconnect()
  process.stdout.write(`${valueBytes} bytes, ${count} messages, ${perBatch} per request: CPU us per message, median\n`)
  for (const [name, values] of [...figures].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    process.stdout.write(`  ${name.padEnd(32)} ${median(values).toFixed(1)}\n`)
}

export async function benchKafkaClients(count: number, rounds: number): Promise<void> {
  const broker = await startBroker()
  try {
    await measure(broker, 1_300, count, rounds)
    await measure(broker, 16_000, Math.ceil(count / 1_000) * 100, rounds)
  } finally {
    await broker.dispose()
  }
}
