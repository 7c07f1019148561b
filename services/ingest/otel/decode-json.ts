// Decodes OTLP/JSON: hex ids, the lists of a request, and what it says of its items.

import { TooLongHere, tooLarge } from '../../core/errors.ts'
import { Fault } from '../../core/http/errors.ts'
import { parseJson } from '../../core/http/json-check.ts'
import { containerBytes, type DecodeBudget, measureJson, withoutDepth } from './budget.ts'
import { createFields, field, isMembers, type JsonMembers, NeedsToken } from './json-fields.ts'
import { readAttributes, readValue } from './json-values.ts'
import type { OtlpEvent, OtlpLink, OtlpLogRecord, OtlpResource, OtlpScoped, OtlpSpan } from './spans.ts'
import {
  DecodeError,
  newEvent,
  newLink,
  newLogRecord,
  newResource,
  newScoped,
  newSpan,
  UnreadableItem,
} from './spans.ts'
import { parseExact } from './values.ts'

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map((name) => `SPAN_KIND_${name}`)
const severities = [
  'SEVERITY_NUMBER_UNSPECIFIED',
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name) =>
    ['', '2', '3', '4'].map((more) => `SEVERITY_NUMBER_${name}${more}`),
  ),
]
const statusCodes = ['UNSET', 'OK', 'ERROR'].map((name) => `STATUS_CODE_${name}`)

/** Decodes with the state of one body: whether its strings need repair, and whether its numbers are exact. */
function createDecoder(mayHoldSurrogates: boolean, isExact: boolean, budget: DecodeBudget) {
  const fields = createFields(mayHoldSurrogates, isExact)
  const { state, text, listOf, objectOf, uint32, enumOf, nanosText, nanos } = fields
  const reading = { ...fields, isExact, budget }

  const id = (value: unknown, name: string): string => text(value, name).toLowerCase()

  const dropped = (object: JsonMembers): number =>
    uint32(field(object, 'droppedAttributesCount', 'dropped_attributes_count'), 'droppedAttributesCount')

  function event(value: unknown): OtlpEvent {
    const object = objectOf(value, 'an event')
    const decoded = newEvent(budget)
    decoded.time = nanosText(field(object, 'timeUnixNano', 'time_unix_nano'), 'timeUnixNano')
    decoded.name = text(object.name, 'name')
    readAttributes(reading, object.attributes, decoded.attributes)
    decoded.dropped = dropped(object)
    return decoded
  }

  function link(value: unknown): OtlpLink {
    const object = objectOf(value, 'a link')
    const decoded = newLink(budget)
    decoded.traceId = id(field(object, 'traceId', 'trace_id'), 'traceId')
    decoded.spanId = id(field(object, 'spanId', 'span_id'), 'spanId')
    decoded.traceState = text(field(object, 'traceState', 'trace_state'), 'traceState')
    readAttributes(reading, object.attributes, decoded.attributes)
    decoded.dropped = dropped(object)
    decoded.flags = uint32(object.flags, 'flags')
    return decoded
  }

  function span(object: JsonMembers): OtlpSpan {
    const decoded = newSpan(budget)
    decoded.traceId = id(field(object, 'traceId', 'trace_id'), 'traceId')
    decoded.spanId = id(field(object, 'spanId', 'span_id'), 'spanId')
    decoded.traceState = text(field(object, 'traceState', 'trace_state'), 'traceState')
    decoded.parentSpanId = id(field(object, 'parentSpanId', 'parent_span_id'), 'parentSpanId')
    decoded.name = text(object.name, 'name')
    decoded.kind = enumOf(object.kind, kinds, 'kind')
    decoded.start = nanos(field(object, 'startTimeUnixNano', 'start_time_unix_nano'), 'startTimeUnixNano')
    decoded.end = nanos(field(object, 'endTimeUnixNano', 'end_time_unix_nano'), 'endTimeUnixNano')
    readAttributes(reading, object.attributes, decoded.attributes)
    decoded.events = listOf(object.events, 'events').map(event)
    decoded.links = listOf(object.links, 'links').map(link)
    const status = objectOf(object.status, 'status')
    decoded.statusCode = enumOf(status.code, statusCodes, 'code')
    decoded.statusMessage = text(status.message, 'message')
    return decoded
  }

  function logRecord(object: JsonMembers): OtlpLogRecord {
    const decoded = newLogRecord(budget)
    decoded.time = nanos(field(object, 'timeUnixNano', 'time_unix_nano'), 'timeUnixNano')
    decoded.observed = nanos(field(object, 'observedTimeUnixNano', 'observed_time_unix_nano'), 'observedTimeUnixNano')
    decoded.traceId = id(field(object, 'traceId', 'trace_id'), 'traceId')
    decoded.spanId = id(field(object, 'spanId', 'span_id'), 'spanId')
    decoded.severity = enumOf(field(object, 'severityNumber', 'severity_number'), severities, 'severityNumber')
    decoded.severityText = text(field(object, 'severityText', 'severity_text'), 'severityText')
    decoded.eventName = text(field(object, 'eventName', 'event_name'), 'eventName')
    decoded.body = readValue(reading, object.body, 1)
    readAttributes(reading, object.attributes, decoded.attributes)
    return decoded
  }

  const decoders = { spans: span, logRecords: logRecord }

  function item(decode: (object: JsonMembers) => OtlpSpan | OtlpLogRecord, value: unknown): unknown {
    if (!isMembers(value)) return new UnreadableItem('it is no object')
    state.faults = null
    const decoded = decode(value)
    decoded.faults = state.faults
    return decoded
  }

  function scoped<Item>({ scopes, items: name }: Frame, value: unknown, found: OtlpResource<Item>): OtlpScoped<Item> {
    state.faults = found.faults
    const object = objectOf(value, scopes[0])
    const decoded = newScoped<Item>(budget)
    const scope = objectOf(object.scope, 'scope')
    decoded.scope.name = text(scope.name, 'name')
    decoded.scope.version = text(scope.version, 'version')
    readAttributes(reading, scope.attributes, decoded.scope.attributes)
    const list = listOf(field(object, ...name), name[0])
    found.faults = state.faults
    decoded.items = list.map((one) => item(decoders[name[0]], one)) as (Item | UnreadableItem)[]
    return decoded
  }

  return function resource<Item>(frame: Frame, value: unknown): OtlpResource<Item> {
    state.faults = null
    const object = objectOf(value, frame.resources[0])
    const resource = objectOf(object.resource, 'resource')
    const decoded = newResource<Item>(budget)
    readAttributes(reading, resource.attributes, decoded.resource)
    decoded.droppedResource = dropped(resource)
    const list = listOf(field(object, ...frame.scopes), frame.scopes[0])
    decoded.faults = state.faults
    decoded.scopes = list.map((one) => scoped<Item>(frame, one, decoded))
    return decoded
  }
}

/** Names of the lists on the way to the items of a request, in both spellings. */
type Frame = {
  resources: [camel: string, snake: string]
  scopes: [camel: string, snake: string]
  items: [camel: 'spans' | 'logRecords', snake: string]
}
const spanFrame: Frame = {
  resources: ['resourceSpans', 'resource_spans'],
  scopes: ['scopeSpans', 'scope_spans'],
  items: ['spans', 'spans'],
}
const logFrame: Frame = {
  resources: ['resourceLogs', 'resource_logs'],
  scopes: ['scopeLogs', 'scope_logs'],
  items: ['logRecords', 'log_records'],
}

const byteOrderMark = (bytes: Buffer): number => (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)

function decode<Item>(
  frame: Frame,
  body: unknown,
  mayHoldSurrogates: boolean,
  isExact: boolean,
  budget: DecodeBudget,
): OtlpResource<Item>[] {
  if (!isMembers(body)) throw new DecodeError('the body is no object')
  const list = field(body, ...frame.resources) ?? []
  const resources = isMembers(list) ? [list] : list
  if (!Array.isArray(resources)) throw new DecodeError(`${frame.resources[0]} is no list`)
  const resource = createDecoder(mayHoldSurrogates, isExact, budget)
  return resources.map((one) => resource<Item>(frame, one))
}

/** JSON of so many bytes, or of so many lists, objects and commas, is parsed within some 25 ms. */
export const shortBytes = 192 * 1024
const maxNodesHere = 25_000

/** Parsing with exact numbers takes so many times the memory, and thirty times the time. */
const exactTimes = 3

/** The parsed body may take as much again as what is decoded from it. @throws 413, and TooLongHere for its time */
function checkParsed(bytes: Buffer, times: number, budget: DecodeBudget): void {
  const isShort = budget.kept === 0 || bytes.length <= shortBytes
  if (isShort && bytes.length * containerBytes * times <= budget.left) return
  const measured = measureJson(bytes.toString('latin1'))
  if (!isShort && measured.parts * times > maxNodesHere) throw new TooLongHere()
  if (measured.bytes * times > budget.left) throw tooLarge()
}

/** The body as JSON; where it nests deeper than that, what lies deeper is null. */
function parsed(bytes: Buffer, maxDepth: number): { body: unknown; read: Buffer } {
  try {
    return { body: parseJson(bytes, maxDepth), read: bytes }
  } catch (error) {
    if (error instanceof Fault && error.status === 422) throw new DecodeError('malformed JSON')
    if (measureJson(bytes.toString('latin1')).depth <= maxDepth) throw error
  }
  const read = withoutDepth(bytes, maxDepth)
  return { body: parsed(read, maxDepth).body, read }
}

function decodeFrame<Item>(frame: Frame, bytes: Buffer, maxDepth: number, budget: DecodeBudget): OtlpResource<Item>[] {
  const mayHoldSurrogates = bytes.includes('\\ud') || bytes.includes('\\uD')
  const { left } = budget
  checkParsed(bytes, 1, budget)
  const { body, read } = parsed(bytes, maxDepth)
  try {
    return decode(frame, body, mayHoldSurrogates, false, budget)
  } catch (error) {
    if (!(error instanceof NeedsToken)) throw error
  }
  budget.left = left
  checkParsed(bytes, exactTimes, budget)
  return decode(frame, parseExact(read.toString('utf8', byteOrderMark(read))), mayHoldSurrogates, true, budget)
}

/**
 * A request with spans.
 * @throws DecodeError for text that is no such request, 413 for a body that takes more than the budget
 */
export const decodeJson = (bytes: Buffer, maxDepth: number, budget: DecodeBudget): OtlpResource<OtlpSpan>[] =>
  decodeFrame(spanFrame, bytes, maxDepth, budget)

/** A request with log records. */
export const decodeLogsJson = (bytes: Buffer, maxDepth: number, budget: DecodeBudget): OtlpResource<OtlpLogRecord>[] =>
  decodeFrame(logFrame, bytes, maxDepth, budget)
