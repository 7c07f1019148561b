// The answer of a model as its stream comes: Server-Sent Events of chat completions, put together as they arrive.

type ToolCall = { id: string; name: string; arguments: string }
/** A part of the text, and how likely the model found it. */
export type Token = { text: string; logprob: number }
/** What an answer rests on, as its provider names it. */
export type Citation = { address: string; title: string }
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
  /** What the provider said in the middle of the stream. */
  error: string | null
}

export const emptyAnswer = (): Answer => ({
  ...{ text: '', reasoning: '', refusal: '', toolCalls: [], tokens: [], citations: [], finish: null },
  ...{ tokensIn: null, tokensOut: null, error: null },
})

type Members = Record<string, unknown>
const asObject = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
/** A model may name any place of a tool call: those beyond are passed over. */
const maxToolCalls = 128

const maxTokens = 10_000
const maxCitations = 100

const tokensOf = (logprobs: unknown): Token[] =>
  asList(asObject(logprobs).content).flatMap((one) => {
    const { token, logprob } = asObject(one)
    return typeof token === 'string' && typeof logprob === 'number' ? [{ text: token, logprob }] : []
  })

/** Of a chunk or a part of it: annotations of OpenAI, lists of addresses or of results that were found. */
function citationsOf(chunk: Members, part: Members): Citation[] {
  const named = [...asList(part.annotations).map((one) => asObject(one).url_citation), ...asList(chunk.search_results)]
  return [...named, ...asList(chunk.citations)].flatMap((one) => {
    const { url, title } = asObject(one)
    const address = asText(one) || asText(url)
    return address === '' ? [] : [{ address, title: asText(title) }]
  })
}

/** Each address once; a later title stands where there was none. */
function withCitations(before: Citation[], more: readonly Citation[]): Citation[] {
  if (more.length === 0) return before
  const found = new Map(before.map((one) => [one.address, one]))
  for (const one of more) if (!found.get(one.address)?.title) found.set(one.address, one)
  return [...found.values()].slice(0, maxCitations)
}

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
  const tokens = tokensOf(choice.logprobs)
  if (tokens.length > 0) next.tokens = [...before.tokens, ...tokens].slice(0, maxTokens)
  next.citations = withCitations(before.citations, citationsOf(chunk, part))
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
