// Limits the memory of the decoded form of one OTLP request: a few bytes of an encoding can stand for a whole object.
import { TooLongHere, tooLarge } from '../../core/errors.ts'
import { byteStringEnd } from '../../core/json/byte-walk.ts'

/** Estimated bytes that may still be taken; shared by everything that is held at one time. */
export type DecodeBudget = {
  left: number
  /** Number of the remaining bytes that need a thread. */
  kept: number
}

/**
 * A request takes up to this many times the largest body. Ten thousand spans with thirty attributes each take a tenth
 * of it under the default limit; a body of nothing but empty messages would take two hundred times its size.
 */
const bytesPerBodyByte = 4

/** Bytes that are decoded within some 25 ms; a thousand usual spans take a half of it. */
const bytesHere = 1.5 * 1024 * 1024

/** @param mayTakeLong false: what takes more time than the event loop has needs a thread */
export function createDecodeBudget(maxBodyBytes: number, mayTakeLong = true): DecodeBudget {
  const left = maxBodyBytes * bytesPerBodyByte
  return { left, kept: mayTakeLong ? 0 : left - bytesHere }
}

/** Bytes of memory, rounded up from what the engine was seen to take. */
export const cost = {
  /** A span, event, link, scope or resource with its lists. */
  message: 400,
  /** An attribute or a member of a map: key and value. */
  member: 48,
  /** An item of a list. */
  item: 16,
  /** A map, of an attribute value or of the tree that dotted keys make. */
  map: 200,
} as const

/** @throws 413 when so many bytes are not left, TooLongHere when some of them are kept */
export function spend(budget: DecodeBudget, bytes: number): void {
  if (bytes > budget.left) throw tooLarge()
  if (bytes > budget.left - budget.kept) throw new TooLongHere()
  budget.left -= bytes
}

/** Bytes of rows, which are written in slices. @throws 413 when so many are not left */
export function spendOnRows(budget: DecodeBudget, bytes: number): void {
  if (bytes > budget.left) throw tooLarge()
  budget.left -= bytes
  budget.kept = Math.max(0, budget.kept - bytes)
}

/** Bytes of an object or list of parsed JSON. */
export const containerBytes = 64
/** Bytes of a member or item, of which there is one after each comma. */
const commaBytes = 16

/** Index of the quote that closes the string whose opening quote is at `at`; the end of a text that is cut off. */
function closingQuoteIn(text: string, at: number): number {
  let i = at + 1
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 34) break
    if (code === 92) i++
  }
  return i
}

/**
 * Measures JSON text before it is parsed: its depth of nesting, the bytes that it will take, and its number of parts.
 */
export function measureJson(text: string): { depth: number; bytes: number; parts: number } {
  let depth = 0
  let deepest = 0
  let containers = 0
  let commas = 0
  const end = text.length
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === 34) at = closingQuoteIn(text, at)
    else if (code === 44) commas++
    else if ((code | 32) === 123) {
      containers++
      if (++depth > deepest) deepest = depth
    } else if ((code | 32) === 125) depth--
  }
  return { depth: deepest, bytes: containers * containerBytes + commas * commaBytes, parts: containers + commas }
}

/** JSON with null in place of all lists and objects that nest deeper than that. */
export function withoutDepth(bytes: Buffer, maxDepth: number): Buffer {
  const kept: Buffer[] = []
  let from = 0
  let depth = 0
  const end = bytes.length
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === 34) at = byteStringEnd(bytes, at) - 1
    else if ((byte | 32) === 123) {
      if (++depth === maxDepth + 1) kept.push(bytes.subarray(from, at), Buffer.from('null'))
    } else if ((byte | 32) === 125 && depth-- === maxDepth + 1) from = at + 1
  }
  if (depth <= maxDepth) kept.push(bytes.subarray(from))
  return Buffer.concat(kept)
}
