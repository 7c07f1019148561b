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

/** Texts of a prompt beside its messages, empty where it has none. A prompt without a model is for any. */
export type PromptTexts = { description: string; model: string }

/** Without a text where there is none, and was none. */
function withTexts(value: string, texts: PromptTexts): string {
  const members = new Map(membersOfText(value))
  return Object.entries(texts).reduce((before, [name, given]) => {
    const text = given.trim()
    if (text === '' && !members.has(name)) return before
    return withMember(before, name, JSON.stringify(text === '' ? null : text))
  }, value)
}

export const newPrompt = (name: string, texts: PromptTexts, messages: readonly DraftMessage[], kept: Kept): string => {
  const head = { _type: 'MessagesPrompt', _class_name: 'MessagesPrompt', _bases: ['Prompt', 'Object', 'BaseModel'] }
  const start = JSON.stringify({ ...head, name: name.trim(), description: null })
  return withMember(withTexts(start, texts), 'messages', messagesText(messages, kept))
}

const isOneText = (messages: readonly DraftMessage[]): boolean => {
  const [only, ...more] = messages.filter(isSaid)
  return only !== undefined && more.length === 0 && only.role === 'user' && !hasFiles(only)
}

/**
 * The next version of a prompt, with its texts and all other members as they are spelled. A `StringPrompt` stays one while it is one text
 * of a user, else it becomes messages under its name.
 * @param value of the version that was edited, as JSON
 */
export function changedPrompt(
  value: string,
  texts: PromptTexts,
  messages: readonly DraftMessage[],
  kept: Kept,
): string {
  const members = new Map(membersOfText(value))
  const name = plainText(members.get('name') ?? '""')
  if (!members.has('messages') && !isOneText(messages)) return newPrompt(name, texts, messages, kept)
  const described = withTexts(value, texts)
  return members.has('messages')
    ? withMember(described, 'messages', messagesText(messages, kept))
    : withMember(described, 'content', JSON.stringify(messages.find(isSaid)?.text ?? ''))
}

/** Texts in a version. */
export function promptTexts(value: unknown): PromptTexts {
  const { description, model } = (value ?? {}) as Record<string, unknown>
  const textOf = (one: unknown) => (typeof one === 'string' ? one : '')
  return { description: textOf(description), model: textOf(model) }
}

/** The model of a prompt as its pages name it. */
export const promptModel = (model: unknown): string => (typeof model === 'string' && model !== '' ? model : 'any model')
