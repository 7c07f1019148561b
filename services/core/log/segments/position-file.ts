// Keeps the committed position of a topic durable with one small write and one sync per commit.
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { errorCode, type LogFile, type LogFs, writeAll, writeWhole } from './disk.ts'

/**
 * Two slots in different disk blocks, written in turn; the greater intact one counts. So a write that a crash cut short
 * costs at most the newest commit, and redelivery is harmless.
 */
const slotBytes = 4096

export type PositionFile = {
  /** Last durable position. */
  offset(): number
  /** Resolves when `offset` is durable. One call at a time. */
  write(offset: number): Promise<void>
  /** The same for an earlier position: what lies after it is delivered again. */
  goBack(offset: number): Promise<void>
  close(): Promise<void>
}

function slot(offset: number): Buffer {
  const digits = String(offset).padStart(16, '0')
  return Buffer.from(`${digits} ${crc32(digits).toString(16).padStart(8, '0')}\n`.padEnd(slotBytes, '\n'))
}

function readSlot(bytes: Buffer, at: number): number | null {
  const [digits, crc] = bytes.toString('latin1', at, at + 25).split(' ')
  if (digits?.length !== 16 || crc !== crc32(digits).toString(16).padStart(8, '0')) return null
  return Number(digits)
}

/**
 * Without the file the position is `initial`: everything that is retained is applied again. Throws when both slots are
 * damaged.
 */
export async function openPositionFile(fs: LogFs, folder: string, initial: number): Promise<PositionFile> {
  const path = join(folder, 'position')
  let offset = initial
  let next = 0
  try {
    const bytes = await fs.readFile(path)
    const slots = [readSlot(bytes, 0), readSlot(bytes, slotBytes)] as const
    if (slots[0] === null && slots[1] === null)
      throw new Error(`${path} is damaged; without that file all retained segments are applied again`)
    next = (slots[0] ?? -1) >= (slots[1] ?? -1) ? 1 : 0
    offset = Math.max(slots[0] ?? -1, slots[1] ?? -1)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    await writeWhole(fs, path, [slot(initial), slot(initial)])
  }
  let file: LogFile | null = null

  return {
    offset: () => offset,
    async write(newOffset) {
      try {
        file ??= await fs.open(path, 'r+')
        await writeAll(file, [slot(newOffset)], next * slotBytes)
        await file.datasync()
      } catch (error) {
        // After a failed sync the descriptor may report success for pages that were dropped.
        const failed = file
        file = null
        await failed?.close().catch(() => {})
        throw error
      }
      offset = newOffset
      next = 1 - next
    },
    async goBack(earlier) {
      await file?.close()
      file = null
      await writeWhole(fs, path, [slot(earlier), slot(earlier)])
      offset = earlier
      next = 0
    },
    close: async () => {
      await file?.close()
      file = null
    },
  }
}
