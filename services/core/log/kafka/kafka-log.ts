// The log of many machines: topics of a Kafka cluster, one per event family. Puts the driver together.

import type { Log, LogHealth, Position } from '../log.ts'
import { createUnapplied, type ProjectBytes, sumOf } from '../segments/unapplied.ts'
import { createKafkaClient, type KafkaLogOptions, prepareTopics } from './client.ts'
import { createKafkaConsumer } from './consumer.ts'
import { createKafkaIdentity } from './identity.ts'
import { createPartitionLag, type PartitionLag } from './lag.ts'
import { createOwnAppends, type OwnAppends } from './own.ts'
import { createKafkaPositions, type Offsets } from './positions.ts'
import { createKafkaProducer } from './producer.ts'

export type KafkaLog = Log & {
  /** Counters of this process since its start. */
  counters(): { requests: number; records: number }
  /** Bytes of records that the consumer holds. */
  bufferedBytes(): number
}

/** Interval between look-ups of positions when nobody asks. */
const pollMs = 1_000

/** The broker does not answer: the worker tries again. */
const passing = { code: 'EAGAIN' }

/** Connects and creates missing topics. Throws when the brokers cannot be reached or the topics cannot be created. */
export async function createKafkaLog(options: KafkaLogOptions): Promise<KafkaLog> {
  const { roles, group, maxUnappliedBytes = Number.POSITIVE_INFINITY } = options
  const client = createKafkaClient(options)
  const { partitions, recordBytes } = await prepareTopics(client, options)
  const lags = new Map<string, PartitionLag[]>(
    client.topics.map((topic) => [topic, Array.from({ length: partitions.get(topic) as number }, createPartitionLag)]),
  )
  const of = ({ topic, partition }: Pick<Position, 'topic' | 'partition'>): PartitionLag => {
    const found = lags.get(topic)?.[partition]
    if (found === undefined) throw new Error(`Topic ${topic} has no partition ${partition}`)
    return found
  }
  // This process does not know how much others apply, so a share counts only when much waits; each edge has its own.
  const shares = createUnapplied({ maxBytes: maxUnappliedBytes, isApplying: () => false })
  const own = new Map<string, OwnAppends[]>(
    client.topics.map((topic) => [
      topic,
      Array.from({ length: partitions.get(topic) as number }, () => createOwnAppends(shares.give)),
    ]),
  )
  const ownOf = ({ topic, partition }: Pick<Position, 'topic' | 'partition'>) =>
    own.get(topic)?.[partition] as OwnAppends
  const wentBackAt = new Map<PartitionLag, number>()
  let polledAt = Number.NEGATIVE_INFINITY
  let closing: Promise<void> | null = null

  function each(offsets: Offsets, step: (position: Position) => void): void {
    for (const [topic, found] of offsets)
      for (const [partition, offset] of found.entries()) step({ topic, partition, offset })
  }
  const positions = createKafkaPositions({
    client,
    group,
    partitions,
    onEnds(ends) {
      const now = Date.now()
      each(ends, (one) => of(one).observed(one.offset, now))
    },
    onCommitted(offsets, sinceMs) {
      if (offsets.size === client.topics.length) polledAt = performance.now()
      each(offsets, (one) => {
        const lag = of(one)
        // An answer to a look-up that began before the position went back is stale.
        if ((wentBackAt.get(lag) ?? 0) > sinceMs) return
        lag.committed(one.offset)
        ownOf(one).committed(one.offset)
        if (one.offset < lag.position()) void consumer?.restore({ ...one, offset: lag.position() })
      })
    },
  })
  const identity = createKafkaIdentity(client, positions.kept)
  const inOrder = (found: number[], topic: string): Position[] =>
    found.map((offset, partition) => ({ topic, partition, offset }))

  const unapplied = (): number => {
    let bytes = producer?.inflightBytes() ?? 0
    for (const found of lags.values()) for (const lag of found) bytes += lag.unappliedBytes()
    return bytes
  }
  const refusal = (bytes: number, projects: ProjectBytes) =>
    maxUnappliedBytes === Number.POSITIVE_INFINITY ? null : shares.refusal(bytes, projects, unapplied())
  function admit(bytes: number, projects: ProjectBytes): void {
    const refused = refusal(bytes, projects)
    if (refused !== null) throw refused
    shares.take(bytes, projects)
  }

  const rebalanceCallbacks: (() => void)[] = []
  const consumer = roles.consume
    ? createKafkaConsumer({
        client,
        settings: options,
        onCommitted(position) {
          of(position).committed(position.offset)
          ownOf(position).committed(position.offset)
        },
        onRebalance() {
          for (const callback of rebalanceCallbacks) callback()
        },
        onGoingBack(position) {
          const lag = of(position)
          wentBackAt.set(lag, Number.POSITIVE_INFINITY)
          lag.wentBack(position.offset, Date.now())
          return () => void wentBackAt.set(lag, performance.now())
        },
        committed: async (topic) => inOrder((await positions.committed([topic])).get(topic) as number[], topic),
      })
    : null
  const lastClock = await open()
  const producer = roles.produce
    ? await createKafkaProducer({
        client,
        settings: options,
        partitions,
        recordBytes,
        lastClock,
        admit,
        onAppended(position, records, { sizeBytes, projects }) {
          of(position).appended(position.offset, records, sizeBytes, Date.now())
          ownOf(position).appended(position.offset, sizeBytes, projects)
        },
        onDropped: ({ sizeBytes, projects }) => shares.give(sizeBytes, projects),
      })
    : null

  async function open(): Promise<bigint> {
    try {
      await positions.open()
      return roles.produce ? await positions.lastClock() : 0n
    } catch (error) {
      await positions.close()
      throw error
    }
  }

  const polling = setInterval(() => {
    if (performance.now() - polledAt >= pollMs)
      Promise.all([positions.committed(), positions.ends()]).catch(() => undefined)
  }, pollMs)
  polling.unref()

  function health(): LogHealth {
    const now = Date.now()
    let oldestMs = now
    for (const found of lags.values()) for (const lag of found) oldestMs = Math.min(oldestMs, lag.oldestMs() ?? now)
    const reasons = [producer?.problem(), consumer?.problem(), positions.problem(), shares.reason()].filter(
      (reason) => typeof reason === 'string',
    )
    if (closing !== null) reasons.unshift('The log is closed')
    const status = closing !== null ? 'down' : reasons.length > 0 ? 'degraded' : 'ok'
    const fields: LogHealth = { status, unappliedBytes: unapplied(), lagMs: Math.max(0, now - oldestMs) }
    return reasons.length === 0 ? fields : { ...fields, reason: reasons.join('; ') }
  }

  return {
    topics: client.topics,
    refusal: (projects) => refusal(sumOf(projects), projects),
    async append(topic, records) {
      if (producer === null) throw new Error('This process was not opened to append')
      return producer.append(topic, records)
    },
    end: async (topic) => inOrder((await positions.ends([topic])).get(topic) as number[], topic),
    consume(topic, signal) {
      if (consumer === null) throw new Error('This process was not opened to consume')
      return consumer.consume(topic, signal)
    },
    async commit(position) {
      if (consumer === null) throw new Error('This process was not opened to consume')
      if (!Number.isSafeInteger(position.offset)) throw new Error(`${position.offset} is no position`)
      const lag = of(position)
      if (position.offset <= lag.position()) return consumer.passed(position)
      if (position.offset > lag.end())
        await positions.ends([position.topic]).catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error)
          throw Object.assign(new Error(`The position of ${position.topic} cannot be checked: ${reason}`), passing)
        })
      if (position.offset > lag.end())
        throw new Error(`Position ${position.offset} of ${position.topic} is beyond the end ${lag.end()}`)
      await consumer.commit(position)
    },
    async committed(topic) {
      const found = inOrder((await positions.committed([topic])).get(topic) as number[], topic)
      // Positions that this process has committed may be newer than the look-up.
      return found.map((one) => ({ ...one, offset: Math.max(one.offset, of(one).position()) }))
    },
    identity: identity.identity,
    // The brokers make the ids.
    renew: async () => {},
    beginAfter: async (applied) => consumer?.beginAfter(applied),
    onRebalance: (callback) => void rebalanceCallbacks.push(callback),
    // The brokers remove by age whatever was applied.
    remembered() {},
    takeMore: (topic, bytes) => consumer?.more(topic, bytes) ?? [],
    flush: (topic) => consumer?.flush(topic),
    owns: (topic, partition) => consumer?.owns(topic, partition) ?? false,
    partitions: (topic) => partitions.get(topic) as number,
    limits: { recordBytes },
    lastClock: () => lastClock,
    health,
    counters: () => producer?.counters() ?? { requests: 0, records: 0 },
    bufferedBytes: () => consumer?.bufferedBytes() ?? 0,
    lag() {
      const now = Date.now()
      return client.topics.flatMap((topic) =>
        (lags.get(topic) as PartitionLag[]).map((one, partition) => ({
          topic,
          partition,
          records: one.end() - one.position(),
          bytes: one.unappliedBytes(),
          ageMs: Math.max(0, now - (one.oldestMs() ?? now)),
          isOwn: consumer?.owns(topic, partition) ?? false,
        })),
      )
    },
    close() {
      closing ??= (async () => {
        clearInterval(polling)
        // Appends are finished first: they may take as long as the brokers let them.
        await producer?.close()
        await consumer?.close()
        await identity.close()
        await positions.close()
      })()
      return closing
    },
  }
}
