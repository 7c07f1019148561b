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

describe('times around changes of the clock', () => {
  const hours = (from: string, size: number) =>
    Array.from({ length: size }, (_, n) => new Date(Date.parse(from) + n * 3_600_000).toISOString())
  const shown = (from: string, size: number, zone: string) =>
    timeTicks(hours(from, size), zone).map(({ at, text }) => `${at} ${text}`)

  it.each<[zone: string, from: string, ...ticks: string[]]>([
    // The clock goes from 02:00 to 03:00: there is no tick at 02:00, and none stands twice.
    ['America/New_York', '2026-03-08T05:00:00Z', '0 8 Mar', '1 01:00', '2 03:00', '3 04:00', '4 05:00'],
    ['Europe/Berlin', '2026-03-28T23:00:00Z', '0 29 Mar', '1 01:00', '2 03:00', '3 04:00', '4 05:00'],
    // Back from 02:00 to 01:00, and from 03:00 to 02:00: the hour that is there twice has one tick.
    ['America/New_York', '2026-11-01T04:00:00Z', '0 1 Nov', '1 01:00', '3 02:00', '4 03:00'],
    ['Europe/Berlin', '2026-10-24T22:00:00Z', '0 25 Oct', '1 01:00', '2 02:00', '4 03:00'],
    // By half an hour, from 02:00 to 02:30.
    ['Australia/Lord_Howe', '2026-10-03T13:30:00Z', '0 4 Oct', '1 01:00', '2.5 03:00', '3.5 04:00', '4.5 05:00'],
    // Without changes, and with odd minutes.
    ['UTC', '2026-03-29T00:00:00Z', '0 29 Mar', '1 01:00', '2 02:00', '3 03:00', '4 04:00'],
    ['Asia/Kathmandu', '2026-01-04T18:15:00Z', '0 5 Jan', '1 01:00', '2 02:00', '3 03:00', '4 04:00'],
  ])('%s from %s', (zone, from, ...ticks) => {
    expect(shown(from, 5, zone)).toEqual(ticks)
  })

  it('that skips midnight begins its day after it', () => {
    // In Cairo 24 April 2026 begins at 01:00.
    expect(shown('2026-04-23T20:00:00Z', 5, 'Africa/Cairo')).toEqual([
      ...['0 22:00', '1 23:00', '2 24 Apr', '3 02:00', '4 03:00'],
    ])
  })

  it.each<[zone: string, from: string, texts: string[]]>([
    // Days of 23, 24 and 25 hours have their midnight.
    ['America/New_York', '2026-03-07T05:00:00Z', ['7 Mar', '8 Mar', '9 Mar', '10 Mar', '11 Mar']],
    ['America/New_York', '2026-10-31T04:00:00Z', ['31 Oct', '1 Nov', '2 Nov', '3 Nov', '4 Nov']],
    ['UTC', '2024-02-27T00:00:00Z', ['27 Feb', '28 Feb', '29 Feb', '1 Mar', '2 Mar']],
    ['UTC', '2026-02-26T00:00:00Z', ['26 Feb', '27 Feb', '28 Feb', '1 Mar', '2 Mar']],
    ['Pacific/Kiritimati', '2025-12-29T10:00:00Z', ['30 Dec', '31 Dec', '1 Jan', '2 Jan', '3 Jan']],
  ])('days of %s from %s, over the end of a month', (zone, from, days) => {
    expect(texts(timeTicks(hours(from, 5 * 24), zone)).slice(0, 5)).toEqual(days)
  })

  it('months begin on their first day in the zone, whatever their length is', () => {
    const ends = ['2025-12-31', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31']
    const days = Array.from({ length: 150 }, (_, n) =>
      new Date(Date.parse('2025-12-31T12:00:00Z') + n * 86_400_000).toISOString(),
    )
    expect(texts(timeTicks(days, 'UTC'))).toEqual(['Jan 2026', 'Feb', 'Mar', 'Apr', 'May'])
    const lastDays = ends.map((one) => `${one}T00:00:00Z`)
    expect(texts(timeTicks(lastDays, 'UTC'))).toEqual(['Jan 2026', 'Feb', 'Mar', 'Apr', 'May', 'Jun'])
  })

  it('of one bucket, of one instant, and out of order or without a time break nothing', () => {
    expect(timeTicks(['2026-01-05T00:00:00Z'], 'UTC')[0]).toEqual({ at: 0, text: '5 Jan' })
    expect(timeTicks(['2026-01-05T00:00:00Z', '2026-01-05T00:00:00Z'], 'UTC')).toEqual([])
    for (const bad of ['x', '', '2026-13-01T00:00:00Z'])
      expect(timeTicks(['2026-01-05T00:00:00Z', bad], 'UTC')).toEqual([])
    expect(timeTicks(['x', '2026-01-05T00:00:00Z'], 'UTC')).toEqual([])
    expect(timeTicks(['2026-01-05T00:00:00Z', 'x', '2026-01-05T00:02:00Z'], 'UTC')).toEqual([])
  })

  it('never have the same place or the same text twice within two days', () => {
    const zones = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Cairo', 'America/Havana']
    const day = fc.date({ min: new Date('2024-01-01'), max: new Date('2028-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(day, fc.integer({ min: 2, max: 24 }), fc.constantFrom(...zones), (from, size, zone) => {
        const ticks = timeTicks(hours(from.toISOString(), size), zone)
        expect(new Set(ticks.map(({ at }) => at)).size).toBe(ticks.length)
        expect(new Set(texts(ticks)).size).toBe(ticks.length)
      }),
      { numRuns: runs(200, 5_000) },
    )
    // The nights themselves.
    for (const zone of zones)
      for (const month of ['03', '04', '10', '11'])
        for (let date = 1; date <= 30; date++) {
          const from = `2026-${month}-${String(date).padStart(2, '0')}T00:00:00Z`
          const ticks = timeTicks(hours(from, 6), zone)
          expect([zone, from, new Set(ticks.map(({ at }) => at)).size]).toEqual([zone, from, ticks.length])
        }
  })
})

it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5e-324, 1e-300])(
  'an axis of %d ends at 1',
  (max) => {
    expect(valueTicks(max, 'number').at(-1)?.at).toBe(1)
    expect(texts(valueTicks(max, 'count'))).toEqual(['0', '1'])
  },
)
