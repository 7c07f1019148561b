// Users and keys of another team: neither seen nor changed, and nobody speaks in the name of who has rights there.
import { expect, it } from 'vitest'
import { type Answered, post, type Sent } from '../fixtures/asker.ts'
import type { IsolationWorld } from '../fixtures/isolation-world.ts'

const admin = 'a key of an admin'

type Key = { id: string; key: string; expires_at?: string }

const put = (path: string, body: unknown): Sent => ({ method: 'PUT', path, body })
const user = (id: string, method: string, what = ''): Sent => ({
  method,
  path: `/users/${encodeURIComponent(id)}${what}`,
})
const changesOfKey = (id: string): Sent[] => [
  post(`/keys/${id}/rotate`, {}),
  put(`/keys/${id}/limits`, { requests_per_minute: 1 }),
  { method: 'DELETE', path: `/keys/${id}` },
]
/** The part of an answer that a caller sees, but for the id that it asked about. */
const shownOf = ({ status, text }: Answered, id: string) => [status, text.replaceAll(id, '<id>')]

export function keyTests(world: () => IsolationWorld): void {
  const create = async (id: string, more: object = {}) => {
    const { json } = world().operator
    await json(post('/users', { id, ...more }))
  }
  const grant = (user_id: string, scope: string, role: string) =>
    world().operator.json(put('/grants', { user_id, scope, role }))
  const keyOf = (user_id: string, scope: string, more: object = {}) =>
    world().operator.json<Key>(post('/keys', { user_id, actions: ['read', 'admin'], scopes: [scope], ...more }))

  /** Asks by a key of the test's own. */
  const askBy = async (key: string, { method, path, body }: Sent) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const url = world().server.now().url + path
    const answer = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    return { status: answer.status, text: await answer.text() }
  }

  it('users and keys of another team are answered as if there were none, and are not listed', async () => {
    const { ask, foreign, callers } = world()
    // The names are looked for in all answers.
    await create('of another team', { name: `named ${foreign.canary}`, entity: 'beta' })
    await grant('of another team', foreign.project, 'admin')
    const { id } = await keyOf('of another team', foreign.project, { name: `named ${foreign.canary}` })
    const none = [...id].reverse().join('')
    const pairs: [sent: Sent, of: string, none: Sent, ofNone: string][] = [
      ...changesOfKey(id).map((sent, at): (typeof pairs)[number] => [sent, id, changesOfKey(none)[at] as Sent, none]),
      ...(
        [
          ['POST', '/off'],
          ['POST', '/on'],
          ['DELETE', ''],
        ] as const
      ).map(([method, what]): (typeof pairs)[number] => [
        user('of another team', method, what),
        'of another team',
        user('of another town', method, what),
        'of another town',
      ]),
      [
        post('/keys', { user_id: 'of another team', actions: ['read'], scopes: ['alpha/app'] }),
        'of another team',
        post('/keys', { user_id: 'of another town', actions: ['read'], scopes: ['alpha/app'] }),
        'of another town',
      ],
    ]
    for (const [sent, of, other, ofOther] of pairs) {
      const [one, two] = [await ask(admin, sent), await ask(admin, other)]
      expect([sent.path, ...shownOf(one, of)]).toEqual([sent.path, 404, shownOf(two, ofOther)[1]])
    }
    for (const who of Object.keys(callers))
      for (const path of ['/users?limit=1000', '/keys?limit=1000', '/me/keys', '/grants?scope=alpha'])
        await ask(who, { method: 'GET', path })
    const listed = await ask(admin, { method: 'GET', path: '/users?limit=1000' })
    expect(listed.status).toBe(200)
    expect(listed.text).not.toContain('of another team')
  })

  it('nobody speaks for who has rights on another team, and a key of his is left alone', async () => {
    const { ask, own, foreign } = world()
    await create('of both teams')
    await grant('of both teams', own.project, 'admin')
    await grant('of both teams', foreign.project, 'admin')
    const [here, there] = [await keyOf('of both teams', own.project), await keyOf('of both teams', foreign.project)]
    const made = { user_id: 'of both teams', actions: ['read'], scopes: [own.project] }
    expect(await ask(admin, post('/keys', made))).toMatchObject({ status: 403 })
    expect(await ask(admin, post(`/keys/${here.id}/rotate`, {}))).toMatchObject({ status: 403 })
    expect(await ask(admin, user('of both teams', 'POST', '/off'))).toMatchObject({ status: 403 })
    for (const sent of changesOfKey(there.id)) expect(await ask(admin, sent)).toMatchObject({ status: 404 })
    // His rights here are taken away all the same.
    expect(await ask(admin, { method: 'DELETE', path: `/keys/${here.id}` })).toMatchObject({ status: 200 })
  })

  it('that an id is taken is told to admins alone, and nothing of who has it', async () => {
    const { ask, operator, callers } = world()
    await create('taken over there', { name: 'Somebody', entity: 'beta' })
    await create('taken right here', { name: 'Somebody', entity: 'alpha' })
    const answers = await Promise.all(
      ['taken over there', 'taken right here'].map(async (id) => shownOf(await ask(admin, post('/users', { id })), id)),
    )
    expect(answers).toEqual([answers[1], [409, expect.stringContaining('<id>')]])
    expect(JSON.stringify(answers)).not.toMatch(/Somebody|beta/)
    for (const who of Object.keys(callers).filter((one) => !/admin|owner|projects with names|another/.test(one)))
      for (const id of ['taken over there', 'taken by nobody'])
        for (const sent of [
          post('/users', { id }),
          put('/grants', { user_id: id, scope: 'alpha/app', role: 'reader' }),
        ])
          expect([who, (await ask(who, sent)).status]).toEqual([who, expect.toBeOneOf([401, 403])])
    expect((await operator.ask(post('/users', { id: 'taken by nobody' }))).status).toBe(200)
  })

  it('a key that counts from some addresses, or until some time, makes none that counts for more', async () => {
    const { own } = world()
    await create('of the bound key')
    await grant('of the bound key', own.project, 'admin')
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const addresses = ['127.0.0.0/8']
    const { key } = await keyOf('of the bound key', own.project, { addresses, expires_at })
    const as = (sent: Sent) => askBy(key, sent)
    const wanted = { actions: ['read'], scopes: [own.project] }
    for (const path of ['/me/keys', '/keys']) {
      const asked = path === '/keys' ? { ...wanted, user_id: 'of the bound key' } : wanted
      expect((await as(post(path, { ...asked, addresses: ['0.0.0.0/0'] }))).status).toBe(403)
      const made = await as(post(path, { ...asked, expires_at: '2099-01-01T00:00:00Z' }))
      expect(JSON.parse(made.text)).toMatchObject({ expires_at })
    }
    const lines = (await as({ method: 'GET', path: '/me/keys' })).text.split('\n').filter(Boolean)
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ addresses, expires_at })),
    )
  })

  it('the address of a file is of no use once the key that asked for it is revoked', async () => {
    const { operator, own } = world()
    await create('of the file')
    await grant('of the file', own.project, 'admin')
    const { id, key } = await keyOf('of the file', own.project)
    const asked = post('/export/calls', { project_id: own.project, format: 'jsonl' })
    const { url } = JSON.parse((await askBy(key, asked)).text) as { url: string }
    const read = () => fetch(url).then(async (answer) => ({ status: answer.status, text: await answer.text() }))
    expect(await read()).toMatchObject({ status: 200, text: expect.stringContaining(own.canary) })
    await operator.json({ method: 'DELETE', path: `/keys/${id}` })
    const { status, text } = await read()
    expect(status).toBe(403)
    expect(text).not.toContain(own.canary)
  })
}
