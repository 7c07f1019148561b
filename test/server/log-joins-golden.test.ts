// tier: deep slow
// Spans and log records as the published instrumentation of OpenAI's client sent them, joined in both orders, and log
// records of coding agents, with nothing left that tells of the machine.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { startClockAt } from '../fixtures/clock-at.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

type Call = { inputs: object; output: object; attributes: Record<string, unknown>; summary: { usage: object } }

const folder = join(import.meta.dirname, '../golden/otel-logs')
let server: LiveServer
let restoreClock: () => void
beforeAll(async () => {
  // Times ahead of the clock are refused, and old records go: it begins at the day of the captures.
  restoreClock = startClockAt('2026-11-29T12:00:00Z')
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
const openAi = {
  attributes: { model: 'gpt-test-1', operation_name: 'chat', response_id: 'chatcmpl-1' },
  usage: { 'gpt-test-1': { input_tokens: 21, output_tokens: 8 } },
}
const bedrock = { gen_ai: { system: 'aws.bedrock' } }
const nova = (finish_reasons: string[], input_tokens: number, output_tokens: number) => ({
  attributes: { model: 'amazon.nova-lite-v1:0', operation_name: 'chat', system: 'aws.bedrock', finish_reasons },
  usage: { 'amazon.nova-lite-v1:0': { input_tokens, output_tokens } },
})
const asked = [
  { event: 'gen_ai.system.message', content: [{ text: 'Answer briefly.' }], ...bedrock },
  { event: 'gen_ai.user.message', content: [{ text: 'How warm is it in Oslo?' }], ...bedrock },
]
/** The calls of each, in the order of their starts. */
const captures = {
  // The default: a record of each message.
  'openai-v2-messages': [
    {
      ...openAi,
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
  ],
  // OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental with OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=EVENT_ONLY
  'openai-v2-details': [
    {
      ...openAi,
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
  ],
  // Converse; it passes the provider's count on, which leaves out the 100 tokens that were cached, and does not tell these.
  'botocore-messages': [
    {
      ...nova(['tool_use'], 110, 15),
      inputs: { 'gen_ai.events': asked },
      output: { 'gen_ai.choice': [expect.objectContaining({ finish_reason: 'tool_use' })] },
    },
    {
      ...nova(['end_turn'], 30, 9),
      inputs: { 'gen_ai.events': expect.arrayContaining(asked) },
      output: {
        'gen_ai.choice': [expect.objectContaining({ finish_reason: 'end_turn' })],
      },
    },
  ],
} as const

it.each(Object.entries(captures))('%s', async (capture, expected) => {
  for (const order of [['traces', 'logs'] as const, ['logs', 'traces'] as const]) {
    const project_id = `golden/${capture}-${order[0]}`
    for (const signal of order) await send(project_id, capture, signal)
    await eventually(
      async () => {
        const calls = await server.list<Call>('/calls/stream_query', {
          project_id,
          sort_by: [{ field: 'started_at', direction: 'asc' }],
        })
        expect(calls.map(({ inputs, output }) => ({ inputs, output }))).toEqual(
          expected.map(({ inputs, output }) => ({ inputs, output })),
        )
        for (const [place, { attributes, usage }] of expected.entries()) {
          expect(calls[place]?.attributes).toMatchObject(attributes)
          expect(calls[place]?.summary.usage).toMatchObject(usage)
        }
      },
      { withinMs: 90_000, everyMs: 100 },
    )
  }
})

/** Three prompts each, in a session that goes on: a tool that is used, one that finds nothing, a request that is refused. */
const agents: Record<string, { turns: Record<string, string[]>; tool: object; usage: object }> = {
  // 2.1.330, with OTEL_LOG_USER_PROMPTS=1 and OTEL_LOG_TOOL_DETAILS=1
  'claude-code': {
    turns: {
      'Say hello': ['claude_code.api_request', 'claude_code.api_request', 'tool:Bash'],
      'Fail please': ['claude_code.api_request', 'claude_code.api_request', 'tool:Bash failed: Shell command failed'],
      Broken: ['claude_code.api_error failed: refused for the test'],
    },
    tool: { inputs: { tool_input: { command: 'echo hello', description: 'Run it' } } },
    usage: { input_tokens: 12, output_tokens: 3, cache_read_input_tokens: 5, cache_creation_input_tokens: 4 },
  },
  // 0.169.0, with otel.log_user_prompt: names of places in its program are those of its events, its records name no prompt,
  // and what a request took is told when its stream ends.
  codex: {
    turns: {
      'Say hello': [
        'codex.api_request',
        'codex.api_request',
        'codex.sse_event',
        'codex.sse_event',
        'tool:exec_command',
      ],
      'Fail please': [
        'codex.api_request',
        'codex.api_request',
        'codex.sse_event',
        'codex.sse_event',
        'tool:exec_command',
      ],
      Overload: [
        'codex.api_request',
        'codex.api_request',
        'codex.api_request failed: http 500',
        'codex.sse_event',
        'codex.sse_event',
        'tool:exec_command',
      ],
    },
    tool: {
      inputs: { arguments: { cmd: 'echo hello' } },
      output: { output: expect.stringContaining('Process exited with code 0') },
    },
    usage: { input_tokens: 12, output_tokens: 3, cache_read_input_tokens: 2 },
  },
  // 0.61.0, with telemetry.logPrompts: it names its session as the prompt; what it says of tools and errors has spans.
  'gemini-cli': {
    turns: {
      'Say hello': ['gemini_cli.api_response', 'gemini_cli.api_response'],
      'Fail please': ['gemini_cli.api_response', 'gemini_cli.api_response'],
      Broken: [],
    },
    tool: { inputs: { 'gen_ai.tool.call.arguments': { command: 'echo hello', description: 'Run it' } } },
    usage: { input_tokens: 12, output_tokens: 3, cache_read_input_tokens: 2 },
  },
}

type AgentCall = Call &
  Record<'id' | 'op_name' | 'trace_id' | 'thread_id', string> & {
    parent_id: string | null
    turn_id: string | null
    exception: string | null
  }
const isPrompt = ({ op_name }: AgentCall) => op_name.endsWith('.user_prompt')

it.each(Object.entries(agents))('records of %s are turns with what belongs to them', async (capture, expected) => {
  const project_id = `golden/${capture}`
  const type = { 'content-type': 'application/json', project_id }
  for (const signal of ['logs', 'traces']) {
    const file = join(folder, `${capture}.${signal}.json`)
    if (existsSync(file))
      expect((await post(server.now().url, `/v1/${signal}`, readFileSync(file), type)).status).toBe(200)
  }
  const read = () => server.list<AgentCall>('/calls/stream_query', { project_id })
  const found = await eventually(
    async () => {
      const calls = await read()
      const turns = calls.filter(isPrompt).map(({ id, inputs }) => {
        const own = calls.filter(({ parent_id }) => parent_id === id)
        const said = own.map(({ op_name, exception }) => (exception ? `${op_name} failed: ${exception}` : op_name))
        return [(inputs as { prompt?: string }).prompt, said.sort()]
      })
      expect(Object.fromEntries(turns)).toEqual(expected.turns)
      const tool = calls.find(({ inputs }) => JSON.stringify(inputs).includes('echo hello'))
      expect(tool).toMatchObject({ ...expected.tool, exception: null })
      return calls
    },
    { withinMs: 90_000, everyMs: 200 },
  )
  expect(new Set(found.map(({ thread_id }) => thread_id)).size).toBe(1)
  for (const turn of found.filter(isPrompt)) {
    expect(turn).toMatchObject({ parent_id: null, turn_id: turn.id, exception: null })
    for (const call of found.filter(({ parent_id }) => parent_id === turn.id))
      expect([call.trace_id, call.turn_id]).toEqual([turn.trace_id, null])
  }
  const counted = found.filter(({ summary, attributes }) => 'usage' in summary && !('otel_span' in attributes))
  const usages = counted
    .flatMap(({ summary }) => Object.values(summary.usage))
    .filter((usage) => 'input_tokens' in usage)
  expect(usages).toHaveLength(capture === 'codex' ? 6 : 4)
  for (const usage of usages) expect(usage).toMatchObject(expected.usage)
})
