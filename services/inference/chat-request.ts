// Rules between fields of a chat completion for the default engine, and changes on the way.
import type { ChatCompletionRequest } from '../../schemas/inference.ts'
import { inferenceFault } from './errors.ts'
import type { Edits, Members } from './json-body.ts'

type Rule = {
  param: string
  isBroken(request: ChatCompletionRequest, settings: { enginePriority: boolean }): boolean
  message: string
}

const given = (value: unknown): boolean => value !== undefined && value !== null

const rules: readonly Rule[] = [
  {
    param: 'priority',
    isBroken: ({ priority }, { enginePriority }) => (priority ?? 0) !== 0 && !enginePriority,
    message: 'priority must be 0: the served model does not use priority scheduling',
  },
  {
    param: 'continue_final_message',
    isBroken: (request) => request.continue_final_message === true && request.add_generation_prompt === true,
    message: 'continue_final_message and add_generation_prompt cannot both be true',
  },
  {
    param: 'top_logprobs',
    isBroken: ({ top_logprobs, logprobs }) => (top_logprobs ?? 0) !== 0 && logprobs !== true,
    message: 'top_logprobs needs logprobs to be true',
  },
  {
    param: 'stream_options',
    isBroken: ({ stream_options, stream }) => given(stream_options) && stream !== true,
    message: 'stream_options is only for stream: true',
  },
  {
    param: 'prompt_logprobs',
    isBroken: ({ prompt_logprobs, stream }) => stream === true && (prompt_logprobs ?? 0) !== 0,
    message: 'prompt_logprobs is not available with stream: true',
  },
  {
    param: 'response_format',
    isBroken: ({ response_format: format }) => format?.type === 'json_schema' && !given(format.json_schema),
    message: 'response_format of type json_schema needs json_schema',
  },
  {
    param: 'tool_choice',
    isBroken: ({ tool_choice, tools }) => given(tool_choice) && tool_choice !== 'none' && !given(tools),
    message: 'tool_choice needs tools',
  },
  {
    param: 'tool_choice',
    isBroken: ({ tool_choice, tools }) =>
      typeof tool_choice === 'object' &&
      tool_choice !== null &&
      !(tools ?? []).some((tool) => tool.function.name === tool_choice.function.name),
    message: 'tool_choice names a function that is not among the tools',
  },
  {
    param: 'structured_outputs',
    isBroken: ({ structured_outputs: outputs }) =>
      given(outputs) && ['json', 'regex', 'choice'].filter((name) => given(outputs?.[name])).length > 1,
    message: 'structured_outputs takes one of json, regex and choice',
  },
]

/** @throws Fault 400 for the first rule that the request breaks */
export function checkChatRequest(request: ChatCompletionRequest, settings: { enginePriority: boolean }): void {
  const broken = rules.find((rule) => rule.isBroken(request, settings))
  if (broken !== undefined) throw inferenceFault(400, broken.message, { param: broken.param })
}

/** Changes that make the engine do what the request means. */
export function chatEdits(request: ChatCompletionRequest, members: Members): Edits {
  const edits: Edits = new Map()
  // Its default would open a new turn behind the message that is to be continued.
  if (request.continue_final_message === true && !given(request.add_generation_prompt))
    edits.set('add_generation_prompt', 'false')
  if (given(request.max_completion_tokens) && given(request.max_tokens)) edits.set('max_tokens', undefined)
  if (request.tool_choice === 'required' && request.tools?.length === 0) edits.set('tool_choice', '"none"')
  if (members.has('engine_xargs')) {
    // The name under which engines know it.
    edits.set('vllm_xargs', members.get('engine_xargs'))
    edits.set('engine_xargs', undefined)
  }
  return edits
}
