// Published exporters against a whole server: what they sent is read back, and a retry changes nothing.
import { type Attributes, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node'
import { beforeAll, describe, expect, it } from 'vitest'
import type { RunningServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, integer, protobuf, type Row, text } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

const authorization = `Basic ${Buffer.from('api:test-key').toString('base64')}`
const url = () => `${server.now().url}/otel/v1/traces`
const calls = (project: string, body: object = {}) =>
  server.list<Row>('/calls/stream_query', {
    project_id: project,
    sort_by: [{ field: 'started_at', direction: 'asc' }],
    ...body,
  })

/** Exports a trace of two spans; rejects when the exporter gave up. */
async function exportTrace(exporter: SpanExporter, resource: Attributes): Promise<void> {
  const failures: unknown[] = []
  const { export: send } = exporter
  exporter.export = (spans, done) =>
    send.call(exporter, spans, (result) => {
      if (result.code !== 0) failures.push(result.error)
      done(result)
    })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes(resource),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  const tracer = provider.getTracer('agent', '1.0')
  const root = tracer.startSpan('run', { attributes: { 'input.value': 'hi', 'gen_ai.conversation.id': 'conv' } })
  const inner = tracer.startSpan('chat', {}, trace.setSpan(ROOT_CONTEXT, root))
  inner.setAttributes({ 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.output_tokens': 4 })
  inner.setStatus({ code: SpanStatusCode.ERROR, message: 'boom' })
  inner.end()
  root.setAttribute('output', 'bye')
  root.end()
  await provider.shutdown()
  expect(failures).toEqual([])
}

describe.each([
  ['protobuf with gzip', 'protobuf', ProtobufExporter, { compression: 'gzip' as never }],
  ['JSON', 'json', JsonExporter, {}],
] as const)('exporter of %s', (_name, project, Exporter, options) => {
  it('writes calls that are read at once', async () => {
    const headers = { authorization }
    await exportTrace(new Exporter({ url: url(), headers, ...options }), {
      'service.name': 'agent',
      'wandb.entity': 'ent',
      'wandb.project': project,
    })
    const found = await calls(`ent/${project}`)
    expect(found).toHaveLength(2)
    // both may begin in the same microsecond
    const root = found.find((row) => row.parent_id === null) as Row
    const inner = found.find((row) => row !== root) as Row
    expect(root).toMatchObject({
      op_name: expect.stringContaining(`weave:///ent/${project}/op/run:`),
      parent_id: null,
      thread_id: 'conv',
      turn_id: root.id,
      inputs: { 'input.value': 'hi' },
      output: 'bye',
      platform_user_id: 'tester',
      exception: null,
      summary: { weave: { status: 'success', trace_name: 'run' } },
      attributes: { otel_span: { name: 'run', scope: { name: 'agent', version: '1.0' } } },
    })
    expect(inner).toMatchObject({
      parent_id: root.id,
      trace_id: root.trace_id,
      exception: 'boom',
      attributes: { model: 'm', model_parameters: { model: 'm' } },
      summary: { usage: { m: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } }, weave: { status: 'error' } },
    })
    const threads = await server.list<Row>('/threads/stream_query', { project_id: `ent/${project}` })
    expect(threads).toMatchObject([{ thread_id: 'conv', turn_count: 1 }])
  })
})

it('an agent with its model calls is one turn of its conversation, whichever comes first', async () => {
  const [project_id, traceId] = ['ent/turns', 'ab'.repeat(16)]
  const spanOf = (n: number, operation: string, more: object = {}) =>
    aSpan({
      traceId,
      spanId: n.toString(16).padStart(16, 'f'),
      name: operation,
      attributes: [text('gen_ai.operation.name', operation), text('gen_ai.conversation.id', 'talk')],
      ...more,
    })
  const agent = spanOf(1, 'invoke_agent')
  const below = [2, 3, 4].map((n) => spanOf(n, 'chat', { parentSpanId: (agent as { spanId: string }).spanId }))
  const threads = () => server.list<Row>('/threads/stream_query', { project_id })
  await server.send('/otel/v1/traces', aRequest(below), { project_id })
  await server.send('/otel/v1/traces', aRequest([agent]), { project_id })
  expect(await calls(project_id)).toHaveLength(4)
  expect(await threads()).toMatchObject([{ thread_id: 'talk', turn_count: 1 }])
  await server.send('/otel/v1/traces', aRequest([spanOf(5, 'chat', { traceId: 'cd'.repeat(16) })]), { project_id })
  expect(await threads()).toMatchObject([{ thread_id: 'talk', turn_count: 2 }])
})

it('a batch that is sent again changes nothing', async () => {
  const attributes = [text('input.value', '{"big":12345678901234567890,"one":1.0}'), integer('n', '9007199254740993')]
  const span = aSpan({ attributes, events: [{ name: 'e', timeUnixNano: '1700000000000000001' }] })
  const body = encodeRequest(
    aRequest([span, aSpan({ spanId: 'b7ad6b7169203332', startTimeUnixNano: '1700000000200000000' })]),
  )
  const send = async () => {
    const headers = { authorization, 'content-type': protobuf, project_id: 'ent/again' }
    expect((await fetch(url(), { method: 'POST', body, headers })).status).toBe(200)
  }
  await send()
  const once = await calls('ent/again')
  expect(once).toHaveLength(2)
  await send()
  await send()
  expect(await calls('ent/again')).toEqual(once)
  expect(await server.send('/calls/query_stats', { project_id: 'ent/again' })).toMatchObject({ count: 2 })
  const op = String(once[0]?.op_name).split('/').at(-1) as string
  const [object_id, digest] = op.split(':')
  const read = await server.send('/obj/read', { project_id: 'ent/again', object_id, digest })
  expect(read).toMatchObject({ obj: { object_id, digest, kind: 'op' } })
})

it('numbers of span attributes are read as exactly as they were sent', async () => {
  const answer = await fetch(`${server.now().url}/calls/stream_query`, {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify({ project_id: 'ent/again', filter: { call_ids: ['b7ad6b7169203331'] } }),
  })
  const line = await answer.text()
  for (const token of [
    '"big":12345678901234567890',
    '"one":1.0',
    '"n":9007199254740993',
    '"timestamp":1700000000000000001',
  ])
    expect(line).toContain(token)
})

it('a span without times runs since it came', async () => {
  const body = encodeRequest(aRequest([aSpan({ startTimeUnixNano: '0', endTimeUnixNano: '0' })]))
  const headers = { authorization, 'content-type': protobuf, project_id: 'ent/zero' }
  const beganMs = Date.now()
  expect((await fetch(url(), { method: 'POST', body, headers })).status).toBe(200)
  const [call] = await calls('ent/zero')
  expect(call).toMatchObject({ ended_at: null, summary: { weave: { status: 'running' } } })
  expect(Date.parse(String(call?.started_at))).toBeGreaterThanOrEqual(beganMs)
})
