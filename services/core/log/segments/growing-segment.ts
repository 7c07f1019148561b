// The segment of a topic that is being written: begun on a spare, sealed when it is full, put aside after a failed write.
import { ignoreMissing, type LogFile, type LogFs, writeAll } from '../../files/disk.ts'
import { endsWithRecords, readRecords, type Segment } from './segment.ts'
import { createSpares, type Spares } from './spares.ts'

export type GrowingSegment = {
  fs: LogFs
  folder: string
  onCloseError(file: string, error: unknown): void
  spares: Spares
  /** Null between two segments. */
  segment: Segment | null
  file: LogFile | null
  /** Whether the file ends with zeros that were there before. */
  isOnSpare: boolean
  /** Sealed segments whose files are not closed yet. */
  closing: Set<Promise<void>>
}

export const openGrowingSegment = (
  options: Pick<GrowingSegment, 'fs' | 'folder' | 'onCloseError'> & { segmentBytes: number },
): GrowingSegment => ({
  fs: options.fs,
  folder: options.folder,
  onCloseError: options.onCloseError,
  spares: createSpares(options.fs, options.folder, options.segmentBytes),
  segment: null,
  file: null,
  isOnSpare: false,
  closing: new Set(),
})

export const emptySegment = (file: string, first: number): Segment => ({
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

/** @returns whether the name of the segment has to be made durable */
export async function beginSegment(growing: GrowingSegment, path: string): Promise<boolean> {
  growing.file = await growing.spares.take(path)
  growing.isOnSpare = growing.file !== null
  growing.file ??= await growing.fs.open(path, 'wx', true)
  return !growing.isOnSpare
}

/** Ends the growing segment; its file is closed meanwhile. */
export function sealSegment(growing: GrowingSegment): Segment {
  const segment = growing.segment as Segment
  const file = growing.file as LogFile
  growing.segment = null
  growing.file = null
  growing.spares.learn(segment.sizeBytes)
  const ending = growing.isOnSpare ? file.truncate(segment.sizeBytes) : endsWithRecords()
  segment.ended = () => ending.catch(() => endAgain(growing.fs, segment))
  const done = ending
    .finally(() => file.close())
    .catch((error: unknown) => growing.onCloseError(segment.file, error))
    .finally(() => growing.closing.delete(done))
  growing.closing.add(done)
  return segment
}

/** Sets the end of a segment again that could not be set when it was sealed. */
async function endAgain(fs: LogFs, { file: path, sizeBytes }: Segment): Promise<void> {
  const file = await fs.open(path, 'r+')
  await file.truncate(sizeBytes).finally(() => file.close())
}

/**
 * Takes the bytes of a failed write away; the next write begins a new segment.
 * @returns whether the segment holds records of earlier writes and is to be delivered
 * @throws Error when it does not hold what it should
 */
export async function putSegmentAside(growing: GrowingSegment, segment: Segment): Promise<boolean> {
  const { fs, folder, file: failed } = growing
  growing.segment = null
  growing.file = null
  // The descriptor is not used again: after a failed sync it may report success for pages that were dropped.
  await failed?.close().catch(() => {})
  if (segment.sizeBytes === 0) {
    await fs.unlink(segment.file).catch(ignoreMissing)
    await fs.syncDir(folder)
    return false
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
  const last = segment.first + records.length - 1
  if (last !== segment.last) throw new Error(`${segment.file} ends at record ${last} instead of ${segment.last}`)
  return true
}

/** Seals what grows, and waits until all files are closed. */
export async function closeGrowingSegment(growing: GrowingSegment): Promise<void> {
  if (growing.segment !== null) sealSegment(growing)
  await Promise.all([...growing.closing, growing.spares.close()])
}
