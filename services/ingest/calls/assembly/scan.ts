// Passes over JSON values in the linear memory, as strict as JSON.parse; what needs a closer look is noted.
import { credentials, entryBytes, lengthAt, maxPlainKey, maxRefs, maxStack, plainKey, refs, stack } from './layout.ts'

/** The kinds of findings that a value is searched for: the bits of `search` in content/json-scan.ts. */
export const searchRefs: i32 = 1
export const searchCredentials: i32 = 2
export const searchContent: i32 = 4

/** Findings: the value has to be looked at elsewhere; the string has escapes; some that are not how rows write them. */
export const unusual: i32 = 1
const hasEscapes: i32 = 2
export const hasOtherEscapes: i32 = 4

/** Findings of the value or string that was passed over last. */
export let findings: i32 = 0
/** Refs that were noted so far, and those of the value before. */
export let refCount: i32 = 0
export let firstRef: i32 = 0
let maxDepth: i32 = 0
let credentialCount: i32 = 0
let inlineBytes: i32 = 0

export function begin(depth: i32, knownCredentials: i32, inlineTextBytes: i32): void {
  maxDepth = min(depth, maxStack)
  credentialCount = knownCredentials
  inlineBytes = inlineTextBytes
  refCount = 0
}

/** The next position that is no white space. */
export function passSpace(from: usize): usize {
  let p = from
  while (true) {
    const c = load<u8>(p)
    if (c > 32) return p
    if (c === 10 || c === 13) findings |= unusual
    else if (c !== 32 && c !== 9) return p
    p++
  }
}

function hex(c: i32): i32 {
  if (c >= 48 && c <= 57) return c - 48
  const letter = c | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

/** The code unit of four hexadecimal digits; negative when they are none. */
function unitAt(p: usize): i32 {
  const a = hex(load<u8>(p))
  if (a < 0) return -1
  const b = hex(load<u8>(p + 1))
  if (b < 0) return -1
  const c = hex(load<u8>(p + 2))
  if (c < 0) return -1
  const d = hex(load<u8>(p + 3))
  return d < 0 ? -1 : (a << 12) | (b << 8) | (c << 4) | d
}

/** Position behind the escape at `p`, 0 when it is none. Half a surrogate pair is unusual. */
function skipEscape(p: usize): usize {
  const c = load<u8>(p + 1)
  findings |= hasEscapes
  if (c !== 117) {
    if (c === 47) findings |= hasOtherEscapes
    else if (c !== 34 && c !== 92 && c !== 98 && c !== 102 && c !== 110 && c !== 114 && c !== 116) return 0
    return p + 2
  }
  findings |= hasOtherEscapes
  const unit = unitAt(p + 2)
  if (unit < 0) return 0
  if (unit < 0xd800 || unit > 0xdfff) return p + 6
  if (unit < 0xdc00 && load<u8>(p + 6) === 92 && load<u8>(p + 7) === 117) {
    const low = unitAt(p + 8)
    if (low >= 0xdc00 && low <= 0xdfff) return p + 12
  }
  findings |= unusual
  return p + 6
}

/** Position of the quote that ends the string whose content begins at `from`, 0 when there is none. */
function closingQuote(from: usize): usize {
  const quotes = i8x16.splat(34)
  const slashes = i8x16.splat(92)
  const spaces = i8x16.splat(32)
  let p = from
  while (true) {
    const v = v128.load(p)
    const special = v128.or(v128.or(i8x16.eq(v, quotes), i8x16.eq(v, slashes)), i8x16.lt_u(v, spaces))
    const mask = i8x16.bitmask(special)
    if (mask === 0) {
      p += 16
      continue
    }
    p += <usize>ctz(mask)
    const c = load<u8>(p)
    if (c === 34) return p
    if (c !== 92) return 0
    p = skipEscape(p)
    if (p === 0) return 0
  }
}

/** The same for the name of a member that is looked for: 0, too, when it has escapes. */
export function keyEnd(from: usize): usize {
  findings = 0
  const end = closingQuote(from)
  return findings === 0 ? end : 0
}

export function isDigit(c: u8): bool {
  return c >= 48 && c <= 57
}

/** Position behind the number at `from`, 0 when it is none. One that may be 2^63 or more is unusual. */
function skipNumber(from: usize): usize {
  let p = from
  if (load<u8>(p) === 45) p++
  if (load<u8>(p) === 48) p++
  else {
    if (!isDigit(load<u8>(p))) return 0
    while (isDigit(load<u8>(p))) p++
  }
  const whole = <i32>(p - from)
  if (whole > 18) findings |= unusual
  if (load<u8>(p) === 46) {
    p++
    if (!isDigit(load<u8>(p))) return 0
    while (isDigit(load<u8>(p))) p++
  }
  if ((load<u8>(p) | 32) !== 101) return p
  p++
  const sign = load<u8>(p)
  if (sign === 43 || sign === 45) p++
  if (!isDigit(load<u8>(p))) return 0
  let exponent = 0
  while (isDigit(load<u8>(p))) {
    exponent = min(exponent * 10 + <i32>load<u8>(p) - 48, 1000)
    p++
  }
  if (sign !== 45 && whole + exponent > 18) findings |= unusual
  return p
}

/** Position behind the number or word at `p`, 0 when it is none. */
function skipScalar(p: usize): usize {
  const c = load<u8>(p)
  if (c === 45 || isDigit(c)) return skipNumber(p)
  const word = load<u32>(p)
  if (word === 0x65757274 || word === 0x6c6c756e) return p + 4 // true, null
  return word === 0x736c6166 && load<u8>(p + 4) === 101 ? p + 5 : 0 // false
}

export function isSame(a: usize, b: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i++) if (load<u8>(a + i) !== load<u8>(b + i)) return false
  return true
}

/**
 * Writes a key without hyphens and underscores in small letters to `plainKey`. Its length, -1 when it is too long or has a
 * letter that becomes an ASCII one.
 */
function writePlainKey(start: usize, end: usize): i32 {
  let length = 0
  for (let p = start; p < end; p++) {
    let letter = load<u8>(p)
    if (letter === 45 || letter === 95) continue
    if (length === maxPlainKey) return -1
    if (letter === 0xe2 && load<u8>(p + 1) === 0x84 && load<u8>(p + 2) === 0xaa) return -1
    if (letter >= 65 && letter <= 90) letter |= 32
    store<u8>(plainKey + length++, letter)
  }
  return length
}

/** Whether a key without escapes names a credential: see content/redact.ts, whose lists the loader brings. */
function isCredential(start: usize, end: usize): bool {
  let last = end
  while (last > start && (load<u8>(last - 1) === 45 || load<u8>(last - 1) === 95)) last--
  if (last - start < 6) return false
  const c = load<u8>(last - 1) | 32
  // The last letters of all of them; 0xaa ends the Kelvin sign, which is a `k` in lower case.
  if (c !== 121 && c !== 110 && c !== 116 && c !== 115 && c !== 100) return false
  const length = writePlainKey(start, last)
  if (length < 0) return true
  for (let n = 0; n < credentialCount; n++) {
    const entry = credentials + n * entryBytes
    const size = <i32>load<u8>(entry + lengthAt)
    if (size > length || (size < length && load<u8>(entry + lengthAt + 1) === 0)) continue
    if (isSame(entry, plainKey + (length - size), size)) return true
  }
  return false
}

/** Notes a key that names a credential when its value is a string that is not empty. */
function noteKey(start: usize, end: usize, before: i32): void {
  // A key with escapes is read elsewhere.
  const isEscaped = (findings & hasEscapes) !== 0
  findings |= before
  if (isEscaped) findings |= unusual
  else if (isCredential(start, end)) {
    let p = end + 1
    while (load<u8>(p) !== 58) p++
    const value = passSpace(p + 1)
    if (load<u8>(value) === 34 && load<u8>(value + 1) !== 34) findings |= unusual
  }
}

/** Whether eight characters stand at `p`: 1 when they do, 0 when not, -1 when an escape may hide them. */
function startsAs(p: usize, text: u64): i32 {
  if (load<u64>(p) === text) return 1
  for (let i = 0; i < 8; i++) {
    const c = load<u8>(p + i)
    if (c === 92) return -1
    if (c !== <u8>(text >> (i * 8))) return 0
  }
  return 1
}

const weaveScheme: u64 = ((0x2f2f3a65 as u64) << 32) | 0x76616577 // weave://
const artifactScheme: u64 = ((0x72612d62 as u64) << 32) | 0x646e6177 // wandb-ar

/** A text without escapes that begins like a ref. */
export function hasScheme(p: usize): bool {
  return load<u64>(p) === weaveScheme && load<u8>(p + 8) === 47
}

/** Position behind the characters other than the two, of which there is at least one; 0 when there is none. */
function skipPart(from: usize, end: usize, until: u8, not: u8): usize {
  let p = from
  while (p < end && load<u8>(p) !== until && load<u8>(p) !== not) p++
  return p === from ? 0 : p
}

/** A ref of an object (or an op only) with entity, project, name and version and nothing behind them. */
export function isPlainRef(start: usize, end: usize, onlyOp: bool): bool {
  if (!hasScheme(start)) return false
  let p = skipPart(start + 9, end, 47, 47)
  if (p === 0 || p >= end) return false
  p = skipPart(p + 1, end, 47, 47)
  if (p === 0 || p >= end) return false
  p++
  if (p + 3 <= end && load<u8>(p) === 111 && load<u8>(p + 1) === 112 && load<u8>(p + 2) === 47) p += 3
  else if (
    !onlyOp &&
    p + 7 <= end &&
    load<u32>(p) === 0x656a626f &&
    load<u16>(p + 4) === 0x7463 &&
    load<u8>(p + 6) === 47
  )
    p += 7
  else return false
  p = skipPart(p, end, 58, 47)
  if (p === 0 || p >= end || load<u8>(p) !== 58) return false
  return skipPart(p + 1, end, 58, 47) === end
}

function noteRef(start: usize, end: usize): void {
  for (let n = firstRef; n < refCount; n++) {
    const at = <usize>load<u32>(refs + n * 8)
    const size = <usize>load<u32>(refs + n * 8 + 4) - at
    if (size === end - start && isSame(at, start, size)) return
  }
  if (refCount === maxRefs || refCount - firstRef === 64) {
    findings |= unusual
    return
  }
  store<u32>(refs + refCount * 8, <u32>start)
  store<u32>(refs + refCount * 8 + 4, <u32>end)
  refCount++
}

/** Notes a ref in the usual spelling; one that may be a ref in another spelling is unusual. */
function noteText(start: usize, end: usize, isEscaped: bool): void {
  const c = load<u8>(start)
  if (end - start <= 12) return
  if (c === 119) {
    if (startsAs(start, artifactScheme) !== 0) findings |= unusual
    const scheme = startsAs(start, weaveScheme)
    if (scheme === 0) return
    if (scheme === 1 && !isEscaped && isPlainRef(start, end, false)) noteRef(start, end)
    else findings |= unusual
  } else if (c === 92 && load<u8>(start + 1) === 117 && unitAt(start + 2) === 119) findings |= unusual
}

function isBase64(c: u8): bool {
  const letter = c | 32
  return (letter >= 97 && letter <= 122) || isDigit(c) || c === 43 || c === 47 || c === 61 || c === 92
}

/** Whether a long string may be content, as in content/content-port.ts. */
function mayBeContent(start: usize): bool {
  if ((load<u8>(start) | 32) === 100 && (load<u8>(start + 1) | 32) === 97) return true
  if (load<u8>(start) === 92) return true
  for (let i: usize = 0; i < 64; i++) if (!isBase64(load<u8>(start + i))) return false
  return true
}

/** Position behind the string at `p`, 0 when it is none. */
function skipText(p: usize, interest: i32): usize {
  const before = findings
  findings = 0
  const end = closingQuote(p + 1)
  if (end === 0) return 0
  const isEscaped = (findings & hasEscapes) !== 0
  findings |= before
  if (interest & searchRefs) noteText(p + 1, end, isEscaped)
  if (interest & searchContent && <i32>(end - p) - 1 > inlineBytes && mayBeContent(p + 1)) findings |= unusual
  return end + 1
}

/** Position of the value behind the key at `p`, 0 when there is none. */
function skipKey(p: usize, interest: i32): usize {
  if (load<u8>(p) !== 34) return 0
  const before = findings
  findings = 0
  const end = closingQuote(p + 1)
  if (end === 0) return 0
  const keyFound = findings
  findings |= before
  let colon = end + 1
  if (load<u8>(colon) !== 58) {
    colon = passSpace(colon)
    if (load<u8>(colon) !== 58) return 0
  }
  if (interest & searchCredentials) {
    const all = findings
    findings = keyFound
    noteKey(p + 1, end, all)
  }
  return colon + 1
}

/**
 * Position behind the value at `from`, 0 when it is none or too deep.
 * @param outer containers that are open around it
 * @param interest bits of what it is searched for
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop over tokens, like the one in content/json-scan.ts
export function passValue(from: usize, outer: i32, interest: i32): usize {
  const limit = maxDepth - outer
  let depth = 0
  let p = from
  findings = 0
  firstRef = refCount
  while (true) {
    if (load<u8>(p) <= 32) p = passSpace(p)
    const c = load<u8>(p)
    if (c === 34) {
      p = skipText(p, interest)
      if (p === 0) return 0
    } else if (c === 123 || c === 91) {
      if (++depth > limit) return 0
      store<u8>(stack + depth, c)
      p++
      if (load<u8>(p) <= 32) p = passSpace(p)
      if (load<u8>(p) !== c + 2) {
        if (c === 123) {
          p = skipKey(p, interest)
          if (p === 0) return 0
        }
        continue
      }
      depth--
      p++
    } else {
      p = skipScalar(p)
      if (p === 0) return 0
    }
    while (true) {
      if (depth === 0) return p
      if (load<u8>(p) <= 32) p = passSpace(p)
      const next = load<u8>(p++)
      const open = load<u8>(stack + depth)
      if (next === 44) {
        if (open === 123) {
          if (load<u8>(p) <= 32) p = passSpace(p)
          p = skipKey(p, interest)
          if (p === 0) return 0
        }
        break
      }
      if (next !== open + 2) return 0
      depth--
    }
  }
}
