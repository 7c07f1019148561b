// Holds over HTTP: what is named, who may release, and that they outlive a restart.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basicAuth } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project = 'held/app'
let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

async function ask(method: string, path: string, body?: object, key = 'test-key') {
  const answer = await fetch(`${server.now().url}/v2/${path}`, {
    method,
    headers: { authorization: basicAuth(key), 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, text: await answer.text() }
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { id: string })
const listed = async (of: string) => linesOf((await ask('GET', `${of}/holds`)).text)

describe('holds', () => {
  it('name calls, traces, threads or all of a project, and hold until they are released', async () => {
    const made = await ask('POST', `${project}/holds`, { trace_ids: ['t1', 't2'], reason: 'case 7' })
    expect(made.status).toBe(200)
    const { id } = JSON.parse(made.text) as { id: string }
    const line = [
      expect.objectContaining({ id, scope: project, trace_ids: ['t1', 't2'], reason: 'case 7', created_by: 'tester' }),
    ]
    expect(await listed(project)).toEqual(line)
    await server.restart()
    expect(await listed(project)).toEqual(line)
    expect(await listed('held/other')).toEqual([])
    expect((await ask('DELETE', `held/other/holds/${id}`)).status).toBe(404)
    expect((await ask('DELETE', `${project}/holds/${id}`)).status).toBe(200)
    expect((await ask('DELETE', `${project}/holds/${id}`)).status).toBe(404)
    expect(await listed(project)).toEqual([])
  })

  it('keep the whole project once they are on over 10,000 calls, as its retention tells', async () => {
    const wide = 'held/wide'
    const trace = 'b'.repeat(32)
    const started_at = '2026-03-10T12:00:00Z'
    const batch = Array.from({ length: 9_000 }, (_, n) => ({
      project_id: wide,
      id: String(n).padStart(16, '0'),
      trace_id: trace,
      op_name: 'op',
      thread_id: 'thread',
      started_at,
      ended_at: started_at,
      attributes: {},
      inputs: {},
      output: null,
      summary: {},
    }))
    expect((await ask('POST', `${wide}/calls/complete`, { batch })).status).toBe(200)
    const { count } = await server.send<{ count: number }>('/calls/query_stats', { project_id: wide })
    expect(count).toBe(9_000)
    const days = async () => JSON.parse((await ask('GET', `${wide}/retention`)).text) as Record<string, unknown>
    const hold = (of: object) => ask('POST', `${wide}/holds`, { ...of, reason: 'case 8' })
    const some = { held: true, removed_within_days: 1, bytes_within_days: expect.any(Number) }
    await hold({ trace_ids: [trace] })
    await hold({ thread_ids: ['thread'] })
    await hold({ call_ids: Array.from({ length: 1_000 }, (_, n) => `other ${n}`) })
    expect(await days()).toMatchObject(some)
    // A call that is held twice counts once.
    await hold({ call_ids: ['other 1', batch[0]?.id] })
    expect(await days()).toMatchObject(some)
    await hold({ call_ids: ['other 1000'] })
    expect(await days()).toMatchObject({ held: true, removed_within_days: null, bytes_within_days: null })
  })

  it('are refused without exactly one thing to hold, without a reason, and with an end that has passed', async () => {
    for (const body of [
      { reason: 'x' },
      { reason: 'x', all: true, call_ids: ['a'] },
      { all: true },
      { reason: 'x', call_ids: [] },
      { reason: 'x', all: true, until: '2020-01-01T00:00:00Z' },
    ])
      expect((await ask('POST', `${project}/holds`, body)).status, JSON.stringify(body)).toBe(422)
  })
})
