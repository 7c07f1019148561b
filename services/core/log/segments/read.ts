// Reads records back from the retained segments and archives of a topic, for rebuilds, replays and inspection.
import { join } from 'node:path'
import { errorCode, type LogFs, nodeFs } from '../../files/disk.ts'
import type { RecordHeader } from '../log.ts'
import { rowsOf, type Walk, walk } from '../record.ts'
import { LogDamage, listSegments, publicHeader, readStored, type SegmentFile } from './segment.ts'

export type StoredRecord = {
  header: RecordHeader
  /** Milliseconds since 1970 at which it was appended. */
  appendedMs: number
  /** Rows as they were appended, without the header. */
  rows: Buffer
}

/**
 * Records from `fromOffset` (default the oldest retained) to `toOffset` (default the last whole one), in order. Works
 * beside a running log: it follows new segments, so pass the end as `toOffset` to stop there and to see acknowledged
 * records only. Holds one segment in memory.
 * Throws LogDamage when a record is not intact, and an error when records in between are missing.
 */
export async function* readSegments(options: {
  /** Folder of the log. */
  dir: string
  topic: string
  fromOffset?: number
  toOffset?: number
  fs?: LogFs
}): AsyncGenerator<StoredRecord> {
  const { dir, topic, fromOffset = 1, toOffset = Number.MAX_SAFE_INTEGER, fs = nodeFs } = options
  const folder = join(dir, topic)
  const list = async (): Promise<SegmentFile[]> => (await listSegments(fs, folder)).files
  let next = fromOffset
  let hasBegun = false
  let files = await list()
  while (next <= toOffset) {
    const index = indexOfRecord(files, next)
    const file = files[index]
    if (file === undefined) return
    const bytes = await readIfThere(fs, file)
    if (bytes === null) {
      // A running log archives or removes files between the listing and the reading.
      files = await list()
      continue
    }
    const isLast = index === files.length - 1
    const records = intactRecords(file, bytes, isLast)
    const end = file.first + records.length
    if (hasBegun && (file.first > next || (end <= next && !isLast)))
      throw new Error(`${folder}: records from ${next} on are missing`)
    yield* storedRecords(bytes, records, next, toOffset)
    if (end > toOffset) return
    hasBegun ||= end > next
    // Records that retention removed are skipped at the beginning; a gap later on is a fault.
    next = end > next || isLast ? Math.max(end, next) : (files[index + 1] as SegmentFile).first
    if (!isLast) continue
    files = await list()
    if ((files.at(-1)?.first ?? 0) <= file.first) return
  }
}

/** Index of the file that holds the record of this number, or of the next one when retention removed it. */
function indexOfRecord(files: readonly SegmentFile[], offset: number): number {
  const index = Math.max(
    0,
    files.findLastIndex(({ first }) => first <= offset),
  )
  return (files[index]?.last ?? offset) < offset ? index + 1 : index
}

/** The records of a file, whose last write may still be under way when it is the last file. */
function intactRecords(file: SegmentFile, bytes: Buffer, isLast: boolean): Walk['records'] {
  const { records, wholeBytes, problem } = walk(bytes, file.first)
  if (problem !== null && !(isLast && problem.torn)) throw new LogDamage(file.path, wholeBytes, problem.what)
  return records
}

/** The records of a file from one number to another. */
function* storedRecords(bytes: Buffer, records: Walk['records'], from: number, to: number): Generator<StoredRecord> {
  let at = 0
  for (const record of records) {
    if (record.offset > to) return
    const { sizeBytes, appendedMs } = record
    if (record.offset >= from) yield { header: publicHeader(record), appendedMs, rows: rowsOf(bytes, at, sizeBytes) }
    at += sizeBytes
  }
}

async function readIfThere(fs: LogFs, file: SegmentFile): Promise<Buffer | null> {
  try {
    return await readStored(fs, file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}
