// One prediction of a completion model: its messages and parameters as a request, and what of the answer counts.
import { setTimeout as sleep } from 'node:timers/promises'
import { fillMessages } from '../../content/message-template.ts'
import { Fault } from '../../core/http/errors.ts'
import type { Invoke, InvokeCaller } from '../../core/http/invoke.ts'
import { parseLossless, stringifyLossless } from '../../core/json/lossless.ts'
import { objectOf, textAt } from '../runs/calls.ts'
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

/** The input of a model for a row of a dataset. */
export const inputOfRow = ({ user_input: userInput, config, ...variables }: Fields): PredictInput => ({
  userInput,
  config: objectOf(config),
  variables,
})

/** The question to a judge about a row and its prediction. @throws TemplateError */
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

/** The text of a content, of parts those that are texts; undefined when it has none. */
function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content.map((part) => objectOf(part).text) : []
  const texts = parts.filter((text) => typeof text === 'string')
  return texts.length > 0 ? texts.join('') : undefined
}

const fence = /```|~~~/
const language = /^[\w-]*[ \t]*\r?\n/

/** The JSON value that a text is, or that stands in a code fence in it. @throws NoResult */
function jsonIn(text: string): unknown {
  const parts = text.split(fence)
  // A fenced block may contain fences.
  const fenced = [...parts.filter((_, at) => at % 2 === 1), parts.slice(1, -1).join('```')]
  for (const candidate of [text, ...fenced.flatMap((part) => [part, part.replace(language, '')])])
    try {
      return parseLossless(candidate)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  throw new NoResult('The completion is not valid JSON')
}

/** The first choice's content, as text or as the JSON value that it is. @throws NoResult */
function resultOf(completion: unknown, isJson: boolean): unknown {
  const { choices, error } = objectOf(completion)
  const first = objectOf(Array.isArray(choices) ? choices[0] : undefined)
  const fault = textAt(objectOf(first.error ?? error), 'message')
  if (fault || first.finish_reason === 'error')
    throw new NoResult(fault || 'The provider ended the answer with an error')
  const content = contentText(objectOf(first.message).content)
  if (content === undefined) throw new NoResult('The completion has no content')
  return isJson ? jsonIn(content) : content
}

type CallParent = { projectId: string; traceId: string; parentId: string; as: InvokeCaller }

export type Predict = (model: CompletionModel, asked: PredictInput, place: CallParent) => Promise<unknown>

const maxTries = 8
const maxPauseMs = 60_000
/** A provider that wants to be left alone for longer has no room for this evaluation. */
const maxAskedMs = 300_000

/** The wait that Retry-After asks for (RFC 9110, 10.2.3). */
function askedMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** Our own bound is no answer of the provider: the row waits for its turn. */
const isFull = (error: unknown): boolean =>
  error instanceof Fault && error.status === 429 && objectOf(error.body.error).code === 'concurrency_limit'

/** The wait before a request is repeated that the provider refused; undefined: the refusal is the result. */
function pauseMs(error: unknown, tries: number): number | undefined {
  if (!(error instanceof Fault)) return undefined
  const { code } = objectOf(error.body.error)
  const asked = askedMs(error.headers['Retry-After'])
  // A used-up quota does not come back within an evaluation.
  if (asked === undefined || asked > maxAskedMs || code === 'insufficient_quota' || tries >= maxTries) return undefined
  return Math.max(asked, Math.min(maxPauseMs, retryMs * 2 ** (tries - 1)))
}

type Pause = (ms: number, signal: AbortSignal) => Promise<void>
const wait: Pause = (ms, signal) => sleep(ms, undefined, { signal })

/** @returns how models predict: by the route of completions, which records a call of its own for each try. */
export const createPredict =
  (invoke: Pick<Invoke, 'answer'>, pause: Pause = wait): Predict =>
  async (model, asked, { projectId, traceId, parentId, as }) => {
    const request = { ...requestOf(model, asked), trace_id: traceId, parent_id: parentId }
    const text = stringifyLossless(request)
    const params = { path: 'chat/completions', project_id: projectId }
    for (let tries = 1; ; ) {
      try {
        const { bytes } = await invoke.answer('inference.pass_on', Buffer.from(text), as, params)
        return resultOf(parseLossless(bytes.toString()), 'response_format' in request)
      } catch (error) {
        const ms = isFull(error) ? retryMs : pauseMs(error, tries++)
        if (ms === undefined) throw error
        await pause(ms, as.signal)
      }
    }
  }
