// tier: deep slow
// Removing a project: closed at once for everybody, and nothing of it stays, whatever comes late; others stay as they are.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth, post, postLines } from '../fixtures/child-server.ts'
import { derive, placesOf, readErasure, removed, sendCall, startErasingServer } from '../fixtures/erasing-server.ts'
import type { LiveServer } from '../fixtures/live-server.ts'

const project = 'acme/gone'
const kept = 'acme/kept'
let server: LiveServer
beforeAll(async () => {
  server = await startErasingServer()
})
afterAll(() => server.remove())

async function ask(method: string, path: string, body?: unknown, key?: string) {
  const authorization = key === undefined ? basicAuth() : `Bearer ${key}`
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(server.now().url + path, { method, headers: { authorization }, ...sent })
  const text = await answer.text()
  return { status: answer.status, text, body: () => JSON.parse(text) as Record<string, string> }
}
const remove = (confirm: string, key?: string) => ask('DELETE', `/v2/${project}`, { confirm }, key)

/** Everything that a project may have, with a word in all of it. */
async function fill(project_id: string, word: string, n: number): Promise<void> {
  await sendCall(server, project_id, n, word)
  await sendCall(server, project_id, n + 1, word, n)
  await server.send('/obj/create', { obj: { project_id, object_id: `object-${word}`, val: { text: `value ${word}` } } })
  await server.send('/table/create', { table: { project_id, rows: [{ text: `row ${word}` }] } })
  await server.send('/annotation_queues', { project_id, name: `queue ${word}`, scorer_refs: [] })
  const price = { prompt_token_cost: 1, completion_token_cost: 1 }
  await server.send('/cost/create', { project_id, costs: { model: price } })
  const file = new FormData()
  file.set('project_id', project_id)
  file.set('file', new Blob([`file ${word}`]), `name-${word}`)
  const headers = { authorization: basicAuth() }
  const { status } = await fetch(`${server.now().url}/files/create`, { method: 'POST', headers, body: file })
  expect(status).toBe(200)
}

it('a project is closed for good and nothing of it is stored any more, but of another one everything', async () => {
  await fill(project, 'canary', 1)
  await fill(kept, 'robin', 10)
  // The store refuses it: it becomes a dead letter.
  const refused = `{"project_id":"${project}","object_id":"x","clock":"canary"}\n`
  const record = { rows: Buffer.from(refused), rowCount: 1, patchCount: 0, clock: 1n, key: project }
  await server.now().log.append('objects', [record])
  await derive(server)
  const letters = () => readFileSync(join(server.dataDir, 'deadletters.jsonl'), 'utf8')
  expect(letters()).toContain('canary')
  await ask('POST', '/users', { id: 'ann', kind: 'person' })
  for (const [scope, role] of [
    [project, 'owner'],
    [kept, 'owner'],
  ])
    await ask('PUT', '/grants', { user_id: 'ann', scope, role })
  const keyOf = async (actions: string[], scopes: string[]) =>
    (await ask('POST', '/keys', { user_id: 'ann', name: 'k', actions, scopes })).body().key as string
  const both = await keyOf(['read'], [project, kept])
  const admin = await keyOf(['admin'], [project, kept])
  await ask('PUT', `/v2/${project}/settings/limits`, { calls_per_minute: 1_000 })
  const { id } = (await ask('POST', `/v2/${project}/holds`, { all: true, reason: 'court' })).body()

  expect((await remove(kept)).status).toBe(422)
  expect((await remove(project, admin)).status).toBe(403)
  expect((await remove(project)).status).toBe(409)
  await ask('DELETE', `/v2/${project}/holds/${id}`)
  const answer = await remove(project)
  expect([answer.status, answer.body()]).toEqual([
    202,
    {
      project_id: project,
      ...Object.fromEntries(['removed_at', 'erasure_id', 'deadline'].map((x) => [x, expect.any(String)])),
    },
  ])

  // Closed for reads, writes and settings, by whichever key; a ref into it leads nowhere.
  const start = {
    project_id: project,
    trace_id: 't',
    op_name: 'late',
    started_at: '2026-01-05T12:00:00Z',
    attributes: {},
    inputs: {},
  }
  for (const [method, path, body] of [
    ['POST', '/calls/stream_query', { project_id: project }],
    ['POST', '/calls/query_stats', { project_id: project }],
    ['POST', '/objs/query', { project_id: project }],
    ['POST', '/call/start', { start }],
    ['GET', `/v2/${project}/settings`, undefined],
  ] as const) {
    expect([path, (await ask(method, path, body)).status]).toEqual([path, 410])
  }
  expect((await ask('POST', '/calls/query_stats', { project_id: project }, both)).status).toBe(410)
  expect((await ask('POST', '/calls/query_stats', { project_id: kept }, both)).status).toBe(200)
  expect((await post(server.now().url, '/projects/query', {})).text).not.toContain(project)

  await removed(server, project, answer.body().erasure_id as string)
  // Objects, tables and files stay in the kept log as long as all of it does.
  const left = await placesOf(server, 'canary')
  expect(left.filter((place) => !/^log\/(objects|tables|files|costs|annotation_queues|logs)$/.test(place))).toEqual([])
  expect(letters()).not.toContain('canary')
  expect(await placesOf(server, 'robin')).toEqual(
    expect.arrayContaining(['calls', 'payloads', 'objects', 'feedback', 'files', 'log/calls']),
  )
  expect(await server.send('/calls/query_stats', { project_id: kept })).toMatchObject({ count: 2 })
  const told = await postLines<{ action: string }>(server.now().url, '/audit/query', { scope: project })
  expect(told.map(({ action }) => action)).toContain('project.removed')
  // Whoever has a role on it still reads its receipt.
  expect((await ask('GET', `/v2/${project}/erasures/${answer.body().erasure_id}`, undefined, admin)).status).toBe(200)
})

it('late data of a removed project goes, too', async () => {
  const { store } = server.now()
  // As a process writes that does not know of it yet.
  const sql = `INSERT INTO callhouse.objects (project_id, object_id) VALUES ('${project}', 'late-canary')`
  await store.command({ name: 'test.late', sql, params: {} })
  expect(await placesOf(server, 'late-canary')).toEqual(['objects'])
  const { erasure_id } = (await remove(project)).body() as { erasure_id: string }
  await removed(server, project, erasure_id)
  expect(await placesOf(server, 'late-canary')).toEqual([])
  expect(await readErasure(server, project, erasure_id)).toMatchObject({ reason: 'the project was removed' })
})
