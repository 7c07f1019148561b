// Appends records to Kafka: everything that waits shares the next produce request; bounded in bytes and in time.
import { CompressionTypes, type IHeaders, type Producer } from 'kafkajs'
import { createShares } from '../../concurrency/shares.ts'
import { overLimit, tooLarge, unavailable } from '../../errors.ts'
import type { Position, RecordInput } from '../log.ts'
import { bytesByProject, type ProjectBytes } from '../segments/unapplied.ts'
import { topicIn } from '../topic.ts'
import type { KafkaClient, KafkaLogOptions } from './client.ts'
import type { LargeRecords } from './large-records.ts'
import { encodeHeaders, encodeLargeHeaders, overheadBytes, partitionOf, splitRecord } from './message.ts'

export type KafkaProducer = {
  append(topic: string, records: RecordInput[]): Promise<Position>
  /** Bytes of appends that are not acknowledged, refused ones that are still under way included. */
  inflightBytes(): number
  /** Produce requests that were acknowledged, and the records in them. */
  counters(): { requests: number; records: number }
  /** The reason why appends fail or are refused, null when they are accepted. */
  problem(): string | null
  /** Sends what waits, then disconnects. */
  close(): Promise<void>
}

type Message = { value: Buffer; headers: IHeaders }

/** An append that was let in; all of its records are of one partition. */
type Admitted = { topic: string; partition: number; sizeBytes: number; projects: ProjectBytes }

type Pending = Admitted & {
  messages: Message[]
  /** Time when it is given up. */
  dueAt: number
  /** Messages that are acknowledged. */
  sent: number
  isSettled: boolean
  resolve(position: Position): void
  reject(error: Error): void
}

/** Messages of one partition in a request. */
type PartitionBatch = {
  topic: string
  partition: number
  of: { pending: Pending; count: number }[]
  messages: Message[]
}

/** A request is not made larger than this, unless it is one batch. */
const requestBytes = 16 * 2 ** 20
/** Longest wait for blob storage. */
const keepTimeoutMs = 30_000
/** While sending fails for longer than this, appends are refused at once; one is let through to try. */
const refuseAfterMs = 2_000

export async function createKafkaProducer(options: {
  client: KafkaClient
  settings: KafkaLogOptions
  partitions: ReadonlyMap<string, number>
  recordBytes: number
  lastClock: bigint
  /** Throws the refusal when more bytes are not to be taken. */
  admit(bytes: number, projects: ProjectBytes): void
  onAppended(position: Position, records: number, admitted: Admitted): void
  /** Will not be appended. */
  onDropped(admitted: Admitted): void
}): Promise<KafkaProducer> {
  const { client, settings, recordBytes } = options
  const { maxInflightBytes = 64 * 2 ** 20, deliveryTimeoutMs = 10_000, logger } = settings
  const compression = settings.compression === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None
  /** Appends by partition, oldest first. A pending append stays at the head until it is sent whole. */
  const queues = new Map<string, Pending[]>()
  const counts = { requests: 0, records: 0 }
  /** Appends whose rows go to blob storage first. */
  const large = new Set<Promise<Position>>()
  const inflight = createShares<string>({ bound: () => maxInflightBytes, minBytes: maxInflightBytes / 8 })
  let highClock = options.lastClock
  let failingSince: number | null = null
  let reason = ''
  let closed = false
  let isPumping = false
  let pumping: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null

  /** A producer id is used by one connection, which keeps the numbers of its batches. */
  async function connect(): Promise<Producer> {
    const created = client.kafka.producer({
      idempotent: true,
      allowAutoTopicCreation: false,
      metadataMaxAge: 300_000,
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition as number,
      retry: { retries: 2, initialRetryTime: 50, maxRetryTime: 500 },
    })
    await created.connect()
    return created
  }
  let producer: Producer | null = await connect()

  function settle(pending: Pending, error: Error | null, offset = 0): void {
    if (pending.isSettled) return
    pending.isSettled = true
    if (error !== null) pending.reject(error)
    else pending.resolve({ topic: pending.topic, partition: pending.partition, offset })
  }

  const refusal = (): Error => unavailable(`The log does not accept writes: ${reason}`, 2)

  /** Refuses what has waited too long. An append under way may still be stored: a repeated write is harmless. */
  function expire(): void {
    const now = performance.now()
    for (const queue of queues.values())
      for (const pending of queue)
        if (pending.dueAt <= now) settle(pending, unavailable(`The log did not answer in time: ${reason}`, 2))
  }

  function drop(admitted: Admitted): void {
    inflight.give(admitted.sizeBytes, admitted.projects)
    options.onDropped(admitted)
  }

  /** Puts messages that wait into a batch, at least one. @returns their size */
  function fill({ of, messages }: PartitionBatch, queue: readonly Pending[], maxBytes: number): number {
    let size = 0
    for (const pending of queue) {
      if (pending.isSettled) continue
      const rest = pending.messages.slice(pending.sent)
      let count = 0
      for (const message of rest) {
        const next = size + sizeOf(message)
        if (messages.length > 0 && next > maxBytes) break
        messages.push(message)
        count++
        size = next
      }
      if (count > 0) of.push({ pending, count })
      if (count < rest.length) break
    }
    return size
  }

  /** The next batch of each partition. Appends that were refused meanwhile are left out. */
  function take(): PartitionBatch[] {
    const parts: PartitionBatch[] = []
    let total = 0
    for (const [key, queue] of queues) {
      while (queue[0]?.isSettled) drop(queue.shift() as Pending)
      const first = queue[0]
      if (first === undefined) {
        queues.delete(key)
        continue
      }
      if (total > 0 && total + sizeOf(first.messages[first.sent] as Message) > requestBytes) continue
      const part: PartitionBatch = { topic: first.topic, partition: first.partition, of: [], messages: [] }
      total += fill(part, queue, Math.min(recordBytes, requestBytes - total))
      parts.push(part)
    }
    // Partitions that were served come last in the next request.
    for (const { topic, partition } of parts) {
      const key = `${topic}/${partition}`
      const queue = queues.get(key) as Pending[]
      queues.delete(key)
      queues.set(key, queue)
    }
    return parts
  }

  /** Notes what a request stored. Partitions that the answer does not name are sent again: kafkajs leaves them out
   *  silently when their leader moved to a broker that had answered already. */
  function acknowledge(parts: PartitionBatch[], bases: ReadonlyMap<string, number>): void {
    for (const { topic, partition, of } of parts) {
      const base = bases.get(`${client.named(topic)}/${partition}`)
      if (base === undefined) continue
      let offset = base
      const queue = queues.get(`${topic}/${partition}`) as Pending[]
      for (const { pending, count } of of) {
        offset += count
        pending.sent += count
        counts.records += count
        if (pending.sent < pending.messages.length) break
        options.onAppended({ topic, partition, offset }, pending.messages.length, pending)
        settle(pending, null, offset)
        inflight.give(pending.sizeBytes, pending.projects)
        queue.splice(queue.indexOf(pending), 1)
      }
      if (queue.length === 0) queues.delete(`${topic}/${partition}`)
    }
  }

  async function send(parts: PartitionBatch[]): Promise<void> {
    const byTopic = Map.groupBy(parts, ({ topic }) => topic)
    producer ??= await connect()
    const answers = await producer.sendBatch({
      acks: -1,
      timeout: Math.round(deliveryTimeoutMs / 2),
      compression,
      topicMessages: [...byTopic].map(([topic, of]) => ({
        topic: client.named(topic),
        messages: of.flatMap(({ partition, messages }) => messages.map((message) => ({ ...message, partition }))),
      })),
    })
    const bases = new Map<string, number>()
    for (const { topicName, partition, baseOffset } of answers)
      if (baseOffset !== undefined && Number(baseOffset) >= 0)
        bases.set(`${topicName}/${partition}`, Number(baseOffset))
    if (bases.size === 0) throw new Error('the brokers told no offsets')
    counts.requests++
    acknowledge(parts, bases)
  }

  async function pump(): Promise<void> {
    // Lets everything that is appended in this turn join the first request.
    await null
    timer ??= setInterval(expire, 100)
    for (let retryMs = 50; ; ) {
      const parts = take()
      if (parts.length === 0) break
      try {
        await send(parts)
        retryMs = 50
        failingSince = null
      } catch (error) {
        failingSince ??= performance.now()
        reason = error instanceof Error ? error.message : String(error)
        logger?.warn({ err: error }, 'appending to Kafka failed')
        // After a failure it is not known which batches count: a new producer begins to count anew.
        const failed = producer
        producer = null
        void failed?.disconnect().catch(() => undefined)
        expire()
        await new Promise((resolve) => setTimeout(resolve, retryMs))
        retryMs = Math.min(retryMs * 2, 1_000)
      }
    }
    clearInterval(timer)
    timer = null
    isPumping = false
  }

  const isLarge = ({ rows }: RecordInput): boolean => rows.length > recordBytes - overheadBytes

  function fragmentsOf(records: RecordInput[]): RecordInput[] {
    return records.flatMap((record) => {
      const { rows, rowCount } = record
      if (rows[0] !== 0x7b || rows[rows.length - 1] !== 0x0a || rowCount < 1)
        throw new Error('A record must begin with { and end with a line feed, and have rows')
      const parts = splitRecord(record, recordBytes - overheadBytes)
      if (settings.largeRecords === undefined && parts.some(isLarge))
        throw tooLarge(`One row is larger than the log takes (${recordBytes} bytes)`)
      return parts
    })
  }

  const messageOf = (topic: string, part: RecordInput, pointer?: Buffer): Message => {
    if (part.clock > highClock) highClock = part.clock
    const { version } = topicIn(settings.topics, topic)
    return pointer === undefined
      ? { value: part.rows, headers: encodeHeaders(part, version, highClock) }
      : { value: pointer, headers: encodeLargeHeaders(part, version, highClock) }
  }

  /** One after the other: each is in memory until its piece is on the disk. */
  async function keepLarge(parts: RecordInput[]): Promise<Map<RecordInput, Buffer>> {
    const kept = new Map<RecordInput, Buffer>()
    for (const part of parts)
      if (isLarge(part)) kept.set(part, await (settings.largeRecords as LargeRecords).keep(part.rows))
    return kept
  }

  /** Storage that does not answer keeps nobody waiting; what it stores later is never read. */
  async function keptInTime(parts: RecordInput[]): Promise<Map<RecordInput, Buffer>> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const error = unavailable('Blob storage did not take a large record in time', 2)
      timer = setTimeout(() => reject(error), keepTimeoutMs)
    })
    try {
      return await Promise.race([keepLarge(parts), late])
    } finally {
      clearTimeout(timer)
    }
  }

  function enqueue(admitted: Admitted, messages: Message[]): Promise<Position> {
    return new Promise((resolve, reject) => {
      const dueAt = performance.now() + deliveryTimeoutMs
      const key = `${admitted.topic}/${admitted.partition}`
      const pending = { ...admitted, messages, dueAt, sent: 0, isSettled: false, resolve, reject }
      const queue = queues.get(key)
      if (queue === undefined) queues.set(key, [pending])
      else queue.push(pending)
      if (isPumping) return
      isPumping = true
      pumping = pump()
    })
  }

  async function appendLarge(admitted: Admitted, parts: RecordInput[]): Promise<Position> {
    let kept: Map<RecordInput, Buffer>
    try {
      kept = await keptInTime(parts)
    } catch (error) {
      drop(admitted)
      throw error
    }
    const messages = parts.map((part) => messageOf(admitted.topic, part, kept.get(part)))
    return enqueue(admitted, messages)
  }

  return {
    async append(topic, records) {
      if (closed) throw unavailable('The log is closed')
      if (records.length === 0) return { topic, partition: 0, offset: 0 }
      const partitions = options.partitions.get(topic) as number
      // One append is one position: its records share the partition of the first.
      const partition = partitionOf((records[0] as RecordInput).key, partitions)
      const parts = fragmentsOf(records)
      const sizeBytes = parts.reduce((sum, { rows }) => sum + rows.length + overheadBytes, 0)
      if (failingSince !== null && queues.size > 0 && performance.now() - failingSince > refuseAfterMs) throw refusal()
      const projects = bytesByProject(records)
      const refused = inflight.refusal(sizeBytes, projects)
      if (refused !== null)
        throw overLimit(
          refused === 'all' ? 'log' : 'log_share',
          `${inflight.totalBytes()} bytes wait for the brokers, the bound is ${maxInflightBytes}`,
        )
      options.admit(sizeBytes, projects)
      const admitted = { topic, partition, sizeBytes, projects }
      inflight.take(sizeBytes, projects)
      if (!parts.some(isLarge))
        return enqueue(
          admitted,
          parts.map((part) => messageOf(topic, part)),
        )
      const appending = appendLarge(admitted, parts).finally(() => large.delete(appending))
      large.add(appending)
      return appending
    },
    inflightBytes: inflight.totalBytes,
    counters: () => ({ ...counts }),
    problem: () => (failingSince === null ? null : `The brokers do not take records: ${reason}`),
    async close() {
      closed = true
      await Promise.allSettled(large)
      while (isPumping) await pumping
      await producer?.disconnect()
    },
  }
}

const sizeOf = (message: Message): number => message.value.length + overheadBytes
