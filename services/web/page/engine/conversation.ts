// Finds the messages to and from a model in the records of SDKs and instrumentations.

import { withGrounds } from './grounds.ts'
import { type LeftOver, leftBeside } from './left-over.ts'
import { dialects } from './message-dialects.ts'
import {
  at,
  callOf,
  first,
  formOf,
  isNothing,
  isObject,
  type JsonObject,
  layersOf,
  type Message,
  names,
  openedText,
  type Part,
  partsIn,
  resultParts,
  type Said,
  saidIn,
  tagKeys,
  textOrNull,
  written,
} from './message-parts.ts'

const maxMessages = 2_000
const maxDepth = 6

const roles: Readonly<Record<string, string>> = Object.assign({}, ...dialects.map((row) => row.roles ?? {}))
const wraps = names('wraps')
const contents = names('content')
const thoughts = names('thought')
const callLists = names('calls')
const further = names('also')
const ids = names('answerId')
const systems = names('system')
const histories = names('history')
const prompts = names('prompt')
const ended = names('ended')
/** Calls are the model's, results the tools', when they stand alone. */
const itemRoles: Partial<Record<string, string>> = {
  call: 'assistant',
  reasoning: 'assistant',
  compaction: 'assistant',
  answer: 'tool',
}

const roleNamed = (word: unknown): string | null =>
  typeof word === 'string' && Object.hasOwn(roles, word.toLowerCase()) ? (roles[word.toLowerCase()] as string) : null

/** The role of a message, by its own members: its role, its class, its event or its type. */
function roleOf(layers: readonly JsonObject[]): string | null {
  for (const layer of layers) {
    const role = textOrNull(first([layer], ['role', '_role']))
    if (role !== null) return roleNamed(role) ?? role
    const names = at(layer, 'id')
    const words = [
      Array.isArray(names) ? names.at(-1) : undefined,
      ...['event', 'event.name', 'event/name', ...tagKeys].map((key) => at(layer, key)),
    ]
    const known = words.map(roleNamed).find((one) => one !== null)
    if (known !== undefined) return known
  }
  return null
}

/** Whether something speaks there, though it may not say who. */
const isSpeech = (layer: JsonObject): boolean =>
  ['role', '_role', ...contents, ...callLists].some((path) => !isNothing(at(layer, path)))

/** The same of what may hold it further within. */
const holdsSpeech = (layer: JsonObject, depth = 0): boolean =>
  isSpeech(layer) ||
  (depth < maxDepth &&
    wraps.some((path) => {
      const inner = openedText(at(layer, path))
      return isObject(inner) && holdsSpeech(inner, depth + 1)
    }))

const isMessageParts = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => formOf(one) !== undefined)

/** Texts of events hold lists of parts. */
const contentIn = (value: unknown, isEvent: boolean): unknown => {
  const inner = openedText(value)
  return isMessageParts(inner) && (isEvent || inner.every((one) => typeof at(one, 'type') === 'string')) ? inner : value
}

/** Each change of who speaks is a message of its own, and each result of a tool. */
function messagesFrom(said: readonly Said[], role: string, name: string | null): Message[] {
  const messages: Message[] = []
  for (const one of said) {
    if (one.parts.length === 0) continue
    const own = one.role ?? role
    const last = messages.at(-1)
    if (last !== undefined && last.role === own && one.parts[0]?.is !== 'answer') last.parts.push(...one.parts)
    else messages.push({ role: own, name: own === role ? name : null, parts: [...one.parts] })
  }
  return messages.length === 0 ? [{ role, name, parts: [] }] : messages
}

/** The message with the grounds of its own parts, or of its surroundings. */
function grounded(message: Message, sources: readonly unknown[]): Message {
  const { tokens, citations } = sources.reduce(withGrounds, message.grounds ?? { tokens: [], citations: [] })
  return tokens.length + citations.length === 0 ? message : { ...message, grounds: { tokens, citations } }
}
const lastGrounded = (messages: Message[], sources: readonly unknown[]): Message[] =>
  messages.map((one, place) => (place === messages.length - 1 ? grounded(one, sources) : one))

function saidBy(layers: readonly JsonObject[], role: string, name: string | null): Said[] {
  const [content, path] = contentOf(layers)
  const given = contentIn(content, path === 'message' || layers.some((one) => 'event' in one))
  const said = saidIn(given)
  if (role === 'tool' && !said.some(({ parts }) => parts.some(({ is }) => is === 'answer')))
    return [{ role, parts: resultParts([{ name, tool_call_id: first(layers, ids) }], given, 0) }]
  const thought = first(layers, thoughts)
  const refusal = textOrNull(first(layers, ['refusal']))
  const known = new Set(said.flatMap(({ parts }) => parts.map((part) => (part.is === 'call' ? part.id : null))))
  const list = openedText(first(layers, callLists))
  const calls = (Array.isArray(list) ? list : [list]).filter(isObject).map(callOf)
  return [
    ...(thought === undefined ? [] : partsIn({ type: 'reasoning', content: thought })).map(alone),
    ...said,
    ...(refusal === null ? [] : [alone({ is: 'refusal', text: refusal })]),
    ...calls.filter((call) => call.is === 'call' && (call.id === null || !known.has(call.id))).map(alone),
    ...further.flatMap((path) => {
      const value = openedText(first(layers, [path]))
      return value === undefined ? [] : saidIn(Array.isArray(value) ? value.map(asPart(path)) : asPart(path)(value))
    }),
  ]
}
const alone = (part: Part): Said => ({ role: null, parts: [part] })
/** Images and sound beside the text: some are the bytes themselves. */
const asPart =
  (path: string) =>
  (value: unknown): unknown =>
    formOf(value) !== undefined ? value : { type: path === 'audio' ? 'input_audio' : 'file', data: value }

function contentOf(layers: readonly JsonObject[]): [value: unknown, path: string] {
  for (const layer of layers)
    for (const path of contents) {
      const value = at(layer, path)
      if (!isNothing(value) && !(wraps.includes(path) && isObject(openedText(value)) && layers.length > 1))
        return [value, path]
    }
  return [undefined, '']
}

type Found = {
  messages: Message[]
  /** It says itself that it is messages; a text alone may be anything. */
  isSure: boolean
}

/** @param fallback whose a message is that does not say so; null where it must */
function messagesOf(value: unknown, fallback: string | null): Found | null {
  // LangChain's short form: who, and what.
  if (Array.isArray(value)) {
    const [who, what] = value as unknown[]
    const role = value.length === 2 && typeof what === 'string' ? roleNamed(who) : null
    return role === null ? null : { messages: messagesFrom(saidIn(what), role, null), isSure: true }
  }
  if (!isObject(value)) return null
  const layers = layersOf(value, wraps, holdsSpeech)
  const explicit = textOrNull(first(layers, ['role', '_role']))
  const form = explicit === null ? formOf(value) : undefined
  const item = form && itemRoles[form.is]
  if (item !== undefined && layers.length === 1)
    return { messages: messagesFrom(saidIn([value]), item, null), isSure: true }
  const own = roleOf(layers)
  const hasCalls = !isNothing(first(layers, callLists))
  const content = contentOf(layers)[0]
  const isSaid =
    hasCalls || Array.isArray(at(layers[0], 'parts')) || typeof content === 'string' || isMessageParts(content)
  const role = own ?? (isSaid ? fallback : null)
  if (role === null || (own !== null && explicit === null && !layers.some(isSpeech))) return null
  const name = textOrNull(first(layers, ['name', '_name', 'tool_name']))
  const messages = messagesFrom(saidBy(layers, role, name), role, name)
  return {
    messages: lastGrounded(messages, [...(Array.isArray(content) ? content : []), ...layers]),
    isSure: own !== null || hasCalls || layers.some((layer) => ended.some((path) => path in layer)),
  }
}

/** The items of lists that messages were read from. */
const itemOf = new WeakMap<Message, JsonObject>()

/** Remembers the item of a list for the last of its messages. */
function readFrom(read: Found | null, value: unknown): Found | null {
  const last = read?.messages.at(-1)
  if (last !== undefined && isObject(value)) itemOf.set(last, value)
  return read
}

type Side = 'asked' | 'answered'
const speakers: Record<Side, string> = { asked: 'user', answered: 'assistant' }
const paths: Record<Side, readonly string[]> = { asked: names('asked'), answered: names('answered') }

const joined = (all: readonly (Found | null)[]): Found | null =>
  all.length > 0 && all.every((one) => one !== null)
    ? { messages: all.flatMap(({ messages }) => messages), isSure: all.some(({ isSure }) => isSure) }
    : null

function foundInList(list: readonly unknown[], side: Side, depth: number): Found | null {
  if (list.length === 0 || list.length > maxMessages) return null
  const each = joined(
    list.map((one) => {
      const value = openedText(one)
      return (
        readFrom(messagesOf(value, speakers[side]), value) ??
        (typeof value === 'object' ? found(value, side, depth + 1) : null)
      )
    }),
  )
  if (each !== null) return each
  // Parts without a message around them.
  const isParts = list.every((one) => typeof one === 'string' || formOf(one) !== undefined)
  return isParts ? { messages: messagesFrom(saidIn(list), speakers[side], null), isSure: false } : null
}

function systemOf(given: unknown): Message[] {
  const value = openedText(given)
  if (isNothing(value)) return []
  const messages = messagesOf(value, 'system')?.messages ?? messagesFrom(saidIn(value), 'system', null)
  return messages.map((one) => ({ ...one, role: 'system' }))
}

/** The messages before the others: instructions and earlier messages. */
function before(value: JsonObject): Message[] {
  const history = found(first([value], histories), 'asked', 1)
  return [...systemOf(first([value], systems)), ...(history?.isSure ? history.messages : [])]
}

/** Behind one of the names of its side. */
function foundBelow(value: JsonObject, side: Side, earlier: readonly Message[], depth: number): Found | null {
  let unsure: Found | null = null
  for (const path of paths[side]) {
    const inner = at(value, path)
    const one = isNothing(inner) ? null : found(inner, side, depth + 1)
    if (one === null) continue
    const all = { ...one, messages: [...earlier, ...lastGrounded(one.messages, side === 'answered' ? [value] : [])] }
    if (all.isSure) return all
    unsure ??= all
  }
  return unsure
}

/** A text that the user says, where instructions or earlier messages stand beside it. */
function prompted(value: JsonObject, earlier: readonly Message[], depth: number): Found | null {
  const prompt = first([value], prompts)
  const said = prompt === undefined ? null : found(prompt, 'asked', depth + 1)
  return said && { messages: [...earlier, ...said.messages], isSure: earlier.length > 0 || said.isSure }
}

/** Arguments of a function under one name, which a text alone would lose. */
function onlyMember(value: JsonObject, side: Side, depth: number): Found | null {
  const values = Object.values(value)
  const only = values.length === 1 ? found(values[0], side, depth + 1) : null
  return only?.isSure ? only : null
}

function found(given: unknown, side: Side, depth = 0): Found | null {
  const value = openedText(given)
  if (typeof value === 'string' && value !== '')
    return { messages: messagesFrom(saidIn(value), speakers[side], null), isSure: false }
  if (Array.isArray(value)) return foundInList(value, side, depth)
  if (!isObject(value) || depth > maxDepth) return null
  const own = messagesOf(value, null)
  if (own?.messages.some(({ parts }) => parts.length > 0)) return own
  const earlier = side === 'asked' ? before(value) : []
  const below = foundBelow(value, side, earlier, depth)
  if (below?.isSure) return below
  const other = side === 'asked' ? prompted(value, earlier, depth) : messagesOf(value, 'assistant')
  if (other?.isSure) return other
  return below ?? other ?? onlyMember(value, side, depth)
}

const asText = (messages: readonly Message[]): string[] =>
  messages.map(({ role, parts }) => JSON.stringify([role, parts]))
const isWithin = (some: readonly string[], all: readonly string[], from: number): boolean =>
  some.length <= all.length && some.every((one, place) => one === all[from + place])

/**
 * The part of the answer that is not among the messages already: some record the whole conversation again, or its end.
 */
function news(asked: readonly Message[], answer: Found): Message[] {
  const [old, now] = [asText(asked), asText(answer.messages)]
  if (isWithin(old, now, 0)) return answer.messages.slice(old.length)
  return asked.at(-1)?.role === 'assistant' && isWithin(now, old, old.length - now.length) ? [] : answer.messages
}

/** Without results that are said again behind those they repeat: some record each as a message and within the next one. */
function withoutRepeats(messages: readonly Message[]): Message[] {
  const said = new Set<string>()
  return messages.filter(({ role, parts }) => {
    if (role !== 'tool') said.clear()
    const answers = parts.flatMap((part) =>
      part.is === 'answer' && part.id !== null ? [`${part.id} ${part.text}`] : [],
    )
    const isRepeat = parts.length > 0 && answers.length === parts.length && answers.every((one) => said.has(one))
    for (const one of answers) said.add(one)
    return !isRepeat
  })
}

/** Content of an unknown form, as one message. */
const whole = (value: unknown, role: string): Found => ({
  messages: isNothing(value)
    ? []
    : [{ role, name: null, parts: [{ is: typeof value === 'string' ? 'text' : 'json', text: written(value) }] }],
  isSure: false,
})

/** The last text of the last message of inputs or of an output; undefined where they hold none. */
export function lastSaid(value: unknown): string | undefined {
  const read = found(value, 'asked')
  const messages = (read?.isSure ? read : found(value, 'answered'))?.messages
  const part = messages?.findLast(({ parts }) => parts.length > 0)?.parts.at(-1)
  return part?.is === 'call' ? `${part.name}(${part.arguments})` : part?.text
}

/** The messages with what else their items of a list hold, each at its own. */
function withOwnOthers(messages: readonly Message[], beside: LeftOver): Message[] {
  const added = messages.map((message) => {
    const item = itemOf.get(message)
    const left = item && beside.of(item)
    return item === undefined || left === undefined
      ? { message }
      : { message: { ...message, others: written(left) }, item }
  })
  for (const { item } of added) if (item) beside.told(item)
  return added.map(({ message }) => message)
}

const withOthers = (messages: Message[], place: number, value: unknown, beside: LeftOver): void => {
  const message = messages.at(place)
  const left = beside.of(value)
  if (message !== undefined && left !== undefined)
    messages[messages.indexOf(message)] = {
      ...message,
      others: [message.others, written(left)].filter((one) => one !== undefined).join('\n'),
    }
}

/** A message that stands by itself, whoever says it; several where it holds results of several tools. */
export function readMessage(value: unknown): Message[] | null {
  const read = found([value], 'asked')
  return read?.isSure ? read.messages : null
}

/** Spans of tools carry what a tool was asked and answered as messages: that is no conversation. */
const isConversation = (side: Found | null, isBy: (role: string) => boolean): boolean =>
  side?.isSure === true && side.messages.some(({ role }) => isBy(role))

/**
 * The messages of a call; null when its inputs and its output hold none. Nothing that was recorded is lost: what is not
 * understood stands among them, or beside them, as JSON.
 * @param system instructions that stand elsewhere in the call
 */
export function conversationOf(inputs: unknown, output: unknown, system?: unknown): Message[] | null {
  const asked = found(inputs, 'asked')
  const answered = found(output, 'answered')
  const isAnswer = isConversation(answered, (role) => role === 'assistant')
  if (!isAnswer && !isConversation(asked, (role) => role !== 'tool')) return null
  const said = withoutRepeats((asked ?? whole(inputs, 'user')).messages)
  const instructions = said.some(({ role }) => role === 'system') ? [] : systemOf(system)
  const before = [...instructions, ...said]
  const answer = answered ?? whole(output, 'assistant')
  const told = { ...answer, messages: withoutRepeats(answer.messages) }
  const added = isNothing(openedText(output)) ? [] : news(said, told)
  const beside = leftBeside([...before, ...added])
  const messages = [...withOwnOthers(before, beside), ...added]
  withOthers(messages, 0, inputs, beside)
  withOthers(messages, -1, output, beside)
  return messages
}
