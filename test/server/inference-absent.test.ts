// Inference without an engine and without private networks: what still works, and what is refused.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FakeProvider, startFakeProvider } from '../fixtures/fake-provider.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

let server: RunningServer
let fake: FakeProvider
beforeAll(async () => {
  fake = await startFakeProvider()
  server = await sharedServer()
})
afterAll(() => fake.close())

const messages = [{ role: 'user', content: 'x' }]

async function ask(at: string, body?: object, key = 'test-key'): Promise<[number, string | undefined]> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'openai-project': 'absent/p' }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(server.now().url + at, init)
  const json = (await answer.json()) as { error?: { code: string }; reason?: string }
  return [answer.status, json.error?.code ?? json.reason]
}

it('without an engine its routes are 501, and the others work', async () => {
  const pass = '/inference/v1/chat/completions'
  expect(await ask('/v1/chat/completions', { messages })).toEqual([501, 'no_engine'])
  expect(await ask(pass, { model: 'coreweave/x' })).toEqual([501, 'no_engine'])
  expect(await ask(pass, { model: 'x' })).toEqual([404, 'model_not_found'])
  expect(await ask(pass, { model: 'gpt-4o' })).toEqual([400, 'missing_secret'])
  expect(await ask('/inference/router/default/models')).toEqual([501, 'no_engine'])
  expect(await ask('/inference/v1/files')).toEqual([404, 'Unknown path: files'])
  expect(await ask('/inference/v1/models')).toEqual([200, undefined])
  expect(await ask(pass, { model: 'gpt-4o' }, 'wrong')).toEqual([401, 'Missing or unknown credentials'])
})

it.each([
  ['http://127.0.0.1:PORT/v1'],
  ['http://[::ffff:127.0.0.1]:PORT/v1'],
  ['http://0x7f.1:PORT/v1'],
  ['http://localhost:PORT/v1'],
])('a Provider with the private address %s is refused', async (form) => {
  const base_url = form.replace('PORT', new URL(fake.url).port)
  // Stored as it stands, past the check of builtin classes.
  const bases = { _type: 'Provider', _class_name: 'Provider', _bases: ['Provider', 'BaseObject', 'BaseModel'] }
  const create = async (object_id: string, val: object, builtin_object_class?: string) =>
    (
      await server.send<{ digest: string }>('/obj/create', {
        obj: { project_id: 'absent/p', object_id, val, builtin_object_class },
      })
    ).digest
  const provider = await create('inside', { ...bases, base_url, api_key_name: '' })
  await create('inside-m', { name: 'm', provider, max_tokens: 1 }, 'ProviderModel')
  expect(await ask('/inference/v1/chat/completions', { model: 'custom::inside::m', messages })).toEqual([
    400,
    'provider_config',
  ])
  const account = JSON.stringify({ project_id: 'p', client_email: 'a', private_key: 'k', token_uri: base_url })
  const body = { model: 'vertex_ai/m', messages, cloud_credentials: account }
  expect((await ask('/inference/v1/chat/completions', body))[0]).toBe(400)
  expect(fake.asked).toEqual([])
})
