// Reads OTLP messages with protobufjs: as lenient as the mapping, exact, and within what a request may take.
import protobuf from 'protobufjs/minimal.js'
import { TextBytes } from '../../events/logs.ts'
import { cost, type DecodeBudget, spend } from './budget.ts'
import { type Faults, withFault } from './faults.ts'
import type {
  LogRecordMessage,
  LongHalves,
  MessageDecoder,
  ResourceMessage,
  ScopeMessage,
  SpanMessage,
  ValueMessage,
} from './messages.mjs'
import { opentelemetry } from './messages.mjs'
import { deepText, maxValueDepth, type Nanos } from './spans.ts'

/** The part of the protobufjs reader that is used. */
type BaseReader = {
  readonly buf: Buffer
  pos: number
  /** End of the message that is read. */
  len: number
  discardUnknown: boolean
  tag(): number
  size(): number
  int64(): unknown
  skipType(wireType: number, depth: number, field: number): void
}
const Base = protobuf.BufferReader as unknown as new (bytes: Buffer) => BaseReader

const maxKeys = 10_000
const maxKeyLength = 64
/** Texts seen before, by a hash of their bytes: attribute keys repeat, decoding them does not have to. */
const known = new Map<number, { bytes: Buffer; text: string }>()

/** Shorter texts are decoded at once. */
const leastTextBytes = 128

export class OtlpReader extends Base {
  /** Budget of the decoded messages. */
  readonly budget: DecodeBudget
  /** Whether values of the item that are nothing but a long text stay bytes of the body. */
  keepsBytes = false
  /** Faults of the item that is read. */
  faults: Faults | null = null
  /** Depth of the value that is read; 0 outside of values. */
  depth = 0

  constructor(bytes: Buffer, budget: DecodeBudget) {
    super(bytes)
    this.discardUnknown = true
    this.budget = budget
  }

  /** Begins with an item, whatever became of the one before. */
  begin({ keepsBytes = false } = {}): void {
    this.keepsBytes = keepsBytes
    this.faults = null
    this.depth = 0
  }

  /** The place behind a delimited field, which lies inside the message. */
  fieldEnd(): number {
    const end = this.size() + this.pos
    if (end > this.len) throw new RangeError()
    return end
  }

  /** Reads a nested message, field by field. @param field reads the value, or says that it does not know the tag */
  message(field: (tag: number) => boolean): void {
    const outer = this.len
    this.len = this.fieldEnd()
    this.fields(field)
    this.len = outer
  }

  fields(field: (tag: number) => boolean): void {
    while (this.pos < this.len) {
      const tag = this.tag()
      if (!field(tag)) this.skipType(tag & 7, 0, tag >>> 3)
    }
  }

  bytes(): Buffer {
    const end = this.fieldEnd()
    const bytes = this.buf.subarray(this.pos, end)
    this.pos = end
    return bytes
  }

  /** Bytes that are no UTF-8 become U+FFFD: a text that was cut through is no reason to lose a span. */
  stringVerify(): string {
    const end = this.fieldEnd()
    const start = this.pos
    this.pos = end
    return this.depth === 0 && end - start <= maxKeyLength
      ? this.#known(start, end)
      : this.buf.toString('utf8', start, end)
  }

  /** Text that is likely to repeat. */
  #known(start: number, end: number): string {
    const bytes = this.buf
    const length = end - start
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

  /** A bigint where a double does not hold it. */
  override int64(): number | bigint {
    const { low, high } = super.int64() as LongHalves
    if (high >= -(2 ** 21) && high < 2 ** 21) return high * 2 ** 32 + (low >>> 0)
    return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low >>> 0))
  }

  /** A value that is nothing but a long text; null and nothing read of any other. */
  textBytes(end: number): TextBytes | null {
    const at = this.pos
    if (end - at <= leastTextBytes || this.buf[at] !== 10) return null
    this.pos++
    const isAll = this.size() + this.pos === end
    const start = this.pos
    this.pos = isAll ? end : at
    return isAll ? new TextBytes(this.buf, start, end) : null
  }
}

/** Microseconds beyond 2^53 (year 2255) are the nearest double. */
export function nanosOfLong(long: LongHalves): Nanos {
  const low = long.low >>> 0
  const high = long.high >>> 0
  if (high >= 2 ** 31) {
    const nanos = (BigInt(high) << 32n) | BigInt(low)
    return { us: Number(nanos / 1000n), rest: Number(nanos % 1000n) }
  }
  // 2^32 = 4294967 * 1000 + 296
  const rest = high * 296 + low
  return { us: high * 4294967 + Math.floor(rest / 1000), rest: rest % 1000 }
}

type Counted<Message> = MessageDecoder<Message, OtlpReader>

const common = opentelemetry.proto.common.v1
const trace = opentelemetry.proto.trace.v1

/** Each message of these types takes memory as soon as it is decoded: a few bytes may stand for one. */
const costs: readonly [MessageDecoder<object>, number][] = [
  [common.KeyValue as MessageDecoder<object>, cost.member],
  [common.KeyValueList as MessageDecoder<object>, cost.map],
  [trace.Span.Event as MessageDecoder<object>, cost.message],
  [trace.Span.Link as MessageDecoder<object>, cost.message],
]
for (const [type, bytes] of costs as readonly [Counted<object>, number][]) {
  const { decode } = type
  type.decode = (reader, length, end, depth, target) => {
    spend(reader.budget, bytes)
    return decode(reader, length, end, depth, target)
  }
}

// A value that lies too deep becomes null, and its item is kept.
const value = common.AnyValue as Counted<ValueMessage>
const { decode: decodeValue } = value
value.decode = (reader, length, end, _depth, target) => {
  spend(reader.budget, cost.item)
  const valueEnd = reader.pos + length
  if (valueEnd > reader.len) throw new RangeError()
  if (reader.depth === maxValueDepth) {
    reader.faults = withFault(reader.faults, 'depth', deepText)
    reader.pos = valueEnd
    return target?.value ? target : Object.assign(target ?? new value(), { value: 'tooDeep' as const })
  }
  const text = reader.keepsBytes && reader.depth === 0 ? reader.textBytes(valueEnd) : null
  if (text !== null) return Object.assign(target ?? new value(), { value: 'stringValue', stringValue: text })
  reader.depth++
  const decoded = decodeValue(reader, length, end, 0, target)
  reader.depth--
  return decoded
}

export const types = {
  scope: common.InstrumentationScope as Counted<ScopeMessage>,
  resource: opentelemetry.proto.resource.v1.Resource as Counted<ResourceMessage>,
  span: trace.Span as Counted<SpanMessage>,
  logRecord: opentelemetry.proto.logs.v1.LogRecord as Counted<LogRecordMessage>,
}
