// Prices that change within a range, and such that are not in force yet: charts of costs against the cost of each call.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClock } from '../../services/core/clock/clock.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { costsRecord } from '../../services/events/costs.ts'
import { topics } from '../../services/events/registry.ts'
import { baseUs, type CallWorld, complete, createCallWorld, project } from '../fixtures/call-world.ts'

let world: CallWorld
const minuteUs = 60e6
/** In force before the calls, from within the second hour on, at an hour, and long after the calls. */
const prices = [
  { effectiveUs: 0, price: 1 },
  { effectiveUs: baseUs + 90 * minuteUs + 30e6, price: 10 },
  { effectiveUs: baseUs + 180 * minuteUs, price: 100 },
  { effectiveUs: baseUs + 365 * 1_440 * minuteUs, price: 1_000 },
]
const starts = Array.from({ length: 48 }, (_, n) => baseUs + n * 5 * minuteUs + (n % 7) * 10e6)
const priceAt = (us: number): number => prices.findLast(({ effectiveUs }) => effectiveUs <= us)?.price ?? 0

beforeAll(async () => {
  world = await createCallWorld()
  const clock = createClock()
  const made = prices.map(({ effectiveUs, price }, n) => ({
    id: `0190a000-0000-7000-8000-00000000000${n}`,
    clock: clock.next(),
    userId: 'ann',
    llmId: 'm1',
    providerId: 'default',
    effectiveUs,
    promptUnit: 'USD',
    completionUnit: 'USD',
    promptPrice: price,
    completionPrice: 0,
    cacheReadPrice: 0,
    cacheWritePrice: 0,
  }))
  await world.store.insert(topics.costs, { bytes: [costsRecord(project as ProjectId, made).rows] })
  const usage = [{ model: 'm1', requests: 1, input: 1, output: 0, total: 1, cacheRead: 0, cacheWrite: 0 }]
  await world.apply(
    starts.map((startedUs, n) => complete(`call-${n}`, { startedUs, opName: n % 2 ? 'odd' : 'even', usage })),
  )
})
afterAll(() => world.remove())

async function costs(more: object) {
  world.statements.length = 0
  const { json } = await world.ask('/calls/aggregate', {
    start: baseUs / 1e6,
    end: baseUs / 1e6 + 4 * 3_600,
    metrics: [{ field: 'total_cost', as: 'sum' }],
    ...more,
  })
  type Group = { keys: string[]; total: Record<string, number>; series: Record<string, number[]> }
  const { groups } = json as { groups: Group[] }
  return {
    isRolled: world.statements.includes('calls.aggregate-costs-rolled'),
    groups: groups.map(({ keys, total, series }) => [keys.join(), total['total_cost.sum'], series['total_cost.sum']]),
  }
}

const sumOf = (some: readonly number[]): number => some.reduce((sum, us) => sum + priceAt(us), 0)
const within = (from: number, hours: number) =>
  starts.filter((us) => us >= baseUs + from * 3_600e6 && us < baseUs + (from + hours) * 3_600e6)

it.each([false, true])('each call costs what its price was when it began, from statistics: %s', async (isRolled) => {
  if (isRolled) await world.refresh()
  const whole = sumOf(starts)
  const hourly = [0, 1, 2, 3].map((hour) => sumOf(within(hour, 1)))
  expect(await costs({})).toEqual({ isRolled, groups: [['', whole, undefined]] })
  expect(await costs({ bucket: 3_600 })).toEqual({ isRolled, groups: [['', whole, hourly]] })
  const [even, odd] = [0, 1].map((rest) => sumOf(starts.filter((_, n) => n % 2 === rest)))
  const byOp = await costs({ group_by: ['op_name'] })
  expect(byOp.isRolled).toBe(isRolled)
  expect(byOp.groups.toSorted()).toEqual([
    ['even', even, undefined],
    ['odd', odd, undefined],
  ])
  const late = { start: baseUs / 1e6 + 3 * 3_600 }
  expect((await costs(late)).groups).toEqual([['', sumOf(within(3, 1)), undefined]])
  const compared = { ...late, compare: { start: baseUs / 1e6, end: baseUs / 1e6 + 3_600 } }
  const { json } = await world.ask('/calls/aggregate', {
    end: baseUs / 1e6 + 4 * 3_600,
    metrics: [{ field: 'total_cost', as: 'sum' }],
    ...compared,
  })
  const { previous } = json as { previous: { groups: { total: object }[] } }
  expect(previous.groups[0]?.total).toEqual({ 'total_cost.sum': sumOf(within(0, 1)) })
})
