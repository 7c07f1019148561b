// Room in the directory that installations share: no entity fills it, and whoever may know is told who takes it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAccessRoutes } from '../../services/access/routes.ts'
import type { Change, Directory } from '../../services/core/directory/directory.ts'
import { itemKey } from '../../services/core/directory/items.ts'
import { actionsOf, type Role } from '../../services/core/directory/roles.ts'
import { roomFor } from '../../services/core/directory/room.ts'
import { applyItem, emptyState } from '../../services/core/directory/state.ts'
import { throwIfNoRoom } from '../../services/core/http/room.ts'
import { send, startServer, type TestServer } from '../fixtures/http-server.ts'

let server: TestServer
let directory: Directory
beforeEach(async () => {
  server = await startServer((opened, config, { uses }) => {
    directory = opened
    return createAccessRoutes({ directory, config, keyUses: uses })
  })
})
afterEach(() => server.stop())

async function ask(method: string, path: string, body: unknown, key = 'secret') {
  const headers = { authorization: `Bearer ${key}` }
  const { status, text } = await send(server.port, path, {
    anonymous: true,
    method,
    headers,
    body: JSON.stringify(body),
  })
  return { status, ...(JSON.parse(text) as { reason?: string; key?: string }) }
}

/** The key of an admin of the scope. */
async function adminOf(scope: string, by?: string): Promise<string> {
  const user_id = `admin-${scope}-${by === undefined ? 'one' : 'two'}`
  const actions = actionsOf('admin', scope)
  expect((await ask('POST', '/users', { id: user_id }, by)).status).toBe(200)
  expect((await ask('PUT', '/grants', { user_id, scope, role: 'admin' }, by)).status).toBe(200)
  return (await ask('POST', '/keys', { user_id, name: 'k', actions, scopes: [scope] }, by)).key as string
}

/** As if so many had been there for long: of a thousand at one time. */
async function fill(count: number, changeOf: (n: number) => Change): Promise<void> {
  const changes = Array.from({ length: count }, (_, n) => changeOf(n))
  for (let at = 0; at < count; at += 1_000) await directory.append(changes.slice(at, at + 1_000), 'x')
}
const userOf = (share_of: string) => (n: number) => ({
  key: itemKey('user', `${share_of}-${n}`),
  value: { kind: 'service', entity: `${share_of}-${n}`, share_of },
})

describe('users', () => {
  it('of an entity leave as much room again, whoever of it makes them and for whom; the operator makes more', async () => {
    const acme = await adminOf('acme/app')
    const second = await adminOf('acme/app', acme)
    const other = await adminOf('other/app')
    // The admins that the operator made are of entities of their own, and leave the others two less.
    await fill(roomFor.user / 2 - 3, userOf('acme'))
    expect((await ask('POST', '/users', { id: 'last' }, second)).status).toBe(200)
    const refused = { status: 409, reason: expect.stringMatching(/^acme has its share of users, half of what/) }
    expect(await ask('POST', '/users', { id: 'more' }, acme)).toEqual(refused)
    expect(await ask('POST', '/users', { id: 'more', entity: 'acme' }, second)).toEqual(refused)
    // An administrator of the entity sees the number.
    const whole = await adminOf('acme')
    expect((await ask('POST', '/users', { id: 'more' }, whole)).reason).toMatch(/^acme has 49\d\d users/)
    expect((await ask('POST', '/users', { id: 'more' }, other)).status).toBe(200)
    expect((await ask('POST', '/users', { id: 'operators', entity: 'acme' })).status).toBe(200)
    // A caller that removes some may make others.
    await fill(3, (n) => ({ key: itemKey('user', `acme-${n}`), value: null }))
    expect((await ask('POST', '/users', { id: 'again' }, acme)).status).toBe(200)
  })

  it('are as many as the installation holds, and who has most of them is told to whom it is told', async () => {
    const acme = await adminOf('acme')
    await fill(7_000, userOf('full'))
    await fill(roomFor.user - directory.state().users.size, userOf('acme'))
    const { status, reason } = await ask('POST', '/users', { id: 'more' })
    expect([status, reason]).toEqual([
      409,
      expect.stringMatching(
        /^This installation has 10000 users, and holds no more, of them 7000 of full, 299\d of acme/,
      ),
    ])
    const told = await ask('POST', '/users', { id: 'more' }, acme)
    expect([told.status, told.reason]).toEqual([409, expect.stringMatching(/of them 299\d of acme: remove some$/)])
    expect(told.reason).not.toContain('full')
  })
})

describe('keys, roles and holds', () => {
  const holdOf = (project: string) => (n: number) => ({
    key: itemKey('hold', `${project}-${n}`),
    value: { scope: project, trace_ids: ['t'], reason: 'r' },
  })

  it('of an entity leave as much room again: holds, whose number has a bound', async () => {
    const [acme, other] = [await adminOf('acme/app'), await adminOf('other/app')]
    const hold = (project: string, key?: string) =>
      ask('POST', `/v2/${project}/holds`, { trace_ids: ['t'], reason: 'r' }, key)
    await fill(roomFor.hold / 2 - 1, holdOf('acme/app'))
    expect((await hold('acme/app', acme)).status).toBe(200)
    expect(await hold('acme/app', acme)).toMatchObject({
      status: 409,
      reason: expect.stringMatching(/^acme has its share of holds/),
    })
    expect((await hold('other/app', other)).status).toBe(200)
    await fill(roomFor.hold - directory.state().holds.size - 1, holdOf('acme/two'))
    expect((await hold('acme/app')).status).toBe(200)
    expect((await hold('acme/app')).reason).toMatch(/^This installation has 5000 holds.* 4999 of acme, 1 of other/)
  })

  it.each([
    ['key', { user: 'u', scopes: ['acme/app'], sha256: '' }],
    ['grant', { role: 'reader' as Role }],
    ['secret', { version: 1 }],
  ] as const)('of an entity leave as much room again: %s', (kind, value) => {
    const state = emptyState()
    const bound = kind === 'secret' ? roomFor.item : roomFor[kind]
    const keyOf = (n: number) =>
      ({ key: `key/k${n}`, grant: `grant/u${n}/acme/app`, secret: `secret/acme/app/S${n}` })[kind]
    for (let n = 0; n < bound / 2; n++) applyItem(state, { key: keyOf(n), at: '', by: 'x', value })
    const add = (who: object, change = { key: keyOf(bound), value: value as unknown }) =>
      throwIfNoRoom(state, [change], { userId: 'u', ...who })
    expect(() => add({ access: { 'acme/app': ['admin'] } })).toThrow('acme has its share of')
    expect(() => add({ access: { acme: ['admin'] } })).toThrow(`acme has ${bound / 2} `)
    expect(() => add({ access: { '*': ['admin'] } })).not.toThrow()
    expect(() => add({}, { key: keyOf(1), value })).not.toThrow()
    // An item that ends something is always taken.
    expect(() => add({}, { key: itemKey('key-revoked', 'k1'), value: {} })).not.toThrow()
    for (let n = 0; n < bound / 2; n++) applyItem(state, { key: keyOf(n), at: '', by: 'x', value: null })
    expect(state.room.size).toBe(0)
  })
})
