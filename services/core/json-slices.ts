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
export type Name = { text: string; bytes: Uint8Array }

export const nameOf = (text: string): Name => ({ text, bytes: Buffer.from(text) })

export type Scan = {
  bytes: Buffer
  /** Where the document begins, after a byte order mark. */
  at: number
  depth: number
  maxDepth: number
  marks: number
  refs: string[]
}

/** Strings that are longer than this in bytes may be content. */
const longBytes = 8192

/** Prepares the scan of a body: bytes that are no UTF-8 are replaced as decoding them for JSON.parse did. */
export function startScan(body: Buffer, maxDepth: number): Scan {
  const bytes = isUtf8(body) ? body : Buffer.from(body.toString('utf8'))
  const at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  return { bytes, at: skipSpace(bytes, at), depth: 0, maxDepth, marks: 0, refs: [] }
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

/** Bits that say which credential names may end in a letter and the letter before it; `_` and `-` may stand anywhere. */
const lastLetter = new Uint8Array(256)
const letterBefore = new Uint8Array(256)
for (const [bit, pair] of ['ey', 'en', 'et', 'rs', 'on', 'id', 'ls'].entries())
  for (const form of [pair, pair.toUpperCase()]) {
    letterBefore[form.charCodeAt(0)] = (letterBefore[form.charCodeAt(0)] as number) | (1 << bit)
    lastLetter[form.charCodeAt(1)] = (lastLetter[form.charCodeAt(1)] as number) | (1 << bit)
  }
// Non-ASCII letters may become ASCII ones in lower case (the Kelvin sign), so they are looked at as well.
for (const table of [lastLetter, letterBefore])
  for (let c = 0; c < 256; c++) if (c === 45 || c === 95 || c >= 128) table[c] = 0x7f

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

/** True for numbers whose size is at least 2^63: the engine reads integers of 64 bits and finite doubles. */
const isOddNumber = (token: string): boolean => !(Math.abs(Number(token)) < 2 ** 63)

/**
 * Walks one value from its first byte; returns the position after it. Findings go to `s.marks` and `s.refs`.
 * `interest` = bits of `search`; 0 = only find the end.
 */
function walk(s: Scan, from: number, interest: number): number {
  const b = s.bytes
  const maxDepth = s.maxDepth - s.depth
  let marks = 0
  let depth = 0
  let i = from
  do {
    const c = b[i] as number
    if (c === 34) {
      const start = ++i
      let escaped = false
      for (;;) {
        const d = b[i]
        if (d === 34) break
        if (d === 92) {
          escaped = true
          const length = escapeLength(b, i)
          if (length < 0) marks |= mark.surrogate
          i += length < 0 ? -length : length
        } else if (d === undefined) throw bodyChanged()
        else i++
      }
      const end = i++
      if (interest === 0) continue
      if (depth > 0) {
        let next = b[i] as number
        if (next <= 32) {
          const after = skipSpace(b, i)
          next = b[after] as number
        }
        if (next === 58) {
          if (interest & search.credentials && end - start > 5) {
            const fits = (lastLetter[b[end - 1] as number] as number) & (letterBefore[b[end - 2] as number] as number)
            if ((fits || escaped) && isSensitiveKey(decode(b, start, end, escaped))) {
              const value = skipSpace(b, skipSpace(b, i) + 1)
              if (b[value] === 34 && b[value + 1] !== 34) marks |= mark.credential
            }
          }
          continue
        }
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

function noteRef(s: Scan, start: number, end: number, escaped: boolean): void {
  const b = s.bytes
  // 'weave:///' and 'wandb-artifact:///': the second letter decides soon enough
  if (!escaped && b[start + 1] !== 101 && b[start + 1] !== 97) return
  const text = decode(b, start, end, escaped)
  if (isRef(text) && !s.refs.includes(text)) s.refs.push(text)
}

/** The value that begins at `at`, searched for the kinds of `interest`; `s.at` is moved behind it. */
export function takeSlice(s: Scan, at: number, interest: number): Slice {
  s.refs = []
  const end = walk(s, at, interest)
  s.at = end
  return { bytes: s.bytes, start: at, end, marks: s.marks, refs: s.refs }
}

function matches(b: Buffer, start: number, end: number, name: Uint8Array): boolean {
  if (end - start !== name.length) return false
  for (let k = 0; k < name.length; k++) if (b[start + k] !== name[k]) return false
  return true
}

function indexOfName(s: Scan, start: number, end: number, escaped: boolean, names: readonly Name[]): number {
  if (escaped) {
    const text = decode(s.bytes, start, end, true)
    return names.findIndex((name) => name.text === text)
  }
  for (let n = 0; n < names.length; n++) if (matches(s.bytes, start, end, (names[n] as Name).bytes)) return n
  return -1
}

/**
 * Goes through the members of the object at `s.at` and calls `visit` with the index in `names` and the position of the
 * value; `visit` moves `s.at` behind the value. Other members are passed over, and so is a value that is no object.
 */
export function eachMember(s: Scan, names: readonly Name[], visit: (name: number, at: number) => void): void {
  const b = s.bytes
  if (b[s.at] !== 123) {
    s.at = walk(s, s.at, 0)
    return
  }
  if (++s.depth > s.maxDepth) throw tooLarge()
  let i = skipSpace(b, s.at + 1)
  while (b[i] === 34) {
    const start = i + 1
    let end = start
    let escaped = false
    for (; b[end] !== 34; end++) {
      if (b[end] === 92) {
        escaped = true
        end++
      } else if (b[end] === undefined) throw bodyChanged()
    }
    const at = skipSpace(b, skipSpace(b, end + 1) + 1)
    const name = indexOfName(s, start, end, escaped, names)
    s.at = at
    if (name === -1) s.at = walk(s, at, 0)
    else visit(name, at)
    i = skipSpace(b, s.at)
    if (b[i] === 44) i = skipSpace(b, i + 1)
  }
  if (b[i] !== 125) throw bodyChanged()
  s.depth--
  s.at = i + 1
}

/** Goes through the items of the array at `s.at`; `visit` moves `s.at` behind the item. A value that is no array is passed over. */
export function eachItem(s: Scan, visit: (index: number, at: number) => void): void {
  const b = s.bytes
  if (b[s.at] !== 91) {
    s.at = walk(s, s.at, 0)
    return
  }
  if (++s.depth > s.maxDepth) throw tooLarge()
  let i = skipSpace(b, s.at + 1)
  for (let index = 0; b[i] !== 93; index++) {
    if (b[i] === undefined) throw bodyChanged()
    s.at = i
    visit(index, i)
    i = skipSpace(b, s.at)
    if (b[i] === 44) i = skipSpace(b, i + 1)
  }
  s.depth--
  s.at = i + 1
}
