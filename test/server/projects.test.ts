// A project as a whole: its stored bytes are what lists and reads tell one by one; what is not served says so.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basicAuth, post } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

type Stats = Record<'trace' | 'objects' | 'tables' | 'files', number>
const stats = async (project_id: string, more: object = {}): Promise<Stats> => {
  const sizes = await server.send<Record<string, number>>('/project/stats', { project_id, ...more })
  return Object.fromEntries(
    Object.entries(sizes).map(([name, bytes]) => [name.replace('_storage_size_bytes', ''), bytes]),
  ) as Stats
}
const nothing = { trace: 0, objects: 0, tables: 0, files: 0 }

describe('stored bytes of a project', () => {
  const id = (n: number): string => `0199a0c8-0000-7000-8000-${String(n).padStart(12, '0')}`
  const start = (project_id: string, n: number, more: object = {}) => ({
    project_id,
    id: id(n),
    trace_id: id(0),
    op_name: 'x',
    started_at: '2025-01-01T00:00:00Z',
    attributes: { a: 1 },
    inputs: { text: 'é'.repeat(n) },
    ...more,
  })
  const end = (project_id: string, n: number) => ({
    project_id,
    id: id(n),
    ended_at: '2025-01-01T00:00:01Z',
    output: 'done',
    summary: {},
  })
  const sizesOfCalls = async (project_id: string): Promise<number> => {
    const calls = await server.list<{ storage_size_bytes: number }>('/calls/stream_query', {
      project_id,
      include_storage_size: true,
    })
    return calls.reduce((sum, call) => sum + call.storage_size_bytes, 0)
  }

  it('are 0 of a project that holds nothing', async () => {
    expect(await stats('ent/none')).toEqual(nothing)
  })

  it('of calls: each once, as it is now, without deleted ones', async () => {
    const project_id = 'ent/calls'
    const batch = [1, 2, 3].map((n) => ({ mode: 'start', req: { start: start(project_id, n) } }))
    await server.send('/call/upsert_batch', { batch })
    await server.send('/call/upsert_batch', { batch })
    const begun = await stats(project_id)
    expect(begun).toEqual({ ...nothing, trace: await sizesOfCalls(project_id) })
    await server.send('/call/end', { end: end(project_id, 1) })
    await server.send('/call/start', { start: start(project_id, 2, { inputs: { text: 'a longer one'.repeat(9) } }) })
    const ended = await stats(project_id)
    expect(ended).toEqual({ ...nothing, trace: await sizesOfCalls(project_id) })
    expect(ended.trace).toBeGreaterThan(begun.trace)
    await server.send('/calls/delete', { project_id, call_ids: [id(3)] })
    const left = await stats(project_id)
    expect(left).toEqual({ ...nothing, trace: await sizesOfCalls(project_id) })
    expect(left.trace).toBeLessThan(ended.trace)
    expect(await stats(project_id, { include_trace_storage_size: false })).toEqual(nothing)
  })

  it('of objects: their live versions', async () => {
    const project_id = 'ent/objects'
    const create = (object_id: string, val: unknown) =>
      server.send<{ digest: string }>('/obj/create', { obj: { project_id, object_id, val } })
    const first = await create('a', { a: 1 })
    await create('a', { a: 1 })
    await create('a', { a: 'other' })
    await create('b', { a: 1 })
    const listed = async (): Promise<number[]> => {
      const asked = { project_id, include_storage_size: true }
      const { objs } = await server.send<{ objs: { size_bytes: number }[] }>('/objs/query', asked)
      return objs.map((version) => version.size_bytes).sort()
    }
    const [other = 0, bytes = 0] = await listed()
    expect([other, bytes]).toEqual(['{"a": "other"}'.length, '{"a": 1}'.length])
    expect(await stats(project_id)).toEqual({ ...nothing, objects: 2 * bytes + other })
    await server.send('/obj/delete', { project_id, object_id: 'a', digests: [first.digest] })
    expect(await stats(project_id)).toEqual({ ...nothing, objects: bytes + other })
    expect(await listed()).toEqual([other, bytes])
    await create('a', { a: 1 })
    expect(await stats(project_id)).toEqual({ ...nothing, objects: 2 * bytes + other })
  })

  it('of tables and files: each content once', async () => {
    const project_id = 'ent/tables'
    const create = (rows: unknown[]) =>
      server.send<{ digest: string }>('/table/create', { table: { project_id, rows } })
    await create([{ a: 1 }, { a: 2 }, { a: 1 }])
    await create([{ a: 2 }, { text: 'é' }])
    for (const content of ['file', 'file', 'another file']) {
      const body = new FormData()
      body.set('project_id', project_id)
      body.set('file', new Blob([content]), 'x')
      const headers = { authorization: 'Bearer test-key' }
      await fetch(`${server.now().url}/file/create`, { method: 'POST', headers, body })
    }
    const { digest } = await create([{ a: 1 }, { a: 2 }, { text: 'é' }])
    const asked = { project_id, digests: [digest], include_storage_size: true }
    const found = await server.send<{ tables: { storage_size_bytes: number }[] }>('/table/query_stats_batch', asked)
    const tables = found.tables[0]?.storage_size_bytes
    expect(tables).toBeGreaterThan(2 * '{"a": 1}'.length)
    const files = 'file'.length + 'another file'.length
    expect(await stats(project_id)).toEqual({ ...nothing, tables, files })
    expect(await stats(project_id, { include_table_storage_size: false, include_file_storage_size: null })).toEqual({
      ...nothing,
      files,
    })
    const { total_size_bytes } = await server.send<{ total_size_bytes: number }>('/files/query_stats', { project_id })
    expect(total_size_bytes).toBe(files)
  })
})

describe('routes that are not served', () => {
  const project_id = 'ent/none'
  it.each([
    ['/files/resolve_url', { project_id, uris: ['x'] }],
    ['/link_to_registry', { ref: 'r', target: { portfolio_name: 'p', entity_name: 'e', project_name: 'p' } }],
    ['/evaluations/rescore', { project_id, source_evaluation_run_id: 'x', scorer_refs: ['s'] }],
    ['/calls/score', { project_id, call_ids: ['x'], scorer_refs: ['s'] }],
    ['/v2/ent/none/eval_results/query', { evaluation_call_ids: ['x'] }],
  ])('%s says why, and that asking again is of no use', async (path, body) => {
    const answer = await fetch(`${server.now().url}${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer test-key' },
      body: JSON.stringify(body),
    })
    expect([answer.status, await answer.json()]).toEqual([501, { reason: expect.any(String) }])
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect((await post(server.now().url, path, [])).status).toBe(422)
  })
})

it('a project that was removed is closed to reads and writes, short and long ones, and others are not', async () => {
  const remove = async (project_id: string, confirm: string) => {
    const sent = { method: 'DELETE', headers: { authorization: basicAuth() }, body: JSON.stringify({ confirm }) }
    return (await fetch(`${server.now().url}/v2/${project_id}`, sent)).status
  }
  const [project_id, other] = ['ent/closed', 'ent/open']
  const call = (of: string, text: string) => {
    const id = `0199a0c8-0000-7000-8000-${of === other ? '1' : '2'}00000000000`
    const start = { project_id: of, id, trace_id: id, op_name: 'x', started_at: '2025-01-01T00:00:00Z' }
    return { start: { ...start, attributes: {}, inputs: { text } } }
  }
  for (const of of [project_id, other]) await server.send('/call/start', call(of, 'short'))
  expect([await remove(project_id, other), await remove(project_id, project_id)]).toEqual([422, 202])
  const call_ids = Array.from({ length: 990 }, (_, n) => `${n}-`.padEnd(110, 'x'))
  const statuses = async (of: string) =>
    Promise.all(
      [
        ['/calls/query_stats', { project_id: of }],
        ['/call/start', call(of, 'short')],
        // Handled by a thread.
        ['/calls/delete', { project_id: of, call_ids }],
      ].map(async ([path, body]) => (await post(server.now().url, path as string, body)).status),
    )
  expect(await statuses(project_id)).toEqual([410, 410, 410])
  expect(await statuses(other)).toEqual([200, 200, 200])
  await server.restart()
  expect(await statuses(project_id)).toEqual([410, 410, 410])
})
