// Long bodies take turns: one in each round of the event loop, one of each key in turn.
import { expect, it } from 'vitest'
import { createLongBodyQueue } from '../../services/core/http/long-body-queue.ts'

const long = 100_000
const [one, other] = [{}, {}]

it('lets the event loop run between long bodies', async () => {
  const waitForLongBody = createLongBodyQueue()
  const seen: string[] = []
  const handled = ['a', 'b', 'c'].map(async (name) => {
    await waitForLongBody(one, long)
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
  expect(seen.filter((name) => name.length === 1)).toEqual(['a', 'b', 'c'])
  expect(seen.indexOf('round 1')).toBeLessThan(seen.indexOf('c'))
})

it('does not hold up short bodies', async () => {
  const waitForLongBody = createLongBodyQueue()
  const order: string[] = []
  const slow = Array.from({ length: 3 }, () => waitForLongBody(one, long).then(() => order.push('long')))
  await Promise.all([...slow, waitForLongBody(one, 100).then(() => order.push('short'))])
  expect(order.at(-1)).toBe('long')
})

it('lets the long body of one key pass those of another key that wait', async () => {
  const waitForLongBody = createLongBodyQueue()
  const order: string[] = []
  const handle = (key: object, name: string) => waitForLongBody(key, long).then(() => order.push(name))
  await Promise.all([...['a', 'b', 'c', 'd'].map((name) => handle(one, name)), handle(other, 'other')])
  expect(order).toEqual(['a', 'b', 'other', 'c', 'd'])
})
