// What kafkajs 2.2.4 can do but does not offer: static membership, cheap look-ups of offsets, and two repairs.
import { createRequire } from 'node:module'
import type { Kafka, KafkaConfig } from 'kafkajs'

/** A request's arguments and the request, as the protocol modules of kafkajs make them. */
type Make = (fields: Record<string, unknown>) => unknown

type BrokerPrototype = {
  connectionPool: { clientId: string }
  lookupRequest(apiKey: number, definition: unknown): Make
} & Record<'joinGroup' | 'syncGroup' | 'heartbeat' | 'leaveGroup', (request: unknown) => Promise<unknown>>

type RequestQueuePrototype = {
  throttledUntil: number
  pending: unknown[]
  scheduleCheckPendingRequests(): void
}

type Partitions<Entry> = { topic: string; partitions: Entry[] }[]

type RawMessage = { offset: string; headers?: Record<string, Buffer> }

/** A node of the cluster; throws KafkaJSProtocolError when a partition has an error. */
type RawBroker = {
  offsetFetch(request: { groupId: string; topics: Partitions<{ partition: number }> }): Promise<{
    responses: Partitions<{ partition: number; offset: string }>
  }>
  fetch(request: {
    maxWaitTime: number
    minBytes: number
    maxBytes: number
    isolationLevel: number
    topics: Partitions<{ partition: number; fetchOffset: string; maxBytes: number }>
  }): Promise<{ responses: { topicName: string; partitions: { partition: number; messages: RawMessage[] }[] }[] }>
}

/** The connections of one client. */
export type RawCluster = {
  connect(): Promise<void>
  disconnect(): Promise<void>
  addMultipleTargetTopics(topics: string[]): Promise<void>
  refreshMetadataIfNecessary(): Promise<void>
  findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[]
  findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>
  findBroker(of: { nodeId: string | number }): Promise<RawBroker>
  findGroupCoordinator(of: { groupId: string }): Promise<RawBroker>
  fetchTopicsOffset(
    topics: (Partitions<{ partition: number }>[number] & { fromBeginning: boolean })[],
  ): Promise<Partitions<{ partition: number; offset: string }>>
}

const load = createRequire(import.meta.url)
const Broker = load('kafkajs/src/broker') as { prototype: BrokerPrototype }
const RequestQueue = load('kafkajs/src/network/requestQueue') as { prototype: RequestQueuePrototype }
const Cluster = load('kafkajs/src/cluster') as new (options: Record<string, unknown>) => RawCluster
const socketFactory = load('kafkajs/src/network/socketFactory') as () => unknown

/** Group instance of each client id that has one. */
const instances = new Map<string, string>()
let isPatched = false

function patch(): void {
  if (isPatched) return
  isPatched = true
  const broker = Broker.prototype
  for (const name of ['joinGroup', 'syncGroup', 'heartbeat'] as const) {
    const original = broker[name]
    broker[name] = function (this: BrokerPrototype, request) {
      const groupInstanceId = instances.get(this.connectionPool.clientId)
      if (groupInstanceId === undefined) return original.call(this, request)
      const lookupRequest = (apiKey: number, definition: unknown): Make => {
        const make = this.lookupRequest(apiKey, definition)
        return (fields) => make({ ...fields, groupInstanceId })
      }
      return original.call(Object.create(this, { lookupRequest: { value: lookupRequest } }), request)
    }
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
