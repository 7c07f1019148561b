// Ranges of time as readers type them, in the words that the menu of ranges offers and names.
import { expect, it } from 'vitest'
import { typedRange } from '../../services/web/page/engine/calls-search.ts'

const now = Date.parse('2026-01-05T12:00:00Z')
const hourMs = 3_600_000

it.each([
  ['30m', 0.5],
  ['30 minutes', 0.5],
  ['2h', 2],
  ['last hour', 1],
  ['Last 3 days', 72],
  ['3 days', 72],
  ['last day', 24],
  ['last 2 weeks', 336],
])('%s begins so many hours ago: %d', (typed, hours) => {
  expect(typedRange(typed, 'UTC', now)).toBe(`${new Date(now - hours * hourMs).toISOString()}~`)
})

it.each([
  ['today', 'UTC', '2026-01-05T00:00Z', ''],
  ['yesterday', 'UTC', '2026-01-04T00:00Z', '2026-01-05T00:00Z'],
  ['today', 'Asia/Tokyo', '2026-01-04T15:00Z', ''],
  ['yesterday', 'America/New_York', '2026-01-04T05:00Z', '2026-01-05T05:00Z'],
  ['2026-01-05', 'Asia/Tokyo', '2026-01-04T15:00Z', '2026-01-05T15:00Z'],
  ['2026-03-08', 'America/New_York', '2026-03-08T05:00Z', '2026-03-09T04:00Z'],
  ['2026-11-01', 'America/New_York', '2026-11-01T04:00Z', '2026-11-02T05:00Z'],
  ['2026-01-05 9:30', 'Asia/Tokyo', '2026-01-05T00:30Z', '2026-01-05T01:30Z'],
  ['2026-01-05 12:00 to 13:00', 'America/New_York', '2026-01-05T17:00Z', '2026-01-05T18:00Z'],
  ['2026-01-05 to 2026-01-06', 'Asia/Tokyo', '2026-01-04T15:00Z', '2026-01-06T14:59:59Z'],
])('%s is of the zone that the reader chose, here %s', (typed, zone, from, to) => {
  const iso = (text: string) => text && new Date(text).toISOString()
  expect(typedRange(typed, zone, now)).toBe(`${iso(from)}~${iso(to)}`)
})

it.each([
  'day',
  'last',
  'last 3',
  '3 moons',
  '5hays',
  'last year',
  'tomorrow',
  '2026-02-30',
  '2026-01-05 to 2026-02-30',
  '2026-04-31 10:00',
])('%s is no range', (typed) => {
  expect(typedRange(typed, 'UTC', now)).toBeUndefined()
})

it('the last day of a month is a day of it, in leap years too', () => {
  for (const day of ['2026-02-28', '2028-02-29', '2026-12-31']) expect(typedRange(day, 'UTC', now)).toMatch(/~/)
})
