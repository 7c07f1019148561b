// Log records of coding agents: calls where they have no span, else parts of the call of their span.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { agentEventKinds } from '../../services/events/gen-ai-events.ts'
import { eventually } from '../fixtures/eventually.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, flag, integer, text } from '../fixtures/otel.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

const ns = (n: number) => String(1_772_712_000_000_000_000n + BigInt(n))
const sendLogs = (project_id: string, ...logRecords: unknown[]) =>
  server.send('/otel/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }, { project_id })

describe('records of coding agents', () => {
  type AgentCall = Record<string, unknown> & { id: string; op_name: string; attributes: object }

  const ms = (n: number) => ns(n * 1_000_000)
  const calls = (project_id: string) =>
    server.list<AgentCall>('/calls/stream_query', { project_id, sort_by: [{ field: 'started_at', direction: 'asc' }] })

  /** As Claude Code writes them: a short name among the attributes, the full one as the body. */
  const claude = (atMs: number, name: string, ...attributes: object[]) => ({
    timeUnixNano: ms(atMs),
    body: { stringValue: `claude_code.${name}` },
    attributes: [text('event.name', name), text('session.id', 's1'), text('prompt.id', 'p1'), ...attributes],
  })
  const turn = [
    claude(0, 'user_prompt', text('prompt', 'fix it'), integer('prompt_length', 6)),
    claude(
      3_000,
      'api_request',
      text('model', 'claude-opus'),
      text('cost_usd', '0.25'),
      integer('duration_ms', 1_500),
      text('input_tokens', '10'),
      integer('output_tokens', 5),
      integer('cache_read_tokens', 100),
    ),
    claude(
      4_000,
      'tool_result',
      text('tool_name', 'Bash'),
      text('success', 'false'),
      text('error', 'no such file'),
      integer('duration_ms', 20),
      text('tool_parameters', '{"command":"ls /x"}'),
    ),
    claude(5_000, 'api_error', text('model', 'claude-opus'), text('error', 'overloaded'), integer('status_code', 529)),
    claude(6_000, 'tool_decision', text('tool_name', 'Bash')),
  ]

  it('make a turn of a session', async () => {
    await sendLogs('agents/claude', ...turn)
    const found = await calls('agents/claude')
    const [root, model, tool, failure] = found as [AgentCall, AgentCall, AgentCall, AgentCall]
    expect(found.map(({ op_name }) => op_name)).toEqual([
      'claude_code.user_prompt',
      'claude_code.api_request',
      'tool:Bash',
      'claude_code.api_error',
    ])
    expect(root).toMatchObject({ parent_id: null, thread_id: 's1', turn_id: root.id, inputs: { prompt: 'fix it' } })
    expect(new Set(found.map(({ trace_id }) => trace_id)).size).toBe(1)
    for (const call of [model, tool, failure])
      expect([call.parent_id, call.thread_id, call.turn_id]).toEqual([root.id, 's1', null])
    expect(model).toMatchObject({
      started_at: '2026-03-05T12:00:01.500000Z',
      ended_at: '2026-03-05T12:00:03Z',
      exception: null,
      attributes: { kind: 'llm', model: 'claude-opus', reported_cost_usd: 0.25 },
      summary: {
        usage: {
          'claude-opus': { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, total_tokens: 15 },
        },
      },
    })
    expect(tool).toMatchObject({ inputs: { tool_parameters: { command: 'ls /x' } }, exception: 'no such file' })
    expect(failure).toMatchObject({ exception: 'overloaded', output: {} })
  })

  it('are the same calls when they are sent again', async () => {
    const before = await calls('agents/claude')
    await sendLogs('agents/claude', ...turn.toReversed())
    expect(await calls('agents/claude')).toEqual(before)
  })

  it('of other agents are calls by their own names', async () => {
    const codex = (atMs: number, eventName: string, ...attributes: object[]) => ({
      timeUnixNano: ms(atMs),
      eventName,
      attributes: [text('conversation.id', 'c1'), ...attributes],
    })
    await sendLogs(
      'agents/others',
      codex(0, 'codex.user_prompt', text('prompt', '[REDACTED]')),
      codex(1, 'codex.tool_result', text('tool_name', 'shell'), text('arguments', 'ls'), flag('success', true)),
      codex(2, 'gemini_cli.api_response', text('model', 'gemini-3'), integer('input_token_count', 4)),
      codex(3, 'codex.sandbox_outcome'),
    )
    const found = await calls('agents/others')
    expect(found.map(({ op_name, thread_id }) => [op_name, thread_id])).toEqual([
      ['codex.user_prompt', 'c1'],
      ['tool:shell', 'c1'],
      ['gemini_cli.api_response', 'c1'],
    ])
    expect(found[0]?.turn_id).toBe(found[0]?.id)
    expect(found[1]).toMatchObject({ inputs: { arguments: 'ls' }, exception: null })
    expect(found[2]).toMatchObject({ summary: { usage: { 'gemini-3': { input_tokens: 4 } } } })
  })
  it.each(['records first', 'span first'])('with a span are part of its call alone: %s', async (order) => {
    const project_id = `agents/${order.replace(' ', '-')}`
    const spanned = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
    const records = turn.map((one) => ({ ...one, ...spanned }))
    const own = [text('gen_ai.request.model', 'own-model')]
    const sendSpan = () =>
      server.send('/otel/v1/traces', aRequest([aSpan({ ...spanned, name: 'turn', attributes: own })]), { project_id })
    if (order === 'records first') await sendLogs(project_id, ...records)
    await sendSpan()
    if (order === 'span first') await sendLogs(project_id, ...records)
    const read = async () => (await calls(project_id)) as (AgentCall & { attributes: Record<string, unknown> })[]
    await eventually(async () => expect((await read())[0]?.inputs).not.toEqual({}), { withinMs: 90_000, everyMs: 100 })
    await sendLogs(project_id, ...records)
    const found = await read()
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      id: spanned.spanId,
      trace_id: spanned.traceId,
      thread_id: 's1',
      inputs: { 'gen_ai.prompt': 'fix it' },
      exception: 'no such file',
      attributes: { kind: 'agent', model: 'own-model', tool_name: 'Bash', reported_cost_usd: 0.25 },
      summary: {
        usage: { 'own-model': { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, total_tokens: 15 } },
      },
    })
    const logs = await server.list<{ event_name: string }>('/logs/query', {
      project_id,
      start: '2026-03-05T00:00:00Z',
      end: '2026-03-06T00:00:00Z',
    })
    expect(logs.map(({ event_name }) => event_name)).toEqual([
      'claude_code.user_prompt',
      'claude_code.api_request',
      'claude_code.tool_result',
      'claude_code.api_error',
      'tool_decision',
    ])
  })

  it('are found by the views under every name that the code knows', () => {
    const migrations = ['0033_joins_of_events', '0036_log_turns'].map((name) =>
      readFileSync(join(import.meta.dirname, `../../clickhouse/migrations/${name}.sql`), 'utf8'),
    )
    for (const sql of migrations) for (const name of Object.keys(agentEventKinds)) expect(sql).toContain(`'${name}'`)
  })
})
