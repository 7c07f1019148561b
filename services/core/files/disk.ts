// File operations of the embedded log behind one injectable type, so that tests can make any of them fail.
import { constants } from 'node:fs'
import { mkdir, open, readdir, rename, stat, statfs, unlink, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type BufferPool, freshBuffers } from '../memory/buffer-pool.ts'
import { readInto } from '../memory/file-buffers.ts'

export type LogFile = {
  /** Writes the buffers at a position; may write fewer bytes than given. Returns the bytes written. */
  writev(buffers: Buffer[], position: number): Promise<number>
  datasync(): Promise<void>
  truncate(sizeBytes: number): Promise<void>
  close(): Promise<void>
}

export type LogFs = {
  /**
   * wx = create, must not exist; r+ = read and write, must exist.
   * @param isSynced where the operating system can, each write is durable once it has ended, and `datasync` does nothing:
   * a write and its sync are one wait for a thread that runs, of which a busy machine has few
   */
  open(path: string, flags: 'wx' | 'r+', isSynced?: boolean): Promise<LogFile>
  /** @param pool to which the bytes may be given back once nobody reads them any more */
  readFile(path: string, pool?: BufferPool): Promise<Buffer>
  readdir(path: string): Promise<string[]>
  /** Creates the folder and its parents; true when it was not there. */
  mkdir(path: string): Promise<boolean>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Milliseconds since 1970 of the last change. */
  modifiedMs(path: string): Promise<number>
  setModifiedMs(path: string, ms: number): Promise<void>
  /** Makes created, renamed and removed names of a folder durable. */
  syncDir(path: string): Promise<void>
  space(path: string): Promise<{ freeBytes: number; totalBytes: number }>
}

const openFlags = {
  wx: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
  'r+': constants.O_RDWR,
}
/** Elsewhere it is not there, or leaves the bytes in the cache of the disk. */
const syncFlag = process.platform === 'linux' ? constants.O_DSYNC : 0

export const nodeFs: LogFs = {
  async open(path, flags, isSynced = false) {
    const syncs = isSynced ? syncFlag : 0
    const handle = await open(path, openFlags[flags] | syncs, 0o640)
    return {
      writev: async (buffers, position) => (await handle.writev(buffers, position)).bytesWritten,
      datasync: syncs === 0 ? () => handle.datasync() : async () => {},
      truncate: (sizeBytes) => handle.truncate(sizeBytes),
      close: () => handle.close(),
    }
  },
  readFile: (path, pool = freshBuffers) => readInto(pool, path),
  readdir: (path) => readdir(path),
  mkdir: async (path) => (await mkdir(path, { recursive: true, mode: 0o750 })) !== undefined,
  rename,
  unlink,
  modifiedMs: async (path) => (await stat(path)).mtimeMs,
  setModifiedMs: (path, ms) => utimes(path, ms / 1000, ms / 1000),
  async syncDir(path) {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  async space(path) {
    const { bavail, blocks, bsize } = await statfs(path)
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  },
}

/** The same operations, each one that changes something only while `check` does not throw, a sync also after it. */
export function guardedFs(fs: LogFs, check: () => void): LogFs {
  const guarded =
    <A extends unknown[], R>(run: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      check()
      return run(...args)
    }
  return {
    ...fs,
    open: guarded(async (path, flags, isSynced) => {
      const file = await fs.open(path, flags, isSynced)
      return {
        writev: guarded(file.writev),
        truncate: guarded(file.truncate),
        // The caller acknowledges durable records next.
        datasync: async () => {
          await file.datasync()
          check()
        },
        close: file.close,
      }
    }),
    mkdir: guarded(fs.mkdir),
    rename: guarded(fs.rename),
    unlink: guarded(fs.unlink),
    setModifiedMs: guarded(fs.setModifiedMs),
  }
}

export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** Writes all bytes of the buffers, whatever the operating system takes at once. */
export async function writeAll(file: Pick<LogFile, 'writev'>, buffers: Buffer[], position: number): Promise<void> {
  let rest = buffers
  let at = position
  while (rest.length > 0) {
    let written = await file.writev(rest, at)
    if (written === 0) throw new Error('The operating system wrote nothing')
    at += written
    let first = 0
    while (first < rest.length && written >= (rest[first] as Buffer).length) written -= (rest[first++] as Buffer).length
    rest = rest.slice(first)
    if (written > 0) rest[0] = (rest[0] as Buffer).subarray(written)
  }
}

/**
 * Puts a whole file into place: after a crash there is the old one, none, or all of the new one.
 * @param modifiedMs the time that it keeps; absent: now
 */
export async function writeWhole(fs: LogFs, path: string, bytes: Buffer[], modifiedMs?: number): Promise<void> {
  const temporary = `${path}.tmp`
  await fs.unlink(temporary).catch(ignoreMissing)
  const file = await fs.open(temporary, 'wx')
  try {
    await writeAll(file, bytes, 0)
    await file.datasync()
  } finally {
    await file.close()
  }
  if (modifiedMs !== undefined) await fs.setModifiedMs(temporary, modifiedMs)
  await fs.rename(temporary, path)
  await fs.syncDir(dirname(path))
}

export function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error
}
