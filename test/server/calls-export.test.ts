// Exports of calls: a request becomes an address for a minute, which answers a file to whoever has it.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createExportRoutes } from '../../services/query/calls/export/routes.ts'
import { createTickets } from '../../services/query/calls/export/ticket.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import { send, startServer } from '../fixtures/http-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'export/one'
const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`
const big = '12345678901234567890123'
let server: LiveServer

beforeAll(async () => {
  server = await startLiveServer()
  const texts = ['=cmd()', '+1', '-1', '@x', '\tx', 'a "quoted", long\nline']
  const batch = texts.map((text, n) => ({
    project_id,
    id: id(n),
    trace_id: id(n),
    op_name: 'ask',
    attributes: {},
    output: null,
    summary: {},
    started_at: `2026-01-05T12:00:0${n}Z`,
    ended_at: '2026-01-05T12:01:00Z',
    inputs: { text, n: -n, 'a.b': { list: [n] } },
  }))
  // Numbers keep their digits.
  const body = JSON.stringify({ batch }).replace('"n":-5', `"n":${big}`)
  const answer = await post(server.now().url, '/v2/export/one/calls/complete', body)
  expect(answer.status).toBe(200)
})
afterAll(() => server.remove())

type Asked = Record<string, unknown>
const asked = async (body: Asked) => {
  const { status, text } = await post(server.now().url, '/export/calls', { project_id, ...body })
  return { status, answer: JSON.parse(text) as { url: string; expires_at: string; reason?: string; detail?: unknown } }
}
/** Without any credentials, as a browser follows a link. */
const file = async (body: Asked) => {
  const { status, answer } = await asked(body)
  expect(status).toBe(200)
  return fetch(answer.url)
}

it('JSON Lines are what the list answers, in its order, to whoever has the address', async () => {
  const list = { filter: { op_names: ['ask'] }, sort_by: [{ field: 'started_at', direction: 'desc' }], columns: ['id'] }
  const answer = await file({ ...list, format: 'jsonl' })
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="calls.jsonl"')
  expect(answer.headers.get('content-type')).toBe('application/jsonl')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const lines = await answer.text()
  expect(lines).toBe((await post(server.now().url, '/calls/stream_query', { project_id, ...list })).text)
  expect(lines.split('\n')).toHaveLength(7)
})

it('CSV has the named fields, numbers as they are stored, and no text that becomes a formula', async () => {
  const columns = ['id', 'inputs.text', 'inputs.n', 'inputs.a\\.b.list.0', 'inputs.none', 'output']
  const answer = await file({ format: 'csv', columns, sort_by: [{ field: 'started_at', direction: 'asc' }] })
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="calls.csv"')
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect((await answer.text()).split('\r\n')).toEqual([
    'id,inputs.text,inputs.n,inputs.a\\.b.list.0,inputs.none,output',
    `${id(0)},'=cmd(),0,0,,`,
    `${id(1)},'+1,-1,1,,`,
    `${id(2)},'-1,-2,2,,`,
    `${id(3)},'@x,-3,3,,`,
    `${id(4)},'\tx,-4,4,,`,
    `${id(5)},"a ""quoted"", long\nline",${big},5,,`,
    '',
  ])
})

it('CSV of no calls has its head, and of no named fields the usual ones', async () => {
  const answer = await file({ format: 'csv', filter: { op_names: ['none'] } })
  expect((await answer.text()).split('\r\n')).toEqual([expect.stringMatching(/^id,trace_id,.*,inputs,output$/), ''])
})

it('a request that the list refuses is refused when the address is requested', async () => {
  const statusOf = async (body: Asked) => (await asked(body)).status
  expect(await statusOf({ format: 'xml' })).toBe(422)
  expect(
    await statusOf({ format: 'csv', query: { $expr: { $eq: [{ $getField: 'inputs.-1' }, { $literal: 1 }] } } }),
  ).toBe(422)
  expect(await statusOf({ format: 'csv', columns: ['inputs.-1'] })).toBe(422)
  expect(await statusOf({ format: 'csv', columns: Array.from({ length: 101 }, () => 'id') })).toBe(400)
  expect(await statusOf({ format: 'csv', columns: ['x'.repeat(8_192)] })).toBe(413)
  const { port } = new URL(server.now().url)
  expect((await send(Number(port), '/export/calls', { anonymous: true, body: '{}' })).status).toBe(401)
})

it('an address that was changed is none, and its time ends', async () => {
  const { answer } = await asked({ format: 'jsonl' })
  const lastMs = Date.now() + 60_000
  expect(Date.parse(answer.expires_at) <= lastMs).toBe(true)
  const wrong = await fetch(`${answer.url.slice(0, -2)}AA`)
  expect([wrong.status, await wrong.json()]).toEqual([404, { reason: 'Export not found' }])
  let nowMs = 0
  const tickets = createTickets(
    () => Buffer.alloc(32),
    () => nowMs,
  )
  const { ticket } = tickets.make({ body: '{}', format: 'csv', columns: [], key: 'k' })
  nowMs = 60_000
  expect(tickets.read(ticket)).toMatchObject({ key: 'k', format: 'csv' })
  nowMs = 60_001
  expect(() => tickets.read(ticket)).toThrow('has expired')
  expect(() => createTickets(() => undefined).read(ticket)).toThrow('CALLHOUSE_MASTER_KEY')
  expect(() => createTickets(() => Buffer.alloc(32, 1)).read(ticket)).toThrow('Export not found')
})

it('an address is of no use once the key that asked is revoked, or where it may not read', async () => {
  const authorization = basicAuth()
  const request = async (method: string, path: string, body?: object) => {
    const sent = { method, headers: { authorization }, ...(body && { body: JSON.stringify(body) }) }
    const answer = await fetch(`${server.now().url}${path}`, sent)
    expect(answer.status).toBe(200)
    return (await answer.json()) as { key: string; id: string }
  }
  await request('POST', '/users', { id: 'exporter' })
  await request('PUT', '/grants', { user_id: 'exporter', scope: project_id, role: 'reader' })
  const asks = { user_id: 'exporter', name: 'export', actions: ['read'], scopes: [project_id] }
  const made = await request('POST', '/keys', asks)
  const headers = { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' }
  const ask = (body: Asked) =>
    fetch(`${server.now().url}/export/calls`, { method: 'POST', headers, body: JSON.stringify(body) })
  expect((await ask({ project_id: 'export/two', format: 'jsonl' })).status).toBe(403)
  const { url } = (await (await ask({ project_id, format: 'jsonl' })).json()) as { url: string }
  expect((await fetch(url)).status).toBe(200)
  await request('DELETE', `/keys/${made.id}`)
  const refused = await fetch(url)
  expect(refused.status).toBe(403)
  expect(await refused.json()).toEqual({ reason: 'The key that requested this address is no longer valid' })
})

it('a file counts as a read of the key that asked, within the limits of the project', async () => {
  const { url } = server.now()
  const authorization = basicAuth()
  const put = (limits: object) =>
    fetch(`${url}/v2/export/one/settings/limits`, {
      method: 'PUT',
      headers: { authorization },
      body: JSON.stringify(limits),
    })
  const { answer } = await asked({ format: 'jsonl' })
  expect((await put({ requests_per_minute: 1 })).status).toBe(200)
  try {
    expect([(await fetch(answer.url)).status, (await fetch(answer.url)).status]).toEqual([200, 429])
  } finally {
    await put({})
  }
})

it('a file that is on its way ends when the key that asked for it is revoked', async () => {
  async function* lines(_: string, body: unknown) {
    if (!Buffer.isBuffer(body)) return
    // It has no other end.
    for (;;) {
      yield 'x'.repeat(70_000)
      await sleep(50)
    }
  }
  const slow = await startServer(
    createExportRoutes({
      invoke: { lines, json: () => expect.unreachable() },
      wirePrefix: 'platform',
      masterKey: () => Buffer.alloc(32),
    }),
  )
  try {
    const { id, text } = slow.keys.create({ userId: 'leaver', role: 'reader', grants: [project_id] })
    const headers = { authorization: `Bearer ${text}` }
    const body = JSON.stringify({ project_id, format: 'jsonl' })
    const made = await send(slow.port, '/export/calls', { anonymous: true, headers, body })
    const answer = await fetch((JSON.parse(made.text) as { url: string }).url)
    expect(answer.status).toBe(200)
    await slow.keys.revoke(id)
    await expect(answer.text()).rejects.toThrow()
  } finally {
    await slow.stop()
  }
})

it('without a master key no address is made', async () => {
  const [make] = createExportRoutes({
    invoke: { lines: async function* () {}, json: () => expect.unreachable() },
    wirePrefix: 'platform',
    masterKey: () => undefined,
  })
  const context = {
    input: { project_id, format: 'csv' },
    caller: {},
    body: { bytes: Buffer.from('{}') },
    project: () => '',
  }
  await expect(make?.handle(context as never)).rejects.toMatchObject({ status: 409 })
})
