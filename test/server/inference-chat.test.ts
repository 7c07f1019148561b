// POST /v1/chat/completions: which requests are taken, what reaches the engine, what comes back and what is recorded.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerJson, completion, usage } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld } from '../fixtures/inference-world.ts'

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld()
})
afterAll(() => world.remove())

const path = '/v1/chat/completions'
const messages = [{ role: 'user', content: 'Hi' }]
const tool = { type: 'function', function: { name: 'f', parameters: {} } }
const send = (more: object) => world.post(path, { model: 'm1', messages, ...more })
const int64 = 9223372036854776000

describe('requests that do not have the form', () => {
  it.each<[string, unknown, (string | number)[], string]>([
    ['messages', undefined, ['messages'], 'missing'],
    ['messages', [], ['messages'], 'too_short'],
    ['messages', [{ content: 'x' }], ['messages', 0, 'role'], 'missing'],
    ['messages', [{ role: 'user', content: 3 }], ['messages', 0, 'content'], 'string_type'],
    ['model', 3, ['model'], 'string_type'],
    ['frequency_penalty', 'x', ['frequency_penalty'], 'float_parsing'],
    ['logit_bias', { 1: 1e19 }, ['logit_bias', '1'], 'less_than_equal'],
    ['logprobs', 'true', ['logprobs'], 'bool_parsing'],
    ['top_logprobs', -2, ['top_logprobs'], 'greater_than_equal'],
    ['max_tokens', -1, ['max_tokens'], 'greater_than_equal'],
    ['max_completion_tokens', 1.5, ['max_completion_tokens'], 'int_from_float'],
    ['n', 0, ['n'], 'greater_than_equal'],
    ['response_format', { type: 'xml' }, ['response_format', 'type'], 'literal_error'],
    [
      'response_format',
      { type: 'json_schema', json_schema: {} },
      ['response_format', 'json_schema', 'name'],
      'missing',
    ],
    ['seed', 1e19, ['seed'], 'less_than_equal'],
    ['stop', 3, ['stop'], 'string_type'],
    ['stream_options', 3, ['stream_options'], 'dict_type'],
    ['tools', [{ type: 'function', function: { name: '' } }], ['tools', 0, 'function', 'name'], 'string_too_short'],
    ['tool_choice', 'some', ['tool_choice'], 'literal_error'],
    ['reasoning_effort', 'huge', ['reasoning_effort'], 'literal_error'],
    ['top_k', 1.5, ['top_k'], 'int_from_float'],
    ['stop_token_ids', ['x'], ['stop_token_ids', 0], 'int_parsing'],
    ['min_tokens', -1, ['min_tokens'], 'greater_than_equal'],
    ['truncate_prompt_tokens', -2, ['truncate_prompt_tokens'], 'greater_than_equal'],
    ['truncate_prompt_tokens', 1e19, ['truncate_prompt_tokens'], 'less_than_equal'],
    ['prompt_logprobs', -2, ['prompt_logprobs'], 'greater_than_equal'],
    ['bad_words', [1], ['bad_words', 0], 'string_type'],
    ['documents', [{ title: 1 }], ['documents', 0, 'title'], 'string_type'],
    ['chat_template_kwargs', [], ['chat_template_kwargs'], 'dict_type'],
    ['logits_processors', [{ args: [] }], ['logits_processors', 0, 'qualname'], 'missing'],
    ['logits_processors', [{ qualname: 'a', kwargs: [] }], ['logits_processors', 0, 'kwargs'], 'dict_type'],
    ['logits_processors', [{ qualname: 'a', kwargs: 'x' }], ['logits_processors', 0, 'kwargs'], 'dict_type'],
    ['cache_salt', '', ['cache_salt'], 'string_too_short'],
    ['kv_transfer_params', 'x', ['kv_transfer_params'], 'dict_type'],
    ['engine_xargs', { a: { b: 1 } }, ['engine_xargs', 'a'], 'string_type'],
    ['vllm_xargs', { a: true }, ['vllm_xargs', 'a'], 'string_type'],
    ['priority', 'high', ['priority'], 'int_parsing'],
    ['trace_id', { length: 32 }, ['trace_id'], 'string_type'],
    ['track_llm_call', 'no', ['track_llm_call'], 'bool_parsing'],
  ])('%s %j', async (field, value, loc, type) => {
    const before = world.fake.asked.length
    const answer = await send({ [field]: value })
    expect([answer.status, answer.json], answer.text).toEqual([
      422,
      { detail: [expect.objectContaining({ loc: ['body', ...loc], type })] },
    ])
    expect(world.fake.asked).toHaveLength(before)
  })

  it('of malformed JSON are 400', async () => {
    const { status, json } = await world.post(path, '{"model": "m1", ')
    expect([status, json.detail[0].type]).toEqual([422, 'json_invalid'])
  })
})

describe('fields that do not go together', () => {
  it.each<[object, string]>([
    [{ priority: 1 }, 'priority'],
    [{ continue_final_message: true, add_generation_prompt: true }, 'continue_final_message'],
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ top_logprobs: -1, logprobs: false }, 'top_logprobs'],
    [{ stream_options: { include_usage: true } }, 'stream_options'],
    [{ stream: true, prompt_logprobs: 1 }, 'prompt_logprobs'],
    [{ response_format: { type: 'json_schema' } }, 'response_format'],
    [{ tool_choice: 'auto' }, 'tool_choice'],
    [{ tools: [tool], tool_choice: { type: 'function', function: { name: 'g' } } }, 'tool_choice'],
    [{ structured_outputs: { json: '{}', choice: ['a'] } }, 'structured_outputs'],
  ])('%j', async (more, param) => {
    const before = world.fake.asked.length
    const { status, json, text } = await send(more)
    expect(status, text).toBe(400)
    expect(json).toEqual({
      error: { message: expect.any(String), type: 'invalid_request_error', param, code: null },
      reason: json.error.message,
    })
    expect(world.fake.asked).toHaveLength(before)
  })
})

describe('the request to the engine', () => {
  it('a body that needs no change, byte for byte', async () => {
    const text = `{ "model":"m1" ,"messages":[{"role":"user","content":"\\u0048i","own":1.0}],"seed":9223372036854775807,
      "temperature":1.50,"unknown":{"big":123456789012345678901234567890,"a":1,"a":2},"logit_bias":{"5":-1E2} }`
    const { status } = await world.post(path, text)
    expect(status).toBe(200)
    expect(world.fake.last()).toMatchObject({ text, path: '/v1/chat/completions' })
    expect(world.fake.last().headers.authorization).toBe('Bearer engine-secret-key')
  })

  it.each<[object, object]>([
    [{ continue_final_message: true }, { add_generation_prompt: false, continue_final_message: true }],
    [{ continue_final_message: true, add_generation_prompt: null }, { add_generation_prompt: false }],
    [
      { max_tokens: 5, max_completion_tokens: 7 },
      { max_completion_tokens: 7, max_tokens: undefined },
    ],
    [
      { tools: [], tool_choice: 'required' },
      { tools: [], tool_choice: 'none' },
    ],
    [{ engine_xargs: { a: [1, 'x'] } }, { vllm_xargs: { a: [1, 'x'] }, engine_xargs: undefined }],
    [{ model: 'coreweave/m1' }, { model: 'm1' }],
    [{ model: null }, { model: null }],
    [
      { trace_id: 'a'.repeat(32), track_llm_call: true },
      { trace_id: undefined, track_llm_call: undefined },
    ],
  ])('%j becomes %j', async (more, expected) => {
    expect((await send(more)).status).toBe(200)
    const sent = world.fake.last().json
    for (const [name, value] of Object.entries(expected)) expect(sent[name], name).toEqual(value)
  })

  it('every field at the edge of what is allowed', async () => {
    const all = {
      logit_bias: { 1: int64, 2: -int64 },
      logprobs: true,
      top_logprobs: -1,
      max_tokens: 0,
      n: 1,
      seed: -int64,
      stop: ['a'],
      temperature: 0,
      tools: [tool],
      tool_choice: { type: 'function', function: { name: 'f' } },
      truncate_prompt_tokens: -1,
      prompt_logprobs: -1,
      documents: [{ title: 't' }],
      priority: 0,
      min_tokens: 0,
      logits_processors: ['a.b', { qualname: 'c', args: [1], kwargs: { d: 1 } }],
      chat_template: 'x',
      echo: true,
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
      user: null,
      cache_salt: 's',
      structured_outputs: { json: '{}', grammar: 'g', regex: null },
      reasoning_effort: 'low',
      top_k: -1,
    }
    const answer = await send(all)
    expect(answer.status, answer.text).toBe(200)
    expect(world.fake.last().json).toMatchObject(all)
  })

  it('of a name that comes twice, the one that was checked', async () => {
    const { status } = await world.post(
      path,
      `{"priority":5,"model":"m1","messages":${JSON.stringify(messages)},"priority":0}`,
    )
    expect(status).toBe(200)
    expect(world.fake.last().text.match(/priority/g)).toHaveLength(1)
    expect(world.fake.last().json.priority).toBe(0)
  })
})

describe('answers', () => {
  it('come as the engine wrote them, under both spellings of the path', async () => {
    const text = '{"id":"x", "object":"chat.completion","created":1,"model":"m1","score":1.0,"choices":[]}'
    world.fake.on('exact', answerJson(text))
    for (const at of [path, `${path}/`, `/traces${path}`]) {
      const answer = await world.post(at, { model: 'exact', messages })
      expect([answer.status, answer.text]).toEqual([200, text])
      expect(answer.headers.get('content-type')).toBe('application/json')
    }
  })

  it('are completed when they have no id, time or model', async () => {
    world.fake.on('bare', answerJson('{"choices":[],"big":12345678901234567890}'))
    const { json, text } = await world.post(path, { model: 'bare', messages, request_id: 'r-1' })
    expect(json).toMatchObject({
      id: 'chatcmpl-r-1',
      object: 'chat.completion',
      model: 'bare',
      created: expect.any(Number),
    })
    expect(text).toContain('"big":12345678901234567890')
  })

  it('that are no JSON are 502', async () => {
    world.fake.on('html', answerJson('<html>', 200, { 'content-type': 'text/html' }))
    const { status, json } = await world.post(path, { model: 'html', messages })
    expect([status, json.error.code]).toEqual([502, 'provider_failed'])
  })
})

describe('the recorded call', () => {
  it('holds the request, the answer and its usage', async () => {
    world.fake.on('traced', answerJson(completion('traced')))
    const answer = await world.post(path, {
      model: 'coreweave/traced',
      messages,
      user: null,
      temperature: 0.5,
      api_key: 'secret-thing',
      conversation_id: 'thread-1',
      trace_id: 'b'.repeat(32),
      parent_id: 'c'.repeat(16),
    })
    expect(answer.status, answer.text).toBe(200)
    expect(world.fake.last().json.model).toBe('traced')
    const call = await world.callOf(answer)
    expect(call).toMatchObject({
      op_name: 'weave.completions_create',
      trace_id: 'b'.repeat(32),
      parent_id: 'c'.repeat(16),
      thread_id: 'thread-1',
      exception: null,
      platform_user_id: 'tester',
      inputs: { model: 'coreweave/traced', messages, temperature: 0.5, api_key: 'REDACTED' },
      output: completion('traced'),
      summary: { usage: { 'coreweave/traced': usage } },
    })
    expect(Object.keys(call.inputs)).toEqual(['model', 'messages', 'temperature', 'api_key'])
    expect(Date.parse(call.ended_at)).toBeGreaterThanOrEqual(Date.parse(call.started_at))
  })

  it.each<[string, object, Record<string, string>]>([
    ['body', { track_llm_call: false }, {}],
    ['header', {}, { 'x-track-call': 'False' }],
  ])('is left out when the %s says so', async (_, more, headers) => {
    const before = (await world.calls()).length
    const answer = await world.post(path, { model: 'm1', messages, ...more }, headers)
    expect([answer.status, answer.headers.get('x-call-id')]).toEqual([200, null])
    expect(await world.calls()).toHaveLength(before)
  })

  it('goes to the project that the request names, else to that of the key', async () => {
    const of = async (headers: Record<string, string>, query = '') => {
      const answer = await world.post(`${path}${query}`, { model: 'm1', messages }, headers)
      const id = answer.headers.get('x-call-id')
      for (const project_id of ['a/header', 'a/project', 'a/query', 'tester/inference'])
        if ((await world.server.list('/calls/stream_query', { project_id, filter: { call_ids: [id] } })).length > 0)
          return project_id
      return answer.text
    }
    expect(await of({ 'openai-project': 'a/project', project_id: 'a/header' })).toBe('a/project')
    expect(await of({ 'openai-project': '', project_id: 'a/header' }, '?project_id=a/query')).toBe('a/header')
    expect(await of({ 'openai-project': '' }, '?project_id=a/query')).toBe('a/query')
    expect(await of({ 'openai-project': '' })).toBe('tester/inference')
    const { status, json } = await world.post(path, { model: 'm1', messages }, { 'openai-project': 'proj_abc' })
    expect([status, json.error.type]).toEqual([400, 'invalid_request_error'])
  })

  it.each([['trace_id'], ['parent_id']])('needs a good %s', async (name) => {
    const { status, json } = await send({ [name]: 'NOT AN ID' })
    expect([status, json.error.param]).toEqual([400, name])
  })
})
