// Accept timestamps with the number of its edge in the low bits, whatever that number is at the moment.
import { expect, it } from 'vitest'
import { createClock, maxEdgeNumber } from '../../services/core/clock/clock.ts'

it('a value holds the number that the edge has when it is given, and grows all the same', () => {
  let number = maxEdgeNumber
  const clock = createClock(() => number)
  const given = [clock.next()]
  for (number of [0, 7, 1]) given.push(clock.next())
  expect(given.map((value) => Number(value & 1023n))).toEqual([1023, 0, 7, 1])
  expect(given).toEqual(given.toSorted((a, b) => (a < b ? -1 : 1)))
  expect(clock.last()).toBe(given.at(-1))
})

it('an edge without a number gives no value', () => {
  const clock = createClock(() => {
    throw new Error('no number')
  }, 5n << 10n)
  expect(() => clock.next()).toThrow('no number')
  expect(clock.last()).toBe(5n << 10n)
})
