// The archive of an export: files of compressed lines per topic, and a manifest with their counts and digests.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { z } from 'zod'
import { readManifest, writeManifest } from '../../core/files/manifest.ts'
import { quantity } from '../../core/quantity.ts'
import { type TopicName, topics } from '../../events/registry.ts'

const level = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } }
/** Lines of a file before it is compressed. */
const fileBytes = 256 * 2 ** 20
const manifestName = 'manifest.json'

const fileSchema = z.object({
  path: z.string().regex(/^[a-z_]+-\d{6}\.jsonl\.zst$/),
  topic: z.enum(Object.keys(topics) as [TopicName, ...TopicName[]]),
  /** `blobs`: rows of files whose contents lie beside them; their `blob` is a path in the export, named by its SHA-256. */
  contents: z.enum(['rows', 'blobs', 'dead letters']),
  rows: z.int().min(0),
  sizeBytes: z.int().min(0),
  sha256: z.string(),
})
export type ArchiveFile = z.output<typeof fileSchema>

const bodySchema = z.object({
  format: z.literal('callhouse export', { error: 'is no manifest of an export' }),
  version: z.literal(1, { error: 'is of a format that this version does not know' }),
  callhouse: z.string(),
  /** Everything that was accepted before is in it. */
  exportedAt: z.string(),
  project: z.string().nullable(),
  /** Version of the row structure of each topic. */
  topics: z.record(z.string(), z.int()),
  files: z.array(fileSchema),
  blobs: z.object({ count: z.int(), sizeBytes: z.int() }),
  notes: z.array(z.string()),
})
export type ManifestBody = z.output<typeof bodySchema>
export type Manifest = ManifestBody & { sha256: string }

/** The last file of an export: without it the others are worth nothing. */
export const writeExport = (folder: string, body: ManifestBody): Promise<void> =>
  writeManifest(join(folder, manifestName), bodySchema, body)

/** @throws Error with a line for the operator when there is no whole manifest, or one of rows that are not known here */
export async function readExport(folder: string): Promise<Manifest> {
  const path = join(folder, manifestName)
  const { body, sha256 } = await readManifest(path, bodySchema, 'export')
  for (const [topic, version] of Object.entries(body.topics))
    if (topics[topic as TopicName]?.version !== version)
      throw new Error(`${path}: this version does not know rows of ${topic} in version ${version}`)
  return { ...body, sha256 }
}

/** Writes lines into files of one kind, `<name>-000001.jsonl.zst` and so on. */
export function createArchiveWriter(folder: string, name: string, about: Pick<ArchiveFile, 'topic' | 'contents'>) {
  const done: ArchiveFile[] = []
  let current: Awaited<ReturnType<typeof begin>> | undefined

  async function begin() {
    const path = `${name}-${String(done.length + 1).padStart(6, '0')}.jsonl.zst`
    const handle = await open(join(folder, path), 'wx', 0o640)
    const file = { path, ...about, rows: 0, sizeBytes: 0, sha256: '' }
    const compressor = createZstdCompress(level)
    const written = writeOut(compressor, handle, file)
    written.catch(() => undefined)
    return { file, compressor, written, bytes: 0 }
  }
  async function writeOut(compressor: AsyncIterable<Buffer>, handle: FileHandle, file: ArchiveFile): Promise<void> {
    const hash = createHash('sha256')
    try {
      for await (const bytes of compressor) {
        hash.update(bytes)
        file.sizeBytes += bytes.length
        await handle.appendFile(bytes)
      }
      await handle.sync()
      file.sha256 = hash.digest('hex')
    } finally {
      await handle.close()
    }
  }
  async function end(): Promise<void> {
    if (!current) return
    const { compressor, written, file } = current
    current = undefined
    compressor.end()
    await written
    done.push(file)
  }

  return {
    /** Whole lines, each with its end. */
    async add(lines: Buffer): Promise<void> {
      if (lines.length === 0) return
      current ??= await begin()
      const { compressor, written, file } = current
      for (let at = 0; at < lines.length; file.rows++) {
        const next = lines.indexOf(10, at) + 1
        if (next === 0) throw new Error('a line has no end')
        at = next
      }
      // A disk that is full ends the wait too.
      if (!compressor.write(lines)) await Promise.race([once(compressor, 'drain'), written])
      current.bytes += lines.length
      if (current.bytes >= fileBytes) await end()
    },
    async end(): Promise<ArchiveFile[]> {
      await end()
      return done
    },
    /** After an error; what was written so far is worth nothing. */
    async discard(): Promise<void> {
      current?.compressor.destroy()
      await current?.written.catch(() => undefined)
      current = undefined
    },
  }
}

/** The lines of a file, each without its end. */
export async function* readLines(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  const source = createReadStream(path)
  const plain = source.pipe(createZstdDecompress())
  source.once('error', (error) => plain.destroy(error))
  for await (const bytes of plain as AsyncIterable<Buffer>) {
    let at = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, at)) {
      const last = bytes.subarray(at, end)
      yield rest.length === 0 ? last : Buffer.concat([...rest, last])
      rest = []
      at = end + 1
    }
    if (at < bytes.length) rest.push(bytes.subarray(at))
  }
  if (rest.length > 0) throw new Error(`${path} ends within a line`)
}

async function sha256Of(content: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of content) hash.update(bytes)
  return hash.digest('hex')
}

const blobPath = /,"blob":"(blobs\/[0-9a-f]{2}\/([0-9a-f]{64}))"\}$/

/** Path of the content of such a row in the export, and its SHA-256. */
export function blobOf(line: Buffer): { path: string; sha256: string } {
  const [, path, sha256] = blobPath.exec(line.toString('latin1', Math.max(0, line.length - 200))) ?? []
  if (path === undefined || sha256 === undefined) throw new Error('a row of a large file does not name its content')
  return { path, sha256 }
}

/** The row with another location of its content. */
export const withBlob = (line: Buffer, location: string): Buffer =>
  Buffer.from(line.toString('utf8').replace(blobPath, () => `,"blob":${JSON.stringify(location)}}`))

/** @throws Error with a line for the operator when anything differs from what the manifest says */
export async function checkFile(folder: string, file: ArchiveFile, signal: AbortSignal): Promise<void> {
  const path = join(folder, file.path)
  const found = await stat(path).catch(() => null)
  if (found === null) throw new Error(`${path} is missing`)
  const wrong = (what: string) => new Error(`${path} is damaged: ${what}`)
  if (found.size !== file.sizeBytes) throw wrong(`it has ${found.size} bytes instead of ${file.sizeBytes}`)
  if ((await sha256Of(createReadStream(path))) !== file.sha256) throw wrong('its digest differs')
  let rows = 0
  for await (const line of readLines(path)) {
    signal.throwIfAborted()
    rows++
    if (file.contents !== 'blobs') continue
    const blob = blobOf(line)
    const content = join(folder, blob.path)
    if (!(await stat(content).catch(() => null))) throw new Error(`${content} is missing`)
    if ((await sha256Of(createReadStream(content))) !== blob.sha256) throw new Error(`${content} is damaged`)
  }
  if (rows !== file.rows) throw wrong(`it has ${quantity(rows, 'row')} instead of ${file.rows}`)
}
