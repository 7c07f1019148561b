// Feedback about held calls is neither purged nor replaced, and only those who may see holds are told of which one.
import { beforeAll, describe, expect, it } from 'vitest'
import { basicAuth, post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'held/feedback'
const ids = [1, 2].map((n) => String(n).padStart(16, 'a')) as [string, string]
const traceOf = (id: string) => id.repeat(2)
const refOf = (id: string) => `weave:///${project_id}/call/${id}`
let server: RunningServer
let deleter = ''
beforeAll(async () => {
  server = await sharedServer()
  const batch = ids.map((id) => ({
    project_id,
    id,
    trace_id: traceOf(id),
    thread_id: `thread of ${id}`,
    turn_id: id,
    op_name: 'op',
    started_at: '2026-03-10T12:00:00Z',
    ended_at: '2026-03-10T12:00:01Z',
    attributes: {},
    inputs: {},
    output: 1,
    summary: {},
  }))
  await server.send(`/v2/${project_id}/calls/complete`, { batch })
  await server.send('/users', { id: 'robot of held', kind: 'service', entity: 'held' })
  const grant = { user_id: 'robot of held', scope: project_id, role: 'writer' }
  const headers = { authorization: basicAuth(), 'content-type': 'application/json' }
  await fetch(`${server.now().url}/grants`, { method: 'PUT', headers, body: JSON.stringify(grant) })
  const made = { user_id: 'robot of held', actions: ['read', 'write', 'delete'], scopes: [project_id] }
  deleter = (await server.send<{ key: string }>('/keys', { name: 'robot of held', ...made })).key
})

const give = async (weave_ref: string) => {
  const item = { project_id, weave_ref, feedback_type: 'note', payload: { note: 'x' } }
  return (await server.send<{ id: string }>('/feedback/create', item)).id
}
const shown = async () => {
  const { result } = await server.send<{ result: { id: string }[] }>('/feedback/query', { project_id, fields: ['id'] })
  return result.map(({ id }) => id).sort()
}
const hold = async (of: object): Promise<{ id: string; release(): Promise<unknown> }> => {
  const { id } = await server.send<{ id: string }>(`/v2/${project_id}/holds`, { ...of, reason: 'case 7' })
  const init = { method: 'DELETE', headers: { authorization: basicAuth() } }
  return { id, release: () => fetch(`${server.now().url}/v2/${project_id}/holds/${id}`, init) }
}
const purge = (named: readonly string[], headers = {}) => {
  const query = { $expr: { $in: [{ $getField: 'id' }, named.map(($literal) => ({ $literal }))] } }
  return post(server.now().url, '/feedback/purge', { project_id, query }, headers)
}
const kept = (id: string) => ({
  status: 409,
  text: JSON.stringify({
    reason: `Some of this feedback is under hold ${id} (case 7): it cannot be deleted until the hold ends`,
  }),
})

describe('feedback about something that is held', () => {
  it.each([
    ['a call', { call_ids: [ids[0]] }],
    ['a trace', { trace_ids: [traceOf(ids[0])] }],
    ['a thread', { thread_ids: ['none', `thread of ${ids[0]}`] }],
  ])('stays with %s, and goes once the hold is released; what is not held goes', async (_, of) => {
    const items = [await give(refOf(ids[0])), await give(refOf(ids[1]))] as [string, string]
    const held = await hold(of)
    expect(await purge(items)).toMatchObject(kept(held.id))
    // Nothing of what was named has gone.
    expect(await shown()).toEqual([...items].sort())
    const other = { project_id, weave_ref: refOf(ids[1]), feedback_type: 'note', payload: {}, feedback_id: items[0] }
    expect(await post(server.now().url, '/feedback/replace', other)).toMatchObject(kept(held.id))
    expect((await purge([items[1]])).status).toBe(200)
    expect(await shown()).toEqual([items[0]])
    await held.release()
    expect((await purge([items[0]])).status).toBe(200)
    expect(await shown()).toEqual([])
  })

  it('stays with all of a project, whatever it is about, and whichever thread reads the request', async () => {
    const item = await give(`weave:///${project_id}/object/thing:v1`)
    const held = await hold({ all: true })
    // It is applied: the purge below does not wait for that.
    expect(await shown()).toContain(item)
    const many = Array.from({ length: 3_000 }, (_, n) => String(n).padStart(36, '0'))
    expect(await purge([...many, item], { 'x-callhouse-freshness': 'any' })).toMatchObject(kept(held.id))
    expect((await purge(many)).status).toBe(200)
    await held.release()
    expect((await purge([...many, item])).status).toBe(200)
  })

  it('tells whoever may not see holds that there is one, and no more', async () => {
    const item = await give(refOf(ids[0]))
    const held = await hold({ call_ids: [ids[0]] })
    expect(await purge([item], { authorization: basicAuth(deleter) })).toMatchObject({
      status: 409,
      text: JSON.stringify({
        reason: 'Some of this feedback is under a hold: it cannot be deleted until the hold ends',
      }),
    })
    await held.release()
  })

  it('stays with a call that is deleted and held', async () => {
    const item = await give(refOf(ids[1]))
    await server.send('/calls/delete', { project_id, call_ids: [ids[1]] })
    const held = await hold({ thread_ids: [`thread of ${ids[1]}`] })
    expect((await purge([item])).status).toBe(409)
    await held.release()
  })
})
