// Memory for files that are read whole, segments of the log above all: it is used again.
import { open } from 'node:fs/promises'
import { type BufferPool, createBufferPool } from './buffer-pool.ts'

/** Buffers as large as segments, of which one is archived while another one is applied. */
export const fileBuffers = createBufferPool({ largestBytes: 16 * 1024 * 1024, keptBytes: 34 * 1024 * 1024 })

/** @returns the bytes of the file, in a buffer of the pool */
export async function readInto(pool: BufferPool, path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const bytes = pool.take(size)
    let at = 0
    while (at < size) {
      const { bytesRead } = await file.read(bytes, at, size - at, at)
      if (bytesRead === 0) break
      at += bytesRead
    }
    return bytes.subarray(0, at)
  } finally {
    await file.close()
  }
}
