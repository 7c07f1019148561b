// Compressed bodies: what they come out as, and that one which swells is stopped where the budget or the limit ends.
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { overLimit } from '../../services/core/errors.ts'
import { type Compression, inflateBody } from '../../services/core/http/inflate.ts'
import { type ByteLease, createByteBudget } from '../../services/core/http/limits.ts'
import { type BufferPool, createBufferPool } from '../../services/core/memory/buffer-pool.ts'

const mebibyte = 2 ** 20
const large = 64 * mebibyte
const cases: [string, Compression, (bytes: Buffer) => Buffer][] = [
  ['gzip', 'gzip', gzipSync],
  ['deflate', 'deflate', deflateSync],
  ['deflate without its head', 'deflate', deflateRawSync],
  ['br', 'br', (bytes) => brotliCompressSync(bytes, { params: { 1: 1 } })],
  ['zstd', 'zstd', zstdCompressSync],
]
const free: ByteLease = { take() {}, release() {} }
const text = Buffer.from(Array.from({ length: 20_000 }, (_, n) => `line ${n % 977} of it`).join('\n'))

it.each(cases)(
  '%s comes out as it went in, and buffers of the pool are used again',
  async (_, compression, compress) => {
    const pool = createBufferPool()
    const compressed = compress(text)
    for (let n = 0; n < 3; n++) {
      const inflated = await inflateBody(compression, compressed, large, free, pool)
      expect(inflated.equals(text)).toBe(true)
      pool.give(inflated)
    }
  },
)

it.each(cases)('%s that swells is stopped where the budget ends', async (_, compression, compress) => {
  let [asked, taken] = [0, 0]
  const lease: ByteLease = {
    take(bytes) {
      asked++
      if (taken + bytes > 4 * mebibyte) throw overLimit('bodies', 'full')
      taken += bytes
    },
    release() {},
  }
  const swollen = 32 * mebibyte
  const bomb = compress(Buffer.alloc(swollen))
  const pool = createBufferPool()
  let gatheredBytes = 0
  const counting: BufferPool = {
    ...pool,
    take(bytes) {
      gatheredBytes += bytes
      return pool.take(bytes)
    },
  }
  await expect(inflateBody(compression, bomb, large, lease, counting)).rejects.toMatchObject({ kind: 'over_limit' })
  expect(gatheredBytes).toBeLessThan(swollen / 2)
  // It had come so far.
  expect(taken).toBeGreaterThan(2 * mebibyte)
  const atRefusal = asked
  // One that comes later is whole: by then nothing more has come out of the one that was refused.
  await inflateBody(compression, bomb, large, free, createBufferPool())
  expect(asked).toBe(atRefusal)
})

it.each(cases)(
  '%s beyond the limit of one body is too large, and takes no more than that',
  async (_, compression, compress) => {
    const budget = createByteBudget(large, large)
    const lease = budget.lease({})
    const bomb = compress(Buffer.alloc(8 * mebibyte))
    await expect(inflateBody(compression, bomb, mebibyte, lease, createBufferPool())).rejects.toMatchObject({
      kind: 'too_large',
    })
    expect(budget.heldBytes()).toBeLessThanOrEqual(mebibyte)
  },
)

it.each(cases)('%s that is cut or broken is malformed', async (_, compression, compress) => {
  const compressed = compress(text)
  for (const bytes of [compressed.subarray(0, compressed.length - 20), Buffer.from('no such data'), Buffer.alloc(0)])
    await expect(inflateBody(compression, bytes, large, free, createBufferPool())).rejects.toMatchObject({
      kind: 'malformed',
      message: `Body is not valid ${compression} data`,
    })
})
