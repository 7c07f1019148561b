// Delivers the sealed segments of one topic to its consumer, decides when the growing one is sealed, keeps the position.

import { createSerialQueue, type SerialQueue } from '../../concurrency/serial-queue.ts'
import { ignoreMissing, type LogFs, writeWhole } from '../../files/disk.ts'
import type { Batch, RecordHeader } from '../log.ts'
import type { PositionFile } from './position-file.ts'
import { publicHeader, readRecords, readStored, type Segment, summarize } from './segment.ts'
import type { SegmentWriter } from './writer.ts'

/** Segments that wait keep their record headers in memory up to this number; the others are read again. */
const maxSegmentsWithHeaders = 4

export type SegmentDelivery = {
  consume(signal: AbortSignal): AsyncIterable<Batch>
  commit(offset: number): Promise<void>
  committed(): number
  flush(): void
  /** A sealed segment joins the queue. */
  add(segment: Segment): void
  /** Seals the growing segment if it is time. Called whenever something changed. */
  checkSeal(): void
  isApplying(): boolean
  /** Append time of the oldest unapplied record, null if there is none. */
  oldestMs(): number | null
  /** Bytes of segments that hold unapplied records. */
  unappliedBytes(): number
  close(): Promise<void>
}

type DeliveryOptions = {
  fs: LogFs
  topic: string
  writer: SegmentWriter
  position: PositionFile
  /** Sealed segments that hold unapplied records, oldest first. */
  unapplied: Segment[]
  segmentBytes: number
  sealAfterMs: number
  flushEveryMs: number
  /** Path by which the engine can read a segment. */
  enginePath(file: string): string
  onApplied(segment: Segment): void
  /** After each durable commit. */
  onCommit(): void
}

type DeliveryState = DeliveryOptions & {
  /** Segments that wait to be applied, oldest first. */
  sealed: Segment[]
  isConsuming: boolean
  /** The consumer waits for a segment. */
  isWaiting: boolean
  applying: Segment | null
  isFlushing: boolean
  lastSealAt: number
  /** Seals the growing segment when it is due. */
  timer: NodeJS.Timeout | null
  timerDue: number
  isClosed: boolean
  /** Lets the consumer look again. */
  wake(): void
  commits: SerialQueue
}

export function createSegmentDelivery(options: DeliveryOptions): SegmentDelivery {
  const { position, writer } = options
  const delivery: DeliveryState = {
    ...options,
    sealed: [...options.unapplied],
    isConsuming: false,
    isWaiting: false,
    applying: null,
    isFlushing: false,
    lastSealAt: Number.NEGATIVE_INFINITY,
    timer: null,
    timerDue: Number.POSITIVE_INFINITY,
    isClosed: false,
    wake() {},
    commits: createSerialQueue(),
  }
  return {
    consume: (signal) => consume(delivery, signal),
    commit: (offset) => commit(delivery, offset),
    committed: () => position.offset(),
    flush() {
      const growing = writer.growing()
      // Records of a batch under way or of a waiting segment need no flush.
      if (growing === null || growing.sizeBytes === 0) return
      delivery.isFlushing = true
      checkSeal(delivery)
    },
    add: (segment) => addSegment(delivery, segment),
    checkSeal: () => checkSeal(delivery),
    isApplying: () => delivery.applying !== null,
    oldestMs() {
      const growing = writer.growing()
      if (delivery.sealed[0] !== undefined) return delivery.sealed[0].oldestMs
      return growing !== null && growing.last > position.offset() && growing.sizeBytes > 0 ? growing.oldestMs : null
    },
    unappliedBytes() {
      const growing = writer.growing()
      const waiting = growing !== null && growing.last > position.offset() ? growing.sizeBytes : 0
      return delivery.sealed.reduce((sum, { sizeBytes }) => sum + sizeBytes, waiting)
    },
    async close() {
      delivery.isClosed = true
      stopTimer(delivery)
      delivery.wake()
      await delivery.commits.idle()
      await position.close()
    },
  }
}

function stopTimer(delivery: DeliveryState): void {
  if (delivery.timer !== null) clearTimeout(delivery.timer)
  delivery.timer = null
  delivery.timerDue = Number.POSITIVE_INFINITY
}

function addSegment(delivery: DeliveryState, segment: Segment): void {
  const { sealed, position } = delivery
  delivery.lastSealAt = Date.now()
  delivery.isFlushing = false
  if (sealed.length >= maxSegmentsWithHeaders) segment.records = null
  if (segment.last <= position.offset()) delivery.onApplied(segment)
  else sealed.push(segment)
  delivery.wake()
}

function sealGrowing(delivery: DeliveryState): void {
  stopTimer(delivery)
  addSegment(delivery, delivery.writer.seal())
}

function checkSeal(delivery: DeliveryState): void {
  const segment = delivery.writer.sealable()
  if (segment === null) return
  if (segment.sizeBytes >= delivery.segmentBytes) return void sealGrowing(delivery)
  // While a batch is applied the segment grows: batches size themselves by the consumer's speed.
  if (!delivery.isWaiting || delivery.sealed.length > 0) return
  const now = Date.now()
  const byAge = segment.oldestMs + delivery.sealAfterMs
  const due = delivery.isFlushing ? Math.min(byAge, delivery.lastSealAt + delivery.flushEveryMs) : byAge
  // A clock that was set back must not hold a segment open.
  if (due <= now || segment.oldestMs > now) return void sealGrowing(delivery)
  if (due >= delivery.timerDue) return
  stopTimer(delivery)
  delivery.timerDue = due
  delivery.timer = setTimeout(() => {
    stopTimer(delivery)
    checkSeal(delivery)
  }, due - now)
}

const untilWoken = (delivery: DeliveryState): Promise<void> =>
  new Promise<void>((resolve) => {
    delivery.wake = resolve
  })

/** Headers of a segment that is about to be delivered; expands it when it is archived. */
async function headersOf(fs: LogFs, segment: Segment): Promise<RecordHeader[]> {
  if (segment.records !== null) return segment.records
  const stored = { path: segment.file, first: segment.first, last: null }
  if (segment.archive !== null)
    await writeWhole(fs, segment.file, [
      await readStored(fs, { path: segment.archive, first: segment.first, last: segment.last }),
    ])
  const { records, sizeBytes } = await readRecords(fs, stored)
  const { rowCount, patchCount, oldestMs } = summarize(stored, records, sizeBytes)
  Object.assign(segment, { rowCount, patchCount, oldestMs })
  return records.map(publicHeader)
}

async function* consume(delivery: DeliveryState, signal: AbortSignal): AsyncGenerator<Batch> {
  const { topic, sealed } = delivery
  if (delivery.isConsuming) throw new Error(`Topic ${topic} has a consumer already`)
  delivery.isConsuming = true
  const onAbort = (): void => delivery.wake()
  signal.addEventListener('abort', onAbort)
  const isOver = (): boolean => delivery.isClosed || signal.aborted
  try {
    while (!isOver()) {
      const segment = sealed[0]
      if (segment === undefined) {
        delivery.isWaiting = true
        checkSeal(delivery)
        if (sealed.length === 0) await untilWoken(delivery)
        delivery.isWaiting = false
        continue
      }
      delivery.applying = segment
      segment.records = await headersOf(delivery.fs, segment)
      await segment.ended()
      yield {
        topic,
        partition: 0,
        firstOffset: segment.first,
        lastOffset: segment.last,
        records: segment.records,
        rowCount: segment.rowCount,
        patchCount: segment.patchCount,
        source: { file: delivery.enginePath(segment.file) },
        oldestMs: segment.oldestMs,
      }
      while (sealed[0] === segment && !isOver()) await untilWoken(delivery)
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    delivery.isConsuming = false
    delivery.isWaiting = false
    delivery.applying = null
    stopTimer(delivery)
  }
}

function commit(delivery: DeliveryState, offset: number): Promise<void> {
  const { topic, writer, commits } = delivery
  if (delivery.isClosed) return Promise.reject(new Error('The log is closed'))
  if (!Number.isSafeInteger(offset) || offset > writer.end())
    return Promise.reject(new Error(`Position ${offset} of ${topic} is beyond the end ${writer.end()}`))
  return commits.run(() => writePosition(delivery, offset))
}

async function writePosition(delivery: DeliveryState, offset: number): Promise<void> {
  const { fs, position, writer, sealed } = delivery
  if (offset <= position.offset()) return
  await position.write(offset, writer.end())
  while (sealed[0] !== undefined && sealed[0].last <= offset) {
    const segment = sealed.shift() as Segment
    if (segment === delivery.applying) delivery.applying = null
    segment.records = null
    if (segment.archive !== null) await fs.unlink(segment.file).catch(ignoreMissing)
    delivery.onApplied(segment)
  }
  delivery.onCommit()
  delivery.wake()
}
