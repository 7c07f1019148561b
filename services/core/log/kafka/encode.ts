// Encodes a produce request in one pass: kafkajs copies every value about ten times through small growing buffers.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

type ProducedMessage = { key?: string | Buffer | null; value: Buffer | null; headers: Record<string, string> }

/** A request as `Broker.produce` of kafkajs gets it; no transactions. */
export type ProduceFields = {
  acks: number
  timeout: number
  /** 0 = none, 1 = gzip */
  compression: number
  producerId: string | number
  producerEpoch: number
  topicData: {
    topic: string
    partitions: { partition: number; firstSequence: number; messages: ProducedMessage[] }[]
  }[]
}

const compress = promisify(gzip)

/** Tables of CRC-32C (Castagnoli), for eight bytes at a time: RFC 3720 B.4, Intel's slicing method. */
const tables = Array.from({ length: 8 }, () => new Int32Array(256))
{
  const [first] = tables as [Int32Array]
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
    first[byte] = crc
  }
  for (let n = 1; n < 8; n++) {
    const [before, table] = [tables[n - 1] as Int32Array, tables[n] as Int32Array]
    for (let byte = 0; byte < 256; byte++) {
      const crc = before[byte] as number
      table[byte] = (first[crc & 255] as number) ^ (crc >>> 8)
    }
  }
}

export function crc32c(bytes: Buffer, from: number, to: number): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
    ...[Int32Array, Int32Array, Int32Array, Int32Array],
    ...[Int32Array, Int32Array, Int32Array, Int32Array],
  ]
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let crc = -1
  let at = from
  for (; at + 8 <= to; at += 8) {
    const low = crc ^ view.getInt32(at, true)
    const high = view.getInt32(at + 4, true)
    crc =
      (t7[low & 255] as number) ^
      (t6[(low >>> 8) & 255] as number) ^
      (t5[(low >>> 16) & 255] as number) ^
      (t4[low >>> 24] as number) ^
      (t3[high & 255] as number) ^
      (t2[(high >>> 8) & 255] as number) ^
      (t1[(high >>> 16) & 255] as number) ^
      (t0[high >>> 24] as number)
  }
  for (; at < to; at++) crc = (t0[(crc ^ (bytes[at] as number)) & 255] as number) ^ (crc >>> 8)
  return ~crc >>> 0
}

/** Bytes of a varint of a number from 0 to 2^30. */
function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value >>> 6; rest > 0; rest >>>= 7) bytes++
  return bytes
}

function writeVarint(into: Buffer, at: number, value: number): number {
  let rest = value * 2
  let to = at
  for (; rest > 127; rest >>>= 7) into[to++] = (rest & 127) | 128
  into[to++] = rest
  return to
}

const headersOf = (message: ProducedMessage): [string, string][] => Object.entries(message.headers)

type Text = string | Buffer | null | undefined

/** Bytes of a text behind its length; one that is absent has the length -1. */
function textBytes(text: Text): number {
  if (text === null || text === undefined) return 1
  const length = Buffer.byteLength(text)
  return varintBytes(length) + length
}

function writeText(into: Buffer, from: number, text: Text): number {
  if (text === null || text === undefined) {
    into[from] = 1
    return from + 1
  }
  const at = writeVarint(into, from, Buffer.byteLength(text))
  if (typeof text === 'string') return at + into.write(text, at)
  into.set(text, at)
  return at + text.length
}

/** Bytes of a record without its length. Header texts are ASCII. */
function recordBytes(message: ProducedMessage, index: number): number {
  // attributes and time delta are a byte each
  let bytes = 2 + varintBytes(index) + textBytes(message.key) + textBytes(message.value)
  const headers = headersOf(message)
  bytes += varintBytes(headers.length)
  for (const [name, text] of headers)
    bytes += varintBytes(name.length) + name.length + varintBytes(text.length) + text.length
  return bytes
}

function writeRecord(into: Buffer, from: number, message: ProducedMessage, index: number, bytes: number): number {
  let at = writeVarint(into, from, bytes)
  into[at++] = 0
  into[at++] = 0
  at = writeVarint(into, at, index)
  at = writeText(into, at, message.key)
  at = writeText(into, at, message.value)
  const headers = headersOf(message)
  at = writeVarint(into, at, headers.length)
  for (const pair of headers)
    for (const text of pair) {
      at = writeVarint(into, at, text.length)
      at += into.write(text, at, 'latin1')
    }
  return at
}

/** The fields of a record batch from its base offset to the number of its records. */
const batchHeadBytes = 61

type Batch = {
  partition: number
  firstSequence: number
  count: number
  bytes: number
  write(into: Buffer, at: number): void
}

async function batchOf(
  { partition, firstSequence, messages }: ProduceFields['topicData'][number]['partitions'][number],
  isCompressed: boolean,
): Promise<Batch> {
  const sizes = messages.map(recordBytes)
  const bytes = sizes.reduce((sum, size) => sum + varintBytes(size) + size, 0)
  const write = (into: Buffer, from: number): void => {
    let at = from
    for (let i = 0; i < messages.length; i++)
      at = writeRecord(into, at, messages[i] as ProducedMessage, i, sizes[i] as number)
  }
  const common = { partition, firstSequence, count: messages.length }
  if (!isCompressed) return { ...common, bytes, write }
  const plain = Buffer.allocUnsafe(bytes)
  write(plain, 0)
  const packed = await compress(plain)
  return { ...common, bytes: packed.length, write: (into, at) => void into.set(packed, at) }
}

function writeBatch(into: Buffer, from: number, batch: Batch, fields: ProduceFields): number {
  const end = from + batchHeadBytes + batch.bytes
  const now = BigInt(Date.now())
  into.writeBigInt64BE(0n, from)
  into.writeInt32BE(end - from - 12, from + 8)
  into.writeInt32BE(0, from + 12)
  into.writeInt8(2, from + 16)
  into.writeInt16BE(fields.compression, from + 21)
  into.writeInt32BE(batch.count - 1, from + 23)
  into.writeBigInt64BE(now, from + 27)
  into.writeBigInt64BE(now, from + 35)
  into.writeBigInt64BE(BigInt(fields.producerId), from + 43)
  into.writeInt16BE(fields.producerEpoch, from + 51)
  into.writeInt32BE(batch.firstSequence, from + 53)
  into.writeInt32BE(batch.count, from + 57)
  batch.write(into, from + batchHeadBytes)
  into.writeUInt32BE(crc32c(into, from + 21, end), from + 17)
  return end
}

/** The body of a produce request of versions 3 to 8 (https://kafka.apache.org/protocol, record batches of magic 2). */
export async function encodeProduce(fields: ProduceFields): Promise<Buffer> {
  const topics: { topic: string; batches: Batch[] }[] = []
  // no transactional id, acks, timeout, number of topics
  let bytes = 2 + 2 + 4 + 4
  for (const { topic, partitions } of fields.topicData) {
    const batches: Batch[] = []
    for (const one of partitions) batches.push(await batchOf(one, fields.compression !== 0))
    topics.push({ topic, batches })
    bytes += 2 + topic.length + 4
    for (const batch of batches) bytes += 8 + batchHeadBytes + batch.bytes
  }
  const into = Buffer.allocUnsafe(bytes)
  let at = into.writeInt16BE(-1, 0)
  at = into.writeInt16BE(fields.acks, at)
  at = into.writeInt32BE(fields.timeout, at)
  at = into.writeInt32BE(topics.length, at)
  for (const { topic, batches } of topics) {
    at = into.writeInt16BE(topic.length, at)
    at += into.write(topic, at, 'latin1')
    at = into.writeInt32BE(batches.length, at)
    for (const batch of batches) {
      at = into.writeInt32BE(batch.partition, at)
      at = into.writeInt32BE(batchHeadBytes + batch.bytes, at)
      at = writeBatch(into, at, batch, fields)
    }
  }
  return into
}
