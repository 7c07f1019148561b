// Calls and tokens by op and user from the statistics of buckets, which tell only so many of them apart.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseUs, type CallWorld, complete, createCallWorld } from '../fixtures/call-world.ts'

let world: CallWorld
beforeAll(async () => {
  world = await createCallWorld({ mostKeys: 3 })
})
afterAll(() => world.remove())

describe('usage by op and user', () => {
  it('is read from the calls where a bucket has more of them than it tells apart', async () => {
    const call = (n: number, minute: number, opName: string) =>
      complete(`few-${n}`, {
        startedUs: baseUs + minute * 60e6,
        opName,
        userId: 'ada',
        usage: [{ model: 'm1', requests: 1, input: n, output: 0, total: n, cacheRead: 0, cacheWrite: 0 }],
      })
    // Four ops in one minute, two in each of two minutes of the next hour, one in two hours; two versions of one.
    await world.apply([
      ...['a', 'b', 'c', 'd'].map((op, n) => call(n + 1, 0, op)),
      ...['a', 'b', 'c', 'd'].map((op, n) => call(n + 11, 60 + (n >> 1), op)),
      ...['a', 'b'].map((op, n) => call(n + 21, 120 + 60 * n, op)),
      ...['v1', 'v2'].map((version, n) => call(n + 31, 300, `weave:///ent/proj/op/named:${version}`)),
    ])
    await world.refresh()
    const ask = async (fromMinute: number, minutes: number, group: string) => {
      const before = world.statements.length
      const { json } = await world.ask('/calls/aggregate', {
        start: (baseUs + fromMinute * 60e6) / 1e6,
        end: (baseUs + (fromMinute + minutes) * 60e6) / 1e6,
        group_by: [group],
        metrics: [{ field: 'input_tokens', as: 'sum' }],
      })
      const { groups } = json as { groups: { keys: string[]; total: Record<string, number> }[] }
      return {
        isRolled: world.statements.slice(before).includes('calls.aggregate-usage-rolled'),
        groups: Object.fromEntries(groups.map(({ keys, total }) => [keys[0], total['input_tokens.sum']])),
      }
    }
    expect(await ask(0, 60, 'op_name')).toEqual({ isRolled: false, groups: { a: 1, b: 2, c: 3, d: 4 } })
    expect(await ask(0, 60, 'model')).toEqual({ isRolled: true, groups: { m1: 10 } })
    expect(await ask(60, 1, 'op_name')).toEqual({ isRolled: true, groups: { a: 11, b: 12 } })
    // The hour has too many, each of its minutes few enough.
    expect(await ask(60, 60, 'op_name')).toEqual({ isRolled: true, groups: { a: 11, b: 12, c: 13, d: 14 } })
    expect(await ask(0, 120, 'op_name')).toEqual({ isRolled: false, groups: { a: 12, b: 14, c: 16, d: 18 } })
    expect(await ask(60, 180, 'op_name')).toEqual({ isRolled: true, groups: { a: 32, b: 34, c: 13, d: 14 } })
    expect(await ask(60, 60, 'model')).toEqual({ isRolled: true, groups: { m1: 50 } })
    expect(await ask(120, 120, 'op_name')).toEqual({ isRolled: true, groups: { a: 21, b: 22 } })
    expect(await ask(120, 120, 'user')).toEqual({ isRolled: true, groups: { ada: 43 } })
    expect(await ask(300, 60, 'op_name')).toEqual({ isRolled: true, groups: { named: 63 } })
  }, 60_000)

  it('is told beside calls, errors and latencies, from hours where these have what is asked for', async () => {
    const dayUs = baseUs + 86_400e6
    const call = (n: number, minute: number, opName: string) => {
      const startedUs = dayUs + minute * 60e6
      return complete(`took-${n}`, { startedUs, opName, endedUs: startedUs + n * 1_000, exception: n % 2 ? 'no' : '' })
    }
    // Two hours of two ops, and a minute with more of them than it tells apart.
    await world.apply([
      ...Array.from({ length: 8 }, (_, n) => call(n, 15 * n, n % 4 === 0 ? 'slow' : 'quick')),
      ...['a', 'b', 'c', 'd'].map((op, n) => call(n + 10, 180, op)),
    ])
    await world.refresh()
    const ask = async (minutes: number, metrics: object[]) => {
      const before = world.statements.length
      const times = { start: dayUs / 1e6, end: dayUs / 1e6 + minutes * 60 }
      const { json } = await world.ask('/calls/aggregate', { ...times, group_by: ['op_name'], metrics })
      const { groups } = json as { groups: { keys: string[]; total: Record<string, number> }[] }
      return {
        isRolled: world.statements.slice(before).includes('calls.aggregate-rolled'),
        groups: Object.fromEntries(groups.map(({ keys, total }) => [keys[0], Object.values(total)])),
      }
    }
    const counts = ['calls', 'errors'].map((field) => ({ field, as: 'sum' }))
    const latencies = ['sum', 'min', 'max', 'p50'].map((as) => ({ field: 'latency_ms', as }))
    const [slow, quick] = [
      [2, 0, 4, 0, 4, 2],
      [6, 4, 24, 1, 7, 4],
    ]
    expect(await ask(120, counts)).toEqual({ isRolled: true, groups: { quick: [6, 4], slow: [2, 0] } })
    expect(await ask(120, [...counts, ...latencies])).toEqual({ isRolled: true, groups: { quick, slow } })
    expect(await ask(240, [...counts, ...latencies])).toMatchObject({
      isRolled: false,
      groups: { quick, b: [1, 1, 11, 11, 11, 11] },
    })
  }, 60_000)

  it('is none where no call has any, whichever way it is read', async () => {
    const startedUs = baseUs + 30 * 86_400e6
    await world.apply([complete('plain', { startedUs })])
    await world.refresh()
    const fields = ['sum', 'min', 'max', 'avg', 'count'].map((as) => ({ field: 'input_tokens', as }))
    const none = { sum: 0, min: null, max: null, avg: null, count: 0 }
    const want = Object.fromEntries(Object.entries(none).map(([as, value]) => [`input_tokens.${as}`, value]))
    const anyId = { $not: [{ $eq: [{ $getField: 'id' }, { $literal: 'none' }] }] }
    for (const bucket of [null, 'day'])
      for (const query of [undefined, { $expr: anyId }]) {
        const times = { start: startedUs / 1e6, end: startedUs / 1e6 + 3_600 }
        const { json } = await world.ask('/calls/aggregate', { ...times, bucket, query, metrics: fields })
        const [group] = (json as { groups: { total: object; series: Record<string, unknown[]> }[] }).groups
        expect({ bucket, query, total: group?.total }).toEqual({ bucket, query, total: want })
        for (const [name, values] of Object.entries(group?.series ?? {})) expect(values).toEqual([want[name]])
      }
  }, 60_000)
})
