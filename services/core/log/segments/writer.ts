// Appends the records of one topic: group commit into the growing segment, and repair after a failed write.
import { pause } from '../../concurrency/pause.ts'
import { type Refusal, unavailable } from '../../errors.ts'
import { errorCode, type LogFile, type LogFs, writeAll } from '../../files/disk.ts'
import { isPassing } from '../../process/passing-faults.ts'
import type { Position, RecordHeader, RecordInput } from '../log.ts'
import { encodeHead, storedBytes } from '../record.ts'
import type { Admission } from './admission.ts'
import { groupBytes, inFairOrder } from './group.ts'
import {
  beginSegment,
  closeGrowingSegment,
  emptySegment,
  type GrowingSegment,
  openGrowingSegment,
  putSegmentAside,
  sealSegment,
} from './growing-segment.ts'
import { type Segment, segmentPath } from './segment.ts'
import { bytesByProject, type ProjectBytes } from './unapplied.ts'

/** Totals since the log was opened. */
export type LogCounters = {
  appends: number
  records: number
  bytes: number
  /** Writes; all appends that wait at that moment share one. */
  groups: number
  /** fdatasync calls of segments: one per group. */
  syncs: number
  /** Folder syncs: one per segment that begins without a spare. */
  dirSyncs: number
  segments: number
  failedGroups: number
  commits: number
}

export type LogLogger = {
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}

export type SegmentWriter = {
  append(records: RecordInput[]): Promise<Position>
  /** The growing segment if it holds records and no write is under way. */
  sealable(): Segment | null
  growing(): Segment | null
  /** Ends the growing segment; the caller delivers it. */
  seal(): Segment
  /** Last durable offset. */
  end(): number
  isWriting(): boolean
  /** `down` while a failed write is not undone, until restart where that is no passing fault; `degraded` until one works. */
  state(): { status: 'ok' | 'degraded' | 'down'; reason: string }
  /** Writes what is queued, then closes the segment. */
  close(): Promise<void>
}

/** Pauses between tries to undo a failed write; they double. */
const [firstUndoMs, maxUndoMs] = [100, 5_000]

type Pending = {
  records: RecordInput[]
  sizeBytes: number
  projects: ProjectBytes
  resolve(position: Position): void
  reject(refusal: Refusal): void
}

type WriterOptions = {
  fs: LogFs
  folder: string
  topic: string
  version: number
  segmentBytes: number
  /** Number of the last record in the log. */
  lastOffset: number
  highClock: bigint
  admission: Admission
  counters: LogCounters
  logger: LogLogger | undefined
  /** After each write, and when a repaired segment was put aside. */
  onGroup(): void
  onSealed(segment: Segment): void
}

type WriterState = WriterOptions & {
  growing: GrowingSegment
  queue: Pending[]
  isPumping: boolean
  pumping: Promise<void>
  /** Tries to undo a failed write. */
  undoing: Promise<void>
  isWriting: boolean
  isClosed: boolean
  status: 'ok' | 'degraded' | 'down'
  reason: string
  stop: AbortController
}

export function createWriter(options: WriterOptions): SegmentWriter {
  const { fs, folder, segmentBytes, logger } = options
  const onCloseError = (file: string, error: unknown) => logger?.warn({ file, err: error }, 'closing a segment failed')
  const growing = openGrowingSegment({ fs, folder, segmentBytes, onCloseError })
  const writer: WriterState = {
    ...options,
    growing,
    queue: [],
    isPumping: false,
    pumping: Promise.resolve(),
    undoing: Promise.resolve(),
    isWriting: false,
    isClosed: false,
    status: 'ok',
    reason: '',
    stop: new AbortController(),
  }
  return {
    append: (records) => append(writer, records),
    sealable: () =>
      writer.isWriting || growing.segment === null || growing.segment.sizeBytes === 0 ? null : growing.segment,
    growing: () => growing.segment,
    seal: () => sealSegment(growing),
    end: () => writer.lastOffset,
    isWriting: () => writer.isWriting,
    state: () => ({ status: writer.status, reason: writer.reason }),
    async close() {
      writer.isClosed = true
      while (writer.isPumping) await writer.pumping
      writer.stop.abort()
      await writer.undoing
      await closeGrowingSegment(growing)
    },
  }
}

function append(writer: WriterState, records: RecordInput[]): Promise<Position> {
  const { topic, admission } = writer
  if (writer.isClosed) return Promise.reject(unavailable('The log is closed'))
  if (writer.status === 'down') return Promise.reject(unavailable(writer.reason))
  if (records.length === 0) return Promise.resolve({ topic, partition: 0, offset: writer.lastOffset })
  let sizeBytes = 0
  for (const { rows, rowCount } of records) {
    if (rows[0] !== 0x7b || rows[rows.length - 1] !== 0x0a || rowCount < 1)
      return Promise.reject(new Error('A record must begin with { and end with a line feed, and have rows'))
    sizeBytes += storedBytes(rows)
  }
  const projects = bytesByProject(records)
  try {
    admission.enter(sizeBytes, projects)
  } catch (error) {
    return Promise.reject(error)
  }
  return new Promise((resolve, reject) => {
    writer.queue.push({ records, sizeBytes, projects, resolve, reject })
    if (writer.isPumping) return
    writer.isPumping = true
    writer.pumping = pump(writer)
  })
}

async function pump(writer: WriterState): Promise<void> {
  // Lets everything that is appended in this turn join the first write.
  await null
  while (writer.queue.length > 0) {
    const group = takeGroup(writer)
    const refusal =
      writer.status === 'down' ? unavailable(writer.reason) : await writer.admission.checkDisk().catch(unreadable)
    if (refusal !== null) {
      rejectAll(writer, group, refusal)
      continue
    }
    writer.isWriting = true
    await writeGroup(writer, group)
  }
  writer.isPumping = false
}

/** The next appends that fit into one write and one segment. An append is never split, and may be larger than both. */
function takeGroup(writer: WriterState): Pending[] {
  const { growing, segmentBytes } = writer
  const queue = inFairOrder(writer.queue)
  const first = queue[0] as Pending
  if (growing.segment !== null && growing.segment.sizeBytes + first.sizeBytes > segmentBytes)
    writer.onSealed(sealSegment(growing))
  const most = Math.min(groupBytes, segmentBytes - (growing.segment?.sizeBytes ?? 0))
  let size = first.sizeBytes
  let count = 1
  while (count < queue.length) {
    size += (queue[count] as Pending).sizeBytes
    if (size > most) break
    count++
  }
  writer.queue = queue.slice(count)
  return queue.slice(0, count)
}

async function writeGroup(writer: WriterState, group: Pending[]): Promise<void> {
  const { fs, folder, topic, counters, growing } = writer
  const first = writer.lastOffset + 1
  const isNew = growing.segment === null
  const segment = growing.segment ?? emptySegment(segmentPath(folder, first), first)
  growing.segment = segment
  try {
    const beginning = isNew ? beginSegment(growing, segment.file) : null
    const { buffers, clock, ...encoded } = encodeGroup(group, first, writer)
    const isUnnamed = (await beginning) === true
    const steps = [writeAndSync(growing.file as LogFile, buffers, segment.sizeBytes)]
    if (isUnnamed) steps.push(fs.syncDir(folder))
    // Both must have ended before a repair may begin.
    for (const step of await Promise.allSettled(steps)) if (step.status === 'rejected') throw step.reason
    countGroup(counters, segment, group, { isNew, isUnnamed, ...encoded })
    writer.lastOffset = segment.last
    writer.highClock = clock
  } catch (error) {
    await failGroup(writer, segment, group, error)
    return
  }
  writer.status = 'ok'
  writer.isWriting = false
  writer.onGroup()
  let offset = first - 1
  for (const pending of group) {
    offset += pending.records.length
    counters.appends++
    pending.resolve({ topic, partition: 0, offset })
  }
}

function encodeGroup(group: Pending[], first: number, { version, highClock }: WriterState) {
  const buffers: Buffer[] = []
  const records: RecordHeader[] = []
  const appendedMs = Date.now()
  let clock = highClock
  let sizeBytes = 0
  for (const pending of group)
    for (const input of pending.records) {
      if (input.clock > clock) clock = input.clock
      const header = {
        offset: first + records.length,
        version,
        rowCount: input.rowCount,
        patchCount: input.patchCount,
        clock: input.clock,
      }
      const stored = { ...header, highClock: clock, appendedMs, groupIndex: records.length }
      buffers.push(encodeHead(stored, input.rows), input.rows.subarray(1))
      const size = storedBytes(input.rows)
      records.push({ ...header, sizeBytes: size })
      sizeBytes += size
    }
  return { buffers, records, clock, appendedMs, sizeBytes }
}

async function writeAndSync(file: LogFile, buffers: Buffer[], position: number): Promise<void> {
  await writeAll(file, buffers, position)
  await file.datasync()
}

/** Adds a group that is durable to the counters and to what is known of its segment. */
function countGroup(
  counters: LogCounters,
  segment: Segment,
  group: Pending[],
  written: { isNew: boolean; isUnnamed: boolean; records: RecordHeader[]; appendedMs: number; sizeBytes: number },
): void {
  counters.groups++
  counters.syncs++
  counters.bytes += written.sizeBytes
  counters.records += written.records.length
  if (written.isNew) {
    counters.segments++
    segment.oldestMs = written.appendedMs
  }
  if (written.isUnnamed) counters.dirSyncs++
  segment.sizeBytes += written.sizeBytes
  segment.last += written.records.length
  for (const record of written.records) {
    segment.rowCount += record.rowCount
    segment.patchCount += record.patchCount
    segment.records?.push(record)
  }
  for (const { projects } of group)
    for (const [project, bytes] of projects) segment.projects.set(project, (segment.projects.get(project) ?? 0) + bytes)
}

async function failGroup(writer: WriterState, segment: Segment, group: Pending[], error: unknown): Promise<void> {
  const { topic, admission, counters, logger } = writer
  counters.failedGroups++
  writer.status = 'degraded'
  writer.reason = `Writing the log failed: ${messageOf(error)}`
  logger?.error({ topic, file: segment.file, err: error }, 'writing the log failed')
  if (errorCode(error) === 'ENOSPC') admission.recheckDisk()
  if (!(await undo(writer, segment))) writer.undoing = undoLater(writer, segment)
  writer.isWriting = false
  rejectAll(writer, group, unavailable(writer.reason))
}

/** @returns whether that is the end of it: undone, or never to be */
async function undo(writer: WriterState, segment: Segment): Promise<boolean> {
  try {
    if (await putSegmentAside(writer.growing, segment)) writer.onSealed(segment)
    if (writer.status === 'down') writer.reason = 'A failed write of the log was undone; nothing was written since'
    writer.status = 'degraded'
    return true
  } catch (error) {
    writer.status = 'down'
    const passes = isPassing(error)
    const until = passes ? 'is tried again' : 'restart needed'
    writer.reason = `Writing the log failed and could not be undone; ${until}: ${messageOf(error)}`
    const { topic, logger } = writer
    logger?.error({ topic, file: segment.file, err: error }, 'a failed write could not be undone')
    return !passes
  }
}

async function undoLater(writer: WriterState, segment: Segment): Promise<void> {
  const { signal } = writer.stop
  for (let ms = firstUndoMs; ; ms = Math.min(2 * ms, maxUndoMs)) {
    await pause(ms, signal)
    if (signal.aborted || (await undo(writer, segment))) return
  }
}

function rejectAll({ admission }: WriterState, group: Pending[], refusal: Refusal): void {
  for (const pending of group) {
    admission.leave(pending.sizeBytes, pending.projects)
    pending.reject(refusal)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
const unreadable = (error: unknown): Refusal => unavailable(`Disk space cannot be read: ${messageOf(error)}`)
