// Escapes texts for JSON strings in WebAssembly (assembly/), in a fifth of the time that JSON.stringify takes.
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { loadModule } from '../process/wasm.ts'

/** Longer texts are escaped by JSON.stringify, so that the memory of a thread stays small. */
export const maxEscapedLength = 16_384
const maxBytes = maxEscapedLength * 3
/** What the module reads and writes behind the end. */
const guardBytes = 64
const outputAt = maxBytes + guardBytes
/** A control character takes six bytes. */
const pages = Math.ceil((outputAt + maxBytes * 6 + guardBytes) / 65_536)

/** The function behind `write`, without its checks. */
type Bytes = Buffer & { utf8Write(text: string, at: number): number }

/** Bytes `start` to `end` of its memory hold what was escaped, until the next text. */
export type Escaping = { memory: Uint8Array; start: number; escape(text: string): number }

function open(): Escaping | null {
  const code = readFileSync(new URL('./escaping.wasm', import.meta.url))
  const loaded = loadModule<{ escapeBytes(from: number, end: number, to: number): number }>(code, {
    initial: pages,
    maximum: pages,
  })
  if (loaded === null) return null
  const { exports, memory } = loaded
  const buffer = Buffer.from(memory.buffer) as Bytes
  return {
    memory: new Uint8Array(memory.buffer),
    start: outputAt,
    // Lone surrogates become U+FFFD as they are written.
    escape: (text) => exports.escapeBytes(0, buffer.utf8Write(text, 0), outputAt),
  }
}

let opened: Escaping | null | undefined

/** Null on a machine without SIMD. */
export function escaping(): Escaping | null {
  if (opened === undefined) opened = open()
  return opened
}
