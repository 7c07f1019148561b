// tier: deep slow
// Log records of generative AI become part of calls, whichever of record and span comes first.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import { maxEvents } from '../../services/derived/logs/join-spans.ts'
import { createJoiner } from '../../services/derived/logs/joiner.ts'
import { createEventMapping } from '../../services/ingest/otel/join.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, integer, text } from '../fixtures/otel.ts'
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
  traceId,
  spanId: idOf(n),
  eventName,
  timeUnixNano: ns(5),
  ...more,
})
const list = (text: string) => ({
  arrayValue: { values: [{ kvlistValue: { values: [{ key: 'content', value: { stringValue: text } }] } }] },
})
const details = (n: number, more: unknown[] = []) =>
  record(n, 'gen_ai.client.inference.operation.details', {
    attributes: [
      text('gen_ai.request.model', 'm1'),
      text('gen_ai.provider.name', 'someone'),
      integer('gen_ai.usage.input_tokens', 7),
      integer('gen_ai.usage.output_tokens', 3),
      { key: 'gen_ai.request.temperature', value: { doubleValue: 0.5 } },
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
  await eventually(
    async () => {
      const rows = await server.now().store.rows<{ events: number }>({
        name: 'test.joined',
        sql: `SELECT max(events) AS events FROM callhouse.log_joined WHERE project_id = {project:String} AND span_id = {id:String}`,
        params: { project: project_id, id: idOf(n) },
      })
      expect(Number(rows[0]?.events)).toBe(events)
    },
    { withinMs: 90_000, everyMs: 100 },
  )
  return read(project_id, n)
}

const shown = ({
  attributes: { otel_span: _, ...attributes },
  inputs,
  output,
  summary: { weave: __, ...summary },
}: Call) => ({ attributes, inputs, output, summary })
const expected = {
  attributes: { model: 'm1', provider: 'someone', model_parameters: { model: 'm1' } },
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
      project_id: 'join/span-first',
      call_ids: [idOf(1)],
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
    await eventually(
      async () => {
        const call = await read('join/again', 1)
        expect([call.inputs, call.attributes.model, call.output, call.display_name]).toEqual([
          { 'input.value': 'now known' },
          'm2',
          expected.output,
          'renamed',
        ])
      },
      { withinMs: 90_000, everyMs: 100 },
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
      message(2, 'gen_ai.system.message', 'first'),
      message(4, 'gen_ai.choice', 'answer'),
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

describe('a join', () => {
  it('is the same row however often and by how many it is made', async () => {
    const { store, log } = server.now()
    const project_id = 'join/many'
    const spans = Array.from({ length: 20 }, (_, n) => span(n, ownModel))
    const records = spans.map((_, n) => details(n, [integer('gen_ai.n', n)]))
    await sendSpans(project_id, ...spans)
    const mapping = createEventMapping(server.config, noMaskings)
    const others = [1, 2].map(() =>
      createJoiner({ store, log, progress: createProgress(), mapping, onError: () => {} }),
    )
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

  it('takes the first thousand events of a span; the others stay logs, and are counted', async () => {
    const beyond = async () => {
      const answer = await fetch(`${server.now().url}/metrics`, { headers: { authorization: basicAuth() } })
      return Number(/^callhouse_log_joins_total\{kind="beyond"\} (\d+)$/m.exec(await answer.text())?.[1] ?? 0)
    }
    const [count, more] = [runs(maxEvents + 200, 100_000), 300]
    const messages = Array.from({ length: count + more }, (_, n) =>
      record(1, 'gen_ai.user.message', { timeUnixNano: ns(n), attributes: [integer('n', n)] }),
    )
    for (let n = 0; n < count; n += 20_000)
      await sendLogs('join/flood', ...messages.slice(n, Math.min(count, n + 20_000)))
    await sendSpans('join/flood', span(1))
    const call = await joined('join/flood', 1, count)
    const events = call.inputs['gen_ai.events'] as { n: number }[]
    expect(events.map(({ n }) => n)).toEqual(Array.from({ length: maxEvents }, (_, n) => n))
    await eventually(async () => expect(await beyond()).toBe(count - maxEvents))
    // Those that come later are counted once each, and the call stays as it is.
    await sendLogs('join/flood', ...messages.slice(count - 50))
    expect(await joined('join/flood', 1, count + more)).toEqual(call)
    await eventually(async () => expect(await beyond()).toBe(count + more - maxEvents))
  })
})
