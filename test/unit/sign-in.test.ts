// Signing in by a provider: whose sign-in it is, what his groups grant, and every answer of a provider that does not count.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PeopleSettings, signedIn } from '../../services/access/sign-in/people.ts'
import { createSignInRoutes } from '../../services/access/sign-in/routes.ts'
import type { Directory } from '../../services/core/directory/directory.ts'
import { itemKey } from '../../services/core/directory/items.ts'
import { applyItem, type DirectoryState, emptyState } from '../../services/core/directory/state.ts'
import { createKeys, type Keys } from '../../services/core/http/keys.ts'
import { createSessions } from '../../services/core/http/session.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { createSessionRoutes } from '../../services/web/session-routes.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { type Answer, json, send, startServer, type TestServer } from '../fixtures/http-server.ts'
import { type OidcProvider, startOidcProvider } from '../fixtures/oidc-provider.ts'

const roles = ['ml-team=writer@acme', 'sec=reader@*', 'both=reader@acme']

describe('who signed in', () => {
  const settings: PeopleSettings = {
    oidcGroupsClaim: 'groups',
    oidcRoles: roles,
    oidcDefaultRole: '',
    oidcDomains: [],
    oidcGrantDays: 30,
  }
  const now = Date.parse('2026-01-01T00:00:00Z')
  let state: DirectoryState
  beforeEach(() => {
    state = emptyState()
  })
  const claims = (more: object = {}) => ({
    iss: 'https://id',
    sub: '1',
    preferred_username: 'Ann B',
    groups: ['ml-team'],
    ...more,
  })
  const signIn = (more: object = {}, own: Partial<PeopleSettings> = {}) => {
    const made = signedIn(state, claims(more), { ...settings, ...own }, now, (id) => id === 'configured')
    for (const { key, value } of made.changes) applyItem(state, { key, value, at: '', by: 'x' })
    return made.userId
  }

  it('is known by issuer and subject, never by name or email', () => {
    expect([signIn(), signIn({ preferred_username: 'other', email: 'x@y' }), signIn({ sub: '2' })]).toEqual([
      'ann-b',
      'ann-b',
      'ann-b-2',
    ])
    expect(signIn({ iss: 'https://evil' })).toBe('ann-b-3')
    expect(signIn({ sub: '4', preferred_username: 'configured' })).toBe('configured-2')
    expect(signIn({ sub: '5', preferred_username: '…', email: undefined })).toBe('user')
    expect(state.users.get('ann-b')).toMatchObject({ email: 'x@y', entity: 'acme', kind: 'person' })
  })

  it('is granted what all of his groups are, as of the last sign-in, and what is given by hand stays', () => {
    signIn({ groups: ['ml-team', 'sec', 'nothing'] })
    expect(state.signedIn.get('ann-b')).toEqual({
      grants: [
        { role: 'writer', scope: 'acme' },
        { role: 'reader', scope: '*' },
      ],
      ends_at: '2026-01-31T00:00:00.000Z',
    })
    applyItem(state, { key: itemKey('grant', 'ann-b', 'beta'), value: { role: 'admin' }, at: '', by: 'x' })
    applyItem(state, { key: 'group/late', value: { grants: [{ role: 'admin', scope: 'gamma' }] }, at: '', by: 'x' })
    signIn({ groups: 'late' })
    expect([state.signedIn.get('ann-b')?.grants, state.grants.get('ann-b')?.get('beta')]).toEqual([
      [{ role: 'admin', scope: 'gamma' }],
      'admin',
    ])
    expect(signIn({ realm: { roles: ['sec'] } }, { oidcGroupsClaim: 'realm.roles' })).toBe('ann-b')
    expect(signIn({ groups: [] })).toBe('ann-b')
  })

  it('is refused with the reason', () => {
    expect(() => signIn({ groups: ['a', 'b'] })).toThrow('None of your groups has access: a, b')
    expect(() => signIn({ groups: 5 })).toThrow('none came')
    expect(() => signIn({ groups: undefined, _claim_names: { groups: 'src1' } })).toThrow('truncated the claim groups')
    expect(signIn({ groups: [] }, { oidcDefaultRole: 'reader@acme' })).toBe('ann-b')
    const domains = { oidcDomains: ['acme.example'] }
    for (const odd of [
      { email: 'a@acme.example' },
      { email: 'a@acme.example', email_verified: 'true' },
      { email: 'a@evil.example', email_verified: true },
    ])
      expect(() => signIn(odd, domains)).toThrow('Only verified email addresses')
    expect(signIn({ email: 'a@ACME.example', email_verified: true }, domains)).toBe('ann-b')
    applyItem(state, { key: itemKey('user-off', 'ann-b'), value: {}, at: '', by: 'x' })
    expect(() => signIn()).toThrow('deactivated')
  })
})

describe('the way to the provider and back', () => {
  let provider: OidcProvider
  let server: TestServer
  let keys: Keys
  let directory: Directory
  let now = Date.now()
  beforeAll(async () => {
    provider = await startOidcProvider('callhouse')
    server = await startServer(
      (opened, config) => {
        directory = opened
        keys = createKeys(directory, { configured: config.keys, now: () => now })
        const masterKey = () => Buffer.alloc(32, 7)
        const sessions = createSessions({ keys, masterKey, directory, config, now: () => now })
        const logger = { warn: () => undefined }
        const audit = { record: async () => undefined }
        return [
          ...createSessionRoutes({ sessions, keys, audit, logger, server: { version: '1', config } }),
          ...createSignInRoutes({ directory, sessions, keys, masterKey, config, now: () => now }),
        ]
      },
      ['--oidc-issuer', provider.issuer, '--oidc-client-id', 'callhouse', '--oidc-roles', roles.join(',')],
    )
  })
  afterAll(async () => {
    await server?.stop()
    await provider?.close()
  })
  beforeEach(() => {
    provider.user = { sub: 'ann', preferred_username: 'ann.b', groups: ['ml-team'], iss: provider.issuer }
    provider.faults = {}
    now = Date.now()
  })

  const get = (path: string, cookie = '') =>
    send(server.port, path, { anonymous: true, headers: { 'x-callhouse-page': '1', ...(cookie && { cookie }) } })
  const cookieIn = (answer: Answer): string => String(answer.headers['set-cookie']).split(';', 1)[0] as string
  async function begin(path = '/auth/login?return_to=/acme/app/calls') {
    const there = await get(path)
    expect(there.status).toBe(302)
    return { back: provider.authorize(String(there.headers.location)), cookie: cookieIn(there), there }
  }
  const finish = ({ back, cookie }: { back: URL; cookie: string }) => get(`${back.pathname}${back.search}`, cookie)
  const who = async (cookie: string) => (json(await get('/auth/session', cookie)) as { user_id: string | null }).user_id

  it('signs in, with the rights of the groups, and leads on', async () => {
    const begun = await begin()
    expect(String(begun.there.headers['set-cookie'])).toMatch(/; Path=\/auth\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
    const done = await finish(begun)
    expect([done.status, done.headers.location]).toEqual([302, '/acme/app/calls'])
    expect(String(done.headers['set-cookie'])).toContain('HttpOnly; SameSite=Strict')
    expect(await who(cookieIn(done))).toBe('ann.b')
    const holder = keys.findId('user:ann.b')
    expect([holder?.may('write', 'acme/app' as ProjectId), holder?.may('read', 'beta/app' as ProjectId)]).toEqual([
      true,
      false,
    ])
    expect(json(await get('/auth/providers'))).toEqual({ providers: [{ name: '127.0.0.1' }] })
    // Grants of groups lapse, and with them the rights of the person's keys.
    const { text, stored } = keys.create({ userId: 'ann.b', role: 'reader', grants: ['acme'] })
    await stored
    await directory.append([{ key: itemKey('grant', 'ann.b', 'acme'), value: null }], 'x')
    expect(keys.find(text)?.may('read', 'acme/app' as ProjectId)).toBe(true)
    now += 31 * 86_400_000
    expect(keys.find(text)?.may('read', 'acme/app' as ProjectId)).toBe(false)
  })

  it('takes no answer twice, none of another sign-in, and none that comes late', async () => {
    const begun = await begin()
    expect((await finish(begun)).status).toBe(302)
    expect((await finish(begun)).status).toBe(401)
    const [one, other] = [await begin(), await begin()]
    expect((await finish({ back: one.back, cookie: other.cookie })).status).toBe(401)
    expect((await finish({ back: one.back, cookie: '' })).status).toBe(401)
    const replayed = await begin()
    replayed.back.searchParams.set('code', begun.back.searchParams.get('code') as string)
    expect((await finish(replayed)).status).toBe(401)
    const late = await begin()
    now += 601_000
    expect((await finish(late)).status).toBe(401)
  })

  it.each<[string, OidcProvider['faults']]>([
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['for another client', { claims: { aud: 'other' } }],
    ['to another question', { claims: { nonce: 'other' } }],
    ['that has run out', { claims: { exp: 1_700_000_000 } }],
    ['that nobody signed', { sign: 'none' }],
    ['that somebody else signed', { sign: 'other' }],
    ['whose address names another issuer', { iss: 'https://evil.example' }],
  ])('takes no answer %s', async (_, faults) => {
    provider.faults = faults
    const { status, headers } = await finish(await begin())
    expect([status, headers['set-cookie']]).toEqual([401, undefined])
    provider.faults = {}
    expect((await finish(await begin())).status).toBe(302)
  })

  it('tells which groups came when none opens anything, and leads nowhere else', async () => {
    provider.user = { ...provider.user, sub: 'eve', groups: ['nobody'] }
    const { status, text } = await finish(await begin())
    expect([status, text.includes('nobody')]).toEqual([403, true])
    for (const odd of ['//evil.example', 'https://evil.example', '/\\evil.example', 'calls'])
      expect((await get(`/auth/login?return_to=${encodeURIComponent(odd)}`)).status).toBe(400)
  })

  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const sendLogout = async (token: string) => {
    const body = new URLSearchParams({ logout_token: token }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return (await send(server.port, '/auth/backchannel-logout', { anonymous: true, headers, body })).status
  }
  const logout = async (claims: Record<string, unknown>) => sendLogout(await provider.logoutToken(claims))

  it('ends sessions by a logout token once, and by none that is old', async () => {
    provider.user = { ...provider.user, sub: 'bob', preferred_username: 'bob' }
    const iat = Math.floor(now / 1000)
    const cookie = cookieIn(await finish(await begin()))
    // Without an end of its own, and with one that is far: its age counts.
    for (const exp of [undefined, iat + 10_000_000]) {
      expect(await logout({ sub: 'bob', events, iat: iat - 331, exp, jti: 'old' })).toBe(400)
      expect(await logout({ sub: 'bob', events, iat: iat + 3_600, exp, jti: 'not yet' })).toBe(400)
    }
    expect(await logout({ sub: 'bob', events, iat: iat - 200, exp: iat - 100, jti: 'ended' })).toBe(400)
    expect(await who(cookie)).toBe('bob')
    now += 1
    const token = await provider.logoutToken({ sub: 'bob', events, iat, exp: iat + 60, jti: 'once' })
    expect([await sendLogout(token), await who(cookie)]).toEqual([200, null])
    now += 1
    const later = cookieIn(await finish(await begin()))
    now += 1
    expect([await sendLogout(token), await who(later)]).toEqual([400, 'bob'])
    // A process that does not know of it ends by it no session that began after it was issued.
    now += 40_000
    const latest = cookieIn(await finish(await begin()))
    const again = { sub: 'bob', events, iat, exp: iat + 60, jti: 'known elsewhere' }
    expect([await logout(again), await who(later), await who(latest)]).toEqual([200, null, 'bob'])
  })

  it('ends the sessions of who signs out there, and only by a logout token', async () => {
    const cookie = cookieIn(await finish(await begin()))
    for (const odd of [
      { sub: 'ann' },
      { sub: 'ann', events, nonce: 'n' },
      { sub: 'ann', events, aud: 'other' },
      { events },
    ])
      expect(await logout(odd)).toBe(400)
    expect(await who(cookie)).toBe('ann.b')
    now += 1
    expect([await logout({ sub: 'ann', events }), await who(cookie)]).toEqual([200, null])
  })

  it('goes on when the provider changes its key, and says so when it is away', async () => {
    await provider.rotate()
    // No more than once in a second the keys are asked for.
    await expectSoon(async () => (await finish(await begin())).status, { everyMs: 300 }).toBe(302)
    expect((await finish(await begin())).status).toBe(302)
    const begun = await begin()
    await provider.close()
    expect((await finish(begun)).status).toBe(502)
  })
})
