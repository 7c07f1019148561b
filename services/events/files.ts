// The topic files, and where a file's bytes go: into the rows when it is small, else into blob storage.
import type { Blobs } from '../core/blobs/blobs.ts'
import type { ProjectId } from '../core/ids.ts'
import type { RecordInput } from '../core/log/log.ts'
import { always, clock, declareTopic, key, number, recordOfRows, text } from './declaration.ts'

export const filesTopic = declareTopic({
  name: 'files',
  about: 'Files in chunks, or where in blob storage their bytes lie.',
  version: 1,
  landing: 'files_in',
  columns: {
    project_id: key,
    digest: key,
    clock,
    chunk_index: number('UInt32'),
    n_chunks: number('UInt32'),
    name: always(text),
    size_bytes: always(number('UInt64')),
    blob: text,
    content: text,
  },
})

/** Files up to this size lie in the rows; each is in memory, several times, until the log has it. */
export const inlineFileBytes = 256 * 1024

const chunkBytes = 100_000
/** Names are kept for people who look at the data folder; nothing depends on them. */
const maxNameLength = 1000

export type StoredFile = { projectId: ProjectId; digest: string; clock: bigint; name: string; sizeBytes: number }

function record(
  { projectId, digest, clock, name, sizeBytes }: StoredFile,
  chunks: readonly { content?: string; blob?: string }[],
): RecordInput {
  const file = { project_id: projectId, digest, clock, n_chunks: chunks.length, size_bytes: sizeBytes }
  const rows = chunks.map((chunk, index) => ({
    ...file,
    name: name.slice(0, maxNameLength),
    chunk_index: index,
    ...chunk,
  }))
  return recordOfRows(filesTopic, rows, `${projectId}/${digest}`)
}

/** One record with every chunk; an empty file is one empty chunk. */
export function inlineFileRecord(file: StoredFile, bytes: Buffer): RecordInput {
  const chunks = Array.from({ length: Math.max(1, Math.ceil(bytes.length / chunkBytes)) }, (_, i) => ({
    content: bytes.toString('base64', i * chunkBytes, Math.min(bytes.length, (i + 1) * chunkBytes)),
  }))
  return record(file, chunks)
}

/** A file whose bytes lie in blob storage at `location`. */
export const blobFileRecord = (file: StoredFile, location: string): RecordInput => record(file, [{ blob: location }])

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
