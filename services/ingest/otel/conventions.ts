// Which span attribute becomes which part of a call: the tables of the instrumentation conventions, as data.
import { threadNames, userNames } from '../../events/record-names.ts'

/** A key to look for: under which name its value is kept, and the paths where it may lie. */
export type Source = { key: string; paths: string[][] }

/** With what lies `beside` it, or of each of its items only the value at `item`; one that others use too `needs` another. */
type AddedKey = string | { key: string; beside?: string; item?: string; needs?: string }
type AddedSource = { source: Source; beside?: Source; item?: string[]; needs?: Source }

/** Sources of one target, the first present one wins. */
type Target = { target: string; sources: Source[] }

const attributeKeys: Record<string, string[]> = {
  system: ['gen_ai.system_instructions', 'gen_ai.system', 'llm.system'],
  kind: ['weave.span.kind', 'traceloop.span.kind', 'openinference.span.kind'],
  model: ['gen_ai.response.model', 'ai.response.model', 'gen_ai.request.model', 'llm.model_name', 'ai.model.id'],
  provider: ['gen_ai.provider.name', 'llm.provider', 'ai.model.provider'],
  model_parameters: ['gen_ai.request', 'llm.invocation_parameters'],
  operation_name: ['gen_ai.operation.name'],
  response_id: ['gen_ai.response.id'],
  finish_reasons: ['gen_ai.response.finish_reasons'],
  agent_name: ['gen_ai.agent.name'],
  agent_id: ['gen_ai.agent.id'],
}

const inputKeys = [
  'ai.prompt',
  'gen_ai.prompt',
  'input.value',
  'mlflow.spanInputs',
  'gen_ai.input.messages',
  'pydantic_ai.all_messages',
  'traceloop.entity.input',
  'gcp.vertex.agent.tool_call_args',
  'gcp.vertex.agent.llm_request',
  'input',
  'inputs',
]

const outputKeys = [
  'ai.response',
  'gen_ai.completion',
  'output.value',
  'gen_ai.output.messages',
  'mlflow.spanOutputs',
  'final_result',
  'gen_ai.content.completion',
  'traceloop.entity.output',
  'gcp.vertex.agent.tool_response',
  'gcp.vertex.agent.llm_response',
  'output',
  'outputs',
]

/** Messages, where what the tables above find is a text, or a document that holds none: both are kept. */
const messageKeys = {
  inputs: ['gen_ai.input.messages', 'llm.input_messages', 'mlflow.chat.messages'],
  output: ['gen_ai.output.messages', 'llm.output_messages'],
}

const usageKeys = {
  input_tokens: ['gen_ai.usage.input_tokens', 'mlflow.chat.tokenUsage.input_tokens'],
  output_tokens: ['gen_ai.usage.output_tokens', 'mlflow.chat.tokenUsage.output_tokens'],
  prompt_tokens: ['gen_ai.usage.prompt_tokens', 'llm.token_count.prompt', 'ai.usage.promptTokens'],
  completion_tokens: ['gen_ai.usage.completion_tokens', 'llm.token_count.completion', 'ai.usage.completionTokens'],
  total_tokens: ['llm.usage.total_tokens', 'llm.token_count.total'],
  cache_creation_input_tokens: ['gen_ai.usage.cache_creation.input_tokens'],
  cache_read_input_tokens: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.prompt_tokens_details.cached_tokens',
    'gen_ai.usage.input_tokens_details.cached_tokens',
    'prompt_tokens_details.cached_tokens',
  ],
} as const

/** `reasoning_tokens`: output that the output count leaves out. */
export type UsageField = keyof typeof usageKeys | 'reasoning_tokens'

/** Further names of totals and cached tokens: looked up only for a span that counts its input. Newest names of a library first. */
const furtherKeys = {
  cache_creation_input_tokens: [
    'gen_ai.usage.cache_write.input_tokens',
    // OpenLLMetry, OpenLIT, Strands and Pydantic AI, before the names above
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.cache_write_input_tokens',
    'gen_ai.usage.prompt_tokens_details.cache_creation_tokens',
    'gen_ai.usage.details.cache_write_tokens',
    'gen_ai.usage.cache_write_tokens',
    'gen_ai.usage.cache_creation_tokens',
    'gen_ai.usage.prompt_tokens_details.cache_write_tokens',
    'gen_ai.usage.input_tokens_details.cache_write_tokens',
    'gen_ai.usage.input_token_details.cache_creation',
    'gen_ai.usage.cacheWriteInputTokens',
    // OpenInference
    'llm.token_count.prompt_details.cache_write',
    // Vercel AI SDK 6; before it the providers' own words
    'ai.usage.inputTokenDetails.cacheWriteTokens',
    'ai.response.providerMetadata.anthropic.cacheCreationInputTokens',
    'ai.response.providerMetadata.bedrock.usage.cacheWriteInputTokens',
    'mlflow.chat.tokenUsage.cache_creation_input_tokens',
  ],
  cache_read_input_tokens: [
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.details.cache_read_tokens',
    'gen_ai.usage.cache_read_tokens',
    'gen_ai.usage.cached_tokens',
    'gen_ai.usage.cached_input_tokens',
    'gen_ai.usage.input_token_details.cache_read',
    'gen_ai.usage.cached_content_token_count',
    'gen_ai.usage.prompt_cache_hit_tokens',
    'gen_ai.usage.cacheReadInputTokens',
    'llm.token_count.prompt_details.cache_read',
    // Vercel AI SDK 6, 5 and 4
    'ai.usage.inputTokenDetails.cacheReadTokens',
    'ai.usage.cachedInputTokens',
    'ai.response.providerMetadata.anthropic.cacheReadInputTokens',
    'ai.response.providerMetadata.bedrock.usage.cacheReadInputTokens',
    'ai.response.providerMetadata.openai.cachedPromptTokens',
    'mlflow.chat.tokenUsage.cache_read_input_tokens',
  ],
  total_tokens: ['gen_ai.usage.total_tokens', 'ai.usage.totalTokens', 'mlflow.chat.tokenUsage.total_tokens'],
} as const

/** Attributes that tell whether the input count of a span leaves its cached tokens out. */
const countingKeys = {
  provider: ['gen_ai.provider.name', 'gen_ai.system', 'ai.model.provider'],
  vercelProvider: ['ai.model.provider'],
  vercelDetails: ['ai.usage.inputTokenDetails'],
  vercelReported: ['ai.response.providerMetadata.anthropic.usage.input_tokens'],
  /** Part of the output, or beside it, as the total says. */
  reasoning: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.completion_tokens_details.reasoning_tokens',
    'gen_ai.usage.output_tokens_details.reasoning_tokens',
    'gen_ai.usage.output_token_details.reasoning',
    'gen_ai.usage.details.reasoning_tokens',
    'gen_ai.usage.details.thoughts_tokens',
    'llm.usage.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
    'ai.usage.outputTokenDetails.reasoningTokens',
    'ai.usage.reasoningTokens',
  ],
} as const

/**
 * What newer conventions and other libraries say, for what the tables above leave empty. Read in the registries of
 * November 2026: OpenTelemetry GenAI, OpenInference, OpenLLMetry, Vercel AI SDK, Langfuse, Logfire, MLflow.
 */
const addedInputKeys: AddedKey[] = [
  'gen_ai.tool.call.arguments',
  'gen_ai.retrieval.query.text',
  'tool.parameters',
  'tool_arguments',
  'ai.toolCall.args',
  { key: 'llm.input_messages', beside: 'llm.tools' },
  'llm.prompts',
  { key: 'embedding.embeddings', item: 'embedding.text' },
  'ai.value',
  'ai.values',
  'retrieval.query',
  'reranker.query',
  'gen_ai.task.input',
  'langfuse.observation.input',
  // Logfire, and Pydantic AI before it had the names of OpenTelemetry
  { key: 'all_messages_events', needs: 'logfire.json_schema' },
  { key: 'events', needs: 'gen_ai.request.model', beside: 'request_data' },
  { key: 'request_data', needs: 'logfire.json_schema' },
]

const addedOutputKeys: AddedKey[] = [
  'gen_ai.tool.call.result',
  'gen_ai.retrieval.documents',
  'tool.output',
  'tool_response',
  'ai.toolCall.result',
  'llm.output_messages',
  'llm.choices',
  'retrieval.documents',
  'reranker.output_documents',
  'gen_ai.task.output',
  'langfuse.observation.output',
  'ai.result',
  { key: 'response_data', needs: 'logfire.json_schema' },
]

/** Counts of libraries that have words of their own. Where Langfuse says `input` or `output`: langfuse-usage.ts. */
const addedUsageKeys: Partial<Record<UsageField, string[]>> = {
  // Vercel AI SDK 5 and later, embeddings of all its versions; Bedrock's and Google's own words.
  input_tokens: [
    'ai.usage.inputTokens',
    'ai.usage.tokens',
    'gen_ai.usage.inputTokens',
    'gen_ai.usage.prompt_token_count',
  ],
  output_tokens: ['ai.usage.outputTokens', 'gen_ai.usage.outputTokens', 'gen_ai.usage.candidates_token_count'],
  prompt_tokens: [
    'langfuse.observation.usage_details.prompt_tokens',
    'langfuse.observation.usage_details.input_tokens',
  ],
  completion_tokens: [
    'langfuse.observation.usage_details.completion_tokens',
    'langfuse.observation.usage_details.output_tokens',
  ],
  total_tokens: ['langfuse.observation.usage_details.total', 'langfuse.observation.usage_details.total_tokens'],
  cache_creation_input_tokens: [
    'langfuse.observation.usage_details.cache_creation_input_tokens',
    'langfuse.observation.usage_details.input_cache_creation',
  ],
  cache_read_input_tokens: [
    'langfuse.observation.usage_details.cache_read_input_tokens',
    'langfuse.observation.usage_details.input_cached_tokens',
    'langfuse.observation.usage_details.input_cache_read',
    'langfuse.observation.usage_details.prompt_tokens_details.cached_tokens',
    'langfuse.observation.usage_details.input_tokens_details.cached_tokens',
  ],
}

/** Attributes that say what a span is, and those of whom it is: the second alone say nothing of generative AI. */
const describingKeys: Record<string, string[]> = {
  kind: ['langfuse.observation.type', 'mlflow.spanType'],
  tool_name: ['gen_ai.tool.name', 'tool.name', 'ai.toolCall.name'],
  tool_call_id: ['gen_ai.tool.call.id', 'tool.id', 'ai.toolCall.id'],
  model: [
    'langfuse.observation.model.name',
    'mlflow.llm.model',
    'embedding.model_name',
    'reranker.model_name',
    'llm.response.model',
    'llm.request.model',
  ],
  provider: ['mlflow.llm.provider'],
  // What the sender worked out: shown, and no price of ours.
  reported_cost_usd: ['langfuse.observation.cost_details.total', 'mlflow.llm.cost.total_cost', 'operation.cost'],
}
const personKeys: Record<string, readonly string[]> = {
  end_user: userNames.span,
  session: threadNames.session,
}

/** Kinds of operations. One that calls a model has none: its name is the kind, and has been before there were others. */
export const operationKinds = new Map([
  ['execute_tool', 'tool'],
  ['invoke_agent', 'agent'],
  ['create_agent', 'agent'],
  ['invoke_workflow', 'workflow'],
  ['embeddings', 'embedding'],
  ['retrieval', 'retriever'],
  ['ai.toolCall', 'tool'],
])

/** Events that carry messages going in, before the messages became attributes. */
export const inputEvents = new Set([
  'gen_ai.user.message',
  'gen_ai.system.message',
  'gen_ai.assistant.message',
  'gen_ai.tool.message',
])
export const outputEvent = 'gen_ai.choice'
const detailsEvent = 'gen_ai.client.inference.operation.details'
type ContentEvent = { event: string; key: string; beside?: string }
/** Events whose attribute is the inputs, or the output, with what another event of that name has `beside` it. */
const contentEvents: Record<'inputs' | 'output', ContentEvent[]> = {
  inputs: [
    { event: 'gen_ai.content.prompt', key: 'gen_ai.prompt' },
    { event: detailsEvent, key: 'gen_ai.input.messages', beside: 'gen_ai.system_instructions' },
  ],
  output: [
    { event: 'gen_ai.content.completion', key: 'gen_ai.completion' },
    { event: detailsEvent, key: 'gen_ai.output.messages' },
  ],
}

export type Conventions = {
  attributes: Target[]
  inputs: Source[]
  output: Source[]
  messages: { inputs: Source[]; output: Source[] }
  usage: { field: UsageField; sources: Source[] }[]
  further: { field: UsageField; sources: Source[] }[]
  counting: Record<keyof typeof countingKeys, Source[]>
  conversation: Source[]
  /** For what the other tables leave empty. */
  added: {
    inputs: AddedSource[]
    output: AddedSource[]
    usage: Conventions['usage']
    operation: Source[]
    describing: Target[]
    person: Target[]
    session: Source[]
  }
  /** Keys of the vendor namespaces, by their name without namespace. */
  vendor: {
    displayName: Source[]
    threadId: Source[]
    isTurn: Source[]
    attributes: Source[]
    runId: Source[]
    runStep: Source[]
    runStepEnd: Source[]
  }
  startTime: Source
  endTime: Source
  /** Of each event the value, and what stands beside it. */
  content: Record<'inputs' | 'output', { event: string; sources: Source[] }[]>
}

export type ConventionOptions = {
  /** Vendor namespaces of attribute keys. */
  vendorNamespaces: readonly string[]
  /** Prefix of the run fields: `platform`, `wb`. */
  wirePrefix: string
  /** `weave.X` counts before `gen_ai.X`. */
  weaveFirst: boolean
}

export function createConventions({ vendorNamespaces, wirePrefix, weaveFirst }: ConventionOptions): Conventions {
  const source = (key: string): Source => {
    const paths = [key.split('.')]
    if (weaveFirst && key.startsWith('gen_ai.')) paths.unshift(['weave', ...key.slice(7).split('.')])
    return { key, paths }
  }
  const fields = (table: Partial<Record<UsageField, readonly string[]>>) =>
    Object.entries(table).map(([field, keys]) => ({ field: field as UsageField, sources: keys.map(source) }))
  const targets = (table: Record<string, readonly string[]>): Target[] =>
    Object.entries(table).map(([target, keys]) => ({ target, sources: keys.map(source) }))
  const added = (keys: AddedKey[]): AddedSource[] =>
    keys.map((one) => {
      if (typeof one === 'string') return { source: source(one) }
      const { key, beside, item, needs } = one
      return {
        source: source(key),
        ...(beside !== undefined && { beside: source(beside) }),
        ...(item !== undefined && { item: item.split('.') }),
        ...(needs !== undefined && { needs: source(needs) }),
      }
    })
  const contents = (events: ContentEvent[]) =>
    events.map(({ event, key, beside }) => ({
      event,
      sources: [key, ...(beside === undefined ? [] : [beside])].map(source),
    }))
  const vendor = (...names: string[]): Source[] =>
    vendorNamespaces.flatMap((namespace) => [...new Set(names)].map((name) => source(`${namespace}.${name}`)))
  return {
    attributes: targets(attributeKeys),
    inputs: inputKeys.map(source),
    output: outputKeys.map(source),
    messages: { inputs: messageKeys.inputs.map(source), output: messageKeys.output.map(source) },
    usage: fields(usageKeys),
    further: fields(furtherKeys),
    counting: {
      provider: countingKeys.provider.map(source),
      vercelProvider: countingKeys.vercelProvider.map(source),
      vercelDetails: countingKeys.vercelDetails.map(source),
      vercelReported: countingKeys.vercelReported.map(source),
      reasoning: countingKeys.reasoning.map(source),
    },
    conversation: threadNames.conversation.map(source),
    added: {
      inputs: added(addedInputKeys),
      output: added(addedOutputKeys),
      usage: fields(addedUsageKeys),
      operation: ['gen_ai.operation.name', 'ai.operationId'].map(source),
      describing: targets(describingKeys),
      person: targets(personKeys),
      session: threadNames.session.map(source),
    },
    vendor: {
      displayName: vendor('display_name'),
      threadId: vendor(threadNames.vendor),
      isTurn: vendor('is_turn'),
      attributes: vendor('attributes'),
      runId: vendor('wb_run_id', `${wirePrefix}_run_id`, 'run_id'),
      runStep: vendor('wb_run_step', `${wirePrefix}_run_step`, 'run_step'),
      runStepEnd: vendor('wb_run_step_end', `${wirePrefix}_run_step_end`, 'run_step_end'),
    },
    startTime: source('langfuse.startTime'),
    endTime: source('langfuse.endTime'),
    content: { inputs: contents(contentEvents.inputs), output: contents(contentEvents.output) },
  }
}
