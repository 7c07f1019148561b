// Shares of a bounded number of bytes: no key fills it, and a key that has little is not refused for what others hold.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createShares, type Shares } from '../../services/core/concurrency/shares.ts'
import { runs } from '../fixtures/runs.ts'

/** Takes bytes for a key unless that is refused. */
const take = (shares: Shares<string>, key: string, bytes: number): 'all' | 'share' | null => {
  const of = [[key, bytes]] as const
  const refusal = shares.refusal(bytes, of)
  if (refusal === null) shares.take(bytes, of)
  return refusal
}
const give = (shares: Shares<string>, key: string, bytes: number): void => shares.give(bytes, [[key, bytes]])
/** Takes one byte after the other until that is refused. */
function flood(shares: Shares<string>, key: string) {
  for (let bytes = 0; ; bytes++) {
    const refusal = take(shares, key, 1)
    if (refusal !== null) return { bytes, refusal }
  }
}

describe('a key', () => {
  it('that is alone leaves an eighth for the next one', () => {
    const shares = createShares<string>({ bound: () => 800, minBytes: 10 })
    expect(flood(shares, 'a')).toEqual({ bytes: 700, refusal: 'share' })
    expect(flood(shares, 'b')).toEqual({ bytes: 100, refusal: 'all' })
    give(shares, 'a', 1)
    expect([take(shares, 'a', 1), take(shares, 'b', 1)]).toEqual(['share', null])
  })

  it('has an equal share while over half is taken, and always its minimum', () => {
    const shares = createShares<string>({ bound: () => 800, minBytes: 10 })
    for (const key of ['b', 'c', 'd']) take(shares, key, 1)
    expect(flood(shares, 'a')).toEqual({ bytes: 397, refusal: 'share' })
    expect(flood(shares, 'b')).toEqual({ bytes: 199, refusal: 'share' })
    const crowd = createShares<string>({ bound: () => 800, minBytes: 10 })
    for (let n = 0; n < 500; n++) take(crowd, `key ${n}`, 1)
    expect(flood(crowd, 'key 7')).toEqual({ bytes: 9, refusal: 'share' })
    expect(flood(crowd, 'new')).toEqual({ bytes: 10, refusal: 'share' })
  })

  it('has no more than the maximum when another one came lately, whatever is free', () => {
    let nowMs = 0
    let isAlwaysShared = true
    const shares = createShares<string>({
      bound: () => 800,
      minBytes: 10,
      maxBytes: () => 100,
      recentMs: 60,
      now: () => nowMs,
      isAlwaysShared: () => isAlwaysShared,
    })
    take(shares, 'b', 1)
    give(shares, 'b', 1)
    expect(flood(shares, 'a')).toEqual({ bytes: 100, refusal: 'share' })
    isAlwaysShared = false
    expect(flood(shares, 'a')).toEqual({ bytes: 300, refusal: 'share' })
    nowMs = 61
    expect(flood(shares, 'a')).toEqual({ bytes: 300, refusal: 'share' })
    take(shares, 'c', 1)
    expect(take(shares, 'a', 1)).toBe('share')
  })

  it('is refused for what it would have of bytes of several, and the others for that too', () => {
    const shares = createShares<string>({ bound: () => 800, minBytes: 10 })
    expect(flood(shares, 'a').bytes).toBe(700)
    expect(shares.refusal(20, [['b', 15]])).toBe(null)
    expect(
      shares.refusal(20, [
        ['b', 15],
        ['a', 5],
      ]),
    ).toBe('share')
    expect(shares.refusal(20, [], 790)).toBe('all')
  })

  it('may have what is larger than the bound when there is nothing else', () => {
    const shares = createShares<string>({ bound: () => 8, minBytes: 1 })
    expect([take(shares, 'a', 100), take(shares, 'a', 1)]).toEqual([null, 'all'])
    give(shares, 'a', 100)
    expect([shares.totalBytes(), take(shares, 'b', 1)]).toEqual([0, null])
  })
})

it('the bound holds, and whoever has next to nothing is refused only when it is full, in any history', () => {
  const step = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), bytes: fc.integer({ min: 1, max: 120 }) })
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 200 }), (steps) => {
      const shares = createShares<string>({ bound: () => 1_000, minBytes: 100, maxBytes: () => 400 })
      const held = new Map<string, number>()
      for (const [{ key, bytes }, isTaken] of steps) {
        const mine = held.get(key) ?? 0
        if (isTaken) {
          const total = shares.totalBytes()
          const refusal = take(shares, key, bytes)
          if (refusal === null) held.set(key, mine + bytes)
          if (total > 0) expect(refusal === 'all').toBe(total + bytes > 1_000)
          if (mine + bytes <= 100) expect(refusal).not.toBe('share')
        } else {
          const less = Math.min(mine, bytes)
          give(shares, key, less)
          held.set(key, mine - less)
        }
        const sum = [...held.values()].reduce((all, one) => all + one, 0)
        expect(shares.totalBytes()).toBe(sum)
        expect(sum).toBeLessThanOrEqual(1_000)
      }
    }),
    { numRuns: runs(300, 5_000) },
  )
})
