// Reads the log as a member of the workers' group: fetches ahead into bounded buffers, delivers batches, commits.
import type { Batch, Position, RecordHeader } from '../log.ts'
import {
  type AssignedPartitions,
  assignedPartitions,
  assignPartitions,
  balanceFetching,
  bufferOf,
  duePartition,
  hasWaitingRecords,
  postponePartition,
  takeBatches,
} from './assigned.ts'
import { type Beginnings, createBeginnings } from './begin.ts'
import type { PartitionBuffer, Taken } from './buffers.ts'
import type { KafkaClient, KafkaLogOptions } from './client.ts'
import { createKafkaDelivery, type KafkaDelivery } from './delivery.ts'
import {
  fetchFrom,
  type GroupMember,
  groupMember,
  joinGroup,
  leaveGroup,
  pauseFetching,
  resumeFetching,
  writePosition,
} from './member.ts'

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

type ConsumerOptions = {
  client: KafkaClient
  settings: KafkaLogOptions
  onCommitted(position: Position): void
  /** This member came to the group, or came again. */
  onRebalance(): void
  /** Applied positions as the group knows them. */
  committed(topic: string): Promise<Position[]>
  /** The position of the group goes back; what is returned is called when it has. */
  onGoingBack(position: Position): () => void
}

type ConsumerState = ConsumerOptions & {
  member: GroupMember
  assigned: AssignedPartitions
  beginnings: Beginnings
  deliveries: ReadonlyMap<string, KafkaDelivery>
  pace: { sealAfterMs: number; flushEveryMs: number }
}

const mib = 2 ** 20

export function createKafkaConsumer(options: ConsumerOptions): KafkaConsumer {
  const { client, settings } = options
  const { batchBytes = 8 * mib, sealAfterMs = 60, flushEveryMs = 50, maxBufferedBytes = 128 * mib, logger } = settings
  const member = groupMember({
    client,
    settings,
    onAssigned(partitions) {
      onAssigned(consumer, partitions)
      options.onRebalance()
    },
    onFetched(topic, partition, endOffset, messages) {
      const buffer = bufferOf(assigned, { topic, partition })
      if (buffer === undefined) return
      assigned.bufferedBytes += buffer.add(messages, endOffset)
      balanceFetching(assigned)
      deliveryOf(consumer, topic).wake()
    },
    onFenced: () => wakeAll(consumer),
  })
  const assigned = assignedPartitions({
    batchBytes,
    maxBufferedBytes,
    isWaiting: (buffer) => beginnings.isWaiting(buffer),
    pause: (buffer) => pauseFetching(member, buffer),
    resume: (buffer) => resumeFetching(member, buffer),
  })
  const beginnings = createBeginnings({
    committed: options.committed,
    async goBack(position) {
      const isDone = options.onGoingBack(position)
      await writePosition(member, position).finally(isDone)
      fetchFrom(member, position)
    },
    onReady({ topic }) {
      balanceFetching(assigned)
      deliveryOf(consumer, topic).wake()
    },
    logger,
  })
  const deliveries = new Map(client.topics.map((topic) => [topic, createKafkaDelivery()]))
  const pace = { sealAfterMs, flushEveryMs }
  const consumer: ConsumerState = { ...options, member, assigned, beginnings, deliveries, pace }
  return {
    consume: (topic, signal) => consume(consumer, topic, signal),
    beginAfter: beginnings.ask,
    more: (topic, bytes) => takeBatches(assigned, topic, bytes),
    commit: (position) => commit(consumer, position),
    passed: (position) => passed(consumer, position),
    async restore(position) {
      if (member.isClosed || bufferOf(assigned, position) === undefined) return
      await writePosition(member, position).catch((error: unknown) =>
        logger?.warn({ err: error }, 'a position was not restored'),
      )
    },
    owns: (topic, partition) => bufferOf(assigned, { topic, partition }) !== undefined,
    flush(topic) {
      const delivery = deliveryOf(consumer, topic)
      delivery.isFlushing = true
      delivery.wake()
    },
    bufferedBytes: () => assigned.bufferedBytes,
    problem: () => member.problem ?? beginnings.problem() ?? assigned.postponed.values().next().value?.reason ?? null,
    async close() {
      const left = leaveGroup(member)
      beginnings.stop()
      wakeAll(consumer)
      await left
    },
  }
}

const deliveryOf = ({ deliveries }: ConsumerState, topic: string): KafkaDelivery =>
  deliveries.get(topic) as KafkaDelivery

function wakeAll({ deliveries }: ConsumerState): void {
  for (const { wake } of deliveries.values()) wake()
}

function onAssigned(consumer: ConsumerState, partitions: Pick<Position, 'topic' | 'partition'>[]): void {
  const { assigned, beginnings } = consumer
  const { added, removed } = assignPartitions(assigned, partitions)
  removed.forEach(beginnings.remove)
  beginnings.add(added)
  balanceFetching(assigned)
  wakeAll(consumer)
}

/** Fetches the rows that lie in blob storage; false = not now, the batch is given back and tried again later. */
async function isComplete(
  { settings, assigned }: ConsumerState,
  buffer: PartitionBuffer,
  { batch, large }: Taken,
): Promise<boolean> {
  const { bytes } = batch.source
  try {
    for (const i of large) {
      if (settings.largeRecords === undefined) throw new Error('A record lies in blob storage, and none is set')
      bytes[i] = await settings.largeRecords.load(bytes[i] as Buffer, (batch.records[i] as RecordHeader).sizeBytes)
    }
    assigned.postponed.delete(buffer)
    return true
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const waitMs = postponePartition(assigned, buffer, reason)
    const { topic, partition, firstOffset } = batch
    settings.logger?.warn(
      { topic, partition, firstOffset, reason, waitMs },
      'a large record cannot be read, trying again',
    )
    return false
  }
}

/** The batch that is due, or null once something has changed. */
async function nextBatch(consumer: ConsumerState, topic: string, signal: AbortSignal): Promise<Batch | null> {
  const { member, assigned, pace } = consumer
  const delivery = deliveryOf(consumer, topic)
  joinGroup(member)
  const due = duePartition(assigned, topic, delivery, pace)
  if (due === null || typeof due === 'number') {
    await delivery.untilWoken(due)
    return null
  }
  delivery.lastAt = performance.now()
  const taken = due.take()
  const isThere = taken.large.length === 0 || (await delivery.unlessEnded(signal, isComplete(consumer, due, taken)))
  return isThere ? taken.batch : null
}

async function* consume(consumer: ConsumerState, topic: string, signal: AbortSignal): AsyncGenerator<Batch> {
  const { member, assigned } = consumer
  const delivery = deliveryOf(consumer, topic)
  if (delivery.isConsuming) throw new Error(`Topic ${topic} has a consumer already`)
  delivery.isConsuming = true
  const onAbort = (): void => delivery.wake()
  signal.addEventListener('abort', onAbort)
  try {
    while (!member.isClosed && !signal.aborted) {
      const batch = await nextBatch(consumer, topic, signal)
      if (batch === null) continue
      yield batch
      // Records that are still waiting in other partitions were there when the reader asked.
      if (!hasWaitingRecords(assigned, topic)) delivery.isFlushing = false
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    delivery.isConsuming = false
    for (const buffer of assigned.buffers.values()) if (buffer.topic === topic) buffer.giveBack()
  }
}

function passed(consumer: ConsumerState, position: Position): void {
  const { assigned } = consumer
  assigned.bufferedBytes -= bufferOf(assigned, position)?.drop(position.offset) ?? 0
  balanceFetching(assigned)
  deliveryOf(consumer, position.topic).wake()
}

async function commit(consumer: ConsumerState, position: Position): Promise<void> {
  const { member, assigned, settings } = consumer
  const { topic, offset } = position
  if (member.isClosed) throw new Error('The log is closed')
  if (member.fenced !== null) throw member.fenced
  const buffer = bufferOf(assigned, position)
  if ((buffer === undefined && member.isJoined) || buffer?.isPast(offset)) {
    settings.logger?.info({ ...position }, 'the partition went to another worker before its batch was committed')
    return
  }
  try {
    await writePosition(member, position)
  } catch (error) {
    if (bufferOf(assigned, position) === undefined && member.isJoined) return
    const reason = error instanceof Error ? error.message : String(error)
    throw Object.assign(new Error(`The position of ${topic} cannot be committed: ${reason}`), { code: 'EAGAIN' })
  }
  consumer.onCommitted(position)
  passed(consumer, position)
}
