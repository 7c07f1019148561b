// Files of zeros that the next segments of a topic are written over. A sync of a file that grows waits for the journal of
// the file system, and with it for whatever else is written on this disk; a sync of bytes that were there does not.
import { join } from 'node:path'
import { ignoreMissing, type LogFile, type LogFs, writeAll } from '../../files/disk.ts'

export type Spares = {
  /** A spare that has been given this path, or null when none is ready. Its name and its end become durable later. */
  take(path: string): Promise<LogFile | null>
  /** Tells how large a segment became: spares are as large as segments are lately. */
  learn(sizeBytes: number): void
  /** Removes what was not taken. */
  close(): Promise<void>
}

const suffix = '.spare'
const leastBytes = 64 * 1024
const mostSpares = 4
const zeros = Buffer.alloc(256 * 1024)

export const isSpare = (name: string): boolean => name.endsWith(suffix)

type Spare = { path: string; file: LogFile }

/**
 * @param fs operations on a folder whose earlier spares are gone
 * @param mostBytes size of the largest spare; all together are at most twice as large
 */
export function createSpares(fs: LogFs, folder: string, mostBytes: number): Spares {
  let made = 0
  let ready: Spare[] = []
  let making: Promise<void> | null = null
  let closed = false
  let sizeBytes = leastBytes

  const count = (): number => Math.min(mostSpares, Math.max(2, Math.floor((2 * mostBytes) / sizeBytes)))

  async function write(): Promise<Spare> {
    const path = join(folder, `${made++}${suffix}`)
    const file = await fs.open(path, 'wx')
    try {
      for (let at = 0; at < sizeBytes; at += zeros.length)
        await writeAll(file, [zeros.subarray(0, Math.min(zeros.length, sizeBytes - at))], at)
      await file.datasync()
      await file.close()
      return { path, file: await fs.open(path, 'r+', true) }
    } catch (error) {
      await remove({ path, file })
      throw error
    }
  }

  async function remove({ path, file }: Spare): Promise<void> {
    await file.close().catch(() => {})
    await fs.unlink(path).catch(ignoreMissing)
  }

  async function make(): Promise<void> {
    const written = await Promise.allSettled(Array.from({ length: Math.max(0, count() - ready.length) }, write))
    const spares = written.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    try {
      await fs.syncDir(folder)
    } catch {
      await Promise.all(spares.map(remove))
      return
    }
    ready.push(...spares)
  }

  return {
    async take(path) {
      const spare = ready.shift()
      // Without one, be it that the disk is full, a segment begins as an empty file.
      if (ready.length <= count() / 2 && !closed)
        making ??= make()
          .catch(() => {})
          .finally(() => {
            making = null
          })
      if (spare === undefined) return null
      try {
        await fs.rename(spare.path, path)
      } catch (error) {
        await remove(spare)
        throw error
      }
      return spare.file
    },
    learn(bytes) {
      const recent = Math.max(bytes * 2, sizeBytes * 0.9)
      sizeBytes = Math.ceil(Math.min(mostBytes, Math.max(leastBytes, recent)) / 4096) * 4096
    },
    async close() {
      closed = true
      await making
      const left = ready
      ready = []
      await Promise.all(left.map((spare) => remove(spare).catch(() => {})))
    },
  }
}
