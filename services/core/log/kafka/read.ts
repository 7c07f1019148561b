// Reads records of a topic's partition from any position on, outside of every group, for rebuilds and replays.

import type { StoredRecord } from '../segments/read.ts'
import { createKafkaClient, type KafkaLogOptions } from './client.ts'
import { createRawConnection, type RawMessage } from './internals.ts'
import { decodeHeaders } from './message.ts'

export type KafkaReader = {
  /**
   * Records from `fromOffset`, or the oldest that is kept, to `toOffset`, which must not be beyond the end.
   * @throws Error when the brokers or blob storage do not give a record after some tries
   */
  records(topic: string, partition: number, fromOffset: number, toOffset: number): AsyncGenerator<StoredRecord>
  close(): Promise<void>
}

const fetchBytes = 4 * 2 ** 20
/** Pauses between tries: leaders move, and storage may be away for a moment. */
const retryAfterMs = [100, 500, 2_000, 5_000, 10_000]

export function createKafkaReader(options: KafkaLogOptions): KafkaReader {
  const client = createKafkaClient({ ...options, roles: { produce: false, consume: false } })
  const connection = createRawConnection(client.kafka, client.config)

  async function again<T>(step: () => Promise<T>): Promise<T> {
    for (const waitMs of retryAfterMs)
      try {
        return await step()
      } catch {
        await connection.drop()
        await new Promise((resolve) => setTimeout(resolve, waitMs))
      }
    return step()
  }

  /** Position of the oldest record that is kept. */
  async function firstOf(name: string, partition: number): Promise<number> {
    const cluster = await connection.cluster()
    await cluster.addMultipleTargetTopics([name])
    const [found] = await cluster.fetchTopicsOffset([{ topic: name, partitions: [{ partition }], fromBeginning: true }])
    return Number(found?.partitions[0]?.offset) + 1
  }

  async function fetch(name: string, partition: number, position: number): Promise<RawMessage[]> {
    const cluster = await connection.cluster()
    await cluster.addMultipleTargetTopics([name])
    const [nodeId] = Object.keys(cluster.findLeaderForPartitions(name, [partition]))
    const broker = await cluster.findBroker({ nodeId: nodeId as string })
    const { responses } = await broker.fetch({
      maxWaitTime: 1_000,
      minBytes: 1,
      maxBytes: fetchBytes,
      isolationLevel: 0,
      topics: [{ topic: name, partitions: [{ partition, fetchOffset: String(position - 1), maxBytes: fetchBytes }] }],
    })
    const messages = responses.flatMap((one) => one.partitions).flatMap((one) => one.messages)
    // A fetch begins with the batch that holds the record.
    return messages.filter(({ offset }) => Number(offset) + 1 >= position)
  }

  async function recordOf({ offset, timestamp, value, headers }: RawMessage): Promise<StoredRecord> {
    const { highClock: _, largeBytes, ...stored } = decodeHeaders(headers)
    const stands = value ?? Buffer.alloc(0)
    let rows = stands
    if (largeBytes !== null) {
      const { largeRecords } = options
      if (largeRecords === undefined) throw new Error('A record lies in blob storage, and none is set')
      rows = await again(() => largeRecords.load(stands, largeBytes))
    }
    return {
      header: { offset: Number(offset) + 1, ...stored, sizeBytes: rows.length },
      appendedMs: Number(timestamp),
      rows,
    }
  }

  return {
    async *records(topic, partition, fromOffset, toOffset) {
      const name = client.named(topic)
      let next = Math.max(fromOffset, await again(() => firstOf(name, partition)))
      while (next <= toOffset) {
        const messages = await again(async () => {
          const found = await fetch(name, partition, next)
          if (found.length === 0) throw new Error(`${name}/${partition}: records from ${next} on are missing`)
          return found
        })
        for (const message of messages) {
          const record = await recordOf(message)
          if (record.header.offset > toOffset) return
          yield record
          next = record.header.offset + 1
        }
      }
    },
    close: connection.drop,
  }
}
