// Decodes OTLP/JSON: hex ids, 64-bit integers as text or number, enums as number or name, both spellings of names.

import { TooLongHere, tooLarge } from '../../core/errors.ts'
import { Fault } from '../../core/http/errors.ts'
import { parseJson } from '../../core/http/json-check.ts'
import { isRawNumber } from '../../core/json/lossless.ts'
import { containerBytes, type DecodeBudget, measureJson } from './budget.ts'
import type {
  LogAttributes,
  Nanos,
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
  finite,
  maxValueDepth,
  nanosOf,
  newEvent,
  newLink,
  newLogRecord,
  newMap,
  newResource,
  newScoped,
  newSpan,
  setMember,
  TooDeep,
} from './spans.ts'
import { type Branch, parseExact, type Value } from './values.ts'

type Json = Record<string, unknown>

/** Thrown when a number needs its token: the body is parsed again with exact numbers. */
class NeedsToken extends Error {}

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map((name) => `SPAN_KIND_${name}`)
const severities = [
  'SEVERITY_NUMBER_UNSPECIFIED',
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name) =>
    ['', '2', '3', '4'].map((more) => `SEVERITY_NUMBER_${name}${more}`),
  ),
]
const statusCodes = ['UNSET', 'OK', 'ERROR'].map((name) => `STATUS_CODE_${name}`)

const wrong = (field: string, expected: string): DecodeError => new DecodeError(`${field} must be ${expected}`)

/** Field by its camel case or its snake case name; null counts as absent. */
function field(object: Json, camel: string, snake: string): unknown {
  const value = object[camel]
  return value === undefined || value === null ? (object[snake] ?? undefined) : value
}

function objectOf(value: unknown, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawNumber(value))
    throw wrong(name, 'an object')
  return value as Json
}

function listOf(value: unknown, name: string): unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw wrong(name, 'a list')
  return value
}

const isUnsafe = (value: unknown): boolean => typeof value === 'number' && !Number.isSafeInteger(value)

/** Decodes with the state of one body: whether its strings need repair, and whether its numbers are exact. */
function createDecoder(mayHoldSurrogates: boolean, isExact: boolean, budget: DecodeBudget) {
  function text(value: unknown, name: string): string {
    if (value === undefined || value === null) return ''
    if (typeof value !== 'string') throw wrong(name, 'a string')
    return mayHoldSurrogates ? value.toWellFormed() : value
  }

  /** Decimal text of an integer that may have come as number or text. */
  function integerText(value: unknown, name: string): string {
    if (typeof value === 'string') return value
    if (isRawNumber(value)) {
      const number = Number(value.rawJSON)
      if (/^-?\d+$/.test(value.rawJSON)) return value.rawJSON
      if (Number.isSafeInteger(number)) return String(number)
    } else if (typeof value === 'number') {
      if (!isUnsafe(value)) return String(value)
      if (!isExact) throw new NeedsToken()
      // Sent just as it prints: digits, a fraction or an exponent.
      if (/^-?\d+$/.test(String(value))) return String(value)
    }
    throw wrong(name, 'an integer')
  }

  function int64(value: unknown, name: string): number | bigint {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
    const digits = integerText(value, name).trim()
    if (!/^[+-]?\d{1,20}$/.test(digits)) throw wrong(name, 'a 64-bit integer')
    const number = Number(digits)
    if (Number.isSafeInteger(number)) return number
    const exact = BigInt(digits)
    if (BigInt.asIntN(64, exact) !== exact) throw wrong(name, 'a 64-bit integer')
    return exact
  }

  function uint32(value: unknown, name: string): number {
    if (value === undefined || value === null) return 0
    const number = int64(value, name)
    if (number < 0 || number > 0xffffffff) throw wrong(name, 'an unsigned 32-bit integer')
    return Number(number)
  }

  function enumOf(value: unknown, names: string[], name: string): number {
    if (value === undefined || value === null) return 0
    if (typeof value === 'string' && !/^-?\d+$/.test(value)) return Math.max(0, names.indexOf(value))
    return Number(int64(value, name))
  }

  function nanosText(value: unknown, name: string): string {
    if (value === undefined || value === null || value === '') return '0'
    const digits = integerText(value, name)
    if (nanosOf(digits) === null || BigInt(digits) > 0xffffffffffffffffn) throw wrong(name, 'unsigned nanoseconds')
    return digits.length > 1 && digits.startsWith('0') ? String(BigInt(digits)) : digits
  }

  function nanos(value: unknown, name: string): Nanos {
    return nanosOf(nanosText(value, name)) as Nanos
  }

  function double(value: unknown): number | string {
    if (typeof value === 'number') return finite(value)
    if (isRawNumber(value)) return finite(Number(value.rawJSON))
    if (typeof value === 'string') {
      if (value === 'NaN') return 'nan'
      const number = value.trim() === '' ? Number.NaN : Number(value)
      if (!Number.isNaN(number)) return finite(number)
    }
    throw wrong('doubleValue', 'a number')
  }

  function base64(value: unknown): string {
    const encoded = text(value, 'bytesValue')
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(encoded)) throw wrong('bytesValue', 'base64')
    return Buffer.from(encoded, 'base64').toString('base64')
  }

  /** undefined = no value is set. */
  function anyValue(value: unknown, depth: number): Value | undefined {
    if (value === undefined || value === null) return undefined
    if (depth > maxValueDepth) throw new TooDeep('attribute values nest too deep')
    const object = objectOf(value, 'value')
    for (const key in object) {
      const content = object[key]
      if (content === null) continue
      switch (key) {
        case 'stringValue':
        case 'string_value':
          return text(content, key)
        case 'intValue':
        case 'int_value':
          return int64(content, key)
        case 'boolValue':
        case 'bool_value':
          if (typeof content !== 'boolean') throw wrong(key, 'a boolean')
          return content
        case 'doubleValue':
        case 'double_value':
          return double(content)
        case 'arrayValue':
        case 'array_value':
          return arrayValue(listOf(objectOf(content, key).values, 'values'), depth)
        case 'kvlistValue':
        case 'kvlist_value':
          return branch(listOf(objectOf(content, key).values, 'values'), depth)
        case 'bytesValue':
        case 'bytes_value':
          return base64(content)
      }
    }
    return undefined
  }

  function arrayValue(entries: unknown[], depth: number): Value[] {
    const items: Value[] = []
    for (const entry of entries) addItem(items, anyValue(entry, depth + 1) ?? null, budget)
    return items
  }

  function branch(entries: unknown[], depth: number): Branch {
    const decoded = newMap(budget)
    for (const entry of entries) {
      const object = objectOf(entry, 'values')
      const value = anyValue(object.value, depth + 1)
      if (value !== undefined) setMember(decoded, text(object.key, 'key'), value, budget)
    }
    return decoded
  }

  function attributes(value: unknown, into: LogAttributes): void {
    for (const entry of listOf(value, 'attributes')) {
      const object = objectOf(entry, 'attributes')
      const item = anyValue(object.value, 1)
      if (item !== undefined) addAttribute(into, text(object.key, 'key'), item, budget)
    }
  }

  const id = (value: unknown, name: string): string => text(value, name).toLowerCase()

  const dropped = (object: Json): number =>
    uint32(field(object, 'droppedAttributesCount', 'dropped_attributes_count'), 'droppedAttributesCount')

  function event(value: unknown): OtlpEvent {
    const object = objectOf(value, 'events')
    const decoded = newEvent(budget)
    decoded.time = nanosText(field(object, 'timeUnixNano', 'time_unix_nano'), 'timeUnixNano')
    decoded.name = text(object.name, 'name')
    attributes(object.attributes, decoded.attributes)
    decoded.dropped = dropped(object)
    return decoded
  }

  function link(value: unknown): OtlpLink {
    const object = objectOf(value, 'links')
    const decoded = newLink(budget)
    decoded.traceId = id(field(object, 'traceId', 'trace_id'), 'traceId')
    decoded.spanId = id(field(object, 'spanId', 'span_id'), 'spanId')
    decoded.traceState = text(field(object, 'traceState', 'trace_state'), 'traceState')
    attributes(object.attributes, decoded.attributes)
    decoded.dropped = dropped(object)
    decoded.flags = uint32(object.flags, 'flags')
    return decoded
  }

  function span(value: unknown): OtlpSpan {
    const object = objectOf(value, 'spans')
    const decoded = newSpan(budget)
    decoded.traceId = id(field(object, 'traceId', 'trace_id'), 'traceId')
    decoded.spanId = id(field(object, 'spanId', 'span_id'), 'spanId')
    decoded.traceState = text(field(object, 'traceState', 'trace_state'), 'traceState')
    decoded.parentSpanId = id(field(object, 'parentSpanId', 'parent_span_id'), 'parentSpanId')
    decoded.name = text(object.name, 'name')
    decoded.kind = enumOf(object.kind, kinds, 'kind')
    decoded.start = nanos(field(object, 'startTimeUnixNano', 'start_time_unix_nano'), 'startTimeUnixNano')
    decoded.end = nanos(field(object, 'endTimeUnixNano', 'end_time_unix_nano'), 'endTimeUnixNano')
    attributes(object.attributes, decoded.attributes)
    decoded.events = listOf(object.events, 'events').map(event)
    decoded.links = listOf(object.links, 'links').map(link)
    if (object.status !== undefined && object.status !== null) {
      const status = objectOf(object.status, 'status')
      decoded.statusCode = enumOf(status.code, statusCodes, 'code')
      decoded.statusMessage = text(status.message, 'message')
    }
    return decoded
  }

  function logRecord(value: unknown): OtlpLogRecord {
    const object = objectOf(value, 'logRecords')
    const decoded = newLogRecord(budget)
    decoded.time = nanos(field(object, 'timeUnixNano', 'time_unix_nano'), 'timeUnixNano')
    decoded.observed = nanos(field(object, 'observedTimeUnixNano', 'observed_time_unix_nano'), 'observedTimeUnixNano')
    decoded.traceId = id(field(object, 'traceId', 'trace_id'), 'traceId')
    decoded.spanId = id(field(object, 'spanId', 'span_id'), 'spanId')
    decoded.severity = enumOf(field(object, 'severityNumber', 'severity_number'), severities, 'severityNumber')
    decoded.severityText = text(field(object, 'severityText', 'severity_text'), 'severityText')
    decoded.eventName = text(field(object, 'eventName', 'event_name'), 'eventName')
    decoded.body = anyValue(object.body, 1)
    attributes(object.attributes, decoded.attributes)
    return decoded
  }

  const items = { spans: span, logRecords: logRecord }

  function scoped<Item>({ scopes, items: name }: Frame, value: unknown): OtlpScoped<Item> {
    const object = objectOf(value, scopes[0])
    const decoded = newScoped<Item>(budget)
    if (object.scope !== undefined && object.scope !== null) {
      const scope = objectOf(object.scope, 'scope')
      decoded.scope.name = text(scope.name, 'name')
      decoded.scope.version = text(scope.version, 'version')
      attributes(scope.attributes, decoded.scope.attributes)
    }
    decoded.items = listOf(field(object, ...name), name[0]).map(items[name[0]] as (value: unknown) => unknown) as Item[]
    return decoded
  }

  return function resource<Item>(frame: Frame, value: unknown): OtlpResource<Item> {
    const object = objectOf(value, frame.resources[0])
    const resource = object.resource ? objectOf(object.resource, 'resource') : {}
    const decoded = newResource<Item>(budget)
    attributes(resource.attributes, decoded.resource)
    decoded.droppedResource = dropped(resource)
    decoded.scopes = listOf(field(object, ...frame.scopes), frame.scopes[0]).map((one) => scoped<Item>(frame, one))
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
  const request = objectOf(body, 'the body')
  const resource = createDecoder(mayHoldSurrogates, isExact, budget)
  return listOf(field(request, ...frame.resources), frame.resources[0]).map((one) => resource<Item>(frame, one))
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

function decodeFrame<Item>(frame: Frame, bytes: Buffer, maxDepth: number, budget: DecodeBudget): OtlpResource<Item>[] {
  const mayHoldSurrogates = bytes.includes('\\ud') || bytes.includes('\\uD')
  const { left } = budget
  checkParsed(bytes, 1, budget)
  try {
    return decode(frame, parseJson(bytes, maxDepth), mayHoldSurrogates, false, budget)
  } catch (error) {
    if (error instanceof Fault && error.status === 422) throw new DecodeError('malformed JSON')
    if (!(error instanceof NeedsToken)) throw error
  }
  budget.left = left
  checkParsed(bytes, exactTimes, budget)
  return decode(frame, parseExact(bytes.toString('utf8', byteOrderMark(bytes))), mayHoldSurrogates, true, budget)
}

/**
 * A request with spans.
 * @throws DecodeError for text that is no such request, TooDeep for values that nest too deep, 413 for a body that does
 *   or that takes more than the budget
 */
export const decodeJson = (bytes: Buffer, maxDepth: number, budget: DecodeBudget): OtlpResource<OtlpSpan>[] =>
  decodeFrame(spanFrame, bytes, maxDepth, budget)

/** A request with log records. */
export const decodeLogsJson = (bytes: Buffer, maxDepth: number, budget: DecodeBudget): OtlpResource<OtlpLogRecord>[] =>
  decodeFrame(logFrame, bytes, maxDepth, budget)
