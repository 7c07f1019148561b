// Traces whose root never came: their topmost calls stand in lists of roots once nothing new has come for a while, and leave
// them when a root, or a parent, comes after all.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { CallFragment } from '../../services/events/calls.ts'
import { baseUs, type CallWorld, clock, complete, createCallWorld, start } from '../fixtures/call-world.ts'

let world: CallWorld
beforeAll(async () => {
  world = await createCallWorld()
})
afterAll(() => world.remove())

let trace = ''
let count = 0
beforeEach(() => {
  trace = `trace-${count++}`
})

const span = (id: string, parentId: string, more: object = {}) =>
  complete(`${trace}-${id}`, {
    traceId: trace,
    parentId: parentId && `${trace}-${parentId}`,
    startedUs: baseUs + count * 3_600_000_000,
    ...more,
  })
const deleteOf = (id: string): CallFragment =>
  ({ kind: 'delete', projectId: 'ent/proj', id: `${trace}-${id}`, clock: clock.next() }) as CallFragment

/** The roots in every list: ids, marks, number. */
async function roots() {
  const filter = { trace_roots_only: true, trace_ids: [trace] }
  const records = await world.list({ filter, columns: ['id'] })
  const stats = (await world.ask('/calls/query_stats', { filter })).json as { count: number }
  const minute = { start: baseUs / 1e6, end: baseUs / 1e6 + 86_400, granularity: 3600 }
  const metrics = { filter: { trace_roots_only: true }, call_metrics: [{ metric: 'call_count' }] }
  const { call_buckets } = (await world.ask('/calls/stats', { ...minute, ...metrics })).json as {
    call_buckets: { timestamp: string; count: number }[]
  }
  const bucket = call_buckets.find(({ timestamp }) => Date.parse(timestamp) * 1000 === baseUs + count * 3_600_000_000)
  const { traces } = (await world.ask('/v2/{entity}/{project}/traces/query', { filter: { trace_ids: [trace] } }))
    .json as { traces: { root_ids: string[]; is_orphan?: true }[] }
  const plain = (await world.ask('/v2/{entity}/{project}/traces/query', { limit: 500 })).json as {
    traces: { trace_id: string; root_ids: string[] }[]
  }
  const short = (id: string) => id.slice(trace.length + 1)
  const listed = records.map(({ id }) => short(id)).sort()
  expect(stats.count).toBe(listed.length)
  expect(bucket?.count ?? 0).toBe(listed.length)
  expect(traces.flatMap((one) => one.root_ids.map(short)).sort()).toEqual(listed)
  const found = plain.traces.filter((one) => one.trace_id === trace)
  expect(found.flatMap((one) => one.root_ids.map(short)).sort()).toEqual(listed)
  const marked = records.filter(({ is_orphan }) => is_orphan === true).map(({ id }) => short(id))
  expect(traces.some(({ is_orphan }) => is_orphan)).toBe(marked.length > 0)
  return { listed, marked: marked.sort() }
}
const settled = async () => {
  const live = await roots()
  await world.refresh()
  expect(await roots()).toEqual(live)
  return live
}
const none = { listed: [], marked: [] }
const hourMs = 3_600_000

it('lists the topmost calls of such a trace, marked, once nothing new has come for a while', async () => {
  await world.apply([span('a', 'gone'), span('b', 'gone'), span('c', 'a'), span('d', 'c')])
  expect(await settled()).toEqual(none)
  expect(await world.lookForOrphans(hourMs)).toBe(0)
  expect(await settled()).toEqual(none)
  expect(await world.lookForOrphans(0)).toBe(2)
  expect(await settled()).toEqual({ listed: ['a', 'b'], marked: ['a', 'b'] })
  expect(await world.lookForOrphans(0)).toBe(0)
  expect(await settled()).toEqual({ listed: ['a', 'b'], marked: ['a', 'b'] })
})

it('passes over calls of a trace that has a root, and starts that run', async () => {
  await world.apply([span('root', ''), span('a', 'gone'), span('b', 'root')])
  expect(await world.lookForOrphans(0)).toBe(0)
  expect(await settled()).toEqual({ listed: ['root'], marked: [] })
})

it('gives way to a root that comes after all, without waiting', async () => {
  await world.apply([span('a', 'root', { startedUs: baseUs + count * 3_600_000_000 + 130_000_000 })])
  expect(await world.lookForOrphans(0)).toBe(1)
  expect(await settled()).toEqual({ listed: ['a'], marked: ['a'] })
  await world.apply([span('root', '')])
  expect(await world.lookForOrphans(hourMs)).toBe(1)
  expect(await settled()).toEqual({ listed: ['root'], marked: [] })
})

it('moves up to a parent that comes after all', async () => {
  await world.apply([span('a', 'b')])
  await world.lookForOrphans(0)
  await world.apply([span('b', 'gone')])
  expect(await world.lookForOrphans(hourMs)).toBe(2)
  expect(await settled()).toEqual({ listed: ['b'], marked: ['b'] })
})

it('stays when its trace goes on, and when it comes again', async () => {
  const first = span('a', 'gone')
  await world.apply([first])
  await world.lookForOrphans(0)
  await world.apply([first])
  await world.apply([span('b', 'a')])
  expect(await world.lookForOrphans(hourMs)).toBe(0)
  expect(await world.lookForOrphans(0)).toBe(0)
  expect(await settled()).toEqual({ listed: ['a'], marked: ['a'] })
})

it('goes when it is deleted, and those below it stand in its place only if they stay', async () => {
  await world.apply([span('a', 'gone'), span('b', 'a')])
  await world.lookForOrphans(0)
  await world.apply([deleteOf('a')])
  expect((await roots()).listed).toEqual([])
  await world.lookForOrphans(0)
  expect(await settled()).toEqual({ listed: ['b'], marked: ['b'] })
})

it('finds calls that run, and those that moved to another time', async () => {
  const at = baseUs + count * 3_600_000_000
  await world.apply([start(`${trace}-a`, { traceId: trace, parentId: 'gone', startedUs: at + 1 })])
  await world.lookForOrphans(0)
  expect(await settled()).toEqual({ listed: ['a'], marked: ['a'] })
  await world.apply([start(`${trace}-a`, { traceId: trace, parentId: 'gone', startedUs: at + 600_000_000 })])
  await world.lookForOrphans(0)
  expect(await settled()).toEqual({ listed: ['a'], marked: ['a'] })
})

it('finds nothing in a condition that names parents, which means what it says', async () => {
  await world.apply([span('a', 'gone')])
  await world.lookForOrphans(0)
  const query = { $expr: { $eq: [{ $getField: 'parent_id' }, { $literal: null }] } }
  expect(await world.list({ query, filter: { trace_ids: [trace] } })).toEqual([])
  const filter = { parent_ids: [`${trace}-gone`], trace_roots_only: true }
  expect((await world.list({ filter })).map(({ id }) => id)).toEqual([`${trace}-a`])
})
