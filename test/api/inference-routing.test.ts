// POST /inference/v1/{path}: from the name of a model to its provider, and what of a request goes there.
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerJson, usage } from '../fixtures/fake-provider.ts'
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

describe('models', () => {
  it.each<[string, string, string, string | undefined]>([
    ['coreweave/meta/llama', 'meta/llama', '/v1/chat/completions', 'Bearer engine-secret-key'],
    ['engine-model', 'm1', '/v1/chat/completions', 'Bearer engine-secret-key'],
    ['listed', 'listed', '/v1/chat/completions', 'Bearer engine-secret-key'],
    ['gpt-4o', 'gpt-4o', '/v1/chat/completions', `Bearer ${secretValue}`],
    ['gpt-9-unheard-of', 'gpt-9-unheard-of', '/v1/chat/completions', `Bearer ${secretValue}`],
    ['o9-mini', 'o9-mini', '/v1/chat/completions', `Bearer ${secretValue}`],
    ['openai/whatever', 'whatever', '/v1/chat/completions', `Bearer ${secretValue}`],
    ['xai/grok-4', 'grok-4', '/v1/chat/completions', 'Bearer xai-key-0123456789'],
    ['mine/a/b', 'a/b', '/v1/chat/completions', undefined],
    ['house-model', 'inner-model', '/v1/chat/completions', undefined],
    ['azure/dep', 'dep', '/openai/deployments/dep/chat/completions?api-version=2025-01-01', undefined],
  ])('%s', async (model, upstream, at, authorization) => {
    const answer = await send({ model })
    expect(answer.status, answer.text).toBe(200)
    const asked = world.fake.last()
    expect([asked.json.model, asked.path, asked.headers.authorization]).toEqual([upstream, at, authorization])
    expect((await world.callOf(answer)).summary.usage).toEqual({ [model]: usage })
  })

  it.each<[string, number, string]>([
    ['unheard-of', 404, 'model_not_found'],
    ['some-org/some-model', 404, 'model_not_found'],
    ['bedrock/nova', 501, 'no_adapter'],
    ['custom::nobody::nothing', 404, 'model_not_found'],
  ])('%s is answered %i', async (model, status, code) => {
    const answer = await send({ model })
    expect([answer.status, answer.json.error.code, answer.json.reason]).toEqual([
      status,
      code,
      answer.json.error.message,
    ])
  })

  it.each<[string, string]>([
    ['claude-sonnet-4-5', 'ANTHROPIC_API_KEY'],
    ['anthropic/claude-x', 'ANTHROPIC_API_KEY'],
    ['gemini/gemini-2.5-pro', 'GEMINI_API_KEY'],
    ['groq/x', 'GROQ_API_KEY'],
    ['mistral/x', 'MISTRAL_API_KEY'],
    ['deepseek/x', 'DEEPSEEK_API_KEY'],
    ['together_ai/x', 'TOGETHER_AI_API_KEY'],
    ['openrouter/x/y', 'OPENROUTER_API_KEY'],
    ['fireworks_ai/x', 'FIREWORKS_AI_API_KEY'],
    ['cohere/x', 'COHERE_API_KEY'],
  ])('%s needs the secret %s', async (model, name) => {
    const { status, json } = await send({ model })
    expect([status, json.api_key, json.error.code, json.reason]).toEqual([
      400,
      name,
      'missing_secret',
      `Missing secret: ${name}`,
    ])
  })

  it.each<[string, object, string[]]>([
    ['xai/grok-4', { response_format: { type: 'text' }, presence_penalty: 1 }, ['response_format']],
    [
      'xai/grok-3-mini-fast',
      { response_format: { type: 'text' }, presence_penalty: 1, frequency_penalty: 1 },
      ['response_format', 'presence_penalty', 'frequency_penalty'],
    ],
    ['mine/m', { logit_bias: { 1: 2 }, top_p: 1 }, ['logit_bias']],
  ])('%s does not take all of %j', async (model, more, dropped) => {
    await send({ model, ...more })
    for (const name of Object.keys(more)) expect(name in world.fake.last().json, name).toBe(!dropped.includes(name))
  })
})

describe('requests', () => {
  it.each<[object, (string | number)[], string]>([
    [{}, ['model'], 'missing'],
    [{ model: '' }, ['model'], 'string_too_short'],
    [{ model: 'mine/m', messages: {} }, ['messages'], 'list_type'],
    [{ model: 'mine/m', timeout: 'soon' }, ['timeout'], 'float_parsing'],
    [{ model: 'mine/m', timeout: 0 }, ['timeout'], 'greater_than'],
    [{ model: 'mine/m', extra_headers: { a: {} } }, ['extra_headers', 'a'], 'string_type'],
    [{ model: 'mine/m', template_vars: [] }, ['template_vars'], 'dict_type'],
    [{ model: 'mine/m', cloud_credentials: {} }, ['cloud_credentials'], 'string_type'],
    [{ model: 'mine/m', stream: 'yes' }, ['stream'], 'bool_parsing'],
    [{ model: 'mine/m', n: 1.5 }, ['n'], 'int_from_float'],
  ])('%j', async (body, loc, type) => {
    const { status, json } = await world.post(path, body)
    expect([status, json]).toEqual([422, { detail: [expect.objectContaining({ loc: ['body', ...loc], type })] }])
  })

  it('that need no change go on byte for byte', async () => {
    const text = '{ "messages":[ {"role":"user","content":"x","n":1.0} ], "model":"gpt-4o", "own": 1e5 }'
    await world.post(path, text)
    expect(world.fake.last().text).toBe(text)
  })

  it('lose nulls and what is for the server, and keep the rest', async () => {
    const answer = await send({
      ...{
        model: 'mine/m',
        own: { a: null },
        user: null,
        temperature: null,
        stop: 'x',
        tool_choice: { type: 'function' },
      },
      ...{
        prompt: '',
        template_vars: {},
        api_version: 'v',
        timeout: '30',
        conversation_id: 't',
        cloud_credentials: '{"a":1}',
      },
      ...{
        extra_headers: { 'X-Own': 'yes', Authorization: 'Bearer other', Host: 'evil', 'X-Team': 'b', connection: 'x' },
      },
    })
    expect(answer.status, answer.text).toBe(200)
    const { json, headers } = world.fake.last()
    expect(json).toEqual({ model: 'm', messages, own: { a: null }, stop: 'x', tool_choice: { type: 'function' } })
    expect(headers).toMatchObject({ 'x-own': 'yes', 'x-team': 'b', host: new URL(world.fake.url).host })
    expect(headers.authorization).toBeUndefined()
    expect((await world.callOf(answer)).inputs).toEqual({
      ...{ model: 'mine/m', messages, own: { a: null }, stop: 'x', tool_choice: { type: 'function' }, prompt: '' },
      ...{
        template_vars: {},
        api_version: 'v',
        timeout: '30',
        extra_headers: { 'X-Own': 'yes', 'X-Team': 'b', Host: 'evil', connection: 'x' },
      },
    })
  })

  it.each([[{ 'a b': 'x' }], [{ a: 'x\ny' }]])('refuse the headers %j', async (extra_headers) => {
    const { status, json } = await send({ model: 'mine/m', extra_headers })
    expect([status, json.error.param]).toEqual([400, 'extra_headers'])
  })

  it.each([['completions'], ['embeddings'], ['responses'], ['images/generations']])('to %s', async (at) => {
    world.fake.on('inner-model', answerJson({ any: 'thing' }))
    const body = { model: 'house-model', prompt: ['{x}', null], template_vars: 3, input: null, own: 1.5 }
    const answer = await world.post(`/inference/v1/${at}/`, body)
    expect([answer.status, answer.json]).toEqual([200, { any: 'thing' }])
    expect(world.fake.last()).toMatchObject({ path: `/v1/${at}`, json: { ...body, model: 'inner-model' } })
    if (at === 'images/generations') expect((await world.callOf(answer)).op_name).toBe('weave.image_generation_create')
    else expect(answer.headers.get('x-call-id')).toBeNull()
  })

  it.each([['audio/speech'], ['chat'], ['chat/completions/x'], ['__proto__'], ['constructor']])(
    'to %s are 404',
    async (at) => {
      const { status, json } = await world.post(`/inference/v1/${at}`, { model: 'mine/m' })
      expect([status, json.error.type]).toEqual([404, 'not_found_error'])
    },
  )
})

describe('prompts and variables', () => {
  const prompt = { _type: 'MessagesPrompt', _class_name: 'MessagesPrompt', _bases: ['Prompt', 'Object', 'BaseModel'] }
  let digest = ''
  beforeAll(async () => {
    digest = await world.create('greet', {
      ...prompt,
      messages: [{ role: 'system', content: 'Be {mood} {{x}}' }],
    })
    await world.create('greet', { ...prompt, messages: [{ role: 'system', content: 'Second' }] })
    await world.create('empty', prompt)
    await world.create('broken', { ...prompt, messages: 'none' })
    await world.create('other', { a: 1 })
  })
  const sent = async (more: object) => {
    const answer = await send({ model: 'mine/m', ...more })
    return answer.status === 200 ? world.fake.last().json.messages : [answer.status, answer.json.error]
  }

  it('come first, by every form of their name', async () => {
    const first = [{ role: 'system', content: 'Be {mood} {{x}}' }, ...messages]
    const second = [{ role: 'system', content: 'Second' }, ...messages]
    expect(await sent({ prompt: `weave:///${project}/object/greet:${digest}` })).toEqual(first)
    expect(await sent({ prompt: `greet:${digest}` })).toEqual(first)
    expect(await sent({ prompt: 'greet:v0' })).toEqual(first)
    expect(await sent({ prompt: 'greet:latest' })).toEqual(second)
    expect(await sent({ prompt: 'greet' })).toEqual(second)
    expect(await sent({ prompt: 'empty' })).toEqual(messages)
  })

  it.each<[string, number, string | null]>([
    ['nobody', 404, 'prompt_not_found'],
    ['greet:nothing', 404, 'prompt_not_found'],
    ['weave:///no/such/object/x:y', 404, 'prompt_not_found'],
    ['other', 400, null],
    ['broken', 400, null],
    ['greet:', 400, null],
    [':v0', 400, null],
    ['weave:///a/b/call/x', 400, null],
  ])('%s is answered %i', async (name, status, code) => {
    expect(await sent({ prompt: name })).toEqual([status, expect.objectContaining({ param: 'prompt', code })])
  })

  it('are filled, and the call keeps what was sent', async () => {
    const own = [
      {
        role: 'user',
        name: '{name}',
        content: [{ type: 'text', text: '{a.b[0]} {n} {list}' }, '{name}', 3],
        meta: { x: '{name}' },
      },
      { role: 'assistant', content: '{name}' },
    ]
    const template_vars = {
      mood: 'kind {name}',
      name: 'Ann',
      a: { b: ['deep'] },
      n: 1.5,
      list: [true, null],
      unused: 1,
    }
    const answer = await send({ model: 'mine/m', prompt: 'greet:v0', messages: own, template_vars })
    expect(world.fake.last().json.messages).toEqual([
      { role: 'system', content: 'Be kind {name} {x}' },
      {
        ...{ role: 'user', name: 'Ann', content: [{ type: 'text', text: 'deep 1.5 [true,null]' }, '{name}', 3] },
        meta: { x: '{name}' },
      },
      own[1],
    ])
    const { inputs } = await world.callOf(answer)
    expect(inputs).toEqual({ model: 'mine/m', prompt: 'greet:v0', messages: own, template_vars })
  })

  it('leave numbers as they are spelled', async () => {
    const text = '[{"role":"user","content":"{big} {x}","score":1.0}]'
    const variables = '{"big":12345678901234567890,"x":{"y":2.50}}'
    await world.post(path, `{"model":"mine/m","messages":${text},"template_vars":${variables}}`)
    const filled = '[{"role":"user","content":"12345678901234567890 {\\"y\\":2.50}","score":1.0}]'
    expect(world.fake.last().text).toBe(`{"model":"m","messages":${filled}}`)
  })

  it.each<[string, RegExp]>([
    ['{missing}', /'missing' is missing; available: a, b/],
    ['{', /never closed/],
    ['}', /single '}'/],
    ['{}', /without a name/],
    ['{0}', /position/],
    ['{a.x}', /no part 'x'/],
    ['{a.__proto__}', /no part '__proto__'/],
    ['{constructor}', /'constructor' is missing/],
  ])('that cannot be filled (%s) are refused', async (content, message) => {
    const { status, json } = await send({
      model: 'mine/m',
      messages: [{ role: 'user', content }],
      template_vars: { b: 1, a: {} },
    })
    expect([status, json.error.code]).toEqual([400, 'template_error'])
    expect(json.reason).toMatch(message)
  })
})

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

  it("get no key of the operator's providers", async () => {
    await create('thief', { base_url: 'https://collector.example', api_key_name: 'OPENAI_API_KEY' }, { m: {} })
    const { status, json } = await send({ model: 'custom::thief::m' })
    expect([status, json.error.code]).toEqual([400, 'provider_config'])
    expect(json.reason).toMatch(/OPENAI_API_KEY belongs to another provider/)
  })
})

describe('cloud credentials', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const account = () => ({
    ...{ type: 'service_account', project_id: 'p', client_email: 'a@b.c', private_key: pem },
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

  it('and other reads of the engine', async () => {
    world.fake.on('/v1/files/a b', answerJson({ a: 1 }))
    world.fake.on('/v1/files/a%20b', answerJson({ a: 1.5 }))
    const answer = await world.get('/inference/v1/files/a%20b?limit=2&project_id=x/y')
    expect([answer.status, answer.json, world.fake.last().path]).toEqual([200, { a: 1.5 }, '/v1/files/a%20b?limit=2'])
    expect((await world.get('/inference/v1/files/..%2f..%2fadmin')).status).toBe(404)
    world.fake.on('/v1/gone', answerJson({ error: { message: 'No such thing' } }, 404))
    expect((await world.get('/inference/v1/gone')).json.error.message).toBe('No such thing')
  })
})

it('the providers file is read again when it changed, and a broken one changes nothing', async () => {
  const { models, providers } = providersOf(world.fake.url)
  expect((await send({ model: 'new-model' })).status).toBe(404)
  world.writeProviders({ providers, models: { ...models, 'new-model': 'mine' } })
  expect((await send({ model: 'new-model' })).status).toBe(200)
  world.writeProviders('{"providers":')
  expect((await send({ model: 'new-model' })).status).toBe(200)
  expect(world.server.lines.some((line) => line.includes('not JSON'))).toBe(true)
})

it('no secret was logged', () => {
  const log = world.server.lines.join('')
  for (const secret of [secretValue, 'engine-secret-key', 'own-key-0123456789', 'PRIVATE KEY', 'short-lived-token'])
    expect(log).not.toContain(secret)
})
