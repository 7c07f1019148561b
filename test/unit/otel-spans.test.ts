// Ids, times and attribute values of a span, in both encodings.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  aRequest,
  aSpan,
  attributes,
  dump,
  inputs,
  integer,
  type Otel,
  output,
  protobuf,
  rowOf,
  startOtel,
  text,
} from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'

let otel: Otel
beforeAll(async () => {
  otel = await startOtel()
})
afterAll(() => otel.stop())

const withAttributes = (...list: unknown[]) => rowOf(otel, { attributes: list })
const lastLine = () => otel.memory.lines('calls').at(-1) as string

describe('ids', () => {
  it.each([
    { traceId: '00000000000000000000000000000000' },
    { traceId: '0af7' },
    { traceId: 'zzf7651916cd43dd8448eb211c80319c' },
    { spanId: '0000000000000000' },
    { spanId: '' },
    { spanId: 'b7ad6b71692033311' },
  ])('rejects the span of %j', async (fields) => {
    expect((await rowOf(otel, fields)).rejected).toContain('id is invalid')
  })

  it('reads hex of any case', async () => {
    const row = await rowOf(otel, { traceId: '0AF7651916CD43DD8448EB211C80319C', parentSpanId: '00F067AA0BA902B7' })
    expect(row).toMatchObject({ trace_id: '0af7651916cd43dd8448eb211c80319c', parent_id: '00f067aa0ba902b7' })
  })

  it('takes a malformed parent as none', async () => {
    expect(await rowOf(otel, { parentSpanId: '"}' })).not.toHaveProperty('parent_id')
  })
})

describe('times', () => {
  it('reads numbers as exactly as text', async () => {
    const body = JSON.stringify(aRequest([aSpan()])).replace('"1700000000123456789"', '1700000000123456789')
    expect(body).toContain(':1700000000123456789,')
    await otel.post(Buffer.from(body), 'application/json')
    expect(otel.newCalls()[0]?.started_us).toBe(1700000000123457)
  })

  it.each([
    [{ stringValue: '2024-01-01T02:00:00.25+02:00' }, 1704067200250000],
    [{ stringValue: '2024-01-01 00:00:00' }, 1704067200000000],
    [{ intValue: '1704067200000001499' }, 1704067200000001],
    [{ doubleValue: 1704067200.5 }, 1704067200500000],
    [{ doubleValue: 1704067200 }, 1704067200000000],
    [{ intValue: '1704067200' }, 1704067200000000],
    [{ doubleValue: 1704067200000000000 }, 1704067200000000],
    [{ doubleValue: 1704067200000.5 }, 1700000000123457],
    [{ intValue: '0' }, 1700000000123457],
    [{ intValue: '1704067200000' }, 1700000000123457],
    [{ stringValue: '1980-01-01T00:00:00Z' }, 1700000000123457],
    [{ stringValue: '2124-01-01T00:00:00Z' }, 1700000000123457],
    [{ stringValue: 'yesterday' }, 1700000000123457],
    [{ boolValue: true }, 1700000000123457],
  ])('takes the start from langfuse.startTime %j', async (value, expected) => {
    const row = await withAttributes({ key: 'langfuse.startTime', value })
    expect(row.started_us).toBe(expected)
    expect(dump(row).start_time).toBe('2023-11-14T22:13:20.123457')
  })
})

describe('OTLP/JSON', () => {
  it('reads snake case names, enum names and null fields', async () => {
    const span = {
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      span_id: 'b7ad6b7169203331',
      parent_span_id: null,
      name: 'x',
      kind: 'SPAN_KIND_SERVER',
      start_time_unix_nano: '1700000000000000000',
      end_time_unix_nano: '1700000001000000000',
      attributes: [{ key: 'k', value: { array_value: { values: [{ string_value: 'a' }, { int_value: 2 }, {}] } } }],
      status: { code: 'STATUS_CODE_ERROR' },
      unknown: { nested: [] },
    }
    await otel.postJson({
      resource_spans: [{ scope_spans: [{ scope: { name: 'lib', version: '2' }, spans: [span] }] }],
    })
    const row = otel.newCalls()[0]
    expect(attributes(row)).toEqual({ k: ['a', 2, null] })
    expect(row?.exception).toBe('ERROR')
    expect(dump(row)).toMatchObject({ kind: 'SERVER', status: { code: 'ERROR' }, scope: { name: 'lib', version: '2' } })
  })

  it('replaces lone surrogates', async () => {
    const body = JSON.stringify(
      aRequest([aSpan({ attributes: [text('input.value', '@'), text('{"k":"@"}', '{"k":"@"}')] })]),
    )
    await otel.post(Buffer.from(body.replaceAll('@', '\\ud800')), 'application/json')
    const row = otel.newCalls()[0]
    expect(inputs(row)).toEqual({ 'input.value': '\ufffd' })
    expect(lastLine()).not.toMatch(/\\u[dD]8/)
  })
})

describe('values', () => {
  it('keeps integers beyond 2^53 as they are', async () => {
    const row = await withAttributes(
      integer('a', '9007199254740993'),
      integer('b', '-9223372036854775808'),
      text('c', '{"n":12345678901234567890123,"f":1.0,"e":1e400}'),
      text('d', '{"n":9007199254740993}'),
      integer('d.m', 1),
    )
    const line = lastLine()
    for (const token of [
      '"a":9007199254740993',
      '"b":-9223372036854775808',
      '{"n":12345678901234567890123,"f":1.0,"e":1e400}',
      '{"n":9007199254740993,"m":1}',
    ]) {
      expect(line.split(token)).toHaveLength(2)
      expect(row.otel_dump).toContain(token)
    }
    expect(row.odd).toBe(1)
  })

  it('reads integers beyond 2^53 that are numbers in JSON', async () => {
    const body = JSON.stringify(aRequest([aSpan({ attributes: [integer('a', 1)] })])).replace(
      '"intValue":1}',
      '"intValue":9007199254740993}',
    )
    await otel.post(Buffer.from(body), 'application/json')
    expect(otel.newCalls()).toHaveLength(1)
    expect(lastLine()).toContain('"a":9007199254740993')
  })

  it('writes doubles that JSON cannot hold as text', async () => {
    const values = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.1].map((doubleValue) => ({
      doubleValue,
    }))
    const request = aRequest([aSpan({ attributes: [{ key: 'k', value: { arrayValue: { values } } }] })])
    await otel.post(encodeRequest(request), protobuf)
    expect(attributes(otel.newCalls()[0])).toEqual({ k: ['nan', 'inf', '-inf', 0.1] })
  })

  it('keeps keys that are special in JavaScript', async () => {
    const row = await withAttributes(
      text('__proto__', 'a'),
      text('constructor.name', 'b'),
      text('toString', '{"__proto__":{"x":1},"constructor":1}'),
    )
    const all = attributes(row) as object
    expect(Object.entries(all)).toEqual([
      ['__proto__', 'a'],
      ['constructor', { name: 'b' }],
      ['toString', JSON.parse('{"__proto__":{"x":1},"constructor":1}')],
    ])
  })

  it('takes pretty-printed JSON apart from its line breaks', async () => {
    const row = await withAttributes(text('input.value', '{\n  "a": "x\\ny",\r\n "b": 1.50 }'))
    expect(inputs(row)).toEqual({ 'input.value': { a: 'x\ny', b: 1.5 } })
    expect(lastLine()).toContain('{"a":"x\\ny","b":1.50}')
  })

  it('leaves JSON text that nests too deep as text', async () => {
    const deep = `${'['.repeat(400)}${']'.repeat(400)}`
    expect(inputs(await withAttributes(text('input.value', deep)))).toEqual({ 'input.value': deep })
    const huge = '['.repeat(100_000)
    expect(inputs(await withAttributes(text('input.value', huge)))).toEqual({ 'input.value': huge })
  })

  it('makes lists of indexed keys in extracted values only', async () => {
    const row = await withAttributes(
      text('inputs.list.0.name', 'a'),
      text('inputs.list.1.name', 'b'),
      text('inputs.gap.1', 'c'),
      text('outputs.0', 'x'),
      text('outputs.1', '{"0":"y"}'),
    )
    expect(inputs(row)).toEqual({ list: [{ name: 'a' }, { name: 'b' }], gap: { 1: 'c' } })
    expect(output(row)).toEqual(['x', ['y']])
    expect(dump(row).attributes).toEqual({
      inputs: { list: { 0: { name: 'a' }, 1: { name: 'b' } }, gap: { 1: 'c' } },
      outputs: { 0: 'x', 1: { 0: 'y' } },
    })
  })

  it('keeps inputs that are a list under their key', async () => {
    expect(inputs(await withAttributes(text('inputs.0', 'a'), text('inputs.1', 'b')))).toEqual({ inputs: ['a', 'b'] })
  })

  it('merges structures into structures', async () => {
    const row = await withAttributes(
      text('m', '{"a":[1,2],"b":"x"}'),
      text('m', '{"a":{"1":3},"b":[4]}'),
      text('n', '[1]'),
      integer('n.3', 2),
    )
    expect(attributes(row)).toEqual({ m: { a: { 0: 1, 1: 3 }, b: [4] }, n: { 0: 1, 3: 2 } })
  })
})
