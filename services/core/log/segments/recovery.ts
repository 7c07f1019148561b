// Opens a topic's folder after a clean end or a crash: checks what is unapplied and cuts off an unfinished last write.

import { join } from 'node:path'
import { ignoreMissing, type LogFs } from '../../files/disk.ts'
import { firstOffsetOf, type StoredHeader, walk } from '../record.ts'
import { openPositionFile, type PositionFile } from './position-file.ts'
import {
  archivedSegment,
  LogDamage,
  listSegments,
  readRecords,
  type Segment,
  type SegmentFile,
  segmentPath,
  summarize,
  withoutZeros,
} from './segment.ts'
import { isSpare } from './spares.ts'
import type { LogLogger } from './writer.ts'

export type Recovered = {
  lastOffset: number
  highClock: bigint
  position: PositionFile
  /** Records that were durable at the last commit, and that no file holds. */
  lost: { from: number; to: number } | null
  /** Segments with records after the position, oldest first. */
  unapplied: Segment[]
  /** Plain segments that are wholly applied, oldest first. */
  applied: SegmentFile[]
  archives: SegmentFile[]
}

type RecoverOptions = {
  /** The position goes back to this one, or to the oldest record, if it is beyond. */
  beginAfter?: number | undefined
  /** Opens a log that ends before its position: the caller compares the two. */
  mayEndEarly?: boolean | undefined
}

/**
 * Reads names only, except for the last segment and those that are not applied. Throws LogDamage, or an error that says
 * which records are missing.
 */
export async function recoverTopic(
  fs: LogFs,
  folder: string,
  logger: LogLogger | undefined,
  { beginAfter = Number.POSITIVE_INFINITY, mayEndEarly = false }: RecoverOptions = {},
): Promise<Recovered> {
  await nameSpares(fs, folder)
  const { files, covered, temporary } = await listSegments(fs, folder)
  for (const path of [...covered, ...temporary]) await fs.unlink(path).catch(ignoreMissing)
  const oldest = (files[0]?.first ?? 1) - 1
  const position = await openPositionFile(fs, folder, oldest)
  const newest = await recoverNewest(fs, folder, files, logger)
  const last = newest?.records.at(-1)
  const lastOffset = last?.offset ?? 0
  const begin = Math.max(beginAfter, oldest)
  if (begin < position.offset()) await position.goBack(begin)
  if (position.offset() > lastOffset && !mayEndEarly)
    throw new Error(
      `${folder}: position ${position.offset()} is applied, but the log ends at ${lastOffset}; records are missing; --adopt-log goes on with those that are there (docs/operate/lost-log-or-tables.md)`,
    )
  const committed = Math.min(position.offset(), lastOffset)
  const lost = lostAfter(lastOffset, position, folder, logger)

  const recovered: Recovered = {
    lastOffset,
    highClock: last?.highClock ?? 0n,
    position,
    lost,
    unapplied: [],
    applied: [],
    archives: files.filter((file) => file.last !== null),
  }
  const { unapplied, applied } = recovered
  let expected = committed + 1
  for (const [index, file] of files.entries()) {
    const next = files[index + 1]
    if ((file.last ?? (next?.first ?? lastOffset + 1) - 1) <= committed) {
      if (file.last === null) applied.push(file)
      continue
    }
    requireNext(file, expected, unapplied.length === 0)
    const segment = await segmentOf(fs, folder, file, next === undefined ? newest : null)
    unapplied.push(segment)
    expected = segment.last + 1
  }
  if (expected !== lastOffset + 1) throw new Error(`${folder}: records ${expected} to ${lastOffset} are missing`)
  return recovered
}

/** No crash takes what was synced: a disk or a hand has. */
function lostAfter(
  lastOffset: number,
  position: PositionFile,
  folder: string,
  logger: LogLogger | undefined,
): Recovered['lost'] {
  if (position.end() <= lastOffset) return null
  const lost = { from: lastOffset + 1, to: position.end() }
  logger?.error({ folder, ...lost }, 'records at the end of the log were synced, and are gone')
  return lost
}

/** The segment of a file whose records are not applied. @param known its records, if they were read before */
async function segmentOf(fs: LogFs, folder: string, file: SegmentFile, known: Newest | null): Promise<Segment> {
  if (file.last !== null) return archivedSegment(folder, file, await fs.modifiedMs(file.path))
  const { records, sizeBytes } = known ?? (await readWhole(fs, file))
  return summarize(file, records, sizeBytes)
}

/** The records of a segment that the engine is going to read: it may end in zeros after a crash, which go. */
async function readWhole(fs: LogFs, file: SegmentFile): Promise<Newest> {
  const stored = await fs.readFile(file.path)
  const { records, wholeBytes, problem } = walk(withoutZeros(stored), file.first)
  if (problem !== null) throw new LogDamage(file.path, wholeBytes, problem.what)
  if (stored.length > wholeBytes) {
    const handle = await fs.open(file.path, 'r+')
    try {
      await handle.truncate(wholeBytes)
    } finally {
      await handle.close()
    }
  }
  return { records, sizeBytes: wholeBytes }
}

/** Spares are given their names as segments without a sync, so that a crash of the machine may take the name back. */
async function nameSpares(fs: LogFs, folder: string): Promise<void> {
  const names = await fs.readdir(folder)
  const spares = names.filter(isSpare)
  for (const path of spares.map((name) => join(folder, name))) {
    const first = firstOffsetOf(withoutZeros(await fs.readFile(path)))
    if (first instanceof Error) throw new LogDamage(path, 0, first.message)
    const isThere = first !== null && names.some((name) => join(folder, name) === segmentPath(folder, first))
    if (first === null || isThere) await fs.unlink(path)
    else await fs.rename(path, segmentPath(folder, first))
  }
  if (spares.length > 0) await fs.syncDir(folder)
}

/** The first unapplied file may begin with applied records; the others must follow one another. */
function requireNext(file: SegmentFile, expected: number, isFirst: boolean): void {
  if (file.first > expected)
    throw new Error(`Records ${expected} to ${file.first - 1} are missing before log segment ${file.path}`)
  if (file.first < expected && !isFirst)
    throw new LogDamage(file.path, 0, `it begins with record ${file.first}, expected is ${expected}`)
}

type Newest = { records: StoredHeader[]; sizeBytes: number }

/**
 * Checks the last file that holds records; only the very last file may end in an unfinished write. Takes a last file
 * without records away, from the folder and from `files`.
 */
async function recoverNewest(
  fs: LogFs,
  folder: string,
  files: SegmentFile[],
  logger: LogLogger | undefined,
): Promise<Newest | null> {
  const file = files.at(-1)
  if (file === undefined) return null
  if (file.last !== null) return readRecords(fs, file)
  const stored = await fs.readFile(file.path)
  const bytes = withoutZeros(stored)
  const { records, wholeBytes, problem } = walk(bytes, file.first)
  if (problem !== null && !problem.torn) throw new LogDamage(file.path, wholeBytes, problem.what)
  if (problem !== null)
    logger?.warn(
      { file: file.path, atByte: wholeBytes, cutBytes: bytes.length - wholeBytes, what: problem.what },
      'an unfinished write was cut off',
    )
  if (records.length === 0) {
    await fs.unlink(file.path)
    await fs.syncDir(folder)
    files.pop()
    // This file was created after the one before was complete: no unfinished write is possible there.
    const before = files.at(-1)
    const result = before === undefined ? null : await readRecords(fs, before)
    const end = result?.records.at(-1)?.offset ?? 0
    if (end + 1 !== file.first) throw new Error(`${folder}: records ${end + 1} to ${file.first - 1} are missing`)
    return result
  }
  // After a killed process whole records may be in memory only; they are delivered, so they have to be durable.
  const handle = await fs.open(file.path, 'r+')
  try {
    if (stored.length > wholeBytes) await handle.truncate(wholeBytes)
    await handle.datasync()
  } finally {
    await handle.close()
  }
  await fs.syncDir(folder)
  return { records, sizeBytes: wholeBytes }
}
