// Users, grants and keys over HTTP: who sees and changes what, what is refused, and keys that do no more than their maker.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccessRoutes } from '../../services/access/routes.ts'
import { route } from '../../services/core/http/route.ts'
import { send, startServer, type TestServer } from '../fixtures/http-server.ts'

let server: TestServer
beforeAll(async () => {
  const asked = route({
    name: 'test.read',
    method: 'GET',
    path: '/read/{entity}/{project}',
    right: 'read',
    summary: '',
    body: { type: 'none' },
    response: null,
    handle: async (context) => ({
      json: { project: context.project(`${context.params.entity}/${context.params.project}`) },
    }),
  })
  server = await startServer((directory, config, { uses }) => [
    asked,
    ...createAccessRoutes({ directory, config, keyUses: uses }),
  ])
})
afterAll(() => server.stop())

type Answered = { status: number; body: Record<string, unknown>; lines: Record<string, unknown>[]; text: string }

/** As the operator's key, or another one. */
async function ask(method: string, path: string, body?: unknown, key = 'secret'): Promise<Answered> {
  const headers = { authorization: `Bearer ${key}` }
  const sent = { anonymous: true, method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const { status, text } = await send(server.port, path, sent)
  const lines = text.split('\n').filter(Boolean)
  const parsed = () => lines.map((line) => JSON.parse(line))
  const isLines = method === 'GET' && status === 200 && !path.startsWith('/read')
  return { status, text, body: isLines ? {} : JSON.parse(text), lines: isLines ? parsed() : [] }
}

/** A user with a role, and a key that does all of it. */
async function member(id: string, scope: string, role: string, actions: string[]): Promise<string> {
  await ask('POST', '/users', { id, kind: 'person' })
  expect(await ask('PUT', '/grants', { user_id: id, scope, role })).toMatchObject({ status: 200 })
  const made = await ask('POST', '/keys', { user_id: id, name: id, actions, scopes: [scope] })
  expect(made.status).toBe(200)
  return made.body.key as string
}
const adminActions = ['read', 'ingest', 'annotate', 'write', 'delete', 'infer', 'admin']
const statusOf = async (...[method, path, body, key]: Parameters<typeof ask>) =>
  (await ask(method, path, body, key)).status
const reads = (key: string, project: string) => statusOf('GET', `/read/${project}`, undefined, key)

describe('users, grants and keys', () => {
  it('are made, do what they are granted, and end', async () => {
    const made = await ask('POST', '/users', { id: 'svc', kind: 'service', name: 'CI', entity: 'acme' })
    expect(made.body).toEqual({ id: 'svc', kind: 'service', name: 'CI', entity: 'acme', is_off: false, grants: [] })
    expect(await statusOf('POST', '/users', { id: 'svc' })).toBe(409)
    expect(await statusOf('POST', '/users', { id: 'ann' })).toBe(409)
    const request = { user_id: 'svc', name: 'first', actions: ['read'], scopes: ['acme'] }
    await ask('PUT', '/grants', { user_id: 'svc', scope: 'acme', role: 'reader' })
    const { id, key } = (await ask('POST', '/keys', request)).body as { id: string; key: string }
    expect(key).toMatch(/^chk_[0-9A-Za-z]{50}$/)
    await ask('PUT', '/grants', { user_id: 'svc', scope: 'acme', role: null })
    expect(await reads(key, 'acme/app'), 'the user may no longer').toBe(403)
    await ask('PUT', '/grants', { user_id: 'svc', scope: 'acme', role: 'writer' })
    expect([await reads(key, 'acme/app'), await reads(key, 'beta/app')]).toEqual([200, 403])
    expect(await statusOf('POST', '/users/svc/off')).toBe(200)
    expect(await ask('GET', '/read/acme/app', undefined, key)).toMatchObject({
      status: 401,
      body: { code: 'key_revoked' },
    })
    expect(await statusOf('POST', '/users/svc/on')).toBe(200)

    // A bound that is misspelt would be none.
    for (const [path, body] of [
      ['/keys', { ...request, limit: { calls_per_minute: 1 } }],
      ['/me/keys', { name: '', actions: ['read'], scopes: ['acme'], adresses: ['10.0.0.0/8'] }],
      [`/keys/${id}/rotate`, { overlap_hour: 1 }],
      ['/users', { id: 'new', entty: 'acme' }],
    ] as const)
      expect([path, await statusOf('POST', path, body)]).toEqual([path, 422])
    expect(await statusOf('PUT', '/grants', { user_id: 'svc', scope: 'acme', role: 'writer', roles: [] })).toBe(422)

    const rotated = (await ask('POST', `/keys/${id}/rotate`, { overlap_hours: 1 })).body as { id: string; key: string }
    expect([await reads(key, 'acme/app'), await reads(rotated.key, 'acme/app')]).toEqual([200, 200])
    expect(await statusOf('POST', `/keys/${id}/rotate`)).toBe(409)
    const revoked = await ask('DELETE', `/keys/${rotated.id}`)
    expect([revoked.status, await reads(rotated.key, 'acme/app')]).toEqual([200, 401])
    expect((await ask('DELETE', `/keys/${rotated.id}`)).body).toEqual(revoked.body)
    const lines = (await ask('GET', '/keys')).lines
    expect(lines.find((one) => one.id === id)).toMatchObject({ name: 'first', user_id: 'svc', successor: rotated.id })
    expect(lines.find((one) => one.id === rotated.id)).toMatchObject({ created_by: 'ann', ...revoked.body })
    expect(JSON.stringify(lines)).not.toContain(key.slice(16))

    expect((await ask('DELETE', '/users/svc')).status).toBe(200)
    expect([await reads(key, 'acme/app'), await statusOf('DELETE', '/users/svc')]).toEqual([401, 404])
    // A later user of the same name gets nothing that the earlier one had.
    await ask('POST', '/users', { id: 'svc' })
    expect([await reads(key, 'acme/app'), (await ask('GET', '/grants?scope=acme')).lines]).toEqual([401, []])
  })

  it('do no more than who made them, and nobody raises himself', async () => {
    const admin = await member('adam', 'acme', 'admin', adminActions)
    const reader = await member('rita', 'acme', 'reader', ['read'])
    const owner = await member('olga', 'acme', 'owner', [...adminActions, 'owner'])
    const as = (key: string) => (method: string, path: string, body?: unknown) => statusOf(method, path, body, key)
    const grant = (user_id: string, scope: string, role: string | null) =>
      ['PUT', '/grants', { user_id, scope, role }] as const
    expect(await as(admin)(...grant('rita', 'acme/app', 'writer'))).toBe(200)
    expect(await as(admin)(...grant('rita', 'acme', 'admin'))).toBe(200)
    for (const refused of [
      grant('rita', 'acme', 'owner'),
      grant('rita', 'beta', 'reader'),
      grant('rita', '*', 'reader'),
      // His own, and one that holds more.
      grant('adam', 'acme', 'reader'),
      grant('olga', 'acme', 'reader'),
      grant('olga', 'acme', null),
    ])
      expect([refused[2], await as(admin)(...refused)]).toEqual([refused[2], 403])
    expect(await as(owner)(...grant('rita', 'acme', 'owner'))).toBe(200)
    expect(await as(owner)(...grant('rita', 'acme', 'reader'))).toBe(200)
    expect(await as(admin)('POST', '/users/olga/off')).toBe(403)
    expect(await as(admin)('DELETE', '/users/adam')).toBe(403)
    const key = (actions: string[], scopes: string[]) =>
      ['POST', '/keys', { user_id: 'rita', name: 'x', actions, scopes }] as const
    expect(await as(admin)(...key(['read', 'write'], ['acme/app']))).toBe(200)
    for (const refused of [key(['owner'], ['acme']), key(['read'], ['acme', 'beta']), key(['read'], ['*'])])
      expect(await as(admin)(...refused)).toBe(403)
    for (const [method, path, body] of [
      key(['read'], ['acme']),
      grant('rita', 'acme', 'reader'),
      ['GET', '/users'] as const,
    ])
      expect(await as(reader)(method, path, body)).toBe(403)
    expect(await as(admin)('PUT', '/grants', { user_id: 'nobody', scope: 'acme', role: 'reader' })).toBe(404)
    for (const odd of ['a/b/c', 'a b', '*/x'])
      expect(await as('secret')('PUT', '/grants', { user_id: 'rita', scope: odd, role: 'reader' })).toBe(422)
    for (const body of [
      { user_id: 'rita', name: 'x', actions: ['fly'], scopes: ['acme'] },
      { user_id: 'rita', actions: [], scopes: [] },
    ])
      expect(await as('secret')('POST', '/keys', body)).toBe(422)
    const past = { ...key(['read'], ['acme'])[2], expires_at: '2020-01-01T00:00:00Z' }
    expect(await as('secret')('POST', '/keys', past)).toBe(422)
    expect(await as('secret')('GET', '/users?limit=0')).toBe(422)
  })

  it('of another team are not spoken for: no key in their name, and neither name nor address', async () => {
    const admin = await member('amy', 'team-a', 'admin', adminActions)
    const other = await member('ben', 'team-b', 'admin', adminActions)
    const as = (key: string) => (method: string, path: string, body?: unknown) => ask(method, path, body, key)
    await ask('POST', '/users', { id: 'cleo', name: 'Cleo C.' })
    const grant = (scope: string, user_id = 'cleo') => ['PUT', '/grants', { user_id, scope, role: 'admin' }] as const
    const keyOn = (scope: string, user_id = 'cleo', actions = ['read', 'admin']) =>
      ['POST', '/keys', { user_id, name: 'x', actions, scopes: [scope] }] as const
    const shownTo = async (key: string) =>
      (await as(key)('GET', '/users')).lines.find(({ id }) => id === 'cleo') as { name?: string } | undefined

    // Unseen, as if it were not there.
    expect([await as(admin)(...keyOn('team-a')), await as(admin)(...keyOn('team-a', 'nobody'))]).toMatchObject([
      { status: 404, body: { reason: 'User cleo not found' } },
      { status: 404, body: { reason: 'User nobody not found' } },
    ])
    expect((await as(other)(...grant('team-b'))).status).toBe(200)
    const made = (await as(other)(...keyOn('team-b'))).body as { id: string }
    expect(await shownTo(other)).toMatchObject({ name: 'Cleo C.' })
    expect((await as(admin)(...grant('team-a'))).status).toBe(200)
    for (const key of [admin, other]) expect(await shownTo(key)).toMatchObject({ id: 'cleo', entity: 'cleo' })
    for (const key of [admin, other]) expect(await shownTo(key)).not.toHaveProperty('name')
    // The other team would take messages by such a key for her word.
    expect(await as(admin)(...keyOn('team-a'))).toMatchObject({ status: 403 })
    expect(await as(other)('POST', `/keys/${made.id}/rotate`)).toMatchObject({ status: 403 })
    // Nor for one who was made for the other entity, and is granted nothing there yet.
    expect((await as(other)('POST', '/users', { id: 'dora', name: 'Dora', entity: 'team-b' })).status).toBe(200)
    expect((await as(admin)(...grant('team-a', 'dora'))).status).toBe(200)
    const { lines } = await as(admin)('GET', '/users')
    expect(lines.find(({ id }) => id === 'dora')).not.toHaveProperty('name')
    expect((await as(admin)(...keyOn('team-a', 'dora'))).status).toBe(403)
    expect((await as(admin)('POST', '/users/dora/off')).status).toBe(403)
    // One's own, and by who administers both.
    expect(await as(admin)(...keyOn('team-a', 'amy'))).toMatchObject({ status: 200 })
    expect(await ask('POST', `/keys/${made.id}/rotate`)).toMatchObject({ status: 200 })
    expect(await as(other)('DELETE', `/keys/${made.id}`)).toMatchObject({ status: 200 })
  })

  it('say when they were used last, to the minute', async () => {
    const key = await member('used', 'acme', 'reader', ['read'])
    const shown = async () => (await ask('GET', '/keys')).lines.find(({ user_id }) => user_id === 'used')?.last_used_at
    expect(await shown()).toBeUndefined()
    const before = Date.now()
    expect(await reads(key, 'acme/app')).toBe(200)
    const at = Date.parse(String(await shown()))
    expect([at % 60_000, at > before - 60_000, at <= Date.now()]).toEqual([0, true, true])
  })

  it('of a user that only CALLHOUSE_KEYS names are none besides, and who asks for one is told so', async () => {
    const asked = { name: 'mine', actions: ['read'], scopes: ['acme'] }
    const { status, text } = await ask('POST', '/me/keys', asked)
    expect([status, text]).toEqual([409, expect.stringContaining('CALLHOUSE_KEYS')])
    expect(await ask('GET', '/me/keys')).toMatchObject({ status: 200, lines: [] })
  })

  it('of others are not told of', async () => {
    const here = await member('hugo', 'here', 'admin', adminActions)
    const there = await member('tess', 'there', 'admin', adminActions)
    await member('both', 'here', 'reader', ['read'])
    await ask('PUT', '/grants', { user_id: 'both', scope: 'there/hidden', role: 'reader' })
    const wide = await ask('POST', '/keys', {
      user_id: 'both',
      name: 'w',
      actions: ['read'],
      scopes: ['here', 'there/hidden'],
    })
    for (const path of ['/users', '/keys', '/grants?scope=here']) {
      const { status, text } = await ask('GET', path, undefined, here)
      expect([path, status, text.includes('hugo'), text.includes('there'), text.includes('tess')]).toEqual([
        path,
        200,
        true,
        false,
        false,
      ])
    }
    expect((await ask('GET', '/users', undefined, here)).lines.map(({ id }) => id)).toEqual(['both', 'hugo'])
    expect(await statusOf('GET', '/grants?scope=there', undefined, here)).toBe(403)
    // Like one that never was; one that opens more is not theirs to end.
    const own = (await ask('GET', '/me/keys', undefined, there)).lines[0]?.id
    const shown = async (id: unknown) => {
      const { status, text } = await ask('DELETE', `/keys/${id}`, undefined, here)
      return [status, text.replace(String(id), 'id')]
    }
    expect(await shown(own)).toEqual(await shown('000000000000'))
    expect((await shown(wide.body.id))[0]).toBe(403)
    const off = async (id: string) => (await ask('POST', `/users/${id}/off`, undefined, here)).text.replace(id, 'id')
    expect(await off('tess')).toBe(await off('nobody'))
    expect(await statusOf('POST', '/users/both/off', undefined, here)).toBe(403)
    const pages = [
      await ask('GET', '/users?limit=1', undefined, here),
      await ask('GET', '/users?after=both', undefined, here),
    ]
    expect(pages.map(({ lines }) => lines.map(({ id }) => id))).toEqual([['both'], ['hugo']])
  })
})

describe('one’s own keys', () => {
  it('do no more and last no longer than the key that makes them, and show no wider ones', async () => {
    const writer = await member('wim', 'acme', 'writer', ['read', 'write', 'ingest'])
    const own = (actions: string[], scopes: string[], key = writer, more = {}) =>
      ask('POST', '/me/keys', { name: 'own', actions, scopes, ...more }, key)
    const narrow = await own(['ingest'], ['acme/app'])
    expect(narrow.status).toBe(200)
    for (const refused of [
      own(['delete'], ['acme']),
      own(['read'], ['*']),
      own(['read'], ['acme/app'], narrow.body.key as string),
    ])
      expect((await refused).status).toBe(403)
    const listed = async (key: string) => (await ask('GET', '/me/keys', undefined, key)).lines.map(({ id }) => id)
    const all = await listed(writer)
    expect([all.length, await listed(narrow.body.key as string)]).toEqual([2, [narrow.body.id]])
    const wider = all.find((id) => id !== narrow.body.id)
    expect(await statusOf('DELETE', `/me/keys/${wider}`, undefined, narrow.body.key as string)).toBe(404)
    const ends = new Date(Date.now() + 3_600_000).toISOString()
    const short = await own(['read'], ['acme'], writer, { expires_at: ends })
    expect((await own(['read'], ['acme'], short.body.key as string)).body.expires_at).toBe(ends)
    expect(await statusOf('DELETE', `/me/keys/${narrow.body.id}`, undefined, writer)).toBe(200)
    expect(await statusOf('GET', '/me/keys', undefined, narrow.body.key as string)).toBe(401)
  })

  it('last no longer than the key that makes or rotates them, whoever they are of', async () => {
    const admin = await member('eva', 'brief', 'admin', adminActions)
    await ask('POST', '/users', { id: 'worker', kind: 'service', entity: 'brief' })
    await ask('PUT', '/grants', { user_id: 'worker', scope: 'brief', role: 'reader' })
    const ends = new Date(Date.now() + 3_600_000).toISOString()
    const own = { name: 'short', actions: adminActions, scopes: ['brief'], expires_at: ends }
    const short = (await ask('POST', '/me/keys', own, admin)).body as { id: string; key: string }
    const ofWorker = { user_id: 'worker', name: 'x', actions: ['read'], scopes: ['brief'] }
    const later = new Date(Date.now() + 7_200_000).toISOString()
    for (const expires_at of [undefined, later]) {
      const made = await ask('POST', '/keys', { ...ofWorker, expires_at }, short.key)
      expect(made.body).toMatchObject({ expires_at: ends })
    }
    const endless = (await ask('POST', '/keys', ofWorker, admin)).body as { id: string; expires_at?: string }
    expect(endless.expires_at).toBeUndefined()
    expect((await ask('POST', `/keys/${endless.id}/rotate`, {}, short.key)).body).toMatchObject({ expires_at: ends })
    const successor = await ask('POST', `/keys/${short.id}/rotate`, {}, short.key)
    expect(successor.body).toMatchObject({ expires_at: ends })
    // A user whose access does not end renews it: for as long again.
    const { id } = successor.body as { id: string }
    const again = (await ask('POST', `/keys/${id}/rotate`, {}, admin)).body as { expires_at: string }
    expect(Date.parse(again.expires_at)).toBeGreaterThan(Date.parse(ends))
  })

  it('have the limits of the key that makes them', async () => {
    const limits = { requests_per_minute: 100 }
    await member('lim', 'acme', 'writer', ['read'])
    const of = { user_id: 'lim', name: 'limited', actions: ['read'], scopes: ['acme'] }
    const limited = (await ask('POST', '/keys', { ...of, limits })).body.key as string
    expect(await statusOf('POST', '/me/keys', { name: 'own', actions: ['read'], scopes: ['acme'] }, limited)).toBe(200)
    const { lines } = await ask('GET', '/me/keys', undefined, limited)
    expect(lines.map(({ name, limits }) => [name, limits])).toEqual(
      expect.arrayContaining([['limited', limits] as const, ['own', limits] as const]),
    )
    expect(await statusOf('POST', '/keys', { ...of, limits: { requests_per_hour: 1 } })).toBe(422)
  })

  it('get other limits by who administers them, which their successors have too', async () => {
    const admin = await member('limadmin', 'acme', 'admin', adminActions)
    const request = { user_id: 'limadmin', name: 'changed', actions: ['read', 'admin'], scopes: ['acme'] }
    const made = (await ask('POST', '/keys', { ...request, limits: { calls_per_minute: 5 } }, admin)).body
    const path = `/keys/${made.id}/limits`
    const limits = { requests_per_minute: 7 }
    const key = made.key as string
    const other = await member('limother', 'beta', 'admin', adminActions)
    expect([
      await statusOf('PUT', path, limits, key),
      await statusOf('PUT', path, limits, other),
      await statusOf('PUT', '/keys/none/limits', limits, admin),
      await statusOf('PUT', path, { requests_per_hour: 7 }, admin),
      await statusOf('PUT', path, { requests_per_minute: -1 }, admin),
    ]).toEqual([403, 404, 404, 422, 422])
    expect(await ask('PUT', path, limits, admin)).toMatchObject({ status: 200, body: limits })
    const rotated = (await ask('POST', `/keys/${made.id}/rotate`, {}, admin)).body
    const { lines } = await ask('GET', '/keys', undefined, admin)
    const limitsOf = (id: unknown) => lines.find((line) => line.id === id)?.limits
    expect([limitsOf(made.id), limitsOf(rotated.id)]).toEqual([limits, limits])
  })

  it('of a key with limits gives none that is looser, neither to new keys nor to others nor by a successor', async () => {
    await member('bound', 'acme', 'admin', adminActions)
    const of = { user_id: 'bound', actions: adminActions, scopes: ['acme'] }
    const free = (await ask('POST', '/keys', of)).body
    const wider = (await ask('POST', '/keys', { ...of, limits: { requests_per_minute: 21 } })).body
    const limits = { requests_per_minute: 20 }
    const key = (await ask('POST', '/keys', { ...of, limits })).body.key as string
    const own = { actions: ['read'], scopes: ['acme'] }
    const looser = { requests_per_minute: 30 }
    const refused = [
      ['POST', '/keys', { ...of, limits: looser }],
      ['POST', '/keys', { ...of, limits: { requests_per_minute: 21, calls_per_minute: 1 } }],
      ['PUT', `/keys/${free.id}/limits`, looser],
      ['POST', `/keys/${free.id}/rotate`, {}],
      ['POST', `/keys/${wider.id}/rotate`, {}],
    ] as const
    for (const [method, path, body] of refused) expect(await statusOf(method, path, body, key)).toBe(403)
    // A key without limits of its own gets those of its maker.
    for (const asked of [{}, { limits: {} }, { limits: { requests_per_minute: 0 } }])
      expect(await statusOf('POST', '/keys', { ...of, ...asked }, key)).toBe(200)
    expect(await statusOf('POST', '/me/keys', own, key)).toBe(200)
    const put = await ask('PUT', `/keys/${wider.id}/limits`, { calls_per_minute: 9 }, key)
    expect(put).toMatchObject({ status: 200, body: { ...limits, calls_per_minute: 9 } })
    const { lines } = await ask('GET', '/keys?limit=1000', undefined)
    const shown = lines.filter(({ user_id, id }) => user_id === 'bound' && id !== free.id)
    expect(shown.filter((line) => line.limits === undefined)).toHaveLength(1)
    const least = shown.flatMap((line) => (line.limits as { requests_per_minute: number } | undefined) ?? [])
    expect(least.map((one) => one.requests_per_minute)).toEqual([20, 20, 20, 20, 20, 20])
  })

  it('count from their addresses only', async () => {
    const key = await member('net', 'acme', 'reader', ['read'])
    const from = async (...addresses: string[]) =>
      (await ask('POST', '/me/keys', { actions: ['read'], scopes: ['acme'], addresses }, key)).body
    const [near, far, wide] = [
      await from('10.0.0.0/8', '127.0.0.1'),
      await from('10.0.0.0/8'),
      await from('127.0.0.0/8'),
    ]
    expect([await reads(near.key as string, 'acme/a'), await reads(far.key as string, 'acme/a')]).toEqual([200, 403])
    expect(await reads(wide.key as string, 'acme/a')).toBe(200)
    for (const odd of ['10.0.0.0/33', 'example.com', '10.0.0', '::1/129', '10.0.0.0/x'])
      expect(await statusOf('POST', '/me/keys', { actions: ['read'], scopes: ['acme'], addresses: [odd] }, key)).toBe(
        422,
      )
  })

  it('of a key that counts from some addresses count from no others', async () => {
    await member('lan', 'acme', 'admin', adminActions)
    const of = { user_id: 'lan', actions: ['read', 'admin'], scopes: ['acme'] }
    const ranges = ['127.0.0.0/8', 'fd00::/8']
    const free = (await ask('POST', '/keys', of)).body
    const near = (await ask('POST', '/keys', { ...of, addresses: ranges })).body
    const key = near.key as string
    const own = { actions: ['read'], scopes: ['acme'] }
    for (const addresses of [['0.0.0.0/0'], ['127.0.0.0/7'], ['127.0.0.1', '10.0.0.1'], ['::/0'], ['fe80::/8']])
      for (const [path, body] of [['/me/keys', own] as const, ['/keys', of] as const])
        expect([addresses, await statusOf('POST', path, { ...body, addresses }, key)]).toEqual([addresses, 403])
    expect(await statusOf('POST', `/keys/${free.id}/rotate`, {}, key)).toBe(403)
    const made = [
      (await ask('POST', '/me/keys', own, key)).body,
      (await ask('POST', '/keys', { ...of, addresses: [] }, key)).body,
      (await ask('POST', '/me/keys', { ...own, addresses: ['127.1.2.0/24', 'fd00::1'] }, key)).body,
      (await ask('POST', `/keys/${near.id}/rotate`, {}, key)).body,
    ]
    const { lines } = await ask('GET', '/keys?limit=1000', undefined)
    const shown = made.map(({ id }) => lines.find((line) => line.id === id)?.addresses)
    expect(shown).toEqual([ranges, ranges, ['127.1.2.0/24', 'fd00::1'], ranges])
  })
})
