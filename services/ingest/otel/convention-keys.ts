// Maps span attributes to parts of a call: the tables of the instrumentation conventions, as data.
import { threadNames, userNames } from '../../events/record-names.ts'

/**
 * A key of newer conventions, also with the value `beside` it, or with only the value at `item` of each of its items;
 * one that others use too `needs` another, which `is` one of these words.
 */
export type AddedKey = string | { key: string; beside?: string; item?: string; needs?: string; is?: readonly string[] }

export const attributeKeys: Record<string, string[]> = {
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

export const inputKeys = [
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

export const outputKeys = [
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
export const messageKeys = {
  inputs: ['gen_ai.input.messages', 'llm.input_messages', 'mlflow.chat.messages'],
  output: ['gen_ai.output.messages', 'llm.output_messages'],
}

export const usageKeys = {
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
export const furtherKeys = {
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
    // Sentry
    'gen_ai.usage.input_tokens.cache_write',
    // OpenInference
    'llm.token_count.prompt_details.cache_write',
    // Vercel AI SDK 6; before it the providers' own words
    'ai.usage.inputTokenDetails.cacheWriteTokens',
    'ai.response.providerMetadata.anthropic.cacheCreationInputTokens',
    'ai.response.providerMetadata.bedrock.usage.cacheWriteInputTokens',
    'mlflow.chat.tokenUsage.cache_creation_input_tokens',
    // LangSmith writes the details of gen_ai.usage as Python would
    'langsmith.metadata.usage_metadata.input_token_details.cache_creation',
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
    'gen_ai.usage.input_tokens.cached',
    'llm.token_count.prompt_details.cache_read',
    // Vercel AI SDK 6, 5 and 4
    'ai.usage.inputTokenDetails.cacheReadTokens',
    'ai.usage.cachedInputTokens',
    'ai.response.providerMetadata.anthropic.cacheReadInputTokens',
    'ai.response.providerMetadata.bedrock.usage.cacheReadInputTokens',
    'ai.response.providerMetadata.openai.cachedPromptTokens',
    'mlflow.chat.tokenUsage.cache_read_input_tokens',
    'langsmith.metadata.usage_metadata.input_token_details.cache_read',
  ],
  total_tokens: ['gen_ai.usage.total_tokens', 'ai.usage.totalTokens', 'mlflow.chat.tokenUsage.total_tokens'],
} as const

/** Attributes that tell whether the input count of a span leaves its cached tokens out. */
export const countingKeys = {
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
    'gen_ai.usage.output_tokens.reasoning',
    'llm.usage.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
    'ai.usage.outputTokenDetails.reasoningTokens',
    'ai.usage.reasoningTokens',
    'langsmith.metadata.usage_metadata.output_token_details.reasoning',
  ],
} as const

/**
 * Keys of newer conventions and other libraries, for parts that the tables above leave empty. Read in the registries of
 * November 2026: OpenTelemetry GenAI, OpenInference, OpenLLMetry, Vercel AI SDK, Langfuse, Logfire, MLflow.
 */
export const addedInputKeys: AddedKey[] = [
  'gen_ai.tool.call.arguments',
  'gen_ai.retrieval.query.text',
  'gen_ai.memory.query.text',
  {
    key: 'gen_ai.memory.records',
    needs: 'gen_ai.operation.name',
    is: ['create_memory', 'update_memory', 'upsert_memory'],
  },
  'gen_ai.tool.input',
  'gen_ai.embeddings.input',
  'tool.parameters',
  'tool_arguments',
  'ai.toolCall.args',
  { key: 'llm.input_messages', beside: 'llm.tools' },
  // Sentry, before it had the names of OpenTelemetry
  'gen_ai.request.messages',
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

export const addedOutputKeys: AddedKey[] = [
  'gen_ai.tool.call.result',
  'gen_ai.retrieval.documents',
  { key: 'gen_ai.memory.records', needs: 'gen_ai.operation.name', is: ['search_memory'] },
  'gen_ai.tool.output',
  'tool.output',
  'tool_response',
  'ai.toolCall.result',
  'llm.output_messages',
  // Sentry
  { key: 'gen_ai.response.text', beside: 'gen_ai.response.tool_calls' },
  'gen_ai.response.tool_calls',
  'llm.choices',
  'retrieval.documents',
  'reranker.output_documents',
  'gen_ai.task.output',
  'langfuse.observation.output',
  'ai.result',
  { key: 'response_data', needs: 'logfire.json_schema' },
]

/** Counts of libraries that have words of their own. Where Langfuse says `input` or `output`: langfuse-usage.ts. */
export const addedUsageKeys: Partial<Record<UsageField, string[]>> = {
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
    'gen_ai.usage.cache_write.input_tokens',
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
export const describingKeys: Record<string, string[]> = {
  kind: ['langfuse.observation.type', 'mlflow.spanType'],
  agent_name: ['gen_ai.workflow.name'],
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
  // Cost computed by the sender: shown, and no price of ours.
  reported_cost_usd: ['langfuse.observation.cost_details.total', 'mlflow.llm.cost.total_cost', 'operation.cost'],
}
export const personKeys: Record<string, readonly string[]> = {
  end_user: userNames.span,
  session: threadNames.session,
}

/** Details that count only for spans of generative AI: others have some of them, too. A count of 0 is told. */
export const detailKeys: Record<string, string[]> = {
  error_type: ['error.type'],
  prompt_name: ['gen_ai.prompt.name'],
  prompt_version: ['gen_ai.prompt.version'],
  prompt_variables: ['gen_ai.prompt.variable'],
  retrieval_top_k: ['gen_ai.retrieval.top_k'],
  data_source_id: ['gen_ai.data_source.id'],
  memory_store_id: ['gen_ai.memory.store.id'],
  memory_record_id: ['gen_ai.memory.record.id'],
  memory_record_count: ['gen_ai.memory.record.count'],
  conversation_compacted: ['gen_ai.conversation.compacted'],
  // Parts of the usage, which counts them already.
  text_usage: ['gen_ai.usage.text'],
  image_usage: ['gen_ai.usage.image'],
  audio_usage: ['gen_ai.usage.audio'],
  mcp_method: ['mcp.method.name'],
  // No thread: it lasts as long as a connection to a server of tools.
  mcp_session_id: ['mcp.session.id'],
  mcp_resource_uri: ['mcp.resource.uri'],
  mcp_protocol_version: ['mcp.protocol.version'],
  jsonrpc_request_id: ['jsonrpc.request.id'],
  rpc_status_code: ['rpc.response.status_code'],
}

/** Members below a key that describe its value, and are none of it. */
export const describedKeys: Record<string, readonly string[]> = { 'gen_ai.prompt': ['name', 'version', 'variable'] }

/** Kinds of operations. One that calls a model has none: its name is the kind, and has been before there were others. */
export const operationKinds = new Map([
  ['execute_tool', 'tool'],
  ['invoke_agent', 'agent'],
  ['create_agent', 'agent'],
  ['invoke_workflow', 'workflow'],
  ['embeddings', 'embedding'],
  ['retrieval', 'retriever'],
  ['plan', 'plan'],
  ['search_memory', 'memory'],
  ['create_memory', 'memory'],
  ['update_memory', 'memory'],
  ['upsert_memory', 'memory'],
  ['delete_memory', 'memory'],
  ['create_memory_store', 'memory'],
  ['delete_memory_store', 'memory'],
  ['ai.toolCall', 'tool'],
])

/** Kind of a method of MCP where the span names no operation; of any other one it is `mcp`. */
export const methodKinds = new Map([['tools/call', 'tool']])

/** Events that carry messages going in, before the messages became attributes. */
export const inputEvents = new Set([
  'gen_ai.user.message',
  'gen_ai.system.message',
  'gen_ai.assistant.message',
  'gen_ai.tool.message',
])
export const outputEvent = 'gen_ai.choice'
const detailsEvent = 'gen_ai.client.inference.operation.details'
export type ContentEvent = { event: string; key: string; beside?: string }
/** Events whose attribute is the inputs, or the output, with what another event of that name has `beside` it. */
export const contentEvents: Record<'inputs' | 'output', ContentEvent[]> = {
  inputs: [
    { event: 'gen_ai.content.prompt', key: 'gen_ai.prompt' },
    { event: detailsEvent, key: 'gen_ai.input.messages', beside: 'gen_ai.system_instructions' },
  ],
  output: [
    { event: 'gen_ai.content.completion', key: 'gen_ai.completion' },
    { event: detailsEvent, key: 'gen_ai.output.messages' },
  ],
}
