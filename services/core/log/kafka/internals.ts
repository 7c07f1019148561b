// Features of kafkajs 2.2.4 that it does not expose: static membership, cheap look-ups of offsets, and repairs.
import { createRequire } from 'node:module'
import type { Kafka, KafkaConfig } from 'kafkajs'
import { encodeProduce, type ProduceFields } from './encode.ts'

/** A request's arguments and the request, as the protocol modules of kafkajs make them. */
type Make = (fields: Record<string, unknown>) => { request: Record<string, unknown> }

type BrokerPrototype = {
  connectionPool: { clientId: string }
  lookupRequest(apiKey: number, definition: unknown): Make
} & Record<'joinGroup' | 'syncGroup' | 'heartbeat' | 'leaveGroup' | 'produce', (request: unknown) => Promise<unknown>>

type EncoderPrototype = { buf: Buffer; offset: number; ensureAvailable(bytes: number): void }

type RequestQueuePrototype = {
  throttledUntil: number
  pending: unknown[]
  scheduleCheckPendingRequests(): void
}

type Partitions<Entry> = { topic: string; partitions: Entry[] }[]

export type RawMessage = {
  offset: string
  timestamp: string
  key?: Buffer | null
  value: Buffer | null
  headers?: Record<string, Buffer>
}

/** A node of the cluster; throws KafkaJSProtocolError when a partition has an error. */
export type RawBroker = {
  /** The versions that the broker understands, by key of the request. */
  versions?: Record<number, { maxVersion: number }>
  metadata(topics: string[]): Promise<unknown>
  offsetFetch(request: { groupId: string; topics: Partitions<{ partition: number }> }): Promise<{
    responses: Partitions<{ partition: number; offset: string }>
  }>
  offsetCommit(request: {
    groupId: string
    groupGenerationId: number
    memberId: string
    topics: Partitions<{ partition: number; offset: string }>
  }): Promise<unknown>
  fetch(request: {
    maxWaitTime: number
    minBytes: number
    maxBytes: number
    isolationLevel: number
    topics: Partitions<{ partition: number; fetchOffset: string; maxBytes: number }>
  }): Promise<{
    responses: {
      topicName: string
      partitions: { partition: number; highWatermark: string; messages: RawMessage[] }[]
    }[]
  }>
}

/** The connections of one client. */
export type RawCluster = {
  connect(): Promise<void>
  disconnect(): Promise<void>
  addMultipleTargetTopics(topics: string[]): Promise<void>
  refreshMetadataIfNecessary(): Promise<void>
  findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[]
  findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>
  /** Any node; the cluster need not have been looked at. */
  brokerPool: { findConnectedBroker(): Promise<RawBroker> }
  findBroker(of: { nodeId: string | number }): Promise<RawBroker>
  findGroupCoordinator(of: { groupId: string }): Promise<RawBroker>
  fetchTopicsOffset(
    topics: (Partitions<{ partition: number }>[number] & ({ fromBeginning: boolean } | { fromTimestamp: number }))[],
  ): Promise<Partitions<{ partition: number; offset: string }>>
}

const load = createRequire(import.meta.url)
const Broker = load('kafkajs/src/broker') as { prototype: BrokerPrototype }
const RequestQueue = load('kafkajs/src/network/requestQueue') as { prototype: RequestQueuePrototype }
const Encoder = load('kafkajs/src/protocol/encoder') as { prototype: EncoderPrototype }
const Cluster = load('kafkajs/src/cluster') as new (options: Record<string, unknown>) => RawCluster
const socketFactory = load('kafkajs/src/network/socketFactory') as () => unknown

/** Group instance of each client id that has one. */
const instances = new Map<string, string>()
let isPatched = false

function patch(): void {
  if (isPatched) return
  isPatched = true
  const broker = Broker.prototype
  /** The broker as it is, but with the requests that it makes changed. */
  const changing = (of: BrokerPrototype, change: (make: Make) => Make): BrokerPrototype =>
    Object.create(of, {
      lookupRequest: { value: (apiKey: number, definition: unknown) => change(of.lookupRequest(apiKey, definition)) },
    })
  for (const name of ['joinGroup', 'syncGroup', 'heartbeat'] as const) {
    const original = broker[name]
    broker[name] = function (this: BrokerPrototype, request) {
      const groupInstanceId = instances.get(this.connectionPool.clientId)
      if (groupInstanceId === undefined) return original.call(this, request)
      return original.call(
        changing(this, (make) => (fields) => make({ ...fields, groupInstanceId })),
        request,
      )
    }
  }
  const { produce } = broker
  broker.produce = function (this: BrokerPrototype, request) {
    const own =
      (make: Make): Make =>
      (fields) => {
        const made = make(fields)
        const encode = async () => {
          const buffer = await encodeProduce(fields as ProduceFields)
          return { buf: buffer, buffer, size: () => buffer.length }
        }
        return { ...made, request: { ...made.request, encode } }
      }
    return produce.call(changing(this, own), request)
  }
  Encoder.prototype.ensureAvailable = function (this: EncoderPrototype, bytes) {
    const needed = this.offset + bytes
    if (needed <= this.buf.length) return
    // The original fills new buffers with zeros, which costs as much as the copy.
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.buf.length))
    this.buf.copy(larger, 0, 0, this.offset)
    this.buf = larger
  }
  const leave = broker.leaveGroup
  broker.leaveGroup = function (this: BrokerPrototype, request) {
    // A static member keeps its partitions until it comes back or its session ends.
    return instances.has(this.connectionPool.clientId) ? Promise.resolve() : leave.call(this, request)
  }
  const queue = RequestQueue.prototype
  const schedule = queue.scheduleCheckPendingRequests
  queue.scheduleCheckPendingRequests = function (this: RequestQueuePrototype) {
    // The original sets a timer for every request, with a negative time, although nothing waits.
    if (this.pending.length > 0 || this.throttledUntil > Date.now()) schedule.call(this)
  }
}

/** Repairs kafkajs for this process, and makes consumers of the client id static members of their group. */
export function prepareKafkajs(member?: { clientId: string; groupInstanceId: string }): void {
  patch()
  if (member !== undefined) instances.set(member.clientId, member.groupInstanceId)
}

/** Connections for look-ups. Nothing is tried again here: a look-up that fails is cheap to repeat as a whole. */
export const createRawCluster = (kafka: Kafka, config: KafkaConfig): RawCluster =>
  new Cluster({
    ...config,
    logger: kafka.logger(),
    retry: { retries: 1, initialRetryTime: 50 },
    socketFactory: socketFactory(),
    enforceRequestTimeout: true,
    metadataMaxAge: 300_000,
    allowAutoTopicCreation: false,
    // read uncommitted: there are no transactions
    isolationLevel: 0,
  })

export type RawConnection = {
  /** Connected, anew after a drop. */
  cluster(): Promise<RawCluster>
  /** Ends the connection; never rejects. */
  drop(): Promise<void>
}

/** A connection of its own, opened when it is first used. @param prepare what it needs before that */
export function createRawConnection(
  kafka: Kafka,
  config: KafkaConfig,
  prepare: (cluster: RawCluster) => Promise<void> = async () => {},
): RawConnection {
  let opened: Promise<RawCluster> | null = null
  async function open(): Promise<RawCluster> {
    const cluster = createRawCluster(kafka, config)
    try {
      await cluster.connect()
      await prepare(cluster)
      return cluster
    } catch (error) {
      await cluster.disconnect().catch(() => undefined)
      throw error
    }
  }
  return {
    cluster() {
      opened ??= open()
      return opened
    },
    async drop() {
      const dropped = opened
      opened = null
      await dropped?.then((cluster) => cluster.disconnect()).catch(() => undefined)
    },
  }
}
