// kill -9 while copies of calls that can be read already lie in memory only: afterwards every way leads to every call.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { post, postLines, startChildServer } from '../fixtures/child-server.ts'

const project_id = 'crash/held'
let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'callhouse-held-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it('finds them by id, trace, parent and thread, and counts them', async () => {
  const sent: { id: string; trace: string; parent: string; thread: string }[] = []
  for (let round = 0; round < 4; round++) {
    const server = await startChildServer(dir)
    for (let request = 0; request < 3; request++) {
      const parent = uuidv7()
      const started_at = new Date().toISOString()
      const calls = Array.from({ length: 20 }, () => ({ id: uuidv7(), trace: uuidv7(), parent, thread: uuidv7() }))
      const batch = calls.map(({ id, trace, thread }) => ({
        ...{ project_id, id, trace_id: trace, parent_id: parent, thread_id: thread, turn_id: id, op_name: 'op' },
        ...{ started_at, ended_at: started_at, attributes: {}, inputs: {}, output: null, summary: {} },
      }))
      expect((await post(server.url, '/v2/crash/held/calls/complete', { batch })).status).toBe(200)
      sent.push(...calls)
      // Lists read the calls themselves: they see them before the copies are in parts.
      const rows = await postLines<{ id: string }>(server.url, '/calls/stream_query', { project_id, columns: ['id'] })
      expect(rows.length).toBe(sent.length)
    }
    await server.kill()
  }
  const server = await startChildServer(dir)
  const idsOf = async (filter: Record<string, unknown>): Promise<Set<string>> => {
    const body = { project_id, filter, columns: ['id'] }
    const rows = await postLines<{ id: string }>(server.url, '/calls/stream_query', body)
    return new Set(rows.map(({ id }) => id))
  }
  const all = new Set(sent.map(({ id }) => id))
  expect(await idsOf({ call_ids: [...all] })).toEqual(all)
  expect(await idsOf({ trace_ids: sent.map(({ trace }) => trace) })).toEqual(all)
  expect(await idsOf({ parent_ids: [...new Set(sent.map(({ parent }) => parent))] })).toEqual(all)
  const threads = await postLines<{ thread_id: string }>(server.url, '/threads/stream_query', { project_id })
  expect(new Set(threads.map(({ thread_id }) => thread_id))).toEqual(new Set(sent.map(({ thread }) => thread)))
  const { text } = await post(server.url, '/calls/query_stats', { project_id })
  expect(JSON.parse(text)).toMatchObject({ count: all.size })
  expect(await server.stop()).toBe(0)
})
