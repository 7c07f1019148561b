// Models by name: which provider and address a request for one reaches, and what is refused on the way.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerJson, usage } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld, project, secretValue } from '../fixtures/inference-world.ts'

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

  it('may have a name that is no text', async () => {
    expect((await send({ model: 'azure/\ud800' })).status).toBe(200)
    expect(world.fake.last().path).toContain('/deployments/%EF%BF%BD/')
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
      model: 'mine/m',
      own: { a: null },
      user: null,
      temperature: null,
      stop: 'x',
      tool_choice: { type: 'function' },
      prompt: '',
      template_vars: {},
      api_version: 'v',
      timeout: '30',
      conversation_id: 't',
      cloud_credentials: '{"a":1}',
      extra_headers: { 'X-Own': 'yes', Authorization: 'Bearer other', Host: 'evil', 'X-Team': 'b', connection: 'x' },
    })
    expect(answer.status, answer.text).toBe(200)
    const { json, headers } = world.fake.last()
    expect(json).toEqual({ model: 'm', messages, own: { a: null }, stop: 'x', tool_choice: { type: 'function' } })
    expect(headers).toMatchObject({ 'x-own': 'yes', 'x-team': 'b', host: new URL(world.fake.url).host })
    expect(headers.authorization).toBeUndefined()
    expect((await world.callOf(answer)).inputs).toEqual({
      model: 'mine/m',
      messages,
      own: { a: null },
      stop: 'x',
      tool_choice: { type: 'function' },
      prompt: '',
      template_vars: {},
      api_version: 'v',
      timeout: '30',
      extra_headers: { 'X-Own': 'yes', 'X-Team': 'b', Host: 'evil', connection: 'x' },
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
    const names: Record<string, string> = {
      completions: 'weave.text_completions_create',
      embeddings: 'weave.embeddings_create',
      responses: 'weave.responses_create',
      'images/generations': 'weave.image_generation_create',
    }
    expect((await world.callOf(answer)).op_name).toBe(names[at])
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
    await world.create('nulled', { ...prompt, messages: null })
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
    expect(await sent({ prompt: 'nulled' })).toEqual(messages)
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
        role: 'user',
        name: 'Ann',
        content: [{ type: 'text', text: 'deep 1.5 [true,null]' }, '{name}', 3],
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

  it.each<[string, string | RegExp]>([
    ['{missing}', /'missing' is missing; available: a, b, n/],
    ['{a.x}', /no part 'x'/],
    ['{a.__proto__}', /no part '__proto__'/],
    ['{constructor}', /'constructor' is missing/],
    ['Say {b}: {"a": {"b": {b}}}, { a }, } and {0}', 'Say B: {"a": {"b": B}}, { a }, } and {0}'],
    ['{{"a": "{b}"}}', '{"a": "B"}'],
  ])('of a stored prompt (%s) are filled, or told', async (content, expected) => {
    await world.create('filled', { ...prompt, messages: [{ role: 'system', content }] })
    const { status, json } = await send({
      model: 'mine/m',
      prompt: 'filled',
      messages: [],
      template_vars: { b: 'B', a: {}, n: 1.5 },
    })
    if (typeof expected === 'string') {
      expect([status, world.fake.last().json.messages[0].content]).toEqual([200, expected])
      return
    }
    expect([status, json.error.code]).toEqual([400, 'template_error'])
    expect(json.reason).toMatch(expected)
  })

  it.each<[string, string]>([
    ['{missing} {b}', '{missing} B'],
    ['{', '{'],
    ['}', '}'],
    ['{}', '{}'],
    ['{0} {b}', '{0} B'],
    ['{a.x} {a.__proto__} {constructor} {list[7]} {list[0]}', '{a.x} {a.__proto__} {constructor} {list[7]} one'],
    ['{"a": {"b": 1}} {b}', '{"a": {"b": 1}} B'],
    ['if (x) { return {b: 1, a} } // {b}', 'if (x) { return {b: 1, a} } // B'],
    ['{"x":{b}} {{b}} {b!r} {n:.2f} {a', '{"x":B} {{b}} B 1.5 {a'],
    ['\\frac{b}{2} {% if b %} #{b} $&', '\\fracB{2} {% if b %} #B $&'],
    ['{b} {{x}}', 'B {x}'],
  ])('in what somebody wrote (%s) are names of variables alone', async (content, expected) => {
    const own = [{ role: 'user', content: [{ type: 'text', text: content }] }]
    const template_vars = { b: 'B', a: {}, n: 1.5, list: ['one'] }
    const answer = await send({ model: 'mine/m', messages: own, template_vars })
    expect([answer.status, world.fake.last().json.messages[0].content[0].text]).toEqual([200, expected])
  })
})

it('no secret was logged while requests were routed', () => {
  const log = world.server.lines.join('')
  for (const secret of [secretValue, 'engine-secret-key', 'xai-key-0123456789', 'azure-key-0123456789'])
    expect(log).not.toContain(secret)
})
