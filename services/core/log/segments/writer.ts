// Appends the records of one topic: group commit into the growing segment, and repair after a failed write.
import { pause } from '../../concurrency/pause.ts'
import { type Refusal, unavailable } from '../../errors.ts'
import { isPassing } from '../../process/passing-faults.ts'
import type { Position, RecordHeader, RecordInput } from '../log.ts'
import { encodeHead, storedBytes } from '../record.ts'
import type { Admission } from './admission.ts'
import { errorCode, ignoreMissing, type LogFile, type LogFs, writeAll } from './disk.ts'
import { groupBytes, inFairOrder } from './group.ts'
import { endsWithRecords, readRecords, type Segment, segmentPath } from './segment.ts'
import { createSpares } from './spares.ts'
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

export function createWriter(options: {
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
}): SegmentWriter {
  const { fs, folder, topic, segmentBytes, admission, counters, logger } = options
  let durableEnd = options.lastOffset
  let highClock = options.highClock
  let queue: Pending[] = []
  let growing: Segment | null = null
  let handle: LogFile | null = null
  let isPumping = false
  let pumping: Promise<void> = Promise.resolve()
  let undoing: Promise<void> = Promise.resolve()
  let writing = false
  let closed = false
  let status: 'ok' | 'degraded' | 'down' = 'ok'
  let reason = ''
  const closing = new Set<Promise<void>>()
  const stop = new AbortController()
  const spares = createSpares(fs, folder, segmentBytes)
  let isOnSpare = false

  function seal(): Segment {
    const segment = growing as Segment
    const file = handle as LogFile
    growing = null
    handle = null
    spares.learn(segment.sizeBytes)
    const ending = isOnSpare ? file.truncate(segment.sizeBytes) : endsWithRecords()
    segment.ended = () => ending.catch(() => endAgain(segment))
    const done = ending
      .finally(() => file.close())
      .catch((error: unknown) => logger?.warn({ file: segment.file, err: error }, 'closing a segment failed'))
      .finally(() => closing.delete(done))
    closing.add(done)
    return segment
  }

  /** Sets the end of a segment again that could not be set when it was sealed. */
  async function endAgain({ file: path, sizeBytes }: Segment): Promise<void> {
    const file = await fs.open(path, 'r+')
    await file.truncate(sizeBytes).finally(() => file.close())
  }

  /** @returns whether the name of the segment has to be made durable */
  async function begin(path: string): Promise<boolean> {
    handle = await spares.take(path)
    isOnSpare = handle !== null
    handle ??= await fs.open(path, 'wx', true)
    return !isOnSpare
  }

  /** The next appends that fit into one write and one segment. An append is never split, and may be larger than both. */
  function take(): Pending[] {
    queue = inFairOrder(queue)
    const first = queue[0] as Pending
    if (growing !== null && growing.sizeBytes + first.sizeBytes > segmentBytes) options.onSealed(seal())
    const most = Math.min(groupBytes, segmentBytes - (growing?.sizeBytes ?? 0))
    let size = first.sizeBytes
    let count = 1
    while (count < queue.length) {
      size += (queue[count] as Pending).sizeBytes
      if (size > most) break
      count++
    }
    const group = queue.slice(0, count)
    queue = queue.slice(count)
    return group
  }

  async function pump(): Promise<void> {
    // Lets everything that is appended in this turn join the first write.
    await null
    while (queue.length > 0) {
      const group = take()
      const refusal = status === 'down' ? unavailable(reason) : await admission.checkDisk().catch(unreadable)
      if (refusal !== null) {
        rejectAll(group, refusal)
        continue
      }
      writing = true
      await write(group)
    }
    isPumping = false
  }

  async function write(group: Pending[]): Promise<void> {
    const first = durableEnd + 1
    const isNew = growing === null
    const segment = growing ?? emptySegment(segmentPath(folder, first), first)
    growing = segment
    try {
      const beginning = isNew ? begin(segment.file) : null
      const { buffers, records, clock, appendedMs, sizeBytes } = encode(group, first)
      const isUnnamed = (await beginning) === true
      const file = handle as LogFile
      const steps = [writeAndSync(file, buffers, segment.sizeBytes)]
      if (isUnnamed) steps.push(fs.syncDir(folder))
      // Both must have ended before a repair may begin.
      for (const step of await Promise.allSettled(steps)) if (step.status === 'rejected') throw step.reason
      count(segment, group, { isNew, isUnnamed, records, appendedMs, sizeBytes })
      durableEnd = segment.last
      highClock = clock
    } catch (error) {
      await fail(segment, group, error)
      return
    }
    status = 'ok'
    writing = false
    options.onGroup()
    let offset = first - 1
    for (const pending of group) {
      offset += pending.records.length
      counters.appends++
      pending.resolve({ topic, partition: 0, offset })
    }
  }

  /** Adds a group that is durable to the counters and to what is known of its segment. */
  function count(
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
      for (const [project, bytes] of projects)
        segment.projects.set(project, (segment.projects.get(project) ?? 0) + bytes)
  }

  async function writeAndSync(file: LogFile, buffers: Buffer[], position: number): Promise<void> {
    await writeAll(file, buffers, position)
    await file.datasync()
  }

  function encode(group: Pending[], first: number) {
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
          version: options.version,
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

  async function fail(segment: Segment, group: Pending[], error: unknown): Promise<void> {
    counters.failedGroups++
    status = 'degraded'
    reason = `Writing the log failed: ${messageOf(error)}`
    logger?.error({ topic, file: segment.file, err: error }, 'writing the log failed')
    if (errorCode(error) === 'ENOSPC') admission.recheckDisk()
    if (!(await undo(segment))) undoing = undoLater(segment)
    writing = false
    rejectAll(group, unavailable(reason))
  }

  /** @returns whether that is the end of it: undone, or never to be */
  async function undo(segment: Segment): Promise<boolean> {
    try {
      await repair(segment)
      if (status === 'down') reason = 'A failed write of the log was undone; nothing was written since'
      status = 'degraded'
      return true
    } catch (error) {
      status = 'down'
      const passes = isPassing(error)
      const until = passes ? 'is tried again' : 'restart needed'
      reason = `Writing the log failed and could not be undone; ${until}: ${messageOf(error)}`
      logger?.error({ topic, file: segment.file, err: error }, 'a failed write could not be undone')
      return !passes
    }
  }

  async function undoLater(segment: Segment): Promise<void> {
    for (let ms = firstUndoMs; ; ms = Math.min(2 * ms, maxUndoMs)) {
      await pause(ms, stop.signal)
      if (stop.signal.aborted || (await undo(segment))) return
    }
  }

  /** Takes the bytes of a failed write away and puts the segment aside; the next write begins a new one. */
  async function repair(segment: Segment): Promise<void> {
    const failed = handle
    growing = null
    handle = null
    // The descriptor is not used again: after a failed sync it may report success for pages that were dropped.
    await failed?.close().catch(() => {})
    if (segment.sizeBytes === 0) {
      await fs.unlink(segment.file).catch(ignoreMissing)
      await fs.syncDir(folder)
      return
    }
    const file = await fs.open(segment.file, 'r+')
    try {
      await file.truncate(segment.sizeBytes)
      const bytes = await fs.readFile(segment.file)
      // The last block was shared with the failed bytes: written again, so that the sync below includes it.
      const lastBlock = Math.floor((segment.sizeBytes - 1) / 4096) * 4096
      await writeAll(file, [bytes.subarray(lastBlock)], lastBlock)
      await file.datasync()
    } finally {
      await file.close().catch(() => {})
    }
    const { records } = await readRecords(fs, { path: segment.file, first: segment.first, last: null })
    if (segment.first + records.length - 1 !== segment.last)
      throw new Error(`${segment.file} ends at record ${segment.first + records.length - 1} instead of ${segment.last}`)
    options.onSealed(segment)
  }

  function rejectAll(group: Pending[], refusal: Refusal): void {
    for (const pending of group) {
      admission.leave(pending.sizeBytes, pending.projects)
      pending.reject(refusal)
    }
  }

  return {
    append(records) {
      if (closed) return Promise.reject(unavailable('The log is closed'))
      if (status === 'down') return Promise.reject(unavailable(reason))
      if (records.length === 0) return Promise.resolve({ topic, partition: 0, offset: durableEnd })
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
        queue.push({ records, sizeBytes, projects, resolve, reject })
        if (isPumping) return
        isPumping = true
        pumping = pump()
      })
    },
    sealable: () => (writing || growing === null || growing.sizeBytes === 0 ? null : growing),
    growing: () => growing,
    seal,
    end: () => durableEnd,
    isWriting: () => writing,
    state: () => ({ status, reason }),
    async close() {
      closed = true
      while (isPumping) await pumping
      stop.abort()
      await undoing
      if (growing !== null) seal()
      await Promise.all([...closing, spares.close()])
    },
  }
}

const emptySegment = (file: string, first: number): Segment => ({
  file,
  archive: null,
  first,
  last: first - 1,
  sizeBytes: 0,
  rowCount: 0,
  patchCount: 0,
  projects: new Map(),
  oldestMs: 0,
  records: [],
  ended: endsWithRecords,
})

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
const unreadable = (error: unknown): Refusal => unavailable(`Disk space cannot be read: ${messageOf(error)}`)
