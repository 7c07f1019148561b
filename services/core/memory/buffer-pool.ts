// Buffers that are used again, for what every request needs and no one reads afterwards.
import { Buffer } from 'node:buffer'

/**
 * What pools gave out and did not get back. Nothing else is ever kept: the buffers of others may be parts of the memory
 * that Node cuts small buffers from, which has the size of one that is kept; and one that is given back twice would have
 * two owners.
 */
const lent = new WeakSet<ArrayBufferLike>()

const fresh = (size: number): Buffer => Buffer.allocUnsafeSlow(size)

/**
 * Buffers that are used again. Memory outside of the JavaScript heap counts as garbage that presses: with a new buffer
 * per request the collector marks the whole heap every few dozen requests.
 */
export type BufferPool = {
  /** A buffer of at least this size. */
  take(sizeHint: number): Buffer
  /** Gives back a buffer, by any part of it, that no one reads any more; those of others are left. */
  give(buffer: Buffer): void
}

/** Sizes of the buffers that are kept: smaller and larger needs are served with new ones. */
const keptSizes = [64, 128, 256, 512, 1024, 2048, 4096].map((kilobytes) => kilobytes * 1024)

/** The most that a pool keeps of what was given back. */
const maxKeptBytes = 16 * 1024 * 1024

export function createBufferPool(): BufferPool {
  const kept = new Map(keptSizes.map((size): [number, Buffer[]] => [size, []]))
  const [least = 0] = keptSizes
  let keptBytes = 0
  return {
    take(sizeHint) {
      const size = sizeHint < least / 2 ? undefined : keptSizes.find((one) => one >= sizeHint)
      if (size === undefined) return fresh(Math.max(1024, sizeHint))
      const used = kept.get(size)?.pop()
      if (used !== undefined) keptBytes -= size
      const buffer = used ?? fresh(size)
      lent.add(buffer.buffer)
      return buffer
    },
    give({ buffer }) {
      const size = buffer.byteLength
      const free = kept.get(size)
      if (free === undefined || !lent.delete(buffer) || keptBytes + size > maxKeptBytes) return
      keptBytes += size
      free.push(Buffer.from(buffer))
    },
  }
}

/** New buffers every time. */
export const freshBuffers: BufferPool = { take: (sizeHint) => fresh(Math.max(1024, sizeHint)), give() {} }

/** What streamed answers are written from: given back once the socket has taken them. */
export const lineBuffers = createBufferPool()
