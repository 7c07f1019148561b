// tier: deep compat
// The published OpenTelemetry exporters send compressed spans in both encodings; the routes read them back as calls.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtoExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { NodeTracerProvider, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basicAuth, type ChildServer, postLines, startChildServer } from '../fixtures/child-server.ts'

type Settings = { url: string; headers: Record<string, string>; compression: 'gzip' }
type Compressed = ConstructorParameters<typeof ProtoExporter>[0]
/** The published encoder alone, its bytes sent as they are. */
const sendsOnly = (
  { url, headers }: Settings,
  type: string,
  serializer: Pick<typeof ProtobufTraceSerializer, 'serializeRequest'>,
): SpanExporter => ({
  export(spans, done) {
    const body = serializer.serializeRequest(spans) as Uint8Array<ArrayBuffer>
    fetch(url, { method: 'POST', headers: { ...headers, 'content-type': type }, body }).then(
      ({ ok, status }) => done(ok ? { code: 0 } : { code: 1, error: new Error(`answered ${status}`) }),
      (error: Error) => done({ code: 1, error }),
    )
  },
  shutdown: async () => undefined,
})
const exporters: [name: string, create: (settings: Settings) => SpanExporter][] = [
  ['protobuf', (settings) => new ProtoExporter(settings as Compressed)],
  ['JSON', (settings) => new JsonExporter(settings as Compressed)],
  [
    'protobuf without an exporter',
    (settings) => sendsOnly(settings, 'application/x-protobuf', ProtobufTraceSerializer),
  ],
  ['JSON without an exporter', (settings) => sendsOnly(settings, 'application/json', JsonTraceSerializer)],
]
const routings = ['header', 'resource'] as const

type Call = {
  id: string
  trace_id: string
  parent_id: string | null
  op_name: string
  thread_id: string | null
  turn_id: string | null
  started_at: string
  ended_at: string
  exception: string | null
  inputs: Record<string, unknown>
  output: unknown
  attributes: Record<string, unknown>
  summary: { usage?: Record<string, Record<string, number>>; weave: { status: string } }
}

const startMs = Date.parse('2026-02-03T04:05:06.789Z')
const at = (ms: number) => new Date(startMs + ms)

/** Ids of what was sent, and the error of the exporter if any. */
async function send(exporter: SpanExporter, resource: Record<string, string>) {
  let error: Error | undefined
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'compat', ...resource }),
    spanProcessors: [
      new SimpleSpanProcessor({
        export: (spans, done) =>
          exporter.export(spans, (result) => {
            error ??= result.error
            done(result)
          }),
        shutdown: () => exporter.shutdown(),
      }),
    ],
  })
  const tracer = provider.getTracer('compat', '1.2.3')
  const root = tracer.startSpan('invoke_agent', {
    startTime: at(0),
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.conversation.id': 'conversation ü' },
  })
  const inside = trace.setSpan(ROOT_CONTEXT, root)
  const chat = tracer.startSpan(
    'chat',
    {
      startTime: at(10),
      kind: SpanKind.CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.response.model': 'model-1',
        'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"héllo 😀"}]}]',
        'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"hi"}]}]',
        'gen_ai.usage.input_tokens': 12,
        'gen_ai.usage.output_tokens': 3,
      },
    },
    inside,
  )
  chat.end(at(20))
  const tool = tracer.startSpan('execute_tool', { startTime: at(30) }, inside)
  tool.recordException(new Error('boom'), at(35))
  tool.setStatus({ code: SpanStatusCode.ERROR, message: 'boom' })
  tool.end(at(40))
  root.end(at(50))
  // A flush rejects with the error that the exporter reported.
  await provider.forceFlush().catch(() => undefined)
  await provider.shutdown()
  return { root: root.spanContext(), chat: chat.spanContext(), tool: tool.spanContext(), error }
}

describe('OpenTelemetry exporters', () => {
  let dir: string
  let server: ChildServer
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'callhouse-otlp-'))
    server = await startChildServer(dir)
  })
  afterAll(async () => {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  const cases = exporters.flatMap(([name, create]) => routings.map((routing) => [name, routing, create] as const))

  it.each(cases)('%s, compressed, project by %s', async (name, routing, create) => {
    const project = `${name.toLowerCase()}-${routing}`
    const project_id = `compat/${project}`
    const headers: Record<string, string> = { 'wandb-api-key': 'test-key' }
    if (routing === 'header') headers.project_id = project_id
    const exporter = create({ url: `${server.url}/otel/v1/traces`, headers, compression: 'gzip' })
    const resource = routing === 'header' ? {} : { 'wandb.entity': 'compat', 'wandb.project': project }
    const sent = await send(exporter, resource as Record<string, string>)
    expect(sent.error).toBeUndefined()

    const sort_by = [{ field: 'started_at', direction: 'asc' }]
    const calls = await postLines<Call>(server.url, '/calls/stream_query', { project_id, sort_by })
    expect(calls.map((call) => call.id)).toEqual([sent.root.spanId, sent.chat.spanId, sent.tool.spanId])
    const [root, chat, tool] = calls as [Call, Call, Call]
    expect(calls.every((call) => call.trace_id === sent.root.traceId)).toBe(true)
    expect([root.parent_id, chat.parent_id, tool.parent_id]).toEqual([null, root.id, root.id])
    expect(root).toMatchObject({ thread_id: 'conversation ü', turn_id: root.id })
    expect(root.op_name).toContain(`weave:///${project_id}/op/invoke_agent:`)
    expect(Date.parse(root.started_at)).toBe(startMs)
    expect(Date.parse(root.ended_at)).toBe(startMs + 50)
    expect(JSON.stringify(chat.inputs)).toContain('héllo 😀')
    expect(JSON.stringify(chat.output)).toContain('hi')
    expect(chat.summary.usage?.['model-1']).toMatchObject({ input_tokens: 12, output_tokens: 3 })
    expect(tool.exception).toContain('boom')
    expect([root, chat, tool].map((call) => call.summary.weave.status)).toEqual(['success', 'success', 'error'])

    const threads = await postLines<Record<string, unknown>>(server.url, '/threads/stream_query', { project_id })
    expect(threads).toMatchObject([{ thread_id: 'conversation ü', turn_count: 1, first_turn_id: root.id }])
  })

  it('tells the exporter of a wrong key', async () => {
    const exporter = new ProtoExporter({
      url: `${server.url}/otel/v1/traces`,
      headers: { 'wandb-api-key': 'wrong', project_id: 'compat/none' },
    })
    const { error } = await send(exporter, {})
    expect(error).toMatchObject({ code: 401 })
  })

  it('takes the key of an Authorization header', async () => {
    const project_id = 'compat/authorization'
    const exporter = new JsonExporter({
      url: `${server.url}/agents/otel/v1/traces`,
      headers: { authorization: basicAuth(), project_id },
    })
    expect((await send(exporter, {})).error).toBeUndefined()
    expect(await postLines(server.url, '/calls/stream_query', { project_id })).toHaveLength(3)
  })
})
