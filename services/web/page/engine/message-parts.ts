// Reads the parts of messages by the table of dialects: texts, calls of tools and their results, images and files.
import type { Dialect, PartForm } from './dialect-form.ts'
import type { Grounds } from './grounds.ts'
import { filesObject, type MediaSource, mediaSourceOf } from './media.ts'
import { dialects } from './message-dialects.ts'

export type Part =
  | { is: 'text' | 'reasoning' | 'refusal'; text: string }
  | { is: 'call'; id: string | null; name: string; arguments: string }
  | { is: 'answer'; id: string | null; name: string | null; text: string }
  /** Summary of earlier messages; empty where the provider keeps it to itself. */
  | { is: 'compaction'; text: string }
  /** An image, a sound, a file; without a source where the bytes are not known. */
  | { is: 'media'; text: string; source: MediaSource | null }
  /** Content of an unknown form, as JSON. */
  | { is: 'json'; text: string }
export type Message = {
  role: string
  name: string | null
  parts: Part[]
  /** Grounds of an answer, or probabilities of its parts, where there are any. */
  grounds?: Grounds
  /**
   * JSON of what no message shows: of an item of a list of messages at its own, of the rest of the inputs at the first, of
   * the output at the last.
   */
  others?: string
}

/** Parts, and whose they are where that is not whose the message is. */
export type Said = { role: string | null; parts: Part[] }

export type JsonObject = Record<string, unknown>

type Source = { source?: string }
type Json = {
  parse(text: string, reviver: (key: string, value: unknown, context?: Source) => unknown): unknown
  rawJSON?(text: string): unknown
  isRawJSON?(value: unknown): boolean
}
const json: Json = JSON

/** Values whose numbers are written again as they were spelled, in browsers that can. */
export const parsedAsSpelled = (text: string): unknown =>
  json.parse(text, (_, value, context) =>
    typeof value === 'number' && json.rawJSON && context?.source !== undefined && String(value) !== context.source
      ? json.rawJSON(context.source)
      : value,
  )

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && json.isRawJSON?.(value) !== true

/** A text that holds JSON is read as what it holds: some instrumentations record messages so. */
export function openedText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return parsedAsSpelled(value)
  } catch {
    return value
  }
}

/** Texts as they are, everything else as JSON. */
export const written = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : (JSON.stringify(value, null, 2) ?? '')

export const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && json.isRawJSON?.(value) !== true && Object.keys(value).length === 0)

/** The value at a name, or at a path whose names have `/` between them. */
export function at(value: unknown, path: string): unknown {
  if (!isObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const end = path.indexOf('/')
  if (end < 0 || !Object.hasOwn(value, path.slice(0, end))) return undefined
  return at(openedText(value[path.slice(0, end)]), path.slice(end + 1))
}

/** The first of these that says something, of the first of the objects that has one. */
export function first(layers: readonly JsonObject[], paths: readonly string[]): unknown {
  for (const layer of layers)
    for (const path of paths) {
      const value = at(layer, path)
      if (!isNothing(value)) return value
    }
  return undefined
}
export const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

type Names = {
  [key in keyof Dialect]-?: NonNullable<Dialect[key]> extends readonly string[] ? key : never
}[keyof Dialect]
/** The names of all rows, in their order. */
export const names = (member: Names): readonly string[] => [...new Set(dialects.flatMap((row) => row[member] ?? []))]

const plain = (type: string): string => type.replaceAll(/[-.]/g, '_')
/** JsonObject that say what an object is. */
export const tagKeys = ['type', 'part_kind', 'block_type', 'kind']
const forms = dialects.flatMap(({ parts = [] }) => parts)
const needs = ({ where, at }: PartForm): number => (where ? 1 : 0) + (at ? 1 : 0)
const formsByType = new Map<string, PartForm[]>()
// Forms with more conditions come first.
for (const form of forms)
  for (const type of form.types ?? [])
    formsByType.set(
      plain(type),
      [...(formsByType.get(plain(type)) ?? []), form].sort((one, other) => needs(other) - needs(one)),
    )
const formsByMember = forms.filter((form) => form.in !== undefined)
/** Whether it is a word for a kind of parts. */
export const isPartType = (word: string): boolean => formsByType.has(plain(word))

const [texts, callIds, answerIds] = [names('text'), names('callId'), names('answerId')]
const [toolNames, toolArguments, results] = [names('toolName'), names('arguments'), names('result')]
const membersOf = (is: PartForm['is']): string[] => forms.flatMap((form) => (form.is === is ? (form.in ?? []) : []))
const callWraps = ['function', 'custom', ...membersOf('call')]
const answerWraps = [...membersOf('answer'), 'origin']

const maxDepth = 6

/** The object, and those within it that hold it by one of these names; the innermost first. */
export function layersOf(
  value: JsonObject,
  wraps: readonly string[],
  fits: (inner: JsonObject) => boolean = () => true,
) {
  const layers = [value]
  while (layers.length < maxDepth) {
    const outer = layers[0] as JsonObject
    const inner = wraps.map((name) => openedText(at(outer, name))).find((one) => isObject(one) && fits(one))
    if (inner === undefined) break
    layers.unshift(inner as JsonObject)
  }
  return layers
}

const fits = (part: JsonObject, { where, at: path }: PartForm): boolean => {
  const needed = where && at(part, where[0])
  if (where && (where.length > 1 ? needed !== where[1] : isNothing(needed))) return false
  return path === undefined || !isNothing(at(part, path))
}

/** The form of a part; undefined when no row fits. */
export function formOf(part: unknown): PartForm | undefined {
  if (!isObject(part)) return undefined
  for (const key of tagKeys) {
    const type = at(part, key)
    const found = typeof type === 'string' ? formsByType.get(plain(type))?.find((form) => fits(part, form)) : undefined
    if (found !== undefined) return found
  }
  return formsByMember.find((form) => form.in?.some((name) => !isNothing(at(part, name))) && fits(part, form))
}

function textParts(is: 'text' | 'reasoning' | 'refusal', value: unknown, depth: number): Part[] {
  if (isNothing(value)) return []
  if (typeof value === 'string') return [{ is, text: value }]
  if (Array.isArray(value)) return value.flatMap((one) => textParts(is, one, depth + 1))
  if (!isObject(value) || depth > maxDepth) return [{ is: 'json', text: written(value) }]
  const form = formOf(value)
  if (form !== undefined && !['text', 'reasoning', 'refusal'].includes(form.is)) return partsIn(value, depth + 1)
  const found = texts.map((name) => at(value, name)).filter((one) => !isNothing(one))
  const all = is === 'reasoning' ? found : found.slice(0, 1)
  // A part of this kind may say nothing; what has no member for it is not understood.
  if (found.length === 0) return texts.some((name) => name in value) ? [] : [{ is: 'json', text: written(value) }]
  return all.flatMap((one) => textParts(is, one, depth + 1))
}

export function callOf(part: JsonObject): Part {
  const layers = layersOf(part, callWraps)
  const type = String(first([part], tagKeys) ?? '')
  const known = /^(?!function|tool|mcp|custom)\w+(?=_call$)/.exec(type)?.[0]
  return {
    is: 'call',
    id: textOrNull(first(layers.toReversed(), callIds)),
    name: written(first(layers, toolNames) ?? known ?? 'tool'),
    arguments: written(first(layers, toolArguments)),
  }
}

/** Results that say themselves what they are. */
const resultOf = (value: unknown): unknown => {
  const inner = isObject(value) && typeof at(value, 'type') === 'string' ? at(value, 'value') : undefined
  return inner === undefined ? value : inner
}

/** The result of a tool: its first text, then what else it is made of. */
export function resultParts(layers: readonly JsonObject[], value: unknown, depth: number): Part[] {
  const given = resultOf(value)
  const isList = Array.isArray(given) && given.every((one) => typeof one === 'string' || formOf(one) !== undefined)
  const parts: Part[] = isList || formOf(given) !== undefined ? partsIn(given, depth + 1) : []
  const head = parts[0]
  const isText = head !== undefined && head.is !== 'call' && head.is !== 'media'
  return [
    {
      is: 'answer',
      id: textOrNull(first(layers.toReversed(), answerIds)),
      name: textOrNull(first(layers, toolNames)),
      text: isText ? head.text : parts.length > 0 ? '' : written(given),
    },
    ...(isText ? parts.slice(1) : parts),
  ]
}

/** Without a source the part is JSON, where it says more than that there was something. */
function mediaPart(part: JsonObject, kind: string): Part {
  const media = textOrNull(first([part], ['mime_type', 'mediaType', 'media_type', 'mimeType']))
  const source = mediaSourceOf(part, kind)
  if (source === null && Object.keys(part).length > (media === null ? 1 : 2)) return { is: 'json', text: written(part) }
  return { is: 'media', text: media === null ? kind : `${kind}, ${media}`, source }
}

function saidOf(part: unknown, depth: number): Said {
  const own = (...parts: Part[]): Said => ({ role: null, parts })
  if (isNothing(part)) return own()
  if (typeof part === 'string') return own({ is: 'text', text: part })
  const files = filesObject(part)
  if (files !== null) return own({ is: 'media', text: 'file', source: files })
  const inner = isObject(part) ? at(part, 'message_content') : undefined
  if (isObject(inner)) return saidOf(inner, depth + 1)
  const form = formOf(part)
  if (form === undefined || !isObject(part)) return own({ is: 'json', text: written(part) })
  const value = form.at === undefined ? undefined : at(part, form.at)
  switch (form.is) {
    case 'call':
      return own(callOf(part))
    case 'answer': {
      const layers = layersOf(part, answerWraps)
      return { role: 'tool', parts: resultParts(layers, first(layers, results), depth) }
    }
    case 'media':
      return own(mediaPart(part, textOrNull(first([part], tagKeys)) ?? form.in?.find((name) => name in part) ?? 'file'))
    case 'compaction':
      return own({ is: 'compaction', text: written(first([part], texts)) })
    case 'json':
      return own({ is: 'json', text: written(form.in === undefined ? part : first([part], form.in)) })
    default:
      return { role: form.role ?? null, parts: textParts(form.is, value ?? part, depth) }
  }
}

/** The contents of a message, part by part. */
export const saidIn = (content: unknown, depth = 0): Said[] =>
  depth > maxDepth
    ? [{ role: null, parts: [{ is: 'json', text: written(content) }] }]
    : (Array.isArray(content) ? content : [content]).map((part) => saidOf(part, depth))

export const partsIn = (content: unknown, depth = 0): Part[] => saidIn(content, depth).flatMap(({ parts }) => parts)
