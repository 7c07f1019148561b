// Decodes requests with spans or log records from protobuf (schemas/otlp); tags are field number * 8 + wire type.

import { TextBytes } from '../../events/logs.ts'
import { cost, type DecodeBudget, spend } from './budget.ts'
import { noted } from './faults.ts'
import type {
  Attributes,
  LogAttributes,
  OtlpEvent,
  OtlpLink,
  OtlpLogRecord,
  OtlpResource,
  OtlpScoped,
  OtlpSpan,
} from './spans.ts'
import {
  addAttribute,
  addItem,
  DecodeError,
  deepText,
  finite,
  maxValueDepth,
  newEvent,
  newLink,
  newLogRecord,
  newMap,
  newResource,
  newScoped,
  newSpan,
  setMember,
  UnreadableItem,
} from './spans.ts'
import type { Branch, Value } from './values.ts'
import { WireReader } from './wire.ts'

/** undefined = no value is set. */
function anyValue(reader: WireReader, depth: number, before?: Value): Value | undefined {
  if (depth > maxValueDepth) {
    reader.faults = noted(reader.faults, 'depth', deepText)
    reader.passOver()
    return before
  }
  const outer = reader.enter()
  let value = before
  while (reader.position < reader.end) {
    const tag = reader.tag()
    switch (tag) {
      case 10:
        value = reader.string()
        break
      case 16:
        value = reader.bool()
        break
      case 24:
        value = reader.int64()
        break
      case 33:
        value = finite(reader.double())
        break
      case 42:
        value = arrayValue(reader, depth, Array.isArray(value) ? value : [])
        break
      case 50:
        value = keyValueList(reader, depth, value instanceof Map ? value : newMap(reader.budget))
        break
      case 58:
        value = reader.base64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.leave(outer)
  return value
}

function arrayValue(reader: WireReader, depth: number, items: Value[]): Value[] {
  const outer = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === 10) addItem(items, anyValue(reader, depth + 1) ?? null, reader.budget)
    else reader.skip(tag)
  }
  reader.leave(outer)
  return items
}

function keyValueList(reader: WireReader, depth: number, branch: Branch): Branch {
  const outer = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag !== 10) {
      reader.skip(tag)
      continue
    }
    const inner = reader.enter()
    let key = ''
    let value: Value | undefined
    while (reader.position < reader.end) {
      const field = reader.tag()
      if (field === 10) key = reader.key()
      else if (field === 18) value = anyValue(reader, depth + 1, value)
      else reader.skip(field)
    }
    reader.leave(inner)
    if (value !== undefined) setMember(branch, key, value, reader.budget)
  }
  reader.leave(outer)
  return branch
}

function attribute(reader: WireReader, into: Attributes): void {
  const outer = reader.enter()
  let key = ''
  let value: Value | undefined
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === 10) key = reader.key()
    else if (tag === 18) value = anyValue(reader, 1, value)
    else reader.skip(tag)
  }
  reader.leave(outer)
  if (value !== undefined) addAttribute(into, key, value, reader.budget)
}

/** Shorter texts are decoded at once. */
const leastTextBytes = 128

/** A value that is nothing but a long text, as bytes of the body; null and nothing read of any other. */
function textBytes(reader: WireReader): TextBytes | null {
  const at = reader.position
  const valueEnd = reader.length() + reader.position
  if (valueEnd - reader.position > leastTextBytes && reader.bytes[reader.position] === 10) {
    reader.position++
    const length = reader.length()
    const start = reader.position
    if (start + length === valueEnd) {
      reader.position = valueEnd
      return new TextBytes(reader.bytes, start, valueEnd)
    }
  }
  reader.position = at
  return null
}

/** As `anyValue`, but long texts stay bytes. */
const logValue = (reader: WireReader, before: Value | TextBytes | undefined): Value | TextBytes | undefined =>
  textBytes(reader) ?? anyValue(reader, 1, before instanceof TextBytes ? before.text() : before)

function logAttribute(reader: WireReader, into: LogAttributes): void {
  const outer = reader.enter()
  let key = ''
  let value: Value | TextBytes | undefined
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === 10) key = reader.key()
    else if (tag === 18) value = logValue(reader, value)
    else reader.skip(tag)
  }
  reader.leave(outer)
  if (value !== undefined) addAttribute(into, key, value, reader.budget)
}

function event(reader: WireReader): OtlpEvent {
  const decoded = newEvent(reader.budget)
  const outer = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === 9) decoded.time = reader.fixed64Text()
    else if (tag === 18) decoded.name = reader.key()
    else if (tag === 26) attribute(reader, decoded.attributes)
    else if (tag === 32) decoded.dropped = reader.uint32()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return decoded
}

function link(reader: WireReader): OtlpLink {
  const decoded = newLink(reader.budget)
  const outer = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === 10) decoded.traceId = reader.hex()
    else if (tag === 18) decoded.spanId = reader.hex()
    else if (tag === 26) decoded.traceState = reader.string()
    else if (tag === 34) attribute(reader, decoded.attributes)
    else if (tag === 40) decoded.dropped = reader.uint32()
    else if (tag === 53) decoded.flags = reader.fixed32()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return decoded
}

function status(reader: WireReader, decoded: OtlpSpan): void {
  const outer = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === 18) decoded.statusMessage = reader.string()
    else if (tag === 24) decoded.statusCode = reader.uint32()
    else reader.skip(tag)
  }
  reader.leave(outer)
}

function span(reader: WireReader): OtlpSpan {
  const decoded = newSpan(reader.budget)
  reader.faults = null
  const outer = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    switch (tag) {
      case 10:
        decoded.traceId = reader.hex()
        break
      case 18:
        decoded.spanId = reader.hex()
        break
      case 26:
        decoded.traceState = reader.string()
        break
      case 34:
        decoded.parentSpanId = reader.hex()
        break
      case 42:
        decoded.name = reader.key()
        break
      case 48:
        decoded.kind = reader.uint32()
        break
      case 57:
        decoded.start = reader.nanos()
        break
      case 65:
        decoded.end = reader.nanos()
        break
      case 74:
        attribute(reader, decoded.attributes)
        break
      case 90:
        decoded.events.push(event(reader))
        break
      case 106:
        decoded.links.push(link(reader))
        break
      case 122:
        status(reader, decoded)
        break
      default:
        reader.skip(tag)
    }
  }
  reader.leave(outer)
  decoded.faults = reader.faults
  return decoded
}

function logRecord(reader: WireReader): OtlpLogRecord {
  const decoded = newLogRecord(reader.budget)
  reader.faults = null
  const outer = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    switch (tag) {
      case 9:
        decoded.time = reader.nanos()
        break
      case 16:
        decoded.severity = reader.uint32()
        break
      case 26:
        decoded.severityText = reader.key()
        break
      case 42:
        decoded.body = logValue(reader, decoded.body)
        break
      case 50:
        logAttribute(reader, decoded.attributes)
        break
      case 74:
        decoded.traceId = reader.hex()
        break
      case 82:
        decoded.spanId = reader.hex()
        break
      case 89:
        decoded.observed = reader.nanos()
        break
      case 98:
        decoded.eventName = reader.key()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.leave(outer)
  decoded.faults = reader.faults
  return decoded
}

/** Items that are decoded as they are asked for, so that those of a large body are not all in memory at once. */
class LaterItems<Item> implements Iterable<Item | UnreadableItem> {
  private readonly reader: WireReader
  private readonly item: ItemDecoder<Item>
  private readonly starts: number[] = []
  constructor(reader: WireReader, item: ItemDecoder<Item>) {
    this.reader = reader
    this.item = item
  }
  get length(): number {
    return this.starts.length
  }
  /** Passes over an item. */
  pass(): void {
    spend(this.reader.budget, cost.item)
    this.starts.push(this.reader.position)
    this.reader.passOver()
  }
  *[Symbol.iterator](): Generator<Item | UnreadableItem> {
    const { reader } = this
    for (const start of this.starts) {
      reader.position = start
      reader.end = reader.bytes.length
      yield this.readable()
    }
  }
  private readable(): Item | UnreadableItem {
    try {
      return this.item(this.reader)
    } catch (error) {
      if (error instanceof DecodeError) return new UnreadableItem(error.message)
      throw error
    }
  }
}

type ItemDecoder<Item> = (reader: WireReader) => Item

function scoped<Item>(reader: WireReader, item: ItemDecoder<Item>): OtlpScoped<Item> {
  const items = new LaterItems(reader, item)
  const decoded: OtlpScoped<Item> = { ...newScoped<Item>(reader.budget), items }
  const outer = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === 10) {
      const around = reader.enter()
      while (reader.position < reader.end) {
        const field = reader.tag()
        if (field === 10) decoded.scope.name = reader.key()
        else if (field === 18) decoded.scope.version = reader.key()
        else if (field === 26) attribute(reader, decoded.scope.attributes)
        else reader.skip(field)
      }
      reader.leave(around)
    } else if (tag === 18) items.pass()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return decoded
}

function resource<Item>(reader: WireReader, item: (reader: WireReader) => Item): OtlpResource<Item> {
  const decoded = newResource<Item>(reader.budget)
  reader.faults = null
  const outer = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === 10) {
      const around = reader.enter()
      while (reader.position < reader.end) {
        const field = reader.tag()
        if (field === 10) attribute(reader, decoded.resource)
        else if (field === 16) decoded.droppedResource = reader.uint32()
        else reader.skip(field)
      }
      reader.leave(around)
    } else if (tag === 18) decoded.scopes.push(scoped(reader, item))
    else reader.skip(tag)
  }
  reader.leave(outer)
  decoded.faults = reader.faults
  return decoded
}

function decode<Item>(bytes: Buffer, budget: DecodeBudget, item: (reader: WireReader) => Item): OtlpResource<Item>[] {
  const reader = new WireReader(bytes, budget)
  const decoded: OtlpResource<Item>[] = []
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === 10) decoded.push(resource(reader, item))
    else reader.skip(tag)
  }
  if (reader.position !== bytes.length) throw new DecodeError('the message ends inside a field')
  return decoded
}

/**
 * ExportTraceServiceRequest.
 * @throws DecodeError for bytes that are no such message, 413 over the budget
 */
export const decodeProtobuf = (bytes: Buffer, budget: DecodeBudget): OtlpResource<OtlpSpan>[] =>
  decode(bytes, budget, span)

/** ExportLogsServiceRequest, which has the same frame. */
export const decodeLogsProtobuf = (bytes: Buffer, budget: DecodeBudget): OtlpResource<OtlpLogRecord>[] =>
  decode(bytes, budget, logRecord)
