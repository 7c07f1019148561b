// Usage as SDKs, libraries and APIs name it: tokens under the right model in every answer, billed as the provider bills.
import { beforeAll, expect, it } from 'vitest'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'usage/names'
const startedMs = Date.UTC(2026, 9, 6, 12)

/** Input and output tokens that answers show, and the bill in millionths: prices are 1 (input), 3 (output), 0.1 (read), 2 (write, 2 for an hour). */
type Case = { model: string; input: number; output: number; bill: number } & (
  | { usage: object }
  | { span: Record<string, string | number>; scope?: string }
)

const embedding = { model: 'text-embedding-3-small', input: 9, output: 0, bill: 9 }
const details = (usage: object, model: string) => ({
  'langfuse.observation.type': 'generation',
  'langfuse.observation.model.name': model,
  'langfuse.observation.usage_details': JSON.stringify(usage),
})

const cases: Record<string, Case> = {
  'embedding of OpenInference': {
    ...embedding,
    span: {
      'openinference.span.kind': 'EMBEDDING',
      'embedding.model_name': 'text-embedding-3-small',
      'embedding.invocation_parameters': '{"model":"text-embedding-3-small"}',
      'llm.token_count.prompt': 9,
      'llm.token_count.total': 9,
    },
  },
  'embedding of the Vercel AI SDK': {
    ...embedding,
    scope: 'ai',
    span: { 'ai.operationId': 'ai.embed.doEmbed', 'ai.model.id': 'text-embedding-3-small', 'ai.usage.tokens': 9 },
  },
  'embedding of the semantic conventions': {
    ...embedding,
    span: {
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.request.model': 'text-embedding-3-small',
      'gen_ai.usage.input_tokens': 9,
    },
  },
  'reranker of OpenInference': {
    model: 'rerank-v3.5',
    input: 5,
    output: 0,
    bill: 5,
    span: { 'openinference.span.kind': 'RERANKER', 'reranker.model_name': 'rerank-v3.5', 'llm.token_count.prompt': 5 },
  },
  'Vercel AI SDK 5 that names its own counts alone': {
    model: 'gpt-5',
    input: 12,
    output: 3,
    bill: 12 + 9,
    scope: 'ai',
    span: {
      'ai.model.id': 'gpt-5',
      'ai.usage.inputTokens': 12,
      'ai.usage.outputTokens': 3,
      'ai.usage.totalTokens': 15,
    },
  },
  'the model that answered an alias': {
    model: 'gpt-4o-2024-08-06',
    input: 10,
    output: 1,
    bill: 13,
    span: {
      'ai.model.id': 'my-deployment',
      'gen_ai.request.model': 'my-deployment',
      'ai.response.model': 'gpt-4o-2024-08-06',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 1,
    },
  },
  // 12 + 3 x (33 + 320)
  'LangChain through Langfuse, reasoning apart': {
    model: 'o3-mini',
    input: 12,
    output: 353,
    bill: 12 + 1_059,
    scope: 'langfuse-sdk',
    span: details({ input: 12, output: 33, output_reasoning: 320, total: 365 }, 'o3-mini'),
  },
  // 100 + 0.1 x 900 + 3 x 353
  'LangChain through Langfuse, cache and reasoning apart': {
    model: 'o3-mini',
    input: 1_000,
    output: 353,
    bill: 100 + 90 + 1_059,
    scope: 'langfuse-sdk',
    span: details({ input: 100, input_cache_read: 900, output: 33, output_reasoning: 320, total: 1_353 }, 'o3-mini'),
  },
  'OpenAI through Langfuse': {
    model: 'gpt-4o',
    input: 1_000,
    output: 20,
    bill: 100 + 90 + 60,
    scope: 'langfuse-sdk',
    span: details(
      { input: 100, output: 20, total: 1_020, input_cached_tokens: 900, output_reasoning_tokens: 0 },
      'gpt-4o',
    ),
  },
  'audio through Langfuse, without a total': {
    model: 'gpt-4o-audio',
    input: 130,
    output: 50,
    bill: 130 + 150,
    scope: 'langfuse-sdk',
    span: details({ input: 100, input_audio: 30, output: 20, output_audio: 30 }, 'gpt-4o-audio'),
  },
  'Langfuse’s words where the total says that the parts are counted in': {
    model: 'gpt-4o',
    input: 1_000,
    output: 50,
    bill: 100 + 90 + 150,
    span: details(
      { input: 1_000, input_cached_tokens: 900, output: 50, output_reasoning_tokens: 30, total: 1_050 },
      'gpt-4o',
    ),
  },
  'OpenAI’s words in Langfuse’s details': {
    model: 'gpt-4o',
    input: 1_000,
    output: 20,
    bill: 100 + 90 + 60,
    scope: 'langfuse-sdk',
    span: details(
      {
        prompt_tokens: 1_000,
        completion_tokens: 20,
        total_tokens: 1_020,
        prompt_tokens_details: { cached_tokens: 900 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      'gpt-4o',
    ),
  },
  'a span with reasoning beside its output': {
    model: 'grok-4',
    input: 10,
    output: 5,
    bill: 10 + 3 * 25,
    span: {
      'gen_ai.request.model': 'grok-4',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.total_tokens': 35,
      'gen_ai.usage.reasoning.output_tokens': 20,
    },
  },
  'a span of Gemini with thoughts that its total alone tells': {
    model: 'gemini-2.5-pro',
    input: 7,
    output: 58,
    bill: 7 + 3 * 1_243,
    span: {
      'llm.model_name': 'gemini-2.5-pro',
      'llm.token_count.prompt': 7,
      'llm.token_count.completion': 58,
      'llm.token_count.total': 1_250,
    },
  },
  'thoughts of Gemini beside the output': {
    model: 'gemini-2.5-flash',
    input: 8,
    output: 1,
    bill: 8 + 3 * 99,
    usage: { prompt_tokens: 8, completion_tokens: 1, thoughts_tokens: 98, total_tokens: 107 },
  },
  'thoughts that the total alone tells': {
    model: 'gemini-2.5-flash-lite',
    input: 7,
    output: 58,
    bill: 7 + 3 * 1_243,
    usage: { prompt_tokens: 7, completion_tokens: 58, total_tokens: 1_250 },
  },
  'a total of another provider tells of no thoughts': {
    model: 'other-model',
    input: 7,
    output: 58,
    bill: 7 + 3 * 58,
    usage: { prompt_tokens: 7, completion_tokens: 58, total_tokens: 1_250 },
  },
  // 900 of 1,000 are cached
  'Google’s REST API': {
    model: 'google/gemini-2.5-flash',
    input: 1_000,
    output: 1,
    bill: 100 + 90 + 3 * 99,
    usage: {
      promptTokenCount: 1_000,
      cachedContentTokenCount: 900,
      candidatesTokenCount: 1,
      thoughtsTokenCount: 98,
      totalTokenCount: 1_099,
    },
  },
  'Google’s REST API with prompts of tools': {
    model: 'google/gemini-2.5-pro',
    input: 8,
    output: 1,
    bill: 8 + 50 + 3 * 99,
    usage: {
      promptTokenCount: 8,
      toolUsePromptTokenCount: 50,
      candidatesTokenCount: 1,
      thoughtsTokenCount: 98,
      totalTokenCount: 157,
    },
  },
  'LangChain, reasoning beside the output': {
    model: 'gemini-3-pro',
    input: 8,
    output: 1,
    bill: 8 + 3 * 99,
    usage: { input_tokens: 8, output_tokens: 1, total_tokens: 107, output_token_details: { reasoning: 98 } },
  },
  'LangChain, reasoning in the output': {
    model: 'gemini-3-flash',
    input: 8,
    output: 99,
    bill: 8 + 3 * 99,
    usage: { input_tokens: 8, output_tokens: 99, total_tokens: 107, output_token_details: { reasoning: 98 } },
  },
  'details that exceed the output': {
    model: 'gemini-2.0-flash',
    input: 100,
    output: 102,
    bill: 100 + 306,
    usage: {
      prompt_tokens: 100,
      completion_tokens: 102,
      total_tokens: 202,
      completion_tokens_details: { reasoning_tokens: 109 },
    },
  },
  // The converse API counts cached tokens apart: 1,000 + 0.1 x 500 + 2 x 200 + 3 x 10
  'Bedrock’s converse API': {
    model: 'anthropic.claude-sonnet-4-5',
    input: 1_000,
    output: 10,
    bill: 1_000 + 50 + 400 + 30,
    usage: {
      inputTokens: 1_000,
      outputTokens: 10,
      totalTokens: 1_710,
      cacheReadInputTokens: 500,
      cacheWriteInputTokens: 200,
    },
  },
  // 6,000 - 5,000 - 200 uncached
  'Pydantic AI’s own counts': {
    model: 'gpt-5.1',
    input: 6_200,
    output: 10,
    bill: 1_000 + 500 + 400 + 30,
    usage: { input_tokens: 6_200, output_tokens: 10, cache_read_tokens: 5_000, cache_write_tokens: 200 },
  },
  'LangChain on Anthropic, by how long it is kept': {
    model: 'claude-opus-4-5',
    input: 6_200,
    output: 10,
    bill: 1_000 + 500 + 400 + 30,
    usage: {
      input_tokens: 6_200,
      output_tokens: 10,
      total_tokens: 6_210,
      input_token_details: {
        cache_read: 5_000,
        cache_creation: 0,
        ephemeral_5m_input_tokens: 150,
        ephemeral_1h_input_tokens: 50,
      },
    },
  },
  'Qwen’s name of writes': {
    model: 'qwen3-max',
    input: 6_200,
    output: 10,
    bill: 1_000 + 500 + 400 + 30,
    usage: {
      prompt_tokens: 6_200,
      completion_tokens: 10,
      total_tokens: 6_210,
      prompt_tokens_details: { cached_tokens: 5_000, cache_creation_input_tokens: 200 },
    },
  },
  'Vercel AI SDK 6 in a summary': {
    model: 'gpt-5.2',
    input: 6_200,
    output: 10,
    bill: 1_000 + 500 + 400 + 30,
    usage: {
      inputTokens: 6_200,
      outputTokens: 10,
      totalTokens: 6_210,
      inputTokenDetails: { cacheReadTokens: 5_000, cacheWriteTokens: 200 },
    },
  },
}

let server: RunningServer
const entries = Object.entries(cases)
const idOf = (n: number, digits: number) => (n + 1).toString(16).padStart(digits, '0')

const nothing = { inputs: {}, attributes: {} }

beforeAll(async () => {
  server = await sharedServer()
  const price = {
    prompt_token_cost: 1e-6,
    completion_token_cost: 3e-6,
    cache_read_input_token_cost: 0.1e-6,
    cache_creation_input_token_cost: 2e-6,
    effective_date: '2020-01-01T00:00:00Z',
  }
  await server.send('/cost/create', {
    project_id,
    costs: Object.fromEntries(entries.map(([, one]) => [one.model, price])),
  })
  const at = (n: number) => startedMs + n * 60_000
  const batch = entries.flatMap(([name, one], n) => {
    if (!('usage' in one)) return []
    const id = `00000000-0000-7000-8000-${idOf(n, 12)}`
    const [started_at, ended_at] = [at(n), at(n) + 1].map((ms) => new Date(ms).toISOString())
    const start = { project_id, id, trace_id: id, op_name: 'ask', display_name: name, started_at, ...nothing }
    const end = { project_id, id, ended_at, output: null, summary: { usage: { [one.model]: one.usage } } }
    return [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end } },
    ]
  })
  await server.send('/call/upsert_batch', { batch })
  const scopeSpans = entries.flatMap(([name, one], n) => {
    if (!('span' in one)) return []
    const attributes = Object.entries({ ...one.span, 'wandb.display_name': name }).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: value } : { stringValue: value },
    }))
    const times = { startTimeUnixNano: String(at(n) * 1e6), endTimeUnixNano: String((at(n) + 1) * 1e6) }
    const span = { traceId: idOf(n, 32), spanId: idOf(n, 16), name, kind: 3, attributes, ...times }
    return [{ scope: { name: one.scope ?? 'other' }, spans: [span] }]
  })
  await server.send('/otel/v1/traces', { resourceSpans: [{ scopeSpans }] }, { project_id })
})

const right = Object.fromEntries(
  entries.map(([name, { model, input, output, bill }]) => [name, { model, input, output, bill }]),
)
const millionths = (dollars: number): number => Number((dollars * 1e6).toPrecision(10))
const nameAt = (ms: number): string => entries[Math.round((ms - startedMs) / 60_000)]?.[0] ?? ''

it('each call shows its tokens and costs', async () => {
  type Usage = Record<string, { prompt_tokens: number; completion_tokens: number } & Record<string, number>>
  const calls = await server.list<{ id: string; started_at: string }>('/calls/stream_query', { project_id })
  const asked = { project_id, call_ids: calls.map(({ id }) => id), include_costs: true }
  const { call_usage } = await server.send<{ call_usage: Record<string, Usage> }>('/calls/usage', asked)
  const told = calls.map(({ id, started_at }) => {
    const [[model, usage]] = Object.entries(call_usage[id] ?? {}) as [[string, Usage[string]]]
    const costs = Object.entries(usage).flatMap(([key, value]) => (key.endsWith('_total_cost') ? [value] : []))
    const { prompt_tokens: input, completion_tokens: output } = usage
    const bill = millionths(costs.reduce((sum, one) => sum + one, 0))
    return [nameAt(Date.parse(started_at)), { model, input, output, bill }] as const
  })
  expect(Object.fromEntries(told)).toEqual(right)
})

it('lists and time series tell the same', async () => {
  type Costs = Record<string, Record<string, number>>
  type Listed = { started_at: string; summary: { weave: { costs: Costs } } }
  const listed = await server.list<Listed>('/calls/stream_query', { project_id, include_costs: true })
  const told = listed.map(({ started_at, summary }) => {
    const [[model, entry]] = Object.entries(summary.weave.costs) as [[string, Record<string, number>]]
    const costs = Object.entries(entry).flatMap(([key, value]) => (key.endsWith('_total_cost') ? [value] : []))
    const { prompt_tokens: input, completion_tokens: output } = entry
    return [
      nameAt(Date.parse(started_at)),
      { model, input, output, bill: millionths(costs.reduce((sum, one) => sum + one, 0)) },
    ] as const
  })
  expect(Object.fromEntries(told)).toEqual(right)
  const { usage_buckets } = await server.send<{ usage_buckets: Record<string, number | string>[] }>('/calls/stats', {
    project_id,
    start: new Date(startedMs).toISOString(),
    end: new Date(startedMs + 3 * 3_600_000).toISOString(),
    granularity: 60,
    usage_metrics: ['input_tokens', 'output_tokens', 'total_cost'].map((metric) => ({ metric })),
  })
  const inBuckets = usage_buckets.flatMap((bucket) => {
    if (bucket.count === 0) return []
    const { timestamp, model, sum_input_tokens: input, sum_output_tokens: output, sum_total_cost: cost } = bucket
    return [[nameAt(Date.parse(String(timestamp))), { model, input, output, bill: millionths(Number(cost)) }] as const]
  })
  expect(Object.fromEntries(inBuckets)).toEqual(right)
})
