// Bodies that come in pieces: the same bytes, and memory in proportion to them, whatever the pieces are.
import { expect, it } from 'vitest'
import { createBufferPool } from '../../services/core/memory/buffer-pool.ts'
import { createGathering } from '../../services/core/memory/gathering.ts'
import { createRandom } from '../fixtures/random.ts'

it('a body is the same bytes however it was cut', () => {
  for (let seed = 0; seed < 200; seed++) {
    const { below, pick } = createRandom(seed)
    const bytes = Buffer.from(Array.from({ length: below(20_000) }, () => below(256)))
    const gathering = createGathering(createBufferPool())
    if (pick([true, false])) gathering.expect(pick([bytes.length, 7, 2 ** 32 - 1]))
    const most = pick([1, 20, 3_000, 30_000])
    for (let at = 0; at < bytes.length; ) {
      const end = at + below(most + 1)
      gathering.add(bytes.subarray(at, end))
      at = Math.min(bytes.length, end)
    }
    expect(gathering.whole().equals(bytes), `seed ${seed}`).toBe(true)
  }
})

it('a whole body that comes in one piece is not copied', () => {
  const piece = Buffer.allocUnsafeSlow(5_000)
  const gathering = createGathering()
  gathering.add(piece)
  expect(gathering.whole()).toBe(piece)
})

it('pieces of one byte cost what their bytes cost, and nothing that was read beside them is kept', () => {
  const gathering = createGathering()
  for (let n = 1; n <= 100_000; n++) {
    // One byte of a body in a read of 64 KiB, the rest of which was for somebody else.
    const read = n % 1_000 === 1 ? Buffer.allocUnsafeSlow(65_536) : Buffer.allocUnsafeSlow(1)
    gathering.add(read.fill(n % 251, 0, 1).subarray(0, 1))
    if (n % 1_000 === 1) expect(gathering.heldBytes()).toBeLessThanOrEqual(Math.max(1024, 4 * n))
  }
  const whole = gathering.whole()
  expect(whole.length).toBe(100_000)
  expect(whole.every((byte, at) => byte === (at + 1) % 251)).toBe(true)
})

it('a size that is said takes no memory before a good part of it has come', () => {
  const gathering = createGathering()
  gathering.expect(2 ** 26)
  for (let n = 0; n < 1_000; n++) gathering.add(Buffer.allocUnsafeSlow(100))
  expect(gathering.heldBytes()).toBeLessThanOrEqual(400_000)
  gathering.expect(1_000_000)
  for (let n = 0; n < 1_000; n++) gathering.add(Buffer.allocUnsafeSlow(900))
  expect(gathering.heldBytes()).toBe(1_000_000)
})
