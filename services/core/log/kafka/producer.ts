// Appends records to Kafka: everything that waits shares the next produce request; bounded in bytes and in time.
import { CompressionTypes, type Producer } from 'kafkajs'
import { createShares, type Shares } from '../../concurrency/shares.ts'
import { overLimit, tooLarge, unavailable } from '../../errors.ts'
import type { Position, RecordInput } from '../log.ts'
import { bytesByProject, type ProjectBytes } from '../segments/unapplied.ts'
import { topicIn } from '../topic.ts'
import {
  type Admitted,
  type AppendQueues,
  acknowledgeBatch,
  enqueueAppend,
  type Message,
  type PartitionBatch,
  settleAppend,
  takeRequest,
} from './append-queues.ts'
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

type ProducerOptions = {
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
}

type ProducerState = ProducerOptions & {
  maxInflightBytes: number
  deliveryTimeoutMs: number
  queues: AppendQueues
  counts: { requests: number; records: number }
  /** Appends whose rows go to blob storage first. */
  large: Set<Promise<Position>>
  inflight: Shares<string>
  highClock: bigint
  /** Null while requests succeed. */
  failingSince: number | null
  reason: string
  isClosed: boolean
  isPumping: boolean
  pumping: Promise<void>
  /** Refuses appends that wait for too long. */
  timer: NodeJS.Timeout | null
  /** Null after a failure: the next request connects again. */
  producer: Producer | null
}

/** Longest wait for blob storage. */
const keepTimeoutMs = 30_000
/** While sending fails for longer than this, appends are refused at once; one is let through to try. */
const refuseAfterMs = 2_000

export async function createKafkaProducer(options: ProducerOptions): Promise<KafkaProducer> {
  const { maxInflightBytes = 64 * 2 ** 20, deliveryTimeoutMs = 10_000 } = options.settings
  const state: ProducerState = {
    ...options,
    maxInflightBytes,
    deliveryTimeoutMs,
    queues: new Map(),
    counts: { requests: 0, records: 0 },
    large: new Set(),
    inflight: createShares<string>({ bound: () => maxInflightBytes, minBytes: maxInflightBytes / 8 }),
    highClock: options.lastClock,
    failingSince: null,
    reason: '',
    isClosed: false,
    isPumping: false,
    pumping: Promise.resolve(),
    timer: null,
    producer: await connect(options.client),
  }
  return {
    append: (topic, records) => append(state, topic, records),
    inflightBytes: state.inflight.totalBytes,
    counters: () => ({ ...state.counts }),
    problem: () => (state.failingSince === null ? null : `The brokers do not take records: ${state.reason}`),
    async close() {
      state.isClosed = true
      await Promise.allSettled(state.large)
      while (state.isPumping) await state.pumping
      await state.producer?.disconnect()
    },
  }
}

/** A producer id is used by one connection, which keeps the numbers of its batches. */
async function connect({ kafka }: KafkaClient): Promise<Producer> {
  const created = kafka.producer({
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

async function append(state: ProducerState, topic: string, records: RecordInput[]): Promise<Position> {
  const { inflight, large, maxInflightBytes } = state
  if (state.isClosed) throw unavailable('The log is closed')
  if (records.length === 0) return { topic, partition: 0, offset: 0 }
  // One append is one position: its records share the partition of the first.
  const partition = partitionOf((records[0] as RecordInput).key, state.partitions.get(topic) as number)
  const parts = fragmentsOf(state, records)
  const sizeBytes = parts.reduce((sum, { rows }) => sum + rows.length + overheadBytes, 0)
  if (isRefusing(state)) throw unavailable(`The log does not accept writes: ${state.reason}`, 2)
  const projects = bytesByProject(records)
  const refused = inflight.refusal(sizeBytes, projects)
  if (refused !== null)
    throw overLimit(
      refused === 'all' ? 'log' : 'log_share',
      `${inflight.totalBytes()} bytes wait for the brokers, the bound is ${maxInflightBytes}`,
    )
  state.admit(sizeBytes, projects)
  const admitted = { topic, partition, sizeBytes, projects }
  inflight.take(sizeBytes, projects)
  if (!parts.some((part) => isLarge(state, part)))
    return enqueue(
      state,
      admitted,
      parts.map((part) => messageOf(state, topic, part)),
    )
  const appending = appendLarge(state, admitted, parts).finally(() => large.delete(appending))
  large.add(appending)
  return appending
}

const isRefusing = ({ failingSince, queues }: ProducerState): boolean =>
  failingSince !== null && queues.size > 0 && performance.now() - failingSince > refuseAfterMs

const isLarge = ({ recordBytes }: ProducerState, { rows }: RecordInput): boolean =>
  rows.length > recordBytes - overheadBytes

function fragmentsOf(state: ProducerState, records: RecordInput[]): RecordInput[] {
  const { recordBytes, settings } = state
  return records.flatMap((record) => {
    const { rows, rowCount } = record
    if (rows[0] !== 0x7b || rows[rows.length - 1] !== 0x0a || rowCount < 1)
      throw new Error('A record must begin with { and end with a line feed, and have rows')
    const parts = splitRecord(record, recordBytes - overheadBytes)
    if (settings.largeRecords === undefined && parts.some((part) => isLarge(state, part)))
      throw tooLarge(`One row is larger than the log takes (${recordBytes} bytes)`)
    return parts
  })
}

function messageOf(state: ProducerState, topic: string, part: RecordInput, pointer?: Buffer): Message {
  if (part.clock > state.highClock) state.highClock = part.clock
  const { highClock } = state
  const { version } = topicIn(state.settings.topics, topic)
  return pointer === undefined
    ? { value: part.rows, headers: encodeHeaders(part, version, highClock) }
    : { value: pointer, headers: encodeLargeHeaders(part, version, highClock) }
}

async function appendLarge(state: ProducerState, admitted: Admitted, parts: RecordInput[]): Promise<Position> {
  let kept: Map<RecordInput, Buffer>
  try {
    kept = await keptInTime(state, parts)
  } catch (error) {
    drop(state, admitted)
    throw error
  }
  const messages = parts.map((part) => messageOf(state, admitted.topic, part, kept.get(part)))
  return enqueue(state, admitted, messages)
}

/** One after the other: each is in memory until its piece is on the disk. */
async function keepLarge(state: ProducerState, parts: RecordInput[]): Promise<Map<RecordInput, Buffer>> {
  const storage = state.settings.largeRecords as LargeRecords
  const kept = new Map<RecordInput, Buffer>()
  for (const part of parts) if (isLarge(state, part)) kept.set(part, await storage.keep(part.rows))
  return kept
}

/** Storage that does not answer keeps nobody waiting; what it stores later is never read. */
async function keptInTime(state: ProducerState, parts: RecordInput[]): Promise<Map<RecordInput, Buffer>> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = unavailable('Blob storage did not take a large record in time', 2)
    timer = setTimeout(() => reject(error), keepTimeoutMs)
  })
  try {
    return await Promise.race([keepLarge(state, parts), late])
  } finally {
    clearTimeout(timer)
  }
}

function enqueue(state: ProducerState, admitted: Admitted, messages: Message[]): Promise<Position> {
  return new Promise((resolve, reject) => {
    const dueAt = performance.now() + state.deliveryTimeoutMs
    enqueueAppend(state.queues, { ...admitted, messages, dueAt, sent: 0, isSettled: false, resolve, reject })
    if (state.isPumping) return
    state.isPumping = true
    state.pumping = pump(state)
  })
}

async function pump(state: ProducerState): Promise<void> {
  // Lets everything that is appended in this turn join the first request.
  await null
  const onDropped = (admitted: Admitted): void => drop(state, admitted)
  state.timer ??= setInterval(() => expire(state), 100)
  for (let retryMs = 50; ; ) {
    const parts = takeRequest(state.queues, state.recordBytes, onDropped)
    if (parts.length === 0) break
    try {
      await send(state, parts)
      retryMs = 50
      state.failingSince = null
    } catch (error) {
      onSendFailed(state, error)
      await new Promise((resolve) => setTimeout(resolve, retryMs))
      retryMs = Math.min(retryMs * 2, 1_000)
    }
  }
  clearInterval(state.timer)
  state.timer = null
  state.isPumping = false
}

function onSendFailed(state: ProducerState, error: unknown): void {
  state.failingSince ??= performance.now()
  state.reason = error instanceof Error ? error.message : String(error)
  state.settings.logger?.warn({ err: error }, 'appending to Kafka failed')
  // After a failure it is not known which batches count: a new producer begins to count anew.
  const failed = state.producer
  state.producer = null
  void failed?.disconnect().catch(() => undefined)
  expire(state)
}

async function send(state: ProducerState, parts: PartitionBatch[]): Promise<void> {
  const { client, counts, deliveryTimeoutMs, settings } = state
  const byTopic = Map.groupBy(parts, ({ topic }) => topic)
  state.producer ??= await connect(client)
  const answers = await state.producer.sendBatch({
    acks: -1,
    timeout: Math.round(deliveryTimeoutMs / 2),
    compression: settings.compression === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None,
    topicMessages: [...byTopic].map(([topic, of]) => ({
      topic: client.named(topic),
      messages: of.flatMap(({ partition, messages }) => messages.map((message) => ({ ...message, partition }))),
    })),
  })
  const bases = new Map<string, number>()
  for (const { topicName, partition, baseOffset } of answers)
    if (baseOffset !== undefined && Number(baseOffset) >= 0) bases.set(`${topicName}/${partition}`, Number(baseOffset))
  if (bases.size === 0) throw new Error('the brokers told no offsets')
  counts.requests++
  acknowledge(state, parts, bases)
}

/** Notes what a request stored. Partitions that the answer does not name are sent again: kafkajs leaves them out
 *  silently when their leader moved to a broker that had answered already. */
function acknowledge(state: ProducerState, parts: PartitionBatch[], bases: ReadonlyMap<string, number>): void {
  const { client, queues, counts, inflight } = state
  for (const part of parts) {
    const { topic, partition } = part
    const base = bases.get(`${client.named(topic)}/${partition}`)
    if (base === undefined) continue
    counts.records += acknowledgeBatch(queues, part, base, (pending, offset) => {
      state.onAppended({ topic, partition, offset }, pending.messages.length, pending)
      settleAppend(pending, null, offset)
      inflight.give(pending.sizeBytes, pending.projects)
    })
  }
}

/** Refuses what has waited too long. An append under way may still be stored: a repeated write is harmless. */
function expire({ queues, reason }: ProducerState): void {
  const now = performance.now()
  for (const queue of queues.values())
    for (const pending of queue)
      if (pending.dueAt <= now) settleAppend(pending, unavailable(`The log did not answer in time: ${reason}`, 2))
}

function drop({ inflight, onDropped }: ProducerState, admitted: Admitted): void {
  inflight.give(admitted.sizeBytes, admitted.projects)
  onDropped(admitted)
}
