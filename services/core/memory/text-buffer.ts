// Text that is gathered piece by piece and kept as bytes: millions of short strings would be walked over by every garbage
// collection as long as they wait.
import { Buffer } from 'node:buffer'

/** Texts of ASCII up to here are written faster here than by native code. */
const shortLength = 32
const leastBytes = 64
const nothing = Buffer.alloc(0)
/** Bytes of UTF-8 that a character of a string takes at most. */
const maxBytesPerCharacter = 3

export class TextBuffer {
  #bytes = nothing
  #length = 0

  /** Bytes of UTF-8. */
  get length(): number {
    return this.#length
  }

  add(text: string): void {
    this.#reserve(maxBytesPerCharacter * text.length)
    if (text.length > shortLength || !this.#addAscii(text)) this.#length += this.#bytes.write(text, this.#length)
  }

  /** Adds bytes start..end, which are UTF-8; short ones are copied faster here than by native code. */
  addBytes(from: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start)
    const to = this.#bytes
    let at = this.#length
    for (let i = start; i < end; i++) to[at++] = from[i] as number
    this.#length = at
  }

  addByte(byte: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = byte
  }

  addAll(other: TextBuffer): void {
    this.#reserve(other.#length)
    this.#length += other.#bytes.copy(this.#bytes, this.#length, 0, other.#length)
  }

  /** The text up to some bytes before its end. */
  text(withoutLast = 0): string {
    return this.#bytes.toString('utf8', 0, this.#length - withoutLast)
  }

  /** Returns false for what is not ASCII, without adding it. */
  #addAscii(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i)
      if (c > 127) return false
      this.#bytes[this.#length + i] = c
    }
    this.#length += text.length
    return true
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(
      Math.max(leastBytes, this.#length + more, (this.#bytes.length < 4096 ? 4 : 2) * this.#bytes.length),
    )
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
