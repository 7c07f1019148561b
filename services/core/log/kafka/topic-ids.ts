// Asks the brokers for the ids of topics (KIP-516), which a topic that is deleted and made anew does not keep.
import type { RawBroker } from './internals.ts'

/** MetadataRequest and MetadataResponse, version 10: https://kafka.apache.org/protocol#The_Messages_Metadata */
const metadata = { apiKey: 3, apiVersion: 10, apiName: 'Metadata' }

/** Lengths of the flexible versions: seven bits per byte, one more than the length. */
function lengthBytes(length: number): Buffer {
  const bytes: number[] = []
  let rest = length + 1
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128)
  bytes.push(rest)
  return Buffer.from(bytes)
}

const noTags = Buffer.from([0])
const noId = Buffer.alloc(16)

/** The body, and before it the tags of the header, which kafkajs knows nothing of. */
const encodeRequest = (names: readonly string[]): Buffer =>
  Buffer.concat([
    noTags,
    lengthBytes(names.length),
    ...names.flatMap((name) => {
      const text = Buffer.from(name)
      return [noId, lengthBytes(text.length), text, noTags]
    }),
    // makes no topics, asks for no rights: of the cluster, of the topics
    Buffer.from([0, 0, 0]),
    noTags,
  ])

/** Reads one field after the other. */
function reader(bytes: Buffer) {
  let at = 0
  const take = (count: number): Buffer => {
    at += count
    return bytes.subarray(at - count, at)
  }
  const varint = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = take(1).readUInt8()
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  /** Length of a text or a list; -1 = null. */
  const length = (): number => varint() - 1
  return {
    skip: (count: number) => void take(count),
    int16: () => take(2).readInt16BE(),
    hex: (count: number) => take(count).toString('hex'),
    text: () => take(Math.max(0, length())).toString(),
    skipInts: () => void take(4 * Math.max(0, length())),
    skipTags() {
      for (let count = varint(); count > 0; count--) {
        varint()
        take(varint())
      }
    },
    each(step: () => void) {
      for (let count = length(); count > 0; count--) step()
    },
  }
}

/** Ids by name; a topic that does not exist is not among them. */
function decodeIds(bytes: Buffer): Map<string, string> {
  const ids = new Map<string, string>()
  const { skip, int16, hex, text, skipInts, skipTags, each } = reader(bytes)
  skipTags()
  skip(4)
  each(() => {
    skip(4)
    text()
    skip(4)
    text()
    skipTags()
  })
  text()
  skip(4)
  each(() => {
    const error = int16()
    const name = text()
    const id = hex(16)
    skip(1)
    each(() => {
      skip(2 + 4 + 4 + 4)
      skipInts()
      skipInts()
      skipInts()
      skipTags()
    })
    skip(4)
    skipTags()
    // 5 = a partition has no leader at the moment
    if ((error === 0 || error === 5) && /[^0]/.test(id)) ids.set(name, id)
  })
  return ids
}

/**
 * Ids by name of the topics that exist. A broker that tells none (Kafka before 2.8) gives the cluster and the name: then
 * a topic that was made anew is only noticed when it is shorter than it was.
 */
export async function fetchTopicIds(broker: RawBroker, names: readonly string[]): Promise<Map<string, string>> {
  const newest = broker.versions?.[metadata.apiKey]?.maxVersion ?? 0
  if (newest < metadata.apiVersion) {
    const { clusterId } = (await broker.metadata([...names])) as { clusterId: string }
    return new Map(names.map((name) => [name, `${clusterId}/${name}`]))
  }
  const request = {
    ...metadata,
    encode: async () => {
      const buffer = encodeRequest(names)
      return { buf: buffer, buffer, size: () => buffer.length }
    },
  }
  const response = { decode: async (bytes: Buffer) => decodeIds(bytes), parse: async (ids: unknown) => ids }
  // The request that the broker makes for metadata is changed, and with it what becomes of the answer.
  const asking = Object.create(broker, { lookupRequest: { value: () => () => ({ request, response }) } }) as RawBroker
  return (await asking.metadata([])) as Map<string, string>
}
