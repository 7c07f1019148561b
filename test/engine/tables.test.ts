// Tables through their routes on the embedded store: digests, updates, pages, order, counts and sizes.
// again: kafka
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock } from '../../services/core/clock/clock.ts'
import type { Route } from '../../services/core/http/route.ts'
import type { Freshness } from '../../services/core/log/freshness.ts'
import { tableDigest, valueDigest } from '../../services/events/digest.ts'
import { createTableWriteRoutes } from '../../services/ingest/tables/routes.ts'
import { createTableReadRoutes } from '../../services/query/tables/routes.ts'
import { createTableUpdateRoutes } from '../../services/query/tables/update.ts'
import { createMemoryLog, type MemoryLog } from '../fixtures/memory-log.ts'
import { type Call, createCall } from '../fixtures/route-call.ts'
import { createTestStore } from '../fixtures/store.ts'

let staleness: Record<string, string> = {}
const freshness: Freshness = { wait: async () => staleness }
let call: Call
let log: MemoryLog
let rights: Map<string, Route['right']>
let remove: () => Promise<void>

beforeAll(async () => {
  const opened = await createTestStore()
  remove = opened.remove
  const { store } = opened
  log = createMemoryLog(store)
  const clock = createClock()
  const routes = [
    ...createTableWriteRoutes({ log, clock }),
    ...createTableReadRoutes({ store, freshness }),
    ...createTableUpdateRoutes({ store, log, clock, freshness }),
  ]
  rights = new Map(routes.map(({ path, right }) => [path, right]))
  call = createCall(routes)
})
afterAll(() => remove())

type Created = { digest: string; row_digests: string[] }
type Row = { digest: string; val: unknown; original_index: number }

const create = async (project_id: string, rows: string[]): Promise<Created> => {
  const answer = await call('/table/create', {
    jsonText: `{"table":{"project_id":"${project_id}","rows":[${rows.join(',')}]}}`,
  })
  expect(answer.status).toBe(200)
  return answer.json as Created
}
const join = async (project_id: string, row_digests: string[]): Promise<string> =>
  ((await call('/table/create_from_digests', { json: { project_id, row_digests } })).json as Created).digest
const query = async (project_id: string, digest: string, more: Record<string, unknown> = {}): Promise<Row[]> => {
  const { status, json } = await call('/table/query', { json: { project_id, digest, ...more } })
  expect(status).toBe(200)
  return (json as { rows: Row[] }).rows
}
const indexes = async (...args: Parameters<typeof query>) => (await query(...args)).map((row) => row.original_index)
const update = (project_id: string, base_digest: string, updates: unknown) =>
  call('/table/update', { json: { project_id, base_digest, updates } })
const append = (row: unknown) => ({ append: { row } })
const pop = (index: number) => ({ pop: { index } })
const insert = (index: number, row: unknown) => ({ insert: { index, row } })

const [a, b] = ['{"q":"hi","a":1}', '{"q":"yo","a":2.5}'] as [string, string]
const [digestA, digestB] = [
  'p2kSnMyskAG8BWb3hhNrB3ydLkbSTwxuS9yajCXM1dI',
  'TkVzYqCJ6JQHnwTOEF70rPrbDYRMU1AAqT4UUTAWPJ4',
] as [string, string]

describe('create', () => {
  it.each([
    [[a, b], 'e3ae9ca303053ac2b7ec22773f86811879915efa7943d2756db881e262369fc8'],
    [[b, a], '6f6ca74ee790ae366aeff34a52d247ea32fef5397239caf9d13cd14e72ff1c9c'],
    [[a], '2d1cb1eee42c331768c61c58d5b386e7ad9ab0475e5520afbb7bed5fdf2e5055'],
    [[], 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ])('%s has the published digest', async (rows, digest) => {
    const created = await create('e/vectors', rows)
    expect(created).toEqual({ digest, row_digests: rows.map((row) => (row === a ? digestA : digestB)) })
    expect(await query('e/vectors', digest)).toEqual(
      rows.map((row, i) => ({ digest: row === a ? digestA : digestB, val: JSON.parse(row), original_index: i })),
    )
  })
  it('answers with a position, and the same again for the same rows', async () => {
    const sent = { json: { table: { project_id: 'e/again', rows: [{ x: 1 }, { x: 1 }] } } }
    const [one, two] = [await call('/table/create', sent), await call('/table/create', sent)]
    expect(two.json).toEqual(one.json)
    expect(one.headers['X-Callhouse-Position']).toMatch(/^tables=\d+$/)
    expect((one.json as Created).row_digests).toHaveLength(2)
    expect(await indexes('e/again', (one.json as Created).digest)).toEqual([0, 1])
  })
  it('keeps rows as they were first sent', async () => {
    const texts = [
      '{"b": 1.0, "a":12345678901234567890, "e":1e5}',
      '{\n "pretty" : [1.50 ,\r\n "two  spaces \\n"],"s":"\\ud83d \\u0000 é"}',
      '{"":{"a.b":null,"__proto__":1}}',
    ]
    const { digest, row_digests } = await create('e/fidelity', texts)
    await create('e/fidelity', ['{"e":1e5,"a":12345678901234567890,"b":1.0}'])
    const { bytes } = await call('/table/query', { json: { project_id: 'e/fidelity', digest } })
    expect(bytes.toString()).toBe(
      `{"rows":[{"digest":"${row_digests[0]}","val":${texts[0]},"original_index":0},{"digest":"${row_digests[1]}",` +
        `"val":{"pretty":[1.50,"two  spaces \\n"],"s":"\\ud83d \\u0000 é"},"original_index":1},` +
        `{"digest":"${row_digests[2]}","val":${texts[2]},"original_index":2}]}`,
    )
    expect(row_digests).toEqual(texts.map(valueDigest))
  })
  it('compares the expected digest: 409, nothing stored', async () => {
    const of = (expected_digest: unknown) =>
      call('/table/create', { json: { table: { project_id: 'e/expected', rows: [], expected_digest } } })
    const empty = tableDigest([])
    for (const good of [empty, null]) expect((await of(good)).status).toBe(200)
    const appends = log.appends()
    expect(await of('x')).toMatchObject({ status: 409, json: { reason: expect.any(String) } })
    const joined = { project_id: 'e/expected', row_digests: ['y'], expected_digest: empty }
    expect((await call('/table/create_from_digests', { json: joined })).status).toBe(409)
    expect(log.appends()).toBe(appends)
  })
  it.each([
    ['rows that are no objects', '[[]]', 422],
    ['a row that is text', '["{}"]', 422],
    ['a row that is null', '[null]', 422],
    ['no list', '{}', 422],
    ['a number beyond doubles', '[{"a":1e400}]', 400],
    ['a ref of the internal scheme', '[{"a":["weave-trace-internal:///i/object/x:y"]}]', 400],
    ['an escaped one', '[{"a":"weave-trace-internal\\u003a///i/object/x:y"}]', 400],
  ])('refuses %s', async (_, rows, status) => {
    const appends = log.appends()
    expect((await call('/table/create', { jsonText: `{"table":{"project_id":"e/p","rows":${rows}}}` })).status).toBe(
      status,
    )
    expect(log.appends()).toBe(appends)
  })
})

describe('create from digests', () => {
  it('joins what is stored, and counts rows that are not', async () => {
    const project = 'e/joined'
    const one = await create(project, [a])
    const two = await create(project, [b, a])
    const all = [...one.row_digests, 'unknown', ...two.row_digests]
    const digest = await join(project, all)
    expect(digest).toBe(tableDigest(all))
    expect(await query(project, digest)).toEqual([
      { digest: digestA, val: JSON.parse(a), original_index: 0 },
      { digest: digestB, val: JSON.parse(b), original_index: 2 },
      { digest: digestA, val: JSON.parse(a), original_index: 3 },
    ])
    expect((await call('/table/query_stats', { json: { project_id: project, digest } })).json).toEqual({ count: 4 })
  })
  it('takes no digests at all: the probe of clients', async () => {
    const sent = { project_id: 'e/probe', row_digests: [], expected_digest: null }
    expect(await call('/table/create_from_digests', { json: sent })).toMatchObject({
      status: 200,
      json: { digest: tableDigest([]) },
    })
  })
  it('gives nothing of another project', async () => {
    const { digest, row_digests } = await create('e/mine', ['{"secret":1}'])
    expect(await query('e/other', digest)).toEqual([])
    expect(await query('e/other', await join('e/other', row_digests))).toEqual([])
  })
})

describe('update', () => {
  const project = 'e/update'
  const rows = ['{"n":0}', '{"n":1}', '{"n":2}']
  const values = async (digest: string) => (await query(project, digest)).map((row) => (row.val as { n: number }).n)

  it('is for the keys that make tables', () => {
    const { right } = createTableWriteRoutes({ log, clock: createClock() })[0] as Route
    expect(rights.get('/table/update')).toBe(right)
  })
  it('applies each entry to what the ones before left; the base stays', async () => {
    const base = await create(project, rows)
    const answer = await update(project, base.digest, [
      append({ n: 3 }),
      pop(0),
      insert(0, { n: 9 }),
      insert(4, { n: 8 }),
    ])
    const { digest, updated_row_digests } = answer.json as { digest: string; updated_row_digests: string[] }
    expect(await values(digest)).toEqual([9, 1, 2, 3, 8])
    expect(updated_row_digests).toEqual(['{"n":3}', '{"n":0}', '{"n":9}', '{"n":8}'].map(valueDigest))
    expect(digest).toBe((await create(project, ['{"n":9}', '{"n":1}', '{"n":2}', '{"n":3}', '{"n":8}'])).digest)
    expect(answer.headers['X-Callhouse-Position']).toMatch(/^tables=\d+$/)
    expect(await values(base.digest)).toEqual([0, 1, 2])
  })
  it('keeps number tokens of new rows', async () => {
    const base = await create(project, [])
    const { json } = await call('/table/update', {
      jsonText: `{"project_id":"${project}","base_digest":"${base.digest}","updates":[{"append":{"row":{"n":1.0}}}]}`,
    })
    expect(json).toMatchObject({ updated_row_digests: [valueDigest('{"n":1.0}')] })
  })
  it('without entries is the base', async () => {
    const { digest } = await create(project, rows)
    const appends = log.appends()
    expect((await update(project, digest, [])).json).toEqual({ digest, updated_row_digests: [] })
    expect(log.appends()).toBe(appends)
  })
  it.each([
    ['pop at the end', [pop(3)], 400],
    ['pop below', [pop(-1)], 400],
    ['pop of nothing left', [pop(0), pop(0), pop(0), pop(0)], 400],
    ['insert beyond the end', [insert(4, {})], 400],
    ['a good one and a bad one', [append({}), pop(9)], 400],
    ['two keys', [{ ...append({}), ...pop(0) }], 422],
    ['no key', [{}], 422],
    ['an unknown key', [{ push: { row: {} } }], 422],
    ['an extra key', [{ ...append({}), note: 1 }], 422],
    ['a fraction', [pop(0.5)], 422],
    ['a row that is no object', [append([])], 422],
  ])('refuses %s and stores nothing', async (_, updates, status) => {
    const { digest } = await create(project, rows)
    const appends = log.appends()
    expect((await update(project, digest, updates)).status).toBe(status)
    expect(log.appends()).toBe(appends)
  })
  it('of an unknown base is 404, or 503 while it may still come', async () => {
    expect((await update(project, 'nope', [])).status).toBe(404)
    const { digest } = await create('e/elsewhere', ['{"elsewhere":1}'])
    expect((await update(project, digest, [append({})])).status).toBe(404)
    staleness = { 'X-Callhouse-Stale': '5' }
    expect((await update(project, 'nope', [])).status).toBe(503)
    staleness = {}
  })
  it('changes long tables anywhere', async () => {
    const list = Array.from({ length: 5_000 }, (_, i) => `row-${i}`)
    const base = await join(project, list)
    const changes: unknown[] = []
    for (let i = 0; i < 3_000; i++) {
      const index = (i * 7919) % (list.length + 1)
      if (i % 3 === 0 && index < list.length) {
        list.splice(index, 1)
        changes.push(pop(index))
      } else {
        list.splice(index, 0, valueDigest(`{"i":${i}}`))
        changes.push(insert(index, { i }))
      }
    }
    expect((await update(project, base, changes)).json).toMatchObject({ digest: tableDigest(list) })
  })
})

describe('pages', () => {
  const project = 'e/pages'
  const count = 12_345
  let digest: string
  beforeAll(async () => {
    digest = (
      await create(
        project,
        Array.from({ length: count }, (_, i) => `{"i":${i},"same":${i % 100}}`),
      )
    ).digest
  })
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

  it.each([
    [0, 100],
    [950, 100],
    [999, 1],
    [1_000, 1],
    [9_990, 20],
    [12_300, 100],
    [12_345, 10],
    [4_000_000_000, 10],
    [9_007_199_254_740_991, 10],
  ])('from offset %i hold %i rows', async (offset, limit) => {
    expect(await indexes(project, digest, { offset, limit })).toEqual(
      offset < count ? range(offset, Math.min(count, offset + limit)) : [],
    )
  })
  it('without limit is all of it, in order', async () => {
    const rows = await query(project, digest, { limit: null, offset: null, filter: null, sort_by: null })
    expect(rows.map((row) => row.original_index)).toEqual(range(0, count))
    expect(rows.every((row) => (row.val as { i: number }).i === row.original_index)).toBe(true)
    expect(await indexes(project, digest, { offset: 12_000 })).toEqual(range(12_000, count))
  })
  it('of no rows, or of an unknown table, are empty', async () => {
    expect(await query(project, digest, { limit: 0 })).toEqual([])
    expect(await query(project, 'unknown')).toEqual([])
  })
  it('with a negative limit or offset are refused', async () => {
    for (const more of [{ limit: -1 }, { offset: -1 }])
      expect((await call('/table/query', { json: { project_id: project, digest, ...more } })).status).toBe(400)
  })
  it('of filtered rows keep their places', async () => {
    const wanted = [12_000, 5, 5_000].map((i) => valueDigest(`{"i":${i},"same":${i % 100}}`))
    const filter = { row_digests: [...wanted, 'unknown', ...wanted] }
    expect(await indexes(project, digest, { filter })).toEqual([5, 5_000, 12_000])
    expect(await indexes(project, digest, { filter, offset: 1, limit: 1 })).toEqual([5_000])
    expect(await indexes(project, digest, { filter: { row_digests: [] }, limit: 2 })).toEqual([0, 1])
    expect(await indexes(project, digest, { filter: { row_digests: ['unknown'] } })).toEqual([])
  })
  it('of a repeated row show each place', async () => {
    const twice = await create(project, [a, b, a])
    expect(await indexes(project, twice.digest, { filter: { row_digests: [digestA] } })).toEqual([0, 2])
  })
  it('of sorted rows', async () => {
    const sort_by = [{ field: 'i', direction: 'desc' }]
    expect(await indexes(project, digest, { sort_by, limit: 3, offset: 1 })).toEqual([12_343, 12_342, 12_341])
    const bySame = [{ field: 'same', direction: 'asc' }]
    expect(await indexes(project, digest, { sort_by: bySame, limit: 3 })).toEqual([0, 100, 200])
  })
})

describe('order', () => {
  const sorted = async (rows: string[], field: string, direction: string) => {
    const { digest } = await create('e/order', rows)
    return indexes('e/order', digest, { sort_by: [{ field, direction }] })
  }
  const of = (...values: string[]) => values.map((value, i) => `{"x":${value},"i":${i}}`)

  it.each([
    ['numbers, also in text', of('10', '"9"', '1.5', '"-1e2"'), [3, 2, 1, 0], [0, 1, 2, 3]],
    ['present values before null', of('null', '1', '{}'), [1, 2, 0], [1, 2, 0]],
    ['numbers before other values', of('"b"', '2', '"a"', '1'), [3, 1, 2, 0], [1, 3, 0, 2]],
    ['booleans as text', of('true', '"tz"', 'false'), [2, 0, 1], [1, 0, 2]],
    ['containers as compact JSON', of('[ 2 ]', '[ 1, 1 ]', '{"a": 1}'), [1, 0, 2], [2, 0, 1]],
    ['equal numbers by their text', of('1.0', '1', '"01"'), [2, 1, 0], [0, 1, 2]],
    ['equal values by their place', of('1', '1', '1'), [0, 1, 2], [0, 1, 2]],
    ['text by code point', of('"\\ud83d\\ude00"', '"\\uffff"', '"Z"', '"a"'), [2, 3, 1, 0], [0, 1, 3, 2]],
    ['empty text before other text', of('"a"', '""'), [1, 0], [0, 1]],
  ])('%s', async (_, rows, ascending, descending) => {
    expect(await sorted(rows, 'x', 'asc')).toEqual(ascending)
    expect(await sorted(rows, 'x', 'desc')).toEqual(descending)
  })
  it('follows paths into objects and arrays', async () => {
    const rows = of('{"y":[{"z":3}]}', '{"y":[{"z":1},{"z":0}]}', '{"y":{"0":{"z":2}}}', '{"y":7}')
    expect(await sorted(rows, 'x.y.0.z', 'asc')).toEqual([1, 2, 0, 3])
  })
  it('takes several terms', async () => {
    const { digest } = await create('e/order', ['{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1,"b":2}'])
    const sort_by = [
      { field: 'a', direction: 'desc' },
      { field: 'b', direction: 'desc' },
    ]
    expect(await indexes('e/order', digest, { sort_by })).toEqual([1, 2, 0])
  })
  it.each([
    ['', 'asc', 400],
    ['.a', 'asc', 400],
    ['a.', 'asc', 400],
    ['a..b', 'asc', 400],
    ['a. .b', 'asc', 400],
    ['a', 'up', 422],
  ])('refuses %j %s', async (field, direction, status) => {
    const sent = { project_id: 'e/order', digest: 'x', sort_by: [{ field, direction }] }
    expect((await call('/table/query', { json: sent })).status).toBe(status)
  })
})

describe('stats', () => {
  const project = 'e/stats'
  const batch = async (body: Record<string, unknown>) =>
    (await call('/table/query_stats_batch', { json: { project_id: project, ...body } })).json
  it('count and size each known table once, in the order asked', async () => {
    const row17 = '{"b":1.0,"a":"é","n":1e16}'
    const one = await create(project, [row17, row17])
    const none = await create(project, [])
    const joined = await join(project, [...one.row_digests, 'unknown'])
    const digests = [joined, 'nope', none.digest, one.digest, joined]
    expect(await batch({ digests, include_storage_size: true })).toEqual({
      tables: [
        { digest: joined, count: 3, storage_size_bytes: 74 },
        { digest: none.digest, count: 0, storage_size_bytes: 0 },
        { digest: one.digest, count: 2, storage_size_bytes: 74 },
      ],
    })
    expect(await batch({ digests: [one.digest] })).toEqual({
      tables: [{ digest: one.digest, count: 2, storage_size_bytes: null }],
    })
  })
  it('of nothing is empty', async () => {
    for (const digests of [undefined, null, [], ['nope']]) expect(await batch({ digests })).toEqual({ tables: [] })
    const sent = { project_id: project, digest: 'nope' }
    expect((await call('/table/query_stats', { json: sent })).json).toEqual({ count: 0 })
  })
})
