// The output of `npm run bars` for measured figures, and its failures.
import { expect, it } from 'vitest'
import { barsTable, chosenBars, judgeBars } from '../../scripts/bench/bars-report.ts'

const bounds = {
  'speed/cpu': { unit: 'us', most: 40 },
  'speed/rate': { unit: 'calls/s', least: 1_000 },
  'memory/resident': { unit: 'MB', most: 900 },
}
const run = { known: ['memory', 'speed'], ran: ['speed'], failed: [], bounds }
const held = [
  { name: 'speed/cpu', figure: 40 },
  { name: 'speed/rate', figure: 1_000 },
]

it('figures on their bounds hold', () => {
  const { rows, faults } = judgeBars({ ...run, measured: held })
  expect(faults).toEqual([])
  expect(barsTable(rows)).toBe(
    [
      'name       | figure       | bound           | held',
      'speed/cpu  | 40 us        | <= 40 us        | yes',
      'speed/rate | 1000 calls/s | >= 1000 calls/s | yes',
    ].join('\n'),
  )
})

it('a breach is a fault, on either side', () => {
  const measured = [
    { name: 'speed/cpu', figure: 40.1 },
    { name: 'speed/rate', figure: 999 },
  ]
  const { rows, faults } = judgeBars({ ...run, measured })
  expect(rows.map((row) => row.at(-1))).toEqual(['NO', 'NO'])
  expect(faults).toEqual([
    'speed/cpu is 40.1 us, its bound <= 40 us',
    'speed/rate is 999 calls/s, its bound >= 1000 calls/s',
  ])
})

it('one breach among figures that hold is a fault', () => {
  const measured = [...held, { name: 'speed/cpu', figure: 41 }]
  expect(judgeBars({ ...run, measured }).faults).toEqual(['speed/cpu is 41 us, its bound <= 40 us'])
})

it('a figure that its bar did not measure is a fault, where that bar was run', () => {
  const { rows, faults } = judgeBars({ ...run, measured: held.slice(0, 1) })
  expect(rows.at(-1)).toEqual(['speed/rate', 'not measured', '', 'NO'])
  expect(faults).toEqual(['speed/rate was not measured'])
  expect(judgeBars({ ...run, ran: ['memory', 'speed'], measured: held }).faults).toEqual([
    'memory/resident was not measured',
  ])
})

it('a figure without a bound, a bar that measures nothing and a bound without a bar are faults', () => {
  const measured = [...held, { name: 'speed/lag', figure: 1 }]
  expect(judgeBars({ ...run, measured }).faults).toEqual(['speed/lag has no bound in scripts/bench/bounds.ts'])
  expect(judgeBars({ ...run, known: ['memory', 'new', 'speed'], ran: ['new'], measured: [] }).faults).toEqual([
    'the bar new measures nothing',
  ])
  expect(judgeBars({ ...run, known: ['speed'], measured: held }).faults).toEqual([
    'memory/resident has a bound, but there is no bar memory',
  ])
})

it('a bar whose test failed is a fault, whatever it measured', () => {
  expect(judgeBars({ ...run, failed: ['speed'], measured: held }).faults).toEqual(['the bar speed failed'])
})

it('all bars are run, or the one that is named', () => {
  expect(chosenBars(run.known, undefined)).toEqual(['memory', 'speed'])
  expect(chosenBars(run.known, 'speed')).toEqual(['speed'])
  expect(() => chosenBars(run.known, 'sped')).toThrow('there is no bar sped; there are memory, speed')
  expect(() => chosenBars(run.known, 'sped', ['page'])).toThrow('there are memory, speed, page')
})
