// Attributes of current conventions in a call: tools, sessions, end users and messages whose tables before them found
// nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attributes, flag, inputs, type Otel, output, rowOf, startOtel, text } from '../fixtures/otel.ts'

let otel: Otel
beforeAll(async () => {
  otel = await startOtel()
})
afterAll(() => otel.stop())

const spanId = 'b7ad6b7169203331'
const row = (pairs: Record<string, string>, more: object[] = []) =>
  rowOf(otel, { attributes: [...Object.entries(pairs).map(([key, value]) => text(key, value)), ...more] })

describe('inputs and output', () => {
  it.each([
    [
      'a tool of the semantic conventions',
      { 'gen_ai.tool.call.arguments': '{"city":"Oslo"}', 'gen_ai.tool.call.result': 'clear' },
      { 'gen_ai.tool.call.arguments': { city: 'Oslo' } },
      { 'gen_ai.tool.call.result': 'clear' },
    ],
    [
      'a retrieval',
      { 'gen_ai.retrieval.query.text': 'q', 'gen_ai.retrieval.documents': '[{"id":"1"}]' },
      { 'gen_ai.retrieval.query.text': 'q' },
      { 'gen_ai.retrieval.documents': [{ id: '1' }] },
    ],
    [
      'messages and tools from their indexes',
      {
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.content': 'hi',
        'llm.tools.0.tool.json_schema': '{"name":"sky"}',
        'llm.output_messages.0.message.content': 'ho',
      },
      {
        'llm.input_messages': [{ message: { role: 'user', content: 'hi' } }],
        'llm.tools': [{ tool: { json_schema: { name: 'sky' } } }],
      },
      { 'llm.output_messages': [{ message: { content: 'ho' } }] },
    ],
    [
      'texts without their vectors',
      {
        'embedding.embeddings.0.embedding.text': 'a',
        'embedding.embeddings.0.embedding.vector': '[0.1]',
        'embedding.embeddings.1.embedding.text': 'b',
      },
      { 'embedding.embeddings': ['a', 'b'] },
      {},
    ],
    [
      'an observation of Langfuse',
      { 'langfuse.observation.input': '{"a":1}', 'langfuse.observation.output': 'x' },
      { 'langfuse.observation.input': { a: 1 } },
      { 'langfuse.observation.output': 'x' },
    ],
  ])('are those of %s', async (_name, pairs, expectedInputs, expectedOutput) => {
    const call = await row(pairs)
    expect([inputs(call), output(call)]).toEqual([expectedInputs, expectedOutput])
  })

  it('are those of the older tables where these say something', async () => {
    const call = await row({
      'gen_ai.tool.call.arguments': '{"a":1}',
      'input.value': 'v',
      'tool.output': 'o',
      output: 'p',
    })
    expect([inputs(call), output(call)]).toEqual([{ 'input.value': 'v' }, 'p'])
  })

  it.each([
    [
      'OpenInference, beside plain texts',
      {
        'input.value': 'hi',
        'output.value': 'assistant: ho',
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.content': 'hi',
        'llm.output_messages.0.message.role': 'assistant',
        'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'add',
      },
      { 'input.value': 'hi', 'llm.input_messages': [{ message: { role: 'user', content: 'hi' } }] },
      {
        'output.value': 'assistant: ho',
        'llm.output_messages': [
          { message: { role: 'assistant', tool_calls: [{ tool_call: { function: { name: 'add' } } }] } },
        ],
      },
    ],
    [
      'OpenInference, beside a document that has them too: once',
      {
        'input.value': '{"messages":[{"role":"user","content":"hi"}]}',
        'llm.input_messages.0.message.role': 'user',
      },
      { 'input.value': { messages: [{ role: 'user', content: 'hi' }] } },
      {},
    ],
    [
      'MLflow 2, beside the arguments of a function',
      { 'mlflow.spanInputs': '{"question":"hi"}', 'mlflow.chat.messages': '[{"role":"user","content":"hi"}]' },
      { 'mlflow.spanInputs': { question: 'hi' }, 'mlflow.chat.messages': [{ role: 'user', content: 'hi' }] },
      {},
    ],
    [
      'Logfire: a chat completion',
      {
        request_data: '{"model":"m","messages":[{"role":"user","content":"hi"}]}',
        response_data: '{"message":{"role":"assistant","content":"ho"}}',
        'logfire.json_schema': '{"type":"object"}',
        'gen_ai.request.model': 'm',
      },
      { request_data: { model: 'm', messages: [{ role: 'user', content: 'hi' }] } },
      { response_data: { message: { role: 'assistant', content: 'ho' } } },
    ],
    [
      'Logfire: a response, all of it in events',
      {
        request_data: '{"model":"m"}',
        events: '[{"event.name":"gen_ai.user.message","role":"user","content":"hi"}]',
        'logfire.json_schema': '{"type":"object"}',
        'gen_ai.request.model': 'm',
      },
      {
        events: [{ 'event.name': 'gen_ai.user.message', role: 'user', content: 'hi' }],
        request_data: { model: 'm' },
      },
      {},
    ],
    [
      'Pydantic AI 0: the run of an agent',
      {
        all_messages_events: '[{"event.name":"gen_ai.user.message","role":"user","content":"hi"}]',
        final_result: 'ho',
        'logfire.json_schema': '{"type":"object"}',
      },
      { all_messages_events: [{ 'event.name': 'gen_ai.user.message', role: 'user', content: 'hi' }] },
      { final_result: 'ho' },
    ],
    [
      'no library of models: attributes of these names are nothing special',
      { events: '[1]', request_data: 'x' },
      {},
      {},
    ],
  ])('have the messages of %s', async (_name, pairs, expectedInputs, expectedOutput) => {
    const call = await row(pairs)
    expect([inputs(call), output(call)]).toEqual([expectedInputs, expectedOutput])
  })

  it('are found in the events of a span that have the messages as attributes', async () => {
    const name = 'gen_ai.client.inference.operation.details'
    const event = (key: string, value: string) => ({ name, attributes: [text(key, value)] })
    const call = await rowOf(otel, {
      events: [
        event('gen_ai.system_instructions', '[{"type":"text","content":"Be brief."}]'),
        event('gen_ai.input.messages', '[{"role":"user","parts":[]}]'),
        event('gen_ai.output.messages', '[{"role":"assistant","parts":[]}]'),
      ],
    })
    expect([inputs(call), output(call)]).toEqual([
      {
        'gen_ai.input.messages': [{ role: 'user', parts: [] }],
        'gen_ai.system_instructions': [{ type: 'text', content: 'Be brief.' }],
      },
      { 'gen_ai.output.messages': [{ role: 'assistant', parts: [] }] },
    ])
  })

  it('hide credentials in what goes in', async () => {
    expect(inputs(await row({ 'gen_ai.tool.call.arguments': '{"api_key":"secret"}' }))).toEqual({
      'gen_ai.tool.call.arguments': { api_key: 'REDACTED' },
    })
  })
})

describe('attributes', () => {
  it.each([
    ['execute_tool', 'tool'],
    ['invoke_agent', 'agent'],
    ['create_agent', 'agent'],
    ['invoke_workflow', 'workflow'],
    ['embeddings', 'embedding'],
    ['retrieval', 'retriever'],
    ['chat', undefined],
    ['constructor', undefined],
  ])('have for %s the kind %s', async (operation, kind) => {
    expect(attributes(await row({ 'gen_ai.operation.name': operation }))).toEqual({
      operation_name: operation,
      ...(kind !== undefined && { kind }),
    })
  })

  it('keep a kind that a library names itself', async () => {
    const named = await row({ 'gen_ai.operation.name': 'execute_tool', 'openinference.span.kind': 'CHAIN' })
    expect(attributes(named)).toMatchObject({ kind: 'CHAIN' })
    expect(attributes(await row({ 'mlflow.spanType': '"RETRIEVER"', 'llm.system': 's' }))).toMatchObject({
      kind: 'RETRIEVER',
    })
  })

  it('name the tool, its call and the end user', async () => {
    const pairs = { 'gen_ai.tool.name': 'sky', 'gen_ai.tool.call.id': 'c1', 'user.id': 'u', 'llm.system': 's' }
    expect(attributes(await row(pairs))).toEqual({ system: 's', tool_name: 'sky', tool_call_id: 'c1', end_user: 'u' })
  })
})

describe('a session', () => {
  const described = { 'openinference.span.kind': 'LLM' }
  it.each([
    'session.id',
    'langfuse.session.id',
    'traceloop.association.properties.session_id',
    'ai.telemetry.metadata.sessionId',
    'langsmith.metadata.thread_id',
    'langsmith.metadata.session_id',
    'langsmith.metadata.conversation_id',
  ])('of %s is a thread', async (key) => {
    const call = await row({ ...described, [key]: 's1' })
    expect(call).toMatchObject({ thread_id: 's1', turn_id: spanId })
    expect(attributes(call)).toEqual({ kind: 'LLM', session: 's1' })
  })

  it('is none where a conversation or a thread is named, and no turn where it says so', async () => {
    const both = await row({ ...described, 'session.id': 's1', 'gen_ai.conversation.id': 'c1' })
    expect(both).toMatchObject({ thread_id: 'c1', turn_id: spanId })
    const thread = await row({ ...described, 'session.id': 's1', 'wandb.thread_id': 't1' })
    expect(thread.thread_id).toBe('t1')
    expect(thread.turn_id ?? '').toBe('')
    const none = await row({ ...described, 'session.id': 's1' }, [flag('wandb.is_turn', false)])
    expect(none.thread_id).toBe('s1')
    expect(none.turn_id ?? '').toBe('')
  })

  it('of a span that says nothing of generative AI changes nothing', async () => {
    const call = await row({ 'session.id': 's1', 'user.id': 'u1', 'http.route': '/x' })
    expect(call.thread_id ?? '').toBe('')
    expect(attributes(call)).toEqual({ session: { id: 's1' }, user: { id: 'u1' }, http: { route: '/x' } })
  })
})
