// One prediction of a completion model: its messages and parameters as a request, and what of the answer counts.
import { setTimeout as sleep } from 'node:timers/promises'
import { fillMessages } from '../../content/message-template.ts'
import { Fault } from '../../core/http/errors.ts'
import type { Invoke, InvokeCaller } from '../../core/http/invoke.ts'
import { parseLossless, stringifyLossless } from '../../core/json/lossless.ts'
import { objectOf } from '../runs/calls.ts'
import type { CompletionModel, Judge } from './values.ts'

type Fields = Record<string, unknown>

/** The provider answered, but not what was asked for. */
export class NoResult extends Error {}

const messageKeys = ['role', 'content', 'name', 'function_call', 'tool_call_id']
const sentAsTheyAre = ['temperature', 'top_p', 'max_tokens', 'presence_penalty', 'frequency_penalty']
const maxMessagesLength = 16 * 2 ** 20
const retryMs = 500

const isThere = (value: unknown): boolean => value !== null && value !== undefined

const messageOf = (value: unknown): Fields =>
  typeof value === 'string'
    ? { role: 'user', content: value }
    : Object.fromEntries(
        Object.entries(objectOf(value)).filter(([key, one]) => messageKeys.includes(key) && isThere(one)),
      )

const messagesOf = (value: unknown): Fields[] =>
  !isThere(value) ? [] : Array.isArray(value) ? value.map(messageOf) : [messageOf(value)]

/** Braces that variables are not looked for in. */
const literal = (text: string): string => text.replace(/[{}]/g, '$&$&')

function literalFields(value: Fields): Fields {
  const plain = (one: unknown): unknown => {
    if (typeof one === 'string') return literal(one)
    if (!Array.isArray(one)) return one
    return one.map((item) => (typeof item === 'object' && item !== null ? literalFields(objectOf(item)) : item))
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]))
}

export type PredictInput = { userInput: unknown; config: Fields; variables: Fields }

/** What a row of a dataset means to a model. */
export const inputOfRow = ({ user_input: userInput, config, ...variables }: Fields): PredictInput => ({
  userInput,
  config: objectOf(config),
  variables,
})

/** What a judge is asked about a row and its prediction. @throws TemplateError */
export function inputOfJudge({ prompt, columnMap }: Judge, row: Fields, output: unknown): PredictInput {
  const mapped = Object.entries(columnMap).flatMap(([argument, column]): [string, unknown][] =>
    typeof column === 'string' && Object.hasOwn(row, column) ? [[argument, row[column]]] : [],
  )
  const variables = { inputs: row, ...row, ...Object.fromEntries(mapped), output }
  return { userInput: fillMessages(prompt, variables, maxMessagesLength), config: {}, variables: {} }
}

function requestOf(
  { modelId, params: defaults }: CompletionModel,
  { userInput, config, variables }: PredictInput,
): Fields {
  const params: Fields = { ...defaults, ...config }
  const input = messagesOf(userInput)
  const request: Fields = { model: modelId }
  const hasVariables = Object.keys(variables).length > 0
  if (typeof params.prompt === 'string' && params.prompt !== '') {
    request.prompt = params.prompt
    // The variables are for the prompt; what the row says is not searched for them.
    request.messages = hasVariables ? input.map((one) => (one.role === 'assistant' ? one : literalFields(one))) : input
    if (hasVariables) request.template_vars = variables
  } else {
    const template = messagesOf(params.messages_template)
    request.messages = [...(hasVariables ? fillMessages(template, variables, maxMessagesLength) : template), ...input]
  }
  for (const name of sentAsTheyAre) if (isThere(params[name])) request[name] = params[name]
  for (const name of ['stop', 'functions']) {
    const list = params[name]
    if (Array.isArray(list) && list.length > 0) request[name] = list
  }
  if (isThere(params.n_times)) request.n = params.n_times
  if (params.response_format === 'json_object') request.response_format = { type: 'json_object' }
  return request
}

/** The first choice's content, as text or as the JSON value that it is. @throws NoResult */
function resultOf(completion: unknown, isJson: boolean): unknown {
  const { choices } = objectOf(completion)
  const first = objectOf(Array.isArray(choices) ? choices[0] : undefined)
  const { content } = objectOf(first.message)
  if (typeof content !== 'string') throw new NoResult('The completion has no content')
  if (!isJson) return content
  try {
    return parseLossless(content)
  } catch {
    throw new NoResult('The completion is no valid JSON')
  }
}

type CallParent = { projectId: string; traceId: string; parentId: string; as: InvokeCaller }

export type Predict = (model: CompletionModel, asked: PredictInput, place: CallParent) => Promise<unknown>

const isFull = (error: unknown): boolean =>
  error instanceof Fault && error.status === 429 && objectOf(error.body.error).code === 'concurrency_limit'

/** @returns how models predict: by the route of completions, which records a call of its own for each. */
export const createPredict =
  (invoke: Pick<Invoke, 'answer'>): Predict =>
  async (model, asked, { projectId, traceId, parentId, as }) => {
    const request = { ...requestOf(model, asked), trace_id: traceId, parent_id: parentId }
    const text = stringifyLossless(request)
    const params = { path: 'chat/completions', project_id: projectId }
    for (;;) {
      try {
        const { bytes } = await invoke.answer('inference.pass_on', Buffer.from(text), as, params)
        return resultOf(parseLossless(bytes.toString()), 'response_format' in request)
      } catch (error) {
        // Our own bound is no answer of the provider: the row waits for its turn.
        if (!isFull(error)) throw error
        await sleep(retryMs, undefined, { signal: as.signal })
      }
    }
  }
