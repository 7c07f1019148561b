// A key does what its own actions and the roles of its user allow: one that would do less than it says is not made.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

const ask = (method: string, path: string, body: unknown) =>
  fetch(server.now().url + path, { method, headers: { authorization: basicAuth() }, body: JSON.stringify(body) })

it('a key that would do what no role of its user holds is refused, with what to do', async () => {
  await ask('POST', '/users', { id: 'vera', kind: 'person', entity: 'veras' })
  const made = async (actions: string[], scopes: string[]) => {
    const answer = await ask('POST', '/keys', { user_id: 'vera', name: 'k', actions, scopes })
    const { reason } = (await answer.json()) as { reason?: string }
    return [answer.status, reason]
  }
  const what = '. Grant a role that includes it (PUT /grants), or remove it from the key'
  const nothing = ', so this key could do nothing there'
  const said = (text: string) => [409, `The roles of vera do not include ${text}${what}`]
  expect(await made(['read'], ['veras/demo'])).toEqual(said(`read on veras/demo${nothing}`))
  await ask('PUT', '/grants', { user_id: 'vera', scope: 'veras/demo', role: 'reader' })
  expect(await made(['ingest'], ['veras/demo'])).toEqual(said(`ingest on veras/demo${nothing}`))
  expect(await made(['read', 'annotate'], ['veras/demo'])).toEqual(said('annotate on veras/demo'))
  // Roles count within their scope, not around it.
  expect(await made(['read'], ['veras/demo', 'veras'])).toEqual(said(`read on veras${nothing}`))
  expect((await made(['read'], ['veras/demo']))[0]).toBe(200)
  await ask('PUT', '/grants', { user_id: 'vera', scope: 'veras', role: 'writer' })
  expect((await made(['read', 'delete'], ['veras/demo', 'veras/other']))[0]).toBe(200)
})
