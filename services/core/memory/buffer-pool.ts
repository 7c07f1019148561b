// Buffers that are used again, for what every request needs and no one reads afterwards.
import { Buffer } from 'node:buffer'

/**
 * Buffers that pools gave out and did not get back. Nothing else is ever kept: the buffers of others may be parts of
 * the memory that Node cuts small buffers from, which has the size of one that is kept; and one that is given back
 * twice would have two owners.
 */
const lent = new WeakSet<ArrayBufferLike>()

const fresh = (size: number): Buffer => Buffer.allocUnsafeSlow(size)

/** Memory that several threads may look into: the collectors of their heaps do not count it. */
const freshShared = (size: number): Buffer => Buffer.from(new SharedArrayBuffer(size))

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

const [kibibyte, mebibyte] = [1024, 1024 * 1024]

/** Smaller needs than half of it are served with new ones. */
const leastBytes = 64 * kibibyte

/**
 * @param options.largestBytes of a buffer that is kept: larger needs are served with new ones
 * @param options.keptBytes the most that the pool keeps of what was given back
 * @param options.isShared what is kept goes to another thread without being moved or copied, and comes back
 */
export function createBufferPool({
  largestBytes = 4 * mebibyte,
  keptBytes: maxKeptBytes = 16 * mebibyte,
  isShared = false,
} = {}): BufferPool {
  const keptSizes: number[] = []
  for (let size = leastBytes; size <= largestBytes; size *= 2) keptSizes.push(size)
  const kept = new Map(keptSizes.map((size): [number, Buffer[]] => [size, []]))
  let keptBytes = 0
  return {
    take(sizeHint) {
      const size = sizeHint < leastBytes / 2 ? undefined : keptSizes.find((one) => one >= sizeHint)
      if (size === undefined) return fresh(Math.max(1024, sizeHint))
      const used = kept.get(size)?.pop()
      if (used !== undefined) keptBytes -= size
      const buffer = used ?? (isShared ? freshShared(size) : fresh(size))
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

/** Buffers for streamed responses, returned to the pool after the socket has flushed them. */
export const lineBuffers = createBufferPool()

/** Buffers for rows of the log, returned to the pool once the rows are durable. */
export const rowBuffers = createBufferPool({ isShared: true })

export type Piece = string | Buffer

/** Strings and bytes in one buffer, each written once. */
export function concat(pieces: readonly Piece[], take: (bytes: number) => Buffer = Buffer.allocUnsafeSlow): Buffer {
  let most = 0
  for (const piece of pieces) most += typeof piece === 'string' ? piece.length * 3 : piece.length
  const buffer = take(most)
  let at = 0
  for (const piece of pieces) at += typeof piece === 'string' ? buffer.write(piece, at) : piece.copy(buffer, at)
  return buffer.subarray(0, at)
}
