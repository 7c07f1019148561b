// Opens a topic's folder after a clean end or a crash: checks what is unapplied and cuts off an unfinished last write.
import { ignoreMissing, type LogFs } from './disk.ts'
import { openPositionFile, type PositionFile } from './position-file.ts'
import { type StoredHeader, walk } from './record.ts'
import {
  archivedSegment,
  LogDamage,
  listSegments,
  readRecords,
  readStored,
  type Segment,
  type StoredFile,
  summarize,
} from './segment.ts'
import type { LogLogger } from './writer.ts'

export type Recovered = {
  lastOffset: number
  highClock: bigint
  position: PositionFile
  /** Segments with records after the position, oldest first. */
  unapplied: Segment[]
  /** Plain segments that are wholly applied, oldest first. */
  applied: StoredFile[]
  archives: StoredFile[]
}

/**
 * Reads names only, except for the last segment and those that are not applied. Throws LogDamage, or an error that says
 * which records are missing.
 */
export async function recoverTopic(fs: LogFs, folder: string, logger: LogLogger | undefined): Promise<Recovered> {
  const { archives, plain, covered, temporary } = await listSegments(fs, folder)
  for (const path of [...covered, ...temporary]) await fs.unlink(path).catch(ignoreMissing)
  const position = await openPositionFile(fs, folder, ((archives[0] ?? plain[0])?.first ?? 1) - 1)
  const committed = position.offset()

  const newest = await recoverLast(fs, folder, plain, archives.at(-1)?.last ?? 0, logger)
  const lastArchive = archives.at(-1)
  const last: StoredHeader | undefined =
    newest?.records.at(-1) ?? (lastArchive && (await readRecords(fs, lastArchive)).records.at(-1))
  const lastOffset = last?.offset ?? 0
  if (committed > lastOffset)
    throw new Error(
      `${folder}: position ${committed} is applied, but the log ends at ${lastOffset}; records are missing`,
    )

  const unapplied: Segment[] = []
  const applied: StoredFile[] = []
  let expected = committed + 1
  for (const archive of archives) {
    if ((archive.last as number) <= committed) continue
    requireNext(archive, expected, unapplied.length === 0)
    const oldestMs = await fs.modifiedMs(archive.path)
    unapplied.push(archivedSegment(folder, archive, oldestMs))
    expected = (archive.last as number) + 1
  }
  for (const [index, file] of plain.entries()) {
    const isLast = index === plain.length - 1
    const next = isLast ? lastOffset + 1 : (plain[index + 1] as StoredFile).first
    if (next - 1 <= committed) {
      applied.push(file)
      continue
    }
    requireNext(file, expected, unapplied.length === 0)
    const { records, sizeBytes } = isLast && newest ? newest : await readRecords(fs, file)
    expected = file.first + records.length
    unapplied.push(summarize(file, records, sizeBytes))
  }
  if (expected !== lastOffset + 1) throw new Error(`${folder}: records ${expected} to ${lastOffset} are missing`)
  return { lastOffset, highClock: last?.highClock ?? 0n, position, unapplied, applied, archives }
}

/** The first unapplied file may begin with applied records; the others must follow one another. */
function requireNext(file: StoredFile, expected: number, isFirst: boolean): void {
  if (file.first > expected)
    throw new Error(`Records ${expected} to ${file.first - 1} are missing before log segment ${file.path}`)
  if (file.first < expected && !isFirst)
    throw new LogDamage(file.path, 0, `it begins with record ${file.first}, expected is ${expected}`)
}

/** Checks the last segment that holds records; only the very last file may end in an unfinished write. */
async function recoverLast(
  fs: LogFs,
  folder: string,
  plain: StoredFile[],
  archivedTo: number,
  logger: LogLogger | undefined,
): Promise<{ records: StoredHeader[]; sizeBytes: number } | null> {
  const file = plain.at(-1)
  if (file === undefined) return null
  const bytes = await readStored(fs, file)
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
    plain.pop()
    const before = plain.at(-1)
    if (before === undefined) {
      if (file.first !== archivedTo + 1)
        throw new Error(`${folder}: records ${archivedTo + 1} to ${file.first - 1} are missing`)
      return null
    }
    // This file was created after the one before was complete: no unfinished write is possible there.
    const result = await readRecords(fs, before)
    const end = before.first + result.records.length
    if (end !== file.first) throw new Error(`${folder}: records ${end} to ${file.first - 1} are missing`)
    return result
  }
  // After a killed process whole records may be in memory only; they are delivered, so they have to be durable.
  const handle = await fs.open(file.path, 'r+')
  try {
    if (problem !== null) await handle.truncate(wholeBytes)
    await handle.datasync()
  } finally {
    await handle.close()
  }
  await fs.syncDir(folder)
  return { records, sizeBytes: wholeBytes }
}
