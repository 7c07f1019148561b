// Reads the log as a member of the workers' group: fetches ahead into bounded buffers, delivers batches, commits.
import type { Consumer } from 'kafkajs'
import type { Batch, Position, RecordHeader } from '../log.ts'
import { createBeginnings } from './begin.ts'
import { createPartitionBuffer, type Fetched, type PartitionBuffer, type Taken } from './buffers.ts'
import type { KafkaClient, KafkaLogOptions } from './client.ts'
import { createKafkaDelivery, type KafkaDelivery } from './delivery.ts'

export type KafkaConsumer = {
  consume(topic: string, signal: AbortSignal): AsyncIterable<Batch>
  beginAfter(applied: () => Promise<Position[]>): void
  more(topic: string, bytes: number): Batch[]
  /** Throws an error with the code EAGAIN when it may succeed later. A partition that was lost changes nothing. */
  commit(position: Position): Promise<void>
  /** The position is known to be committed, perhaps by another worker: what is held up to it is let go. */
  passed(position: Position): void
  /** The brokers tell an older position than was committed: a worker that had lost the partition wrote late. */
  restore(position: Position): Promise<void>
  flush(topic: string): void
  owns(topic: string, partition: number): boolean
  /** Bytes of records in memory. */
  bufferedBytes(): number
  problem(): string | null
  close(): Promise<void>
}

/** kafkajs wraps what the broker said, sometimes several times. */
const isFenced = (error: unknown): boolean =>
  error instanceof Error && ((error as { type?: unknown }).type === 'FENCED_INSTANCE_ID' || isFenced(error.cause))

const mib = 2 ** 20
/** Longest wait of a fetch for new records; also how long it takes until a resumed partition is fetched. */
const maxWaitTimeInMs = 100

export function createKafkaConsumer(options: {
  client: KafkaClient
  settings: KafkaLogOptions
  onCommitted(position: Position): void
  /** This member came to the group, or came again. */
  onRebalance(): void
  /** Applied positions as the group knows them. */
  committed(topic: string): Promise<Position[]>
  /** The position of the group goes back; what is returned is called when it has. */
  onGoingBack(position: Position): () => void
}): KafkaConsumer {
  const { client, settings } = options
  const { batchBytes = 8 * mib, sealAfterMs = 60, flushEveryMs = 50, maxBufferedBytes = 128 * mib } = settings
  const { sessionTimeoutMs = 30_000, compression, logger } = settings
  /** Partitions of this member, by `topic/partition`. */
  const buffers = new Map<string, PartitionBuffer>()
  const paused = new Set<PartitionBuffer>()
  const deliveries = new Map<string, KafkaDelivery>(client.topics.map((topic) => [topic, createKafkaDelivery()]))
  let consumer: Consumer | null = null
  let starting: Promise<void> | null = null
  let buffered = 0
  let closed = false
  let problem: string | null = null
  /** Partitions whose next batch cannot be had from blob storage, and when it is tried again. */
  const postponed = new Map<PartitionBuffer, { until: number; waitMs: number; reason: string }>()
  /** Positions that the group coordinator confirmed, by name and partition. */
  const confirmed = new Map<string, number>()
  let isJoined = false
  /** Another worker took the name of this one. */
  let fenced: Error | null = null
  let writing: { positions: Position[]; done: Promise<void> } | null = null

  const beginnings = createBeginnings({
    committed: options.committed,
    async goBack(position) {
      const isDone = options.onGoingBack(position)
      await write(position).finally(isDone)
      const { topic, partition, offset } = position
      consumer?.seek({ topic: client.named(topic), partition, offset: String(offset) })
    },
    onReady({ topic }) {
      balance()
      of(topic).wake()
    },
    logger,
  })

  const of = (topic: string): KafkaDelivery => deliveries.get(topic) as KafkaDelivery

  const nameOf = ({ topic, partition }: PartitionBuffer) => ({ topic: client.named(topic), partitions: [partition] })

  /** Stops fetching for partitions that hold a batch, and for all when together they hold too much. */
  function balance(): void {
    const isOver = buffered >= maxBufferedBytes
    const hasRoom = buffered < maxBufferedBytes * 0.8
    for (const buffer of buffers.values()) {
      const isPaused = paused.has(buffer)
      const isEnough = buffer.isFull() || beginnings.isWaiting(buffer)
      if (!isPaused && (isOver || isEnough)) {
        paused.add(buffer)
        consumer?.pause([nameOf(buffer)])
      } else if (isPaused && hasRoom && !isEnough) {
        paused.delete(buffer)
        consumer?.resume([nameOf(buffer)])
      }
    }
  }

  function onRebalance(assignment: Record<string, number[]>): void {
    problem = null
    isJoined = true
    const mine = new Set<string>()
    const come: PartitionBuffer[] = []
    for (const [name, partitions] of Object.entries(assignment)) {
      const topic = client.topicOf(name)
      if (topic === undefined) continue
      for (const partition of partitions) {
        const key = `${topic}/${partition}`
        mine.add(key)
        if (buffers.has(key)) continue
        const buffer = createPartitionBuffer(topic, partition, batchBytes, () => performance.now())
        buffers.set(key, buffer)
        come.push(buffer)
      }
    }
    for (const [key, buffer] of buffers)
      if (!mine.has(key)) {
        // Another worker has it now and begins at the position: what was delivered here is applied twice, harmlessly.
        buffers.delete(key)
        paused.delete(buffer)
        postponed.delete(buffer)
        beginnings.remove(buffer)
        buffered -= buffer.bytes()
      }
    beginnings.add(come)
    // A new membership knows of no pauses.
    paused.clear()
    balance()
    for (const { wake } of deliveries.values()) wake()
  }

  function onFetched(name: string, partition: number, highWatermark: string, messages: Fetched[]): void {
    const topic = client.topicOf(name)
    const buffer = buffers.get(`${topic}/${partition}`)
    if (topic === undefined || buffer === undefined) return
    buffered += buffer.add(messages, Number(highWatermark))
    balance()
    of(topic).wake()
  }

  async function start(): Promise<void> {
    const created = client.kafka.consumer({
      groupId: settings.group,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: Math.max(10_000, sessionTimeoutMs),
      heartbeatInterval: Math.min(3_000, Math.round(sessionTimeoutMs / 4)),
      // compressed bytes grow when they come in
      maxBytesPerPartition: compression === 'gzip' ? mib : 4 * mib,
      maxBytes: 16 * mib,
      minBytes: 1,
      maxWaitTimeInMs,
      allowAutoTopicCreation: false,
      readUncommitted: true,
      retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 2_000, restartOnFailure: async () => !closed },
    })
    created.on(created.events.GROUP_JOIN, ({ payload }) => {
      if (consumer !== created) return
      onRebalance(payload.memberAssignment)
      options.onRebalance()
    })
    created.on(created.events.COMMIT_OFFSETS, ({ payload }) => {
      for (const { topic, partitions } of payload.topics)
        for (const { partition, offset } of partitions) confirmed.set(`${topic}/${partition}`, Number(String(offset)))
    })
    created.on(created.events.CRASH, ({ payload }) => {
      isJoined = false
      problem = `The consumer of the log failed: ${payload.error.message}`
      logger?.warn({ err: payload.error, restart: payload.restart }, 'the consumer of Kafka failed')
      if (isFenced(payload.error)) return fence()
      if (payload.restart || closed || consumer !== created) return
      consumer = null
      starting = restart()
    })
    consumer = created
    await created.connect()
    await created.subscribe({ topics: client.topics.map(client.named), fromBeginning: true })
    await created.run({
      autoCommit: false,
      partitionsConsumedConcurrently: 16,
      eachBatch: async ({ batch: { topic, partition, highWatermark, messages } }) =>
        onFetched(topic, partition, highWatermark, messages),
    })
  }

  /** Two workers of one name would take the partitions from each other for ever: the older one ends. */
  function fence(): void {
    fenced = new Error(
      `Another worker started with the name ${settings.instanceId}: CALLHOUSE_WORKER_ID has to be different for each`,
    )
    problem = fenced.message
    consumer = null
    for (const { wake } of deliveries.values()) wake()
  }

  async function restart(): Promise<void> {
    for (let waitMs = 200; !closed && fenced === null; waitMs = Math.min(waitMs * 2, 5_000)) {
      try {
        await start()
        return
      } catch (error) {
        problem = `The consumer of the log does not start: ${error instanceof Error ? error.message : String(error)}`
        logger?.warn({ err: error }, 'the consumer of Kafka does not start')
        const failed = consumer
        consumer = null
        await failed?.disconnect().catch(() => undefined)
        await new Promise((resolve) => setTimeout(resolve, waitMs))
      }
    }
  }

  /** The partition whose batch is due, or the milliseconds until one is; null when none waits. */
  function due(topic: string): PartitionBuffer | number | null {
    const delivery = of(topic)
    const now = performance.now()
    let first: PartitionBuffer | null = null
    let firstSince = Number.POSITIVE_INFINITY
    let soonest = Number.POSITIVE_INFINITY
    for (const buffer of buffers.values()) {
      if (buffer.topic !== topic) continue
      const since = buffer.waitingSince()
      if (since === null) continue
      const byAge = since + sealAfterMs
      const flushAt = delivery.isFlushing ? Math.min(byAge, delivery.lastAt + flushEveryMs) : byAge
      const at = Math.max(buffer.isFull() ? now : flushAt, postponed.get(buffer)?.until ?? 0)
      if (at > now) soonest = Math.min(soonest, at)
      else if (since < firstSince) {
        first = buffer
        firstSince = since
      }
    }
    if (first !== null) return first
    return Number.isFinite(soonest) ? soonest - now : null
  }

  /** Fetches the rows that lie in blob storage; false = not now, the batch is given back and tried again later. */
  async function isComplete(buffer: PartitionBuffer, { batch, large }: Taken): Promise<boolean> {
    const { bytes } = batch.source
    try {
      for (const i of large) {
        if (settings.largeRecords === undefined) throw new Error('A record lies in blob storage, and none is set')
        bytes[i] = await settings.largeRecords.load(bytes[i] as Buffer, (batch.records[i] as RecordHeader).sizeBytes)
      }
      postponed.delete(buffer)
      return true
    } catch (error) {
      const waitMs = Math.min((postponed.get(buffer)?.waitMs ?? 100) * 2, 15_000)
      const reason = error instanceof Error ? error.message : String(error)
      if (buffers.get(`${batch.topic}/${batch.partition}`) === buffer)
        postponed.set(buffer, { until: performance.now() + waitMs, waitMs, reason })
      buffer.giveBack()
      const { topic, partition, firstOffset } = batch
      logger?.warn({ topic, partition, firstOffset, reason, waitMs }, 'a large record cannot be read, trying again')
      return false
    }
  }

  /** The batch that is due, or null once something has changed. */
  async function nextBatch(topic: string, delivery: KafkaDelivery, signal: AbortSignal): Promise<Batch | null> {
    if (fenced !== null) throw fenced
    starting ??= restart()
    const found = due(topic)
    if (found === null || typeof found === 'number') {
      await delivery.untilWoken(found)
      return null
    }
    delivery.lastAt = performance.now()
    const taken = found.take()
    const isThere = taken.large.length === 0 || (await delivery.unlessEnded(signal, isComplete(found, taken)))
    return isThere ? taken.batch : null
  }

  async function* consume(topic: string, signal: AbortSignal): AsyncGenerator<Batch> {
    const delivery = of(topic)
    if (delivery.isConsuming) throw new Error(`Topic ${topic} has a consumer already`)
    delivery.isConsuming = true
    const onAbort = (): void => delivery.wake()
    signal.addEventListener('abort', onAbort)
    try {
      while (!closed && !signal.aborted) {
        const batch = await nextBatch(topic, delivery, signal)
        if (batch === null) continue
        yield batch
        // Records that are still waiting in other partitions were there when the reader asked.
        if (!hasWaiting(topic)) delivery.isFlushing = false
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      delivery.isConsuming = false
      for (const buffer of buffers.values()) if (buffer.topic === topic) buffer.giveBack()
    }
  }

  /** Positions that are written at the same moment share a request. */
  function write(position: Position): Promise<void> {
    if (writing === null) {
      const positions: Position[] = []
      writing = { positions, done: Promise.resolve().then(() => writeAll(positions)) }
    }
    writing.positions.push(position)
    return writing.done
  }

  async function writeAll(positions: Position[]): Promise<void> {
    writing = null
    if (consumer === null) throw new Error('there is no consumer')
    const named = positions.map((one) => ({ ...one, topic: client.named(one.topic) }))
    for (const { topic, partition } of named) confirmed.delete(`${topic}/${partition}`)
    await consumer.commitOffsets(named.map((one) => ({ ...one, offset: String(one.offset) })))
    // Between two memberships kafkajs returns without having written anything.
    if (!named.every(({ topic, partition }) => confirmed.has(`${topic}/${partition}`)))
      throw new Error('the consumer is joining the group')
  }

  function hasWaiting(topic: string): boolean {
    for (const buffer of buffers.values()) if (buffer.topic === topic && buffer.waitingSince() !== null) return true
    return false
  }

  function passed({ topic, partition, offset }: Position): void {
    buffered -= buffers.get(`${topic}/${partition}`)?.drop(offset) ?? 0
    balance()
    of(topic).wake()
  }

  return {
    consume,
    beginAfter: beginnings.ask,
    more(topic, bytes) {
      const found: Batch[] = []
      const waiting = [...buffers.values()]
        .filter((one) => one.topic === topic && one.waitingSince() !== null && !postponed.has(one))
        .sort((a, b) => (a.waitingSince() as number) - (b.waitingSince() as number))
      let room = bytes
      for (const buffer of waiting) {
        if (room <= 0) break
        const { batch, large } = buffer.take(room)
        // Those have to be fetched first: they come by themselves.
        if (large.length > 0) buffer.giveBack()
        else found.push(batch)
        if (large.length === 0) room -= batch.records.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      }
      return found
    },
    async commit(position) {
      const { topic, partition, offset } = position
      if (closed) throw new Error('The log is closed')
      if (fenced !== null) throw fenced
      const buffer = buffers.get(`${topic}/${partition}`)
      if ((buffer === undefined && isJoined) || buffer?.isPast(offset)) {
        logger?.info({ ...position }, 'the partition went to another worker before its batch was committed')
        return
      }
      try {
        await write(position)
      } catch (error) {
        if (!buffers.has(`${topic}/${partition}`) && isJoined) return
        const reason = error instanceof Error ? error.message : String(error)
        throw Object.assign(new Error(`The position of ${topic} cannot be committed: ${reason}`), { code: 'EAGAIN' })
      }
      options.onCommitted(position)
      passed(position)
    },
    passed,
    async restore(position) {
      if (closed || !buffers.has(`${position.topic}/${position.partition}`)) return
      await write(position).catch((error: unknown) => logger?.warn({ err: error }, 'a position was not restored'))
    },
    owns: (topic, partition) => buffers.has(`${topic}/${partition}`),
    flush(topic) {
      of(topic).isFlushing = true
      of(topic).wake()
    },
    bufferedBytes: () => buffered,
    problem: () => problem ?? beginnings.problem() ?? postponed.values().next().value?.reason ?? null,
    async close() {
      closed = true
      beginnings.stop()
      for (const { wake } of deliveries.values()) wake()
      await starting?.catch(() => undefined)
      await consumer?.disconnect().catch(() => undefined)
    },
  }
}
