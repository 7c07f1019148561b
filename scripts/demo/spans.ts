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
const turnMs = 6_000

const message = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

/** One turn of a conversation: the agent asks the model, uses a tool, and asks again. Every ninth tool fails. */
function addTurn(tracer: Tracer, thread: number, turn: number, startedMs: number): void {
  const serial = thread * turnsPerThread + turn
  const question = questions[serial % questions.length] as string
  const tool = tools[serial % tools.length] as string
  const conversation = `conversation-${thread + 1}`
  const isFailing = serial % 9 === 4
  const at = (ms: number) => new Date(startedMs + ms)
  const agent = tracer.startSpan(
    'invoke_agent support',
    {
      startTime: at(0),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'support',
        'gen_ai.conversation.id': conversation,
        'gen_ai.input.messages': message('user', question),
      },
    },
    ROOT_CONTEXT,
  )
  const inside = trace.setSpan(ROOT_CONTEXT, agent)
  addChat(tracer, inside, at(40), at(1_200), question, `I will use ${tool}.`, 120 + serial)
  const toolSpan = tracer.startSpan(
    `execute_tool ${tool}`,
    {
      startTime: at(1_220),
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.id': `tool-${serial}`,
        'gen_ai.tool.call.arguments': JSON.stringify({ question, limit: 10 }),
      },
    },
    inside,
  )
  if (isFailing) {
    toolSpan.recordException(new Error('the order service timed out'), at(3_000))
    toolSpan.setStatus({ code: SpanStatusCode.ERROR, message: 'the order service timed out' })
  } else toolSpan.setAttribute('gen_ai.tool.call.result', JSON.stringify({ rows: serial % 4, source: tool }))
  toolSpan.end(at(3_000))
  const answer = isFailing ? 'The order service does not answer; please try again later.' : `Done with ${tool}.`
  addChat(tracer, inside, at(3_050), at(4_800), question, answer, 260 + serial)
  agent.setAttribute('gen_ai.output.messages', message('assistant', answer))
  agent.end(at(4_900))
}

function addChat(
  tracer: Tracer,
  parent: Context,
  started: Date,
  ended: Date,
  question: string,
  answer: string,
  tokens: number,
): void {
  const span = tracer.startSpan(
    'chat demo-model',
    {
      startTime: started,
      kind: SpanKind.CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'demo',
        'gen_ai.request.model': 'demo-model',
        'gen_ai.response.model': 'demo-model-1',
        'gen_ai.request.temperature': 0.2,
        'gen_ai.input.messages': message('user', question),
        'gen_ai.output.messages': message('assistant', answer),
        'gen_ai.usage.input_tokens': tokens,
        'gen_ai.usage.output_tokens': Math.ceil(answer.length / 4),
      },
    },
    parent,
  )
  span.end(ended)
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
  return turns * 4
}
