// Log records of generative AI become part of calls, whichever of record and span comes first; those of agents are calls.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createEventMapping } from '../../services/ingest/otel/join.ts'
import { createJoiner, maxEvents } from '../../services/worker/logs/joiner.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, flag, integer, text } from '../fixtures/otel.ts'
import { runs } from '../fixtures/runs.ts'

type Call = Record<string, unknown> & {
  inputs: Record<string, unknown>
  output: Record<string, unknown>
  attributes: Record<string, unknown>
  summary: Record<string, unknown>
}

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server?.remove())

const traceId = '0af7651916cd43dd8448eb211c80319c'
const idOf = (n: number) => n.toString(16).padStart(16, 'c')
const ns = (n: number) => String(1_772_712_000_000_000_000n + BigInt(n))
const span = (n: number, more: object = {}) =>
  aSpan({
    traceId,
    spanId: idOf(n),
    name: 'chat',
    startTimeUnixNano: ns(0),
    endTimeUnixNano: ns(1_000_000_000),
    ...more,
  })
const record = (n: number, eventName: string, more: object = {}) => ({
  ...{ traceId, spanId: idOf(n), eventName, timeUnixNano: ns(5) },
  ...more,
})
const list = (text: string) => ({
  arrayValue: { values: [{ kvlistValue: { values: [{ key: 'content', value: { stringValue: text } }] } }] },
})
const details = (n: number, more: unknown[] = []) =>
  record(n, 'gen_ai.client.inference.operation.details', {
    attributes: [
      ...[
        text('gen_ai.request.model', 'm1'),
        text('gen_ai.provider.name', 'someone'),
        integer('gen_ai.usage.input_tokens', 7),
      ],
      ...[integer('gen_ai.usage.output_tokens', 3), { key: 'gen_ai.request.temperature', value: { doubleValue: 0.5 } }],
      { key: 'gen_ai.input.messages', value: list('question') },
      text('gen_ai.output.messages', '[{"content": "answer"}]'),
      ...more,
    ],
  })

const sendSpans = (project_id: string, ...spans: unknown[]) =>
  server.send('/otel/v1/traces', aRequest(spans), { project_id })
const sendLogs = (project_id: string, ...logRecords: unknown[]) =>
  server.send('/otel/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }, { project_id })
const read = async (project_id: string, n: number) =>
  (await server.send<{ call: Call }>('/call/read', { project_id, id: idOf(n) })).call

/** The call once the joiner has looked at so many events of it. */
async function joined(project_id: string, n: number, events = 1): Promise<Call> {
  await vi.waitFor(
    async () => {
      const rows = await server.now().store.rows<{ events: number }>({
        name: 'test.joined',
        sql: `SELECT max(events) AS events FROM callhouse.log_joined WHERE project_id = {project:String} AND span_id = {id:String}`,
        params: { project: project_id, id: idOf(n) },
      })
      expect(Number(rows[0]?.events)).toBe(events)
    },
    { timeout: 30_000, interval: 50 },
  )
  return read(project_id, n)
}

const shown = ({
  attributes: { otel_span: _, ...attributes },
  inputs,
  output,
  summary: { weave: __, ...summary },
}: Call) => ({
  ...{ attributes, inputs, output, summary },
})
const expected = {
  attributes: {
    ...{ model: 'm1', provider: 'someone', model_parameters: { model: 'm1' } },
  },
  inputs: { 'gen_ai.input.messages': [{ content: 'question' }] },
  output: { 'gen_ai.output.messages': [{ content: 'answer' }] },
  summary: { usage: { m1: { input_tokens: 7, output_tokens: 3, total_tokens: 10 } } },
}
const ownModel = { attributes: [text('gen_ai.request.model', 'm1')] }

/** Everything about a call but what tells the projects apart. */
const comparable = (call: Call, project: string) =>
  JSON.parse(JSON.stringify(call).replaceAll(project, 'project')) as Call

describe('an event with the contents of a call', () => {
  it('fills the same call whichever comes first', async () => {
    await sendSpans('join/span-first', span(1, ownModel))
    const before = await read('join/span-first', 1)
    expect([before.inputs, before.summary.usage]).toEqual([{}, {}])
    await sendLogs('join/span-first', details(1))
    await sendLogs('join/log-first', details(1))
    await sendSpans('join/log-first', span(1, ownModel))
    const calls = [await joined('join/span-first', 1), await joined('join/log-first', 1)] as const
    expect(shown(calls[0])).toEqual(expected)
    expect(comparable(calls[1], 'join/log-first')).toEqual(comparable(calls[0], 'join/span-first'))
    expect(calls[0].attributes.otel_span).toEqual(before.attributes.otel_span)
  })

  it('is seen by filters, statistics of usage and the trace', async () => {
    const query = { $expr: { $eq: [{ $getField: 'attributes.provider' }, { $literal: 'someone' }] } }
    const found = await server.list<Call>('/calls/stream_query', { project_id: 'join/span-first', query })
    expect(found.map(({ id }) => id)).toEqual([idOf(1)])
    const usage = await server.send<{ call_usage: unknown }>('/calls/usage', {
      ...{ project_id: 'join/span-first', call_ids: [idOf(1)] },
    })
    expect(JSON.stringify(usage)).toContain('"m1"')
  })

  it('replaces nothing that the span says, and fills what it does not', async () => {
    const secret = { kvlistValue: { values: [text('api_key', 'kept in an output'), text('content', 'own')] } }
    const attributes = [text('gen_ai.request.model', 'own'), { key: 'gen_ai.completion', value: secret }]
    await sendSpans('join/own', span(1, { attributes: [...attributes, integer('gen_ai.usage.input_tokens', 1)] }))
    const before = await read('join/own', 1)
    await sendLogs('join/own', details(1))
    const call = await joined('join/own', 1)
    expect(call.output).toEqual(before.output)
    expect(call.summary).toEqual(before.summary)
    expect(call.attributes).toMatchObject({ model: 'own', provider: 'someone' })
    expect(call.attributes.otel_span).toEqual(before.attributes.otel_span)
    expect(call.inputs).toEqual(expected.inputs)
  })

  it('keeps all attributes of a span that says nothing known', async () => {
    await sendSpans('join/unknown', span(1, { attributes: [text('http.route', '/x')] }))
    await sendLogs('join/unknown', details(1))
    expect((await joined('join/unknown', 1)).attributes).toMatchObject({ http: { route: '/x' }, model: 'm1' })
  })

  it('of another trace or project is no part of it', async () => {
    const foreign = { ...details(1), traceId: 'b'.repeat(32) }
    await sendSpans('join/foreign', span(1, ownModel), span(2, ownModel))
    await sendLogs('join/foreign', foreign, details(2))
    await sendLogs('join/elsewhere', details(1))
    expect(shown(await joined('join/foreign', 2))).toEqual(expected)
    expect((await read('join/foreign', 1)).inputs).toEqual({})
  })

  it('stays with the call when it is renamed, and comes again when the span does', async () => {
    await sendSpans('join/again', span(1, ownModel))
    await server.send('/call/update', { project_id: 'join/again', call_id: idOf(1), display_name: 'renamed' })
    await sendLogs('join/again', details(1))
    expect(await joined('join/again', 1)).toMatchObject({ ...expected, display_name: 'renamed', attributes: {} })
    const again = [text('gen_ai.request.model', 'm2'), text('input.value', 'now known')]
    await sendSpans('join/again', span(1, { attributes: again }))
    await vi.waitFor(
      async () => {
        const call = await read('join/again', 1)
        expect([call.inputs, call.attributes.model, call.output, call.display_name]).toEqual([
          ...[{ 'input.value': 'now known' }, 'm2', expected.output, 'renamed'],
        ])
      },
      { timeout: 30_000, interval: 50 },
    )
  })
})

describe('older events', () => {
  it('are messages in the order of their times, and an exception', async () => {
    const message = (n: number, name: string, content: string) =>
      record(1, name, { timeUnixNano: ns(n), body: { kvlistValue: { values: [text('content', content)] } } })
    // The later records are joined with what is joined already.
    await sendLogs('join/older', message(3, 'gen_ai.user.message', 'second'))
    await sendSpans('join/older', span(1))
    expect((await joined('join/older', 1)).inputs['gen_ai.events']).toHaveLength(1)
    await sendLogs(
      'join/older',
      ...[message(2, 'gen_ai.system.message', 'first'), message(4, 'gen_ai.choice', 'answer')],
      record(1, 'gen_ai.client.operation.exception', { attributes: [text('exception.message', 'out of tokens')] }),
    )
    const call = await joined('join/older', 1, 4)
    expect([call.inputs, call.output, call.exception]).toEqual([
      {
        'gen_ai.events': [
          { event: 'gen_ai.system.message', content: 'first' },
          { event: 'gen_ai.user.message', content: 'second' },
        ],
      },
      { 'gen_ai.choice': [{ content: 'answer' }] },
      'out of tokens',
    ])
  })
})

describe('results of evaluations', () => {
  it('are feedback of the call of their span, or of their response', async () => {
    const evaluation = (more: object, id: string) => ({
      ...{ eventName: 'gen_ai.evaluation.result', timeUnixNano: ns(7), ...more },
      attributes: [
        ...[text('gen_ai.evaluation.name', 'Relevance'), text('gen_ai.evaluation.score.label', 'good')],
        ...[{ key: 'gen_ai.evaluation.score.value', value: { doubleValue: 0.75 } }, text('gen_ai.response.id', id)],
      ],
    })
    await sendSpans('join/evaluated', span(1), span(2, { attributes: [text('gen_ai.response.id', 'response-2')] }))
    const records = [evaluation({ traceId, spanId: idOf(1) }, 'x'), evaluation({}, 'response-2')]
    const feedback = () =>
      server.send<{ result: Record<string, unknown>[] }>('/feedback/query', {
        ...{ project_id: 'join/evaluated', sort_by: [{ field: 'weave_ref', direction: 'asc' }] },
      })
    await sendLogs('join/evaluated', ...records)
    await vi.waitFor(async () => expect((await feedback()).result).toHaveLength(2), { timeout: 30_000, interval: 50 })
    const first = (await feedback()).result
    expect(first).toEqual(
      [1, 2].map((n) =>
        expect.objectContaining({
          weave_ref: `weave:///join/evaluated/call/${idOf(n)}`,
          feedback_type: 'gen_ai.evaluation.Relevance',
          payload: {
            ...{ score_value: 0.75, score_label: 'good', explanation: null },
            response_id: n === 1 ? 'x' : 'response-2',
          },
        }),
      ),
    )
    await sendLogs('join/evaluated', ...records)
    expect((await feedback()).result).toEqual(first)
  })
})

describe('a join', () => {
  it('is the same row however often and by how many it is made', async () => {
    const { store, log } = server.now()
    const project_id = 'join/many'
    const spans = Array.from({ length: 20 }, (_, n) => span(n, ownModel))
    const records = spans.map((_, n) => details(n, [integer('gen_ai.n', n)]))
    await sendSpans(project_id, ...spans)
    const mapping = createEventMapping(server.config, noMaskings)
    const others = [1, 2].map(() => createJoiner({ store, log, mapping, onError: () => {} }))
    await sendLogs(project_id, ...records)
    await Promise.all([...others.map((one) => one.look(86_400)), sendLogs(project_id, ...records)])
    for (const n of spans.keys()) expect(shown(await joined(project_id, n))).toEqual(expected)
    const clocks = () =>
      store.rows({
        name: 'test.clocks',
        sql: `SELECT id, groupUniqArray(toString(cityHash64(inputs, output, attributes, summary, otel_dump))) AS texts
          FROM callhouse.payloads WHERE project_id = 'join/many' AND (id, clock) IN
            (SELECT id, max(clock) FROM callhouse.payloads WHERE project_id = 'join/many' GROUP BY id) GROUP BY id ORDER BY id`,
        params: {},
      })
    const before = await clocks()
    expect(before).toHaveLength(20)
    for (const { texts } of before as { texts: string[] }[]) expect(texts).toHaveLength(1)
    await Promise.all(others.map((one) => one.look(86_400)))
    expect(await clocks()).toEqual(before)
    await Promise.all(others.map((one) => one.stop()))
  })

  it('takes the first thousand events of a span; the others stay logs', async () => {
    const messages = Array.from({ length: runs(maxEvents + 200, 50_000) }, (_, n) =>
      record(1, 'gen_ai.user.message', { timeUnixNano: ns(n), attributes: [integer('n', n)] }),
    )
    await sendLogs('join/flood', ...messages)
    await sendSpans('join/flood', span(1))
    const call = await joined('join/flood', 1, maxEvents)
    const events = call.inputs['gen_ai.events'] as { n: number }[]
    expect(events.map(({ n }) => n)).toEqual(Array.from({ length: maxEvents }, (_, n) => n))
  })
})

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
      ...[text('model', 'claude-opus'), text('cost_usd', '0.25'), integer('duration_ms', 1_500)],
      ...[text('input_tokens', '10'), integer('output_tokens', 5), integer('cache_read_tokens', 100)],
    ),
    claude(
      4_000,
      'tool_result',
      ...[
        text('tool_name', 'Bash'),
        text('success', 'false'),
        text('error', 'no such file'),
        integer('duration_ms', 20),
      ],
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
      ...['claude_code.user_prompt', 'claude_code.api_request', 'tool:Bash', 'claude_code.api_error'],
    ])
    expect(root).toMatchObject({ parent_id: null, thread_id: 's1', turn_id: root.id, inputs: { prompt: 'fix it' } })
    expect(new Set(found.map(({ trace_id }) => trace_id)).size).toBe(1)
    for (const call of [model, tool, failure])
      expect([call.parent_id, call.thread_id, call.turn_id]).toEqual([root.id, 's1', null])
    expect(model).toMatchObject({
      ...{ started_at: '2026-03-05T12:00:01.500000Z', ended_at: '2026-03-05T12:00:03Z', exception: null },
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
      ...{ timeUnixNano: ms(atMs), eventName },
      attributes: [text('conversation.id', 'c1'), ...attributes],
    })
    await sendLogs(
      'agents/others',
      codex(0, 'codex.user_prompt', text('prompt', '[REDACTED]')),
      codex(1, 'codex.tool_result', text('tool_name', 'shell'), text('arguments', 'ls'), flag('success', true)),
      codex(2, 'gemini_cli.api_response', text('model', 'gemini-3'), integer('input_token_count', 4)),
      codex(3, 'codex.sandbox_outcome'),
      {
        ...codex(4, 'codex.tool_result', text('tool_name', 'spanned')),
        traceId: 'a'.repeat(32),
        spanId: 'b'.repeat(16),
      },
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
})
