// Wire contract of the inference routes: chat completions and requests that are passed on to a provider.
import { z } from 'zod'
import { dict, float, int, intFrom } from './coerce.ts'
import { dictOf, list } from './collections.ts'

/** 2^63: the largest 64-bit integer is not a double. */
const int64 = 2 ** 63

/** Integer from `min` to the largest of 64 bits. */
const from = (min: number) =>
  intFrom(min)
    .refine((value) => value <= int64, {
      message: 'Input should be a 64-bit integer',
      params: { type: 'less_than_equal' },
    })
    .meta({ type: 'integer', minimum: min })

const int64Value = from(-int64)
const flag = z.boolean().nullish()
const number = float().nullish()
const strings = list(z.string())
const nonEmpty = z.string().min(1)
const scalar = z.union([z.string(), z.number()])
const named = z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: nonEmpty }) })

const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
})

const processor = z.looseObject({
  qualname: z.string(),
  args: z.array(z.unknown()).nullish(),
  kwargs: dict().nullish(),
})

const responseFormat = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema', 'structural_tag']),
  json_schema: z.looseObject({ name: nonEmpty }).nullish(),
})

/** Options for tracing a request. */
const tracing = {
  track_llm_call: flag,
  trace_id: z.string().nullish(),
  parent_id: z.string().nullish(),
  conversation_id: z.string().nullish(),
}

/** Body of POST /v1/chat/completions; what is not listed is passed on. */
export const chatCompletionRequest = z.looseObject({
  messages: list(message).min(1),
  model: z.string().nullish(),
  frequency_penalty: number,
  presence_penalty: number,
  logit_bias: dictOf(
    float().refine((value) => Math.abs(value) <= int64, {
      message: 'Input should be within 64 bits',
      params: { type: 'less_than_equal' },
    }),
  ).nullish(),
  logprobs: flag,
  top_logprobs: from(-1).nullish(),
  max_tokens: from(0).nullish(),
  max_completion_tokens: from(0).nullish(),
  n: from(1).nullish(),
  response_format: responseFormat.nullish(),
  seed: int64Value.nullish(),
  stop: z.union([z.string(), strings]).nullish(),
  stream: flag,
  stream_options: z.looseObject({ include_usage: flag, continuous_usage_stats: flag }).nullish(),
  temperature: number,
  top_p: number,
  tools: list(named).nullish(),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), named]).nullish(),
  reasoning_effort: z.enum(['low', 'medium', 'high']).nullish(),
  include_reasoning: flag,
  parallel_tool_calls: flag,
  user: z.string().nullish(),
  use_beam_search: flag,
  top_k: int().nullish(),
  min_p: number,
  repetition_penalty: number,
  length_penalty: number,
  stop_token_ids: list(int()).nullish(),
  include_stop_str_in_output: flag,
  ignore_eos: flag,
  min_tokens: from(0).nullish(),
  skip_special_tokens: flag,
  spaces_between_special_tokens: flag,
  truncate_prompt_tokens: from(-1).nullish(),
  prompt_logprobs: from(-1).nullish(),
  allowed_token_ids: list(int()).nullish(),
  bad_words: strings.nullish(),
  echo: flag,
  add_generation_prompt: flag,
  continue_final_message: flag,
  add_special_tokens: flag,
  documents: list(dictOf(z.string())).nullish(),
  chat_template: z.string().nullish(),
  chat_template_kwargs: dict().nullish(),
  mm_processor_kwargs: dict().nullish(),
  structured_outputs: dict().nullish(),
  priority: int64Value.nullish(),
  request_id: z.string().nullish(),
  logits_processors: list(z.union([z.string(), processor])).nullish(),
  return_tokens_as_token_ids: flag,
  return_token_ids: flag,
  cache_salt: nonEmpty.nullish(),
  kv_transfer_params: dict().nullish(),
  engine_xargs: dictOf(z.union([scalar, list(scalar)])).nullish(),
  vllm_xargs: dictOf(z.union([scalar, list(scalar)])).nullish(),
  ...tracing,
})

export type ChatCompletionRequest = z.output<typeof chatCompletionRequest>

const seconds = float()
  .refine((value) => value > 0, { message: 'Input should be greater than 0', params: { type: 'greater_than' } })
  .nullish()

/** Members of a forwarded body that the server itself reads, whatever the path. */
const service = {
  model: nonEmpty,
  stream: flag,
  timeout: seconds,
  extra_headers: dictOf(z.union([z.string(), z.number(), z.boolean()]).nullable()).nullish(),
  cloud_credentials: z.string().nullish(),
  vertex_credentials: z.string().nullish(),
  api_version: z.string().nullish(),
  ...tracing,
}

/** Body of POST /inference/v1/{path} of the paths that are passed on as they are. */
export const forwardedRequest = z.looseObject(service)

/** Body of POST /inference/v1/chat/completions. */
export const passThroughRequest = z.looseObject({
  ...service,
  messages: z.array(z.unknown()).nullish(),
  temperature: number,
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  n: int().nullish(),
  seed: int().nullish(),
  top_logprobs: int().nullish(),
  max_completion_tokens: int().nullish(),
  max_tokens: int().nullish(),
  stop: z.union([z.string(), strings]).nullish(),
  modalities: z.array(z.unknown()).nullish(),
  tools: z.array(z.unknown()).nullish(),
  functions: z.array(z.unknown()).nullish(),
  logprobs: flag,
  parallel_tool_calls: flag,
  logit_bias: dict().nullish(),
  response_format: dict().nullish(),
  template_vars: dict().nullish(),
  stream_options: z.looseObject({ include_usage: flag }).nullish(),
  user: z.string().nullish(),
  function_call: z.union([z.string(), dict()]).nullish(),
  tool_choice: z.union([z.string(), dict()]).nullish(),
  reasoning_effort: z.string().nullish(),
  prompt: z.string().nullish(),
})

export type PassThroughRequest = z.output<typeof passThroughRequest>

/** Body of /completions/create and /completions/create_stream: a request inside an envelope. */
export const completionsCreateRequest = z.looseObject({
  project_id: z.string(),
  inputs: passThroughRequest,
  ...tracing,
})

/** The provider's completion, or `{"error": …}`, and the call that tells of it. */
export const completionsCreateResponse = z.object({
  response: z.looseObject({}),
  weave_call_id: z.string().nullable(),
  span_id: z.string().nullable(),
  trace_id: z.string().nullable(),
  conversation_id: z.string().nullable(),
})

/** A completion as engines answer it; unknown keys are passed on. */
export const chatCompletionResponse = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      finish_reason: z.string().nullable(),
      message: z.looseObject({ role: z.string(), content: z.string().nullable() }),
    }),
  ),
  usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }).nullish(),
})

export const modelListResponse = z.object({
  object: z.literal('list'),
  data: z.array(z.looseObject({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })),
})
