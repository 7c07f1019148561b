// tier: deep slow
// Lists that are longer than a page and offsets that the counters skip, on 60,000 calls of which one hour is crowded.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallHeader } from '../../services/query/calls/header.ts'
import { batchesOf } from '../../services/query/calls/stream.ts'
import { callHeader } from '../fixtures/call-header.ts'
import { baseUs, type CallWorld, complete, createCallWorld } from '../fixtures/call-world.ts'

const big = 'ent/big'
const count = 60_000
const crowded = 30_000
let world: CallWorld

/** The first half lies one second apart, the second half within 50 minutes. */
const startedUs = (n: number) => baseUs + (n < crowded ? n * 1_000_000 : crowded * 1_000_000 + (n - crowded) * 100_000)
const idOf = (n: number) => n.toString(16).padStart(16, '0')
const all = Array.from({ length: count }, (_, n) => n)

const list = async (body: object) => {
  const answer = await world.ask('/calls/stream_query', { project_id: big, columns: ['id'], ...body })
  return answer.lines.map((line) => Number.parseInt(line.id, 16))
}
const desc = [{ field: 'started_at', direction: 'desc' }]

beforeAll(async () => {
  world = await createCallWorld()
  await world.apply([complete('0000000000000000')])
  const us = `toInt64(${baseUs} + if(number < ${crowded}, number * 1000000, ${crowded} * 1000000 + (number - ${crowded}) * 100000))`
  await world.store.command({
    name: 'test',
    sql: `INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, trace_id, parent_id, op_name, inputs)
      SELECT 'complete', '${big}', leftPad(lower(hex(number)), 16, '0'), number + 1, ${us} AS st, st + (number * 7919) % ${count} * 1000,
        'trace', if(number % 4 = 0, '', 'parent'), concat('op-', toString(number % 3)), concat('{"n":', toString(number), '}')
      FROM numbers(${count})`,
    params: {},
  })
  await world.store.command({
    name: 'test',
    sql: `INSERT INTO callhouse.call_marks (project_id, position, minute) SELECT DISTINCT '${big}', 2, toStartOfMinute(started_at)
      FROM callhouse.calls WHERE project_id = '${big}'`,
    params: {},
  })
})
afterAll(() => world.remove())

const suite = (state: string) =>
  describe(state, () => {
    it('a project of 60,000 calls is counted exactly', async () => {
      const counted = async (body: object) =>
        ((await world.ask('/calls/query_stats', { project_id: big, ...body })).json as { count: number }).count
      expect(await counted({})).toBe(count)
      expect(await counted({ filter: { trace_roots_only: true } })).toBe(count / 4)
      expect(await counted({ limit: 12 })).toBe(12)
    })
    it('finds pages behind deep offsets in both orders', async () => {
      for (const offset of [19_990, 20_001, 29_995, 30_000, 44_444, 59_990, 60_000, 70_000]) {
        expect(await list({ offset, limit: 20 })).toEqual(all.slice(offset, offset + 20))
        const newest = all.toReversed().slice(offset, offset + 20)
        expect(await list({ offset, limit: 20, sort_by: desc })).toEqual(newest)
      }
    })
    it('finds roots behind deep offsets', async () => {
      const roots = all.filter((n) => n % 4 === 0)
      const body = { filter: { trace_roots_only: true }, limit: 5 }
      for (const offset of [9_000, 14_998]) {
        expect(await list({ ...body, offset })).toEqual(roots.slice(offset, offset + 5))
        expect(await list({ ...body, offset, sort_by: desc })).toEqual(roots.toReversed().slice(offset, offset + 5))
      }
    })
    it('lists everything in both orders', async () => {
      expect(await list({})).toEqual(all)
      expect(await list({ sort_by: desc })).toEqual(all.toReversed())
    })
    it('reads a small window for the newest calls of a crowded hour', async () => {
      expect(await list({ limit: 3, sort_by: desc })).toEqual([59_999, 59_998, 59_997])
    })
  })

suite('before the counters know')
describe('after the counters know', () => {
  beforeAll(async () => {
    await world.apply([complete('0000000000000001')])
    await world.apply([complete('0000000000000002')])
    await world.refresh()
  })
  suite('all hours')
})

describe('other lists', () => {
  it('walks windows for a filter, with offset', async () => {
    const some = all.filter((n) => n % 3 === 1)
    expect(await list({ filter: { op_names: ['op-1'] } })).toEqual(some)
    expect(await list({ filter: { op_names: ['op-1'] }, offset: 15_000, limit: 7, sort_by: desc })).toEqual(
      some.toReversed().slice(15_000, 15_007),
    )
  })
  it('pages through a filter on payloads', async () => {
    const query = { $expr: { $gte: [{ $getField: 'inputs.n' }, { $literal: 50_000.5 }] } }
    expect(await list({ query })).toEqual(all.slice(50_001))
    expect(await list({ query, limit: 3, sort_by: desc })).toEqual([59_999, 59_998, 59_997])
  })
  it('pages through one trace', async () => {
    expect(await list({ filter: { trace_ids: ['trace'] }, limit: 5_000, offset: 123 })).toEqual(all.slice(123, 5_123))
  })
  it('pages through another order', async () => {
    const sort_by = [{ field: 'summary.weave.latency_ms', direction: 'asc' }]
    const latency = (n: number) => (n * 7919) % count
    const sorted = [...all].sort((a, b) => latency(a) - latency(b) || b - a)
    expect(await list({ sort_by })).toEqual(sorted)
    expect(await list({ sort_by, limit: 4_100, offset: 50 })).toEqual(sorted.slice(50, 4_150))
  })
  it('carries payloads through an export', async () => {
    const { lines } = await world.ask('/calls/stream_query', { project_id: big, limit: 6_000, offset: 100 })
    expect(lines.map((line) => line.inputs.n)).toEqual(all.slice(100, 6_100))
    expect(lines.every((line, n) => Date.parse(line.started_at) === startedUs(n + 100) / 1000)).toBe(true)
    expect(lines[0]?.id).toBe(idOf(100))
  })
})

/** All within one minute, many at the same time. */
const full = 'ent/full-minute'
const fullUs = (n: number) => baseUs + 600_000_000 + Math.floor(n / 7) * 5_000
const listFull = async (body: object) => {
  const answer = await world.ask('/calls/stream_query', { project_id: full, columns: ['id'], ...body })
  return answer.lines.map((line) => Number.parseInt(line.id, 16))
}

describe('a minute of 60,000 calls', () => {
  beforeAll(async () => {
    await world.store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, trace_id, parent_id, op_name, inputs)
        SELECT 'complete', '${full}', leftPad(lower(hex(number)), 16, '0'), number + 1,
          toInt64(${baseUs} + 600000000 + intDiv(number, 7) * 5000) AS st, st + 1000,
          'trace', if(number % 4 = 0, '', 'parent'), concat('op-', toString(number % 3)), '{}'
        FROM numbers(${count})`,
      params: {},
    })
    await world.store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.call_marks (project_id, position, minute) SELECT DISTINCT '${full}', 4, toStartOfMinute(started_at)
        FROM callhouse.calls WHERE project_id = '${full}'`,
      params: {},
    })
    for (const n of [3, 4]) await world.apply([complete(`000000000000000${n}`)])
    await world.refresh()
  })
  const newest = all.toReversed()

  it('is one minute', () => {
    expect(new Set([0, count - 1].map((n) => Math.floor(fullUs(n) / 60e6))).size).toBe(1)
  })
  it.each([0, 1, 5, 48, 49, 50, 3_000, 19_995])('is read piece by piece behind an offset of %d', async (offset) => {
    for (const limit of [1, 50]) {
      expect(await listFull({ offset, limit, sort_by: desc })).toEqual(newest.slice(offset, offset + limit))
      expect(await listFull({ offset, limit })).toEqual(all.slice(offset, offset + limit))
    }
  })
  it('is read piece by piece for roots and for filters', async () => {
    const roots = newest.filter((n) => n % 4 === 0)
    expect(await listFull({ filter: { trace_roots_only: true }, limit: 20, sort_by: desc })).toEqual(roots.slice(0, 20))
    const op = newest.filter((n) => n % 3 === 1)
    expect(await listFull({ filter: { op_names: ['op-1'] }, limit: 2_000, sort_by: desc })).toEqual(op.slice(0, 2_000))
  })
  it('is read whole', async () => {
    expect(await listFull({})).toEqual(all)
    expect(await listFull({ sort_by: desc })).toEqual(newest)
  })
})

describe('batches of payloads', () => {
  it('are bounded by rows and by bytes, and one large call goes alone', () => {
    const row = (bytes: number) => callHeader({ bytes })
    const sizes = (rows: CallHeader[], most: number) => [...batchesOf(rows, () => most)].map((batch) => batch.length)
    expect(sizes(Array(7).fill(row(10)), 3)).toEqual([3, 3, 1])
    const mib = 2 ** 20
    expect(sizes([row(mib), row(30 * mib), row(mib), row(6 * mib), row(2 * mib)], 100)).toEqual([1, 1, 2, 1])
    expect(sizes([], 3)).toEqual([])
  })
})
