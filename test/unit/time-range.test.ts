// Ranges of time: hours that follow each other are one statement, not one each.
import { expect, it } from 'vitest'
import { rangesOfHours } from '../../services/derived/time-range.ts'

it('hours that follow each other are one range, in whichever order and however often they come', () => {
  const hour = 3_600
  const us = (n: number) => n * hour * 1e6
  expect(rangesOfHours([9, 7, 3, 8, 3, 0].map((n) => n * hour))).toEqual([
    { fromUs: us(0), beforeExclusiveUs: us(1) },
    { fromUs: us(3), beforeExclusiveUs: us(4) },
    { fromUs: us(7), beforeExclusiveUs: us(10) },
  ])
  expect(rangesOfHours([])).toEqual([])
})
