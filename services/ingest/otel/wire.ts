// Reads the protobuf wire format: checked bounds, exact integers, unknown fields skipped (protobuf.dev/programming-guides/encoding).
import type { DecodeBudget } from './budget.ts'
import type { Faults } from './faults.ts'
import { DecodeError, type Nanos } from './spans.ts'

const maxGroupDepth = 100
const maxKeys = 10_000
const maxKeyLength = 64

/** Keys seen before, by a hash of their bytes: attribute keys repeat, decoding them does not have to. */
const known = new Map<number, { bytes: Buffer; text: string }>()

const truncated = (): DecodeError => new DecodeError('the message ends inside a field')

export class WireReader {
  readonly bytes: Buffer
  /** What the decoded messages may take. */
  readonly budget: DecodeBudget
  private readonly view: DataView
  /** What is wrong with the item that is read. */
  faults: Faults | null = null
  position = 0
  /** End of the message that is read. */
  end: number

  constructor(bytes: Buffer, budget: DecodeBudget) {
    this.bytes = bytes
    this.budget = budget
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.end = bytes.length
  }

  private byte(): number {
    if (this.position >= this.end) throw truncated()
    return this.bytes[this.position++] as number
  }

  /** Varint cut to its low 32 bits, unsigned. */
  uint32(): number {
    let c = this.byte()
    if (c < 128) return c
    let value = c & 127
    c = this.byte()
    value |= (c & 127) << 7
    if (c < 128) return value
    c = this.byte()
    value |= (c & 127) << 14
    if (c < 128) return value
    c = this.byte()
    value |= (c & 127) << 21
    if (c < 128) return value
    c = this.byte()
    value |= c << 28
    for (let i = 5; c >= 128; i++) {
      if (i === 10) throw new DecodeError('a varint is longer than 10 bytes')
      c = this.byte()
    }
    return value >>> 0
  }

  /** Field number and wire type. */
  tag(): number {
    const tag = this.uint32()
    if (tag < 8) throw new DecodeError('field number 0')
    return tag
  }

  bool(): boolean {
    let any = false
    for (let i = 0; ; i++) {
      if (i === 10) throw new DecodeError('a varint is longer than 10 bytes')
      const c = this.byte()
      if ((c & 127) !== 0) any = true
      if (c < 128) return any
    }
  }

  /** Signed 64-bit varint; a bigint when a double does not hold it. */
  int64(): number | bigint {
    let low = 0
    let high = 0
    for (let shift = 0; ; shift += 7) {
      if (shift === 70) throw new DecodeError('a varint is longer than 10 bytes')
      const c = this.byte()
      if (shift < 28) low += (c & 127) * 2 ** shift
      else if (shift < 63) high += (c & 127) * 2 ** (shift - 28)
      else high += (c & 1) * 2 ** 35
      if (c < 128) break
    }
    if (high < 2 ** 25) return high * 2 ** 28 + low
    const value = BigInt.asIntN(64, BigInt(high) * 268435456n + BigInt(low))
    return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value
  }

  private fixed(size: number): number {
    const at = this.position
    if (at + size > this.end) throw truncated()
    this.position = at + size
    return at
  }

  double(): number {
    return this.view.getFloat64(this.fixed(8), true)
  }

  fixed32(): number {
    return this.view.getUint32(this.fixed(4), true)
  }

  /** fixed64 as microseconds and rest; microseconds beyond 2^53 (year 2255) are the nearest double. */
  nanos(): Nanos {
    const at = this.fixed(8)
    const low = this.view.getUint32(at, true)
    const high = this.view.getUint32(at + 4, true)
    if (high >= 2 ** 31) {
      const nanos = this.view.getBigUint64(at, true)
      return { us: Number(nanos / 1000n), rest: Number(nanos % 1000n) }
    }
    // 2^32 = 4294967 * 1000 + 296
    const rest = high * 296 + low
    return { us: high * 4294967 + Math.floor(rest / 1000), rest: rest % 1000 }
  }

  /** fixed64 as decimal text. */
  fixed64Text(): string {
    const at = this.position
    const { us, rest } = this.nanos()
    if (us > Number.MAX_SAFE_INTEGER) return this.view.getBigUint64(at, true).toString()
    return us === 0 ? String(rest) : `${us}${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}`
  }

  /** Length of a delimited field, which lies inside the message. */
  length(): number {
    const length = this.uint32()
    if (length > this.end - this.position) throw truncated()
    return length
  }

  /** Enters a nested message: sets `end` to its end and returns the end of the outer one, for `leave`. */
  enter(): number {
    const length = this.length()
    const outer = this.end
    this.end = this.position + length
    return outer
  }

  leave(outer: number): void {
    this.end = outer
  }

  /** UTF-8 text; bytes that are none become U+FFFD. */
  string(): string {
    const length = this.length()
    const start = this.position
    this.position = start + length
    if (length > 8) return this.bytes.toString('utf8', start, start + length)
    let text = ''
    for (let i = start; i < start + length; i++) {
      const c = this.bytes[i] as number
      if (c > 127) return this.bytes.toString('utf8', start, start + length)
      text += String.fromCharCode(c)
    }
    return text
  }

  /** Text that is likely to repeat. */
  key(): string {
    const length = this.length()
    const start = this.position
    const end = start + length
    this.position = end
    if (length > maxKeyLength) return this.bytes.toString('utf8', start, end)
    const bytes = this.bytes
    let hash = length
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0
    const hit = known.get(hash)
    if (hit !== undefined && hit.bytes.length === length) {
      let i = 0
      while (i < length && hit.bytes[i] === bytes[start + i]) i++
      if (i === length) return hit.text
    }
    const text = bytes.toString('utf8', start, end)
    if (known.size >= maxKeys) known.clear()
    known.set(hash, { bytes: Buffer.from(bytes.subarray(start, end)), text })
    return text
  }

  hex(): string {
    const length = this.length()
    const start = this.position
    this.position = start + length
    return length === 0 ? '' : this.bytes.toString('hex', start, start + length)
  }

  base64(): string {
    const length = this.length()
    const start = this.position
    this.position = start + length
    return this.bytes.toString('base64', start, start + length)
  }

  /** Passes over a nested message. */
  passOver(): void {
    const length = this.length()
    this.position += length
  }

  /** Passes over the value of a field that is not known. */
  skip(tag: number, depth = 0): void {
    switch (tag & 7) {
      case 0:
        while (this.byte() >= 128);
        return
      case 1:
        this.fixed(8)
        return
      case 2:
        this.passOver()
        return
      case 3: {
        if (depth === maxGroupDepth) throw new DecodeError('groups nest too deep')
        for (let inner = this.tag(); (inner & 7) !== 4; inner = this.tag()) this.skip(inner, depth + 1)
        return
      }
      case 5:
        this.fixed(4)
        return
      default:
        throw new DecodeError(`wire type ${tag & 7} at ${this.position}`)
    }
  }
}
