// /calls/delete: descendants, counting, what vanishes and what stays.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withDescendants } from '../../services/query/call-delete.ts'
import { baseUs, type CallWorld, complete, createCallWorld, start } from '../fixtures/call-world.ts'

let world: CallWorld
const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const call = (n: number, parent: number | null, trace: number, more: object = {}) =>
  complete(uuid(n), {
    traceId: uuid(trace),
    parentId: parent === null ? '' : uuid(parent),
    startedUs: baseUs + n * 1_000_000,
    ...more,
  })
const remove = (ids: number[]) => world.ask('/calls/delete', { call_ids: ids.map(uuid) })
const visible = async (trace: number) =>
  (await world.list({ filter: { trace_ids: [uuid(trace)] }, columns: ['id'] })).map((line) => Number(line.id.slice(-6)))

beforeAll(async () => {
  world = await createCallWorld()
  await world.apply([
    call(1, null, 900),
    call(2, 1, 900),
    call(3, 2, 900),
    call(4, 1, 900),
    call(11, null, 901),
    call(12, 11, 901),
    call(13, 11, 901, { startedUs: baseUs + 11_000_000 - 1_000_001 }),
    call(14, 11, 901, { startedUs: baseUs + 11_000_000 - 1_000_000 }),
    call(21, null, 902),
    call(22, 21, 903),
    call(31, null, 904),
    call(32, 39, 904),
  ])
  await world.refresh()
})
afterAll(() => world.remove())

describe('/calls/delete', () => {
  it('takes the descendants along', async () => {
    const answer = await remove([2])
    expect(answer.json).toEqual({ num_deleted: 2 })
    expect(answer.headers).toEqual({
      'X-Test-Fresh': 'yes',
      'X-Callhouse-Position': expect.stringMatching(/^calls=\d+$/),
    })
    expect(await visible(900)).toEqual([1, 4])
    expect((await world.ask('/call/read', { id: uuid(3) })).json).toEqual({ call: null })
  })
  it('answers 0 when it is repeated', async () => {
    expect((await remove([2, 3])).json).toEqual({ num_deleted: 0 })
  })
  it('leaves deleted calls out of counts at once', async () => {
    const count = async () => ((await world.ask('/calls/query_stats', {})).json as { count: number }).count
    const before = await count()
    await remove([4])
    expect(await count()).toBe(before - 1)
  })
  it('leaves children that began more than a second before', async () => {
    expect((await remove([11])).json).toEqual({ num_deleted: 3 })
    expect(await visible(901)).toEqual([13])
  })
  it('looks for children in the traces of the calls only', async () => {
    expect((await remove([21])).json).toEqual({ num_deleted: 1 })
    expect(await visible(903)).toEqual([22])
  })
  it('counts ids that do not exist, once each, if another one does', async () => {
    expect((await remove([77, 78])).json).toEqual({ num_deleted: 0 })
    expect((await remove([31, 77, 77, 39])).json).toEqual({ num_deleted: 4 })
    expect(await visible(904)).toEqual([])
  })
  it('keeps a deleted call deleted', async () => {
    await world.apply([call(1, null, 900), start(uuid(77), { traceId: uuid(905) })])
    await remove([1])
    await world.apply([call(1, null, 900)])
    expect(await visible(900)).toEqual([])
    expect(await visible(905)).toEqual([])
  })
  it('answers 0 for an empty list and refuses more than 1000', async () => {
    expect((await remove([])).json).toEqual({ num_deleted: 0 })
    const refused = await world.ask('/calls/delete', { call_ids: Array(1001).fill('x') })
    expect([refused.status, refused.json]).toEqual([413, { reason: 'Request too large' }])
    expect((await world.ask('/calls/delete', { call_ids: null })).status).toBe(422)
  })
})

describe('descendants', () => {
  it('ends on cycles', () => {
    expect(
      withDescendants(
        ['a'],
        [
          ['a', 'c'],
          ['b', 'a'],
          ['c', 'b'],
          ['d', ''],
        ],
      ),
    ).toEqual(new Set(['a', 'b', 'c']))
  })
})
