// The partitions that are assigned to this process, with what is held of each in memory, within one bound for all.
import type { Batch, Position } from '../log.ts'
import { createPartitionBuffer, type PartitionBuffer } from './buffers.ts'
import type { KafkaDelivery } from './delivery.ts'

type AssignedOptions = {
  batchBytes: number
  /** Bound of the records in memory. */
  maxBufferedBytes: number
  /** Nothing of it is to be fetched yet. */
  isWaiting(buffer: PartitionBuffer): boolean
  pause(buffer: PartitionBuffer): void
  resume(buffer: PartitionBuffer): void
}

export type AssignedPartitions = AssignedOptions & {
  /** By `topic/partition`. */
  buffers: Map<string, PartitionBuffer>
  paused: Set<PartitionBuffer>
  /** Partitions whose next batch cannot be had from blob storage, and when it is tried again. */
  postponed: Map<PartitionBuffer, { until: number; waitMs: number; reason: string }>
  bufferedBytes: number
}

type Partition = Pick<Position, 'topic' | 'partition'>

export const assignedPartitions = (options: AssignedOptions): AssignedPartitions => ({
  ...options,
  buffers: new Map(),
  paused: new Set(),
  postponed: new Map(),
  bufferedBytes: 0,
})

export const bufferOf = ({ buffers }: AssignedPartitions, { topic, partition }: Partition) =>
  buffers.get(`${topic}/${partition}`)

/** Stops fetching for partitions that hold a batch, and for all when together they hold too much. */
export function balanceFetching(assigned: AssignedPartitions): void {
  const { buffers, paused, bufferedBytes, maxBufferedBytes } = assigned
  const isOver = bufferedBytes >= maxBufferedBytes
  const hasRoom = bufferedBytes < maxBufferedBytes * 0.8
  for (const buffer of buffers.values()) {
    const isPaused = paused.has(buffer)
    const isEnough = buffer.isFull() || assigned.isWaiting(buffer)
    if (!isPaused && (isOver || isEnough)) {
      paused.add(buffer)
      assigned.pause(buffer)
    } else if (isPaused && hasRoom && !isEnough) {
      paused.delete(buffer)
      assigned.resume(buffer)
    }
  }
}

/** These partitions and no others are of this process now. */
export function assignPartitions(
  assigned: AssignedPartitions,
  partitions: readonly Partition[],
): { added: PartitionBuffer[]; removed: PartitionBuffer[] } {
  const { buffers, paused, postponed, batchBytes } = assigned
  const assignedNow = new Set<string>()
  const added: PartitionBuffer[] = []
  for (const { topic, partition } of partitions) {
    const key = `${topic}/${partition}`
    assignedNow.add(key)
    if (buffers.has(key)) continue
    const buffer = createPartitionBuffer(topic, partition, batchBytes, () => performance.now())
    buffers.set(key, buffer)
    added.push(buffer)
  }
  const removed: PartitionBuffer[] = []
  for (const [key, buffer] of buffers)
    if (!assignedNow.has(key)) {
      // Another worker has it now and begins at the position: what was delivered here is applied twice, harmlessly.
      buffers.delete(key)
      postponed.delete(buffer)
      assigned.bufferedBytes -= buffer.bytes()
      removed.push(buffer)
    }
  // A new membership knows of no pauses.
  paused.clear()
  return { added, removed }
}

/** The partition whose batch is due, or the milliseconds until one is; null when none waits. */
export function duePartition(
  { buffers, postponed }: AssignedPartitions,
  topic: string,
  { isFlushing, lastAt }: KafkaDelivery,
  { sealAfterMs, flushEveryMs }: { sealAfterMs: number; flushEveryMs: number },
): PartitionBuffer | number | null {
  const now = performance.now()
  let first: PartitionBuffer | null = null
  let firstSince = Number.POSITIVE_INFINITY
  let soonest = Number.POSITIVE_INFINITY
  for (const buffer of buffers.values()) {
    if (buffer.topic !== topic) continue
    const since = buffer.waitingSince()
    if (since === null) continue
    const byAge = since + sealAfterMs
    const flushAt = isFlushing ? Math.min(byAge, lastAt + flushEveryMs) : byAge
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

export function hasWaitingRecords({ buffers }: AssignedPartitions, topic: string): boolean {
  for (const buffer of buffers.values()) if (buffer.topic === topic && buffer.waitingSince() !== null) return true
  return false
}

/** Further batches of a topic, the oldest first, of about so many bytes. */
export function takeBatches({ buffers, postponed }: AssignedPartitions, topic: string, bytes: number): Batch[] {
  const batches: Batch[] = []
  const waiting = [...buffers.values()]
    .filter((one) => one.topic === topic && one.waitingSince() !== null && !postponed.has(one))
    .sort((a, b) => (a.waitingSince() as number) - (b.waitingSince() as number))
  let room = bytes
  for (const buffer of waiting) {
    if (room <= 0) break
    const { batch, large } = buffer.take(room)
    // Those have to be fetched first: they come by themselves.
    if (large.length > 0) {
      buffer.giveBack()
      continue
    }
    batches.push(batch)
    room -= batch.records.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }
  return batches
}

/** The batch of a partition cannot be had now: it is given back, and waits for twice as long as the last time. */
export function postponePartition(assigned: AssignedPartitions, buffer: PartitionBuffer, reason: string): number {
  const waitMs = Math.min((assigned.postponed.get(buffer)?.waitMs ?? 100) * 2, 15_000)
  if (bufferOf(assigned, buffer) === buffer)
    assigned.postponed.set(buffer, { until: performance.now() + waitMs, waitMs, reason })
  buffer.giveBack()
  return waitMs
}
