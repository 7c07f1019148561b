// Answers that go on end with their key: within half a second of its revocation, between two pieces.
import { expect, it } from 'vitest'
import { whileHeld } from '../../services/core/http/held-replies.ts'

it.each(['lines', 'bytes'] as const)('%s of a revoked key end at the first piece after half a second', async (kind) => {
  let nowMs = 0
  let [isHeld, looks] = [true, 0]
  async function* pieces() {
    // The time of each.
    for (;;) {
      yield Buffer.from(String(nowMs))
      nowMs += 300
    }
  }
  const look = () => {
    looks++
    return isHeld
  }
  const reply = whileHeld({ [kind]: pieces(), contentType: 'text/plain' } as never, look, () => nowMs)
  const source = (reply as unknown as Record<string, AsyncIterable<Buffer>>)[kind] as AsyncIterable<Buffer>
  const seen: string[] = []
  const reading = async () => {
    for await (const piece of source) {
      seen.push(piece.toString())
      if (seen.length === 4) isHeld = false
    }
  }
  await expect(reading()).rejects.toMatchObject({ status: 401 })
  expect([seen, looks]).toEqual([['0', '300', '600', '900'], 2])
})
