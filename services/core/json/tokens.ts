// Tokens of JSON in bytes: white space, strings, numbers and words, as strict as JSON.parse.
import { isUtf8 } from 'node:buffer'

/** Thrown for a document that JSON.parse refuses too, or that has another shape than the reader asks for. */
export class Unreadable extends Error {
  /** Index of the byte at which it stops being what is expected. */
  readonly at: number

  constructor(at: number) {
    super('not JSON of the expected shape')
    this.at = at
  }
}

/** Findings about a value. */
export const found = {
  /** A line break between tokens. */
  lines: 1,
  /** A non-empty string under a key that names a credential. */
  credential: 2,
  /** A long string that may be base64 or a data URI. */
  content: 4,
  /** An escape of half a surrogate pair. */
  half: 8,
  /** A number of at least 2^63, which JSON functions of 64-bit integers and doubles may refuse. */
  wide: 16,
} as const

/** The functions behind `toString`, without its checks. */
type Bytes = Buffer & { latin1Slice(start: number, end: number): string; utf8Slice(start: number, end: number): string }

export type Scan = {
  readonly bytes: Bytes
  /** The same bytes, to be looked at four at a time. */
  readonly view: DataView
  readonly maxDepth: number
  /** 1 for every open object of the value that is being walked, by depth. */
  readonly open: Uint8Array
  /** Position of the next token. */
  at: number
  /** Containers that were entered. */
  depth: number
  /** True right after a container was entered: no comma comes before its first member. */
  fresh: boolean
  /** Findings in the value that was passed over last: bits of `found`, and its distinct refs in order. */
  found: number
  refs: string[]
  /** The same refs, once they are many. */
  known: { refs: readonly string[]; texts: Set<string> } | null
  /** The string that was passed over last has escapes. */
  escaped: boolean
}

export const noRefs: string[] = []

/** Prepares the scan of a document, with or without byte order mark. Throws `Unreadable` when it is not UTF-8. */
export function startScan(body: Buffer, maxDepth: number): Scan {
  if (!isUtf8(body)) throw new Unreadable(0)
  const bytes = body as Bytes
  const at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const open = new Uint8Array(maxDepth + 1)
  const scan: Scan = {
    bytes,
    view,
    maxDepth,
    open,
    at,
    depth: 0,
    fresh: false,
    found: 0,
    refs: noRefs,
    known: null,
    escaped: false,
  }
  scan.at = skipSpace(scan, at)
  return scan
}

/** The next position that is no white space; line breaks are noted. */
export function skipSpace(s: Scan, from: number): number {
  const b = s.bytes
  let i = from
  for (let c = b[i] as number; c <= 32; c = b[++i] as number) {
    if (c === 10 || c === 13) s.found |= found.lines
    else if (c !== 32 && c !== 9) throw new Unreadable(i)
  }
  return i
}

/**
 * Bit 8n+7 is set when byte n of a word is a quote, a backslash or a control character (zero-byte and less-than tests of
 * "Hacker's Delight", section 6-1); the lowest set bit belongs to a byte that really matches.
 */
function specialMask(word: number): number {
  const quotes = word ^ 0x22222222
  const slashes = word ^ 0x5c5c5c5c
  return (
    (((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes) | ((word - 0x20202020) & ~word)) &
    0x80808080
  )
}

/** The byte of a mask's lowest set bit. */
const firstOf = (mask: number): number => (31 - Math.clz32(mask & -mask)) >> 3

/** The next quote, backslash or control character. Most of the time is spent here: two words per round. */
function nextSpecial(b: Buffer, view: DataView, from: number): number {
  const last = b.length - 8
  let i = from
  while (i <= last) {
    const low = specialMask(view.getInt32(i, true))
    if (low !== 0) return i + firstOf(low)
    const high = specialMask(view.getInt32(i + 4, true))
    if (high !== 0) return i + 4 + firstOf(high)
    i += 8
  }
  for (; i < b.length; i++) {
    const c = b[i] as number
    if (c === 34 || c === 92 || c < 32) return i
  }
  throw new Unreadable(i)
}

const hexDigit = new Uint8Array(256)
for (const c of '0123456789abcdefABCDEF') hexDigit[c.charCodeAt(0)] = 1
const shortEscape = new Uint8Array(256)
for (const c of '"\\/bfnrt') shortEscape[c.charCodeAt(0)] = 1

/** The code unit of a \uXXXX escape at `i`, -1 when it is none. */
function codeUnit(b: Bytes, i: number): number {
  if (b[i] !== 92 || b[i + 1] !== 117) return -1
  for (let k = 2; k < 6; k++) if (hexDigit[b[i + k] as number] !== 1) return -1
  return Number.parseInt(b.latin1Slice(i + 2, i + 6), 16)
}

/** Position after the escape at `i`; half a surrogate pair is noted. */
function skipEscape(s: Scan, i: number): number {
  const b = s.bytes
  if (shortEscape[b[i + 1] as number] === 1) return i + 2
  const unit = codeUnit(b, i)
  if (unit === -1) throw new Unreadable(i)
  if (unit < 0xd800 || unit > 0xdfff) return i + 6
  if (unit < 0xdc00) {
    const low = codeUnit(b, i + 6)
    if (low >= 0xdc00 && low <= 0xdfff) return i + 12
  }
  s.found |= found.half
  return i + 6
}

/** Index of the quote that ends the string whose content begins at `from`. */
export function closingQuote(s: Scan, from: number): number {
  const b = s.bytes
  let i = nextSpecial(b, s.view, from)
  s.escaped = false
  while (b[i] !== 34) {
    if (b[i] !== 92) throw new Unreadable(i)
    s.escaped = true
    i = nextSpecial(b, s.view, skipEscape(s, i))
  }
  return i
}

const isDigit = (c: number | undefined): boolean => c !== undefined && c >= 48 && c <= 57

function skipDigits(b: Buffer, from: number): number {
  let i = from
  while (isDigit(b[i])) i++
  return i
}

/** Position after the number at `from`: before a fraction or an exponent without digits, which nothing can follow. */
function skipNumber(s: Scan, from: number): number {
  const b = s.bytes
  const first = b[from] === 45 ? from + 1 : from
  let i = b[first] === 48 ? first + 1 : skipDigits(b, first)
  if (i === first) throw new Unreadable(from)
  const whole = i - from
  if (b[i] === 46 && isDigit(b[i + 1])) i = skipDigits(b, i + 1)
  let exponent = false
  if (b[i] === 101 || b[i] === 69) {
    const digits = b[i + 1] === 43 || b[i + 1] === 45 ? i + 2 : i + 1
    exponent = isDigit(b[digits])
    if (exponent) i = skipDigits(b, digits)
  }
  if ((exponent || whole > 18) && !(Math.abs(Number(b.latin1Slice(from, i))) < 2 ** 63)) s.found |= found.wide
  return i
}

const words = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')]

function skipWord(b: Buffer, from: number): number {
  for (const word of words) if (startsWith(b, from, word)) return from + word.length
  throw new Unreadable(from)
}

export function startsWith(b: Buffer, from: number, text: Uint8Array): boolean {
  for (let k = 0; k < text.length; k++) if (b[from + k] !== text[k]) return false
  return true
}

export const skipScalar = (s: Scan, c: number | undefined, at: number): number =>
  c === 45 || isDigit(c) ? skipNumber(s, at) : skipWord(s.bytes, at)
