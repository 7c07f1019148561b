// Writes single protobuf fields, for the few small messages that we send (protobuf.dev/programming-guides/encoding).
import { Buffer } from 'node:buffer'

const varint = (value: number): number[] => {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
  return bytes
}

/** An integer field; not negative. */
export const integerField = (field: number, value: number): Buffer => Buffer.from([field << 3, ...varint(value)])

/** A length-delimited field: bytes, or a message. */
export const bytesField = (field: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(field << 3) | 2, ...varint(content.length)]), content])

export const textField = (field: number, value: string): Buffer => bytesField(field, Buffer.from(value.toWellFormed()))

const truncated = (): Error => new Error('the message ends inside a field')

function takeVarint(bytes: Buffer, at: { value: number }, end: number): number {
  let value = 0
  for (let shift = 1; ; shift *= 128) {
    if (at.value >= end || shift > 2 ** 63) throw truncated()
    const byte = bytes[at.value++] as number
    value += (byte & 127) * shift
    if (byte < 128) return value
  }
}

/** Bytes of a field's content, by its wire type. */
function fieldBytes(wireType: number, varint: () => number): number {
  if (wireType === 2) return varint()
  if (wireType === 1) return 8
  if (wireType === 5) return 4
  if (wireType !== 0) throw new Error(`unknown wire type ${wireType}`)
  varint()
  return 0
}

/**
 * Counts the messages at the end of a path of fields through a message.
 * @param fields at each step the numbers of the fields that are followed
 * @throws Error when the bytes are no message
 */
export function countMessages(bytes: Buffer, fields: readonly (readonly number[])[]): number {
  const walk = (from: number, end: number, depth: number): number => {
    const at = { value: from }
    let count = 0
    while (at.value < end) {
      const tag = takeVarint(bytes, at, end)
      const size = fieldBytes(tag % 8, () => takeVarint(bytes, at, end))
      if (size > end - at.value) throw truncated()
      if (tag % 8 === 2 && fields[depth]?.includes(Math.floor(tag / 8)))
        count += depth === fields.length - 1 ? 1 : walk(at.value, at.value + size, depth + 1)
      at.value += size
    }
    return count
  }
  return walk(0, bytes.length, 0)
}
