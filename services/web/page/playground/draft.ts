// What stands in the playground: messages, variables, tools, and one column per model; kept for the tab.
import { conversationOf } from '../engine/conversation.ts'
import type { Message } from '../engine/message-parts.ts'

export type DraftMessage = {
  key: number
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
  toolCallId: string
  toolCalls?: unknown
  /** `data:` addresses, and of recorded ones those that only the provider fetches. */
  images?: readonly string[]
  documents?: readonly Attached[]
}
/** A PDF, its `data` an address. */
export type Attached = { name: string; data: string }
export type ModelColumn = { key: number; model: string; temperature: string; maxTokens: string }
export type Draft = {
  messages: DraftMessage[]
  variables: Record<string, string>
  /** JSON texts; empty = none. */
  tools: string
  schema: string
  columns: ModelColumn[]
  keeps: boolean
  /** How likely each part of an answer was is asked for. */
  likely: boolean
}

export const maxColumns = 4
/** Of one message. */
export const maxImages = 4
export const maxDocuments = 4
export const documentType = 'application/pdf'
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** Of an image that the page does not load. */
export const isElsewhere = (address: string): boolean => address.length <= 4_000 && /^https?:\/\/[^\s]+$/i.test(address)
const isImage = (value: unknown): value is string =>
  isText(value) && (isElsewhere(value) || imageTypes.some((type) => value.startsWith(`data:${type};base64,`)))
const isAttached = (value: unknown): value is Attached => {
  const { name, data } = membersOf(value)
  return isText(name) && isText(data) && data.startsWith(`data:${documentType};base64,`)
}
const roles = ['system', 'user', 'assistant', 'tool'] as const
export const roleNames = roles

let last = 0
const newKey = (): number => ++last + Date.now()

export const emptyColumn = (model = ''): ModelColumn => ({ key: newKey(), model, temperature: '', maxTokens: '' })
export const emptyMessage = (role: DraftMessage['role'] = 'user', text = ''): DraftMessage => ({
  key: newKey(),
  role,
  text,
  toolCallId: '',
})
export const emptyDraft = (): Draft => ({
  messages: [emptyMessage('system'), emptyMessage()],
  variables: Object.create(null) as Record<string, string>,
  tools: '',
  schema: '',
  columns: [emptyColumn()],
  keeps: true,
  likely: false,
})

const isText = (value: unknown): value is string => typeof value === 'string'
const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.map(membersOf) : [])
const orEmpty = (value: unknown): string => (isText(value) ? value : '')

/** A draft of what was kept; undefined when it is none, as another version may have written it. */
export function draftOf(value: unknown): Draft | undefined {
  const kept = membersOf(value)
  const messages = listOf(kept.messages).flatMap(
    ({ role, text, toolCallId, toolCalls, images, documents }): DraftMessage[] => {
      const known = roles.find((one) => one === role)
      if (known === undefined || !isText(text)) return []
      const shown = Array.isArray(images) ? images.filter(isImage).slice(0, maxImages) : []
      const attached = Array.isArray(documents) ? documents.filter(isAttached).slice(0, maxDocuments) : []
      return [
        {
          ...emptyMessage(known, text),
          toolCallId: orEmpty(toolCallId),
          ...(toolCalls !== undefined && { toolCalls }),
          ...(shown.length > 0 && { images: shown }),
          ...(attached.length > 0 && { documents: attached }),
        },
      ]
    },
  )
  const columns = listOf(kept.columns).flatMap(({ model, temperature, maxTokens }): ModelColumn[] =>
    isText(model) ? [{ ...emptyColumn(model), temperature: orEmpty(temperature), maxTokens: orEmpty(maxTokens) }] : [],
  )
  if (messages.length === 0 || columns.length === 0) return undefined
  const variables = Object.create(null) as Record<string, string>
  for (const [name, text] of Object.entries(membersOf(kept.variables))) if (isText(text)) variables[name] = text
  return {
    messages,
    variables,
    columns: columns.slice(0, maxColumns),
    keeps: kept.keeps !== false,
    likely: kept.likely === true,
    tools: orEmpty(kept.tools),
    schema: orEmpty(kept.schema),
  }
}

const place = (projectId: string): string => `callhouse.playground ${projectId}`

export function readDraft(projectId: string): Draft {
  try {
    const stored = sessionStorage.getItem(place(projectId))
    if (stored !== null) {
      const draft = draftOf(JSON.parse(stored))
      if (draft) return draft
    }
  } catch {
    // What another version has kept, or storage that is closed.
  }
  return emptyDraft()
}
export function keepDraft(projectId: string, draft: Draft): void {
  try {
    sessionStorage.setItem(place(projectId), JSON.stringify(draft))
  } catch {
    // Too long, or closed: then it lasts as long as the page.
  }
}

const variableForm = /(?<!\{)\{([A-Za-z_]\w*)\}(?!\})/g
/** Names in single braces, of all messages but the assistant's, as the server fills them. */
export function variablesOf(messages: readonly DraftMessage[]): string[] {
  const names = new Set<string>()
  for (const { role, text } of messages)
    if (role !== 'assistant') for (const [, name = ''] of text.matchAll(variableForm)) names.add(name)
  return [...names].slice(0, 50)
}

const sentAsText: readonly string[] = ['text', 'answer', 'json']

function draftMessage({ role, parts }: Message): DraftMessage {
  const known = roles.find((one) => one === role) ?? 'user'
  const text = parts
    .map((part) => ('text' in part && sentAsText.includes(part.is) ? part.text : ''))
    .join('\n')
    .trim()
  const answer = parts.find((part) => part.is === 'answer')
  const calls = parts.flatMap((part) =>
    part.is === 'call'
      ? [{ id: part.id ?? part.name, type: 'function', function: { name: part.name, arguments: part.arguments } }]
      : [],
  )
  return {
    ...emptyMessage(known, text),
    ...(answer?.is === 'answer' && { toolCallId: answer.id ?? answer.name ?? '' }),
    ...(calls.length > 0 && { toolCalls: calls }),
  }
}

/** A recorded conversation as messages to send again: what the model answered last is left out. */
export function messagesOf(recorded: readonly Message[]): DraftMessage[] {
  const asked = recorded.at(-1)?.role === 'assistant' && recorded.length > 1 ? recorded.slice(0, -1) : recorded
  return asked.map(draftMessage)
}

/** The value of a prompt as messages, those of `MessagesPrompt` or the text of `StringPrompt`; null when it is neither. */
export function messagesOfPrompt(value: unknown): DraftMessage[] | null {
  const { messages, content } = (value ?? {}) as Record<string, unknown>
  if (typeof content === 'string') return [emptyMessage('user', content)]
  if (!Array.isArray(messages) || messages.length === 0) return null
  return messages.flatMap((one) => conversationOf([one], null)?.map(draftMessage) ?? [emptyMessage()])
}

/** @throws Error with what is wrong, in words for a reader */
function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${what} is no JSON: ${error instanceof Error ? error.message : ''}`)
  }
}

export const hasFiles = ({ images = [], documents = [] }: DraftMessage): boolean => images.length + documents.length > 0

/** Text alone is sent as text: not every provider takes parts. */
const contentOf = (message: DraftMessage): unknown => {
  const { text, toolCalls, images = [], documents = [] } = message
  return hasFiles(message)
    ? [
        ...(text === '' ? [] : [{ type: 'text', text }]),
        ...images.map((url) => ({ type: 'image_url', image_url: { url } })),
        ...documents.map(({ name, data }) => ({ type: 'file', file: { filename: name, file_data: data } })),
      ]
    : text === '' && toolCalls
      ? null
      : text
}

const wireMessage = (message: DraftMessage) => ({
  role: message.role,
  content: contentOf(message),
  ...wireParts(message),
})
const wireParts = ({ role, toolCallId, toolCalls }: DraftMessage) => ({
  ...(role === 'tool' && { tool_call_id: toolCallId }),
  ...(toolCalls !== undefined && { tool_calls: toolCalls }),
})

/** Whether there is anything to send. */
export const isSaid = (message: DraftMessage): boolean =>
  message.text !== '' || message.toolCalls !== undefined || hasFiles(message)

/** The body of `/inference/v1/chat/completions`. @throws Error for JSON that is none, and numbers that are none */
export function completionRequestOf(
  draft: Draft,
  { model, temperature, maxTokens }: ModelColumn,
): Record<string, unknown> {
  const names = variablesOf(draft.messages)
  const number = (text: string, what: string) => {
    const value = Number(text)
    if (!Number.isFinite(value)) throw new Error(`${what} is no number`)
    return value
  }
  const isTemplate = names.length > 0
  return {
    model: model.trim(),
    messages: draft.messages.filter(isSaid).map(wireMessage),
    stream: true,
    stream_options: { include_usage: true },
    ...(isTemplate && { template_vars: Object.fromEntries(names.map((name) => [name, draft.variables[name] ?? ''])) }),
    ...(temperature.trim() !== '' && { temperature: number(temperature, 'Temperature') }),
    ...(maxTokens.trim() !== '' && { max_tokens: number(maxTokens, 'Most tokens') }),
    ...(draft.tools.trim() !== '' && { tools: jsonOf(draft.tools, 'The list of tools') }),
    ...(draft.schema.trim() !== '' && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: jsonOf(draft.schema, 'The schema') },
      },
    }),
    ...(draft.likely && { logprobs: true }),
    ...(!draft.keeps && { track_llm_call: false }),
  }
}
