// The hand-written OTLP decoder against protobufjs on the official definitions: equal for whatever protobufjs accepts.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextBytes } from '../../services/events/logs.ts'
import { createDecodeBudget, type DecodeBudget } from '../../services/ingest/otel/budget.ts'
import { decodeJson, decodeLogsJson } from '../../services/ingest/otel/decode-json.ts'
import { decodeLogsProtobuf, decodeProtobuf } from '../../services/ingest/otel/decode-protobuf.ts'
import type { Nanos, OtlpResource } from '../../services/ingest/otel/spans.ts'
import { DecodeError, finite, nanosOf, nanosText, UnreadableItem } from '../../services/ingest/otel/spans.ts'
import type { Value } from '../../services/ingest/otel/values.ts'
import { LogsRequest, TraceRequest } from '../fixtures/otlp-proto.ts'
import { runs } from '../fixtures/runs.ts'

const plenty = createDecodeBudget(2 ** 40)

type Plain = Record<string, unknown>

const lastOfEnum = new Map([
  ['kind', 5],
  ['statusCode', 2],
])

/** Members of what was decoded, as JSON that can be compared. */
function comparable(key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Map) return [...value]
  const last = lastOfEnum.get(key)
  // Enums out of range may differ in form; both count as unspecified.
  return last !== undefined && !((value as number) <= last && (value as number) >= 0) ? 'unknown' : value
}

const list = (value: unknown): Plain[] => (value ?? []) as Plain[]
const hex = (value: unknown): string => Buffer.from((value as Uint8Array | undefined) ?? []).toString('hex')
const exact = (digits: string): number | bigint =>
  Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits)

function anyOf(value: Plain): Value | undefined {
  switch (value.value) {
    case 'stringValue':
      return value.stringValue as string
    case 'boolValue':
      return value.boolValue as boolean
    case 'intValue':
      return exact(value.intValue as string)
    case 'doubleValue':
      return finite(value.doubleValue as number)
    case 'bytesValue':
      return Buffer.from(value.bytesValue as Uint8Array).toString('base64')
    case 'arrayValue':
      return list((value.arrayValue as Plain).values).map((item) => anyOf(item) ?? null)
    case 'kvlistValue': {
      const { keys, values } = attributesOf((value.kvlistValue as Plain).values)
      return new Map(keys.map((key, i) => [key, values[i] as Value]))
    }
    default:
      return undefined
  }
}

function attributesOf(entries: unknown): { keys: string[]; values: Value[] } {
  const keys: string[] = []
  const values: Value[] = []
  for (const { key, value } of list(entries)) {
    const item = value ? anyOf(value as Plain) : undefined
    if (item === undefined) continue
    keys.push(key as string)
    values.push(item)
  }
  return { keys, values }
}

const spanOf = (span: Plain) => ({
  traceId: hex(span.traceId),
  spanId: hex(span.spanId),
  traceState: span.traceState,
  parentSpanId: hex(span.parentSpanId),
  name: span.name,
  kind: (span.kind as number) >>> 0,
  start: nanosOf(span.startTimeUnixNano as string),
  end: nanosOf(span.endTimeUnixNano as string),
  attributes: attributesOf(span.attributes),
  events: list(span.events).map((event) => ({
    time: event.timeUnixNano,
    name: event.name,
    attributes: attributesOf(event.attributes),
    dropped: event.droppedAttributesCount,
  })),
  links: list(span.links).map((link) => ({
    traceId: hex(link.traceId),
    spanId: hex(link.spanId),
    traceState: link.traceState,
    attributes: attributesOf(link.attributes),
    dropped: link.droppedAttributesCount,
    flags: link.flags,
  })),
  statusCode: (((span.status as Plain | null)?.code as number | undefined) ?? 0) >>> 0,
  statusMessage: ((span.status as Plain | null)?.message as string | undefined) ?? '',
  faults: null,
})

const recordOf = (record: Plain) => ({
  time: nanosOf(record.timeUnixNano as string),
  observed: nanosOf(record.observedTimeUnixNano as string),
  traceId: hex(record.traceId),
  spanId: hex(record.spanId),
  severity: (record.severityNumber as number) >>> 0,
  severityText: record.severityText,
  eventName: record.eventName,
  body: record.body ? anyOf(record.body as Plain) : undefined,
  attributes: attributesOf(record.attributes),
  faults: null,
})

type Kind = {
  request: fc.Arbitrary<Buffer>
  type: typeof TraceRequest
  resources: string
  scopes: string
  items: string
  itemOf(item: Plain): unknown
  decode(bytes: Buffer, budget: DecodeBudget): OtlpResource<unknown>[]
  decodeJson(bytes: Buffer, maxDepth: number, budget: DecodeBudget): OtlpResource<unknown>[]
}

/** The result of protobufjs for the bytes, in the form of our decoder. */
function oracle({ type, resources, scopes, items, itemOf }: Kind, bytes: Buffer): unknown {
  const options = { longs: String, defaults: true, oneofs: true }
  const request = type.toObject(type.decode(bytes), options) as Plain
  return list(request[resources]).map((resource) => ({
    resource: attributesOf((resource.resource as Plain | null)?.attributes),
    droppedResource: (resource.resource as Plain | null)?.droppedAttributesCount ?? 0,
    scopes: list(resource[scopes]).map((scope) => ({
      scope: {
        name: (scope.scope as Plain | null)?.name ?? '',
        version: (scope.scope as Plain | null)?.version ?? '',
        attributes: attributesOf((scope.scope as Plain | null)?.attributes),
      },
      items: list(scope[items]).map(itemOf),
    })),
    faults: null,
  }))
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('gen_ai.system', 'a.b', '{"a":1}', `{"a":"${'é'.repeat(100)}"}`),
)
const int64 = fc.oneof(fc.integer(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })).map(String)
const uint64 = fc
  .oneof(
    fc.bigInt({ min: 0n, max: 2n ** 53n * 1000n }),
    fc.constantFrom(0n, 1n, 999n, 1000n, 1_700_000_000_123_456_789n),
  )
  .map(String)
const uint32 = fc.oneof(fc.nat(5), fc.nat())
const bytes = (length: number) =>
  fc
    .oneof(fc.uint8Array({ minLength: length, maxLength: length }), fc.uint8Array({ maxLength: 20 }))
    .map((b) => Buffer.from(b).toString('base64'))

const { anyValue } = fc.letrec<{ anyValue: object; keyValue: object }>((tie) => ({
  anyValue: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ stringValue: text }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: int64 }),
    fc.record({ doubleValue: fc.double() }),
    fc.record({ bytesValue: bytes(3) }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('anyValue'), { maxLength: 4 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: fc.array(tie('keyValue'), { maxLength: 4 }) }) }),
  ),
  keyValue: fc.record({ key: text, value: tie('anyValue') }, { requiredKeys: [] }),
}))
const attributes = fc.array(fc.record({ key: text, value: anyValue }, { requiredKeys: [] }), { maxLength: 6 })
const event = fc.record(
  { timeUnixNano: uint64, name: text, attributes, droppedAttributesCount: uint32 },
  { requiredKeys: [] },
)
const link = fc.record(
  { traceId: bytes(16), spanId: bytes(8), traceState: text, attributes, droppedAttributesCount: uint32, flags: uint32 },
  { requiredKeys: [] },
)
const span = fc.record(
  {
    traceId: bytes(16),
    spanId: bytes(8),
    traceState: text,
    parentSpanId: bytes(8),
    name: text,
    kind: fc.integer({ min: -1, max: 9 }),
    startTimeUnixNano: uint64,
    endTimeUnixNano: uint64,
    attributes,
    droppedAttributesCount: uint32,
    events: fc.array(event, { maxLength: 2 }),
    links: fc.array(link, { maxLength: 2 }),
    droppedLinksCount: uint32,
    flags: uint32,
    status: fc.record({ code: fc.integer({ min: -1, max: 4 }), message: text }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)
const scope = fc.record({ name: text, version: text, attributes }, { requiredKeys: [] })
const resource = fc.record({ attributes, droppedAttributesCount: uint32 }, { requiredKeys: [] })

/** Requests as bytes: both signals have the same frame. */
const requestOf = (type: typeof TraceRequest, [resources, scopes, items]: string[], item: fc.Arbitrary<object>) => {
  const some = fc.record(
    { scope, [items as string]: fc.array(item, { maxLength: 3 }), schemaUrl: text },
    { requiredKeys: [] },
  )
  const all = fc.record(
    { resource, [scopes as string]: fc.array(some, { maxLength: 2 }), schemaUrl: text },
    { requiredKeys: [] },
  )
  return fc
    .record({ [resources as string]: fc.array(all, { maxLength: 3 }) })
    .map((message) => Buffer.from(type.encode(type.fromObject(message)).finish()))
}

const record = fc.record(
  {
    timeUnixNano: uint64,
    observedTimeUnixNano: uint64,
    severityNumber: fc.nat(30),
    severityText: text,
    body: anyValue,
    attributes,
    droppedAttributesCount: uint32,
    flags: uint32,
    traceId: bytes(16),
    spanId: bytes(8),
    eventName: text,
  },
  { requiredKeys: [] },
)

const kindOf = (
  type: typeof TraceRequest,
  names: [resources: string, scopes: string, items: string],
  item: fc.Arbitrary<object>,
  rest: Pick<Kind, 'itemOf' | 'decode' | 'decodeJson'>,
): Kind => {
  const [resources, scopes, items] = names
  return { ...rest, type, resources, scopes, items, request: requestOf(type, names, item) }
}

const kinds: [name: string, kind: Kind][] = [
  [
    'spans',
    kindOf(TraceRequest, ['resourceSpans', 'scopeSpans', 'spans'], span, {
      itemOf: spanOf,
      decode: decodeProtobuf,
      decodeJson,
    }),
  ],
  [
    'log records',
    kindOf(LogsRequest, ['resourceLogs', 'scopeLogs', 'logRecords'], record, {
      itemOf: recordOf,
      decode: decodeLogsProtobuf,
      decodeJson: decodeLogsJson,
    }),
  ],
]

type Change = { at: number; kind: 'set' | 'insert' | 'cut' | 'end'; byte: number }
const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom('set', 'insert', 'cut', 'end'),
  byte: fc.nat(255),
})

function changed(message: Buffer, changes: Change[]): Buffer {
  let result = message
  for (const { at, kind, byte } of changes) {
    const i = result.length === 0 ? 0 : at % result.length
    const before = result.subarray(0, i)
    if (kind === 'end') result = Buffer.from(before)
    else if (kind === 'insert') result = Buffer.concat([before, Buffer.from([byte]), result.subarray(i)])
    else if (kind === 'cut') result = Buffer.concat([before, result.subarray(i + 1)])
    else result = Buffer.concat([before, Buffer.from([byte]), result.subarray(i + 1)])
  }
  return result
}

/** With every item decoded, and every text a string. */
const whole = (resources: OtlpResource<unknown>[]): OtlpResource<unknown>[] =>
  resources.map((resource) => ({
    ...resource,
    scopes: resource.scopes.map(({ scope, items }) => ({ scope, items: Array.from(items, decodedTexts) })),
  }))

const textOf = (value: unknown): unknown => (value instanceof TextBytes ? value.text() : value)
function decodedTexts(item: unknown): unknown {
  if (item instanceof UnreadableItem) throw new DecodeError(item.reason)
  const { body, attributes } = item as { body?: unknown; attributes: { keys: string[]; values: unknown[] } }
  const texts = { attributes: { keys: attributes.keys, values: attributes.values.map(textOf) } }
  return Object.assign({}, item, texts, Object.hasOwn(item as object, 'body') ? { body: textOf(body) } : {})
}

/** Decodes; undefined where the message or an item of it cannot be read. */
function decoded({ decode }: Kind, message: Buffer): OtlpResource<unknown>[] | undefined {
  try {
    return whole(decode(message, plenty))
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** OTLP/JSON of protobuf bytes: hex ids, integers as text. */
function jsonOf({ type }: Kind, message: Buffer): unknown {
  const ids = new Set(['traceId', 'spanId', 'parentSpanId'])
  const plain = type.toObject(type.decode(message), { longs: String, bytes: String, json: true })
  const convert = (value: unknown, key = ''): unknown => {
    if (Array.isArray(value)) return value.map((item) => convert(item))
    if (ids.has(key))
      return Buffer.from(value as string, 'base64')
        .toString('hex')
        .toUpperCase()
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, convert(item, name)]))
  }
  return convert(plain)
}

describe.each(kinds)('decoders of %s', (_, kind) => {
  const { request, decode } = kind

  it('read from protobuf what protobufjs reads', () => {
    fc.assert(
      fc.property(request, (message) => {
        expect(whole(decode(message, plenty))).toEqual(oracle(kind, message))
      }),
      { numRuns: runs(300, 10_000), endOnFailure: true },
    )
  })

  it('agree with protobufjs on damaged messages that protobufjs still reads', () => {
    fc.assert(
      fc.property(request, fc.array(change, { minLength: 1, maxLength: 3 }), (message, changes) => {
        const damaged = changed(message, changes)
        const ours = decoded(kind, damaged)
        let theirs: unknown
        try {
          theirs = oracle(kind, damaged)
        } catch {
          return
        }
        expect(ours).toEqual(theirs)
      }),
      { numRuns: runs(1000, 40_000), endOnFailure: true },
    )
  })

  it('refuse random bytes or read them, nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        decoded(kind, Buffer.from(noise))
      }),
      { numRuns: runs(1000, 40_000), endOnFailure: true },
    )
  })

  it('read a message merged from two, as the wire format wants', () => {
    fc.assert(
      fc.property(request, request, (one, other) => {
        const both = Buffer.concat([one, other])
        expect(whole(decode(both, plenty))).toEqual(oracle(kind, both))
      }),
      { numRuns: runs(100, 2000), endOnFailure: true },
    )
  })

  it('read from JSON what they read from protobuf', () => {
    fc.assert(
      fc.property(request, (message) => {
        const known = (found: OtlpResource<unknown>[]) => JSON.parse(JSON.stringify(found, comparable))
        const body = Buffer.from(JSON.stringify(jsonOf(kind, message)))
        expect(known(kind.decodeJson(body, 512, plenty))).toEqual(known(whole(decode(message, plenty))))
      }),
      { numRuns: runs(300, 10_000), endOnFailure: true },
    )
  })
})

it('nanoseconds are the digits that they came as', () => {
  const times = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 62n }), fc.bigInt({ min: 0n, max: 5_000_000_000n }))
  fc.assert(
    fc.property(times.map(String), (digits) => {
      expect(nanosText(nanosOf(digits) as Nanos)).toBe(digits)
    }),
  )
})
