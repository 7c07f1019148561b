// The conventions of OpenTelemetry for generative AI: plans, memories, MCP, prompts and parts of the usage.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  dump,
  flag,
  inputs,
  integer,
  type Otel,
  output,
  payload,
  type Row,
  rowOf,
  attributes as shownAttributes,
  startOtel,
  text,
} from '../fixtures/otel.ts'

let otel: Otel
beforeAll(async () => {
  otel = await startOtel()
})
afterAll(() => otel.stop())

const row = (pairs: Record<string, string>, more: object[] = [], path?: string) =>
  rowOf(
    otel,
    { attributes: [...Object.entries(pairs).map(([key, value]) => text(key, value)), ...more] },
    path === undefined ? {} : { path },
  )
const attributes = (call: Row) => shownAttributes(call) as Record<string, unknown>
const operation = (name: string) => ({ 'gen_ai.operation.name': name })

describe('kinds', () => {
  it.each([
    ['plan', 'plan'],
    ['search_memory', 'memory'],
    ['create_memory', 'memory'],
    ['update_memory', 'memory'],
    ['upsert_memory', 'memory'],
    ['delete_memory', 'memory'],
    ['create_memory_store', 'memory'],
    ['delete_memory_store', 'memory'],
    ['invoke_workflow', 'workflow'],
  ])('of %s', async (name, kind) => {
    expect(attributes(await row(operation(name)))).toEqual({ operation_name: name, kind })
  })

  it.each([
    [{ 'mcp.method.name': 'tools/call' }, 'tool'],
    [{ 'mcp.method.name': 'tools/list' }, 'mcp'],
    [{ 'mcp.method.name': 'notifications/initialized' }, 'mcp'],
    [{ 'mcp.method.name': 'tools/call', ...operation('execute_tool') }, 'tool'],
    // The operation says what it is, and a model's has no kind.
    [{ 'mcp.method.name': 'sampling/createMessage', ...operation('chat') }, undefined],
  ])('of %o', async (pairs, kind) => {
    expect(attributes(await row(pairs)).kind).toBe(kind)
  })
})

describe('names', () => {
  it('of workflows are those of agents, the newer attribute first', async () => {
    const older = { ...operation('invoke_workflow'), 'gen_ai.workflow.name': 'old' }
    expect(attributes(await row(older)).agent_name).toBe('old')
    expect(attributes(await row({ ...older, 'gen_ai.agent.name': 'new' })).agent_name).toBe('new')
  })
})

describe('memories', () => {
  const records = '[{"content":"dark mode","id":"mem_1"}]'
  const told = { 'gen_ai.memory.store.id': 'ms_1', 'gen_ai.memory.record.id': 'mem_1' }

  it('are what a search finds', async () => {
    const call = await row(
      { ...operation('search_memory'), ...told, 'gen_ai.memory.query.text': 'theme', 'gen_ai.memory.records': records },
      [integer('gen_ai.memory.record.count', 0)],
    )
    expect(inputs(call)).toEqual({ 'gen_ai.memory.query.text': 'theme' })
    expect(output(call)).toEqual({ 'gen_ai.memory.records': [{ content: 'dark mode', id: 'mem_1' }] })
    expect(attributes(call)).toEqual({
      operation_name: 'search_memory',
      kind: 'memory',
      memory_store_id: 'ms_1',
      memory_record_id: 'mem_1',
      memory_record_count: 0,
    })
  })

  it.each(['create_memory', 'update_memory', 'upsert_memory'])('are what %s is given', async (name) => {
    const call = await row({ ...operation(name), 'gen_ai.memory.records': records })
    expect([inputs(call), output(call)]).toEqual([
      { 'gen_ai.memory.records': [{ content: 'dark mode', id: 'mem_1' }] },
      {},
    ])
  })
})

describe('a retrieval', () => {
  it('tells how many of which source, and leaves sampling to the model', async () => {
    const call = await row({ ...operation('retrieval'), 'gen_ai.data_source.id': 'H7' }, [
      integer('gen_ai.retrieval.top_k', 5),
      integer('gen_ai.request.top_k', 40),
    ])
    expect(attributes(call)).toEqual({
      operation_name: 'retrieval',
      kind: 'retriever',
      model_parameters: { top_k: 40 },
      retrieval_top_k: 5,
      data_source_id: 'H7',
    })
  })
})

describe('a call over MCP', () => {
  const told = {
    'mcp.method.name': 'tools/call',
    'mcp.session.id': 's1',
    'mcp.resource.uri': 'file:///a',
    'mcp.protocol.version': '2025-06-18',
    'jsonrpc.request.id': '0',
    'rpc.response.status_code': '-32602',
    'error.type': 'tool_error',
    'gen_ai.tool.name': 'sky',
    'gen_ai.tool.call.arguments': '{"city":"Oslo"}',
    'gen_ai.tool.call.result': '{"degrees":7}',
  }
  const shown = {
    kind: 'tool',
    tool_name: 'sky',
    mcp_method: 'tools/call',
    mcp_session_id: 's1',
    mcp_resource_uri: 'file:///a',
    mcp_protocol_version: '2025-06-18',
    jsonrpc_request_id: '0',
    rpc_status_code: '-32602',
    error_type: 'tool_error',
  }
  it.each([{}, operation('execute_tool')])('has its attributes, and no thread by its session (%o)', async (named) => {
    const call = await row({ ...told, ...named })
    expect(attributes(call)).toMatchObject(shown)
    expect(call).not.toHaveProperty('thread_id')
    expect(call).not.toHaveProperty('turn_id')
    expect(inputs(call)).toEqual({ 'gen_ai.tool.call.arguments': { city: 'Oslo' } })
    expect(output(call)).toEqual({ 'gen_ai.tool.call.result': { degrees: 7 } })
  })

  it('is not every remote call', async () => {
    const call = await row({ 'rpc.response.status_code': 'OK', 'error.type': 'timeout', 'session.id': 's' })
    expect(attributes(call)).not.toHaveProperty('rpc_status_code')
    expect(attributes(call)).not.toHaveProperty('error_type')
    expect(call).not.toHaveProperty('thread_id')
  })
})

describe('a named prompt', () => {
  const named = {
    ...operation('chat'),
    'gen_ai.prompt.name': 'greet',
    'gen_ai.prompt.version': '3',
    'gen_ai.prompt.variable.city': 'Oslo',
  }
  const shown = {
    operation_name: 'chat',
    prompt_name: 'greet',
    prompt_version: '3',
    prompt_variables: { city: 'Oslo' },
  }
  it.each<[string, Record<string, string>, unknown]>([
    ['nothing else', {}, {}],
    ['messages', { 'gen_ai.input.messages': '[{"role":"user"}]' }, { 'gen_ai.input.messages': [{ role: 'user' }] }],
    ['a text', { 'gen_ai.prompt': 'Hi' }, { 'gen_ai.prompt': 'Hi' }],
    ['a list', { 'gen_ai.prompt': '[{"content":"Hi"}]' }, { 'gen_ai.prompt': [{ content: 'Hi' }] }],
    // As LangSmith sends it.
    ['an object', { 'gen_ai.prompt': '{"messages":[],"a":1}' }, { 'gen_ai.prompt': { messages: [], a: 1 } }],
    [
      'numbered messages',
      { 'gen_ai.prompt.0.content': 'Hi', 'gen_ai.prompt.1.content': 'Ho' },
      { 'gen_ai.prompt': [{ content: 'Hi' }, { content: 'Ho' }] },
    ],
  ])('stands beside %s', async (_name, pairs, expected) => {
    for (const all of [
      { ...named, ...pairs },
      { ...pairs, ...named },
    ]) {
      const call = await row(all)
      expect(inputs(call)).toEqual(expected)
      expect(attributes(call)).toEqual(shown)
      expect(JSON.stringify(dump(call).attributes)).toContain('greet')
    }
  })

  it('is no prompt by itself, on the path of agents neither', async () => {
    const call = await row({ 'gen_ai.prompt.name': 'greet' })
    expect([inputs(call), attributes(call)]).toEqual([{}, { gen_ai: { prompt: { name: 'greet' } } }])
    const other = await row(
      { 'weave.prompt.name': 'greet', 'gen_ai.prompt.0.content': 'Hi' },
      [],
      '/agents/otel/v1/traces',
    )
    expect(inputs(other)).toEqual({ 'gen_ai.prompt': [{ content: 'Hi' }] })
  })
})

describe('usage', () => {
  it('by modality is told, and counted once', async () => {
    const call = await row({ 'gen_ai.request.model': 'm' }, [
      integer('gen_ai.usage.input_tokens', 100),
      integer('gen_ai.usage.output_tokens', 20),
      integer('gen_ai.usage.cache_read.input_tokens', 30),
      integer('gen_ai.usage.text.input_tokens', 60),
      integer('gen_ai.usage.image.input_tokens', 40),
      integer('gen_ai.usage.text.cache_read.input_tokens', 30),
      integer('gen_ai.usage.text.output_tokens', 15),
      integer('gen_ai.usage.audio.output_tokens', 5),
    ])
    expect(payload(call, 'summary')).toEqual({
      usage: { m: { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 30, total_tokens: 120 } },
    })
    expect(attributes(call)).toEqual({
      model: 'm',
      model_parameters: { model: 'm' },
      text_usage: { input_tokens: 60, cache_read: { input_tokens: 30 }, output_tokens: 15 },
      image_usage: { input_tokens: 40 },
      audio_usage: { output_tokens: 5 },
    })
  })

  it('has what was written to a cache under its newer name, alone too', async () => {
    const written = integer('gen_ai.usage.cache_write.input_tokens', 7)
    expect(await row({ 'gen_ai.request.model': 'm' }, [written])).toMatchObject({ usage_cache_write: [7] })
    expect(
      await row({ 'gen_ai.request.model': 'm' }, [integer('gen_ai.usage.input_tokens', 9), written]),
    ).toMatchObject({ usage_input: [9], usage_cache_write: [7] })
  })
})

describe('a request', () => {
  it('keeps its newer parameters, and that its conversation was compacted', async () => {
    const call = await row(
      { 'gen_ai.request.reasoning.level': 'high', 'gen_ai.request.previous_response.id': 'resp_1' },
      [flag('gen_ai.request.stream', true), flag('gen_ai.conversation.compacted', true)],
    )
    expect(attributes(call)).toEqual({
      model_parameters: { reasoning: { level: 'high' }, previous_response: { id: 'resp_1' }, stream: true },
      conversation_compacted: true,
    })
  })
})

describe('why a model ended', () => {
  const messages = (...reasons: (string | undefined)[]) =>
    JSON.stringify(reasons.map((finish_reason) => ({ role: 'assistant', parts: [], finish_reason })))
  it('is in the messages where the span does not say it', async () => {
    const reasonsOf = async (pairs: Record<string, string>, more: object[] = []) =>
      attributes(await row({ ...operation('chat'), ...pairs }, more)).finish_reasons
    expect(await reasonsOf({ 'gen_ai.output.messages': messages('stop', undefined, 'error') })).toEqual([
      'stop',
      'error',
    ])
    expect(await reasonsOf({ 'gen_ai.output.messages': messages(undefined) })).toBeUndefined()
    expect(
      await reasonsOf({ 'gen_ai.output.messages': messages('stop'), 'gen_ai.response.finish_reasons': '["length"]' }),
    ).toEqual(['length'])
  })
})

describe('spans of Sentry', () => {
  it('have what was asked and answered, and what of it was cached', async () => {
    const call = await row(
      {
        'gen_ai.request.model': 'm',
        'gen_ai.request.messages': '[{"role":"user","content":"Hi"}]',
        'gen_ai.response.text': 'Ho',
        'gen_ai.response.tool_calls': '[{"id":"c1","type":"tool_use","name":"sky","input":{}}]',
      },
      [
        integer('gen_ai.usage.input_tokens', 100),
        integer('gen_ai.usage.input_tokens.cached', 60),
        integer('gen_ai.usage.input_tokens.cache_write', 10),
        integer('gen_ai.usage.output_tokens', 20),
        integer('gen_ai.usage.output_tokens.reasoning', 5),
        integer('gen_ai.usage.total_tokens', 120),
      ],
    )
    expect(inputs(call)).toEqual({ 'gen_ai.request.messages': [{ role: 'user', content: 'Hi' }] })
    expect(output(call)).toEqual({
      'gen_ai.response.text': 'Ho',
      'gen_ai.response.tool_calls': [{ id: 'c1', type: 'tool_use', name: 'sky', input: {} }],
    })
    expect(payload(call, 'summary')).toEqual({
      usage: {
        m: {
          input_tokens: 100,
          output_tokens: 20,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 10,
          total_tokens: 120,
        },
      },
    })
  })

  it('of tools and embeddings, too', async () => {
    const tool = await row({ ...operation('execute_tool'), 'gen_ai.tool.input': '{"a":1}', 'gen_ai.tool.output': 'x' })
    expect([inputs(tool), output(tool)]).toEqual([{ 'gen_ai.tool.input': { a: 1 } }, { 'gen_ai.tool.output': 'x' }])
    const embedding = await row({ ...operation('embeddings'), 'gen_ai.embeddings.input': '["a","b"]' })
    expect(inputs(embedding)).toEqual({ 'gen_ai.embeddings.input': ['a', 'b'] })
  })
})
