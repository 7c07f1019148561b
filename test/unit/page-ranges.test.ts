// Ranges of time as readers type them, in the words that the menu of ranges offers and names.
import { expect, it } from 'vitest'
import { typedRange } from '../../services/web/page/engine/calls-search.ts'

const now = new Date('2026-01-05T12:00:00Z')
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
  expect(typedRange(typed, now)).toBe(`${new Date(now.getTime() - hours * hourMs).toISOString()}~`)
})

it('today and yesterday are days from midnight to midnight', () => {
  const [today = '', open] = typedRange('today', now)?.split('~') ?? []
  expect(open).toBe('')
  expect(now.getTime() - Date.parse(today)).toBeLessThan(24 * hourMs)
  const [from = '', to] = typedRange('yesterday', now)?.split('~') ?? []
  expect(to).toBe(today)
  expect(Date.parse(today) - Date.parse(from)).toBe(24 * hourMs)
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
  expect(typedRange(typed, now)).toBeUndefined()
})

it('the last day of a month is a day of it, in leap years too', () => {
  for (const day of ['2026-02-28', '2028-02-29', '2026-12-31']) expect(typedRange(day, now)).toMatch(/~/)
})
