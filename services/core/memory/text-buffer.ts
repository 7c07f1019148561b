// Text that is gathered piece by piece and kept as bytes: millions of short strings would be walked over by every garbage
// collection as long as they wait.
import { Buffer } from 'node:buffer'

const leastBytes = 64
/** Bytes of UTF-8 that a character of a string takes at most. */
const maxBytesPerCharacter = 3

export class TextBuffer {
  #bytes = Buffer.allocUnsafe(leastBytes)
  #length = 0

  /** Bytes of UTF-8. */
  get length(): number {
    return this.#length
  }

  add(text: string): void {
    this.#reserve(maxBytesPerCharacter * text.length)
    this.#length += this.#bytes.write(text, this.#length)
  }

  addAll(other: TextBuffer): void {
    this.#reserve(other.#length)
    this.#length += other.#bytes.copy(this.#bytes, this.#length, 0, other.#length)
  }

  /** The text up to some bytes before its end. */
  text(withoutLast = 0): string {
    return this.#bytes.toString('utf8', 0, this.#length - withoutLast)
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#length + more, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
