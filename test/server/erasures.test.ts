// tier: deep slow
// again: kafka
// Deleted data is also removed: from every table and the kept log; data of others stays.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth, post } from '../fixtures/child-server.ts'
import {
  derive,
  erase,
  erasedId,
  hasOwnLog,
  placesOf,
  readErasure,
  removed,
  sendCall,
  startErasingServer,
} from '../fixtures/erasing-server.ts'
import type { LiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startErasingServer()
})
afterAll(() => server.remove())

const project = 'ent/erased'
const other = 'ent/other'

it('an erasure removes calls with their descendants from every place, and what others have stays', async () => {
  await sendCall(server, project, 1, 'canary-one')
  await sendCall(server, project, 2, 'canary-two', 1)
  await sendCall(server, project, 3, 'stays-here')
  await sendCall(server, other, 1, 'stays-there')
  await derive(server)
  const before = await placesOf(server, 'stays-here')
  expect(before).toEqual(
    expect.arrayContaining(['call_patches', 'calls', 'feedback', 'payload_leaves', 'payloads', 'turns']),
  )
  if (hasOwnLog(server)) expect(before).toEqual(expect.arrayContaining(['log/calls', 'log/feedback']))
  expect(await placesOf(server, 'canary-two')).toEqual(before)
  const asked = { project_id: project, call_ids: [erasedId(1), erasedId(99), erasedId(99)], reason: 'asked for' }
  const { status, body } = await erase(server, asked)
  expect([status, body]).toMatchObject([202, { status: 'accepted', calls: 2, missing: 1 }])
  await removed(server, project, body.erasure_id)
  // Derived data is due with the next call after a removal.
  await sendCall(server, 'ent/later', 1, 'later')
  await derive(server)
  for (const word of ['canary-one', 'canary-two']) expect(await placesOf(server, word)).toEqual([])
  expect(await placesOf(server, 'stays-here')).toEqual(before)
  expect(await placesOf(server, 'stays-there')).toEqual(before)
  expect(await readErasure(server, project, body.erasure_id)).toMatchObject({
    project_id: project,
    reason: 'asked for',
    counts: {
      calls: 2,
      missing: 1,
      payload_rows: 4,
      feedback: 2,
      log_rows: hasOwnLog(server) ? 6 : 0,
      dead_letters: 0,
    },
  })
})

it('op objects that came of erased spans go with them, but for those that something else names', async () => {
  const headers = { project_id: project }
  const ns = () => `${BigInt(Date.now()) * 1_000_000n}`
  const hexOf = (n: number, length: number) => `${n}`.padStart(length, 'a')
  const span = (n: number, name: string) => ({
    traceId: hexOf(n, 32),
    spanId: hexOf(n, 16),
    name,
    startTimeUnixNano: ns(),
    endTimeUnixNano: ns(),
  })
  const named = ['canary-alone', 'canary-shared', 'canary-object', 'canary-tagged']
  const spans = [...named.map((name, n) => span(n + 1, name)), span(9, 'canary-shared')]
  await server.send('/otel/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] }, headers)
  const calls = await server.list<{ id: string; op_name: string }>('/calls/stream_query', { project_id: project })
  const opOf = (name: string) => calls.find(({ op_name }) => op_name.includes(name))?.op_name ?? ''
  await server.send('/obj/create', {
    obj: { project_id: project, object_id: 'names-an-op', val: { op: opOf('canary-object') } },
  })
  const digest = opOf('canary-tagged').slice(-43)
  const tagged = await fetch(`${server.now().url}/objs/canary-tagged/versions/${digest}/tags`, {
    method: 'PUT',
    headers: { authorization: basicAuth(), 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: project, tags: ['kept'] }),
  })
  expect(tagged.status).toBe(200)
  await derive(server)
  expect(await placesOf(server, 'canary-alone')).toEqual(expect.arrayContaining(['calls', 'objects', 'object_events']))
  const ids = named.map((_, n) => hexOf(n + 1, 16))
  const { body } = await erase(server, { project_id: project, call_ids: ids, reason: 'spans' })
  expect(body).toMatchObject({ calls: 4, missing: 0 })
  await removed(server, project, body.erasure_id)
  await sendCall(server, 'ent/later', 2, 'later')
  await derive(server)
  expect(await placesOf(server, 'canary-alone')).toEqual([])
  for (const name of named.slice(1))
    expect(await placesOf(server, name)).toEqual(expect.arrayContaining(['object_events', 'objects']))
})

it('feedback that is purged goes from tables and log, and what was said besides stays', async () => {
  const purged = 'ent/purged'
  await sendCall(server, purged, 1, 'stays-call')
  const say = (note: string) =>
    server.send<{ id: string }>('/feedback/create', {
      project_id: purged,
      weave_ref: `weave:///${purged}/call/${erasedId(1)}`,
      feedback_type: 'note',
      payload: { note },
    })
  const [gone] = [await say('canary-said'), await say('stays-said')]
  await derive(server)
  expect(await placesOf(server, 'canary-said')).toEqual(await placesOf(server, 'stays-said'))
  const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: gone.id }] } }
  const { status, headers } = await post(server.now().url, '/feedback/purge', { project_id: purged, query })
  expect(status).toBe(200)
  const id = headers.get('x-callhouse-erasure') as string
  await removed(server, purged, id)
  expect(await placesOf(server, 'canary-said')).toEqual([])
  expect(await placesOf(server, 'stays-said')).toContain('feedback')
  expect(await placesOf(server, 'stays-call')).toContain('payloads')
  expect(await readErasure(server, purged, id)).toMatchObject({
    counts: { calls: 0, payload_rows: 0, feedback: 1, log_rows: hasOwnLog(server) ? 1 : 0 },
  })
})

it('feedback that is replaced goes from tables and log, under a new id and under its own', async () => {
  const replaced = 'ent/replaced'
  await sendCall(server, replaced, 1, 'stays-call')
  const item = (note: string) => ({
    project_id: replaced,
    weave_ref: `weave:///${replaced}/call/${erasedId(1)}`,
    feedback_type: 'note',
    payload: { note },
  })
  const send = (path: string, body: object) => post(server.now().url, path, body)
  const first = JSON.parse((await send('/feedback/create', item('canary-first'))).text) as { id: string }
  await derive(server)
  expect(await placesOf(server, 'canary-first')).toContain('feedback')
  const second = await send('/feedback/replace', { ...item('canary-second'), feedback_id: first.id })
  expect(second.status).toBe(200)
  const { id } = JSON.parse(second.text) as { id: string }
  await removed(server, replaced, second.headers.get('x-callhouse-erasure') as string)
  expect(await placesOf(server, 'canary-first')).toEqual([])
  expect(await placesOf(server, 'canary-second')).toContain('feedback')
  const third = await send('/feedback/replace', { ...item('stays-third'), feedback_id: id, id })
  const erasure = third.headers.get('x-callhouse-erasure') as string
  await removed(server, replaced, erasure)
  expect(await placesOf(server, 'canary-second')).toEqual([])
  expect(await placesOf(server, 'stays-third')).toContain('feedback')
  expect(await placesOf(server, 'stays-call')).toContain('payloads')
  expect(await readErasure(server, replaced, erasure)).toMatchObject({
    counts: { calls: 0, feedback: 1, log_rows: hasOwnLog(server) ? 1 : 0 },
  })
})

it('a request for an erasure is refused when it names nothing, or two things', async () => {
  const refused = [
    { project_id: project, reason: 'none' },
    { project_id: project, call_ids: [erasedId(1)], trace_ids: [erasedId(1)], reason: 'two' },
    { project_id: project, call_ids: [], reason: 'empty' },
    { project_id: project, call_ids: [erasedId(1)] },
    { project_id: project, call_ids: [erasedId(1)], descendants: false, reason: 'not without them' },
  ]
  for (const asked of refused) expect((await erase(server, asked)).status).toBe(422)
  const told = { project_id: project, call_ids: [erasedId(1)], reason: 'part', files: false, digests: ['abc'] }
  const { status, body } = await erase(server, told)
  expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('files that erased calls alone name')])
  expect(JSON.stringify(body)).toContain('not erased by digests')
  expect(JSON.stringify(await readErasure(server, project, 'none'))).toContain('Erasure none not found')
})
