// Keeps applied segments for the retention time: merges and compresses them when the log has little to do, removes old ones.
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import { createSerialQueue, type SerialQueue } from '../../concurrency/serial-queue.ts'
import { errorCode, ignoreMissing, type LogFs, writeWhole } from '../../files/disk.ts'
import { fileBuffers } from '../../memory/file-buffers.ts'
import type { ChangeRows } from '../log.ts'
import { walk } from '../record.ts'
import { rewritten } from './rewrite.ts'
import { archivePath, LogDamage, readStored, type SegmentFile } from './segment.ts'
import type { LogLogger } from './writer.ts'

const compress = promisify(zstdCompress)
const level = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
  // Each piece of what comes out is a turn of the event loop.
  chunkSize: 2 ** 20,
}

/** Small segments wait for company, so that a quiet log does not become a folder of a million files. */
const mergeCount = 1000
const mergeAfterMs = 10 * 60_000
/** More than this is compressed even while the log is busy. */
const backlogBytes = 2 ** 31
const settleMs = 1000
const expiryCheckMs = 3_600_000

export type Retention = {
  /** A plain segment that is wholly applied, in order. */
  add(file: { path: string; first: number; sizeBytes: number }): void
  /** Does all that can be done now, without waiting for company or for a quiet moment. */
  tidy(): Promise<void>
  /**
   * Exchanges rows of applied segments; they keep their age.
   * @returns places of those that are not intact, which stay as they are
   */
  rewrite(change: ChangeRows): Promise<string[]>
  stop(): Promise<void>
}

type RetentionOptions = {
  fs: LogFs
  folder: string
  retentionMs: number
  /** The age at which the data of some project is hidden: applied segments go no later. */
  hiddenAfterMs?: (() => number) | undefined
  /** Uncompressed size of an archive. */
  segmentBytes: number
  applied: SegmentFile[]
  archives: SegmentFile[]
  /** Only what lies up to this position may be removed. */
  removable(): number
  isBusy(): boolean
  logger: LogLogger | undefined
}

type RetentionState = RetentionOptions & {
  /** Plain segments, oldest first. The newest one stays as it is: offsets and the clock go on from it after a restart. */
  plain: { path: string; first: number; sizeBytes: number; sinceMs: number }[]
  plainBytes: number
  /** Not intact: they stay apart until they are too old. */
  damaged: (SegmentFile & { upTo: number })[]
  timer: NodeJS.Timeout | null
  timerDue: number
  queue: SerialQueue
  isStopped: boolean
}

export function createRetention(options: RetentionOptions): Retention {
  const state: RetentionState = {
    ...options,
    archives: [...options.archives],
    plain: options.applied.map(({ path, first }) => ({ path, first, sizeBytes: 0, sinceMs: 0 })),
    plainBytes: 0,
    damaged: [],
    timer: null,
    timerDue: 0,
    queue: createSerialQueue(),
    isStopped: false,
  }
  schedule(state)
  return {
    add(file) {
      state.plain.push({ ...file, sinceMs: Date.now() })
      state.plainBytes += file.sizeBytes
      schedule(state)
    },
    tidy: () => run(state, () => true),
    rewrite: (change) => state.queue.run(() => rewrite(state, change)),
    async stop() {
      state.isStopped = true
      if (state.timer !== null) clearTimeout(state.timer)
      await state.queue.idle()
    },
  }
}

const isMergeDue = ({ plain, plainBytes, segmentBytes }: RetentionState): boolean =>
  plain.length > 1 &&
  (plain.length > mergeCount ||
    plainBytes - (plain.at(-1)?.sizeBytes ?? 0) >= segmentBytes ||
    (plain[0]?.sinceMs ?? 0) <= Date.now() - mergeAfterMs)

const mayMergeNow = (state: RetentionState): boolean =>
  isMergeDue(state) && (state.plainBytes >= backlogBytes || !state.isBusy())

function schedule(state: RetentionState): void {
  const { plain, archives, damaged } = state
  if (state.isStopped || (plain.length < 2 && archives.length === 0 && damaged.length === 0)) return
  let delayMs = expiryCheckMs
  if (isMergeDue(state)) delayMs = settleMs
  else if (plain.length > 1) delayMs = Math.max(settleMs, (plain[0]?.sinceMs ?? 0) + mergeAfterMs - Date.now())
  const due = Date.now() + delayMs
  if (state.timer !== null && state.timerDue <= due) return
  if (state.timer !== null) clearTimeout(state.timer)
  state.timerDue = due
  state.timer = setTimeout(() => {
    state.timer = null
    void run(state, mayMergeNow)
  }, delayMs)
  state.timer.unref()
}

function run(state: RetentionState, mayMerge: (state: RetentionState) => boolean): Promise<void> {
  const { folder, logger } = state
  return state.queue
    .run(async () => {
      await expire(state)
      while (!state.isStopped && state.plain.length > 1 && mayMerge(state)) await merge(state)
    })
    .catch((error: unknown) => {
      // Nothing is lost by it: the files stay as they are until the next attempt.
      logger?.warn({ folder, err: error }, 'compressing applied log segments failed')
    })
    .finally(() => schedule(state))
}

async function expireDamaged({ fs, damaged, removable }: RetentionState, before: number): Promise<void> {
  for (const file of [...damaged]) {
    if (file.upTo > removable() || (await fs.modifiedMs(file.path)) > before) continue
    await fs.unlink(file.path).catch(ignoreMissing)
    damaged.splice(damaged.indexOf(file), 1)
  }
}

async function expire(state: RetentionState): Promise<void> {
  const { fs, archives, plain, retentionMs, hiddenAfterMs = () => retentionMs } = state
  const before = Date.now() - Math.min(retentionMs, hiddenAfterMs())
  await expireDamaged(state, before)
  while (!state.isStopped) {
    const fromPlain = archives.length === 0
    const oldest = fromPlain ? plain[0] : archives[0]
    if (oldest === undefined || (fromPlain && plain.length < 2)) return
    const last = fromPlain ? (plain[1]?.first as number) - 1 : (archives[0]?.last as number)
    if (last > state.removable()) return
    if ((await fs.modifiedMs(oldest.path)) > before) return
    await fs.unlink(oldest.path).catch(ignoreMissing)
    if (fromPlain) forget(state, 1)
    else archives.shift()
  }
}

/** The oldest plain segments that fit into one archive. */
async function readParts(state: RetentionState): Promise<{ parts: Buffer[]; sizeBytes: number; end: number }> {
  const { fs, plain, segmentBytes, logger } = state
  const parts: Buffer[] = []
  let sizeBytes = 0
  let end = plain[0]?.first as number
  const fits = (bytes: number): boolean => parts.length === 0 || sizeBytes + bytes <= segmentBytes
  for (const file of plain.slice(0, -1)) {
    if (file.first !== end || !fits(file.sizeBytes)) break
    const bytes = await readStored(fs, { path: file.path, first: file.first, last: null }, fileBuffers)
    // The size of a segment that was there at the start is not known before.
    if (!fits(bytes.length)) {
      fileBuffers.give(bytes)
      break
    }
    const { records, wholeBytes, problem } = walk(bytes, file.first)
    if (problem !== null) {
      fileBuffers.give(bytes)
      const damage = new LogDamage(file.path, wholeBytes, problem.what)
      logger?.error({ file: file.path, err: damage }, 'an applied log segment is damaged')
      // An archive ends before it, and the next begins behind it.
      if (parts.length > 0) break
      state.damaged.push({ path: file.path, first: file.first, last: null, upTo: (plain[1]?.first as number) - 1 })
      forget(state, 1)
      break
    }
    parts.push(bytes)
    sizeBytes += bytes.length
    end += records.length
  }
  return { parts, sizeBytes, end }
}

/** Writes one archive from the oldest plain segments, then removes them. */
async function merge(state: RetentionState): Promise<void> {
  const { fs, folder, archives } = state
  const first = state.plain[0]?.first as number
  const { parts, sizeBytes, end } = await readParts(state)
  const [only] = parts
  if (only === undefined) return
  const archive = archivePath(folder, first, end - 1)
  try {
    await writeWhole(fs, archive, [await compress(parts.length > 1 ? Buffer.concat(parts, sizeBytes) : only, level)])
  } finally {
    parts.forEach(fileBuffers.give)
  }
  archives.push({ path: archive, first, last: end - 1 })
  for (const { path } of forget(state, parts.length)) await fs.unlink(path).catch(ignoreMissing)
}

async function rewriteFile(fs: LogFs, file: SegmentFile, change: ChangeRows): Promise<void> {
  const modifiedMs = await fs.modifiedMs(file.path)
  const parts = rewritten(file.path, await readStored(fs, file), file.first, change)
  if (parts === null) return
  const bytes = file.last === null ? parts : [await compress(Buffer.concat(parts), level)]
  await writeWhole(fs, file.path, bytes, modifiedMs)
  if (rewritten(file.path, await readStored(fs, file), file.first, change) !== null)
    throw new LogDamage(file.path, 0, 'it was written again, and what was taken out of it is there')
}

async function rewrite(state: RetentionState, change: ChangeRows): Promise<string[]> {
  const { fs, archives, damaged, plain, logger } = state
  const places: string[] = []
  for (const file of [...archives, ...damaged, ...plain.map(({ path, first }) => ({ path, first, last: null }))]) {
    if (state.isStopped) break
    try {
      await rewriteFile(fs, file, change)
    } catch (error) {
      // Whoever took it away has taken away what it held.
      if (errorCode(error) === 'ENOENT') continue
      if (!(error instanceof LogDamage)) throw error
      logger?.error({ file: file.path, err: error }, 'an applied log segment is damaged and cannot be written again')
      places.push(error.place)
    }
  }
  if (state.isStopped) throw new Error('The log is closing')
  return places
}

/** The oldest plain segments are plain segments no longer. */
function forget(state: RetentionState, count: number) {
  const removed = state.plain.splice(0, count)
  for (const { sizeBytes } of removed) state.plainBytes -= sizeBytes
  return removed
}
