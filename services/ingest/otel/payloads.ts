// Inputs and output of a call: from the attributes of its span, its events, and the log records that belong to it.

import { references } from '../../content/span-dump.ts'
import { inputEvents, outputEvent } from './convention-keys.ts'
import type { Conventions } from './conventions.ts'
import { type FoundAttribute, present, textOf } from './find.ts'
import { keyOf } from './keys.ts'
import type { OtlpSpan } from './spans.ts'
import {
  type Branch,
  branchMembers,
  isObject,
  jsonText,
  ParsedJson,
  treeOf,
  type Value,
  type WrittenTexts,
} from './values.ts'

/** Data of log records about a span: it fills gaps of the span. */
export type Extra = { root: Branch; events: { name: string; attributes: Branch }[]; exception: string }

export type Payload = {
  json: string
  /** Values whose text the dump needs not repeat. */
  inDump: WrittenTexts
  /** Only a library of generative AI says this. */
  isDescribing: boolean
}

/** Sources of the payloads of a call. */
export type PayloadSources = {
  span: OtlpSpan
  root: Branch
  events: Branch[]
  conventions: Conventions
  eventsAsIo: boolean
  extra: Extra | undefined
}

/** `{"<key>":<value>}` */
const keyed = (key: string, text: string): string => `{${keyOf(key).json}${text}}`

/** Shorter texts are repeated in the dump. */
export const minReferenced = 64

/** The value in the dump whose text another payload holds; that text may differ from the dump's. */
function inDump(value: Value, text: string, mark: string): WrittenTexts {
  if (text.length < minReferenced) return []
  const own = typeof value === 'string' ? text : jsonText(value, true, false)
  return [{ value, text: own === text ? mark : own }]
}

/** The differences between the two sides of a call. */
type Side = {
  name: 'inputs' | 'output'
  redacts: boolean
  bareMark: string
  memberMark: string
  /** Whether the value of this key stands by itself. */
  isBare(found: FoundAttribute): boolean
  eventsText(events: { name: string }[], branches: Branch[], conventions: Conventions): string | null
}

const inputs: Side = {
  name: 'inputs',
  redacts: true,
  bareMark: references.inputs,
  memberMark: references.inputsMember,
  isBare: ({ key, value }) => (key === 'inputs' || key === 'input') && isObject(value),
  eventsText: eventInputs,
}

const output: Side = {
  name: 'output',
  redacts: false,
  bareMark: references.output,
  memberMark: references.outputMember,
  isBare: ({ key }) => key === 'outputs' || key === 'output',
  eventsText: eventOutput,
}

/** The payload with one more member behind the others. */
function withMember({ json, isDescribing }: Payload, { key, value }: FoundAttribute, side: Side): Payload {
  const member = `${keyOf(key).json}${jsonText(value, side.redacts, true)}`
  return { json: `${json.slice(0, -1)},${member}}`, inDump: [], isDescribing }
}

/** A text, or a document that holds none. */
const lacksMessages = (value: Value): boolean =>
  value instanceof ParsedJson
    ? !/"(?:role|parts|(?:additional_)?kwargs|call_id)"\s*:/.test(value.text)
    : typeof value === 'string'

/** The payload that the tables find, completed by messages that only the span has. */
function foundPayload(found: FoundAttribute, { root, conventions }: PayloadSources, side: Side): Payload {
  const payload = payloadOf(found, side)
  const messages =
    side.isBare(found) || !lacksMessages(found.value) ? null : present(root, conventions.messages[side.name])
  return messages === null || messages.key === found.key ? payload : withMember(payload, messages, side)
}

function payloadOf(found: FoundAttribute, side: Side): Payload {
  const text = jsonText(found.value, side.redacts, true)
  return side.isBare(found)
    ? { json: text, inDump: inDump(found.value, text, side.bareMark), isDescribing: false }
    : { json: keyed(found.key, text), inDump: inDump(found.value, text, side.memberMark), isDescribing: false }
}

const plain = (json: string): Payload => ({ json, inDump: [], isDescribing: false })

/** Inputs or output that older instrumentations carry in events; null when they carry none. */
function eventInputs(events: { name: string }[], branches: Branch[], conventions: Conventions): string | null {
  let messages = ''
  for (let i = 0; i < events.length; i++) {
    const { name } = events[i] as { name: string }
    if (!inputEvents.has(name)) continue
    const members = branchMembers(branches[i] as Branch, true, true)
    messages += `${messages === '' ? '' : ','}{"event":${JSON.stringify(name)}${members === '' ? '' : `,${members}`}}`
  }
  if (messages !== '') return `{"gen_ai.events":[${messages}]}`
  return eventContent(events, branches, inputs, conventions)
}

function eventOutput(events: { name: string }[], branches: Branch[], conventions: Conventions): string | null {
  let choices = ''
  for (let i = 0; i < events.length; i++) {
    if ((events[i] as { name: string }).name === outputEvent)
      choices += `${choices === '' ? '' : ','}{${branchMembers(branches[i] as Branch, false, true)}}`
  }
  if (choices !== '') return `{"gen_ai.choice":[${choices}]}`
  return eventContent(events, branches, output, conventions)
}

function eventContent(
  events: { name: string }[],
  branches: Branch[],
  side: Side,
  { content }: Conventions,
): string | null {
  for (const { event, sources } of content[side.name]) {
    const own = branches.filter((_, place) => events[place]?.name === event)
    const [found, ...beside] = sources.map((source) => {
      const one = own.find((branch) => present(branch, [source]) !== null)
      return one === undefined ? null : present(one, [source])
    })
    if (!found) continue
    const payload = plain(keyed(found.key, jsonText(found.value, side.redacts, true)))
    return beside.reduce((all, one) => (one === null ? all : withMember(all, one, side)), payload).json
  }
  return null
}

/** The value of one member of each item: of embeddings the texts, without their vectors. */
function itemsOf(value: Value, path: readonly string[]): Value[] {
  const tree = treeOf(value)
  const items = tree instanceof Map ? [...tree.values()] : Array.isArray(tree) ? tree : []
  return items.flatMap((item) => {
    let inner: Value | undefined = item
    for (const segment of path) {
      const branch = treeOf(inner)
      inner = branch instanceof Map ? branch.get(segment) : undefined
    }
    return inner === undefined ? [] : [inner]
  })
}

/** The payload under the names that newer conventions, and other libraries, have for inputs or output. */
function addedPayload(root: Branch, conventions: Conventions, side: Side): Payload | null {
  for (const { source, item, beside, needs, is } of conventions.added[side.name]) {
    const found = present(root, [source])
    if (found === null) continue
    const needed = needs === undefined ? undefined : present(root, [needs])
    if (needed === null || (is !== undefined && !is.includes(textOf(needed?.value)))) continue
    const value = item === undefined ? found.value : itemsOf(found.value, item)
    if (Array.isArray(value) && value.length === 0) continue
    const other = beside === undefined ? null : present(root, [beside])
    const payload = payloadOf({ key: found.key, value }, side)
    return { ...(other === null ? payload : withMember(payload, other, side)), isDescribing: true }
  }
  return null
}

/** The payload of log records, by the same tables. */
function extraPayload({ root, events }: Extra, conventions: Conventions, side: Side): Payload | null {
  const found = present(root, conventions[side.name])
  if (found !== null) return { ...payloadOf(found, side), inDump: [] }
  const branches = events.map(({ attributes }) => attributes)
  const text = side.eventsText(events, branches, conventions)
  if (text !== null) return plain(text)
  const added = addedPayload(root, conventions, side)
  return added === null ? null : { ...added, inDump: [] }
}

/**
 * The payload where the tables of the span's attributes found nothing: from its events, newer conventions, log records.
 */
function otherPayload(sources: PayloadSources, side: Side): Payload {
  const { span, root, events, conventions, eventsAsIo, extra } = sources
  const text = eventsAsIo ? side.eventsText(span.events, events, conventions) : null
  if (text !== null) return plain(text)
  return (
    addedPayload(root, conventions, side) ??
    (extra === undefined ? null : extraPayload(extra, conventions, side)) ??
    plain('{}')
  )
}

/** @param found what the tables of attributes say of them */
export const inputsOf = (found: FoundAttribute | null, sources: PayloadSources): Payload =>
  found === null ? otherPayload(sources, inputs) : foundPayload(found, sources, inputs)

export const outputOf = (found: FoundAttribute | null, sources: PayloadSources): Payload =>
  found === null ? otherPayload(sources, output) : foundPayload(found, sources, output)
