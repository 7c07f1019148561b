// tier: deep slow
// Leaves of payloads: derived once, also over a crash and for old rows; followed by deletes, moves and long orders.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StoreError } from '../../services/core/store/store.ts'
import { createFieldIndex } from '../../services/derived/field-index/field-index.ts'
import { baseUs, type CallWorld, complete, createCallWorld, end, rename, start } from '../fixtures/call-world.ts'
import { createRandom } from '../fixtures/random.ts'

let world: CallWorld
beforeAll(async () => {
  world = await createCallWorld()
})
afterAll(() => world.remove())

const field = (name: string) => ({ $getField: name })
const equals = (name: string, value: unknown) => ({ query: { $expr: { $eq: [field(name), { $literal: value }] } } })
const ids = async (body: object): Promise<string[]> => (await world.list({ columns: ['id'], ...body })).map((l) => l.id)
const leafRows = async (): Promise<number> => {
  const [row] = await world.store.rows<{ n: number }>({
    name: 'test',
    sql: 'SELECT toUInt32(sum(length(at))) AS n FROM callhouse.payload_leaves',
    params: {},
  })
  return row?.n ?? 0
}
/** Statements of one request. */
const during = async (work: () => Promise<unknown>): Promise<string[]> => {
  world.statements.length = 0
  await work()
  return [...world.statements]
}

describe('indexing', () => {
  it('goes on where it was cut off, and does nothing twice', async () => {
    const calls = Array.from({ length: 40 }, (_, n) =>
      complete(`d${n}`, { startedUs: baseUs + n * 120_000_000, inputs: `{"n":${n % 4},"t":"x${n}"}` }),
    )
    await world.apply(calls)
    const { store } = world
    const failing = createFieldIndex({
      store: {
        ...store,
        command: (query, options) =>
          query.name === 'field-index-insert-groups'
            ? Promise.reject(new Error('the process ends here'))
            : store.command(query, options),
      },
    })
    await store.command({
      name: 'test',
      sql: 'INSERT INTO callhouse.call_marks (project_id, position, minute, partition) SELECT project_id, 1, toStartOfMinute(at), 0 FROM callhouse.payloads',
      params: {},
    })
    const range = { partitions: [0], covered: [-1], upTo: [1], minCovered: -1, slots: [] }
    await expect(failing.rollup.derive(range)).rejects.toThrow('the process ends here')
    expect(await leafRows()).toBe(160)
    expect(await ids(equals('inputs.n', 3))).toHaveLength(10)
    await world.derive()
    // Records without a note are written again, and never a third time.
    const derived = await leafRows()
    expect(derived).toBe(320)
    expect(await ids(equals('inputs.n', 3))).toHaveLength(10)
    await world.apply([rename('d1', 'again')])
    await world.derive()
    expect(await leafRows()).toBe(derived)
  })

  it('leads to the few calls that match', async () => {
    const statements = await during(async () => expect(await ids(equals('inputs.t', 'x7'))).toEqual(['d7']))
    expect(statements).toContain('calls.field-index-candidates')
    expect(statements).not.toContain('calls.groups')
  })

  it('follows another start time, a newer fragment and a delete', async () => {
    await world.apply([
      start('m1', { startedUs: baseUs + 1_000_000, inputs: '{"who":"first"}' }),
      complete('m2', { startedUs: baseUs, inputs: '{"who":"first"}', output: '{"score":0.5}' }),
    ])
    await world.derive()
    expect((await ids(equals('inputs.who', 'first'))).sort()).toEqual(['m1', 'm2'])
    await world.apply([start('m1', { startedUs: baseUs + 9_000_000_000, inputs: '{"who":"second"}' })])
    for (const state of ['before', 'after']) {
      expect(await ids(equals('inputs.who', 'first')), state).toEqual(['m2'])
      expect(await ids(equals('inputs.who', 'second')), state).toEqual(['m1'])
      await world.derive()
    }
    await world.apply([end('m1', { endedUs: baseUs + 99_000_000_000, output: '{"score":0.9}' })])
    await world.derive()
    expect(await ids(equals('output.score', 0.9))).toEqual(['m1'])
    const best = { sort_by: [{ field: 'output.score', direction: 'desc' }], limit: 1 }
    expect(await ids(best)).toEqual(['m1'])
    const { json } = await world.ask('/calls/delete', { call_ids: ['m1'] })
    expect(json).toEqual({ num_deleted: 1 })
    expect(await ids(equals('output.score', 0.9))).toEqual([])
    expect(await ids(best)).toEqual(['m2'])
  })
})

it('the field index finds the newest that match in pages, however thin they lie', async () => {
  const project = 'ent/thin'
  const nowUs = Date.now() * 1_000
  const minuteUs = 60_000_000
  const random = createRandom(3)
  // a month of calls, most of them of the last days; one of each ten, hundred or four matches
  const ages = Array.from({ length: 1_200 }, () => Math.floor(random.next() ** 3 * 30 * 1_440))
  await world.apply(
    ages.map((age, n) =>
      complete(`t${n}`, {
        projectId: project,
        startedUs: nowUs - age * minuteUs - n,
        inputs: `{"ten":${n % 10},"hundred":"h${n % 100}","four":${n % 4}}`,
      }),
    ),
  )
  await world.derive()
  const inOrder = ages.map((age, n) => ({ n, us: age * minuteUs + n })).sort((a, b) => a.us - b.us)
  const sort_by = [{ field: 'started_at', direction: 'desc' }]
  for (const [name, value, every] of [
    ['inputs.ten', 3, 10],
    ['inputs.hundred', 'h7', 100],
    ['inputs.four', 2, 4],
  ] as const) {
    const all = inOrder.filter(({ n }) => n % every === Number(String(value).replace('h', ''))).map(({ n }) => `t${n}`)
    for (const [offset, limit] of [
      [0, 5],
      [0, 50],
      [30, 50],
      [0, 400],
    ] as const) {
      const body = { project_id: project, ...equals(name, value), sort_by, offset, limit }
      expect(await ids(body), `${name} ${offset} ${limit}`).toEqual(all.slice(offset, offset + limit))
    }
  }
  const statements = await during(() => ids({ project_id: project, ...equals('inputs.four', 2), sort_by, limit: 5 }))
  expect(statements.filter((one) => one === 'calls.field-index-candidates')).toHaveLength(1)
})

// Pretends that a position far ahead is covered: nothing that is applied after it would be derived.
describe('an order in which thousands share the first value', () => {
  const big = 'ent/ties'
  const count = 6_000
  const idOf = (n: number) => `id${String((n * 7919) % count).padStart(6, '0')}`
  /** Calls whose ends came alone. */
  const late = ['id000100x', 'id005999x', 'zz']
  beforeAll(async () => {
    await world.store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, op_name, output)
        SELECT 'complete', '${big}', concat('id', leftPad(toString((number * 7919) % ${count}), 6, '0')), number + 1,
          toInt64(${baseUs} + number * 1000000) AS us, us + 1, 'op', concat('{"score":', if(number >= ${count - 3}, '0.5', '1'), ',"word":"same","kind":"', if(number % 7 = 0, 'a', concat('b', toString(number))), '"}')
        FROM numbers(${count})`,
      params: {},
    })
    const alone = { projectId: big, output: '{"score":1,"word":"same"}' }
    await world.apply(late.map((id, n) => start(id, { projectId: big, startedUs: baseUs + n * 1e9 })))
    await world.apply(late.map((id, n) => end(id, { ...alone, endedUs: baseUs + n * 1e9 + 5_000_000_000 })))
    await world.store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.call_marks (project_id, position, minute, partition) SELECT DISTINCT '${big}', 1000000, toStartOfMinute(started_at), 0
        FROM callhouse.calls WHERE project_id = '${big}'`,
      params: {},
    })
  })
  const page = (name: string, direction: string, limit: number, offset: number, from = 0) =>
    ids({
      project_id: big,
      sort_by: [{ field: name, direction }],
      limit,
      offset,
      query: { $expr: { $gte: [field('started_at'), { $literal: baseUs / 1e6 + from }] } },
    })

  it('takes ties by id', async () => {
    const asked: Parameters<typeof page>[] = [
      ['output.score', 'desc', 5, 0],
      ['output.score', 'asc', 6, 1],
      ['output.word', 'asc', 4, 2],
      ['output.kind', 'asc', 4, 2],
      ['output.kind', 'asc', 3, 100],
      ['output.word', 'asc', 4, 0, 4_000],
      ['output.score', 'asc', 4, 1, 4_000],
    ]
    const before = await Promise.all(asked.map((one) => page(...one)))
    const leaves = createFieldIndex({ store: world.store })
    await leaves.rollup.derive({ partitions: [0], covered: [0], upTo: [1_000_000], minCovered: 0, slots: [] })
    await world.store.command({
      name: 'test',
      sql: "INSERT INTO callhouse.rollups (name, partition, position, revision) VALUES ('payload_leaves', 0, 1000000, 1)",
      params: {},
    })
    for (const [n, one] of asked.entries()) {
      const statements = await during(async () => expect(await page(...one)).toEqual(before[n]))
      expect(statements).toContain('calls.field-index-tied')
      expect(statements).not.toContain('calls.sorted-keys')
    }
    const low = [1, 2, 3]
      .map((n) => idOf(count - n))
      .sort()
      .toReversed()
    const all = Array.from({ length: count }, (_, n) => idOf(n)).filter((id) => !low.includes(id))
    const first = [...all, ...late].sort().toReversed()
    expect(before.slice(0, 2)).toEqual([first.slice(0, 5), [...low, ...first].slice(1, 7)])
  })

  it('scans newer calls while too many of them are not indexed', async () => {
    await world.store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, op_name, output)
        SELECT 'complete', '${big}', concat('new', leftPad(toString(number), 6, '0')), number + 1,
          toInt64(${baseUs} + 7200000000 + number * 1000000) AS us, us + 1, 'op', concat('{"score":', if(number % 2000 = 7, '0.5', '1'), '}')
        FROM numbers(4100)`,
      params: {},
    })
    await world.store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.call_marks (project_id, position, minute, partition, seconds)
        SELECT '${big}', 1000001, toStartOfMinute(started_at) AS minute, 0, groupBitOr(bitShiftLeft(toUInt64(1), toSecond(started_at)))
        FROM callhouse.calls WHERE project_id = '${big}' AND startsWith(id, 'new') GROUP BY minute`,
      params: {},
    })
    for (const direction of ['asc', 'desc']) {
      const body = { project_id: big, ...equals('output.score', 0.5), sort_by: [{ field: 'started_at', direction }] }
      const old = [count - 3, count - 2, count - 1].map(idOf)
      const newer = ['new000007', 'new002007', 'new004007']
      const all = direction === 'asc' ? [...old, ...newer] : [...old, ...newer].toReversed()
      const statements = await during(async () => expect(await ids(body)).toEqual(all))
      expect(statements).toContain('calls.field-index-candidates')
      expect(await ids({ ...body, limit: 3, offset: 2 })).toEqual(all.slice(2, 5))
    }
  })

  it('orders read the payloads of those alone that are not indexed yet', async () => {
    const newer = ['new004007', 'new002007', 'new000007']
    const low = [count - 3, count - 2, count - 1].map(idOf).sort().toReversed()
    const next = Array.from({ length: 4 }, (_, n) => `new00${4_099 - n}`)
    for (const [limit, offset] of [
      [7, 0],
      [4, 4],
    ] as const) {
      const statements = await during(async () =>
        expect(await page('output.score', 'asc', limit, offset)).toEqual(
          [...newer, ...low, 'zz', ...next].slice(offset, offset + limit),
        ),
      )
      expect(statements).toContain('calls.field-index-order')
    }
    expect(await page('output.score', 'desc', 3, 0)).toEqual(['zz', ...next].slice(0, 3))
  })

  it('names of fields and their values are those of older calls while the latest are not indexed yet', async () => {
    await world.store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, op_name, output)
        SELECT 'complete', '${big}', concat('later', toString(number)), number + 1,
          toInt64(${baseUs} + 72000000000 + number * 100000) AS us, us + 1, 'op', '{"score":7}' FROM numbers(20010)`,
      params: {},
    })
    await world.store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.call_marks (project_id, position, minute, partition, seconds)
        SELECT '${big}', 1000002, toStartOfMinute(started_at) AS minute, 0, groupBitOr(bitShiftLeft(toUInt64(1), toSecond(started_at)))
        FROM callhouse.calls WHERE project_id = '${big}' AND startsWith(id, 'later') GROUP BY minute`,
      params: {},
    })
    const named = await world.ask('/calls/fields', { project_id: big, prefix: 'output' })
    expect(named.json).toMatchObject({
      fields: expect.arrayContaining([expect.objectContaining({ path: 'output.word' })]),
    })
    const asked = { project_id: big, fields: ['output.score', 'op_name'], limit: 5 }
    const { json } = await world.ask('/calls/values', asked)
    expect(json).toMatchObject({
      fields: {
        'output.score': {
          values: [
            { value: 1, calls: 5_997 + 3 },
            { value: 0.5, calls: 3 },
          ],
        },
        op_name: { values: [{ value: 'op', calls: 20_000 }] },
      },
    })
  })
})

it('the field index reads small rows by thousands, and as few as at first when that is too much', async () => {
  const { store } = world
  const project = 'field-index/pages'
  await store.command({
    name: 'test',
    sql: `INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, op_name, output)
      SELECT 'complete', '${project}', concat('page', toString(number)), number + 1, ${baseUs} + number AS us, us + 1, 'op', '{"a":1}'
      FROM numbers(20000)`,
    params: {},
  })
  await store.command({
    name: 'test',
    sql: `INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
      SELECT DISTINCT project_id, 0, 2000000, toStartOfMinute(at) FROM callhouse.payloads WHERE project_id = '${project}'`,
    params: {},
  })
  const limits: unknown[] = []
  const tooLarge = new StoreError('memory', 241, 'too large')
  const index = createFieldIndex({
    store: {
      ...store,
      bytes(query, format, options) {
        limits.push(query.params.limit)
        return limits.length === 3 ? Promise.reject(tooLarge) : store.bytes(query, format, options)
      },
    },
  })
  await index.rollup.derive({
    partitions: [0],
    covered: [1_999_999],
    upTo: [2_000_000],
    minCovered: 1_999_999,
    slots: [],
  })
  expect(limits).toEqual([1_000, 8_000, 8_000, 1_000, 8_000, 8_000])
  const indexed = await store.rows({
    name: 'test',
    sql: `SELECT toUInt32(sum(length(at))) AS n, toUInt32(uniqExactArray(clock)) AS different
      FROM callhouse.payload_chunks WHERE project_id = '${project}'`,
    params: {},
  })
  expect(indexed).toEqual([{ n: 20_000, different: 20_000 }])
})
