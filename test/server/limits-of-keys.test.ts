// Limits of keys do not multiply: whatever a key with limits makes shares them.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
/** Nothing is given back while the test runs. */
const nowMs = Date.now()
beforeAll(async () => {
  server = await startLiveServer([], {}, () => nowMs)
})
afterAll(() => server.remove())

const ask = (path: string, method: string, body: unknown) =>
  fetch(server.now().url + path, { method, headers: { authorization: basicAuth() }, body: JSON.stringify(body) })

it('limits of a key are those of all keys that it makes, by whatever way and through however many', async () => {
  type Made = { id: string; key: string }
  const made = async (path: string, body: object, key?: string): Promise<Made> => {
    const headers = { authorization: key === undefined ? basicAuth() : `Bearer ${key}` }
    const answer = await fetch(server.now().url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return answer.json() as Promise<Made>
  }
  const actions = ['read', 'ingest', 'admin']
  const scopes = ['limited/family']
  await made('/users', { id: 'family', kind: 'service' })
  await ask('/grants', 'PUT', { user_id: 'family', scope: 'limited/family', role: 'admin' })
  const limits = { requests_per_minute: 10, calls_per_minute: 4 }
  const first = await made('/keys', { user_id: 'family', name: 'first', actions, scopes, limits })
  const child = await made('/keys', { user_id: 'family', name: 'child', actions, scopes }, first.key)
  // Limits of its own do not take it out of those that it shares.
  const own = { calls_per_minute: 3 }
  const grandchild = await made(
    '/keys',
    { user_id: 'family', name: 'grandchild', actions, scopes, limits: own },
    child.key,
  )
  const rotated = await made(`/keys/${grandchild.id}/rotate`, { overlap_hours: 1 }, first.key)
  const successor = await made(`/keys/${first.id}/rotate`, { overlap_hours: 1 })
  const family = [first, child, grandchild, rotated, successor]
  family.push(await made('/me/keys', { name: 'own', actions: ['read', 'ingest'], scopes }, successor.key))
  const send = (key: string, path: string, body: object) =>
    fetch(server.now().url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    })
  const call = () => {
    const id = uuidv7()
    const start = { project_id: 'limited/family', id, trace_id: id, op_name: 'op', attributes: {}, inputs: {} }
    return { start: { ...start, started_at: '2026-01-05T12:00:00Z' } }
  }
  const calls: number[] = []
  for (const { key } of family) calls.push((await send(key, '/call/start', call())).status)
  expect(calls).toEqual([200, 200, 200, 200, 429, 429])
  const reads: number[] = []
  for (let n = 0; n < 10; n++)
    for (const { key } of family)
      reads.push((await send(key, '/calls/query_stats', { project_id: 'limited/family' })).status)
  // The six above were requests too, and so was the one for a key of one's own.
  expect(reads.filter((status) => status === 200)).toHaveLength(3)
  // Limits that an administrator gives the first one later are shared by all of them.
  await ask(`/keys/${successor.id}/limits`, 'PUT', {})
  await ask(`/keys/${first.id}/limits`, 'PUT', {})
  for (const { id } of [child, grandchild, rotated]) await ask(`/keys/${id}/limits`, 'PUT', {})
  const freed = [child, grandchild, rotated].map(({ key }) =>
    send(key, '/calls/query_stats', { project_id: 'limited/family' }),
  )
  expect((await Promise.all(freed)).map(({ status }) => status)).toEqual([200, 200, 200])
})
