// The answer of a model as its stream comes: Server-Sent Events of chat completions, put together as they arrive.

import { type Citation, type Token, withGrounds } from './grounds.ts'

type ToolCall = { id: string; name: string; arguments: string }
export type Answer = {
  text: string
  reasoning: string
  refusal: string
  toolCalls: ToolCall[]
  tokens: Token[]
  citations: Citation[]
  finish: string | null
  tokensIn: number | null
  tokensOut: number | null
  /** Error of the provider in the middle of the stream. */
  error: string | null
}

export const emptyAnswer = (): Answer => ({
  text: '',
  reasoning: '',
  refusal: '',
  toolCalls: [],
  tokens: [],
  citations: [],
  finish: null,
  tokensIn: null,
  tokensOut: null,
  error: null,
})

type Members = Record<string, unknown>
const asObject = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
/** A model may name any place of a tool call: those beyond are passed over. */
const maxToolCalls = 128

/** The answer with one chunk more. */
export function withChunk(before: Answer, value: unknown): Answer {
  const chunk = asObject(value)
  const next = { ...before }
  const error = chunk.error
  if (error !== undefined && error !== null)
    next.error = asText(asObject(error).message) || asText(error) || 'The provider failed'
  const usage = asObject(chunk.usage)
  if (typeof usage.prompt_tokens === 'number') next.tokensIn = usage.prompt_tokens
  if (typeof usage.completion_tokens === 'number') next.tokensOut = usage.completion_tokens
  const choice = asObject(asList(chunk.choices)[0])
  const part = asObject(choice.delta ?? choice.message)
  next.text += asText(part.content)
  next.reasoning += asText(part.reasoning_content ?? part.reasoning)
  next.refusal += asText(part.refusal)
  Object.assign(next, [chunk, choice, part].reduce(withGrounds, next))
  if (typeof choice.finish_reason === 'string') next.finish = choice.finish_reason
  for (const one of asList(part.tool_calls)) {
    const call = asObject(one)
    const place = typeof call.index === 'number' ? call.index : next.toolCalls.length
    if (!Number.isInteger(place) || place < 0 || place > Math.min(next.toolCalls.length, maxToolCalls)) continue
    const known = next.toolCalls[place] ?? { id: '', name: '', arguments: '' }
    const { name, arguments: added } = asObject(call.function)
    const grown = {
      id: asText(call.id) || known.id,
      name: known.name || asText(name),
      arguments: known.arguments + asText(added),
    }
    next.toolCalls = [...next.toolCalls.slice(0, place), grown, ...next.toolCalls.slice(place + 1)]
  }
  return next
}

/** Cuts a stream of bytes into the data of its events (HTML standard, 9.2.6), whatever bytes come together. */
export function createEventReader(): (text: string) => string[] {
  let rest = ''
  return (text) => {
    rest += text
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    return lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []))
  }
}
