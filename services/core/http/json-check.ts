// JSON text of a body: parsing it within a nesting limit, and where it is malformed.
import { isUtf8 } from 'node:buffer'
import { Refusal, tooLarge } from '../errors.ts'
import { byteStringEnd } from '../json/byte-walk.ts'
import { endScan, walkValue } from '../json/strict-walk.ts'
import { startScan, Unreadable } from '../json/tokens.ts'
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
    if (byte === 0x22) at = byteStringEnd(bytes, at) - 1
    else if ((byte | 0x20) === 0x7b) {
      if (++depth > limit || ++containers > maxContainers) return true
    } else if ((byte | 0x20) === 0x7d) depth--
  }
  return false
}

/** Offset of the first character behind byte `from` at which a text stops being JSON; its length when it only ends too early. */
function malformedAt(bytes: Buffer, from: number, maxDepth: number): number {
  let end = bytes.length
  try {
    const scan = startScan(bytes, maxDepth)
    walkValue(scan)
    endScan(scan)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    end = error.at
  }
  return bytes.toString('utf8', from, end).length
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
    throw isTextTooLarge(body, maxDepth)
      ? tooLarge()
      : malformed(malformedAt(bytes, bytes.length - body.length, maxDepth))
  }
  if (typeof value === 'object' && value !== null && isDeeper(value, maxDepth)) throw tooLarge()
  return value
}
