// Lists whose answer is larger than one result of the engine may be: they come whole, in their order.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock } from '../../services/core/clock.ts'
import { createNameBinding } from '../../services/core/name-binding.ts'
import { createObjectWriteRoutes } from '../../services/ingest/objects/routes.ts'
import { createTableWriteRoutes } from '../../services/ingest/tables/routes.ts'
import { createRefReadRoutes } from '../../services/query/refs-route.ts'
import { createTableReadRoutes } from '../../services/query/tables/routes.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'
import { type Call, createCall } from '../fixtures/route-call.ts'
import { createTestStore } from '../fixtures/store.ts'

/** Above it a portion of stored values, with what the engine needs beside it, does not fit either. */
const maxResultBytes = 12 * 2 ** 20

const binding = createNameBinding(async () => [])
let call: Call
let remove: () => Promise<void>

beforeAll(async () => {
  const opened = await createTestStore({ maxResultBytes, queryMemoryBytes: 48 * 2 ** 20 })
  remove = opened.remove
  const { store } = opened
  const log = createMemoryLog(store)
  const clock = createClock()
  const freshness = { wait: async () => ({}) }
  call = createCall([
    ...createTableWriteRoutes({ log, clock }),
    ...createTableReadRoutes({ store, freshness }),
    ...createObjectWriteRoutes({ log, clock, binding, config: { allowPrivateNetworks: false } }),
    ...createRefReadRoutes({ store, freshness }),
  ])
})
afterAll(() => remove())

const project_id = 'e/large'
const ask = async <T>(path: string, json: Record<string, unknown>): Promise<T> => {
  const answer = await call(path, { json: { project_id, ...json } })
  expect([path, answer.status]).toEqual([path, 200])
  return answer.json as T
}
/** Texts of a size that differ from one another. */
const texts = (count: number, sizeBytes: number): string[] =>
  Array.from({ length: count }, (_, i) => `${i} ${'x'.repeat(sizeBytes)}`)

describe('tables', () => {
  type Rows = { rows: { digest: string; original_index: number }[] }
  const create = async (sizeBytes: number): Promise<string[]> => {
    const rows = texts(100, sizeBytes).map((text) => ({ text }))
    const answer = await call('/table/create', { json: { table: { project_id, rows } } })
    return (answer.json as { row_digests: string[] }).row_digests
  }
  const joined = async (row_digests: string[]): Promise<string> =>
    (await ask<{ digest: string }>('/table/create_from_digests', { row_digests })).digest

  it('with large rows are read to their end', async () => {
    const rows = await create(50_000)
    const list = Array.from({ length: 1_400 }, (_, i) => rows[(i * 7) % 100] as string)
    const found = await ask<Rows>('/table/query', { digest: await joined(list) })
    expect(found.rows.map((row) => row.digest)).toEqual(list)
    expect(found.rows.at(-1)?.original_index).toBe(1_399)
  })
  it('with large rows that all differ are read to their end', async () => {
    const parts: string[] = []
    for (let i = 0; i < 3; i++) parts.push(...(await create(150_000 + i)))
    const found = await ask<Rows>('/table/query', { digest: await joined(parts), limit: 1_000 })
    expect(found.rows.map((row) => row.digest)).toEqual(parts)
  })
  it('whose rows become a thousand times larger are read to their end', async () => {
    const [small, large] = [await create(1), await create(200_000)]
    const list = Array.from({ length: 1_300 }, (_, i) => (i < 1_100 ? small : large)[i % 100] as string)
    const found = await ask<Rows>('/table/query', { digest: await joined(list) })
    expect(found.rows.map((row) => row.digest)).toEqual(list)
  })
})

describe('refs', () => {
  const object = async (val: unknown): Promise<string> => {
    const answer = await call('/obj/create', { json: { obj: { project_id, object_id: 'o', val } } })
    return `weave:///${project_id}/object/o:${(answer.json as { digest: string }).digest}`
  }
  const read = (refs: string[]) => call('/refs/read_batch', { json: { refs } })

  it('to one large object, many times, are answered in pieces', async () => {
    const text = 'x'.repeat(2 ** 20)
    const ref = await object({ text })
    const { status, pieces, json } = await read(Array.from({ length: 30 }, () => ref))
    expect(status).toBe(200)
    expect(pieces).toBeGreaterThan(3)
    expect((json as { vals: unknown[] }).vals).toEqual(Array.from({ length: 30 }, () => ({ text })))
  })
  it('to many large objects, paths within them and behind them come in their order', async () => {
    const contents = texts(30, 2 ** 19)
    const large: string[] = []
    for (const text of contents) large.push(await object({ text, n: [large.length] }))
    const table = await call('/table/create', { json: { table: { project_id, rows: [{ text: contents[0] }] } } })
    const { digest, row_digests } = table.json as { digest: string; row_digests: string[] }
    const outer = await object({ to: large, rows: `weave:///${project_id}/table/${digest}` })
    const behind = large.map((_, i) => `${outer}/attr/to/index/${i}/attr`)
    const answer = await read([
      ...large,
      ...behind.map((ref) => `${ref}/text`),
      ...behind.map((ref) => `${ref}/n/index/0`),
      `${outer}/attr/rows/id/${row_digests[0]}/key/text`,
      `${outer}/attr/to/index/0/attr/none`,
    ])
    expect(answer.status).toBe(200)
    expect((answer.json as { vals: unknown[] }).vals).toEqual([
      ...contents.map((text, i) => ({ text, n: [i] })),
      ...contents,
      ...contents.map((_, i) => i),
      contents[0],
      null,
    ])
    // Nothing is answered when something is missing, however late it shows.
    const missing = digest.slice(0, 43)
    const late = await read([...large, `${outer}/attr/rows/id/${missing}`])
    expect(late).toMatchObject({ status: 404, json: { missing_object_digests: [missing] } })
  })
})
