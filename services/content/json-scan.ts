// Reads a JSON document from its bytes: strict like JSON.parse, but only the members that are asked for become values.

import { tooLarge } from '../core/errors.ts'
import { type Notes, walkValue } from '../core/json/strict-walk.ts'
import {
  closingQuote,
  found,
  noRefs,
  type Scan,
  skipScalar,
  skipSpace,
  startsWith,
  Unreadable,
} from '../core/json/tokens.ts'
import { inlineTextLength, mayBeContent } from './content-port.ts'
import { isSensitiveKey, mayBeSensitiveKey } from './redact.ts'
import { isRef } from './refs.ts'

/** The kinds of findings that a value is searched for. */
export const search = { refs: 1, credentials: 2, content: 4 } as const

/** Notes a key that names a credential when its value is a string that is not empty. */
function noteKey(s: Scan, start: number, end: number, colon: number, interest: number): void {
  if ((interest & search.credentials) === 0) return
  if (!s.escaped && !mayBeSensitiveKey(s.bytes, start, end)) return
  if (!isSensitiveKey(textBetween(s, start, end))) return
  const value = skipSpace(s, colon + 1)
  if (s.bytes[value] === 34 && s.bytes[value + 1] !== 34) s.found |= found.credential
}

/** Notes a string that is a ref. */
function noteRef(s: Scan, start: number, end: number): void {
  const b = s.bytes
  // 'weave:///' and 'wandb-artifact:///': the second letter decides soon enough
  if (!s.escaped && b[start + 1] !== 101 && b[start + 1] !== 97) return
  const text = textBetween(s, start, end)
  if (!isRef(text)) return
  if (s.refs === noRefs) s.refs = [text]
  else if (isNew(s, text)) s.refs.push(text)
}

/** Number of refs of a value from which on a set remembers the known ones. */
const manyRefs = 16

function isNew(s: Scan, text: string): boolean {
  if (s.refs.length < manyRefs) return !s.refs.includes(text)
  if (s.known?.refs !== s.refs) s.known = { refs: s.refs, texts: new Set(s.refs) }
  const { texts } = s.known
  const before = texts.size
  return texts.add(text).size > before
}

function noteText(s: Scan, start: number, end: number, interest: number): void {
  const first = s.bytes[start]
  if (interest & search.refs && (first === 119 || first === 92) && end - start > 12) noteRef(s, start, end)
  if (interest & search.content && end - start > inlineTextLength && mayBeContent(s.bytes, start))
    s.found |= found.content
}

const notes: Notes = { key: noteKey, text: noteText }

/**
 * Moves behind the value at `s.at`; what was found in it is in `s.found` and `s.refs`. Throws 413 when it is nested too
 * deep.
 * @param interest bits of `search`
 */
export function skipValue(s: Scan, interest = 0): void {
  s.refs = noRefs
  walkValue(s, interest === 0 ? null : notes, interest)
}

/** The text between two quotes. */
function textBetween(s: Scan, start: number, end: number): string {
  const text = s.bytes.utf8Slice(start, end)
  return text.includes('\\') ? JSON.parse(`"${text}"`) : text
}

/** Stand for containers in values of which only the type matters. */
const anObject = Object.freeze({})
const anArray = Object.freeze([])

/** The value at `s.at`, moving behind it; containers come as an empty one of their kind. */
export function takeScalar(s: Scan): unknown {
  const b = s.bytes
  const at = s.at
  const c = b[at]
  if (c === 34) {
    const end = closingQuote(s, at + 1)
    s.at = end + 1
    return s.escaped ? JSON.parse(b.utf8Slice(at, end + 1)) : b.utf8Slice(at + 1, end)
  }
  if (c === 123 || c === 91) {
    skipValue(s)
    return c === 123 ? anObject : anArray
  }
  s.at = skipScalar(s, c, at)
  if (c === 110) return null
  if (c === 116 || c === 102) return c === 116
  return Number(b.latin1Slice(at, s.at))
}

/** Place of a text that was seen last: the same bytes again give the same text without reading them. */
export type Repeated = { start: number; end: number; text: string }

export const nothingRepeated = (): Repeated => ({ start: 0, end: 0, text: '' })

/** `takeScalar` for values that are often the same in a document. */
export function takeRepeated(s: Scan, last: Repeated): unknown {
  const b = s.bytes
  const at = s.at
  const length = last.end - last.start
  if (length > 0) {
    let k = 0
    while (k < length && b[at + k] === b[last.start + k]) k++
    if (k === length) {
      s.at = at + length
      return last.text
    }
  }
  const value = takeScalar(s)
  if (typeof value === 'string') {
    last.start = at
    last.end = s.at
    last.text = value
  }
  return value
}

/** A value inside a document's bytes. */
export type Slice = {
  bytes: Buffer
  start: number
  end: number
  /** Bits of `found`. */
  found: number
  refs: string[]
}

/** The value at `s.at` as it stands, moving behind it. */
export function takeSlice(s: Scan, interest: number): Slice {
  const start = s.at
  skipValue(s, interest)
  return { bytes: s.bytes, start, end: s.at, found: s.found, refs: s.refs }
}

/** A value of the same type as a slice, for checks of types: an empty container or text, a zero. */
export function typeOf(slice: Slice): unknown {
  const c = slice.bytes[slice.start]
  if (c === 123) return anObject
  if (c === 91) return anArray
  if (c === 34) return ''
  if (c === 110) return null
  return c === 116 || c === 102 ? c === 116 : 0
}

/** Members that are looked for (none with an empty name), with their place in a table by length and first and last letter. */
export type Names = { texts: readonly string[]; bytes: readonly Uint8Array[]; table: Int8Array }

const slotOf = (length: number, first: number, last: number): number => (length * 5 + first * 3 + last) & 255

export function namesOf(...texts: string[]): Names {
  const bytes = texts.map((text) => Buffer.from(text))
  const table = new Int8Array(256).fill(-1)
  bytes.forEach((name, n) => {
    let slot = slotOf(name.length, name[0] as number, name.at(-1) as number)
    while (table[slot] !== -1) slot = (slot + 1) & 255
    table[slot] = n
  })
  return { texts, bytes, table }
}

function indexOfName(s: Scan, start: number, end: number, names: Names): number {
  const b = s.bytes
  if (s.escaped) return names.texts.indexOf(textBetween(s, start, end))
  if (start === end) return -1
  for (let slot = slotOf(end - start, b[start] as number, b[end - 1] as number); ; slot = (slot + 1) & 255) {
    const n = names.table[slot] as number
    if (n === -1) return -1
    const name = names.bytes[n] as Uint8Array
    if (name.length === end - start && startsWith(b, start, name)) return n
  }
}

/** Steps into the container at `s.at`: 123 for an object, 91 for an array. False when something else is there. */
export function enter(s: Scan, opening: 123 | 91): boolean {
  if (s.bytes[s.at] !== opening) return false
  if (++s.depth > s.maxDepth) throw tooLarge()
  s.at++
  s.fresh = true
  return true
}

/** Moves to the next member or item; false at the end of the container, which is left. */
function next(s: Scan, closing: number): boolean {
  const b = s.bytes
  let i = skipSpace(s, s.at)
  if (b[i] === closing) {
    s.depth--
    s.at = i + 1
    s.fresh = false
    return false
  }
  if (!s.fresh) {
    if (b[i] !== 44) throw new Unreadable(i)
    i = skipSpace(s, i + 1)
  }
  s.fresh = false
  s.at = i
  return true
}

/** Moves to the next item of the array that was entered; false when there is none, and the array is left. */
export const nextItem = (s: Scan): boolean => next(s, 93)

/**
 * Moves to the value of the next member whose name is among `names` and returns the name's index; -1 when there is
 * none, and the object is left. Other members are passed over. The caller moves behind the value.
 */
export function nextMember(s: Scan, names: Names): number {
  const b = s.bytes
  while (next(s, 125)) {
    const start = s.at + 1
    if (b[s.at] !== 34) throw new Unreadable(s.at)
    const end = closingQuote(s, start)
    const name = indexOfName(s, start, end, names)
    const colon = b[end + 1] === 58 ? end + 1 : skipSpace(s, end + 1)
    if (b[colon] !== 58) throw new Unreadable(colon)
    s.at = skipSpace(s, colon + 1)
    if (name !== -1) return name
    skipValue(s)
  }
  return -1
}
