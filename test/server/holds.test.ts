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
