// Access: credentials, roles, grants, the key store, and pages in a browser on a loopback server.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { withLock } from '../../services/core/directory/file-lock.ts'
import type { Right, RoleName } from '../../services/core/directory/roles.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import { type Route, route } from '../../services/core/http/route.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { annAuth, json, send, sendRaw, startServer, type TestServer } from '../fixtures/http-server.ts'

const rights: Right[] = [
  ...(['none', 'any', 'read', 'ingest', 'annotate', 'write', 'delete', 'infer', 'admin', 'owner', 'metrics'] as const),
]
let handled = 0
const routes: Route[] = rights.map((right) =>
  route({
    name: `access.${right}`,
    method: 'POST',
    path: `/${right}`,
    right,
    summary: '',
    body: { type: 'json', schema: z.object({ project_id: z.string().optional() }), check: 'schema' },
    response: z.unknown(),
    async handle({ input, caller, project }) {
      handled++
      if (input.project_id !== undefined) project(input.project_id)
      return { json: { user: caller.userId, entity: caller.entity } }
    },
  }),
)

const goingOn = new Set<string>()
/** Answers go on once it is resolved. */
let goOn: PromiseWithResolvers<void>
routes.push(
  route({
    name: 'access.going-on',
    method: 'GET',
    path: '/going-on',
    right: 'read',
    summary: '',
    body: { type: 'none' },
    response: null,
    withoutProject: true,
    async handle({ caller }) {
      async function* lines() {
        yield '0\n'
        goingOn.add(caller.userId)
        await goOn.promise
        yield '1\n'
      }
      return { lines: lines(), contentType: 'application/jsonl' }
    },
  }),
)

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const post = (port: number, path: string, headers: Record<string, string>, body = '{}') =>
  send(port, path, { anonymous: true, headers, body })

describe('credentials', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(routes, ['--keys', 'ann:secret,bob:with:colon', '--trust-proxy', 'loopback'])
  })
  afterAll(() => server.stop())
  const userOf = async (headers: Record<string, string>) => {
    const answer = await post(server.port, '/read', headers)
    return answer.status === 200 ? (json(answer) as { user: string }).user : answer.status
  }

  it('takes Basic with any user name, Bearer and vendor headers', async () => {
    expect(await userOf({ authorization: basic('api:secret') })).toBe('ann')
    expect(await userOf({ authorization: basic(':secret') })).toBe('ann')
    expect(await userOf({ authorization: basic('bob:with:colon') })).toBe('bob')
    expect(await userOf({ authorization: basic('x:secret').replace(/=+$/, '').replace('Basic', 'bASIC') })).toBe('ann')
    expect(await userOf({ authorization: 'bearer secret' })).toBe('ann')
    expect(await userOf({ 'wandb-api-key': 'secret' })).toBe('ann')
    expect(await userOf({ 'platform-api-key': 'secret', authorization: 'Bearer other' })).toBe('ann')
  })
  it('refuses missing, unreadable and unknown ones', async () => {
    const faulty = ['', 'secret', 'Basic', 'Basic !!!', basic('secret'), basic('secret:'), 'Bearer', 'Digest secret']
    for (const authorization of [...faulty, 'Bearer secretx', 'Bearer Secret', 'Bearer a b'])
      expect([authorization, await userOf({ authorization })]).toEqual([authorization, 401])
    expect(await userOf({ 'other-api-key': 'secret' })).toBe(401)
    const answer = await post(server.port, '/read', {})
    expect(answer.headers['www-authenticate']).toBe('Basic realm="api"')
    expect(json(answer)).toEqual({ reason: 'Missing or unknown credentials' })
    const told = async (authorization: string) => json(await post(server.port, '/read', { authorization }))
    expect(await told('Bearer secretx')).toEqual({ reason: 'Missing or unknown credentials', code: 'key_unknown' })
    expect(await told('Bearer chk_0')).toMatchObject({ code: 'key_malformed' })
  })
  it('says nothing more of keys from an address that has sent twenty wrong ones within a minute', async () => {
    const ask = (key: string, from: string) =>
      post(server.port, '/read', { authorization: `Bearer ${key}`, 'x-forwarded-for': from })
    // A program that goes on sending one wrong key is told what is wrong.
    for (let n = 0; n < 40; n++) expect((await ask('the same', '198.51.100.8')).status).toBe(401)
    for (let n = 0; n < 20; n++) expect((await ask(`guess-${n}`, '198.51.100.9')).status).toBe(401)
    for (const key of ['guess-20', 'guess-0']) {
      const refused = await ask(key, '198.51.100.9')
      expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true])
    }
    expect((await ask('secret', '198.51.100.9')).status).toBe(200)
    expect((await ask('guess-0', '198.51.100.8')).status).toBe(401)
  })
  it('lets everyone use routes without authentication', async () => {
    expect((await post(server.port, '/none', {})).status).toBe(200)
    expect((await send(server.port, '/metrics', { anonymous: true })).status).toBe(401)
    expect((await send(server.port, '/openapi.json', { anonymous: true })).status).toBe(401)
  })
  it('refuses before it reads the body', async () => {
    const before = handled
    const started = 'POST /read HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: early\r\nContent-Length: 10\r\n\r\n'
    // Nine of ten bytes never come: an answer at all shows that none was waited for.
    const partial = new Promise<string>((resolve) => {
      void sendRaw(server.port, `${started}{`).then(resolve)
    })
    await expectSoon(() => server.lines.some((line) => line.request === 'early' && line.status === 401)).toBe(true)
    await server.close(1)
    expect(await partial).toMatch(/^HTTP\/1.1 401 /)
    expect(handled).toBe(before)
  })
})

describe('roles and grants', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(routes)
  })
  afterAll(() => server.stop())

  it('gives each role its rights', async () => {
    const writer = 'none any read ingest annotate write delete infer'
    const expected: Record<RoleName, string> = {
      reader: 'none any read',
      annotator: 'none any read annotate',
      ingest: 'none any ingest',
      writer,
      owner: `${writer} admin owner metrics`,
      // Names of earlier versions; who was admin of everything is its owner.
      read: 'none any read',
      write: writer,
      admin: `${writer} admin owner metrics`,
    }
    for (const role of Object.keys(expected) as RoleName[]) {
      const { text } = server.keys.create({ userId: 'u', role })
      const allowed: string[] = []
      for (const right of rights) {
        const { status } = await post(server.port, `/${right}`, { authorization: `Bearer ${text}` })
        expect([200, 403]).toContain(status)
        if (status === 200) allowed.push(right)
      }
      expect([role, allowed.join(' ')]).toEqual([role, expected[role]])
    }
  })
  it('lets a key do no more than its actions, and scrape only where everything is granted', async () => {
    const allowed = async (key: Parameters<typeof server.keys.create>[0]) => {
      const authorization = `Bearer ${server.keys.create(key).text}`
      const statuses = rights.map(async (right) => (await post(server.port, `/${right}`, { authorization })).status)
      const all = await Promise.all(statuses)
      return rights.filter((_, index) => all[index] === 200).join(' ')
    }
    const scraper = { userId: 'u', role: 'owner', actions: ['metrics'] } as const
    expect(await allowed(scraper)).toBe('none any metrics')
    expect(await allowed({ ...scraper, grants: ['acme'] })).toBe('none any')
    expect(await allowed({ userId: 'u', role: 'writer', actions: ['infer', 'admin'] })).toBe('none any infer')
    expect(await allowed({ userId: 'u', role: 'admin', grants: ['acme'] })).not.toMatch(/owner|metrics/)
  })
  it('opens the granted entities and projects only', async () => {
    const { text } = server.keys.create({ userId: 'u', entity: 'e', grants: ['acme', 'other/app'], role: 'write' })
    const status = async (projectId: string) => {
      const body = JSON.stringify({ project_id: projectId })
      return (await post(server.port, '/write', { authorization: `Bearer ${text}` }, body)).status
    }
    expect(await status('acme/a')).toBe(200)
    expect(await status('other/app')).toBe(200)
    for (const projectId of ['other/app2', 'acme2/a', 'oth/er']) expect(await status(projectId)).toBe(403)
    for (const projectId of ['acme', 'acme/', '/a', 'acme/a/b']) expect(await status(projectId)).toBe(400)
  })
  it('ends an answer that still goes on when its key is revoked or narrowed', async () => {
    goOn = Promise.withResolvers()
    const begun = async (act: (id: string) => Promise<unknown>, userId: string) => {
      const { id, text } = server.keys.create({ userId, role: 'writer' })
      const going = send(server.port, '/going-on', { anonymous: true, headers: { authorization: `Bearer ${text}` } })
      const ended = going.then(
        ({ status }) => (status === 200 ? 'whole' : 'refused'),
        () => 'broken off',
      )
      await expectSoon(() => goingOn.has(userId)).toBe(true)
      await act(id)
      return { ended }
    }
    const all = await Promise.all([
      begun(async (id) => server.keys.revoke(id), 'one'),
      begun(async () => server.keys.setGrant('two', '*', 'ingest'), 'two'),
      begun(async () => server.keys.setGrant('three', '*', 'owner'), 'three'),
    ])
    // Half a second later keys are looked at again.
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 501)
    goOn.resolve()
    expect(await Promise.all(all.map(({ ended }) => ended))).toEqual(['broken off', 'broken off', 'whole'])
    clock.mockRestore()
  })
  it('refuses a revoked key', async () => {
    const { id, text } = server.keys.create({ userId: 'u', role: 'read' })
    const status = async () => (await post(server.port, '/read', { authorization: `Bearer ${text}` })).status
    expect(await status()).toBe(200)
    expect([await server.keys.revoke(id), await server.keys.revoke(id)]).toEqual([true, false])
    expect(await status()).toBe(401)
  })
})

describe('the key store', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'callhouse-keys-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))
  const open = (configured: string[] = [], now?: () => number) =>
    openKeys({ dataDir, configured, ...(now === undefined ? {} : { now }) })

  it('keeps keys without their text, readable by the owner alone', () => {
    const { id, text } = open().create({ userId: 'u', entity: 'e', role: 'read' })
    const path = join(dataDir, 'directory.jsonl')
    expect(readFileSync(path, 'utf8')).not.toContain(text)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(open().find(text)).toMatchObject({ userId: 'u', entity: 'e' })
    expect(open().list()).toMatchObject([{ id, userId: 'u', actions: ['read'], scopes: ['*'] }])
    expect(JSON.stringify(open().list())).not.toContain('sha256')
  })
  it('sees keys that another process makes at once, and revoked ones after half a second', async () => {
    let time = Date.now()
    const running = open([], () => time)
    const command = open()
    const { id, text } = command.create({ userId: 'u', role: 'read' })
    expect(running.find(text)?.userId).toBe('u')
    await command.revoke(id)
    time += 501
    expect(running.find(text)).toBeUndefined()
  })
  it('makes one first key, on loopback only, and none beside a key of the operator', async () => {
    const beyond = await open().firstKey('0.0.0.0')
    expect(beyond).toMatchObject({ ok: false, line: expect.stringContaining('0.0.0.0') })
    const first = await open().firstKey('127.0.0.1')
    const text = first.ok ? first.text : undefined
    expect(
      open()
        .find(text ?? '')
        ?.holds('admin'),
    ).toBe(true)
    expect(await open().firstKey('127.0.0.1')).toEqual({ ok: true })
    expect((await open().firstKey('0.0.0.0')).ok).toBe(false)
    expect(await open(['a:b']).firstKey('0.0.0.0')).toEqual({ ok: true })
    open().create({ userId: 'u', role: 'read' })
    expect(await open().firstKey('0.0.0.0')).toEqual({ ok: true })
  })
  it('does not lose a key to a second writer', async () => {
    const keys = open()
    keys.create({ userId: 'u', role: 'read' })
    const second = withLock(join(dataDir, 'directory.jsonl.lock'), () => keys.create({ userId: 'v', role: 'read' }))
    await expect(second.stored).rejects.toThrow('Another command')
    expect(keys.list().length).toBe(1)
  })
})

describe('pages in a browser', () => {
  const origin = 'https://app.example.com'
  let open: TestServer
  let closed: TestServer
  beforeAll(async () => {
    closed = await startServer(routes)
    open = await startServer(routes, ['--cors-origins', origin, '--allowed-hosts', 'traces.local'])
  })
  afterAll(() => Promise.all([open.stop(), closed.stop()]))
  const status = async (server: TestServer, headers: Record<string, string>) =>
    (await send(server.port, '/read', { headers, body: '{}' })).status

  it('refuses foreign Host names on loopback', async () => {
    for (const host of ['localhost', 'LOCALHOST:99', '127.0.0.1', '127.9.9.9:1', '[::1]:6400'])
      expect([host, await status(closed, { host })]).toEqual([host, 200])
    for (const host of [
      'evil.example',
      '127.0.0.1.evil.example',
      'traces.local',
      '10.0.0.1',
      '[::2]',
      'a b',
      'localhost@x',
    ])
      expect([host, await status(closed, { host })]).toEqual([host, 403])
    expect(await status(open, { host: 'traces.local:8080' })).toBe(200)
  })
  it('refuses unlisted origins on loopback, before the body and on every route', async () => {
    const refused = await send(closed.port, '/none', { headers: { origin }, body: 'not json', anonymous: true })
    expect(refused.status).toBe(403)
    expect(refused.headers['access-control-allow-origin']).toBeUndefined()
    expect(await status(closed, { origin: 'null' })).toBe(403)
    expect(await status(closed, { origin: `http://127.0.0.1:${closed.port}` })).toBe(200)
    expect(await status(closed, { origin: 'http://127.0.0.1:1' })).toBe(403)
    expect(await status(open, { origin })).toBe(200)
  })
  it('answers preflights of listed origins without authentication', async () => {
    const ask = (server: TestServer, from: string) =>
      send(server.port, '/read', {
        method: 'OPTIONS',
        anonymous: true,
        headers: {
          origin: from,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization, X-Weave-Trace-Id, x-evil',
        },
      })
    const granted = await ask(open, origin)
    expect([granted.status, granted.headers['access-control-allow-origin'], granted.headers.vary]).toEqual([
      204,
      origin,
      'Origin',
    ])
    expect(granted.headers['access-control-allow-headers']).toContain('x-weave-trace-id')
    expect(granted.headers['access-control-allow-headers']).not.toContain('x-evil')
    expect(granted.headers['access-control-max-age']).toBe('600')
    expect((await ask(open, 'https://evil.example')).status).toBe(403)
    expect((await ask(closed, origin)).status).toBe(403)
  })
  it('names the origin on answers and faults, with credentials only when it is listed by name', async () => {
    const fine = await send(open.port, '/read', { headers: { origin }, body: '{}' })
    expect(fine.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': expect.stringContaining('X-Request-Id'),
    })
    const denied = await send(open.port, '/read', { headers: { origin }, body: '{}', anonymous: true })
    expect([denied.status, denied.headers['access-control-allow-origin']]).toEqual([401, origin])
    const any = await startServer(routes, ['--cors-origins', '*'])
    const answer = await send(any.port, '/read', { headers: { origin: 'https://b.example' }, body: '{}' })
    await any.stop()
    expect(answer.headers['access-control-allow-origin']).toBe('https://b.example')
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
  })
  it('does not check Host and Origin beyond loopback, where only a key opens anything', async () => {
    const wide = await startServer(routes, ['--host', '0.0.0.0'])
    const answer = await send(wide.port, '/read', { headers: { host: 'traces.example', origin }, body: '{}' })
    await wide.stop()
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, undefined])
  })
})

describe('annAuth', () => {
  it('is the key that the other tests use', () => expect(annAuth).toBe(basic('api:secret')))
})
