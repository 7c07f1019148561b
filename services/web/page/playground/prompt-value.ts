// Values of prompts: a version that changes messages and description alone, and a `MessagesPrompt` as the Weave SDK publishes it.
import { itemsOfText, membersOfText, plainText, withMember } from '../engine/json-texts.ts'
import { type DraftMessage, hasFiles, isSaid, wireMessage } from './draft.ts'

/** Ids of objects, of a name that somebody has typed. */
export const promptIdOf = (name: string): string =>
  name
    .trim()
    .replaceAll(/[^\w.-]+/g, '-')
    .slice(0, 120)

/** JSON of messages, by what the playground has of them. */
export type Kept = ReadonlyMap<string, string>
const signature = (message: DraftMessage): string => JSON.stringify(wireMessage(message))

/**
 * Messages that are saved as they were stored, unless they change: with members that the playground does not show.
 * @param value of a prompt, as JSON
 * @param drafts of each of its messages
 */
export function keptMessages(value: string, drafts: readonly (readonly DraftMessage[])[]): Kept {
  const stored = itemsOfText(new Map(membersOfText(value)).get('messages') ?? '[]')
  return new Map(
    stored.flatMap((text, n) => {
      const [only, ...more] = drafts[n] ?? []
      return only === undefined || more.length > 0 ? [] : [[signature(only), text] as const]
    }),
  )
}

const messagesText = (messages: readonly DraftMessage[], kept: Kept): string =>
  `[${messages.filter(isSaid).map((message) => kept.get(signature(message)) ?? signature(message))}]`

/** Without a description where there is none, and was none. */
function withDescription(value: string, description: string): string {
  const text = description.trim()
  if (text === '' && !new Map(membersOfText(value)).has('description')) return value
  return withMember(value, 'description', JSON.stringify(text === '' ? null : text))
}

export const newPrompt = (name: string, description: string, messages: readonly DraftMessage[], kept: Kept): string => {
  const head = { _type: 'MessagesPrompt', _class_name: 'MessagesPrompt', _bases: ['Prompt', 'Object', 'BaseModel'] }
  const start = JSON.stringify({ ...head, name: name.trim(), description: null })
  return withMember(withDescription(start, description), 'messages', messagesText(messages, kept))
}

const isOneText = (messages: readonly DraftMessage[]): boolean => {
  const [only, ...more] = messages.filter(isSaid)
  return only !== undefined && more.length === 0 && only.role === 'user' && !hasFiles(only)
}

/**
 * The next version of a prompt, with all other members as they are spelled. A `StringPrompt` stays one while it is one text
 * of a user, else it becomes messages under its name.
 * @param value of the version that was edited, as JSON
 */
export function changedPrompt(
  value: string,
  description: string,
  messages: readonly DraftMessage[],
  kept: Kept,
): string {
  const members = new Map(membersOfText(value))
  const name = plainText(members.get('name') ?? '""')
  if (!members.has('messages') && !isOneText(messages)) return newPrompt(name, description, messages, kept)
  const described = withDescription(value, description)
  return members.has('messages')
    ? withMember(described, 'messages', messagesText(messages, kept))
    : withMember(described, 'content', JSON.stringify(messages.find(isSaid)?.text ?? ''))
}

/** Description in a version. */
export const descriptionOf = (value: unknown): string => {
  const { description } = (value ?? {}) as Record<string, unknown>
  return typeof description === 'string' ? description : ''
}
