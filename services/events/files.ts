// Rows of the topic files, and where a file's bytes go: into the rows when it is small, else into blob storage.
import type { Blobs } from '../core/blobs/blobs.ts'
import type { ProjectId } from '../core/ids.ts'
import type { RecordInput } from '../core/log/log.ts'
import { quoted } from './objects.ts'
import { projectRecord } from './project-record.ts'

/** Files up to this size lie in the rows; each is in memory, several times, until the log has it. */
export const inlineFileBytes = 256 * 1024

const chunkBytes = 100_000
/** Names are kept for people who look at the data folder; nothing depends on them. */
const maxNameLength = 1000

export type StoredFile = { projectId: ProjectId; digest: string; clock: bigint; name: string; sizeBytes: number }

function record(file: StoredFile, chunkCount: number, chunk: (index: number) => string): RecordInput {
  const shared = `"n_chunks":${chunkCount},"name":${quoted(file.name.slice(0, maxNameLength))},"size_bytes":${file.sizeBytes}`
  let rows = ''
  for (let i = 0; i < chunkCount; i++) {
    const index = i === 0 ? '' : `"chunk_index":${i},`
    rows += `{"project_id":${quoted(file.projectId)},"digest":"${file.digest}","clock":${file.clock},${index}${shared}${chunk(i)}}\n`
  }
  return projectRecord(file.projectId, {
    rows: Buffer.from(rows),
    rowCount: chunkCount,
    clock: file.clock,
    key: `${file.projectId}/${file.digest}`,
  })
}

/** One record with every chunk; an empty file is one empty chunk. */
export function inlineFileRecord(file: StoredFile, bytes: Buffer): RecordInput {
  return record(file, Math.max(1, Math.ceil(bytes.length / chunkBytes)), (i) => {
    const chunk = bytes.toString('base64', i * chunkBytes, Math.min(bytes.length, (i + 1) * chunkBytes))
    return chunk === '' ? '' : `,"content":"${chunk}"`
  })
}

/** A file whose bytes lie in blob storage at `location`. */
export const blobFileRecord = (file: StoredFile, location: string): RecordInput =>
  record(file, 1, () => `,"blob":${quoted(location)}`)

/**
 * The record of a file that is in memory; a large one goes to blob storage first, and into the rows when that fails.
 */
export async function fileRecord(blobs: Blobs, file: StoredFile, bytes: Buffer): Promise<RecordInput> {
  if (bytes.length <= inlineFileBytes) return inlineFileRecord(file, bytes)
  try {
    const upload = await blobs.upload()
    try {
      await upload.write(bytes)
      return blobFileRecord(file, await upload.commit(file.projectId, file.digest))
    } catch (error) {
      await upload.discard()
      throw error
    }
  } catch {
    return inlineFileRecord(file, bytes)
  }
}
