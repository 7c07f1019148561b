// Keeps the committed position of a topic durable with one small write and one sync per commit, and where the log ended then.
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { errorCode, type LogFile, type LogFs, writeAll, writeWhole } from '../../files/disk.ts'

/**
 * Two slots in different disk blocks, written in turn; the greater intact one counts. So a write that a crash cut short
 * costs at most the newest commit, and redelivery is harmless.
 */
const slotBytes = 4096

export type PositionFile = {
  /** Last durable position. */
  offset(): number
  /** Last record that was durable at the last commit; 0 when an earlier version has written the file. */
  end(): number
  /** Resolves when `offset` is durable. One call at a time. @param end last record of the log that is durable */
  write(offset: number, end: number): Promise<void>
  /** The same for an earlier position: what lies after it is delivered again. */
  goBack(offset: number): Promise<void>
  close(): Promise<void>
}

type Slot = { offset: number; end: number }

/** A number and its checksum: 25 bytes. */
function checked(value: number): string {
  const digits = String(value).padStart(16, '0')
  return `${digits} ${crc32(digits).toString(16).padStart(8, '0')}`
}

/** Earlier versions write and read the first number alone. */
const slot = ({ offset, end }: Slot): Buffer =>
  Buffer.from(`${checked(offset)} ${checked(end)}\n`.padEnd(slotBytes, '\n'))

function numberAt(bytes: Buffer, at: number): number | null {
  const text = bytes.toString('latin1', at, at + 25)
  const value = Number(text.slice(0, 16))
  return Number.isSafeInteger(value) && text === checked(value) ? value : null
}

function readSlot(bytes: Buffer, at: number): Slot | null {
  const offset = numberAt(bytes, at)
  return offset === null ? null : { offset, end: numberAt(bytes, at + 26) ?? 0 }
}

/**
 * Without the file the position is `initial`: everything that is retained is applied again. Throws when both slots are
 * damaged.
 */
export async function openPositionFile(fs: LogFs, folder: string, initial: number): Promise<PositionFile> {
  const path = join(folder, 'position')
  let kept: Slot = { offset: initial, end: 0 }
  let next = 0
  try {
    const bytes = await fs.readFile(path)
    const slots = [readSlot(bytes, 0), readSlot(bytes, slotBytes)] as const
    if (slots[0] === null && slots[1] === null)
      throw new Error(`${path} is damaged; without that file all retained segments are applied again`)
    next = (slots[0]?.offset ?? -1) >= (slots[1]?.offset ?? -1) ? 1 : 0
    kept = slots[1 - next] as Slot
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    await writeWhole(fs, path, [slot(kept), slot(kept)])
  }
  let file: LogFile | null = null

  return {
    offset: () => kept.offset,
    end: () => kept.end,
    async write(offset, end) {
      try {
        file ??= await fs.open(path, 'r+')
        await writeAll(file, [slot({ offset, end })], next * slotBytes)
        await file.datasync()
      } catch (error) {
        // After a failed sync the descriptor may report success for pages that were dropped.
        const failed = file
        file = null
        await failed?.close().catch(() => {})
        throw error
      }
      kept = { offset, end }
      next = 1 - next
    },
    async goBack(earlier) {
      await file?.close()
      file = null
      kept = { offset: earlier, end: kept.end }
      await writeWhole(fs, path, [slot(kept), slot(kept)])
      next = 0
    },
    close: async () => {
      await file?.close()
      file = null
    },
  }
}
