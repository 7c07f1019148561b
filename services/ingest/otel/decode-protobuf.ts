// Decodes requests with spans or log records from protobuf: messages of protobufjs become what the mapping reads.

import type { TextBytes } from '../../events/logs.ts'
import { cost, type DecodeBudget, spend } from './budget.ts'
import type {
  AttributeMessage,
  EventMessage,
  LinkMessage,
  LogRecordMessage,
  SpanMessage,
  ValueMessage,
} from './messages.mjs'
import { nanosOfLong, OtlpReader, types } from './protobuf-reader.ts'
import type { Attributes, LogAttributes, OtlpEvent, OtlpLink, OtlpLogRecord, OtlpResource, OtlpSpan } from './spans.ts'
import {
  DecodeError,
  exactNanosText,
  finite,
  newLogRecord,
  newResource,
  newScoped,
  newSpan,
  UnreadableItem,
} from './spans.ts'
import type { Branch, Value } from './values.ts'

/** undefined = no value is set. */
function valueIn(any: ValueMessage | null): Value | TextBytes | undefined {
  switch (any?.value) {
    case 'stringValue':
      return any.stringValue
    case 'boolValue':
      return any.boolValue
    case 'intValue':
      return any.intValue
    case 'doubleValue':
      return finite(any.doubleValue)
    case 'arrayValue':
      return any.arrayValue.values.map((item) => (valueIn(item) as Value | undefined) ?? null)
    case 'kvlistValue': {
      const branch: Branch = new Map()
      for (const { key, value } of any.kvlistValue.values) {
        const member = valueIn(value) as Value | undefined
        if (member !== undefined) branch.set(key, member)
      }
      return branch
    }
    case 'bytesValue':
      return any.bytesValue.toString('base64')
    case 'tooDeep':
      return null
    default:
      return undefined
  }
}

function attributesOf(list: readonly AttributeMessage[]): LogAttributes {
  const attributes: LogAttributes = { keys: [], values: [] }
  for (const { key, value } of list) {
    const found = valueIn(value)
    if (found === undefined) continue
    attributes.keys.push(key)
    attributes.values.push(found)
  }
  return attributes
}

const textsOf = (list: readonly AttributeMessage[]): Attributes => attributesOf(list) as Attributes

const hex = (bytes: Buffer): string => (bytes.length === 0 ? '' : bytes.toString('hex'))

const eventOf = ({ timeUnixNano, name, attributes, droppedAttributesCount }: EventMessage): OtlpEvent => ({
  time: exactNanosText(nanosOfLong(timeUnixNano)),
  name,
  attributes: textsOf(attributes),
  dropped: droppedAttributesCount,
})

const linkOf = ({ traceId, spanId, traceState, attributes, droppedAttributesCount, flags }: LinkMessage): OtlpLink => ({
  traceId: hex(traceId),
  spanId: hex(spanId),
  traceState,
  attributes: textsOf(attributes),
  dropped: droppedAttributesCount,
  flags,
})

function spanOf(message: SpanMessage, { budget, faults }: OtlpReader): OtlpSpan {
  const span = newSpan(budget)
  span.traceId = hex(message.traceId)
  span.spanId = hex(message.spanId)
  span.traceState = message.traceState
  span.parentSpanId = hex(message.parentSpanId)
  span.name = message.name
  span.kind = message.kind >>> 0
  span.start = nanosOfLong(message.startTimeUnixNano)
  span.end = nanosOfLong(message.endTimeUnixNano)
  span.attributes = textsOf(message.attributes)
  span.events = message.events.map(eventOf)
  span.links = message.links.map(linkOf)
  span.statusCode = (message.status?.code ?? 0) >>> 0
  span.statusMessage = message.status?.message ?? ''
  span.faults = faults
  return span
}

function recordOf(message: LogRecordMessage, { budget, faults }: OtlpReader): OtlpLogRecord {
  const record = newLogRecord(budget)
  record.time = nanosOfLong(message.timeUnixNano)
  record.observed = nanosOfLong(message.observedTimeUnixNano)
  record.traceId = hex(message.traceId)
  record.spanId = hex(message.spanId)
  record.severity = message.severityNumber >>> 0
  record.severityText = message.severityText
  record.eventName = message.eventName
  record.body = valueIn(message.body)
  record.attributes = attributesOf(message.attributes)
  record.faults = faults
  return record
}

/** protobufjs throws nothing but these two for what it cannot read. */
const isUnreadable = (error: unknown): error is Error =>
  error instanceof Error && (error.constructor === Error || error.constructor === RangeError)

const reasonOf = (error: Error): string =>
  error instanceof RangeError ? 'the message ends inside a field' : error.message

type ItemDecoder<Item> = (reader: OtlpReader) => Item

const decodeSpan: ItemDecoder<OtlpSpan> = (reader) => {
  reader.begin()
  return spanOf(types.span.decode(reader, reader.size()), reader)
}
const decodeRecord: ItemDecoder<OtlpLogRecord> = (reader) => {
  reader.begin({ keepsBytes: true })
  return recordOf(types.logRecord.decode(reader, reader.size()), reader)
}

/** Items that are decoded as they are asked for, so that those of a large body are not all in memory at once. */
class LaterItems<Item> implements Iterable<Item | UnreadableItem> {
  private readonly reader: OtlpReader
  private readonly item: ItemDecoder<Item>
  private readonly starts: number[] = []
  constructor(reader: OtlpReader, item: ItemDecoder<Item>) {
    this.reader = reader
    this.item = item
  }
  get length(): number {
    return this.starts.length
  }
  /** Passes over an item. */
  pass(): void {
    spend(this.reader.budget, cost.item)
    this.starts.push(this.reader.pos)
    this.reader.pos = this.reader.fieldEnd()
  }
  *[Symbol.iterator](): Generator<Item | UnreadableItem> {
    const { reader } = this
    for (const start of this.starts) {
      reader.pos = start
      reader.len = reader.buf.length
      yield this.readable()
    }
  }
  private readable(): Item | UnreadableItem {
    try {
      return this.item(this.reader)
    } catch (error) {
      if (isUnreadable(error)) return new UnreadableItem(reasonOf(error))
      throw error
    }
  }
}

const [first, second] = [10, 18]

function scopeOf<Item>(reader: OtlpReader, item: ItemDecoder<Item>) {
  const items = new LaterItems(reader, item)
  const decoded = { ...newScoped<Item>(reader.budget), items }
  let scope: InstanceType<typeof types.scope> | undefined
  reader.message((tag) => {
    if (tag === first) scope = types.scope.decode(reader, reader.size(), undefined, 0, scope)
    else if (tag === second) items.pass()
    else return false
    return true
  })
  if (scope !== undefined)
    decoded.scope = { name: scope.name, version: scope.version, attributes: textsOf(scope.attributes) }
  return decoded
}

function resourceOf<Item>(reader: OtlpReader, item: ItemDecoder<Item>): OtlpResource<Item> {
  const decoded = newResource<Item>(reader.budget)
  reader.begin()
  let resource: InstanceType<typeof types.resource> | undefined
  reader.message((tag) => {
    if (tag === first) resource = types.resource.decode(reader, reader.size(), undefined, 0, resource)
    else if (tag === second) decoded.scopes.push(scopeOf(reader, item))
    else return false
    return true
  })
  if (resource !== undefined) {
    decoded.resource = textsOf(resource.attributes)
    decoded.droppedResource = resource.droppedAttributesCount
  }
  decoded.faults = reader.faults
  return decoded
}

function decode<Item>(reader: OtlpReader, item: ItemDecoder<Item>): OtlpResource<Item>[] {
  const decoded: OtlpResource<Item>[] = []
  try {
    reader.fields((tag) => {
      if (tag !== first) return false
      decoded.push(resourceOf(reader, item))
      return true
    })
  } catch (error) {
    throw isUnreadable(error) ? new DecodeError(reasonOf(error)) : error
  }
  return decoded
}

/**
 * ExportTraceServiceRequest.
 * @throws DecodeError for bytes that are no such message, 413 over the budget
 */
export const decodeProtobuf = (bytes: Buffer, budget: DecodeBudget): OtlpResource<OtlpSpan>[] =>
  decode(new OtlpReader(bytes, budget), decodeSpan)

/** ExportLogsServiceRequest, which has the same frame. */
export const decodeLogsProtobuf = (bytes: Buffer, budget: DecodeBudget): OtlpResource<OtlpLogRecord>[] =>
  decode(new OtlpReader(bytes, budget), decodeRecord)
