// A JSON text as bytes, opened node by node: nothing of it becomes a value until it is shown, and nothing is respelled.

export type Kind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null'

/** Places of a container's members. Keys are -1 in arrays. */
export type Members = { count: number; keys: Int32Array; starts: Int32Array; ends: Int32Array }

const quote = 0x22
const backslash = 0x5c

const kinds: Record<number, Kind> = {
  123: 'object',
  91: 'array',
  34: 'string',
  116: 'true',
  102: 'false',
  110: 'null',
}

export const kindAt = (bytes: Uint8Array, at: number): Kind => kinds[bytes[at] ?? 0] ?? 'number'

const opens = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b
const closes = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d

export function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at
  while (next < bytes.length) {
    const byte = bytes[next]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
    next++
  }
  return next
}

/** Behind the closing quote of the string that begins at `at`. */
function skipString(bytes: Uint8Array, at: number): number {
  let end = bytes.indexOf(quote, at + 1)
  while (end !== -1) {
    let slashes = 0
    while (bytes[end - 1 - slashes] === backslash) slashes++
    if (slashes % 2 === 0) return end + 1
    end = bytes.indexOf(quote, end + 1)
  }
  return bytes.length
}

/** Behind a number, or true, false or null. */
function skipWord(bytes: Uint8Array, at: number): number {
  let end = at
  while (end < bytes.length) {
    const byte = bytes[end] as number
    if (byte === 0x2c || closes(byte) || byte <= 0x20) break
    end++
  }
  return end
}

/** Ends of long containers, by their beginnings: none of them is walked over twice. */
export type LongEnds = Map<number, number>

/** Shorter containers are walked over again, deeper ones as well. */
const longBytes = 16_384
const longLevels = 64
const begun = new Int32Array(longLevels)

/**
 * Behind the value that begins at `at`. Depth is counted, not recursed into.
 * @param long takes note of the long containers on the way
 */
export function skipValue(bytes: Uint8Array, at: number, long?: LongEnds): number {
  const first = bytes[at]
  if (first === quote) return skipString(bytes, at)
  if (!opens(first)) return skipWord(bytes, at)
  const known = long?.get(at)
  if (known !== undefined) return known
  let depth = 0
  for (let next = at; next < bytes.length; next++) {
    const byte = bytes[next]
    if (byte === quote) next = skipString(bytes, next) - 1
    else if (opens(byte)) {
      if (depth < longLevels) begun[depth] = next
      depth++
    } else if (closes(byte)) {
      depth--
      const start = begun[depth] as number
      if (long !== undefined && depth < longLevels && next - start >= longBytes) long.set(start, next + 1)
      if (depth === 0) return next + 1
    }
  }
  return bytes.length
}

const grown = (array: Int32Array): Int32Array<ArrayBuffer> => {
  const larger = new Int32Array(array.length * 2)
  larger.set(array)
  return larger
}

/** Members of the container that begins at `at`, found by skipping over each of them once. */
export function membersAt(bytes: Uint8Array, at: number, long?: LongEnds): Members {
  const isObject = bytes[at] === 0x7b
  let keys = new Int32Array(16)
  let starts = new Int32Array(16)
  let ends = new Int32Array(16)
  let count = 0
  let next = skipSpace(bytes, at + 1)
  while (next < bytes.length && !closes(bytes[next])) {
    if (count === starts.length) {
      keys = grown(keys)
      starts = grown(starts)
      ends = grown(ends)
    }
    keys[count] = -1
    if (isObject) {
      keys[count] = next
      next = skipSpace(bytes, skipString(bytes, next))
      if (bytes[next] === 0x3a) next = skipSpace(bytes, next + 1)
    }
    starts[count] = next
    const end = skipValue(bytes, next, long)
    ends[count] = end
    count++
    next = skipSpace(bytes, end)
    if (bytes[next] === 0x2c) next = skipSpace(bytes, next + 1)
    // A broken text must not hold this forever.
    else if (end === starts[count - 1]) break
  }
  return { count, keys, starts, ends }
}

const decoder = new TextDecoder()

export const textBetween = (bytes: Uint8Array, start: number, end: number): string =>
  decoder.decode(bytes.subarray(start, end))

/** The text of a string between its quotes, escapes resolved. Lone surrogates stay as they are. */
export function stringAt(bytes: Uint8Array, start: number, end: number): string {
  const text = textBetween(bytes, start, end)
  try {
    return JSON.parse(text) as string
  } catch {
    return text.slice(1, -1)
  }
}

/** The first characters of a string, without decoding the rest. */
export function stringHead(bytes: Uint8Array, start: number, end: number, characters: number): string {
  // An escape takes six bytes, a character four at most.
  const cut = start + 1 + characters * 6
  if (cut >= end) return stringAt(bytes, start, end).slice(0, characters)
  let safe = cut
  while (safe > start + 1 && (bytes[safe] as number) >= 0x80 && (bytes[safe] as number) < 0xc0) safe--
  let text = textBetween(bytes, start + 1, safe)
  // An escape that was cut open cannot be read.
  const open = /\\(?:u[0-9a-fA-F]{0,3})?$/.exec(text)
  if (open && !/\\\\$/.test(text)) text = text.slice(0, open.index)
  try {
    return (JSON.parse(`"${text}"`) as string).slice(0, characters)
  } catch {
    return text.slice(0, characters)
  }
}

/** True when a string begins like a JSON object or array and parses as one: at most `limit` bytes are tried. */
export function holdsJson(bytes: Uint8Array, start: number, end: number, limit = 4_000_000): boolean {
  const first = skipSpace(bytes, start + 1)
  if (bytes[first] !== 0x7b && bytes[first] !== 0x5b) return false
  if (end - start > limit) return false
  try {
    const value: unknown = JSON.parse(stringAt(bytes, start, end))
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}

/** Offsets at which the needle stands, from `from` on, at most `limit`. Case counts: bytes are compared. */
export function findBytes(bytes: Uint8Array, needle: Uint8Array, from: number, to: number, limit: number): number[] {
  const found: number[] = []
  const [first] = needle
  if (first === undefined) return found
  for (let at = bytes.indexOf(first, from); at !== -1 && at < to; at = bytes.indexOf(first, at + 1)) {
    let same = 1
    while (same < needle.length && bytes[at + same] === needle[same]) same++
    if (same === needle.length) {
      found.push(at)
      if (found.length >= limit) break
    }
  }
  return found
}
