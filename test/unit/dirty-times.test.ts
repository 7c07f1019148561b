// Minutes and seconds that a derived table may not hold yet, as ranges.
import { expect, it } from 'vitest'
import { dirtyRanges } from '../../services/query/calls/access/dirty-times.ts'

const bits = (...seconds: number[]): string => String(seconds.reduce((all, one) => all | (1n << BigInt(one)), 0n))
const range = (from: number, before: number) => ({ fromUs: from * 1e6, beforeUs: before * 1e6 })

it('neighbouring seconds are one range, over minutes too, in order', () => {
  expect(
    dirtyRanges([
      { minute: 120, seconds: bits(0, 1, 59) },
      { minute: 60, seconds: bits(3, 58, 59) },
      { minute: 600, seconds: '0' },
      { minute: 180, seconds: bits(0) },
    ]),
  ).toEqual([range(63, 64), range(118, 122), range(179, 181), range(600, 660)])
  expect(dirtyRanges([])).toEqual([])
})

it('minutes stand for their seconds where these are too many, and nothing where the minutes are', () => {
  const every = (step: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({ minute: n * step, seconds: bits(1, 3, 5) }))
  expect(dirtyRanges(every(60, 50))).toHaveLength(150)
  expect(dirtyRanges(every(60, 100))).toEqual([range(0, 6_000)])
  expect(dirtyRanges(every(120, 201))).toBe(null)
  const many = every(60, 10_000).map(({ minute }) => ({ minute, seconds: minute === 0 ? bits(0) : '0' }))
  expect(dirtyRanges(many)).toEqual([range(0, 600_000)])
})
