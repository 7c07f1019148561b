// Bytes of the embedded engine's answers, which whoever has read them gives back.
import { Buffer } from 'node:buffer'

/** Nothing else is ever given back: the memory of other buffers may belong to several of them. */
const own = new WeakSet<ArrayBufferLike>()

/** The bytes of one answer as a buffer. */
export function ofEngine(bytes: Uint8Array): Buffer {
  own.add(bytes.buffer)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * Gives back the memory of answers, by any part of each, that no one reads any more; those of others are left. Until the
 * collector finds them they press on it like garbage (buffer-pool.ts).
 */
export function giveBack(parts: Iterable<Buffer>): void {
  for (const { buffer } of parts) if (own.delete(buffer)) (buffer as ArrayBuffer).transfer(0)
}
