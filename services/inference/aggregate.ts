// Puts the chunks of a streamed answer together as the answer that is not streamed, for its trace.
import { isLosslessObject } from '../core/json/lossless.ts'
import { createAnswerEvents, isAnswerEvent } from './aggregate-events.ts'
import { createToolCalls } from './aggregate-tools.ts'
import { addItems, grown, type JsonFields } from './aggregate-values.ts'
import { errorMember } from './answers.ts'
import { usageIn } from './usage.ts'

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

type Choice = {
  /** Pieces of a message came; completions of plain texts have none. */
  hasMessage: boolean
  message: JsonFields
  finishReason: unknown
  toolCalls: ReturnType<typeof createToolCalls>
  /** Members beside the message: log probabilities, filters, reasons of the provider's own. */
  rest: JsonFields
}

const newChoice = (): Choice => ({
  hasMessage: false,
  message: {},
  finishReason: null,
  toolCalls: createToolCalls(),
  rest: {},
})

/** Members that the first chunk decides; of other members the last one counts. */
const firstOf = new Set(['id', 'created', 'model', 'system_fingerprint', 'service_tier'])
/** Members that are recorded elsewhere, or are about the chunk itself. Errors are told by the call's exception. */
const ofChunks = new Set(['object', 'choices', 'usage', 'error', 'obfuscation', '__proto__'])
const ofChoices = new Set(['index', 'delta', 'message', 'finish_reason', 'usage', 'error', '__proto__'])
/** Texts of a message that come whole. */
const labels = new Set(['id', 'name', 'type', 'tool_call_id', 'signature', 'status', 'phase'])

export type StreamAggregate = {
  /**
   * @param chunk a parsed chunk, which is given away
   * @param length characters of its text
   */
  add(chunk: unknown, length: number): void
  /** Usage of the last chunk that has one. */
  usage(): unknown
  /** The model that the first chunk names. */
  model(): unknown
  /** The completion; null when no chunk came. */
  result(model: string | undefined): JsonFields | null
}

const isSaid = (value: unknown): boolean => value !== null && value !== undefined && value !== ''

/** Content is a text until a part of it comes as a list. */
function contentWith(had: unknown, piece: unknown): unknown {
  if (typeof piece === 'string' && !Array.isArray(had)) return `${had ?? ''}${piece}`
  const parts = Array.isArray(had) ? had : isSaid(had) ? [{ type: 'text', text: had }] : []
  if (typeof piece !== 'string') addItems(parts, Array.isArray(piece) ? piece : [piece])
  else if (piece !== '') addItems(parts, [{ type: 'text', text: piece }])
  return parts
}

function addDelta(choice: Choice, delta: JsonFields): void {
  choice.hasMessage = true
  for (const [name, piece] of Object.entries(delta)) {
    if (piece === null || piece === undefined || name === 'role' || name === '__proto__') continue
    const had = choice.message[name]
    if (name === 'tool_calls') choice.toolCalls.add(piece)
    else if (name === 'content') choice.message.content = contentWith(had, piece)
    // Names that nobody has heard of are texts of the message, too.
    else if (typeof had === 'string' && typeof piece === 'string' && !labels.has(name))
      choice.message[name] = had + piece
    else choice.message[name] = grown(name, had, piece)
  }
}

function messageOf({ message, toolCalls }: Choice): JsonFields {
  const { content = '', ...rest } = message
  const calls = toolCalls.all()
  const isElsewhere = calls.length > 0 || 'function_call' in rest || 'audio' in rest
  return {
    role: 'assistant',
    content: content === '' && isElsewhere ? null : content,
    ...rest,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

/** @param maxLength characters of texts that are kept; what comes beyond them is counted as seen and left out */
export function createAggregate(maxLength: number): StreamAggregate {
  const head: JsonFields = {}
  const rest: JsonFields = {}
  const choices = new Map<number, Choice>()
  const events = createAnswerEvents()
  let object = 'chat.completion'
  let usage: unknown
  let left = maxLength
  let isEmpty = true

  function addChoice(sent: unknown, place: number): void {
    if (!isLosslessObject(sent)) return
    const index = typeof sent.index === 'number' ? sent.index : place
    const choice = choices.get(index) ?? newChoice()
    choices.set(index, choice)
    if (isSaid(sent.finish_reason)) choice.finishReason = sent.finish_reason
    if (left < 0) return
    if (isLosslessObject(sent.delta)) addDelta(choice, sent.delta)
    else if (isLosslessObject(sent.message) && !choice.hasMessage) addDelta(choice, sent.message)
    for (const [name, value] of Object.entries(sent))
      if (isSaid(value) && !ofChoices.has(name)) choice.rest[name] = grown(name, choice.rest[name], value)
  }

  function addMembers(chunk: JsonFields): void {
    for (const [name, value] of Object.entries(chunk)) {
      if (ofChunks.has(name)) continue
      if (!firstOf.has(name)) {
        if (left >= 0 && isSaid(value)) rest[name] = value
      } else if (!isSaid(head[name])) head[name] = value
    }
  }

  return {
    add(chunk, length) {
      if (!isLosslessObject(chunk)) return
      left -= length
      // The call's exception has the error of a chunk that is nothing else.
      if (listOf(chunk.choices).length === 0 && !isAnswerEvent(chunk) && errorMember(chunk) !== undefined) return
      isEmpty = false
      usage = usageIn(chunk) ?? usage
      if (isAnswerEvent(chunk)) {
        events.add(chunk, left < 0)
        return
      }
      if (chunk.object === 'text_completion') object = chunk.object
      addMembers(chunk)
      for (const [place, sent] of listOf(chunk.choices).entries()) addChoice(sent, place)
    },
    usage: () => usage,
    model: () => head.model,
    result(model) {
      if (isEmpty) return null
      if (!events.isEmpty()) return events.result()
      const listed = [...choices].sort(([a], [b]) => a - b)
      return {
        ...rest,
        ...head,
        object,
        ...(model === undefined ? {} : { model }),
        choices: listed.map(([index, choice]) => ({
          index,
          ...(object === 'text_completion' && !choice.hasMessage ? {} : { message: messageOf(choice) }),
          ...choice.rest,
          finish_reason: choice.finishReason,
        })),
        ...(usage === undefined ? {} : { usage }),
      }
    },
  }
}
