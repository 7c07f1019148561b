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

/**
 * How many messages lie at the end of a way of fields through a message.
 * @param fields at each step the numbers of the fields that are followed
 * @throws Error when the bytes are no message
 */
export function countMessages(bytes: Buffer, fields: readonly (readonly number[])[]): number {
  let count = 0
  const walk = (from: number, end: number, depth: number): void => {
    let at = from
    const next = (): number => {
      let value = 0
      for (let shift = 1; ; shift *= 128) {
        if (at >= end || shift > 2 ** 63) throw new Error('the message ends inside a field')
        const byte = bytes[at++] as number
        value += (byte & 127) * shift
        if (byte < 128) return value
      }
    }
    while (at < end) {
      const tag = next()
      const wire = tag % 8
      if (wire === 0) next()
      else if (wire === 1) at += 8
      else if (wire === 5) at += 4
      else if (wire === 2) {
        const size = next()
        if (size > end - at) throw new Error('the message ends inside a field')
        if (fields[depth]?.includes(Math.floor(tag / 8))) {
          if (depth === fields.length - 1) count++
          else walk(at, at + size, depth + 1)
        }
        at += size
      } else throw new Error(`unknown wire type ${wire}`)
      if (at > end) throw new Error('the message ends inside a field')
    }
  }
  walk(0, bytes.length, 0)
  return count
}
