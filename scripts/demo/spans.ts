// Some minutes of an agent's past as OpenTelemetry spans (GenAI semantic conventions), through the published exporter.
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node'
import { authorization, type DemoTarget } from './server.ts'

const questions = [
  'Which orders of last week are late?',
  'Refund order 1042, the box was empty.',
  'How long does shipping to Lisbon take?',
  'Change the address of order 1077.',
  'Is the blue lamp in stock?',
]
const tools = ['search_orders', 'refund_order', 'estimate_shipping', 'update_address', 'check_stock']
const threads = 8
const turnsPerThread = 5
/** The turns of a day. */
const turnMs = 33 * 60_000
const models = ['gpt-4o-mini', 'claude-sonnet-4-5'] as const
const users = ['mara', 'noor', 'oscar', 'pia', 'quinn']
const policy = `You answer customers of a shop for lamps.
Be brief and kind. Look things up before you promise anything.
Never name other customers. Amounts are in euros.
If a tool fails, say so and offer to try again.`

type Part =
  | { type: 'text'; content: string }
  | { type: 'tool_call'; id: string; name: string; arguments: object }
  | { type: 'tool_call_response'; id: string; response: unknown }
type Message = { role: string; parts: Part[] }
const message = (role: string, content: string): Message => ({ role, parts: [{ type: 'text', content }] })
const messages = (...all: Message[]): string => JSON.stringify(all)

type Span = { name: string; kind?: SpanKind; from: number; to: number; attributes: Record<string, string | number> }

/** One turn of a conversation: the agent asks the model, uses a tool, and asks again. Every ninth tool fails. */
function addTurn(tracer: Tracer, thread: number, turn: number, startedMs: number): void {
  const serial = thread * turnsPerThread + turn
  const question = questions[serial % questions.length] as string
  const tool = tools[serial % tools.length] as string
  const model = models[Number(serial % 3 === 2)] as string
  const isFailing = serial % 9 === 4
  /** Some turns are slow. */
  const pace = serial % 11 === 7 ? 4 : 0.7 + (serial % 5) / 5
  const at = (ms: number) => new Date(startedMs + ms * pace)
  const add = (parent: Context, { name, kind, from, to, attributes }: Span, error?: string): Context => {
    const span = tracer.startSpan(name, { startTime: at(from), attributes, ...(kind && { kind }) }, parent)
    if (error !== undefined) {
      span.recordException(new Error(error), at(to))
      span.setStatus({ code: SpanStatusCode.ERROR, message: error })
    }
    span.end(at(to))
    return trace.setSpan(parent, span)
  }
  const toolCall = { type: 'tool_call' as const, id: `tool-${serial}`, name: tool, arguments: { question, limit: 10 } }
  const result = { rows: serial % 4, source: tool }
  const answer = isFailing
    ? 'The order service does not answer; please try again later.'
    : `Done with ${tool}: ${result.rows === 0 ? 'nothing was found, which is good news.' : `${result.rows} found, and all of them are on their way.`}`
  const asked = [message('system', policy), message('user', question)]
  const decided: Message = { role: 'assistant', parts: [{ type: 'text', content: `I will use ${tool}.` }, toolCall] }
  const toolAnswer: Message = {
    role: 'tool',
    parts: [{ type: 'tool_call_response', id: toolCall.id, response: isFailing ? 'timeout' : result }],
  }
  const agent = add(ROOT_CONTEXT, {
    name: 'invoke_agent support',
    from: 0,
    to: 4_900,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'support',
      'gen_ai.conversation.id': `conversation-${thread + 1}`,
      'user.id': users[thread % users.length] as string,
      'gen_ai.input.messages': messages(message('user', question)),
      'gen_ai.output.messages': messages(message('assistant', answer)),
    },
  })
  const chat = (from: number, to: number, input: Message[], output: Message, tokens: number) =>
    add(agent, {
      name: `chat ${model}`,
      kind: SpanKind.CLIENT,
      from,
      to,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': model.startsWith('gpt') ? 'openai' : 'anthropic',
        'gen_ai.request.model': model,
        'gen_ai.response.model': model,
        'gen_ai.request.temperature': 0.2,
        'gen_ai.input.messages': messages(...input),
        'gen_ai.output.messages': messages(output),
        'gen_ai.usage.input_tokens': tokens,
        'gen_ai.usage.output_tokens': 30 + (serial % 7) * 12,
      },
    })
  chat(40, 1_200, asked, decided, 820 + serial * 9)
  const inside = add(
    agent,
    {
      name: `execute_tool ${tool}`,
      kind: SpanKind.INTERNAL,
      from: 1_220,
      to: 3_000,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.id': toolCall.id,
        'gen_ai.tool.call.arguments': JSON.stringify(toolCall.arguments),
        ...(isFailing ? {} : { 'gen_ai.tool.call.result': JSON.stringify(result) }),
      },
    },
    isFailing ? 'the order service timed out' : undefined,
  )
  add(inside, {
    name: 'embeddings text-embedding-3-small',
    kind: SpanKind.CLIENT,
    from: 1_260,
    to: 1_500,
    attributes: {
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'text-embedding-3-small',
      'gen_ai.usage.input_tokens': 12 + (serial % 9),
    },
  })
  const found = {
    'openinference.span.kind': 'RETRIEVER',
    'input.value': question,
    'output.value': `orders of ${question}`,
  }
  add(inside, { name: 'vector_query orders', from: 1_520, to: 2_900, attributes: found })
  chat(3_050, 4_800, [...asked, decided, toolAnswer], message('assistant', answer), 960 + serial * 11)
}

/** The batch processor keeps the errors of an export to itself; the demo must not. */
function noticing(exporter: SpanExporter, failed: (error: Error) => void): SpanExporter {
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        if (result.error) failed(result.error)
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}

/** Sends the spans; resolves to their number when the server has taken all of them. */
export async function sendSpans(target: DemoTarget): Promise<number> {
  const [entity = '', project = ''] = target.project.split('/')
  const exporter = new OTLPTraceExporter({
    url: `${target.url}/otel/v1/traces`,
    headers: { authorization: authorization(target) },
  })
  const errors: Error[] = []
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'support-agent',
      'wandb.entity': entity,
      'wandb.project': project,
    }),
    spanProcessors: [new BatchSpanProcessor(noticing(exporter, (error) => errors.push(error)))],
  })
  const tracer = provider.getTracer('callhouse-demo')
  const turns = threads * turnsPerThread
  const firstMs = Date.now() - turns * turnMs
  for (let turn = 0; turn < turnsPerThread; turn++)
    for (let thread = 0; thread < threads; thread++)
      addTurn(tracer, thread, turn, firstMs + (turn * threads + thread) * turnMs)
  await provider.forceFlush()
  await provider.shutdown()
  if (errors[0]) throw errors[0]
  return turns * 6
}
