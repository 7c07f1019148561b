// OTLP bodies that would take far more memory than their bytes are refused; full honest ones are taken.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { overLimit } from '../../services/core/errors.ts'
import { aRequest, aSpan, integer, type Otel, protobuf, startOtel, text } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'

const maxBodyBytes = 256 * 1024

let otel: Otel
beforeAll(async () => {
  otel = await startOtel({ flags: ['--max-body-bytes', String(maxBodyBytes)] })
})
afterAll(() => otel.stop())

/** A length-delimited field of protobuf. */
function field(number: number, content: Buffer): Buffer {
  const head = [(number << 3) | 2]
  let rest = content.length
  for (; rest > 127; rest >>>= 7) head.push((rest & 127) | 128)
  return Buffer.concat([Buffer.from([...head, rest]), content])
}

const times = (count: number, bytes: number[]): Buffer => Buffer.alloc(count * bytes.length, Buffer.from(bytes))

const inResource = (content: Buffer): Buffer => field(1, content)
const inScope = (content: Buffer): Buffer => inResource(field(2, content))
const inSpan = (content: Buffer): Buffer => inScope(field(2, content))
const inValue = (content: Buffer): Buffer =>
  inSpan(field(9, Buffer.concat([field(1, Buffer.from('k')), field(2, content)])))

describe('empty messages', () => {
  it.each([
    ['resources', times(4_000, [0x0a, 0])],
    ['scopes', inResource(times(4_000, [0x12, 0]))],
    ['spans', inScope(times(4_000, [0x12, 0]))],
    ['events', inSpan(times(4_000, [0x5a, 0]))],
    ['links', inSpan(times(4_000, [0x6a, 0]))],
    ['attributes', inSpan(times(30_000, [0x4a, 4, 0x12, 2, 0x10, 1]))],
    ['attributes of a resource', inResource(field(1, times(30_000, [0x0a, 4, 0x12, 2, 0x10, 1])))],
    ['attributes of events', inSpan(times(4_000, [0x5a, 6, 0x1a, 4, 0x12, 2, 0x10, 1]))],
    ['items of a list', inValue(field(5, times(100_000, [0x0a, 0])))],
    ['members of a map', inValue(field(6, times(30_000, [0x0a, 4, 0x12, 2, 0x10, 1])))],
    ['maps in a list', inValue(field(5, times(8_000, [0x0a, 2, 0x32, 0])))],
  ])('protobuf: %s', async (_name, body) => {
    expect(body.length).toBeLessThan(maxBodyBytes)
    expect((await otel.post(body, protobuf)).status).toBe(413)
    expect(otel.newCalls()).toEqual([])
  })

  const list = (count: number, item: string): string => `[${`${item},`.repeat(count)}${item}]`
  /** A time that is no double: the body is parsed with exact numbers. */
  const exact = (more: string): string =>
    `{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":1700000000123456789}]}]}],${more}}`
  const jsonSpan = (content: string): string => `{"resourceSpans":[{"scopeSpans":[{"spans":[{${content}}]}]}]}`
  it.each([
    ['resources', `{"resourceSpans":${list(4_000, '{}')}}`],
    ['scopes', `{"resourceSpans":[{"scopeSpans":${list(4_000, '{}')}}]}`],
    ['spans', `{"resourceSpans":[{"scopeSpans":[{"spans":${list(4_000, '{}')}}]}]}`],
    ['events', jsonSpan(`"events":${list(4_000, '{}')}`)],
    ['links', jsonSpan(`"links":${list(4_000, '{}')}`)],
    ['attributes', jsonSpan(`"attributes":${list(10_000, '{"value":{"intValue":1}}')}`)],
    ['what is not read', `{"x":${list(20_000, '{}')}}`],
    ['items that are not read, among exact numbers', exact(`"x":${list(30_000, '1')}`)],
    ['items that are not read', `{"x":${list(100_000, '1')}}`],
  ])('JSON: %s', async (_name, body) => {
    expect(body.length).toBeLessThan(maxBodyBytes)
    expect((await otel.post(Buffer.from(body), 'application/json')).status).toBe(413)
    expect(otel.newCalls()).toEqual([])
  })
})

describe('what grows after it is decoded', () => {
  const spanWith = (attributes: unknown[]) => encodeRequest(aRequest([aSpan({ attributes })]))
  it.each([
    ['dotted keys', spanWith(Array.from({ length: 100 }, (_, i) => integer(`${i}${'.a'.repeat(98)}`, 1)))],
    ['objects in the JSON text of an attribute', spanWith([text('input.value', `[${'{},'.repeat(20_000)}{}]`)])],
    [
      'objects in many JSON texts',
      spanWith(Array.from({ length: 200 }, (_, i) => text(`k${i}`, `[${'{},'.repeat(300)}{}]`))),
    ],
    [
      'a resource that is written with each of its spans',
      encodeRequest(
        aRequest(
          Array.from({ length: 600 }, () => aSpan()),
          [text('k', 'x'.repeat(5_000))],
        ),
      ),
    ],
  ])('%s', async (_name, body) => {
    expect(body.length).toBeLessThan(maxBodyBytes)
    expect((await otel.post(body, protobuf)).status).toBe(413)
    expect(otel.newCalls()).toEqual([])
  })
})

describe('honest bodies as large as they may be', () => {
  const id = (i: number): string => (i + 1).toString(16).padStart(16, '0')
  const spans = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      aSpan({
        spanId: id(i),
        attributes: [
          text('gen_ai.request.model', 'a-model-of-2025-04'),
          integer('gen_ai.usage.input_tokens', i),
          text('gen_ai.input.messages', '[{"role":"user","parts":[{"type":"text","content":"Where is the file?"}]}]'),
        ],
        events: [{ name: 'exception', timeUnixNano: '1700000001000000000', attributes: [text('exception.type', 'E')] }],
      }),
    )
  const resource = [text('service.name', 'a-service-with-a-name'), text('telemetry.sdk.language', 'nodejs')]
  it.each([
    ['protobuf', protobuf, (count: number) => encodeRequest(aRequest(spans(count), resource)), 850],
    ['JSON', 'application/json', (count: number) => Buffer.from(JSON.stringify(aRequest(spans(count), resource))), 400],
  ])('%s', async (_name, type, body, count) => {
    const bytes = body(count)
    expect(bytes.length).toBeGreaterThan(maxBodyBytes * 0.85)
    expect(bytes.length).toBeLessThan(maxBodyBytes)
    const answer = await otel.post(bytes, type)
    expect([answer.status, otel.newCalls().length]).toEqual([200, count])
  })
})

describe('a project of which the log takes no more', () => {
  let full: Otel
  beforeAll(async () => {
    const taken = overLimit('log_share', 'Too many bytes of this project are waiting to be applied')
    full = await startOtel({ refusal: (projects) => (projects.has('ent/full') ? taken : null) })
  })
  afterAll(() => full.stop())
  const long = () => Buffer.from(JSON.stringify(aRequest([aSpan({ attributes: [text('k', 'x'.repeat(70_000))] })])))
  const to = (project_id: string) => ({ project_id })

  it('is told so before a long body is decoded', async () => {
    const refused = await full.post(long(), 'application/json', to('ent/full'))
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1'])
    expect((await full.post(Buffer.alloc(70_000, 'no protobuf'), protobuf, to('ent/full'))).status).toBe(429)
    expect(full.newCalls()).toEqual([])
  })
  it('holds up no other one, and no short body', async () => {
    expect((await full.post(long(), 'application/json', to('ent/other'))).status).toBe(200)
    expect((await full.postJson(aRequest([aSpan()]), to('ent/full'))).status).toBe(200)
    expect(full.newCalls()).toHaveLength(2)
  })
})
