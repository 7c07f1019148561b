// Gives the engine a path that it reads as one plain file: the segment's own, or a link or a copy in a folder of ours.
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, open, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeAll } from '../../files/disk.ts'
import { StoreError } from '../store.ts'
import { isPlainPath } from './insert.ts'

type SegmentPath = { path: string; release(): Promise<void> }

export type SegmentPaths = {
  ofFile(file: string): Promise<SegmentPath>
  ofBytes(bytes: Buffer[]): Promise<SegmentPath>
  close(): Promise<void>
}

/** @param dir where copies and links go; a folder under the system's temporary folder if its own path is not plain */
export function createSegmentPaths(dir: string): SegmentPaths {
  let folder: Promise<string> | undefined

  const prepare = async (): Promise<string> => {
    if (isPlainPath(dir)) {
      // The folder of a process that was killed.
      await rm(dir, { recursive: true, force: true })
      await mkdir(dir, { recursive: true, mode: 0o700 })
      return dir
    }
    const other = await mkdtemp(join(tmpdir(), 'callhouse-'))
    if (!isPlainPath(other)) throw new StoreError('outage', 0, `no folder with a plain path: ${dir}, ${other}`)
    return other
  }
  const newPath = async (): Promise<string> => {
    folder ??= prepare()
    return join(await folder, randomUUID())
  }
  const temporary = (path: string): SegmentPath => ({ path, release: () => rm(path, { force: true }) })

  return {
    async ofFile(file) {
      if (isPlainPath(file)) return { path: file, release: async () => {} }
      const path = await newPath()
      await symlink(file, path)
      return temporary(path)
    },
    async ofBytes(bytes) {
      const path = await newPath()
      const file = await open(path, 'wx', 0o600)
      try {
        await writeAll({ writev: async (rest, at) => (await file.writev(rest, at)).bytesWritten }, bytes, 0)
      } finally {
        await file.close()
      }
      return temporary(path)
    },
    async close() {
      if (folder !== undefined) await rm(await folder, { recursive: true, force: true })
    },
  }
}
