// Puts the chunks of a streamed completion together as one completion, for its trace.
import { isObject } from '../core/json/objects.ts'

type Json = Record<string, unknown>

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

type ToolCall = { id?: unknown; type?: unknown; name?: unknown; arguments: string[] }

type Choice = {
  content: string[]
  reasoning: Map<string, string[]>
  refusal: string[]
  finishReason: unknown
  toolCalls: Map<number, ToolCall>
}

const newChoice = (): Choice => ({
  content: [],
  reasoning: new Map(),
  refusal: [],
  finishReason: null,
  toolCalls: new Map(),
})

const firstOf = ['id', 'created', 'model', 'system_fingerprint', 'service_tier'] as const
const reasoningNames = ['reasoning_content', 'reasoning'] as const

export type StreamAggregate = {
  /**
   * @param chunk a parsed chunk
   * @param length characters of its text
   */
  add(chunk: unknown, length: number): void
  /** Usage of the last chunk that has one. */
  usage(): unknown
  /** The completion; null when no chunk came. */
  result(model: string | undefined): Json | null
}

function addToolCalls(choice: Choice, sent: unknown): void {
  for (const [place, item] of listOf(sent).entries()) {
    if (!isObject(item)) continue
    const index = typeof item.index === 'number' ? item.index : place
    const call: ToolCall = choice.toolCalls.get(index) ?? { arguments: [] }
    choice.toolCalls.set(index, call)
    if (item.id) call.id = item.id
    if (item.type) call.type = item.type
    const called = isObject(item.function) ? item.function : {}
    if (called.name) call.name = called.name
    if (typeof called.arguments === 'string') call.arguments.push(called.arguments)
  }
}

function messageOf(choice: Choice): Json {
  const calls = [...choice.toolCalls]
    .sort(([a], [b]) => a - b)
    .flatMap(([, call]) =>
      call.id === undefined || call.name === undefined
        ? []
        : [
            {
              id: call.id,
              type: call.type ?? 'function',
              function: { name: call.name, arguments: call.arguments.join('') },
            },
          ],
    )
  const content = choice.content.join('')
  const message: Json = { role: 'assistant', content: content === '' && calls.length > 0 ? null : content }
  for (const [name, pieces] of choice.reasoning) message[name] = pieces.join('')
  if (choice.refusal.length > 0) message.refusal = choice.refusal.join('')
  if (calls.length > 0) message.tool_calls = calls
  return message
}

/** @param maxLength characters of texts that are kept; what comes beyond them is counted as seen and left out */
export function createAggregate(maxLength: number): StreamAggregate {
  const head: Json = {}
  const choices = new Map<number, Choice>()
  let usage: unknown
  let left = maxLength
  let isEmpty = true

  function addChoice(sent: unknown, place: number): void {
    if (!isObject(sent)) return
    const index = typeof sent.index === 'number' ? sent.index : place
    const choice = choices.get(index) ?? newChoice()
    choices.set(index, choice)
    if (sent.finish_reason !== undefined && sent.finish_reason !== null) choice.finishReason = sent.finish_reason
    const delta = isObject(sent.delta) ? sent.delta : {}
    if (left < 0) return
    if (typeof delta.content === 'string') choice.content.push(delta.content)
    if (typeof delta.refusal === 'string') choice.refusal.push(delta.refusal)
    for (const name of reasoningNames) {
      const piece = delta[name]
      if (typeof piece !== 'string') continue
      const pieces = choice.reasoning.get(name) ?? []
      choice.reasoning.set(name, pieces)
      pieces.push(piece)
    }
    addToolCalls(choice, delta.tool_calls)
  }

  return {
    add(chunk, length) {
      if (!isObject(chunk)) return
      left -= length
      isEmpty = false
      for (const name of firstOf) if (!Object.hasOwn(head, name) && Object.hasOwn(chunk, name)) head[name] = chunk[name]
      if (chunk.usage !== undefined && chunk.usage !== null) usage = chunk.usage
      for (const [place, sent] of listOf(chunk.choices).entries()) addChoice(sent, place)
    },
    usage: () => usage,
    result(model) {
      if (isEmpty) return null
      const listed = [...choices].sort(([a], [b]) => a - b)
      return {
        ...head,
        object: 'chat.completion',
        ...(model === undefined ? {} : { model }),
        choices: listed.map(([index, choice]) => ({
          index,
          message: messageOf(choice),
          finish_reason: choice.finishReason,
        })),
        ...(usage === undefined ? {} : { usage }),
      }
    },
  }
}
