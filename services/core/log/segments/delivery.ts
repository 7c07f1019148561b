// Delivers the sealed segments of one topic to its consumer, decides when the growing one is sealed, keeps the position.

import { createSerialQueue } from '../../concurrency/serial-queue.ts'
import type { Batch, RecordHeader } from '../log.ts'
import { ignoreMissing, type LogFs, writeWhole } from './disk.ts'
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

export function createSegmentDelivery(options: {
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
}): SegmentDelivery {
  const { fs, topic, writer, position, segmentBytes, sealAfterMs, flushEveryMs } = options
  const sealed = [...options.unapplied]
  let isConsuming = false
  /** The consumer waits for a segment. */
  let isWaiting = false
  let applying: Segment | null = null
  let isFlushing = false
  let lastSealAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | null = null
  let timerDue = Number.POSITIVE_INFINITY
  let closed = false
  let wake: () => void = () => {}
  const commits = createSerialQueue()

  function stopTimer(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    timerDue = Number.POSITIVE_INFINITY
  }

  function add(segment: Segment): void {
    lastSealAt = Date.now()
    isFlushing = false
    if (sealed.length >= maxSegmentsWithHeaders) segment.records = null
    if (segment.last <= position.offset()) options.onApplied(segment)
    else sealed.push(segment)
    wake()
  }

  function checkSeal(): void {
    const segment = writer.sealable()
    if (segment === null) return
    if (segment.sizeBytes >= segmentBytes) {
      stopTimer()
      add(writer.seal())
      return
    }
    // While a batch is applied the segment grows: batches size themselves by the consumer's speed.
    if (!isWaiting || sealed.length > 0) return
    const now = Date.now()
    const byAge = segment.oldestMs + sealAfterMs
    const due = isFlushing ? Math.min(byAge, lastSealAt + flushEveryMs) : byAge
    // A clock that was set back must not hold a segment open.
    if (due <= now || segment.oldestMs > now) {
      stopTimer()
      add(writer.seal())
    } else if (due < timerDue) {
      stopTimer()
      timerDue = due
      timer = setTimeout(() => {
        stopTimer()
        checkSeal()
      }, due - now)
    }
  }

  async function wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }

  /** Headers of a segment that is about to be delivered; expands it when it is archived. */
  async function headersOf(segment: Segment): Promise<RecordHeader[]> {
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

  async function* consume(signal: AbortSignal): AsyncGenerator<Batch> {
    if (isConsuming) throw new Error(`Topic ${topic} has a consumer already`)
    isConsuming = true
    const onAbort = (): void => wake()
    signal.addEventListener('abort', onAbort)
    const isOver = (): boolean => closed || signal.aborted
    try {
      while (!isOver()) {
        const segment = sealed[0]
        if (segment === undefined) {
          isWaiting = true
          checkSeal()
          if (sealed.length === 0) await wait()
          isWaiting = false
          continue
        }
        applying = segment
        segment.records = await headersOf(segment)
        await segment.ended()
        yield {
          topic,
          partition: 0,
          firstOffset: segment.first,
          lastOffset: segment.last,
          records: segment.records,
          rowCount: segment.rowCount,
          patchCount: segment.patchCount,
          source: { file: options.enginePath(segment.file) },
          oldestMs: segment.oldestMs,
        }
        while (sealed[0] === segment && !isOver()) await wait()
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      isConsuming = false
      isWaiting = false
      applying = null
      stopTimer()
    }
  }

  async function writePosition(offset: number): Promise<void> {
    if (offset <= position.offset()) return
    await position.write(offset, writer.end())
    while (sealed[0] !== undefined && sealed[0].last <= offset) {
      const segment = sealed.shift() as Segment
      if (segment === applying) applying = null
      segment.records = null
      if (segment.archive !== null) await fs.unlink(segment.file).catch(ignoreMissing)
      options.onApplied(segment)
    }
    options.onCommit()
    wake()
  }

  return {
    consume,
    commit(offset) {
      if (closed) return Promise.reject(new Error('The log is closed'))
      if (!Number.isSafeInteger(offset) || offset > writer.end())
        return Promise.reject(new Error(`Position ${offset} of ${topic} is beyond the end ${writer.end()}`))
      return commits.run(() => writePosition(offset))
    },
    committed: () => position.offset(),
    flush() {
      // Records of a batch under way or of a waiting segment need no flush.
      if (writer.growing()?.sizeBytes === 0) return
      if (writer.growing() === null) return
      isFlushing = true
      checkSeal()
    },
    add,
    checkSeal,
    isApplying: () => applying !== null,
    oldestMs() {
      const growing = writer.growing()
      if (sealed[0] !== undefined) return sealed[0].oldestMs
      return growing !== null && growing.last > position.offset() && growing.sizeBytes > 0 ? growing.oldestMs : null
    },
    unappliedBytes() {
      const growing = writer.growing()
      const waiting = growing !== null && growing.last > position.offset() ? growing.sizeBytes : 0
      return sealed.reduce((sum, { sizeBytes }) => sum + sizeBytes, waiting)
    },
    async close() {
      closed = true
      stopTimer()
      wake()
      await commits.idle()
      await position.close()
    },
  }
}
