// The state of the log in the tables: compared with every kind of log, written now and then, given to another one.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TopicIdentity } from '../../services/core/log/log.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import type { Store } from '../../services/core/store/store.ts'
import { register } from '../../services/worker/applied/adopt.ts'
import { type ComparedState, compare } from '../../services/worker/applied/compare.ts'
import { type Applied, readApplied, writeApplied } from '../../services/worker/applied/table.ts'
import { watchApplied } from '../../services/worker/applied/watch.ts'
import { eventually } from '../fixtures/eventually.ts'
import { createTestStore } from '../fixtures/store.ts'

const calls = (offset: number, partition = 0) => ({ topic: 'calls', partition, offset }) as const
const logOf = (id: string, first: number, end: number): TopicIdentity => ({
  topic: 'calls',
  id,
  kept: [{ partition: 0, first, end }],
})
const knownOf = (id: string, position: number): Applied =>
  new Map([['calls', { generation: 3, ids: [id], isReady: true, positions: new Map([[0, position]]) }]])
const none = new Map<number, number>()

describe('a log and what the tables remember', () => {
  const outcome = (
    identity: TopicIdentity,
    committed: number,
    applied: Applied,
    tables: ComparedState['tables'] = { areEmpty: false, covered: none },
  ) => {
    const { mismatch, fresh, missing } = compare({
      identities: [identity],
      committed: [calls(committed)],
      applied,
      tables,
    })
    return mismatch?.message ?? { begins: fresh.map(({ offset }) => offset), missing: missing.map(({ last }) => last) }
  }
  const empty = { areEmpty: true, covered: none }

  it.each([
    ['a new installation', outcome(logOf('a', 1, 0), 0, new Map(), empty), { begins: [0], missing: [] }],
    ['the same log', outcome(logOf('a', 1, 9), 9, knownOf('a', 8)), { begins: [], missing: [] }],
    ['tables of an older version', outcome(logOf('a', 5, 9), 9, new Map()), { begins: [9], missing: [] }],
    ['tables that are lost', outcome(logOf('a', 1, 9), 9, new Map(), empty), { begins: [0], missing: [] }],
    ['and a log that was cut', outcome(logOf('a', 5, 9), 9, new Map(), empty), { begins: [4], missing: [4] }],
    ['tables that went back too far', outcome(logOf('a', 5, 9), 9, knownOf('a', 2)), { begins: [4], missing: [4] }],
    ['nothing kept, all applied', outcome(logOf('a', 10, 9), 9, knownOf('a', 9)), { begins: [], missing: [] }],
    ['another log', outcome(logOf('b', 1, 9), 9, knownOf('a', 9)), expect.stringMatching(/another log \(a\).*\(b\)/)],
    ['a topic that is gone', outcome(logOf('', 1, 0), 0, knownOf('a', 9)), expect.stringMatching(/calls is gone/)],
    ['a shorter log', outcome(logOf('a', 1, 7), 7, knownOf('a', 9)), expect.stringMatching(/ends at 7.*up to 9/)],
    ['a committed position beyond', outcome(logOf('a', 1, 7), 8, knownOf('a', 7)), expect.stringMatching(/up to 8/)],
    [
      'counters of an older version that cover more than the log has',
      outcome(logOf('a', 1, 7), 7, new Map(), { areEmpty: false, covered: new Map([[0, 20]]) }),
      expect.stringMatching(/ends at 7.*up to 20/),
    ],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})

describe('the table', () => {
  let store: Store
  let remove: () => Promise<void>
  beforeAll(async () => {
    ;({ store, remove } = await createTestStore())
  })
  afterAll(() => remove?.())
  beforeEach(async () => {
    for (const table of ['applied_positions', 'missing_records'])
      await store.command({ name: 'test.empty', sql: `TRUNCATE TABLE callhouse.${table}`, params: {} })
  })
  const rowOf = (id: string, offset: number, generation = 1) => ({ ...calls(offset), id, generation })
  const positions = async () => (await readApplied(store)).get('calls')

  it('keeps the greatest position of the latest generation', async () => {
    await writeApplied(store, [rowOf('a', 9), rowOf('a', 100)])
    await writeApplied(store, [rowOf('a', 5)])
    expect(await positions()).toMatchObject({ ids: ['a'], generation: 1, positions: new Map([[0, 100]]) })
    await writeApplied(store, [rowOf('b', 2, 2)], false)
    expect(await positions()).toMatchObject({ ids: ['b'], isReady: false, positions: new Map([[0, 2]]) })
    await writeApplied(store, [rowOf('a', 200)])
    await writeApplied(store, [rowOf('b', 2, 2)])
    expect(await positions()).toMatchObject({ ids: ['b'], isReady: true, positions: new Map([[0, 2]]) })
  })

  it('lets at most one of two logs in that register at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const outcomes = await Promise.allSettled(['a', 'b'].map((id) => register(store, [rowOf(id, 0)], true)))
      const won = outcomes.filter(({ status }) => status === 'fulfilled').length
      expect(won).toBeLessThanOrEqual(1)
      expect((await positions())?.ids.length ?? 0).toBe(won)
      await store.command({ name: 'test.empty', sql: 'TRUNCATE TABLE callhouse.applied_positions', params: {} })
    }
  })

  it('notices, while the process runs, records that retention removed before they were applied', async () => {
    await register(store, [rowOf('a', 4)], true)
    let first = 1
    const remembered: number[] = []
    let looked = 0
    let joined = (): void => expect.fail('nobody asked')
    const watch = await watchApplied({
      log: {
        identity: async () => {
          looked++
          return [logOf('a', first, 20)]
        },
        onRebalance(callback) {
          joined = callback
        },
        remembered: (of) => void remembered.push(...of.map(({ offset }) => offset)),
      },
      store,
      known: await readApplied(store),
      looks: true,
      applies: true,
      progress: createProgress(),
      onError: (error) => expect.fail(error.message),
    })
    // A worker that comes to the log again compares at once, not with the next look.
    looked = 0
    joined()
    await eventually(() => expect(looked).toBe(1))
    watch.applied(calls(6))
    await eventually(() => expect(remembered).toEqual([6]))
    expect(watch.missing()).toBe(undefined)
    first = 11
    watch.applied(calls(12))
    await eventually(() => expect(remembered).toEqual([6, 12]))
    expect(watch.missing()).toMatch(/^calls: records accepted before /)
    expect((await positions())?.positions.get(0)).toBe(12)
    await watch.stop()
    const rows = await store.rows<{ first: number; last: number }>({
      name: 'test.missing',
      sql: 'SELECT toUInt32(first) AS first, toUInt32(last) AS last FROM callhouse.missing_records FINAL',
      params: {},
    })
    expect(rows).toEqual([{ first: 7, last: 10 }])
  })

  it('holds readers of partitions back until it holds what was committed', async () => {
    const progress = createProgress()
    progress.holdBack([calls(10)])
    progress.remembered([calls(4)])
    progress.applied(calls(10))
    expect([progress.offset('calls', 0), progress.isHeldBack()]).toEqual([4, true])
    expect(progress.readable([calls(10), calls(10, 1)])).toEqual([calls(4), calls(10, 1)])
    expect(await progress.reach([calls(5)], 1)).toBe(false)
    progress.remembered([calls(10)])
    progress.applied(calls(10))
    expect([progress.offset('calls', 0), progress.isHeldBack()]).toEqual([10, false])
  })
})
