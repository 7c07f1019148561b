// The audit log of a server: every change of the directory is in it before it counts, whoever made it and wherever.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addUser, grantRole } from '../../services/cli/users.ts'
import { hashOf, type SealedEvent } from '../../services/core/audit/chain.ts'
import { json, send } from '../fixtures/http-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

type Event = Omit<SealedEvent, 'at_us' | 'seq' | 'ends_from' | 'ends_to'> & Record<string, string>

/** What is stored, once all of it is applied. */
async function events(): Promise<Event[]> {
  const { worker, store } = server.now()
  await worker?.caughtUp()
  return store.rows<Event>({
    name: 'test',
    sql: `SELECT * REPLACE(toString(toUnixTimestamp64Micro(at)) AS at, toString(seq) AS seq, toString(ends_from) AS ends_from,
      toString(ends_to) AS ends_to) FROM callhouse.audit_events ORDER BY chain, audit_events.seq`,
    params: {},
  })
}
const short = ({ action, scope, target, actor, actor_kind, outcome }: Event) =>
  [action, scope, target, actor, actor_kind, outcome].join(' ')
const request = async (method: string, path: string, body?: unknown) => {
  const headers = { authorization: 'Bearer test-key', 'x-request-id': 'request-1', 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(server.now().url + path, { method, headers, ...sent })
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return answer.json() as Promise<Record<string, string>>
}

it('holds what routes change in the directory, with who asked and from where', async () => {
  await request('POST', '/users', { id: 'ann', kind: 'person', entity: 'acme' })
  await request('PUT', '/grants', { user_id: 'ann', scope: 'acme/app', role: 'writer' })
  const { id, key } = await request('POST', '/keys', {
    user_id: 'ann',
    name: 'ci',
    actions: ['read'],
    scopes: ['acme/app'],
  })
  await request('POST', `/keys/${id}/rotate`, {})
  await request('DELETE', `/keys/${id}`)
  await request('PUT', '/v2/acme/app/settings/limits', { calls_per_minute: 100 })
  const found = await events()
  const own = found.filter(({ request_id }) => request_id === 'request-1')
  expect(own.filter(({ action }) => action !== 'audit.ended').map(short)).toEqual([
    'user.created acme ann tester user begun',
    'grant.set acme/app ann tester user begun',
    `key.created acme/app ${id} tester user begun`,
    expect.stringMatching(/^key\.created acme\/app \S+ tester user begun$/),
    `key.rotated acme/app ${id} tester user begun`,
    `key.revoked acme/app ${id} tester user begun`,
    'limits.changed acme/app acme/app tester user begun',
  ])
  // Each of them came about.
  const ends = own.filter(({ action }) => action === 'audit.ended')
  expect(ends.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'done'))
  for (const { address, key_id } of own)
    expect([address, key_id]).toEqual(['127.0.0.1', expect.stringMatching(/^configured-/)])
  expect(JSON.stringify(found)).not.toContain(key)
})

it('holds signing in and out', async () => {
  const port = Number(new URL(server.now().url).port)
  const page = { 'x-callhouse-page': '1', origin: server.now().url }
  const signed = await send(port, '/auth/key', {
    anonymous: true,
    headers: page,
    body: JSON.stringify({ key: 'test-key' }),
  })
  const cookie = String(signed.headers['set-cookie']).split(';', 1)[0] as string
  const out = await send(port, '/auth/logout', { anonymous: true, headers: { ...page, cookie }, body: '{}' })
  expect([signed.status, out.status, json(out)]).toEqual([200, 200, expect.anything()])
  const found = (await events()).map(short)
  expect(found).toContain('auth.signed_in tester tester tester user done')
  expect(found).toContain('session.ended * tester tester user begun')
})

it('holds what commands change, beside a server that runs and while none does', async () => {
  await addUser(server.config, 'robot', true)
  await server.restart()
  await grantRole(server.config, ['robot', 'acme', 'reader'])
  await server.restart()
  const found = (await events()).map(short)
  expect(found).toContain('user.created robot robot command command begun')
  expect(found).toContain('grant.set acme robot command command begun')
})

it('is a chain for each process, and a process names the heads of those before', async () => {
  const found = await events()
  const chains = Map.groupBy(found, ({ chain }) => chain)
  for (const chain of chains.values())
    for (const [index, { at, prev, hash, ...event }] of chain.entries()) {
      const [seq, ends_from, ends_to] = [event.seq, event.ends_from, event.ends_to].map(Number)
      expect([seq, prev]).toEqual([index + 1, chain[index - 1]?.hash ?? ''])
      expect(hash).toBe(hashOf(prev, { ...event, at_us: Number(at), seq, ends_from, ends_to } as never))
    }
  const began = found.filter(({ action }) => action === 'audit.began')
  const heads = began.flatMap(({ details }) => JSON.parse(details).heads as { chain: string }[])
  expect(began).toHaveLength(3)
  expect(new Set(heads.map(({ chain }) => chain)).size).toBeGreaterThan(1)
  for (const { chain } of heads) expect(chains.has(chain)).toBe(true)
})
