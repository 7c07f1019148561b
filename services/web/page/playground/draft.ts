// Draft of the playground: messages, variables, tools, and one column per model; kept for the tab.
import { readMessage } from '../engine/conversation.ts'
import { isNothing, type Message, written } from '../engine/message-parts.ts'
import { variableNames } from '../engine/variables.ts'

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

/** Parameters of a model, each a text that is empty where it is not sent. */
export const parameters = {
  temperature: { label: 'Temperature', wire: ['temperature'], hint: '0 to 2' },
  maxTokens: { label: 'Max tokens', wire: ['max_tokens', 'max_completion_tokens'], hint: '' },
  topP: { label: 'Top P', wire: ['top_p'], hint: '0 to 1' },
  stop: { label: 'Stop sequences', wire: ['stop'], hint: 'One per line' },
} as const satisfies Readonly<Record<string, { label: string; wire: readonly [string, ...string[]]; hint: string }>>
export type ParameterName = keyof typeof parameters
export const parameterNames = Object.keys(parameters) as ParameterName[]
const noParameters: Record<ParameterName, string> = { temperature: '', maxTokens: '', topP: '', stop: '' }

export const formats = { text: 'Text', json_object: 'JSON', json_schema: 'JSON Schema' } as const
export type Format = keyof typeof formats

export type ModelColumn = { key: number; model: string } & Record<ParameterName, string>
export type Draft = {
  messages: DraftMessage[]
  variables: Record<string, string>
  /** JSON texts; empty = none. */
  tools: string
  schema: string
  format: Format
  /** The version that the messages began as, `<object id>/<digest>`. */
  prompt: string | undefined
  columns: ModelColumn[]
  keeps: boolean
  /** Whether the request asks for log probabilities. */
  likely: boolean
}

export const maxColumns = 4
/** Number of images in one message. */
export const maxImages = 4
export const maxDocuments = 4
export const documentType = 'application/pdf'
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** Whether an image is at another address, which the page does not load. */
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

export const emptyColumn = (model = ''): ModelColumn => ({ key: newKey(), model, ...noParameters })
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
  format: 'text',
  prompt: undefined,
  columns: [emptyColumn()],
  keeps: true,
  likely: false,
})

const isText = (value: unknown): value is string => typeof value === 'string'
const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.map(membersOf) : [])
const orEmpty = (value: unknown): string => (isText(value) ? value : '')

const formatOf = (value: unknown): Format | undefined =>
  isText(value) && Object.hasOwn(formats, value) ? (value as Format) : undefined

/** The prompt in an address; undefined when it is none. */
export function promptOf(address: string | undefined): { objectId: string; digest: string } | undefined {
  const [, objectId, digest] = /^(.+)\/([^/]+)$/.exec(address ?? '') ?? []
  return objectId === undefined || digest === undefined ? undefined : { objectId, digest }
}

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
  const columns = listOf(kept.columns).flatMap(({ model, ...more }): ModelColumn[] => {
    if (!isText(model)) return []
    const column = emptyColumn(model)
    for (const name of parameterNames) column[name] = orEmpty(more[name])
    return [column]
  })
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
    format: formatOf(kept.format) ?? (orEmpty(kept.schema) === '' ? 'text' : 'json_schema'),
    prompt: promptOf(orEmpty(kept.prompt)) && orEmpty(kept.prompt),
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
    // The draft of another version of the page, or storage that is closed.
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

/** Variables of all messages but the assistant's, as the server fills them. */
export const variablesOf = (messages: readonly Pick<DraftMessage, 'role' | 'text'>[]): string[] =>
  variableNames(messages.flatMap(({ role, text }) => (role === 'assistant' ? [] : text)))

/** Values with which texts stay as they are: what was recorded is no template, whatever braces it has. */
export const asTheyStand = (messages: readonly DraftMessage[]): Draft['variables'] =>
  Object.assign(
    Object.create(null),
    Object.fromEntries(variablesOf(messages).map((name) => [name, `{${name}}`])),
  ) as Draft['variables']

/** Variables that would be sent as empty texts. */
export const emptyVariables = ({ messages, variables }: Draft): string[] =>
  variablesOf(messages).filter((name) => (variables[name] ?? '') === '')

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

/** A message of a prompt: as it is stored, as it is read, and as it is shown. */
export type StoredMessage = { stored: unknown; said: readonly Message[]; drafts: readonly DraftMessage[] }

/** The value of a prompt as messages, those of `MessagesPrompt` or the text of `StringPrompt`; null when it is neither. */
export function readPrompt(value: unknown): StoredMessage[] | null {
  const { messages, content } = membersOf(value)
  const all = isText(content) ? [{ role: 'user', content }] : messages
  if (!Array.isArray(all) || all.length === 0) return null
  return all.map((stored) => {
    const said = readMessage(stored)
    // A message of an unknown form is shown as it is stored.
    const unread = isNothing(stored) ? '' : written(stored)
    return { stored, said: said ?? [], drafts: said?.map(draftMessage) ?? [emptyMessage('user', unread)] }
  })
}
export const messagesOfPrompt = (value: unknown): DraftMessage[] | null =>
  readPrompt(value)?.flatMap(({ drafts }) => drafts) ?? null

/** @throws Error with what is wrong, in words for a reader */
function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${what} must be JSON: ${error instanceof Error ? error.message : ''}`)
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

/** The message as it is sent, and saved. */
export const wireMessage = (message: DraftMessage) => ({
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

/** The parameters of a recorded request. */
export function columnOf(model: string, inputs: Record<string, unknown>): ModelColumn {
  const column = emptyColumn(model)
  for (const name of parameterNames) {
    const given = parameters[name].wire.map((one) => inputs[one]).find((one) => one !== undefined && one !== null)
    if (typeof given === 'number') column[name] = String(given)
    else if (name === 'stop')
      column.stop = (Array.isArray(given) ? given : [given])
        .filter(isText)
        .filter((one) => one !== '')
        .join('\n')
  }
  return column
}

/** Response format of a recorded request. */
export function formatOfRequest({ response_format }: Record<string, unknown>): Pick<Draft, 'format' | 'schema'> {
  const { type, json_schema } = membersOf(response_format)
  const { schema } = membersOf(json_schema)
  const format = formatOf(type) ?? 'text'
  return { format, schema: format === 'json_schema' && schema ? JSON.stringify(schema, null, 2) : '' }
}

/** @throws Error for a number that is none */
function parameterValue(name: ParameterName, text: string): unknown {
  if (name === 'stop') return text.split('\n').filter((line) => line !== '')
  const value = Number(text)
  if (!Number.isFinite(value)) throw new Error(`${parameters[name].label} must be a number`)
  return value
}

const responseFormat = ({ format, schema }: Draft): unknown =>
  format === 'json_schema'
    ? { type: format, json_schema: { name: 'answer', schema: jsonOf(schema, 'The JSON Schema') } }
    : { type: format }

/** The body of `/inference/v1/chat/completions`. @throws Error for JSON that is none, and numbers that are none */
export function completionRequestOf(draft: Draft, column: ModelColumn): Record<string, unknown> {
  const { model } = column
  const names = variablesOf(draft.messages)
  const given = parameterNames.filter((name) => column[name].trim() !== '')
  const isTemplate = names.length > 0
  return {
    model: model.trim(),
    messages: draft.messages.filter(isSaid).map(wireMessage),
    stream: true,
    stream_options: { include_usage: true },
    ...(isTemplate && { template_vars: Object.fromEntries(names.map((name) => [name, draft.variables[name] ?? ''])) }),
    ...Object.fromEntries(given.map((name) => [parameters[name].wire[0], parameterValue(name, column[name])])),
    ...(draft.tools.trim() !== '' && { tools: jsonOf(draft.tools, 'Tools') }),
    ...(draft.format !== 'text' && { response_format: responseFormat(draft) }),
    ...(draft.likely && { logprobs: true }),
    ...(!draft.keeps && { track_llm_call: false }),
  }
}
