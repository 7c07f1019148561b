// Buffers that are used again, for what every request needs and no one reads afterwards.
import { Buffer } from 'node:buffer'

const fresh = (size: number): Buffer => Buffer.allocUnsafeSlow(size)

/**
 * Buffers that are used again. Memory outside of the JavaScript heap counts as garbage that presses: with a new buffer
 * per request the collector marks the whole heap every few dozen requests.
 */
export type BufferPool = {
  take(sizeHint: number): Buffer
  /** Gives back a buffer, or a part of it from its beginning, that no one reads any more. */
  give(buffer: Buffer): void
}

/** @param limits most buffers that are kept, and their size; smaller and larger needs are served with new ones */
export function createBufferPool(limits = { buffers: 16, bytes: 1024 * 1024 }): BufferPool {
  const free: Buffer[] = []
  const least = limits.bytes / 16
  return {
    take(sizeHint) {
      if (sizeHint < least || sizeHint > limits.bytes) return fresh(Math.max(1024, sizeHint))
      return free.pop() ?? fresh(limits.bytes)
    },
    give(buffer) {
      if (buffer.buffer.byteLength === limits.bytes && buffer.byteOffset === 0 && free.length < limits.buffers)
        free.push(Buffer.from(buffer.buffer))
    },
  }
}

/** New buffers every time. */
export const freshBuffers: BufferPool = { take: (sizeHint) => fresh(Math.max(1024, sizeHint)), give() {} }
