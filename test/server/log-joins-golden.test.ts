// Spans and log records as the published instrumentation of OpenAI's client sent them, joined in both orders, and log
// records of coding agents, with nothing left that tells of the machine.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { startClockAt } from '../fixtures/clock-at.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

type Call = { inputs: object; output: object; attributes: Record<string, unknown>; summary: { usage: object } }

const folder = join(import.meta.dirname, '../golden/otel-logs')
let server: LiveServer
let restoreClock: () => void
beforeAll(async () => {
  // Times ahead of the clock are refused, and old records go: it begins at the day of the captures.
  restoreClock = startClockAt('2026-11-24T00:00:00Z')
  server = await startLiveServer()
})
afterAll(async () => {
  await server?.remove()
  restoreClock()
})

async function send(project_id: string, capture: string, signal: 'traces' | 'logs'): Promise<void> {
  const body = readFileSync(join(folder, `${capture}.${signal}.bin`))
  const type = { 'content-type': 'application/x-protobuf', project_id }
  expect((await post(server.now().url, `/v1/${signal}`, body, type)).status).toBe(200)
}

const answer = 'It is 7 degrees in Oslo.'
const captures = {
  // The default: a record of each message.
  'openai-v2-messages': {
    inputs: {
      'gen_ai.events': [
        { event: 'gen_ai.system.message', content: 'Answer briefly.', gen_ai: { system: 'openai' } },
        { event: 'gen_ai.user.message', content: 'How warm is it in Oslo?', gen_ai: { system: 'openai' } },
      ],
    },
    output: {
      'gen_ai.choice': [
        expect.objectContaining({ finish_reason: 'stop', message: { role: 'assistant', content: answer } }),
      ],
    },
  },
  // OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental with OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=EVENT_ONLY
  'openai-v2-details': {
    inputs: {
      'gen_ai.input.messages': [
        expect.objectContaining({ role: 'system' }),
        { role: 'user', parts: [{ content: 'How warm is it in Oslo?', type: 'text' }] },
      ],
    },
    output: {
      'gen_ai.output.messages': [
        expect.objectContaining({ role: 'assistant', parts: [{ content: answer, type: 'text' }] }),
      ],
    },
  },
} as const

it.each(Object.entries(captures))('%s', async (capture, expected) => {
  for (const order of [['traces', 'logs'] as const, ['logs', 'traces'] as const]) {
    const project_id = `golden/${capture}-${order[0]}`
    for (const signal of order) await send(project_id, capture, signal)
    await vi.waitFor(
      async () => {
        const [call] = await server.list<Call>('/calls/stream_query', { project_id })
        expect(call?.inputs).toEqual(expected.inputs)
        expect(call?.output).toEqual(expected.output)
        expect(call?.attributes).toMatchObject({
          model: 'gpt-test-1',
          operation_name: 'chat',
          response_id: 'chatcmpl-1',
        })
        expect(call?.summary.usage).toMatchObject({ 'gpt-test-1': { input_tokens: 21, output_tokens: 8 } })
      },
      { timeout: 90_000, interval: 100 },
    )
  }
})

const prompt = 'Say hello'
const agents = {
  // 2.1.330, with OTEL_LOG_USER_PROMPTS=1
  'claude-code': {
    root: { op_name: 'claude_code.user_prompt', inputs: { prompt }, thread_id: '7724f0f8-caf5-482c-b976-f91def2489f6' },
    model: { op_name: 'claude_code.api_request' },
  },
  // 0.61.0, with telemetry.logPrompts
  'gemini-cli': {
    root: { op_name: 'gemini_cli.user_prompt', inputs: { prompt }, thread_id: '977d6f95-71ab-4f4a-a924-0d9078cd1ebe' },
    model: { op_name: 'gemini_cli.api_response', output: { response_text: expect.anything() } },
  },
} as const

it.each(Object.entries(agents))(
  'records of %s are a turn with its call of a model',
  async (capture, { root, model }) => {
    const project_id = `golden/${capture}`
    const body = readFileSync(join(folder, `${capture}.logs.json`))
    const type = { 'content-type': 'application/json', project_id }
    expect((await post(server.now().url, '/v1/logs', body, type)).status).toBe(200)
    const found = await server.list<Call & Record<string, unknown>>('/calls/stream_query', {
      ...{ project_id, sort_by: [{ field: 'started_at', direction: 'asc' }] },
    })
    expect(found).toHaveLength(2)
    const turn = found.find(({ op_name }) => op_name === root.op_name)
    expect(turn).toMatchObject({ ...root, parent_id: null, turn_id: turn?.id, exception: null })
    expect(found.find((call) => call !== turn)).toMatchObject({
      ...{ ...model, parent_id: turn?.id, trace_id: turn?.trace_id, thread_id: root.thread_id, turn_id: null },
      ...{ attributes: { kind: 'llm' }, exception: null },
    })
    const usage = Object.values(found.find((call) => call !== turn)?.summary.usage as Record<string, object>)
    expect(usage).toMatchObject([{ input_tokens: 12, output_tokens: 3 }])
  },
)

// 0.169.0, with otel.log_user_prompt: names of places in its program are those of its events, and what a request took is
// told when its stream ends.
it('records of Codex are a trace of its session', async () => {
  const project_id = 'golden/codex'
  const body = readFileSync(join(folder, 'codex.logs.json'))
  const type = { 'content-type': 'application/json', project_id }
  expect((await post(server.now().url, '/v1/logs', body, type)).status).toBe(200)
  const found = await server.list<Call & Record<string, unknown>>('/calls/stream_query', { project_id })
  const named = new Map(found.map((call) => [call.op_name, call]))
  expect(found).toHaveLength(3)
  expect(new Set(found.map(({ trace_id, thread_id }) => `${trace_id} ${thread_id}`)).size).toBe(1)
  expect(named.get('codex.user_prompt')).toMatchObject({ inputs: { prompt }, parent_id: null })
  expect(named.get('codex.api_request')).toMatchObject({ attributes: { kind: 'llm' }, exception: null })
  const ended = named.get('codex.sse_event')
  expect(ended?.summary.usage).toMatchObject({ 'gpt-test': { input_tokens: 12, output_tokens: 3 } })
})
