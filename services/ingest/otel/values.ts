// Attribute values between the decoder and the JSON text: what they may be, and how JSON inside strings is taken in.
import { inlineTextLength } from '../../content/content-port.ts'
import { isSensitiveKey, redacted } from '../../content/redact.ts'
import { isRawNumber, type RawNumber, rawNumber } from '../../core/json/lossless.ts'
import { ownValueKey } from '../../core/json/own-value.ts'
import { rewriteJson } from '../../core/json/rewrite.ts'
import { containerBytes, type DecodeBudget, measureJson, spend } from './budget.ts'
import { keyOf } from './keys.ts'

/** Object of an attribute tree. A Map, because keys are the sender's: order, digits and `__proto__` stay as they came. */
export type Branch = Map<string, Value>

/** `bigint` holds integers beyond 2^53; `RawNumber` and `ParsedJson` hold JSON text whose numbers must survive. */
export type Value = string | number | boolean | bigint | null | Value[] | Branch | RawNumber | ParsedJson

/** Deepest JSON inside a string attribute that is taken as JSON; deeper text stays a string. */
const maxJsonDepth = 300

/** Findings of one look at parsed JSON. */
type Scan = {
  keys: number
  containers: number
  isEmpty: boolean
  hasSecret: boolean
  hasIndex: boolean
  isNonNative: boolean
  hasLongText: boolean
  isTooDeep: boolean
}

/** An object or list that came as JSON text in a string. It stays text until something has to look inside. */
export class ParsedJson {
  /** JSON text without line breaks, as received. */
  readonly text: string
  readonly isList: boolean
  readonly isEmpty: boolean
  /** Some key may name a credential. */
  readonly hasSecret: boolean
  /** Some object has the key "0", so that it may be a list. */
  readonly hasIndex: boolean
  /** Some number is outside of what the engine's JSON functions read: 64-bit integers and doubles. */
  readonly isNonNative: boolean
  /** Some string is long enough to be stored content. */
  readonly hasLongText: boolean
  private tree: Branch | Value[] | undefined
  constructor(text: string, isList: boolean, found: Scan) {
    this.text = text
    this.isList = isList
    this.isEmpty = found.isEmpty
    this.hasSecret = found.hasSecret
    this.hasIndex = found.hasIndex
    this.isNonNative = found.isNonNative
    this.hasLongText = found.hasLongText
  }
  /** The value as a tree, with every number token kept. */
  open(): Branch | Value[] {
    this.tree ??= toValue(parseExact(this.text)) as Branch | Value[]
    return this.tree
  }
}

/** Whether the engine's JSON functions may refuse a number: integers beyond 64 bits. */
export const isBeyondInt64 = (value: number | bigint): boolean => value >= 2 ** 63 || value <= -(2 ** 63)

function scan(value: unknown, depth: number, found: Scan): void {
  if (typeof value === 'number') {
    if (isBeyondInt64(value)) found.isNonNative = true
    return
  }
  if (typeof value === 'string') {
    if (value.length > inlineTextLength) found.hasLongText = true
    return
  }
  if (typeof value !== 'object' || value === null) return
  found.containers++
  if (depth > maxJsonDepth) {
    found.isTooDeep = true
    return
  }
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) scan(value[i], depth + 1, found)
    return
  }
  const object = value as Record<string, unknown>
  for (const key in object) {
    found.keys++
    if (keyOf(key).isSecret) found.hasSecret = true
    else if (key === '0') found.hasIndex = true
    scan(object[key], depth + 1, found)
  }
}

/** Keys in JSON text; another number when the text is unusual: white space before colons, keys that end in a backslash. */
function roughKeyCount(text: string): number {
  let count = 0
  for (let at = text.indexOf('":'); at !== -1; at = text.indexOf('":', at + 2)) {
    if (text.charCodeAt(at - 1) !== 92 /* backslash */) count++
  }
  return count
}

/** Longer texts are measured before they are parsed: parsing brackets alone is fifty times slower. */
const measureAbove = 4096

/** JSON text is parsed once, and once more into maps when something looks inside. */
const timesParsed = 2

/**
 * Takes a string that starts with `{` or `[` as JSON; the string itself when it is none or nested too deep.
 * 413 when what it holds takes more than the budget.
 */
export function parseJsonText(text: string, budget: DecodeBudget): ParsedJson | string {
  const isLong = text.length > measureAbove
  if (isLong) {
    const { depth, bytes } = measureJson(text)
    if (depth > maxJsonDepth) return text
    spend(budget, bytes * timesParsed)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  const isList = Array.isArray(value)
  const found: Scan = {
    keys: 0,
    containers: 0,
    isEmpty: false,
    hasSecret: false,
    hasIndex: false,
    isNonNative: false,
    hasLongText: false,
    isTooDeep: false,
  }
  scan(value, 1, found)
  if (!isLong) spend(budget, found.containers * containerBytes * timesParsed)
  if (found.isTooDeep) return text
  found.isEmpty = isList ? (value as unknown[]).length === 0 : found.keys === 0
  // The scan saw only the last of repeated keys: the others may hide credentials.
  if (roughKeyCount(text) !== found.keys) found.hasSecret = true
  const mayHoldSurrogates = text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text)
  const isClean = !mayHoldSurrogates && !text.includes('\n') && !text.includes('\r')
  return new ParsedJson(isClean ? text : rewriteJson(text), isList, found)
}

/** Reviver that keeps a number's token when the double does not print the same. */
const keepToken = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
    ? rawNumber(context.source)
    : value

/** Matches numbers that a double may print otherwise (fractions, exponents, -0, 16 digits), and what looks like them in texts. */
const hasInexact = /(?:^|[:,[])\s*(?:-0|-?\d+[.eE]|-?\d{16})/

/** JSON.parse whose numbers are exact: a `RawNumber` stands for every token that a double would change. */
export const parseExact = (text: string): unknown =>
  hasInexact.test(text) ? JSON.parse(text, keepToken as (key: string, value: unknown) => unknown) : JSON.parse(text)

export function toValue(value: unknown): Value {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value as Value
  if (Array.isArray(value)) return value.map(toValue)
  const branch: Branch = new Map()
  for (const [key, item] of Object.entries(value)) branch.set(key, toValue(item))
  return branch
}

export const isContainer = (value: Value): value is Branch | Value[] | ParsedJson =>
  value instanceof Map || value instanceof ParsedJson || Array.isArray(value)

/** A container whose inside may be looked at. */
export const opened = (value: Branch | Value[] | ParsedJson): Branch | Value[] =>
  value instanceof ParsedJson ? value.open() : value

/** The same of any value. */
export const treeOf = (value: Value | undefined): Value | undefined =>
  value instanceof ParsedJson ? value.open() : value

/** Non-empty string, list or object, non-zero number, true. */
export function isTruthy(value: Value | undefined): value is Value {
  if (value === undefined || value === null) return false
  if (value instanceof Map) return value.size > 0
  if (value instanceof ParsedJson) return !value.isEmpty
  if (Array.isArray(value)) return value.length > 0
  if (isRawNumber(value)) return Number(value.rawJSON) !== 0
  return Boolean(value)
}

/** The items of an object whose keys are exactly "0" to "n-1", else null. */
function indexedItems(branch: Branch): Value[] | null {
  if (!branch.has('0')) return null
  const items: Value[] = []
  for (let i = 0; i < branch.size; i++) {
    const item = branch.get(String(i))
    if (item === undefined) return null
    items.push(item)
  }
  return items
}

/** True for values that are still JSON objects once indexed keys have become lists. */
export function isObject(value: Value): value is Branch | ParsedJson {
  if (value instanceof ParsedJson) return !value.isList && (!value.hasIndex || isObject(value.open()))
  return value instanceof Map && indexedItems(value) === null
}

const withoutSecrets = (text: string): string =>
  rewriteJson(text, (item, key) => (key !== null && item !== '' && isSensitiveKey(key) ? redacted : item))

/** Values whose text in the tree is known: it is written as it is. */
export type WrittenTexts = readonly { value: Value; text: string }[]

const noTexts: WrittenTexts = []

/**
 * JSON text of a value.
 * @param redact replaces the strings under credential keys
 * @param lists writes objects with the keys "0" to "n-1" as lists
 */
export function jsonText(value: Value, redact: boolean, lists: boolean, known: WrittenTexts = noTexts): string {
  for (let i = 0; i < known.length; i++) {
    const { value: same, text } = known[i] as WrittenTexts[number]
    if (same === value) return text
  }
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Map) return branchText(value, redact, lists, known)
  if (value instanceof ParsedJson) {
    if (lists && value.hasIndex) return jsonText(value.open(), redact, lists)
    return redact && value.hasSecret ? withoutSecrets(value.text) : value.text
  }
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return listText(value, redact, lists, known)
  return value === null ? 'null' : value.rawJSON
}

function listText(items: Value[], redact: boolean, lists: boolean, known: WrittenTexts): string {
  let text = '['
  for (let i = 0; i < items.length; i++)
    text += (i === 0 ? '' : ',') + jsonText(items[i] as Value, redact, lists, known)
  return `${text}]`
}

function branchText(branch: Branch, redact: boolean, lists: boolean, known: WrittenTexts): string {
  const items = lists ? indexedItems(branch) : null
  return items === null ? `{${branchMembers(branch, redact, lists, known)}}` : listText(items, redact, lists, known)
}

/** The members of an object, without its braces. */
export function branchMembers(branch: Branch, redact: boolean, lists: boolean, known: WrittenTexts = noTexts): string {
  let text = ''
  for (const [name, item] of branch) {
    const key = keyOf(name)
    const hides = redact && key.isSecret && typeof item === 'string' && item !== ''
    if (redact && key.isSecret && item instanceof Map && typeof item.get(ownValueKey) === 'string')
      item.set(ownValueKey, redacted)
    text += (text === '' ? '' : ',') + key.json + (hides ? `"${redacted}"` : jsonText(item, redact, lists, known))
  }
  return text
}
