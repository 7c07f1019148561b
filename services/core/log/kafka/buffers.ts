// The records of each partition in memory of the Kafka consumer, and the batches to deliver.

import type { Batch, RecordHeader } from '../log.ts'
import { decodeHeaders } from './message.ts'

/** A message as the consumer gets it. */
export type Fetched = {
  offset: string
  timestamp: string
  value: Buffer | null
  headers?: Record<string, unknown> | undefined
}

/** A batch whose rows may have to be fetched from blob storage. */
export type Taken = { batch: Batch & { source: { bytes: Buffer[] } }; large: number[] }

export type PartitionBuffer = {
  readonly topic: string
  readonly partition: number
  /** Adds what was fetched; what is known already is left out. Returns the bytes that came in, negative if some went. */
  add(messages: Fetched[], endOffset: number): number
  /** Bytes held, the delivered batch included. */
  bytes(): number
  /** Arrival of its first undelivered record, null when nothing is to be delivered or a batch is not committed yet. */
  waitingSince(): number | null
  /** Holds enough for the next batch. */
  isFull(): boolean
  /** The next batch, of one record at least; `large` are the places of bytes that say where the rows lie. */
  take(maxBytes?: number): Taken
  /** Records up to `offset` are not held any more: they were committed, or another worker moved on. */
  isPast(offset: number): boolean
  /** Lets go of records up to `offset`. Returns their bytes. */
  drop(offset: number): number
  /** The delivered batch was not committed: it will be delivered again. */
  giveBack(): void
}

/** Rows in blob storage count as if they were held: they are when their batch is delivered. */
type Held = { header: RecordHeader; rows: Buffer; isLarge: boolean; appendedMs: number }

const sizeOf = (held: Held | undefined): number => (held as Held).header.sizeBytes

export function createPartitionBuffer(
  topic: string,
  partition: number,
  batchBytes: number,
  now: () => number,
): PartitionBuffer {
  let held: Held[] = []
  let bytes = 0
  /** Number of the next record, once known. */
  let next: number | null = null
  /** Number of records at the front that are delivered and not committed. */
  let delivered = 0
  let deliveredBytes = 0
  let sinceMs = 0

  function clear(): number {
    const gone = bytes
    held = []
    bytes = 0
    delivered = 0
    deliveredBytes = 0
    next = null
    return gone
  }

  function drop(offset: number): number {
    let count = 0
    let gone = 0
    while (count < held.length && (held[count] as Held).header.offset <= offset) gone += sizeOf(held[count++])
    if (count === 0) return 0
    held = held.slice(count)
    bytes -= gone
    delivered = Math.max(0, delivered - count)
    deliveredBytes = delivered === 0 ? 0 : Math.max(0, deliveredBytes - gone)
    return gone
  }

  return {
    topic,
    partition,
    add(messages, endOffset) {
      let change = 0
      // The topic was made anew, or another consumer has moved the position on: what is held is not the next any more.
      if (next !== null && (endOffset < next - 1 || Number(messages[0]?.offset) + 1 > next)) change -= clear()
      if (held.length === delivered) sinceMs = now()
      for (const { offset, timestamp, value, headers } of messages) {
        const number = Number(offset) + 1
        if (next !== null && number < next) continue
        const rows = value ?? Buffer.alloc(0)
        const { highClock: _, largeBytes, ...stored } = decodeHeaders(headers)
        const sizeBytes = largeBytes ?? rows.length
        held.push({
          header: { offset: number, ...stored, sizeBytes },
          rows,
          isLarge: largeBytes !== null,
          appendedMs: Number(timestamp),
        })
        next = number + 1
        bytes += sizeBytes
        change += sizeBytes
      }
      return change
    },
    bytes: () => bytes,
    waitingSince: () => (delivered > 0 || held.length === 0 ? null : sinceMs),
    isFull: () => bytes - deliveredBytes >= batchBytes,
    take(maxBytes = 2 * batchBytes) {
      let size = 0
      let count = 0
      while (count < held.length && (count === 0 || size + sizeOf(held[count]) <= maxBytes))
        size += sizeOf(held[count++])
      delivered = count
      deliveredBytes = size
      const taken = held.slice(0, count)
      const records = taken.map(({ header }) => header)
      const batch = {
        topic,
        partition,
        firstOffset: (records[0] as RecordHeader).offset,
        lastOffset: (records.at(-1) as RecordHeader).offset,
        records,
        rowCount: records.reduce((sum, { rowCount }) => sum + rowCount, 0),
        patchCount: records.reduce((sum, { patchCount }) => sum + patchCount, 0),
        source: { bytes: taken.map(({ rows }) => rows) },
        oldestMs: Math.min(...taken.map(({ appendedMs }) => appendedMs)),
      }
      return { batch, large: taken.flatMap(({ isLarge }, i) => (isLarge ? [i] : [])) }
    },
    isPast: (offset) => (held[0] === undefined ? next !== null && offset < next : held[0].header.offset > offset),
    drop,
    giveBack() {
      delivered = 0
      deliveredBytes = 0
    },
  }
}
