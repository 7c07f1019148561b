// Undoes the compression of a body. Inflated bytes are taken from the budget piece by piece: many that swell at one
// time hold no more memory together than others do.
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import { malformed, tooLarge } from '../errors.ts'
import type { BufferPool } from '../memory/buffer-pool.ts'
import { createGathering } from '../memory/gathering.ts'
import type { ByteLease } from './limits.ts'

export const inflaters = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}
export type Compression = keyof typeof inflaters

export const notValid = (compression: Compression) => malformed(`Body is not valid ${compression} data`)

/** Deflate means zlib data (RFC 9110), but raw deflate is sent under that name as well. */
const isZlib = (bytes: Buffer) =>
  ((bytes[0] ?? 0) & 0x0f) === 8 && (((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)) % 31 === 0

/**
 * The caller may give the result to the pool once no one reads it, and the bytes as they came.
 * @throws Refusal `malformed`, `too_large` for more than `maxBytes`, `over_limit` when the budget is used up meanwhile
 */
export function inflateBody(
  compression: Compression,
  bytes: Buffer,
  maxBytes: number,
  lease: ByteLease,
  pool: BufferPool,
): Promise<Buffer> {
  const create = compression === 'deflate' && !isZlib(bytes) ? createInflateRaw : inflaters[compression]
  // Each output chunk is a trip to the thread pool: few for a usual ratio of 6, and still small steps for a bomb.
  const inflating = create({ chunkSize: Math.min(1024 * 1024, Math.max(16 * 1024, bytes.length * 6)) })
  const gathering = createGathering(pool)
  let total = 0
  return new Promise((resolve, reject) => {
    inflating.on('data', (chunk: Buffer) => {
      total += chunk.length
      try {
        if (total > maxBytes) throw tooLarge()
        lease.take(chunk.length)
        gathering.add(chunk)
      } catch (error) {
        inflating.destroy()
        reject(error)
      }
    })
    inflating.on('error', () => reject(notValid(compression)))
    inflating.on('end', () => resolve(gathering.whole()))
    inflating.end(bytes)
  })
}
