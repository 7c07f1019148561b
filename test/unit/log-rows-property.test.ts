// Rows of log records: written in place and in WebAssembly, they are those that the declared columns and JSON.stringify
// make, under the same ids; texts that stay as they came are those in which nothing is hidden or rewritten.
// again: property
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noContent } from '../../services/content/content-port.ts'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import type { RouteContext } from '../../services/core/http/route.ts'
import { maxEscapedLength } from '../../services/core/json/escaping.ts'
import { createJsonBuffer } from '../../services/core/json/row-writer.ts'
import type { RecordInput } from '../../services/core/log/log.ts'
import {
  createLogWriter,
  type LogRow,
  logsTopic,
  mapText,
  TextBytes,
  writtenTexts,
} from '../../services/events/logs.ts'
import { createDecodeBudget } from '../../services/ingest/otel/budget.ts'
import { prepared } from '../../services/ingest/otel/expand.ts'
import { beginLogs } from '../../services/ingest/otel/logs.ts'
import { type LogAttributes, newLogRecord } from '../../services/ingest/otel/spans.ts'
import { jsonText } from '../../services/ingest/otel/values.ts'
import { runs } from '../fixtures/runs.ts'

const unit = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', ' ', 'word', '{', '}', ':', ',', '/') },
  { weight: 3, arbitrary: fc.constantFrom('"', '\\', '\\"', '":', ' :', '\\n') },
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  fc.constantFrom('\u0000', '\t', '\n', '\r', '\u001f', '\u007f', 'é', '\u2028', '🎈', '\ud800', '\udc00'),
)
const text = fc.oneof(
  fc.array(unit, { maxLength: 40 }).map((all) => all.join('')),
  fc.array(unit, { minLength: 20, maxLength: 300 }).map((all) => all.join('')),
)

test('strings are escaped as JSON.stringify does it, whatever their length', () => {
  const written = (value: string): string => {
    const buffer = createJsonBuffer(16)
    buffer.text('before')
    buffer.string(value)
    buffer.text('behind')
    return buffer.done().toString()
  }
  const expected = (value: string): string => `before${JSON.stringify(value.toWellFormed())}behind`
  fc.assert(
    fc.property(text, (value) => {
      expect(written(value)).toBe(expected(value))
    }),
    { numRuns: runs(500, 100_000) },
  )
  for (const size of [15, 16, 17, 63, 64, 65, 128, maxEscapedLength - 1, maxEscapedLength, maxEscapedLength + 1])
    for (const one of ['x', '"', '\u0001', '€', '\ud800'])
      for (const value of [one.repeat(size), `${'x'.repeat(size - 1)}${one}`])
        expect(written(value)).toBe(expected(value))
})

const values = fc.array(fc.tuple(text, text), { maxLength: 6 }).map((all) => new Map(all))
const nanos = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String)
const row: fc.Arbitrary<LogRow> = fc.record({
  at: nanos,
  observed: fc.oneof(fc.constant('0'), nanos),
  eventName: text,
  severityText: text,
  body: text,
  traceId: fc.constantFrom('', 'ab'.repeat(16)),
  spanId: fc.constantFrom('', 'cd'.repeat(8)),
  severity: fc.integer({ min: 0, max: 24 }),
  isBodyJson: fc.boolean(),
  attributes: fc.record({ values, json: fc.array(text, { maxLength: 3 }) }),
  resource: values.map(mapText),
  scope: values.map(mapText),
})

/** The row as the declared columns write it. */
function declared(projectId: string, one: LogRow, time: string, clock: bigint): string {
  const said = logsTopic.cells({
    observed_ns: one.observed,
    trace_id: one.traceId,
    span_id: one.spanId,
    severity: one.severity,
    severity_text: one.severityText,
    event_name: one.eventName,
    body: one.body,
    body_json: Number(one.isBodyJson),
    attributes: mapText(one.attributes.values),
    json_keys: one.attributes.json,
    resource: one.resource,
    scope: one.scope,
  })
  const columns = said === '' ? '' : `,${said}`
  const id = createHash('sha256').update(`${time}${columns}`).digest('hex').slice(0, 32)
  return `{${logsTopic.cells({ project_id: projectId, id, clock, at_ns: one.at })}${columns}}\n`
}

test('rows are those of the declared columns, under the digest of what they say', () => {
  const written = fc.array(fc.tuple(row, fc.boolean()), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.constantFrom('acme/app', 'acmé/ö"x', `a/${'0'.repeat(40)}`), written, (projectId, rows) => {
      const writer = createLogWriter(16)
      const expected = rows.map(([one, isTimed], n) => {
        const time = isTimed ? one.at : '0'
        const line = declared(projectId, one, time, BigInt(n))
        expect(JSON.parse(line).id).toBe(
          writer.add(projectId, { ...one, attributes: writtenTexts(one.attributes) }, time, BigInt(n)),
        )
        return line
      })
      const [record] = writer.take() as [RecordInput]
      expect(record.rows.toString()).toBe(expected.join(''))
      expect(record.key).toBe(`${projectId}/${JSON.parse(expected[0] as string).id}`)
    }),
    { numRuns: runs(300, 30_000) },
  )
})

const keys = [
  'a',
  'key',
  'api_key',
  'API-KEY',
  'ap\u212aey',
  'x_access_token',
  'authorization',
  'content',
  '0',
  'to:ken',
  'apikey"',
]
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.double(),
    fc.bigInt().map(String),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 4 }),
}))

/** The stored form of a record with these texts as its body and in its attributes. */
async function storedOf(body: string | TextBytes, attributes: LogAttributes): Promise<Record<string, unknown>> {
  let rows = ''
  const append = async (_: string, records: RecordInput[]) => {
    rows += records.map((one) => one.rows.toString()).join('')
    return { partition: 0, offset: 1 }
  }
  const deps = {
    log: { append },
    clock: createClock(),
    content: noContent,
    maskings: noMaskings,
    config: { maxBodyBytes: 1e6 },
  }
  const context = { caller: { userId: 'ann' }, body: { bytes: Buffer.alloc(10) }, mayTakeLong: true }
  const budget = createDecodeBudget(1e6)
  const writer = beginLogs(deps as never, context as unknown as RouteContext, budget)
  const none = { keys: [], values: [] }
  const scope = { name: '', version: '', attributes: none }
  const take = writer.scope({ projectId: 'acme/app', resource: none } as never, scope, 1)
  expect(take({ ...newLogRecord(budget), body, attributes })).toBeNull()
  await writer.append()
  return JSON.parse(rows)
}

/** A text as a decoder finds it, amid other bytes. */
function bytesOf(value: string | Buffer): TextBytes {
  const source = Buffer.concat([Buffer.from('":'), Buffer.from(value as string), Buffer.from('":')])
  return new TextBytes(source, 2, source.length - 2)
}

test('texts with JSON stay as they came, but for what is hidden or would end the line', async () => {
  const written = fc
    .oneof(json.object, json.list)
    .chain((value) => fc.constantFrom(undefined, 1).map((space) => JSON.stringify(value, null, space)))
  await fc.assert(
    fc.asyncProperty(written, async (value) => {
      const found = { extract: () => null, isNonNative: false, budget: createDecodeBudget(1e6), faults: null }
      const kept = prepared(value, false, found)
      const text = (typeof kept === 'string' ? kept : jsonText(kept, true, false)).toWellFormed()
      const { body, attributes } = await storedOf(value, { keys: ['messages'], values: [value] })
      expect([body, attributes]).toEqual([text, { messages: text }])
    }),
    { numRuns: runs(500, 50_000) },
  )
})

test('texts that are bytes of the body are stored as strings are, whatever they hold', async () => {
  const long = fc.oneof(
    text,
    fc.oneof(json.object, json.list).map((value) => JSON.stringify(value, null, 1)),
    fc.oneof(json.object, json.list).map((value) => JSON.stringify(value)),
    fc.constantFrom('', '{"a": 1}', '{"note :":1}', '{"api_key":"sk"}', 'the note : "api_key":"sk"', '["\\u00e9"]'),
  )
  const keys = fc.constantFrom('messages', 'content', 'api_key', 'gen_ai.api_key', 'x'.repeat(200))
  const attributes = fc.array(fc.tuple(keys, fc.oneof(long, fc.integer(), fc.boolean())), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(long, attributes, async (body, pairs) => {
      const names = pairs.map(([key]) => key)
      const values = pairs.map(([, value]) => value)
      const [strings, bytes] = await Promise.all([
        storedOf(body, { keys: names, values }),
        storedOf(body === '' ? '' : bytesOf(body), {
          keys: names,
          values: values.map((value) => (typeof value === 'string' && value !== '' ? bytesOf(value) : value)),
        }),
      ])
      // The two records are from different moments.
      expect({ ...bytes, clock: 0, at_ns: 0 }).toEqual({ ...strings, clock: 0, at_ns: 0 })
    }),
    { numRuns: runs(500, 50_000) },
  )
})

test('bytes that are no UTF-8, texts of many names and texts beyond the memory of the module are stored as strings are', async () => {
  const many = JSON.stringify(Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`name ${n}`, n])))
  const secret = JSON.stringify({ ...JSON.parse(many), api_key: 'sk' })
  const large = JSON.stringify(['word '.repeat(20_000)])
  const broken = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from('"}')])
  for (const value of [many, secret, large, broken.toString('utf8')]) {
    const { attributes } = await storedOf('', { keys: ['messages'], values: [value] })
    const raw = value === broken.toString('utf8') ? broken : value
    expect((await storedOf('', { keys: ['messages'], values: [bytesOf(raw)] })).attributes).toEqual(attributes)
  }
  const { attributes } = await storedOf('', { keys: ['messages'], values: [bytesOf(secret)] })
  expect((attributes as { messages: string }).messages).toContain('"api_key":"REDACTED"')
})
