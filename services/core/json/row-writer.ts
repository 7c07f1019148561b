// A growing buffer of JSON text: strings, integers and slices of other buffers, each written in place.
import type { Buffer } from 'node:buffer'
import { type BufferPool, freshBuffers } from '../memory/buffer-pool.ts'
import { type Escaping, escaping, maxEscapedBytes, maxEscapedLength, type Seen } from './escaping.ts'

/** The functions behind `write`, without its checks. */
type Bytes = Buffer & { latin1Write(text: string, at: number): number; utf8Write(text: string, at: number): number }

/** Writing in place, because joining and flattening strings takes twice as long. */
export type JsonBuffer = {
  /** Any text. */
  text(text: string): void
  /** A few bytes. */
  fixed(source: Uint8Array): void
  /** Bytes `start` to `end` of a buffer. */
  slice(source: Buffer, start: number, end: number): void
  /** A JSON string; lone surrogates become U+FFFD. */
  string(text: string): void
  /**
   * Bytes `start` to `end` of a buffer, which are UTF-8, as a JSON string.
   * @returns false: nothing was written, because `stays` refuses what they hold, or nobody can look
   */
  bytes(source: Buffer, start: number, end: number, stays: (seen: Seen) => boolean): boolean
  /** An integer, cut to the nearest one of 64 bits. */
  integer(value: number): void
  sizeBytes(): number
  /** Writes a text of ASCII over what stands at a position. */
  over(position: number, text: string): void
  /** The bytes that were written between two positions, valid until more is written. */
  between(start: number, end: number): Uint8Array
  /** The bytes that were written. It is never written again as long as nothing more is added. */
  done(): Buffer
}

const safe = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
/** Longer texts are escaped without a look at whether they need it. */
const maxLook = 64
const int64Max = 2n ** 63n - 1n

function int64(value: number): string {
  const exact = BigInt(Math.trunc(value))
  return String(exact > int64Max ? int64Max : exact < -int64Max ? -int64Max : exact)
}

export function createJsonBuffer(sizeHint: number, pool: BufferPool = freshBuffers): JsonBuffer {
  let buffer = pool.take(sizeHint) as Bytes
  let at = 0

  function reserve(bytes: number): void {
    if (at + bytes <= buffer.length) return
    const larger = pool.take(Math.max(buffer.length * 2, at + bytes)) as Bytes
    buffer.copy(larger, 0, 0, at)
    pool.give(buffer)
    buffer = larger
  }

  function text(value: string): void {
    reserve(value.length * 3)
    at += buffer.utf8Write(value, at)
  }

  function escaped(value: string): void {
    const module = value.length <= maxEscapedLength ? escaping() : null
    if (module === null) {
      text(JSON.stringify(value.toWellFormed()))
      return
    }
    quote(module, module.escape(value))
  }

  /** Writes the escaped text between quotes. */
  function quote({ memory, start }: Escaping, end: number): void {
    const bytes = end - start
    reserve(bytes + 2)
    buffer[at] = 34
    buffer.set(new Uint8Array(memory.buffer, start, bytes), at + 1)
    at += bytes + 2
    buffer[at - 1] = 34
  }

  return {
    text,
    fixed(source) {
      reserve(source.length)
      for (let i = 0; i < source.length; i++) buffer[at++] = source[i] as number
    },
    slice(source, start, end) {
      reserve(end - start)
      // Buffer.copy does the same at twice the cost.
      buffer.set(new Uint8Array(source.buffer, source.byteOffset + start, end - start), at)
      at += end - start
    },
    string(value) {
      if (value.length <= maxLook && safe.test(value)) {
        reserve(value.length + 2)
        buffer[at] = 34
        at += 1 + buffer.latin1Write(value, at + 1)
        buffer[at++] = 34
      } else escaped(value)
    },
    bytes(source, start, end, stays) {
      const module = end - start <= maxEscapedBytes ? escaping() : null
      if (module === null) return false
      const escapedEnd = module.escapeBytes(source, start, end)
      if (!stays(module.seen())) return false
      quote(module, escapedEnd)
      return true
    },
    integer(value) {
      if (!Number.isInteger(value) || value < 0 || value > Number.MAX_SAFE_INTEGER) {
        text(int64(value))
        return
      }
      // String() takes a slow path for integers above 2^31, which all times are.
      let places = 1
      for (let limit = 10; value >= limit; limit *= 10) places++
      reserve(places)
      let rest = value
      for (let i = at + places - 1; i >= at; i--) {
        const tenth = Math.floor(rest / 10)
        buffer[i] = 48 + (rest - tenth * 10)
        rest = tenth
      }
      at += places
    },
    sizeBytes: () => at,
    over(position, value) {
      buffer.latin1Write(value, position)
    },
    between: (start, end) => new Uint8Array(buffer.buffer, buffer.byteOffset + start, end - start),
    done: () => buffer.subarray(0, at),
  }
}
