// The log of many machines: topics of a Kafka cluster, one per event family. Puts the driver together.

import type { Lag, Log, LogHealth, Position } from '../log.ts'
import { createUnapplied, type ProjectBytes, sumOf, type Unapplied } from '../segments/unapplied.ts'
import { createKafkaClient, type KafkaClient, type KafkaLogOptions, prepareTopics } from './client.ts'
import { createKafkaConsumer, type KafkaConsumer } from './consumer.ts'
import { createKafkaIdentity } from './identity.ts'
import { createPartitionLag, type PartitionLag } from './lag.ts'
import { createOwnAppends, type OwnAppends } from './own.ts'
import { createKafkaPositions, type KafkaPositions, type Offsets } from './positions.ts'
import { createKafkaProducer, type KafkaProducer } from './producer.ts'

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

type KafkaLogState = {
  options: KafkaLogOptions
  client: KafkaClient
  partitions: ReadonlyMap<string, number>
  recordBytes: number
  /** Lag of each partition: its part that is not applied. */
  lags: ReadonlyMap<string, PartitionLag[]>
  /** Shares of projects in what is not applied. */
  shares: Unapplied
  /** Appends of this process, by partition. */
  own: ReadonlyMap<string, OwnAppends[]>
  /** When the position of a partition last went back: answers to look-ups that began before are stale. */
  wentBackAt: Map<PartitionLag, number>
  polledAt: number
  positions: KafkaPositions
  consumer: KafkaConsumer | null
  producer: KafkaProducer | null
  rebalanceCallbacks: (() => void)[]
  closing: Promise<void> | null
}

type PartitionId = Pick<Position, 'topic' | 'partition'>

/** Connects and creates missing topics. Throws when the brokers cannot be reached or the topics cannot be created. */
export async function createKafkaLog(options: KafkaLogOptions): Promise<KafkaLog> {
  const { roles, group, maxUnappliedBytes = Number.POSITIVE_INFINITY } = options
  const client = createKafkaClient(options)
  const { partitions, recordBytes } = await prepareTopics(client, options)
  const byPartition = <T>(make: () => T) =>
    new Map(client.topics.map((topic) => [topic, Array.from({ length: partitions.get(topic) as number }, make)]))
  // This process does not know how much others apply, so a share counts only when much waits; each edge has its own.
  const shares = createUnapplied({ maxBytes: maxUnappliedBytes, isApplying: () => false })
  const positions = createKafkaPositions({
    client,
    group,
    partitions,
    onEnds(ends) {
      const now = Date.now()
      for (const one of eachPosition(ends)) lagOf(log, one).observed(one.offset, now)
    },
    onCommitted: (offsets, sinceMs) => onCommitted(log, offsets, sinceMs),
  })
  const log: KafkaLogState = {
    options,
    client,
    partitions,
    recordBytes,
    lags: byPartition(createPartitionLag),
    shares,
    own: byPartition(() => createOwnAppends(shares.give)),
    wentBackAt: new Map(),
    polledAt: Number.NEGATIVE_INFINITY,
    positions,
    consumer: null,
    producer: null,
    rebalanceCallbacks: [],
    closing: null,
  }
  const identity = createKafkaIdentity(client, positions.kept)
  log.consumer = roles.consume ? consumerOf(log) : null
  const lastClock = await openPositions(log)
  log.producer = roles.produce ? await producerOf(log, lastClock) : null
  const polling = setInterval(() => {
    if (performance.now() - log.polledAt >= pollMs)
      Promise.all([positions.committed(), positions.ends()]).catch(() => undefined)
  }, pollMs)
  polling.unref()
  async function closeAll(): Promise<void> {
    clearInterval(polling)
    // Appends are finished first: they may take as long as the brokers let them.
    await log.producer?.close()
    await log.consumer?.close()
    await identity.close()
    await positions.close()
  }
  return {
    ...portOf(log),
    identity: identity.identity,
    lastClock: () => lastClock,
    close() {
      log.closing ??= closeAll()
      return log.closing
    },
  }
}

function portOf(log: KafkaLogState) {
  const { client, positions, partitions, recordBytes, consumer, producer } = log
  return {
    topics: client.topics,
    refusal: (projects) => refusal(log, sumOf(projects), projects),
    async append(topic, records) {
      if (producer === null) throw new Error('This process was not opened to append')
      return producer.append(topic, records)
    },
    end: async (topic) => inOrder(await positions.ends([topic]), topic),
    consume(topic, signal) {
      if (consumer === null) throw new Error('This process was not opened to consume')
      return consumer.consume(topic, signal)
    },
    commit: (position) => commit(log, position),
    async committed(topic) {
      const committed = inOrder(await positions.committed([topic]), topic)
      // Positions that this process has committed may be newer than the look-up.
      return committed.map((one) => ({ ...one, offset: Math.max(one.offset, lagOf(log, one).position()) }))
    },
    // The brokers make the ids.
    renew: async () => {},
    beginAfter: async (applied) => consumer?.beginAfter(applied),
    onRebalance: (callback) => void log.rebalanceCallbacks.push(callback),
    // The brokers remove by age whatever was applied.
    remembered() {},
    takeMore: (topic, bytes) => consumer?.more(topic, bytes) ?? [],
    flush: (topic) => consumer?.flush(topic),
    owns: (topic, partition) => consumer?.owns(topic, partition) ?? false,
    partitions: (topic) => partitions.get(topic) as number,
    limits: { recordBytes },
    health: () => healthOf(log),
    counters: () => producer?.counters() ?? { requests: 0, records: 0 },
    bufferedBytes: () => consumer?.bufferedBytes() ?? 0,
    lag: () => lagsOf(log),
  } satisfies Partial<KafkaLog>
}

function lagOf({ lags }: KafkaLogState, { topic, partition }: PartitionId): PartitionLag {
  const lag = lags.get(topic)?.[partition]
  if (lag === undefined) throw new Error(`Topic ${topic} has no partition ${partition}`)
  return lag
}

const ownOf = ({ own }: KafkaLogState, { topic, partition }: PartitionId): OwnAppends =>
  own.get(topic)?.[partition] as OwnAppends

function* eachPosition(offsets: Offsets): Generator<Position> {
  for (const [topic, ofTopic] of offsets)
    for (const [partition, offset] of ofTopic.entries()) yield { topic, partition, offset }
}

const inOrder = (offsets: Offsets, topic: string): Position[] =>
  (offsets.get(topic) as number[]).map((offset, partition) => ({ topic, partition, offset }))

function onCommitted(log: KafkaLogState, offsets: Offsets, sinceMs: number): void {
  if (offsets.size === log.client.topics.length) log.polledAt = performance.now()
  for (const one of eachPosition(offsets)) {
    const lag = lagOf(log, one)
    // An answer to a look-up that began before the position went back is stale.
    if ((log.wentBackAt.get(lag) ?? 0) > sinceMs) continue
    lag.committed(one.offset)
    ownOf(log, one).committed(one.offset)
    if (one.offset < lag.position()) void log.consumer?.restore({ ...one, offset: lag.position() })
  }
}

function unappliedBytes({ lags, producer }: KafkaLogState): number {
  let bytes = producer?.inflightBytes() ?? 0
  for (const ofTopic of lags.values()) for (const lag of ofTopic) bytes += lag.unappliedBytes()
  return bytes
}

function refusal(log: KafkaLogState, bytes: number, projects: ProjectBytes) {
  const { shares, options } = log
  const { maxUnappliedBytes = Number.POSITIVE_INFINITY } = options
  return maxUnappliedBytes === Number.POSITIVE_INFINITY ? null : shares.refusal(bytes, projects, unappliedBytes(log))
}

function consumerOf(log: KafkaLogState): KafkaConsumer {
  const { client, options, positions, wentBackAt } = log
  return createKafkaConsumer({
    client,
    settings: options,
    onCommitted(position) {
      lagOf(log, position).committed(position.offset)
      ownOf(log, position).committed(position.offset)
    },
    onRebalance() {
      for (const callback of log.rebalanceCallbacks) callback()
    },
    onGoingBack(position) {
      const lag = lagOf(log, position)
      wentBackAt.set(lag, Number.POSITIVE_INFINITY)
      lag.wentBack(position.offset, Date.now())
      return () => void wentBackAt.set(lag, performance.now())
    },
    committed: async (topic) => inOrder(await positions.committed([topic]), topic),
  })
}

function producerOf(log: KafkaLogState, lastClock: bigint): Promise<KafkaProducer> {
  const { client, options, partitions, recordBytes, shares } = log
  return createKafkaProducer({
    client,
    settings: options,
    partitions,
    recordBytes,
    lastClock,
    admit(bytes, projects) {
      const refused = refusal(log, bytes, projects)
      if (refused !== null) throw refused
      shares.take(bytes, projects)
    },
    onAppended(position, records, { sizeBytes, projects }) {
      lagOf(log, position).appended(position.offset, records, sizeBytes, Date.now())
      ownOf(log, position).appended(position.offset, sizeBytes, projects)
    },
    onDropped: ({ sizeBytes, projects }) => shares.give(sizeBytes, projects),
  })
}

/** @returns the greatest clock in the log, where this process appends */
async function openPositions({ positions, options }: KafkaLogState): Promise<bigint> {
  try {
    await positions.open()
    return options.roles.produce ? await positions.lastClock() : 0n
  } catch (error) {
    await positions.close()
    throw error
  }
}

async function commit(log: KafkaLogState, position: Position): Promise<void> {
  const { consumer, positions } = log
  if (consumer === null) throw new Error('This process was not opened to consume')
  if (!Number.isSafeInteger(position.offset)) throw new Error(`${position.offset} is no position`)
  const lag = lagOf(log, position)
  if (position.offset <= lag.position()) return consumer.passed(position)
  if (position.offset > lag.end())
    await positions.ends([position.topic]).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw Object.assign(new Error(`The position of ${position.topic} cannot be checked: ${reason}`), passing)
    })
  if (position.offset > lag.end())
    throw new Error(`Position ${position.offset} of ${position.topic} is beyond the end ${lag.end()}`)
  await consumer.commit(position)
}

function healthOf(log: KafkaLogState): LogHealth {
  const { lags, producer, consumer, positions, shares } = log
  const isClosed = log.closing !== null
  const now = Date.now()
  let oldestMs = now
  for (const ofTopic of lags.values()) for (const lag of ofTopic) oldestMs = Math.min(oldestMs, lag.oldestMs() ?? now)
  const reasons = [producer?.problem(), consumer?.problem(), positions.problem(), shares.reason()].filter(
    (reason) => typeof reason === 'string',
  )
  if (isClosed) reasons.unshift('The log is closed')
  const status = isClosed ? 'down' : reasons.length > 0 ? 'degraded' : 'ok'
  const fields: LogHealth = { status, unappliedBytes: unappliedBytes(log), lagMs: Math.max(0, now - oldestMs) }
  return reasons.length === 0 ? fields : { ...fields, reason: reasons.join('; ') }
}

function lagsOf({ client, lags, consumer }: KafkaLogState): Lag[] {
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
}
