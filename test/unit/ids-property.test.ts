// Ids that tell an order: each one is greater than all before it, whatever the machine's clock does.
import { describe, expect, it } from 'vitest'
import { orderedUuidv7 } from '../../services/core/ids.ts'
import { createRandom } from '../fixtures/random.ts'

describe('ordered ids', () => {
  it('grow within a millisecond, over many, and while the clock goes back', () => {
    const random = createRandom(7)
    const start = Date.now() + 60_000
    let before = orderedUuidv7()
    let latestMs = 0
    for (let n = 0; n < 20_000; n++) {
      const nowMs = start + random.below(40) - 20
      latestMs = Math.max(latestMs, nowMs)
      const id = orderedUuidv7(nowMs)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(id > before).toBe(true)
      before = id
    }
    const told = Number.parseInt(before.replaceAll('-', '').slice(0, 12), 16)
    expect([latestMs, latestMs + 1]).toContain(told)
  })
})
