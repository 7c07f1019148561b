// Ticks of the axes of charts: round, few, with their unit, and at round times of the zone that is shown.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heatTicks } from '../../services/web/page/dashboards/heat.ts'
import { rangesOf, rangeTicks } from '../../services/web/page/dashboards/histogram.ts'
import { axisUnits, timeTicks, valueTicks } from '../../services/web/page/engine/axis-ticks.ts'
import { runs } from '../fixtures/runs.ts'

const texts = (ticks: readonly { text: string }[]) => ticks.map(({ text }) => text)

describe('values', () => {
  it.each([
    [7, 'count', ['0', '2', '4', '6', '8']],
    [1, 'count', ['0', '1']],
    [120, 'count', ['0', '50', '100', '150']],
    [2_431, 'count', ['0', '1,000', '2,000', '3,000']],
    [48_000, 'tokens', ['0', '20k', '40k', '60k']],
    [812e6, 'tokens', ['0', '250M', '500M', '750M', '1,000M']],
    [0.43, 'duration', ['0', '200 µs', '400 µs', '600 µs']],
    [870, 'duration', ['0', '0.25 s', '0.50 s', '0.75 s', '1.00 s']],
    [3_100, 'duration', ['0', '1 s', '2 s', '3 s', '4 s']],
    [95_000, 'duration', ['0', '0.5 min', '1.0 min', '1.5 min', '2.0 min']],
    [3 * 3_600_000, 'duration', ['0', '1 h', '2 h', '3 h']],
    [0.0123, 'money', ['$0', '$0.005', '$0.010', '$0.015']],
    [4_120, 'money', ['$0', '$2,000', '$4,000', '$6,000']],
    [0.1, 'share', ['0', '2.5 %', '5.0 %', '7.5 %', '10.0 %']],
    [0.86, 'number', ['0', '0.25', '0.50', '0.75', '1.00']],
    [0, 'money', ['$0', '$0.25', '$0.50', '$0.75', '$1.00']],
  ] as const)('up to %s as %s are %j', (max, unit, shown) => {
    expect(texts(valueTicks(max, unit))).toEqual(shown)
  })

  it('of any size are two to five, hold what is shown, and differ in their texts', () => {
    const sizes = fc.double({ min: 1e-9, max: 1e15, noNaN: true })
    fc.assert(
      fc.property(sizes, fc.constantFrom(...axisUnits), (max, unit) => {
        const ticks = valueTicks(max, unit)
        const isCounted = unit === 'count' || unit === 'tokens'
        expect(ticks.length).toBeGreaterThanOrEqual(isCounted && max <= 1 ? 2 : 3)
        expect(ticks.length).toBeLessThanOrEqual(5)
        expect(ticks.at(-1)?.at).toBeGreaterThanOrEqual(max * (1 - 1e-9))
        expect(new Set(texts(ticks)).size).toBe(ticks.length)
      }),
      { numRuns: runs(300, 20_000) },
    )
  })
})

describe('times', () => {
  const buckets = (from: string, size: number, seconds: number) =>
    Array.from({ length: size }, (_, n) => new Date(Date.parse(from) + n * seconds * 1_000).toISOString())

  it('stand at round steps, midnight by its day', () => {
    expect(timeTicks(buckets('2026-01-05T14:20:00Z', 72, 1_200), 'UTC')).toEqual([
      { at: 11, text: '18:00' },
      { at: 29, text: '6 Jan' },
      { at: 47, text: '06:00' },
      { at: 65, text: '12:00' },
    ])
    expect(texts(timeTicks(buckets('2026-01-05T12:07:00Z', 60, 60), 'UTC'))).toEqual([
      '5 Jan 12:10',
      '12:20',
      '12:30',
      '12:40',
      '12:50',
      '13:00',
    ])
    expect(texts(timeTicks(buckets('2026-01-05T12:00:00Z', 30, 1), 'UTC'))).toContain('12:00:10')
  })

  it('are those of the zone, also where its clock changes and is half an hour off', () => {
    // 25 October 2026 has 25 hours in Berlin.
    const night = timeTicks(buckets('2026-10-24T22:00:00Z', 25, 3_600), 'Europe/Berlin')
    expect(night).toEqual([
      { at: 0, text: '25 Oct' },
      { at: 7, text: '06:00' },
      { at: 13, text: '12:00' },
      { at: 19, text: '18:00' },
    ])
    expect(timeTicks(buckets('2026-01-05T18:00:00Z', 12, 3_600), 'Asia/Kolkata')[0]).toEqual({ at: 0.5, text: '6 Jan' })
  })

  it('of days, weeks and months are named by them', () => {
    expect(texts(timeTicks(buckets('2026-01-01T00:00:00Z', 6, 86_400), 'UTC'))).toEqual([
      '1 Jan',
      '2 Jan',
      '3 Jan',
      '4 Jan',
      '5 Jan',
      '6 Jan',
    ])
    // Mondays.
    expect(texts(timeTicks(buckets('2026-01-01T00:00:00Z', 30, 86_400), 'UTC'))).toEqual([
      '5 Jan',
      '12 Jan',
      '19 Jan',
      '26 Jan',
    ])
    const ofMonths = Array.from({ length: 18 }, (_, n) => new Date(Date.UTC(2025, n, 1)).toISOString())
    expect(texts(timeTicks(ofMonths, 'UTC'))).toEqual(['Jan 2025', 'Apr', 'Jul', 'Oct', 'Jan 2026', 'Apr'])
  })

  it('of any range are a few, in order, within the buckets', () => {
    const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe')
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2000-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
        fc.integer({ min: 2, max: 120 }),
        fc.constantFrom(1, 30, 60, 600, 3_600, 43_200, 86_400, 604_800),
        zone,
        (from, size, seconds, of) => {
          const ticks = timeTicks(buckets(from.toISOString(), size, seconds), of)
          expect(ticks.length).toBeLessThanOrEqual(7)
          for (const [n, { at }] of ticks.entries()) {
            expect(at).toBeGreaterThanOrEqual(n === 0 ? 0 : (ticks[n - 1]?.at ?? 0))
            expect(at).toBeLessThan(size)
          }
        },
      ),
      { numRuns: runs(100, 5_000) },
    )
    expect(timeTicks([], 'UTC')).toEqual([])
    expect(timeTicks(['nonsense'], 'UTC')).toEqual([])
  })
})

it('ranges of a histogram and of latencies are named where they begin', () => {
  const answer = { groups: [{ total: { 'score.min': 0.03, 'score.max': 0.97 } }] } as never
  const ranges = rangesOf('score', answer)
  expect(ranges && texts(rangeTicks(ranges))).toEqual(['0', '0.25', '0.5', '0.75'])
  const rows = ['0 ms', '1 ms', '2 ms', '3 ms', '4 ms', '6 ms'].map((from) => ({
    name: `${from} and more`,
    color: '',
    values: [],
  }))
  expect(heatTicks(rows)).toEqual([
    { at: 0, text: '0 ms' },
    { at: 2 / 6, text: '2 ms' },
    { at: 4 / 6, text: '4 ms' },
  ])
})
