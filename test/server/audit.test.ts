// The audit log of a server: every change of the directory is in it before it counts, whoever made it and wherever.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { exportAudit, listAudit, verifyAudit } from '../../services/cli/audit.ts'
import { addUser, grantRole } from '../../services/cli/users.ts'
import { createAudit } from '../../services/core/audit/audit.ts'
import { hashOf, type SealedEvent } from '../../services/core/audit/chain.ts'
import { auditRecord } from '../../services/events/audit.ts'
import { dropOldAudit, recordEndedKeys, writeCheckpoint } from '../../services/removal/audit-housekeeping.ts'
import { post } from '../fixtures/child-server.ts'
import { json, send } from '../fixtures/http-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

type Event = Omit<SealedEvent, 'at_us' | 'seq' | 'ends_from' | 'ends_to'> & Record<string, string>

/** The stored events, once all of them are applied. */
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

it('the audit log holds what routes change in the directory, with who asked and from where', async () => {
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

it('the audit log holds who signed in and out', async () => {
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

it('the audit log holds what commands change, beside a server that runs and while none does', async () => {
  await addUser(server.config, 'robot', true)
  await server.restart()
  await grantRole(server.config, ['robot', 'acme', 'reader'])
  await server.restart()
  const found = (await events()).map(short)
  expect(found).toContain('user.created robot robot command command begun')
  expect(found).toContain('grant.set acme robot command command begun')
})

it('the audit log holds which settings were given, once and by their names', async () => {
  const changed = (await events()).filter(({ action }) => action === 'setting.changed')
  expect(changed.map(({ details }) => JSON.parse(details))).toEqual([
    { role: 'serve', names: expect.arrayContaining(['CALLHOUSE_DATA_DIR', 'CALLHOUSE_KEYS', 'CALLHOUSE_PORT']) },
  ])
  expect(JSON.stringify(changed)).not.toContain('test-key')
  const file = readFileSync(join(server.dataDir, 'settings.json'), 'utf8')
  expect(file).not.toContain('test-key')
  // As if one had another value, and one were not given any more.
  const known = JSON.parse(file) as { settings: Record<string, string> }
  const settings = { ...known.settings, CALLHOUSE_PORT: 'other', CALLHOUSE_GEO_BLOCK: 'gone' }
  writeFileSync(join(server.dataDir, 'settings.json'), JSON.stringify({ ...known, settings }))
  await server.restart()
  const after = (await events()).filter(({ action }) => action === 'setting.changed')
  expect(after.map(({ details }) => JSON.parse(details)).filter(({ names }) => names.length === 2)).toEqual([
    { role: 'serve', names: ['CALLHOUSE_GEO_BLOCK', 'CALLHOUSE_PORT'] },
  ])
  expect(after.length).toBe(2)
})

it('the audit log holds the end of a key once, however often the keys are looked through', async () => {
  const { store, log, worker } = server.now()
  const sink = async (sealed: readonly SealedEvent[]) => void (await log.append('audit', sealed.map(auditRecord)))
  const audit = createAudit({ sink, kind: 'server' })
  const ended = (...ids: string[]) => ids.map((target) => ({ action: 'key.expired', scope: 'other', target }))
  expect(await recordEndedKeys({ store, audit }, () => ended('k1', 'k2'), 400)).toEqual(['k1', 'k2'])
  await worker?.caughtUp()
  expect(await recordEndedKeys({ store, audit }, () => ended('k1', 'k2', 'k3'), 400)).toEqual(['k3'])
})

it('the audit log is a chain for each process, and a process names the heads of those before', async () => {
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
  expect(began).toHaveLength(4)
  expect(new Set(heads.map(({ chain }) => chain)).size).toBeGreaterThan(1)
  for (const { chain } of heads) expect(chains.has(chain)).toBe(true)
})

type Line = Record<string, unknown> & { id: string; action: string; scope: string; outcome: string; seq: number }
const asked = (body: object) => server.list<Line>('/audit/query', body)

it('the audit log is read by scope, time, actor, action and target, page by page, and says what came about', async () => {
  const all = await asked({ limit: 1_000 })
  expect(all.filter(({ action }) => action === 'audit.ended')).toEqual([])
  expect(all.filter(({ outcome }) => outcome === 'begun')).toEqual([])
  const acme = await asked({ scope: 'acme' })
  expect(new Set(acme.map(({ scope }) => scope))).toEqual(new Set(['acme', 'acme/app']))
  expect((await asked({ scope: 'acm' })).length).toBe(0)
  expect((await asked({ scope: 'acme', action: 'key.*' })).length).toBe(4)
  expect(await asked({ action: 'grant.set', actor: 'command', target: 'robot' })).toEqual([
    expect.objectContaining({ scope: 'acme', outcome: 'done', details: { before: null, after: 'reader' } }),
  ])
  expect((await asked({ to: '2026-01-01T00:00:00Z' })).length).toBe(0)
  expect((await asked({ from: '2026-01-01T00:00:00Z', limit: 1_000 })).length).toBe(all.length)
  const pages: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await asked({ limit: 3, after })
    pages.push(...page.map(({ id }) => id))
    after = page.at(-1)?.id
    if (page.length < 3) break
  }
  expect(pages).toEqual(all.map(({ id }) => id))
  const status = async (body: object, key = 'test-key') =>
    (await post(server.now().url, '/audit/query', body, { authorization: `Bearer ${key}` })).status
  expect([await status({ scope: 'a b' }), await status({ from: 'soon' }), await status({ after: 'x' })]).toEqual([
    400, 400, 400,
  ])
})

it('the audit log holds deletes before they are done, and refusals of a minute once the server ends', async () => {
  const project_id = 'acme/app'
  const id = '00000000-0000-7000-8000-000000000001'
  const start = {
    project_id,
    id,
    trace_id: id,
    op_name: 'op',
    started_at: '2026-01-05T12:00:00Z',
    attributes: {},
    inputs: {},
  }
  await server.send('/call/start', { start })
  await server.send('/calls/delete', { project_id, call_ids: [id] })
  expect(await asked({ scope: project_id, action: 'calls.deleted' })).toEqual([
    expect.objectContaining({
      actor: 'tester',
      outcome: 'done',
      address: '127.0.0.1',
      details: { call_ids: { count: 1, first: [id] } },
    }),
  ])
  const { url } = server.now()
  for (let n = 0; n < 5; n++) await post(url, '/calls/query_stats', { project_id }, { authorization: 'Bearer wrong' })
  await server.restart()
  expect(await asked({ action: 'auth.refused' })).toEqual([
    expect.objectContaining({
      outcome: 'refused',
      address: '127.0.0.0/24',
      details: { status: 401, code: 'key_unknown', count: 5 },
    }),
  ])
})

it('the audit log names what is deleted, whichever way its request names it and whichever thread does it', async () => {
  const scope = 'acme/deletes'
  const start = { project_id: scope, op_name: 'op', started_at: '2026-01-05T12:00:00Z', attributes: {}, inputs: {} }
  const ids = ['1', '2'].map((n) => `00000000-0000-7000-8000-00000000010${n}`)
  for (const id of ids) await server.send('/call/start', { start: { ...start, id, trace_id: id } })
  // So long a body is handled by a thread.
  const others = Array.from({ length: 990 }, (_, n) => `${n}-`.padEnd(110, 'x'))
  await server.send('/calls/delete', { project_id: scope, call_ids: [...ids, ...others] })
  await server.send('/calls/delete', { project_id: scope, call_ids: ['of-no-call'] })
  const queue = { project_id: scope, name: 'queue', scorer_refs: [] }
  const { id: queue_id } = await server.send<{ id: string }>('/annotation_queues', queue)
  await request('DELETE', `/annotation_queues/${queue_id}?project_id=${encodeURIComponent(scope)}`)
  const { digest } = await server.send<{ digest: string }>('/obj/create', {
    obj: { project_id: scope, object_id: 'thing', val: { a: 1 } },
  })
  await server.send('/obj/delete', { project_id: scope, object_id: 'thing' })
  const price = { prompt_token_cost: 1, completion_token_cost: 1 }
  const { ids: made } = await server.send<{ ids: [string, string][] }>('/cost/create', {
    project_id: scope,
    costs: { 'model-1': price },
  })
  const byId = (id: unknown) => ({ $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } })
  await server.send('/cost/purge', { project_id: scope, query: byId(made[0]?.[0]) })
  const { id: feedback } = await server.send<{ id: string }>('/feedback/create', {
    project_id: scope,
    weave_ref: `weave:///${scope}/call/x`,
    feedback_type: 'note',
    payload: {},
  })
  await server.send('/feedback/purge', { project_id: scope, query: byId(feedback) })
  const found = await asked({ scope })
  expect(found.toReversed().map(({ action, target, details, outcome }) => [action, target, details, outcome])).toEqual([
    ['calls.deleted', '', { call_ids: { count: 992, first: [...ids, ...others.slice(0, 8)] } }, 'done'],
    ['annotation_queue.deleted', queue_id, {}, 'done'],
    ['objects.deleted', 'thing', { digests: { count: 1, first: [digest] } }, 'done'],
    [
      'price.created',
      '',
      { price_ids: { count: 1, first: [made[0]?.[0]] }, models: { count: 1, first: ['model-1'] } },
      'done',
    ],
    ['price.purged', '', { price_ids: { count: 1, first: [made[0]?.[0]] } }, 'done'],
    ['feedback.purged', '', { feedback_ids: { count: 1, first: [feedback] } }, 'done'],
  ])
  for (const { actor, key_id, address, actor_kind } of found)
    expect([actor, key_id, address, actor_kind]).toEqual([
      'tester',
      expect.stringMatching(/^configured-/),
      '127.0.0.1',
      'user',
    ])
})

it('the audit log is read by who administers the scope alone', async () => {
  const keyOf = async (role: string, scopes: string[]) => {
    await request('POST', '/users', { id: `user-${role}`, kind: 'person', entity: 'acme' })
    for (const scope of scopes) await request('PUT', '/grants', { user_id: `user-${role}`, scope, role })
    const actions = role === 'admin' ? ['read', 'admin'] : ['read']
    return (await request('POST', '/keys', { user_id: `user-${role}`, name: role, actions, scopes })).key as string
  }
  const status = async (key: string, scope: string) =>
    (await post(server.now().url, '/audit/query', { scope }, { authorization: `Bearer ${key}` })).status
  const admin = await keyOf('admin', ['acme'])
  expect([await status(admin, 'acme'), await status(admin, 'acme/app')]).toEqual([200, 200])
  expect([await status(admin, '*'), await status(admin, 'other'), await status(admin, 'acm')]).toEqual([403, 403, 403])
  expect(await status(await keyOf('reader', ['acme']), 'acme')).toBe(403)
})

describe('commands', () => {
  let told: string[] = []
  beforeEach(() => {
    told = []
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => told.push(String(text)) > 0)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    process.exitCode = 0
  })
  const flags =
    (given: Record<string, string> = {}) =>
    (name: string) =>
      given[name] ?? ''
  const verified = async (given = {}) => {
    told = []
    process.exitCode = 0
    await verifyAudit(server.config, flags(given))
    return { code: process.exitCode, lines: told.map((line) => line.trimEnd()) }
  }
  const command = (sql: string, params = {}) =>
    server.now().store.command({ name: 'test', sql: `${sql} SETTINGS mutations_sync = 2`, params })

  it('list and export what the route answers', async () => {
    await listAudit(server.config, flags({ action: 'grant.set', target: 'robot' }))
    expect(told).toEqual([
      expect.stringMatching(
        /^2\S+Z {2}command {2}grant\.set {2}robot {2}acme {2}done {2}- {2}\{"before":null,"after":"reader"\}\n$/,
      ),
    ])
    const file = join(server.dataDir, 'events.jsonl')
    await exportAudit(server.config, file, flags())
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    expect(lines).toEqual(await asked({ limit: 1_000 }))
  })

  it('find what was changed, dropped, added and cut off in the tables since the checkpoint', async () => {
    const { log, store, worker } = server.now()
    const sink = async (events: readonly SealedEvent[]) => void (await log.append('audit', events.map(auditRecord)))
    const chains = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const audit = createAudit({ sink, kind: 'server' })
        for (let n = 0; n < 5; n++) await audit.record({ action: 'test.made', scope: 'acme', target: `t${n}` })
        return (await audit.recordHeads('test.made', {})).chain
      }),
    )
    await worker?.caughtUp()
    const keeper = createAudit({ sink, kind: 'server' })
    const checkpoint = await writeCheckpoint({ store, audit: keeper }, 400)
    await worker?.caughtUp()
    expect(checkpoint.events).toBe((await events()).length - 1)
    expect(await verified()).toEqual({ code: 0, lines: [expect.stringMatching(/^\d+ events? in \d+ chains?: whole$/)] })
    expect((await verified({ anchor: checkpoint.hash })).code).toBe(0)

    const [changed, dropped, added, cut] = chains as [string, string, string, string]
    const where = 'WHERE chain = {chain:String} AND seq'
    await command(`ALTER TABLE callhouse.audit_events UPDATE target = 't_' ${where} = 2`, { chain: changed })
    await command(`ALTER TABLE callhouse.audit_events DELETE ${where} = 3`, { chain: dropped })
    await store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.audit_events SELECT * REPLACE (at + INTERVAL 1 MICROSECOND AS at, 'other' AS target)
        FROM callhouse.audit_events ${where} = 4`,
      params: { chain: added },
    })
    await command(`ALTER TABLE callhouse.audit_events DELETE ${where} > 4`, { chain: cut })
    const { code, lines } = await verified()
    expect(code).toBe(1)
    expect(lines.slice(0, -1).sort()).toEqual(
      [
        `changed: event 2 of chain ${changed}`,
        `missing: event 4 of chain ${dropped}`,
        `inserted: event 4 of chain ${added}`,
        `cut: event 4 of chain ${cut}`,
      ].sort(),
    )
    await command(`ALTER TABLE callhouse.audit_events DELETE ${where} > 0`, { chain: checkpoint.chain })
    expect((await verified({ anchor: checkpoint.hash })).lines).toContain('no event has this hash')
  })

  it('know months that went by their age', async () => {
    await command(`ALTER TABLE callhouse.audit_events DELETE WHERE 1`)
    const { log, store, worker } = server.now()
    const sink = async (events: readonly SealedEvent[]) => void (await log.append('audit', events.map(auditRecord)))
    let now = Date.UTC(2025, 0, 31)
    const audit = createAudit({ sink, kind: 'server', now: () => now })
    for (let n = 0; n < 3; n++) await audit.record({ action: 'test.made', scope: 'acme', target: `t${n}` })
    now = Date.UTC(2025, 1, 1)
    await audit.record({ action: 'test.made', scope: 'acme', target: 'kept' })
    await worker?.caughtUp()
    expect(await dropOldAudit({ store, audit }, 0, Date.UTC(2030, 0, 1))).toEqual([])
    expect(await dropOldAudit({ store, audit }, 28, Date.UTC(2025, 1, 28))).toEqual([])
    now = Date.UTC(2025, 2, 1, 1)
    expect(await dropOldAudit({ store, audit }, 28, now)).toEqual(['202501'])
    await worker?.caughtUp()
    expect((await asked({})).map(({ action, seq }) => [action, seq])).toEqual([
      ['audit.checkpoint', 6],
      ['audit.dropped', 5],
      ['test.made', 4],
    ])
    const whole = ['3 events went by age, after 28 days', '3 events in 1 chain: whole']
    expect((await verified()).lines).toEqual(whole)
    const { hash: anchor } = await writeCheckpoint({ store, audit }, 28)
    expect((await verified({ anchor })).lines).toEqual([whole[0], '4 events in 1 chain: whole'])
    // As if somebody had removed what is younger, and said that it went by age.
    const youngest = createAudit({ sink, kind: 'server', now: () => now })
    for (let n = 0; n < 3; n++) await youngest.record({ action: 'test.made', scope: 'acme', target: `y${n}` })
    const { chain } = await youngest.recordHeads('test.made', {})
    await worker?.caughtUp()
    const hashes = (await events()).flatMap((event) => (event.chain === chain && event.seq === '3' ? [event.hash] : []))
    const heads = [{ chain, seq: 3, hash: hashes[0] }]
    await createAudit({ sink, kind: 'server', now: () => now }).recordHeads('audit.dropped', { days: 28, heads })
    await worker?.caughtUp()
    await command(`ALTER TABLE callhouse.audit_events DELETE WHERE chain = {chain:String} AND seq < 4`, { chain })
    await writeCheckpoint({ store, audit }, 28)
    await worker?.caughtUp()
    expect((await verified()).lines).toContain(`missing: event 4 of chain ${chain}`)
  })
})
