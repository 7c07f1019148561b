// JSON lines of the reference: one per call, from starts and ends in one request, or from the spans of an OTLP request.
import { join } from 'node:path'
import protobuf from 'protobufjs'

type Row = {
  project_id: string
  id: string
  trace_id: string
  parent_id: string
  thread_id: string
  op_name: string
  started_us: number
  ended_us: number
  exception: string
  attributes: unknown
  inputs: unknown
  output: unknown
  summary: unknown
}

const bytesOf = (rows: readonly Row[]): Buffer => Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))

/** Milliseconds of an ISO time, and the three digits after them. */
const microseconds = (iso: string): number => Date.parse(iso) * 1000 + Number(iso.slice(23, -1))

type Start = {
  project_id: string
  id: string
  trace_id: string
  parent_id?: string | null
  thread_id?: string | null
  op_name: string
  started_at: string
  attributes: unknown
  inputs: unknown
}
type End = { id: string; ended_at: string; exception?: string | null; output: unknown; summary: unknown }
type Item = { req: { start?: Start; end?: End } }

/** @param body of /call/upsert_batch, with each call's start before its end */
export function linesOfCalls(body: Buffer): Buffer {
  const { batch } = JSON.parse(body.toString()) as { batch: Item[] }
  const starts = new Map<string, Start>()
  const rows: Row[] = []
  for (const { req } of batch) {
    if (req.start) starts.set(req.start.id, req.start)
    if (!req.end) continue
    const start = starts.get(req.end.id)
    if (!start) throw new Error('start and end have to come together')
    rows.push({
      project_id: start.project_id,
      id: start.id,
      trace_id: start.trace_id,
      parent_id: start.parent_id ?? '',
      thread_id: start.thread_id ?? '',
      op_name: start.op_name,
      started_us: microseconds(start.started_at),
      ended_us: microseconds(req.end.ended_at),
      exception: req.end.exception ?? '',
      attributes: start.attributes,
      inputs: start.inputs,
      output: req.end.output,
      summary: req.end.summary,
    })
  }
  return bytesOf(rows)
}

const folder = join(import.meta.dirname, '../../../schemas/otlp')
const root = new protobuf.Root()
root.resolvePath = (_origin, target) => (target.startsWith('/') ? target : join(folder, target))
root.loadSync('opentelemetry/proto/collector/trace/v1/trace_service.proto')
const request = root.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest')

type Long = { low: number; high: number }
type AnyValue = {
  value?: 'stringValue' | 'boolValue' | 'intValue' | 'doubleValue' | 'arrayValue' | 'kvlistValue' | 'bytesValue'
  stringValue: string
  boolValue: boolean
  intValue: Long
  doubleValue: number
  arrayValue: { values: AnyValue[] }
  kvlistValue: { values: KeyValue[] }
  bytesValue: Buffer
}
type KeyValue = { key: string; value: AnyValue }
type Span = {
  traceId: Buffer
  spanId: Buffer
  parentSpanId: Buffer
  name: string
  startTimeUnixNano: Long
  endTimeUnixNano: Long
  attributes: KeyValue[]
  status?: { message?: string }
}
type Request = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }

const numberOf = ({ low, high }: Long): number => high * 2 ** 32 + (low >>> 0)

function plainOf(any: AnyValue): unknown {
  switch (any.value) {
    case 'intValue':
      return numberOf(any.intValue)
    case 'arrayValue':
      return any.arrayValue.values.map(plainOf)
    case 'kvlistValue':
      return objectOf(any.kvlistValue.values)
    case 'bytesValue':
      return any.bytesValue.toString('base64')
    case undefined:
      return null
    default:
      return any[any.value]
  }
}
const objectOf = (list: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, plainOf(value)]))

const inputKeys = new Set(['gen_ai.input.messages', 'input.value'])
const outputKeys = new Set(['gen_ai.output.messages', 'output.value'])

function rowOf(span: Span, project_id: string): Row {
  const attributes: Record<string, unknown> = {}
  let inputs: unknown = ''
  let output: unknown = ''
  for (const { key, value } of span.attributes) {
    if (inputKeys.has(key)) inputs = plainOf(value)
    else if (outputKeys.has(key)) output = plainOf(value)
    else attributes[key] = plainOf(value)
  }
  const model = attributes['gen_ai.response.model']
  const usage = {
    requests: 1,
    prompt_tokens: attributes['gen_ai.usage.input_tokens'],
    completion_tokens: attributes['gen_ai.usage.output_tokens'],
  }
  return {
    project_id,
    id: span.spanId.toString('hex'),
    trace_id: span.traceId.toString('hex'),
    parent_id: span.parentSpanId.toString('hex'),
    thread_id: String(attributes['gen_ai.conversation.id'] ?? ''),
    op_name: span.name,
    started_us: Math.floor(numberOf(span.startTimeUnixNano) / 1000),
    ended_us: Math.floor(numberOf(span.endTimeUnixNano) / 1000),
    exception: span.status?.message ?? '',
    attributes,
    inputs,
    output,
    summary: typeof model === 'string' ? { usage: { [model]: usage } } : {},
  }
}

/** @param body of an OTLP request of traces, as protobuf */
export function linesOfSpans(body: Buffer, projectId: string): Buffer {
  const { resourceSpans } = request.decode(body) as unknown as Request
  return bytesOf(
    resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans.map((span) => rowOf(span, projectId))),
    ),
  )
}
