// Large contents outside of the store: a port, and its driver for a local folder.
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, stat, statfs, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unavailable } from '../errors.ts'
import { requiredFreeBytes } from '../files/free-space.ts'
import type { ProjectId } from '../ids.ts'

/** Bytes from `start` up to and without `end`. */
export type ByteRange = { start: number; end: number }

/** A content on its way in; its name is known only when all bytes are there. Exactly one of commit and discard is called. */
export type BlobUpload = {
  /** Resolves when the next chunk may come. */
  write(chunk: Buffer): Promise<void>
  /** Makes the content durable under its digest; resolves to its location, which goes into the row. */
  commit(projectId: ProjectId, digest: string): Promise<string>
  discard(): Promise<void>
}

/**
 * MUST: a committed content is complete and durable, and stays readable at its location; committing it again is harmless.
 * MUST: an upload that was not committed leaves nothing that could be read, and no file after the next start.
 */
export type Blobs = {
  /** @throws Refusal when there is no room. */
  upload(): Promise<BlobUpload>
  /** Bytes of a content in order; nothing is open before the first is asked for. Throws when there is no such content. */
  read(location: string, range?: ByteRange): AsyncIterable<Buffer>
  /** Null when there is no content at the location. */
  stat(location: string): Promise<{ sizeBytes: number } | null>
}

/** The storage itself, which contents can be taken out of. */
export type StoredBlobs = Blobs & {
  /** Removes a content for good, with what older versions of it there are; harmless when there is none. */
  remove(location: string): Promise<void>
}

/** Uploads lie in a file until they are committed, which other drivers send on. */
export type FolderBlobs = Omit<StoredBlobs, 'upload'> & { upload(): Promise<BlobUpload & { path: string }> }

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
const ignoreMissing = (error: unknown): void => {
  if (!isMissing(error)) throw error
}

/** No upload goes without a byte for so long. */
const leftoverMs = 3_600_000

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Creates a folder below `root`, each level durably. */
async function makeFolder(root: string, levels: string[]): Promise<string> {
  let path = root
  for (const level of levels) {
    const parent = path
    path = join(path, level)
    try {
      await mkdir(path, { mode: 0o750 })
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    // Also when it exists: another upload may have made it a moment ago, and not synced it yet.
    await syncFolder(parent)
  }
  return path
}

/** Two characters spread the files over 256 folders; the project's hash keeps its text out of the path. */
function locationOf(projectId: ProjectId, digest: string): string {
  if (!/^[A-Za-z0-9]{43,64}$/.test(digest)) throw new Error('not a content digest')
  const spread = createHash('sha256').update(digest).digest('hex').slice(0, 2)
  return `${spread}/${createHash('sha256').update(projectId).digest('hex').slice(0, 32)}/${digest}`
}

const location = /^[0-9a-f]{2}\/[0-9a-f]{32}\/[A-Za-z0-9]{43,64}$/

/**
 * Contents as files `<dir>/<2 hex>/<project hash>/<digest>`, written to `<dir>/tmp` first. Old files in `tmp` are
 * removed; younger uploads may be those of another process that shares the folder.
 * @param options.minFreeBytes no upload starts below this, or below the share of `requiredFreeBytes`, of free space
 */
export async function createFolderBlobs(options: { dir: string; minFreeBytes: number }): Promise<FolderBlobs> {
  const { dir, minFreeBytes } = options
  const tmp = join(dir, 'tmp')
  await mkdir(tmp, { recursive: true, mode: 0o750 })
  await syncFolder(dir)
  await syncFolder(dirname(dir))
  for (const name of await readdir(tmp)) {
    const path = join(tmp, name)
    const left = await stat(path).catch(() => null)
    if (left !== null && Date.now() - left.mtimeMs > leftoverMs) await unlink(path).catch(ignoreMissing)
  }

  /** A location comes from a row; whatever a row says, only a file of ours is opened. */
  const pathOf = (text: string): string | null => (location.test(text) ? join(dir, text) : null)

  async function start(): Promise<BlobUpload & { path: string }> {
    const path = join(tmp, randomUUID())
    const handle: FileHandle = await open(path, 'wx', 0o640)
    return {
      path,
      async write(chunk) {
        let done = 0
        while (done < chunk.length) done += (await handle.write(chunk, done)).bytesWritten
      },
      async commit(projectId, digest) {
        const target = locationOf(projectId, digest)
        const [spread = '', project = ''] = target.split('/')
        try {
          await handle.sync()
        } finally {
          await handle.close()
        }
        const folder = await makeFolder(dir, [spread, project])
        await rename(path, join(folder, digest))
        await syncFolder(folder)
        return target
      },
      async discard() {
        await handle.close().catch(() => undefined)
        await unlink(path).catch(ignoreMissing)
      },
    }
  }

  return {
    async upload() {
      const { bavail, blocks, bsize } = await statfs(tmp)
      if (bavail * bsize < requiredFreeBytes(blocks * bsize, minFreeBytes)) throw unavailable('Disk space is low')
      return start()
    },
    async *read(text, range) {
      const path = pathOf(text)
      if (path === null) throw new Error('not a location of a content')
      if (range && range.end <= range.start) return
      yield* createReadStream(path, range ? { start: range.start, end: range.end - 1 } : {})
    },
    async stat(text) {
      const path = pathOf(text)
      if (path === null) return null
      try {
        return { sizeBytes: (await stat(path)).size }
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },
    async remove(text) {
      const path = pathOf(text)
      if (path === null) return
      await unlink(path).catch(ignoreMissing)
      await syncFolder(dirname(path)).catch(ignoreMissing)
    },
  }
}
