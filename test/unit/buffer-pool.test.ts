// Buffers that are used again are nobody else's.
import { gunzip, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createBufferPool } from '../../services/core/memory/buffer-pool.ts'
import { packed } from '../../services/core/threads/crossing.ts'

it('a pool keeps what it made alone: never a part of the memory that small buffers are cut from', async () => {
  const pool = createBufferPool()
  const own = pool.take(65_536)
  pool.give(own.subarray(0, 7))
  expect(pool.take(65_536).buffer).toBe(own.buffer)
  const packed = gzipSync(Buffer.alloc(1_000, 'x'))
  const inflate = () =>
    new Promise<Buffer>((resolve, reject) =>
      gunzip(packed, { chunkSize: 16_384 }, (error, bytes) => (error ? reject(error) : resolve(bytes))),
    )
  // Every few of them lie at the beginning of such memory, whose size is that of buffers which are kept.
  for (let n = 0; n < 32; n++) {
    const bytes = await inflate()
    pool.give(bytes)
    expect(pool.take(65_536).buffer).not.toBe(bytes.buffer)
  }
  const foreign = Buffer.allocUnsafeSlow(65_536)
  pool.give(foreign)
  expect(pool.take(65_536).buffer).not.toBe(foreign.buffer)
})

it('a buffer that is given back twice has one owner', () => {
  const pool = createBufferPool()
  const own = pool.take(65_536)
  pool.give(own)
  pool.give(own.subarray(0, 7))
  expect(pool.take(65_536).buffer).toBe(own.buffer)
  expect(pool.take(65_536).buffer).not.toBe(own.buffer)
})

it("memory that is shared goes to another thread as it is, and is still its pool's", () => {
  const pool = createBufferPool({ isShared: true })
  const own = pool.take(100_000)
  const { views, moved } = packed([own.subarray(0, 100_000)])
  expect(moved).toEqual([])
  expect(views[0]?.buffer).toBe(own.buffer)
  expect(structuredClone(views[0])?.buffer).toBeInstanceOf(SharedArrayBuffer)
  pool.give(own)
  expect(pool.take(100_000).buffer).toBe(own.buffer)
})
