// What was said to a model and what it said, from the forms that SDKs and instrumentations record.

import { type Grounds, withGrounds } from './grounds.ts'
import { filesObject, type MediaSource, mediaSourceOf } from './media.ts'

export type Part =
  | { is: 'text' | 'reasoning' | 'refusal'; text: string }
  | { is: 'call'; id: string | null; name: string; arguments: string }
  | { is: 'answer'; id: string | null; name: string | null; text: string }
  /** An image, a sound, a file; without a source where the bytes are not known. */
  | { is: 'media'; text: string; source: MediaSource | null }
export type Message = {
  role: string
  name: string | null
  parts: Part[]
  /** Where it was said what an answer rests on, or how likely its parts were. */
  grounds?: Grounds
}

type Members = Record<string, unknown>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const own = (members: Members, key: string): unknown => (Object.hasOwn(members, key) ? members[key] : undefined)
const first = (members: Members, keys: readonly string[]): unknown => {
  for (const key of keys) {
    const value = own(members, key)
    if (value !== undefined && value !== null) return value
  }
  return undefined
}
const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
/** Texts as they are, everything else as JSON. */
const written = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : (JSON.stringify(value, null, 2) ?? '')

const maxMessages = 2_000
const maxDepth = 6

/** Roles by their first names elsewhere. */
const roles: Record<string, string> = {
  human: 'user',
  ai: 'assistant',
  model: 'assistant',
  developer: 'system',
  function: 'tool',
  AIMessage: 'assistant',
  HumanMessage: 'user',
  SystemMessage: 'system',
  ToolMessage: 'tool',
}

const said = ['text', 'content', 'thinking', 'reasoning', 'refusal', 'summary']

const textPart =
  (is: 'text' | 'reasoning' | 'refusal') =>
  (part: Members, depth: number): Part[] => {
    const value = first(part, said)
    return typeof value === 'string'
      ? [{ is, text: value }]
      : partsOf(value, depth + 1).map((one) => ({ is, text: spoken(one) }))
  }

const callPart = (part: Members): Part[] => {
  const inner = first(part, ['function', 'functionCall', 'function_call'])
  const members = isObject(inner) ? inner : part
  return [
    {
      is: 'call',
      id: textOrNull(first(part, ['call_id', 'toolCallId', 'id'])),
      name: String(first(members, ['name', 'toolName']) ?? 'tool'),
      arguments: written(first(members, ['arguments', 'args', 'input'])),
    },
  ]
}

const answerPart = (part: Members, depth: number): Part[] => {
  const inner = first(part, ['functionResponse', 'function_response'])
  const members = isObject(inner) ? inner : part
  const value = first(members, ['response', 'result', 'output', 'content'])
  const parts = Array.isArray(value) ? partsOf(value, depth + 1) : []
  const text = parts.length > 0 ? parts.map(spoken).join('\n') : written(value)
  const id = textOrNull(first(part, ['tool_use_id', 'tool_call_id', 'toolCallId', 'call_id', 'id']))
  return [{ is: 'answer', id, name: textOrNull(first(members, ['name', 'toolName'])), text }]
}

const mediaPart = (part: Members): Part[] => {
  const kind = String(own(part, 'type') ?? 'file')
  const media = textOrNull(first(part, ['mime_type', 'mediaType', 'media_type', 'mimeType']))
  const text = media === null ? kind : `${kind}, ${media}`
  return [{ is: 'media', text, source: mediaSourceOf(part, kind) }]
}

/** By the part's type; types that are not here are media when they name some, else JSON. */
const partReaders: Record<string, (part: Members, depth: number) => Part[]> = {
  text: textPart('text'),
  input_text: textPart('text'),
  output_text: textPart('text'),
  reasoning: textPart('reasoning'),
  thinking: textPart('reasoning'),
  summary_text: textPart('reasoning'),
  refusal: textPart('refusal'),
  tool_call: callPart,
  'tool-call': callPart,
  tool_use: callPart,
  function: callPart,
  function_call: callPart,
  tool_call_response: answerPart,
  'tool-result': answerPart,
  tool_result: answerPart,
  function_call_output: answerPart,
  ...Object.fromEntries(
    [
      'image',
      'image_url',
      'input_image',
      'input_audio',
      'audio',
      'file',
      'input_file',
      'blob',
      'uri',
      'document',
      'video',
    ].map((type) => [type, mediaPart]),
  ),
}

function partOf(part: unknown, depth: number): Part[] {
  if (typeof part === 'string') return [{ is: 'text', text: part }]
  if (!isObject(part)) return part === null || part === undefined ? [] : [{ is: 'text', text: written(part) }]
  const type = own(part, 'type')
  const read =
    typeof type === 'string' ? (own(partReaders as Members, type) as (typeof partReaders)[string]) : undefined
  if (read !== undefined) return read(part, depth)
  if (first(part, ['functionCall', 'function_call']) !== undefined) return callPart(part)
  if (first(part, ['functionResponse', 'function_response']) !== undefined) return answerPart(part, depth)
  if (first(part, ['inlineData', 'inline_data', 'fileData', 'file_data']) !== undefined)
    return [{ is: 'media', text: 'file', source: mediaSourceOf(part, 'file') }]
  const files = filesObject(part)
  if (files !== null) return [{ is: 'media', text: 'file', source: files }]
  const text = own(part, 'text')
  return [{ is: 'text', text: typeof text === 'string' ? text : written(part) }]
}

function partsOf(content: unknown, depth = 0): Part[] {
  if (content === undefined || content === null || depth > maxDepth) return []
  if (Array.isArray(content)) return content.flatMap((part) => partOf(part, depth))
  return partOf(content, depth)
}

const spoken = (part: Part): string => (part.is === 'call' ? `${part.name}(${part.arguments})` : part.text)

/** Role of a message, or of an item that says by its type whose it is; null when it is no message. */
function roleOf(message: Members): string | null {
  const role = textOrNull(own(message, 'role'))
  if (role !== null) return (own(roles, role) as string | undefined) ?? role
  const type = textOrNull(own(message, 'type'))
  if (type === null) return null
  if (type === 'function_call_output') return 'tool'
  if (type === 'function_call' || type === 'reasoning') return 'assistant'
  if (['system', 'user', 'assistant', 'tool'].includes(type)) return type
  return (own(roles, type) as string | undefined) ?? null
}

/** With what the message's own parts, or what it stands in, say of its grounds. */
function grounded(message: Message, sources: readonly unknown[]): Message {
  const { tokens, citations } = sources.reduce(withGrounds, message.grounds ?? { tokens: [], citations: [] })
  return tokens.length + citations.length === 0 ? message : { ...message, grounds: { tokens, citations } }
}

function messageOf(value: unknown): Message | null {
  const message = spokenMessage(value)
  if (message === null || !isObject(value)) return message
  const content = own(value, 'content')
  return grounded(message, [...(Array.isArray(content) ? content : []), value])
}

function spokenMessage(value: unknown): Message | null {
  if (!isObject(value)) return null
  // LangChain's own serialisation: the class names the role, the members lie below.
  const kwargs = own(value, 'kwargs')
  const names = own(value, 'id')
  if (isObject(kwargs) && Array.isArray(names)) {
    const role = own(roles, String(names.at(-1)))
    return typeof role === 'string' ? messageOf({ ...kwargs, role }) : null
  }
  const role = roleOf(value)
  if (role === null) return null
  const name = textOrNull(own(value, 'name'))
  const ownType = textOrNull(own(value, 'type'))
  if (own(value, 'role') === undefined && ownType !== null && Object.hasOwn(partReaders, ownType))
    return { role, name: null, parts: partOf(value, 0) }
  const id = textOrNull(own(value, 'tool_call_id'))
  const content = first(value, ['content', 'parts', 'text'])
  const parts = partsOf(content)
  if (role === 'tool' && !parts.some(({ is }) => is === 'answer'))
    return { role, name, parts: [{ is: 'answer', id, name, text: parts.map(spoken).join('\n') }] }
  const thought = textOrNull(first(value, ['reasoning_content', 'reasoning']))
  const refusal = textOrNull(own(value, 'refusal'))
  const calls = own(value, 'tool_calls')
  return {
    role,
    name,
    parts: [
      ...(thought === null ? [] : [{ is: 'reasoning', text: thought } as const]),
      ...parts,
      ...(refusal === null ? [] : [{ is: 'refusal', text: refusal } as const]),
      ...(Array.isArray(calls) ? calls.filter(isObject).flatMap(callPart) : []),
    ],
  }
}

function listOf(value: unknown): Message[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxMessages) return null
  const messages = value.map(messageOf)
  return messages.every((message) => message !== null) ? messages : null
}

/** Where the messages of a request lie, below the inputs. */
const inputKeys = ['messages', 'gen_ai.input.messages', 'input', 'contents', 'prompt', 'pydantic_ai.all_messages']
const systemKeys = ['system', 'instructions', 'system_instruction', 'gen_ai.system_instructions']
const outputKeys = ['gen_ai.output.messages', 'messages', 'output', 'message', 'choices', 'candidates']

type Source = { source?: string }
type Json = {
  parse(text: string, reviver: (key: string, value: unknown, context?: Source) => unknown): unknown
  rawJSON?(text: string): unknown
}
const json: Json = JSON

/** Values whose numbers are written again as they were spelled, in browsers that can. */
export const parsedAsSpelled = (text: string): unknown =>
  json.parse(text, (_, value, context) =>
    typeof value === 'number' && json.rawJSON && context?.source !== undefined && String(value) !== context.source
      ? json.rawJSON(context.source)
      : value,
  )

/** A text that holds JSON is read as what it holds: some instrumentations record messages so. */
function opened(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return parsedAsSpelled(value)
  } catch {
    return value
  }
}

function asked(inputs: unknown, depth = 0): Message[] | null {
  const value = opened(inputs)
  const direct = listOf(value)
  if (direct !== null) return direct
  if (!isObject(value) || depth > 2) return null
  for (const key of inputKeys) {
    const inner = own(value, key)
    const found = inner === undefined ? null : asked(inner, depth + 1)
    if (found === null) continue
    const system = partsOf(opened(first(value, systemKeys)))
    return system.length > 0 ? [{ role: 'system', name: null, parts: system }, ...found] : found
  }
  // Arguments of a function under one name.
  const values = Object.values(value)
  return values.length === 1 ? asked(values[0], depth + 1) : null
}

function answered(output: unknown, depth = 0): Message[] | null {
  const value = opened(output)
  if (Array.isArray(value)) {
    const list = value.flatMap((one) => {
      if (!isObject(one)) return []
      const inner = messageOf(first(one, ['message', 'content']))
      return inner === null ? (messageOf(one) ?? []) : grounded(inner, [one])
    })
    return list.length === value.length && list.length > 0 ? list : null
  }
  if (!isObject(value) || depth > 2) return null
  const message = messageOf(value)
  if (message !== null && message.parts.length > 0) return [message]
  for (const key of outputKeys) {
    const inner = own(value, key)
    const found = inner === undefined ? null : answered(inner, depth + 1)
    if (found !== null) return found.map((one, place) => (place === found.length - 1 ? grounded(one, [value]) : one))
  }
  return null
}

/** The messages of a call; null when its inputs hold none. An output that is no message is shown as the answer. */
export function conversationOf(inputs: unknown, output: unknown): Message[] | null {
  const before = asked(inputs)
  if (before === null) return null
  if (output === null || output === undefined) return before
  const after = answered(output) ?? [{ role: 'assistant', name: null, parts: [{ is: 'text', text: written(output) }] }]
  // Some record the whole conversation as the output again.
  const repeats =
    after.length > before.length && JSON.stringify(after.slice(0, before.length)) === JSON.stringify(before)
  return [...before, ...(repeats ? after.slice(before.length) : after)]
}
