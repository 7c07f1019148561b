// Long bodies take turns: one in each round of the event loop, in the order in which they came.
import { expect, it } from 'vitest'
import { turnOf } from '../../services/core/http/turn.ts'

const long = 100_000

it('lets the event loop run between long bodies', async () => {
  const seen: string[] = []
  const handled = ['a', 'b', 'c'].map(async (name) => {
    await turnOf(long)
    seen.push(name)
  })
  const rounds = (async () => {
    for (let n = 1; n <= 2; n++) {
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(`round ${n}`)
    }
  })()
  await Promise.all([...handled, rounds])
  expect(seen.indexOf('a')).toBe(0)
  expect(seen.indexOf('b')).toBeGreaterThan(0)
  expect(seen.filter((one) => one.length === 1)).toEqual(['a', 'b', 'c'])
  expect(seen.indexOf('round 1')).toBeLessThan(seen.indexOf('c'))
})

it('does not hold up short bodies', async () => {
  const order: string[] = []
  const slow = Array.from({ length: 3 }, () => turnOf(long).then(() => order.push('long')))
  await Promise.all([...slow, turnOf(100).then(() => order.push('short'))])
  expect(order.at(-1)).toBe('long')
})
