// tier: deep slow
// /calls/delete: descendants, counting, what vanishes and what stays.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { usualBounds, withDescendants } from '../../services/query/calls/descendants.ts'
import { baseUs, type CallWorld, complete, createCallWorld, start } from '../fixtures/call-world.ts'
import { runs } from '../fixtures/runs.ts'

let world: CallWorld
const bounds = { ...usualBounds }
let isFailing = 0
const onAppend = () => {
  if (isFailing > 0 && --isFailing === 0) throw new Error('the process ends')
}
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
  world = await createCallWorld({ bounds, onAppend })
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
      'X-Callhouse-Erasure': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'X-Test-Fresh': 'yes',
      'X-Callhouse-Position': expect.stringMatching(/^calls=\d+$/),
    })
    expect(await visible(900)).toEqual([1, 4])
    expect((await world.ask('/call/read', { id: uuid(3) })).json).toEqual({ call: null })
  })
  it('answers 0 when it is repeated', async () => {
    expect((await remove([2, 3])).json).toEqual({ num_deleted: 0 })
  })
  it('counts leave out deleted calls at once', async () => {
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
  it('reads the traces of calls with others below them, and no others', async () => {
    await world.apply([
      call(41, null, 906),
      call(42, 41, 906),
      call(43, 41, 906),
      call(51, null, 907),
      call(52, 51, 907),
    ])
    const read = async (ids: number[]) => {
      world.statements.length = 0
      const { json } = await remove(ids)
      return [json, world.statements.filter((name) => name.startsWith('calls.delete-'))]
    }
    const looked = ['calls.delete-requested', 'calls.delete-parents']
    expect(await read([42, 77])).toEqual([{ num_deleted: 1 }, looked])
    const walked = [...looked, 'calls.delete-boundary', 'calls.delete-batch']
    expect(await read([43, 51])).toEqual([{ num_deleted: 3 }, walked])
    expect([await visible(906), await visible(907)]).toEqual([[41], []])
  })
  it('does nothing for ids that do not exist, alone and beside others, also when they come later', async () => {
    expect((await remove([77, 78])).json).toEqual({ num_deleted: 0 })
    expect((await remove([31, 77, 77, 39])).json).toEqual({ num_deleted: 1 })
    expect(await visible(904)).toEqual([32])
    await world.apply([start(uuid(77), { traceId: uuid(905) }), call(39, null, 904)])
    expect(await visible(905)).toEqual([77])
    expect(await visible(904)).toEqual([32, 39])
  })
  it('keeps a deleted call deleted', async () => {
    await world.apply([call(1, null, 900)])
    await remove([1])
    await world.apply([call(1, null, 900)])
    expect(await visible(900)).toEqual([])
  })
  it('takes what came below a deleted call since, when it is deleted again', async () => {
    await world.apply([call(6, 1, 900), call(7, 6, 900)])
    expect((await remove([1])).json).toEqual({ num_deleted: 2 })
    expect((await remove([1])).json).toEqual({ num_deleted: 0 })
    expect(await visible(900)).toEqual([])
  })
  it('answers 0 for an empty list and refuses more than 1000', async () => {
    expect((await remove([])).json).toEqual({ num_deleted: 0 })
    const refused = await world.ask('/calls/delete', { call_ids: Array(1001).fill('x') })
    expect([refused.status, refused.json]).toEqual([413, { reason: 'Request too large' }])
    expect((await world.ask('/calls/delete', { call_ids: null })).status).toBe(422)
  })
})

describe('a call with very many descendants', () => {
  it('is deleted with all of them, and all are counted', async () => {
    // More than ever were looked at: some below the first, and these below each other.
    const many = 10_050
    const [root, trace] = [500_000, 910]
    await world.apply([
      call(root, null, trace),
      ...Array.from({ length: many }, (_, n) =>
        call(root + 1 + n, n < 5_000 ? root : root + 1 + (n - 5_000), trace, { startedUs: baseUs + root * 1e6 + n }),
      ),
      call(root - 1, null, trace),
    ])
    expect((await remove([root])).json).toEqual({ num_deleted: many + 1 })
    expect(await visible(trace)).toEqual([root - 1])
  })

  describe('/calls/delete in small batches', () => {
    beforeAll(() => Object.assign(bounds, { batchRows: 5, held: 6 }))
    const removed = async (ids: number[]) => ((await remove(ids)).json as { num_deleted: number }).num_deleted
    /** A chain, a fan and, up to a second earlier than their parents, children of both; beside them another tree. */
    const tree = (from: number, trace: number) => {
      const at = (n: number, startedUs: number, parent: number | null) =>
        call(from + n, parent === null ? null : from + parent, trace, { startedUs: baseUs + startedUs })
      return [
        at(0, 900_000, null),
        ...Array.from({ length: 4 }, (_, n) => at(1 + n, 900_000 + n, n)),
        ...Array.from({ length: 5 }, (_, n) => at(11 + n, 950_000 - n * 100_000, 4)),
        ...Array.from({ length: 2 }, (_, n) => at(21 + n, 100_000 + n, 14 + n)),
        at(31, 100_000, null),
        at(32, 950_000, 31),
      ]
    }
    const size = 1 + 4 + 5 + 2

    it('deletes all descendants, whatever the order of their times', async () => {
      await world.apply([...tree(1_000, 1), ...tree(2_000, 2)])
      expect(await removed([1_003, 1_000, 2_000])).toBe(2 * size)
      expect(await visible(1)).toEqual([1_031, 1_032])
      expect(await visible(2)).toEqual([2_031, 2_032])
      expect(await removed([1_000, 2_000])).toBe(0)
    })

    it('deletes more calls of one start time than a batch holds, and those behind them', async () => {
      const [root, many] = [8_000, 17]
      const at = (n: number, parent: number | null, later = 0) =>
        call(root + n, parent === null ? null : root + parent, 8, { startedUs: baseUs + root * 1e6 + later })
      await world.apply([
        at(0, null),
        ...Array.from({ length: many }, (_, n) => at(1 + n, n)),
        ...Array.from({ length: 4 }, (_, n) => at(101 + n, many - n, 1 + n)),
        at(201, null),
      ])
      expect(await removed([root])).toBe(1 + many + 4)
      expect(await visible(8)).toEqual([root + 201])
    })

    it('is finished by a delete that is repeated after the process ended in between', async () => {
      for (const [n, after] of [3, 2, 5].slice(0, runs(1, 3)).entries()) {
        const from = 3_000 + n * 1_000
        await world.apply(tree(from, n + 3))
        isFailing = after
        await expect(removed([from])).rejects.toThrow('the process ends')
        const remaining = (await visible(n + 3)).length - 2
        expect(remaining).toBeGreaterThan(0)
        expect(await removed([from])).toBe(remaining)
        expect(await visible(n + 3)).toEqual([from + 31, from + 32])
      }
    })
  })
})

describe('descendants', () => {
  it('the search for descendants ends when parents form a cycle', () => {
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
