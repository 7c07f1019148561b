// Files of JSON lines: one write and one sync serve all lines that came meanwhile; a file is handed on when it is full or old.
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'

const maxBytes = 12 * 2 ** 20
const maxAgeMs = 150
const lookEveryMs = 20

type Waiting = { lines: Buffer; resolve: () => void; reject: (error: unknown) => void }

/** @param onSealed is given each finished file, in their order */
export async function openSegments(dir: string, onSealed: (file: string) => void) {
  await mkdir(dir, { recursive: true })
  let [number, sizeBytes, firstMs] = [0, 0, 0]
  let waiting: Waiting[] = []
  let isBusy = false
  const pathOf = () => join(dir, `${String(number).padStart(10, '0')}.jsonl`)
  let file: FileHandle = await open(pathOf(), 'a')

  const isDue = () => sizeBytes > 0 && (sizeBytes > maxBytes || performance.now() - firstMs > maxAgeMs)
  async function seal(): Promise<void> {
    const sealed = pathOf()
    await file.close()
    number++
    sizeBytes = 0
    file = await open(pathOf(), 'a')
    onSealed(sealed)
  }
  async function flush(): Promise<void> {
    if (isBusy) return
    isBusy = true
    while (waiting.length > 0 || isDue()) {
      const batch = waiting
      waiting = []
      try {
        if (batch.length > 0) {
          if (sizeBytes === 0) firstMs = performance.now()
          const { bytesWritten } = await file.writev(batch.map(({ lines }) => lines))
          await file.datasync()
          sizeBytes += bytesWritten
        }
        for (const { resolve } of batch) resolve()
        if (isDue()) await seal()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isBusy = false
  }
  setInterval(() => void flush(), lookEveryMs)

  return {
    /** Resolves once the lines are durable. */
    append(lines: Buffer): Promise<void> {
      return new Promise((resolve, reject) => {
        waiting.push({ lines, resolve, reject })
        setImmediate(() => void flush())
      })
    },
  }
}
