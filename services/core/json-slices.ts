// Finds payloads in the bytes of a request that JSON.parse has accepted, and notes what in them needs a closer look.
import { isUtf8 } from 'node:buffer'
import { tooLarge } from './http/errors.ts'
import { isSensitiveKey } from './redact.ts'
import { isRef } from './refs.ts'

/** What a payload is searched for. */
export const search = { refs: 1, credentials: 2, content: 4 } as const

/** What was found in a payload; 0 = its bytes can be stored as they are. */
export const mark = {
  /** A raw line break between tokens. */
  lines: 1,
  /** A non-empty string under a key that names a credential. */
  credential: 2,
  /** A long string that may be base64 or a data URI. */
  content: 4,
  /** An escape of half a surrogate pair. */
  surrogate: 8,
  /** A number that the engine's JSON functions cannot read. */
  odd: 16,
} as const

/** Marks that make it necessary to write the payload anew. */
export const rewriteMarks = mark.lines | mark.credential | mark.content | mark.surrogate

/** A payload inside the bytes of a request: one JSON value. */
export type Slice = {
  bytes: Buffer
  start: number
  end: number
  marks: number
  /** Distinct refs among its strings, in order; empty unless searched for. */
  refs: string[]
}

/** A member that is looked for, by its name in the document. */
export type Name = { text: string; bytes: Uint8Array; first: number }

export const nameOf = (text: string): Name => ({ text, bytes: Buffer.from(text), first: text.charCodeAt(0) })

export type Scan = {
  bytes: Buffer
  /** The same bytes, to be looked at four at a time. */
  view: DataView
  /** Where the document begins, after a byte order mark. */
  at: number
  depth: number
  maxDepth: number
  /** Findings of the value walked last. */
  marks: number
  refs: string[]
  /** The string passed over last has escapes. */
  escaped: boolean
}

/** Strings that are longer than this in bytes may be content. */
const longBytes = 8192

/** Prepares the scan of a body: bytes that are no UTF-8 are replaced as decoding them for JSON.parse did. */
export function startScan(body: Buffer, maxDepth: number): Scan {
  const bytes = isUtf8(body) ? body : Buffer.from(body.toString('utf8'))
  const at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return { bytes, view, at: skipSpace(bytes, at), depth: 0, maxDepth, marks: 0, refs: noRefs, escaped: false }
}

function skipSpace(bytes: Buffer, from: number): number {
  let i = from
  while ((bytes[i] as number) <= 32) i++
  return i
}

const bodyChanged = () => new Error('the body is not the JSON text that was parsed')

const isHighHalf = (c: number): boolean => c === 56 || c === 57 || c === 65 || c === 66 || c === 97 || c === 98
const isLowHalf = (c: number): boolean => (c >= 67 && c <= 70) || (c >= 99 && c <= 102)

/** Length of the escape at `i` (a whole surrogate pair counts as one); negative for half a pair. */
function escapeLength(b: Buffer, i: number): number {
  if (b[i + 1] !== 117) return 2
  if (((b[i + 2] as number) | 32) !== 100) return 6
  const half = b[i + 3] as number
  if (isLowHalf(half)) return -6
  if (!isHighHalf(half)) return 6
  const paired = b[i + 6] === 92 && b[i + 7] === 117 && ((b[i + 8] as number) | 32) === 100
  return paired && isLowHalf(b[i + 9] as number) ? 12 : -6
}

/** How the last four letters of a credential's key may look: one of the first group, then the second. */
const keyEndings = ['iestk key', 'o ken', 'c ret', 'd ers', 't ion', 'e yid', 'i als']
/** For the last letter, the one before it and so on: bits of the endings that a byte fits. */
const endingBits = [3, 2, 1, 0].map((place) => {
  const bits = new Uint8Array(256)
  keyEndings.forEach((ending, bit) => {
    const [first = '', rest = ''] = ending.split(' ')
    for (const letter of place === 0 ? first : (rest[place - 1] as string))
      for (const form of [letter, letter.toUpperCase()])
        bits[form.charCodeAt(0)] = (bits[form.charCodeAt(0)] as number) | (1 << bit)
  })
  return bits
})

/** False when the last letters of a key rule out that it names a credential; `_` and `-` do not count. */
function mayBeCredential(b: Buffer, start: number, end: number): boolean {
  let bits = 0x7f
  let i = end - 1
  for (let letter = 0; letter < 4; letter++) {
    while (b[i] === 45 || b[i] === 95) i--
    if (i < start) return false
    const c = b[i--] as number
    // Lower-casing turns some other letters into ASCII (the Kelvin sign).
    if (c >= 128) return true
    bits &= (endingBits[letter] as Uint8Array)[c] as number
    if (bits === 0) return false
  }
  return true
}

/** The text between two quotes. */
function decode(b: Buffer, start: number, end: number, escaped: boolean): string {
  const text = b.toString('utf8', start, end)
  return escaped ? JSON.parse(`"${text}"`) : text
}

const base64Byte = new Uint8Array(256)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\\') base64Byte[c.charCodeAt(0)] = 1

/** True unless the first bytes of a long string rule out base64 and data URIs. */
function mayBeContent(b: Buffer, start: number): boolean {
  const first = (b[start] as number) | 32
  if ((first === 100 && ((b[start + 1] as number) | 32) === 97) || first === 124) return true
  for (let i = start; i < start + 64; i++) if (base64Byte[b[i] as number] !== 1) return false
  return true
}

/**
 * Bit 8n+7 is set when byte n of a word is a quote or a backslash (zero-byte test of "Hacker's Delight", section 6-1);
 * the lowest set bit belongs to a byte that really matches.
 */
function quoteOrSlashMask(word: number): number {
  const quotes = word ^ 0x22222222
  const slashes = word ^ 0x5c5c5c5c
  return (((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes)) & 0x80808080
}

/** The byte of a mask's lowest set bit. */
const firstOf = (mask: number): number => (31 - Math.clz32(mask & -mask)) >> 3

/** The next quote or backslash at or after `from`. Most of the scan's time is spent here: two words per round. */
function quoteOrSlash(b: Buffer, view: DataView, from: number): number {
  const last = b.length - 8
  let i = from
  while (i <= last) {
    const low = quoteOrSlashMask(view.getInt32(i, true))
    if (low !== 0) return i + firstOf(low)
    const high = quoteOrSlashMask(view.getInt32(i + 4, true))
    if (high !== 0) return i + 4 + firstOf(high)
    i += 8
  }
  while (b[i] !== 34 && b[i] !== 92) if (++i >= b.length) throw bodyChanged()
  return i
}

/** Index of the quote that ends the string whose content begins at `from`; notes whether it has escapes. */
function closingQuote(s: Scan, from: number): number {
  let i = quoteOrSlash(s.bytes, s.view, from)
  s.escaped = s.bytes[i] === 92
  while (s.bytes[i] === 92) i = quoteOrSlash(s.bytes, s.view, i + 2)
  return i
}

/** True for numbers whose size is at least 2^63: the engine reads integers of 64 bits and finite doubles. */
const isOddNumber = (token: string): boolean => !(Math.abs(Number(token)) < 2 ** 63)

/**
 * Walks one value from its first byte; returns the position after it. Findings go to `s.marks` and `s.refs`.
 * `interest` = bits of `search`; 0 = only find the end.
 */
function walk(s: Scan, from: number, interest: number): number {
  const b = s.bytes
  const view = s.view
  const maxDepth = s.maxDepth - s.depth
  let marks = 0
  let depth = 0
  let i = from
  do {
    const c = b[i] as number
    if (c === 34) {
      const start = ++i
      let escaped = false
      i = quoteOrSlash(b, view, i)
      while (b[i] === 92) {
        escaped = true
        const length = escapeLength(b, i)
        if (length < 0) marks |= mark.surrogate
        i = quoteOrSlash(b, view, i + Math.abs(length))
      }
      const end = i++
      if (interest === 0) continue
      const colon = (b[i] as number) <= 32 ? skipSpace(b, i) : i
      if (b[colon] === 58) {
        if (interest & search.credentials && end - start > 5) {
          if ((escaped || mayBeCredential(b, start, end)) && isSensitiveKey(decode(b, start, end, escaped))) {
            const value = skipSpace(b, colon + 1)
            if (b[value] === 34 && b[value + 1] !== 34) marks |= mark.credential
          }
        }
        if (colon === i) i++
        continue
      }
      if (interest & search.refs) {
        const first = b[start]
        if ((first === 119 || first === 92) && end - start > 12) noteRef(s, start, end, escaped)
      }
      if (interest & search.content && end - start > longBytes && mayBeContent(b, start)) marks |= mark.content
    } else if (c === 44 || c === 58 || c === 32) i++
    else if (c === 123 || c === 91) {
      if (++depth > maxDepth) throw tooLarge()
      i++
    } else if (c === 125 || c === 93) {
      depth--
      i++
    } else if (c < 32) {
      if (c === 10 || c === 13) marks |= mark.lines
      i++
    } else if (c === undefined) throw bodyChanged()
    else {
      const start = i
      let exponent = false
      for (;;) {
        const d = b[++i] as number
        if (d === 101 || d === 69) exponent = true
        else if (!(d >= 43 && d !== 44 && d !== 58 && d !== 93 && d !== 125)) break
      }
      const numeric = c === 45 || (c >= 48 && c <= 57)
      if (numeric && (exponent || i - start > 18) && isOddNumber(b.toString('latin1', start, i))) marks |= mark.odd
    }
  } while (depth > 0)
  s.marks = marks
  return i
}

const noRefs: string[] = []

function noteRef(s: Scan, start: number, end: number, escaped: boolean): void {
  const b = s.bytes
  // 'weave:///' and 'wandb-artifact:///': the second letter decides soon enough
  if (!escaped && b[start + 1] !== 101 && b[start + 1] !== 97) return
  const text = decode(b, start, end, escaped)
  if (!isRef(text) || s.refs.includes(text)) return
  if (s.refs === noRefs) s.refs = [text]
  else s.refs.push(text)
}

/** The value at `s.at`, searched for the kinds of `interest`; moves behind it. */
export function takeSlice(s: Scan, interest: number): Slice {
  s.refs = noRefs
  const start = s.at
  s.at = walk(s, start, interest)
  return { bytes: s.bytes, start, end: s.at, marks: s.marks, refs: s.refs }
}

function matches(b: Buffer, start: number, name: Uint8Array): boolean {
  for (let k = 1; k < name.length; k++) if (b[start + k] !== name[k]) return false
  return true
}

/** Index of the name between two quotes, -1 when it is none of them. */
function indexOfName(s: Scan, start: number, end: number, names: readonly Name[]): number {
  if (s.escaped) {
    const text = decode(s.bytes, start, end, true)
    return names.findIndex((name) => name.text === text)
  }
  const length = end - start
  const first = s.bytes[start]
  for (let n = 0; n < names.length; n++) {
    const name = names[n] as Name
    if (name.first === first && name.bytes.length === length && matches(s.bytes, start, name.bytes)) return n
  }
  return -1
}

/** Steps into the object at `s.at`; false when there is none, and the value is passed over. */
export const enterObject = (s: Scan): boolean => enter(s, 123)

/** Steps into the array at `s.at`; false when there is none, and the value is passed over. */
export const enterArray = (s: Scan): boolean => enter(s, 91)

function enter(s: Scan, opening: number): boolean {
  if (s.bytes[s.at] !== opening) {
    s.at = walk(s, s.at, 0)
    return false
  }
  if (++s.depth > s.maxDepth) throw tooLarge()
  s.at++
  return true
}

/** Position of the next member or item, -1 at the end of the container, which is left. */
function next(s: Scan, closing: number): number {
  const b = s.bytes
  let i = s.at
  while ((b[i] as number) <= 32 || b[i] === 44) i++
  if (b[i] !== closing) return i
  s.depth--
  s.at = i + 1
  return -1
}

/** Moves to the next item of an array; false when there is none, and the array is left. */
export function nextItem(s: Scan): boolean {
  const i = next(s, 93)
  if (i === -1) return false
  if (s.bytes[i] === undefined) throw bodyChanged()
  s.at = i
  return true
}

/**
 * Moves to the value of the next member whose name is among `names` and returns the name's index; -1 when there is
 * none, and the object is left. Other members are passed over. The caller moves behind the value.
 */
export function nextMember(s: Scan, names: readonly Name[]): number {
  const b = s.bytes
  for (;;) {
    const i = next(s, 125)
    if (i === -1) return -1
    if (b[i] !== 34) throw bodyChanged()
    const end = closingQuote(s, i + 1)
    const colon = b[end + 1] === 58 ? end + 1 : skipSpace(b, end + 1)
    s.at = skipSpace(b, colon + 1)
    const name = indexOfName(s, i + 1, end, names)
    if (name !== -1) return name
    s.at = b[s.at] === 34 ? closingQuote(s, s.at + 1) + 1 : walk(s, s.at, 0)
  }
}
