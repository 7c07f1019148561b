// Appends that wait for the brokers, by partition: which of them go into the next request, and what it has stored of them.
import type { IHeaders } from 'kafkajs'
import type { Position } from '../log.ts'
import type { ProjectBytes } from '../segments/unapplied.ts'
import { overheadBytes } from './message.ts'

export type Message = { value: Buffer; headers: IHeaders }

/** An append that was let in; all of its records are of one partition. */
export type Admitted = { topic: string; partition: number; sizeBytes: number; projects: ProjectBytes }

export type PendingAppend = Admitted & {
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
export type PartitionBatch = {
  topic: string
  partition: number
  of: { pending: PendingAppend; count: number }[]
  messages: Message[]
}

/** Appends by partition, oldest first. A pending append stays at the head until it is sent whole. */
export type AppendQueues = Map<string, PendingAppend[]>

/** A request is not made larger than this, unless it is one batch. */
const requestBytes = 16 * 2 ** 20

const sizeOf = (message: Message): number => message.value.length + overheadBytes

export function settleAppend(pending: PendingAppend, error: Error | null, offset = 0): void {
  if (pending.isSettled) return
  pending.isSettled = true
  if (error !== null) pending.reject(error)
  else pending.resolve({ topic: pending.topic, partition: pending.partition, offset })
}

export function enqueueAppend(queues: AppendQueues, pending: PendingAppend): void {
  const key = `${pending.topic}/${pending.partition}`
  const queue = queues.get(key)
  if (queue === undefined) queues.set(key, [pending])
  else queue.push(pending)
}

/** Puts messages that wait into a batch, at least one. @returns their size */
function fill({ of, messages }: PartitionBatch, queue: readonly PendingAppend[], maxBytes: number): number {
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

/** The next batch of each partition. Appends that were refused meanwhile are left out, and given to `onDropped`. */
export function takeRequest(
  queues: AppendQueues,
  recordBytes: number,
  onDropped: (admitted: Admitted) => void,
): PartitionBatch[] {
  const parts: PartitionBatch[] = []
  let total = 0
  for (const [key, queue] of queues) {
    while (queue[0]?.isSettled) onDropped(queue.shift() as PendingAppend)
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
    const queue = queues.get(key) as PendingAppend[]
    queues.delete(key)
    queues.set(key, queue)
  }
  return parts
}

/**
 * Notes that a batch is stored.
 * @param base offset before its first message
 * @param onAppended called for each append of which everything is stored, with its last offset
 * @returns the messages that count
 */
export function acknowledgeBatch(
  queues: AppendQueues,
  { topic, partition, of }: PartitionBatch,
  base: number,
  onAppended: (pending: PendingAppend, offset: number) => void,
): number {
  const key = `${topic}/${partition}`
  const queue = queues.get(key) as PendingAppend[]
  let offset = base
  for (const { pending, count } of of) {
    offset += count
    pending.sent += count
    if (pending.sent < pending.messages.length) break
    onAppended(pending, offset)
    queue.splice(queue.indexOf(pending), 1)
  }
  if (queue.length === 0) queues.delete(key)
  return offset - base
}
