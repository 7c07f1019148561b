// JSON text of a body: parsing it within a nesting limit, and where it is malformed.
import { isUtf8 } from 'node:buffer'
import { Refusal, tooLarge } from '../errors.ts'
import { parseInRoom } from '../memory/heap-room.ts'
import { invalid } from './errors.ts'

/** Bodies above it are scanned before they are parsed: parsing a bomb of brackets takes 100 ns and 45 bytes per byte. */
const scanAboveBytes = 1024 * 1024
/** Lists and objects of one body: each takes some 60 bytes once it is parsed, however short its text. */
const maxContainers = 4_000_000

/** True when the value holds containers nested deeper than `left`; recursion ends there. Costs a tenth of the parse. */
function isDeeper(value: object, left: number): boolean {
  if (left === 0) return true
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item: unknown = value[at]
      if (typeof item === 'object' && item !== null && isDeeper(item, left - 1)) return true
    }
    return false
  }
  const members = value as Record<string, unknown>
  for (const key in members) {
    const item = members[key]
    if (typeof item === 'object' && item !== null && isDeeper(item, left - 1)) return true
  }
  return false
}

/** The same of JSON bytes that are not parsed, or too many containers; brackets inside strings do not count. */
function isTextTooLarge(bytes: Buffer, limit: number): boolean {
  let depth = 0
  let containers = 0
  const end = bytes.length
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === 0x22) {
      for (at++; at < end; at++) {
        const inside = bytes[at]
        if (inside === 0x22) break
        if (inside === 0x5c) at++
      }
    } else if ((byte | 0x20) === 0x7b) {
      if (++depth > limit || ++containers > maxContainers) return true
    } else if ((byte | 0x20) === 0x7d) depth--
  }
  return false
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids control characters in strings
const stringPart = /[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(?="))/y
const space = /[ \t\n\r]*/y

// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const plain = /[^"\\\u0000-\u001f]*/y
const closing: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

/** What may come: a value, a value or the end of a list, a key, a key or the end of an object, or what follows a value. */
type Expected = 'value' | 'item' | 'key' | 'member' | 'after'

/** Offset of the first character at which the text stops being JSON; its length when it only ends too early. */
export function malformedAt(text: string): number {
  let at = 0
  const open: string[] = []
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  const string = (): boolean => {
    at++
    while (skip(stringPart)) {
      if (text[at] !== '"') continue
      at++
      return true
    }
    skip(plain)
    return false
  }
  // Each of these moves behind a token and returns what may come next, null where the text is malformed.
  const close = (): Expected => {
    open.pop()
    at++
    return 'after'
  }
  const afterValue = (next: string): Expected | null => {
    const inside = open.at(-1)
    if (inside === undefined) return null
    if (next === closing[inside]) return close()
    if (next !== ',') return null
    at++
    return inside === '{' ? 'key' : 'value'
  }
  const key = (next: string): Expected | null => {
    if (next !== '"' || !string()) return null
    skip(space)
    if (text[at] !== ':') return null
    at++
    return 'value'
  }
  const value = (next: string): Expected | null => {
    if (next === '{' || next === '[') {
      open.push(next)
      at++
      return next === '{' ? 'member' : 'item'
    }
    const word = ['true', 'false', 'null'].find((literal) => text.startsWith(literal, at))
    if (word !== undefined) at += word.length
    else if (next === '"' ? !string() : !skip(number)) return null
    return 'after'
  }
  const steps: Record<Expected, (next: string) => Expected | null> = {
    value,
    item: (next) => (next === ']' ? close() : value(next)),
    key,
    member: (next) => (next === '}' ? close() : key(next)),
    after: afterValue,
  }
  for (let expected: Expected = 'value'; ; ) {
    skip(space)
    const next = text[at]
    if (next === undefined) return text.length
    const following: Expected | null = steps[expected](next)
    if (following === null) return at
    expected = following
  }
}

const malformed = (offset: number): Error =>
  invalid({ loc: ['body', offset], msg: 'JSON decode error', type: 'json_invalid' })

/** Bytes up to the first that is not UTF-8, by halving: only for the fault's offset. */
function validPrefix(bytes: Buffer): number {
  let good = 0
  let bad = bytes.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    // A prefix that ends inside a character is bad by itself, so up to three more bytes are allowed to complete it.
    const isGood = [0, 1, 2, 3].some((more) => isUtf8(bytes.subarray(0, middle + more)))
    if (isGood) good = middle
    else bad = middle
  }
  return good
}

/**
 * Parses a JSON body. 422 `json_invalid` with the character's offset when it is malformed or not UTF-8 (with the
 * byte's), 413 when it is nested deeper than `maxDepth` or holds millions of lists and objects, 503 when there is no room.
 */
export function parseJson(bytes: Buffer, maxDepth: number): unknown {
  // A byte order mark is not JSON, but some writers of files put it there.
  const body = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
  if (!isUtf8(body)) throw malformed(validPrefix(body))
  if (body.length > scanAboveBytes && isTextTooLarge(body, maxDepth)) throw tooLarge()
  const text = body.toString('utf8')
  let value: unknown
  try {
    value = parseInRoom(text)
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw isTextTooLarge(body, maxDepth) ? tooLarge() : malformed(malformedAt(text))
  }
  if (typeof value === 'object' && value !== null && isDeeper(value, maxDepth)) throw tooLarge()
  return value
}
