// Reading a file's bytes, from its chunks or from blob storage.
import type { Blobs, ByteRange } from '../../core/blobs/blobs.ts'
import type { ProjectId } from '../../core/ids.ts'
import { param, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'

type ChunkRow = { chunk_index: number; n_chunks: number; size_bytes: string; blob: string; content: string }

/** All chunks of a file in order; inline files are small (events/files.ts), so that they come at once. */
export const fileChunksQuery = (projectId: ProjectId, digest: string): Query =>
  projectQuery('files.chunks', projectId, (project) => {
    const where = sql`digest = ${param('String', digest)}`
    return sql`SELECT chunk_index, n_chunks, size_bytes, blob, base64Encode(content) AS content
    ${project.from('files', { final: true, where })} ORDER BY chunk_index`
  })

export type FileContent = {
  sizeBytes: number
  read(range: ByteRange | null): Buffer | AsyncIterable<Buffer>
}

/** Null when the rows do not (or not yet) hold a whole file. */
async function assemble(rows: ChunkRow[], blobs: Blobs): Promise<FileContent | null> {
  const [first] = rows
  // One of no chunks was erased.
  if (first === undefined || first.chunk_index !== 0 || first.n_chunks === 0) return null
  const sizeBytes = Number(first.size_bytes)
  const { blob } = first
  if (blob !== '') {
    const isWhole = (await blobs.stat(blob))?.sizeBytes === sizeBytes
    return isWhole ? { sizeBytes, read: (range) => blobs.read(blob, range ?? undefined) } : null
  }
  // Rows beyond the first one's count stem from another way of storing the same bytes.
  const chunks = rows.slice(0, first.n_chunks).map((row) => Buffer.from(row.content, 'base64'))
  const bytes = Buffer.concat(chunks)
  if (chunks.length !== first.n_chunks || bytes.length !== sizeBytes) return null
  return { sizeBytes, read: (range) => (range === null ? bytes : bytes.subarray(range.start, range.end)) }
}

const again = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Null when there is no such file, or not all of it. */
export async function readFileContent(
  deps: { store: Pick<Store, 'rows'>; blobs: Blobs },
  projectId: ProjectId,
  digest: string,
  options: QueryOptions,
): Promise<FileContent | null> {
  const query = fileChunksQuery(projectId, digest)
  const rows = await deps.store.rows<ChunkRow>(query, options)
  if (rows.length === 0) return null
  const whole = await assemble(rows, deps.blobs)
  if (whole !== null) return whole
  await again(50)
  return assemble(await deps.store.rows<ChunkRow>(query, options), deps.blobs)
}

export const fileTotalQuery = (projectId: ProjectId): Query =>
  projectQuery('files.total', projectId, (project) => {
    const firstChunks = project.from('files', { where: sql`chunk_index = 0` })
    return sql`SELECT toString(sum(size)) AS total
    FROM (SELECT digest, any(size_bytes) AS size ${firstChunks} GROUP BY digest)`
  })

/** Bytes of the distinct files of a project. */
export async function totalFileBytes(
  store: Pick<Store, 'rows'>,
  projectId: ProjectId,
  options: QueryOptions,
): Promise<number> {
  const [row] = await store.rows<{ total: string }>(fileTotalQuery(projectId), options)
  return Number(row?.total ?? 0)
}
