// Segments of a topic: their file names, what is known about each, and reading one back with its checks.
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import type { LogFs } from '../../files/disk.ts'
import type { BufferPool } from '../../memory/buffer-pool.ts'
import type { RecordHeader } from '../log.ts'
import { type StoredHeader, walk } from '../record.ts'

/** A segment that is not applied yet, or the one that grows. */
export type Segment = {
  file: string
  /** The archive that holds its records; it is expanded to `file` only while it is applied again. */
  archive: string | null
  first: number
  /** `first - 1` while it is empty. */
  last: number
  sizeBytes: number
  rowCount: number
  patchCount: number
  /** Bytes of its rows by project; none when they were read back, as nobody can tell. */
  projects: Map<string, number>
  /** Milliseconds since 1970 at which its first record was appended. */
  oldestMs: number
  /** Null = not in memory; read again from the file when the segment is delivered. */
  records: RecordHeader[] | null
  /** Resolves when the file ends with its last record; until then zeros may follow. Called before it is delivered. */
  ended(): Promise<void>
}

export const endsWithRecords = async (): Promise<void> => {}

/** A file in a topic's folder. */
export type SegmentFile = {
  path: string
  first: number
  /** Only an archive's name tells its last offset. */
  last: number | null
}

const digits = (offset: number): string => String(offset).padStart(16, '0')
const plainName = /^(\d{16})\.jsonl$/
const archiveName = /^(\d{16})-(\d{16})\.jsonl\.zst$/

export const segmentPath = (folder: string, first: number): string => join(folder, `${digits(first)}.jsonl`)

/** Applied segments are merged into archives; the name tells which records an archive holds. */
export const archivePath = (folder: string, first: number, last: number): string =>
  join(folder, `${digits(first)}-${digits(last)}.jsonl.zst`)

/** Damage that no crash explains. The start fails with it; an operator decides. */
export class LogDamage extends Error {
  /** The same for who must not see the paths of this machine. */
  readonly place: string
  constructor(file: string, atByte: number, what: string) {
    super(`Log segment ${file} is damaged at byte ${atByte}: ${what}`)
    this.place = `log segment ${basename(dirname(file))}/${basename(file)} is damaged at byte ${atByte}`
  }
}

/**
 * Files of a topic by offset. `covered` are plain segments whose records are all in an archive: the crash came between
 * writing the archive and removing them. `temporary` never became valid.
 */
export async function listSegments(
  fs: LogFs,
  folder: string,
): Promise<{ files: SegmentFile[]; covered: string[]; temporary: string[] }> {
  const names = await fs.readdir(folder)
  const found: SegmentFile[] = []
  for (const name of names) {
    const [, first, last] = archiveName.exec(name) ?? plainName.exec(name) ?? []
    if (first === undefined) continue
    found.push({ path: join(folder, name), first: Number(first), last: last === undefined ? null : Number(last) })
  }
  // An archive comes before the plain segment that has its first offset.
  found.sort((a, b) => a.first - b.first || (a.last === null ? 1 : -1))
  const files: SegmentFile[] = []
  const covered: string[] = []
  let archivedTo = 0
  for (const file of found) {
    if (file.last === null && file.first <= archivedTo) covered.push(file.path)
    else files.push(file)
    if (file.last !== null) archivedTo = file.last
  }
  return { files, covered, temporary: names.filter((name) => name.endsWith('.tmp')).map((name) => join(folder, name)) }
}

const decompress = promisify(zstdDecompress)

/** Without the zeros of the spare that a segment was written over. Rows hold no zero bytes. */
export function withoutZeros(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return bytes.subarray(0, end)
}

/** Bytes of a plain segment, in a buffer of the pool where one is given, or of an archive. */
export async function readStored(fs: LogFs, file: SegmentFile, pool?: BufferPool): Promise<Buffer> {
  const bytes = await fs.readFile(file.path, file.last === null ? pool : undefined)
  if (file.last === null) return withoutZeros(bytes)
  try {
    return await decompress(bytes)
  } catch (error) {
    throw new LogDamage(file.path, 0, error instanceof Error ? error.message : String(error))
  }
}

/** Reads a whole segment and checks every record. Throws LogDamage when a byte is wrong. */
export async function readRecords(
  fs: LogFs,
  file: SegmentFile,
): Promise<{ records: StoredHeader[]; sizeBytes: number }> {
  const bytes = await readStored(fs, file)
  const { records, wholeBytes, problem } = walk(bytes, file.first)
  if (problem !== null) throw new LogDamage(file.path, wholeBytes, problem.what)
  return { records, sizeBytes: bytes.length }
}

/** Header fields of the log port. */
export const publicHeader = ({
  offset,
  version,
  rowCount,
  patchCount,
  clock,
  sizeBytes,
}: StoredHeader): RecordHeader => ({
  offset,
  version,
  rowCount,
  patchCount,
  clock,
  sizeBytes,
})

/** The facts about a checked segment that the driver keeps in memory. */
export function summarize(file: SegmentFile, records: StoredHeader[], sizeBytes: number): Segment {
  let rowCount = 0
  let patchCount = 0
  for (const record of records) {
    rowCount += record.rowCount
    patchCount += record.patchCount
  }
  return {
    file: file.path,
    archive: null,
    first: file.first,
    last: file.first + records.length - 1,
    sizeBytes,
    rowCount,
    patchCount,
    projects: new Map(),
    oldestMs: records[0]?.appendedMs ?? 0,
    records: null,
    ended: endsWithRecords,
  }
}

/** A segment that is applied again out of an archive. Its counts are known when it is expanded. */
export const archivedSegment = (folder: string, archive: SegmentFile, oldestMs: number): Segment => ({
  file: segmentPath(folder, archive.first),
  archive: archive.path,
  first: archive.first,
  last: archive.last as number,
  sizeBytes: 0,
  rowCount: 0,
  patchCount: 0,
  projects: new Map(),
  oldestMs,
  records: null,
  ended: endsWithRecords,
})
