// Nothing of a span is a reason to lose it: what is wrong with it is kept, put right or cut, and told to its sender.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { json } from '../fixtures/http-server.ts'
import {
  aRequest,
  aSpan,
  attributes,
  dump,
  integer,
  type Otel,
  protobuf,
  type Row,
  startOtel,
  text,
} from '../fixtures/otel.ts'
import { encodeRequest, TraceResponse } from '../fixtures/otlp-proto.ts'

let otel: Otel
beforeAll(async () => {
  otel = await startOtel()
})
afterAll(() => otel.stop())

type Told = { rejectedSpans?: string; errorMessage?: string }
const title = 'span "x" (trace_id 0af7651916cd43dd8448eb211c80319c, span_id b7ad6b7169203331)'

/** The row of a span, and what its sender was told behind its name; '' = nothing. */
async function taken(fields: Record<string, unknown>): Promise<{ row: Row; told: string }> {
  const answer = await otel.postJson(aRequest([aSpan(fields)]))
  expect(answer.status).toBe(200)
  const { rejectedSpans, errorMessage } = (json(answer) as { partialSuccess?: Told }).partialSuccess ?? {}
  expect(rejectedSpans ?? '0').toBe('0')
  const [row] = otel.newCalls()
  expect(row).toBeDefined()
  const lead = `taken, ${title}: `
  if (errorMessage !== undefined) expect(errorMessage.startsWith(lead)).toBe(true)
  return { row: row as Row, told: errorMessage?.slice(lead.length) ?? '' }
}

const value = (content: unknown) => ({ attributes: [{ key: 'k', value: content }] })

describe('values of another type', () => {
  it.each([
    ['attributes as an object', { attributes: { k: { a: [1, 'x', null] } } }, { k: { a: [1, 'x', null] } }],
    ['an attribute that is none', { attributes: ['x', null, text('k', 'v')] }, { '': 'x', k: 'v' }],
    ['a plain value', value('x'), { k: 'x' }],
    ['a list as the value', value([1]), { k: [1] }],
    ['a boolean as text', value({ boolValue: 'true' }), { k: true }],
    ['another text as boolean', value({ boolValue: 'yes' }), { k: 'yes' }],
    ['an integer with a fraction', value({ intValue: 1.5 }), { k: 1.5 }],
    ['an integer that is none', value({ intValue: 'many' }), { k: 'many' }],
    ['an integer beyond 64 bits', value({ intValue: '99999999999999999999999' }), { k: '99999999999999999999999' }],
    ['a number that is none', value({ doubleValue: {} }), { k: {} }],
    ['a text that is a number', value({ stringValue: 5 }), { k: 5 }],
    ['bytes that are none', value({ bytesValue: 'ä' }), { k: 'ä' }],
    ['a list without values', value({ arrayValue: [{ intValue: 1 }] }), { k: [1] }],
    ['an object for a list of keys', value({ kvlistValue: { a: 1 } }), { k: { a: 1 } }],
    ['an object for the values', value({ kvlistValue: { values: { a: 1 } } }), { k: { a: 1 } }],
    ['one attribute for a list', { attributes: 5 }, {}],
  ])('%s', async (_name, fields, expected) => {
    const { row, told } = await taken(fields)
    expect(attributes(row)).toEqual(expected)
    expect(told).toMatch(/ is no /)
  })

  it.each([
    ['name', { name: 5 }],
    ['kind', { kind: {} }],
    ['status', { status: 'ERROR' }],
    ['code', { status: { code: [] } }],
    ['events', { events: 5 }],
    ['an event', { events: [5] }],
    ['droppedAttributesCount', { links: [{ droppedAttributesCount: -1 }] }],
  ])('of the field %s', async (field, fields) => {
    const answer = await otel.postJson(aRequest([aSpan(fields)]))
    expect((json(answer) as { partialSuccess: Told }).partialSuccess.errorMessage).toContain(`: ${field} is no `)
    expect(otel.newCalls()).toHaveLength(1)
  })

  it('of one span leave those beside it alone', async () => {
    const request = aRequest([aSpan({ ...value(5), spanId: '00000000000000aa' }), aSpan(), 'no span', null])
    const { rejectedSpans, errorMessage } = (json(await otel.postJson(request)) as { partialSuccess: Told })
      .partialSuccess
    expect(otel.newCalls().map(({ id }) => id)).toEqual(['00000000000000aa', 'b7ad6b7169203331'])
    expect(rejectedSpans).toBe('2')
    expect(otel.faults.at(-1)).toEqual(['type', 1])
    expect(errorMessage).toBe(
      'span 3 of the request cannot be read: it is no object; span 4 of the request cannot be read: it is no object; ' +
        'taken, span "x" (trace_id 0af7651916cd43dd8448eb211c80319c, span_id 00000000000000aa): value is no object',
    )
  })

  it('in lists of the request', async () => {
    const [one] = aRequest([aSpan()]).resourceSpans as { scopeSpans: { spans: unknown[] }[] }[]
    const [scope] = one?.scopeSpans ?? []
    const body = { resourceSpans: { ...one, scopeSpans: { ...scope, spans: scope?.spans[0] } } }
    expect((json(await otel.postJson(body)) as { partialSuccess: Told }).partialSuccess.errorMessage).toBe(
      'taken, the resource of some: scopeSpans is no list',
    )
    expect(otel.newCalls()).toHaveLength(1)
  })
})

describe('what nests too deep', () => {
  /** A field of protobuf with bytes in it. */
  const field = (number: number, content: Buffer): Buffer => {
    const length: number[] = []
    for (let left = content.length; ; left >>>= 7) {
      if (left < 128) {
        length.push(left)
        break
      }
      length.push((left & 127) | 128)
    }
    return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), content])
  }

  it.each([101, 300, 3_000])('is cut: %d levels of a value', async (levels) => {
    // Its JSON is made by hand: writing it nests as deep.
    const open = '{"arrayValue":{"values":['
    const deep = `${open.repeat(levels)}{"intValue":1}${']}}'.repeat(levels)}`
    const body = JSON.stringify(aRequest([aSpan({ attributes: [{ key: 'k', value: '@' }, text('l', 'v')] })]))
    const answer = await otel.post(Buffer.from(body.replace('"@"', deep)), 'application/json')
    expect((json(answer) as { partialSuccess: Told }).partialSuccess).toEqual({
      rejectedSpans: '0',
      errorMessage: `taken, ${title}: a value nests deeper than 100 levels, and is cut there`,
    })
    const kept = attributes(otel.newCalls()[0]) as { k: unknown; l: string }
    expect(kept.l).toBe('v')
    let depth = 0
    for (let at = kept.k; Array.isArray(at); at = at[0]) depth++
    expect(depth).toBe(100)
  })

  it('is cut in protobuf, and all beside it is kept', async () => {
    const seven = field(1, Buffer.from([24, 7]))
    let deep: Buffer = Buffer.from([24, 1])
    for (let n = 0; n < 10_000; n++) deep = field(5, Buffer.concat([field(1, deep), seven]))
    const span = encodeRequest(aRequest([aSpan({ attributes: [integer('l', 1)] })]))
    const attribute = field(9, Buffer.concat([field(1, Buffer.from('k')), field(2, deep)]))
    // The last value of a repeated field counts, and lists go on: the request is one of two spans.
    const ids = [
      field(1, Buffer.from('0af7651916cd43dd8448eb211c80319c', 'hex')),
      field(2, Buffer.from('b7ad6b7169203331', 'hex')),
      field(5, Buffer.from('x')),
    ]
    const body = field(1, field(2, field(2, Buffer.concat([...ids, attribute]))))
    const answer = await otel.post(Buffer.concat([body, span]), protobuf)
    expect(TraceResponse.toObject(TraceResponse.decode(answer.bytes), { longs: Number })).toEqual({
      partialSuccess: { errorMessage: expect.stringContaining('nests deeper than 100 levels') },
    })
    const [cut, beside] = otel.newCalls()
    expect((attributes(cut) as { k: unknown[] }).k[1]).toBe(7)
    expect(attributes(beside)).toEqual({ l: 1 })
  })

  it('is one name behind the last part of a key that counts', async () => {
    const parts = Array.from({ length: 200 }, (_, i) => `a${i}`)
    const { row, told } = await taken({ attributes: [text(parts.join('.'), 'v')] })
    expect(told).toBe('a key has more than 100 parts')
    let at: unknown = attributes(row)
    for (const part of [...parts.slice(0, 99), parts.slice(99).join('.')]) at = (at as Record<string, unknown>)[part]
    expect(at).toBe('v')
  })

  it('elsewhere in a body is no reason to refuse it', async () => {
    const body = JSON.stringify({ ...aRequest([aSpan()]), other: '@' })
    const deep = `${'['.repeat(10_000)}"]["${']'.repeat(10_000)}`
    expect((await otel.post(Buffer.from(body.replace('"@"', deep)), 'application/json')).status).toBe(200)
    expect(otel.newCalls()).toHaveLength(1)
    expect((await otel.post(Buffer.from(body.replace('"@"', `${deep}]`)), 'application/json')).status).toBe(400)
  })
})

describe('times', () => {
  const startUs = 1700000000123457
  const endUs = 1700000001623457
  const start = (startTimeUnixNano: unknown) => ({ startTimeUnixNano })
  const end = (endTimeUnixNano: unknown) => ({ endTimeUnixNano })
  const nanos = (ms: number) => `${ms}000000`

  it.each([
    ['no start', start('0'), [endUs, endUs], 'there is no start time'],
    ['a start that is no time', start({}), [endUs, endUs], 'startTimeUnixNano is no time in nanoseconds'],
    ['a negative start', start('-5'), [endUs, endUs], 'startTimeUnixNano is no time in nanoseconds'],
    ['a start before 2000', start('12345'), [endUs, endUs], 'the start time is before 2000 or in the future'],
    [
      'a start far ahead',
      start('18446744073709551615'),
      [endUs, endUs],
      'the start time is before 2000 or in the future',
    ],
    ['an end before 2000', end('12345'), [startUs, startUs], 'the end time is before 2000 or in the future'],
    [
      'an end before the start',
      end('1600000000000000000'),
      [startUs, 1600000000000000],
      'the end lies before the start',
    ],
    ['an end a nanosecond before', end('1700000000123456788'), [startUs, startUs], ''],
    [
      'milliseconds',
      { ...start('1700000000123'), ...end('1700000000128') },
      [1700000000123000, 1700000000128000],
      'the start time is in milliseconds, the end time is in milliseconds',
    ],
    [
      'microseconds',
      { ...start('1700000000123456'), ...end('1700000000123461') },
      [1700000000123456, 1700000000123461],
      'the start time is in microseconds, the end time is in microseconds',
    ],
    [
      'seconds',
      { ...start(1700000000), ...end(1700000001) },
      [1700000000000000, 1700000001000000],
      'the start time is in seconds, the end time is in seconds',
    ],
    ['a start in milliseconds', start('1700000000123'), [1700000000123000, endUs], 'the start time is in milliseconds'],
    [
      'ISO texts',
      start('2023-11-14T22:13:20.5Z'),
      [1700000000500000, endUs],
      'startTimeUnixNano is no time in nanoseconds',
    ],
  ])('%s', async (_name, fields, [startedUs, endedUs], expected) => {
    const { row, told } = await taken(fields)
    expect([row.kind, row.started_us, row.ended_us]).toEqual(['complete', startedUs, endedUs])
    expect(told).toBe(expected)
  })

  it('without an end it runs, and its output is in the raw span', async () => {
    const said = 'said '.repeat(100)
    const { row, told } = await taken({
      ...end('0'),
      attributes: [text('input.value', 'asked'), text('output.value', said)],
    })
    expect(told).toBe('')
    expect(row).toMatchObject({ kind: 'start', started_us: startUs })
    expect(row).not.toHaveProperty('ended_us')
    expect(row).not.toHaveProperty('output')
    expect(dump(row).attributes).toEqual({ input: { value: 'asked' }, output: { value: said } })
    const { row: absent } = await taken(end(undefined))
    expect(absent.kind).toBe('start')
  })

  it('of a clock that is wrong are those of the arrival, and what it took stays', async () => {
    const ahead = Date.now() + 7 * 86_400_000
    const { row, told } = await taken({ ...start(nanos(ahead)), ...end(nanos(ahead + 1_500)) })
    expect(Number(row.ended_us) - Number(row.started_us)).toBe(1_500_000)
    const day = (us: unknown) => new Date(Number(us) / 1_000).toISOString().slice(0, 10)
    const today = [ahead, ahead + 3_600_000].map((ms) => day((ms - 7 * 86_400_000) * 1_000))
    expect(today).toContain(day(row.ended_us))
    expect(told).toContain('the start time is before 2000 or in the future')
    const { row: none } = await taken({ ...start('0'), ...end('0') })
    expect(none.kind).toBe('start')
    expect(today).toContain(day(none.started_us))
  })

  it('that Langfuse writes are told of like the own ones', async () => {
    const { told } = await taken({ attributes: [text('langfuse.startTime', '2024-01-01T00:00:00Z')] })
    expect(told).toBe('the end lies before the start')
  })

  it('are put right in protobuf, too', async () => {
    const answer = await otel.post(encodeRequest(aRequest([aSpan(end('1600000000000000000'))])), protobuf)
    expect(TraceResponse.toObject(TraceResponse.decode(answer.bytes), { longs: Number })).toEqual({
      partialSuccess: { errorMessage: `taken, ${title}: the end lies before the start` },
    })
    expect(otel.newCalls()).toHaveLength(1)
  })

  it('of log records are put right', async () => {
    const send = async (timeUnixNano: string) => {
      const body = {
        resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano, body: { stringValue: timeUnixNano } }] }] }],
      }
      const answer = await otel.postJson(body, undefined, '/otel/v1/logs')
      const { partialSuccess } = json(answer) as { partialSuccess?: Record<string, string> }
      return { partialSuccess, row: JSON.parse(otel.memory.lines('logs').at(-1) as string) as Row }
    }
    expect((await send('1700000000123')).row.at_ns).toBe(1700000000123000000)
    const { partialSuccess } = await send('12345')
    expect(partialSuccess).toEqual({
      rejectedLogRecords: '0',
      errorMessage: expect.stringContaining('its time is before 2000 or in the future'),
    })
  })
})
