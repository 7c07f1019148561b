// Signing in to the page: the cookie, when it counts, how it ends; and the page's own routes as a browser asks for them.
import { mkdirSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFileDirectory } from '../../services/core/directory/file.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import { createSessions } from '../../services/core/http/session.ts'
import type { Via } from '../../services/core/http/via.ts'
import { openMasterKey, sealWith } from '../../services/core/process/master-key.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { type Answer, json, send } from '../fixtures/http-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const page = { 'x-callhouse-page': '1' }

describe('sessions', () => {
  let server: LiveServer
  let port: number
  let origin: string
  let keys: ReturnType<typeof openKeys>
  const cookieOf = (answer: Answer) => String(answer.headers['set-cookie']).split(';', 1)[0] as string
  const signIn = (key: string, headers: Record<string, string> = {}) =>
    send(port, '/auth/key', {
      anonymous: true,
      headers: { ...page, origin, ...headers },
      body: JSON.stringify({ key }),
    })
  const ask = (cookie: string, headers: Record<string, string> = {}, path = '/calls/query_stats') =>
    send(port, path, {
      anonymous: true,
      headers: { cookie, ...page, origin, ...headers },
      body: JSON.stringify({ project_id: 'acme/demo' }),
    })

  beforeAll(async () => {
    server = await startLiveServer(['--trust-proxy', '127.0.0.1'])
    keys = openKeys({ dataDir: server.dataDir, configured: [] })
    origin = server.now().url
    port = Number(new URL(origin).port)
  })
  afterAll(() => server.remove())

  it('begin with a key and count as that key', async () => {
    const answer = await signIn('test-key')
    expect(answer.status).toBe(200)
    expect(json(answer)).toMatchObject({
      user_id: 'tester',
      role: 'owner',
      grants: '*',
      server: { wire_prefix: 'platform' },
    })
    const [set] = answer.headers['set-cookie'] as string[]
    expect(set).toMatch(/^callhouse-\d+=[\w-]+; Path=\/; Max-Age=86400; HttpOnly; SameSite=Strict$/)
    expect((await ask(cookieOf(answer))).status).toBe(200)
    expect(set).not.toContain('test-key')
    const session = await send(port, '/auth/session', {
      anonymous: true,
      headers: { ...page, cookie: cookieOf(answer) },
    })
    expect(json(session)).toMatchObject({ user_id: 'tester', expires_at: expect.stringMatching(/Z$/) })
  })

  it('name each project that was given, also one that has no call yet: for the page it is no unknown name', async () => {
    const { text } = keys.create({ userId: 'ida', role: 'read', grants: ['acme/just-given'] })
    const answer = await signIn(text)
    const grants = ['acme/just-given']
    expect(json(answer)).toMatchObject({ user_id: 'ida', grants })
    const headers = { ...page, cookie: cookieOf(answer) }
    expect(json(await send(port, '/auth/session', { anonymous: true, headers }))).toMatchObject({ grants })
    const listed = await send(port, '/projects/query', { anonymous: true, headers: { ...headers, origin }, body: '{}' })
    expect(json(listed)).toMatchObject({ projects: [], total: 0 })
  })

  it('count for requests of the page alone', async () => {
    const cookie = cookieOf(await signIn('test-key'))
    const statusOf = async (headers: Record<string, string>) => (await ask(cookie, headers)).status
    expect(await statusOf({ 'x-callhouse-page': '0' })).toBe(403)
    expect(await statusOf({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    // A sibling below the same domain is another site's page, too.
    expect(await statusOf({ 'sec-fetch-site': 'same-site' })).toBe(403)
    expect(await statusOf({ 'sec-fetch-site': 'same-origin' })).toBe(200)
    // On loopback a foreign Origin is refused as ever; one that is listed makes the cookie count as absent.
    expect(await statusOf({ origin: 'http://elsewhere.example' })).toBe(403)
    expect(await statusOf({ origin: `https://127.0.0.1:${port}` })).toBe(401)
    const without = await ask('other=1')
    expect([without.status, without.headers['www-authenticate']]).toEqual([401, undefined])
    const silent = await send(port, '/calls/query_stats', { anonymous: true, headers: { cookie, ...page }, body: '{}' })
    expect(silent.status).toBe(403)
    // Content types that any page can have a browser post, with whatever body.
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=b', 'text/plain'])
      for (const more of [{}, { origin: 'null' }, { origin, 'sec-fetch-site': 'same-site' }]) {
        const headers = { cookie, 'content-type': type, ...more }
        const body = JSON.stringify({ project_id: 'acme/demo' })
        const posted = await send(port, '/calls/query_stats', { anonymous: true, headers, body })
        expect([type, more, posted.status]).toEqual([type, more, 403])
      }
    const preflight = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-callhouse-page',
    }
    const answer = await send(port, '/calls/query_stats', { anonymous: true, method: 'OPTIONS', headers: preflight })
    expect(String(answer.headers['access-control-allow-headers'])).not.toContain('x-callhouse-page')
  })

  it('do not save a request with a wrong key', async () => {
    const cookie = cookieOf(await signIn('test-key'))
    expect((await ask(cookie, { authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await ask(cookie, { 'wandb-api-key': 'wrong' })).status).toBe(401)
  })

  it('end with their key, and when they are signed out, also after a restart', async () => {
    const made = keys.create({ userId: 'bob', role: 'read', grants: ['acme'] })
    const cookie = cookieOf(await signIn(made.text))
    expect((await ask(cookie)).status).toBe(200)
    expect((await ask(cookie, {}, '/cost/create')).status).toBe(403)
    await keys.revoke(made.id)
    await expectSoon(async () => (await ask(cookie)).status).toBe(401)

    const second = cookieOf(await signIn('test-key'))
    const out = await send(port, '/auth/logout', {
      anonymous: true,
      method: 'POST',
      headers: { cookie: second, ...page, origin },
    })
    expect(String(out.headers['set-cookie'])).toContain('Max-Age=0')
    expect((await ask(second)).status).toBe(401)
    await server.restart()
    port = Number(new URL(server.now().url).port)
    // The cookie is named after the port; what it holds is the same.
    expect(
      (await ask(second.replace(/^callhouse-\d+/, `callhouse-${port}`), { origin: server.now().url })).status,
    ).toBe(401)
    origin = server.now().url
  })

  it('of a user end all together by himself, and when he is switched off', async () => {
    await server.send('/users', { id: 'sam' })
    const headers = { authorization: `Bearer test-key`, 'content-type': 'application/json' }
    const grant = { user_id: 'sam', scope: 'acme', role: 'reader' }
    await fetch(`${origin}/grants`, { method: 'PUT', headers, body: JSON.stringify(grant) })
    const made = { user_id: 'sam', actions: ['read'], scopes: ['acme'] }
    const { key } = await server.send<{ key: string }>('/keys', made)
    const cookies = [cookieOf(await signIn(key)), cookieOf(await signIn(key))] as [string, string]
    const statuses = () => Promise.all(cookies.map(async (cookie) => (await ask(cookie)).status))
    const endAll = { method: 'DELETE', headers: { cookie: cookies[0], ...page, origin }, anonymous: true }
    expect([await statuses(), (await send(port, '/me/sessions', endAll)).status]).toEqual([[200, 200], 200])
    expect(await statuses()).toEqual([401, 401])
    const other = cookieOf(await signIn('test-key'))
    cookies[0] = cookieOf(await signIn(key))
    expect([await statuses(), (await ask(other)).status]).toEqual([[200, 401], 200])
    await server.send('/users/sam/off', {})
    expect([await statuses(), (await ask(other)).status]).toEqual([[401, 401], 200])
  })

  it('are made over TLS or on this machine, with the cookie that belongs to the path', async () => {
    const secure = { 'x-forwarded-proto': 'https', origin: origin.replace('http:', 'https:') }
    const set = async (headers: Record<string, string>) =>
      String((await signIn('test-key', headers)).headers['set-cookie'])
    expect(await set(secure)).toMatch(/^__Host-callhouse=.*; Path=\/;.*; Secure$/)
    const below = await set({ ...secure, 'x-forwarded-prefix': '/obs/callhouse' })
    expect(below).toMatch(/^__Secure-callhouse=.*; Path=\/obs\/callhouse\/;.*; Secure$/)
    expect(await set({ ...secure, 'x-forwarded-prefix': '/../"><script>' })).toContain('Path=/;')
  })

  it('are not guessed', async () => {
    const from = { 'x-forwarded-for': '198.51.100.7' }
    for (let n = 0; n < 20; n++) expect((await signIn(`guess-${n}`, from)).status).toBe(401)
    const refused = await signIn('test-key', from)
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true])
    expect((await signIn('test-key')).status).toBe(200)
    expect(server.lines.join('')).not.toContain('guess-')
    expect(server.lines.filter((line) => line.includes('unknown key')).length).toBe(20)
    expect((await signIn('x'.repeat(20_000))).status).toBe(413)
  })

  it('are not guessed by asking whose a key is, either', async () => {
    const whose = async (key: string) => {
      const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '198.51.100.8' }
      return (await send(port, '/auth/session', { anonymous: true, headers })).status
    }
    for (let n = 0; n < 20; n++) expect(await whose(`guess-${n}`)).toBe(200)
    expect([await whose('another-guess'), await whose('test-key')]).toEqual([429, 200])
  })

  it('begin with a key where the key counts, and tell nobody else whose it is', async () => {
    await server.send('/users', { id: 'net' })
    const grant = { user_id: 'net', scope: 'acme', role: 'reader' }
    const headers = { authorization: `Bearer test-key`, 'content-type': 'application/json' }
    await fetch(`${origin}/grants`, { method: 'PUT', headers, body: JSON.stringify(grant) })
    const made = { user_id: 'net', actions: ['read'], scopes: ['acme'], addresses: ['192.0.2.0/24'] }
    const { key } = await server.send<{ key: string }>('/keys', made)
    const whose = (from: string) => {
      const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': from }
      return send(port, '/auth/session', { anonymous: true, headers })
    }
    const statuses = async (from: string) => [
      (await signIn(key, { 'x-forwarded-for': from })).status,
      (await whose(from)).status,
    ]
    expect([await statuses('192.0.2.1'), await statuses('198.51.100.9')]).toEqual([
      [200, 200],
      [403, 403],
    ])
  })

  it('tell strangers no more than the version', async () => {
    const answer = await send(port, '/auth/session', { anonymous: true })
    expect(json(answer)).toEqual({ user_id: null, server: { version: expect.any(String) } })
    expect(
      (await send(port, '/auth/key', { anonymous: true, headers: { origin }, body: '{"key":"test-key"}' })).status,
    ).toBe(403)
  })
})

describe('a session', () => {
  const via: Via = { origin: 'https://a.example', isSecure: true, isLocal: false, port: '443', basePath: '/' }
  const holder = { userId: 'ann', entity: 'ann', keyId: 'k', holds: () => true, may: () => true }
  const dataDir = `/tmp/callhouse-session-${process.pid}`
  beforeAll(() => mkdirSync(dataDir))
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

  it('ends when it is idle, is sealed anew while it is used, and never outlives its time', () => {
    let now = Date.parse('2026-01-05T12:00:00Z')
    const sessions = createSessions({
      keys: { findId: () => holder },
      masterKey: () => Buffer.alloc(32, 7),
      directory: openFileDirectory({ dataDir }),
      config: { sessionHours: 2, sessionIdleMinutes: 60 },
      now: () => now,
    })
    const requestOf = (cookie: string) => ({ ...page, cookie: cookie.split(';', 1)[0] as string })
    let { cookie } = sessions.begin(holder, via)
    const find = () => sessions.find(requestOf(cookie), 'GET', via)
    for (let minutes = 0; minutes < 115; minutes += 35) {
      const session = find()
      expect(session?.holder.userId).toBe('ann')
      cookie = (session && sessions.renew(session, via)) ?? cookie
      now += 35 * 60_000
    }
    expect(find()).toBeUndefined()
    now = Date.parse('2026-01-05T12:00:00Z')
    const whole = sessions.begin(holder, via).cookie
    const [name = '', value = ''] = (whole.split(';', 1)[0] as string).split('=')
    for (const at of [0, 20, value.length - 2]) {
      const changed = value.slice(0, at) + (value[at] === 'A' ? 'B' : 'A') + value.slice(at + 1)
      expect(sessions.find({ ...page, cookie: `${name}=${changed}` }, 'GET', via)).toBeUndefined()
    }
    expect(sessions.refusal({ ...via, isSecure: false })).toContain('CALLHOUSE_TRUST_PROXY')
  })

  it('that was ended by one process is ended for the others, and after a restart; so are all of a user', async () => {
    let now = Date.parse('2026-01-05T12:00:00Z')
    const open = () => {
      const directory = openFileDirectory({ dataDir })
      const sessions = createSessions({
        keys: { findId: () => holder },
        masterKey: () => Buffer.alloc(32, 7),
        directory,
        now: () => now,
        config: { sessionHours: 2, sessionIdleMinutes: 60 },
      })
      const counts = ({ cookie }: { cookie: string }) => {
        directory.look()
        return sessions.find({ ...page, cookie: cookie.split(';', 1)[0] as string }, 'GET', via) !== undefined
      }
      return { directory, sessions, counts }
    }
    const [one, other] = [open(), open()]
    const [first, second] = [one.sessions.begin(holder, via), other.sessions.begin(holder, via)]
    expect([one.counts(first), other.counts(first), one.counts(second)]).toEqual([true, true, true])
    expect(await one.sessions.end(first.session, via)).toContain('Max-Age=0')
    for (const each of [one, other, open()]) expect([each.counts(first), each.counts(second)]).toEqual([false, true])
    now += 1_000
    const before = new Date(now).toISOString()
    await other.directory.append([{ key: 'sessions-end/ann', value: { before } }], 'ann')
    now += 1
    const third = one.sessions.begin(holder, via)
    for (const each of [one, other, open()]) expect([each.counts(second), each.counts(third)]).toEqual([false, true])
    // Sessions that would have expired by themselves are not kept.
    now += 3 * 3_600_000
    await one.sessions.end(one.sessions.begin(holder, via).session, via)
    expect(one.directory.state().sessionEnds.size).toBe(1)
  })

  it('needs a master key where roles are apart, and another one does not open it', () => {
    const settings = { masterKey: '', masterKeyFile: undefined, dataDir }
    expect(openMasterKey(settings, { mayMake: false })()).toBeUndefined()
    const sealed = sealWith(Buffer.alloc(32, 1), 'session').seal('text')
    expect(sealWith(Buffer.alloc(32, 1), 'session').open(sealed)).toBe('text')
    expect(sealWith(Buffer.alloc(32, 1), 'other').open(sealed)).toBeUndefined()
    expect(sealWith(Buffer.alloc(32, 2), 'session').open(sealed)).toBeUndefined()
  })
})
