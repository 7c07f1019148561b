// Providers that projects store and operators list: their addresses, keys and models, and credentials of requests.
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UpstreamFailure } from '../../services/inference/upstream.ts'
import { exchangeCredentials, vertexBaseUrl } from '../../services/inference/vertex.ts'
import { answerJson } from '../fixtures/fake-provider.ts'
import {
  createInferenceWorld,
  type InferenceWorld,
  project,
  providersOf,
  secretValue,
} from '../fixtures/inference-world.ts'

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld(['--allow-private-networks'])
  world.fake.on('/v1/models', answerJson({ data: [{ id: 'listed', created: 7, owned_by: 'vllm', max_model_len: 9 }] }))
})
afterAll(() => world.remove())

const path = '/inference/v1/chat/completions'
const messages = [{ role: 'user', content: 'Hi' }]
const send = (more: object) => world.post(path, { messages, ...more })

describe('providers of a project', () => {
  const provider = (more: object = {}) => ({ base_url: world.fake.url, api_key_name: 'OWN_KEY', ...more })
  const create = async (name: string, value: object, models: Record<string, object> = { 'My Model': {} }) => {
    const digest = await world.create(name, value, 'Provider')
    for (const [model, more] of Object.entries(models)) {
      const id = `${name}-${model}`.replace(/[^A-Za-z0-9_-]/g, '_')
      await world.create(id, { name: 'inner', provider: digest, max_tokens: 100, ...more }, 'ProviderModel')
    }
    return digest
  }

  it('are found by name, by id and by ref', async () => {
    await create('house-one', provider({ extra_headers: { 'X-House': '1', Host: 'no' } }))
    const names = [
      'custom::house-one::My Model',
      'custom::house-one-My_Model',
      `weave:///${project}/object/house-one-My_Model:latest`,
    ]
    for (const model of names) {
      const answer = await send({ model })
      expect(answer.status, answer.text).toBe(200)
      const { json, headers } = world.fake.last()
      expect([json.model, headers.authorization, headers['x-house']]).toEqual([
        'inner',
        'Bearer own-key-0123456789',
        '1',
      ])
      expect(headers.host).toBe(new URL(world.fake.url).host)
    }
    const { json } = await world.get('/inference/v1/models')
    expect(json.data).toContainEqual({
      id: 'custom::house-one::My_Model',
      object: 'model',
      created: 0,
      owned_by: 'house-one',
    })
  })

  it('may have no key', async () => {
    await create('keyless', provider({ api_key_name: '' }), { m: { name: null } })
    expect((await send({ model: 'custom::keyless::m' })).status).toBe(200)
    expect([world.fake.last().json.model, world.fake.last().headers.authorization]).toEqual(['m', undefined])
  })

  it('need their secret', async () => {
    await create('unset', provider({ api_key_name: 'NOT_SET' }), { m: {} })
    const { status, json } = await send({ model: 'custom::unset::m' })
    expect([status, json.api_key]).toEqual([400, 'NOT_SET'])
  })

  it('are checked when they are used', async () => {
    await world.create('odd-m', { name: 'x', provider: 'nothing', max_tokens: 1 }, 'ProviderModel')
    await world.create('plain-m', { name: 'x' })
    const wrong = await world.create('wrong', {
      _type: 'Provider',
      _class_name: 'Provider',
      _bases: ['Provider', 'BaseObject', 'BaseModel'],
      base_url: 'ftp://x',
      api_key_name: '',
    })
    await world.create('wrong-m', { name: 'x', provider: wrong, max_tokens: 1 }, 'ProviderModel')
    for (const name of ['odd', 'plain', 'wrong']) {
      const { status, json, text } = await send({ model: `custom::${name}::m` })
      expect([status, json.error.code], text).toEqual([400, 'provider_config'])
    }
    expect((await send({ model: 'custom::x' })).status).toBe(400)
  })
})

describe('cloud credentials', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const account = () => ({
    type: 'service_account',
    project_id: 'p',
    client_email: 'a@b.c',
    private_key: pem,
    token_uri: world.fake.url.replace(/v1$/, 'token'),
  })

  it.each(['cloud_credentials', 'vertex_credentials'])(
    '%s are exchanged for a token and never recorded',
    async (name) => {
      world.fake.on('/token', answerJson({ access_token: 'short-lived-token' }))
      const text = JSON.stringify(account())
      const answer = await send({ model: 'vertex_ai/gemini-2.5-pro', [name]: text })
      expect(answer.status, answer.text).toBe(200)
      expect(world.fake.last().json).toEqual({ model: 'google/gemini-2.5-pro', messages })
      expect(world.fake.last().headers.authorization).toBe('Bearer short-lived-token')
      const form = new URLSearchParams(world.fake.asked.at(-2)?.text)
      const claims = JSON.parse(Buffer.from(form.get('assertion')?.split('.')[1] ?? '', 'base64url').toString())
      expect(claims).toMatchObject({ iss: 'a@b.c', aud: account().token_uri })
      const recorded = JSON.stringify(await world.callOf(answer))
      for (const secret of ['credentials', 'a@b.c', 'PRIVATE KEY', 'short-lived'])
        expect(recorded).not.toContain(secret)
    },
  )

  it('are in no answer, also where the provider repeats their token', async () => {
    world.fake.on('/token', answerJson({ access_token: 'short-lived-token' }))
    const said = `no such account: Bearer short-lived-token, ${JSON.stringify(pem)}`
    world.fake.on('google/gemini-echo', answerJson({ error: { message: said } }, 400))
    const answer = await send({ model: 'vertex_ai/gemini-echo', cloud_credentials: JSON.stringify(account()) })
    expect([answer.status, answer.json.error.message]).toEqual([400, expect.stringContaining('REDACTED')])
    const shown = answer.text + JSON.stringify(await world.callOf(answer))
    for (const secret of ['short-lived', pem.split('\n')[1] as string]) expect(shown).not.toContain(secret)
  })

  it.each<[string | undefined, number]>([
    ['not json', 400],
    ['[]', 400],
    ['{}', 400],
    [JSON.stringify({ client_email: 'x', project_id: 'p', private_key: 'none' }), 400],
    [undefined, 400],
  ])('%s are refused', async (text, status) => {
    const answer = await send({ model: 'vertex_ai/gemini', cloud_credentials: text })
    expect([answer.status, answer.json.error.param]).toEqual([status, 'cloud_credentials'])
  })

  it('that are not accepted are 401, and no word of the token server is told', async () => {
    world.fake.on('/token', answerJson({ error: 'secret words' }, 400))
    const { status, text } = await send({ model: 'vertex_ai/gemini', cloud_credentials: JSON.stringify(account()) })
    expect(status).toBe(401)
    expect(text).not.toContain('secret words')
  })

  it('whose token server breaks off are 502, inside the answer where SDKs ask', async () => {
    world.fake.on('/token', (response) => {
      response.destroy()
    })
    const inputs = { model: 'vertex_ai/gemini', cloud_credentials: JSON.stringify(account()) }
    const { status, json } = await send(inputs)
    expect([status, json.error.code]).toEqual([502, 'provider_failed'])
    const told = await world.post('/completions/create', { project_id: project, inputs: { messages, ...inputs } })
    expect([told.status, told.json.response]).toEqual([200, { error: json.reason, error_status_code: 502 }])
  })

  it.each(['timeout', 'forbidden', 'gone'] as const)(
    'whose token server fails (%s) fail as its kind says',
    async (kind) => {
      const send = () => Promise.reject(new UpstreamFailure(kind, 'no token'))
      const options = { signal: new AbortController().signal, allowPrivate: true }
      const statuses = { timeout: 504, forbidden: 400, gone: 499 }
      await expect(exchangeCredentials({ send }, account(), options)).rejects.toMatchObject({ status: statuses[kind] })
    },
  )

  it('may name a project in any text', () => {
    expect(vertexBaseUrl({ project_id: 'a\ud800/b' })).toContain('/projects/a%EF%BF%BD%2Fb/')
  })
})

describe('lists of models', () => {
  it('hold what can be used', async () => {
    const { status, json } = await world.get('/inference/v1/models')
    expect([status, json.object]).toEqual([200, 'list'])
    const ids = json.data.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(expect.arrayContaining(['gpt-4o', 'xai/grok-4', 'house-model', 'listed']))
    expect(ids).not.toContain('claude-sonnet-4-5')
    expect(new Set(ids).size).toBe(ids.length)
    for (const one of json.data)
      expect(one).toMatchObject({
        id: expect.any(String),
        object: 'model',
        created: expect.any(Number),
        owned_by: expect.any(String),
      })
    expect((await world.get('/inference/v1/models/xai/grok-4')).json.id).toBe('xai/grok-4')
    expect((await world.get('/inference/v1/models/nobody')).status).toBe(404)
  })

  it('of routers', async () => {
    const listed = { id: 'listed', object: 'model', created: 7, owned_by: 'vllm', max_model_len: 9 }
    for (const router of ['default', 'mine', 'openai']) {
      const { status, json } = await world.get(`/inference/router/${router}/models`)
      expect([status, json]).toEqual([200, { object: 'list', data: [listed] }])
    }
    for (const router of ['groq', 'nobody', '__proto__'])
      expect((await world.get(`/inference/router/${router}/models`)).status, router).toBe(404)
  })
})

it('a changed providers file is read again, and a broken one changes nothing', async () => {
  const { models, ...rest } = providersOf(world.fake.url)
  expect((await send({ model: 'new-model' })).status).toBe(404)
  world.writeProviders({ ...rest, models: { ...models, 'new-model': 'mine' } })
  expect((await send({ model: 'new-model' })).status).toBe(200)
  world.writeProviders('{"providers":')
  const health = async () => (await fetch(`${world.server.now().url}/health`)).json()
  expect(await health()).toMatchObject({ status: 'degraded', checks: { providers: 'degraded' } })
  expect((await send({ model: 'new-model' })).status).toBe(200)
  expect(world.server.lines.some((line) => line.includes('not JSON'))).toBe(true)
  world.writeProviders(providersOf(world.fake.url))
  expect(await health()).toMatchObject({ status: 'ok' })
  expect((await send({ model: 'new-model' })).status).toBe(404)
})

it('no secret of a provider was logged', () => {
  const log = world.server.lines.join('')
  for (const secret of [secretValue, 'engine-secret-key', 'own-key-0123456789', 'PRIVATE KEY', 'short-lived-token'])
    expect(log).not.toContain(secret)
})
