// Escapes texts for JSON strings in WebAssembly (assembly/), in a fifth of the time that JSON.stringify takes.
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { loadModule } from '../process/wasm.ts'

/** Longer texts are escaped by JSON.stringify, so that the memory of a thread stays small. */
export const maxEscapedLength = 16_384
const maxBytes = maxEscapedLength * 3
export const maxEscapedBytes = maxBytes
/** Bytes that the module reads and writes before and after a text. */
const guardBytes = 64
const inputAt = guardBytes
const outputAt = inputAt + maxBytes + guardBytes
/** A control character takes six bytes. */
const seenAt = outputAt + maxBytes * 6 + guardBytes
/** Names that the module lists. */
const maxNames = 1024
const pages = Math.ceil((seenAt + 8 + maxNames * 4) / 65_536)

/** The function behind `write`, without its checks. */
type Bytes = Buffer & { utf8Write(text: string, at: number): number }

/** Properties of a text in UTF-8. */
export type Seen = {
  /** Its bytes are `from` to `end` of this memory, until the next text. */
  memory: Uint8Array
  from: number
  end: number
  /** Some byte is above 127. */
  isBeyondAscii: boolean
  /** A line break, or a backslash before `u`. */
  hasBreaks: boolean
  /** A colon behind white space, or more names than are listed. */
  isUnsure: boolean
  /** Positions of the quotes right before colons, `nameCount` of them. */
  names: Uint32Array
  nameCount: number
}

/** Bytes `start` to the answer of its memory hold what was escaped, until the next text. */
export type Escaping = {
  memory: Uint8Array
  start: number
  escape(text: string): number
  /** Escapes at most `maxEscapedBytes` bytes. */
  escapeBytes(source: Buffer, start: number, end: number): number
  /** Properties of the last bytes. */
  seen(): Seen
}

type Exports = {
  escapeBytes(from: number, end: number, to: number): number
  escapeAndLook(from: number, end: number, to: number, seen: number): number
}

function open(): Escaping | null {
  const code = readFileSync(new URL('./escaping.wasm', import.meta.url))
  const loaded = loadModule<Exports>(code, { initial: pages, maximum: pages })
  if (loaded === null) return null
  const { exports, memory } = loaded
  const buffer = Buffer.from(memory.buffer) as Bytes
  const bytes = new Uint8Array(memory.buffer)
  const [flags, names] = [new Uint32Array(memory.buffer, seenAt, 2), new Uint32Array(memory.buffer, seenAt + 8)]
  let inputEnd = inputAt
  return {
    memory: bytes,
    start: outputAt,
    // Lone surrogates become U+FFFD as they are written.
    escape: (text) => exports.escapeBytes(inputAt, inputAt + buffer.utf8Write(text, inputAt), outputAt),
    escapeBytes(source, start, end) {
      bytes.set(new Uint8Array(source.buffer, source.byteOffset + start, end - start), inputAt)
      inputEnd = inputAt + end - start
      return exports.escapeAndLook(inputAt, inputEnd, outputAt, seenAt)
    },
    seen() {
      const [flag = 0, count = 0] = flags
      return {
        memory: bytes,
        from: inputAt,
        end: inputEnd,
        isBeyondAscii: (flag & 1) !== 0,
        hasBreaks: (flag & 2) !== 0,
        isUnsure: (flag & 4) !== 0,
        names,
        nameCount: count,
      }
    },
  }
}

let opened: Escaping | null | undefined

/** Null on a machine without SIMD. */
export function escaping(): Escaping | null {
  if (opened === undefined) opened = open()
  return opened
}
