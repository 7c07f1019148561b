// tier: deep slow
// `attributes.otel_span` is the span as it was received, byte for byte, however much of it the row holds elsewhere.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { membersOf } from '../../services/query/calls/json-members.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, protobuf, type Row, text } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'
import { sharedServer } from '../fixtures/shared-server.ts'
import { rawSpans } from '../fixtures/span-dump.ts'

const folder = join(import.meta.dirname, '../golden/otel')
const { vectors } = JSON.parse(readFileSync(join(folder, 'vectors.json'), 'utf8')) as {
  vectors: { name: string; span: Row }[]
}
const captured = readdirSync(folder).filter((name) => /\.bin$|^opentelemetry-js-json\.json$/.test(name))

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

const authorization = `Basic ${Buffer.from('api:test-key').toString('base64')}`

async function send(project: string, body: Buffer): Promise<void> {
  const type = body[0] === 0x7b ? 'application/json' : protobuf
  const headers = { authorization, 'content-type': type, project_id: project }
  const answer = await fetch(`${server.now().url}/otel/v1/traces`, { method: 'POST', body, headers })
  expect(answer.status).toBe(200)
}

/** Raw spans of an answer by call id, as text. */
async function read(project: string, query: object = {}): Promise<Map<string, string>> {
  const answer = await fetch(`${server.now().url}/calls/stream_query`, {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify({ project_id: project, ...query }),
  })
  expect(answer.status).toBe(200)
  const found = new Map<string, string>()
  for (const line of (await answer.text()).split('\n').slice(0, -1)) {
    const member = (json: Buffer, key: string): Buffer => {
      const at = membersOf(json)?.find((one) => one.key === key)
      return at ? json.subarray(at.valueStart, at.end) : Buffer.alloc(0)
    }
    const bytes = Buffer.from(line)
    const id = JSON.parse(line).id as string
    found.set(id, member(member(bytes, 'attributes'), 'otel_span').toString())
  }
  return found
}

const chat = [{ role: 'user', content: 'Ünï "quoted" {"a":1} and long enough to be shared with the inputs' }]
const reply = 'a long enough reply that stands both in the output and in the span: \u2028 ✓ …'
const other = 'a completely different but also long output that came later, with an end of its own'
const shared = (spanId: string, n: number) =>
  aSpan({
    spanId,
    startTimeUnixNano: `170000000${n}000000000`,
    endTimeUnixNano: `170000000${n}500000000`,
    attributes: [
      text('gen_ai.input.messages', `${JSON.stringify(chat)} `),
      text('output.value', reply),
      text('seen', reply),
      text('rank', String(n)),
    ],
  })

describe('attributes.otel_span is read as it was received', () => {
  it.each(captured)('%s', async (name) => {
    const project = `ent/${name.replaceAll('.', '-')}`
    const body = readFileSync(join(folder, name))
    await send(project, body)
    // A library tells of spans that have only begun: they are not stored.
    const spans = new Map([...rawSpans(body)].filter(([, text]) => !text.includes('"span_type":"pending_span"')))
    expect(spans.size).toBeGreaterThan(0)
    expect(await read(project)).toEqual(spans)
    expect(await read(project, { columns: ['attributes'] })).toEqual(spans)
    expect(await read(project, { columns: ['attributes', 'inputs'] })).toEqual(spans)
  })

  it('of each published vector', async () => {
    const expected = new Map<string, string>()
    const spans = vectors.map(({ span }, n) => {
      const own = { ...span, spanId: `b7ad6b7169${String(n).padStart(6, '0')}` }
      return own
    })
    // Times before 2000 or without an id are refused; one request per vector keeps the others.
    for (const span of spans) {
      const body = Buffer.from(encodeRequest(aRequest([span], [text('service.name', 'svc')])))
      for (const [id, json] of rawSpans(body)) expected.set(id, json)
    }
    await send('ent/vectors', Buffer.from(encodeRequest(aRequest(spans, [text('service.name', 'svc')]))))
    const found = await read('ent/vectors')
    expect(found.size).toBeGreaterThan(40)
    for (const [id, json] of found) expect(json).toBe(expected.get(id))
  })
})

describe('texts that the call holds elsewhere', () => {
  const project = 'ent/shared'
  const body = Buffer.from(encodeRequest(aRequest([shared('00000000000000a1', 1), shared('00000000000000a2', 2)])))
  const spans = rawSpans(body)
  const field = (name: string) => ({ $getField: `attributes.otel_span.${name}` })
  const query = (...conditions: unknown[]) => ({ query: { $expr: { $and: conditions } } })
  const idsOf = async (asked: object) => [...(await read(project, asked)).keys()]

  it('are looked into by conditions and orders', async () => {
    await send(project, body)
    expect(await read(project)).toEqual(spans)
    const role = { $eq: [field('attributes.gen_ai.input.messages.0.role'), { $literal: 'user' }] }
    const said = { $eq: [field('attributes.output.value'), { $literal: reply }] }
    const second = { $eq: [field('attributes.rank'), { $literal: '2' }] }
    const named = { $eq: [{ $getField: 'id' }, { $literal: '00000000000000a2' }] }
    const whole = { $contains: { input: { $getField: 'output' }, substr: { $literal: 'a long enough reply' } } }
    expect(await idsOf(query(role))).toHaveLength(2)
    expect(await idsOf(query(said, second))).toEqual(['00000000000000a2'])
    // documents of both sides, and light columns
    expect(await idsOf(query({ $or: [{ $and: [said, whole, named] }] }))).toEqual(['00000000000000a2'])
    expect(await idsOf({ sort_by: [{ field: 'attributes.otel_span.attributes.rank', direction: 'desc' }] })).toEqual([
      '00000000000000a2',
      '00000000000000a1',
    ])
    const contains = { $contains: { input: field('attributes'), substr: { $literal: 'Ünï' } } }
    expect(await idsOf(query(contains))).toHaveLength(2)
  })

  it('stay when an end of its own replaces the output', async () => {
    const end = { project_id: project, id: '00000000000000a1', ended_at: '2023-11-14T22:14:00Z', output: { other } }
    await server.send('/call/end', { end: { ...end, summary: {} } })
    const found = await server.list<Row>('/calls/stream_query', { project_id: project, filter: { call_ids: [end.id] } })
    expect(found).toMatchObject([{ output: { other } }])
    for (const asked of [{}, { columns: ['attributes'] }, { columns: ['attributes', 'output'] }])
      expect(await read(project, asked)).toEqual(spans)
    const said = { $eq: [field('attributes.output.value'), { $literal: reply }] }
    const both = { $or: [{ $and: [said, { $eq: [{ $getField: 'output.other' }, { $literal: other }] }] }] }
    expect(await idsOf(query(both))).toEqual(['00000000000000a1'])
  })

  it('are restored everywhere in the span where they stand', async () => {
    const twice = (n: number, words: string) =>
      aSpan({
        spanId: `00000000000000d${n}`,
        attributes: [
          text('input.value', words),
          text('llm.input_messages.0.message.content', words),
          text('output.value', reply),
          text('llm.output_messages.0.message.content', `${reply} at the end`),
        ],
      })
    const [first, second] = ['a question', 'b question'].map((start) => `${start} ${'that is long enough '.repeat(4)}`)
    const bytes = Buffer.from(encodeRequest(aRequest([twice(1, second as string), twice(2, first as string)])))
    await send('ent/twice', bytes)
    expect(await read('ent/twice')).toEqual(rawSpans(bytes))
    const content = 'attributes.otel_span.attributes.llm.input_messages.0.message.content'
    const find = async (asked: object) => [...(await read('ent/twice', asked)).keys()].map((id) => id.slice(-2))
    expect(await find(query({ $eq: [{ $getField: content }, { $literal: first }] }))).toEqual(['d2'])
    const contains = { $contains: { input: { $getField: content }, substr: { $literal: 'b question' } } }
    expect(await find(query(contains))).toEqual(['d1'])
    expect(await find({ sort_by: [{ field: content, direction: 'asc' }] })).toEqual(['d2', 'd1'])
    expect(await find({ sort_by: [{ field: content, direction: 'desc' }] })).toEqual(['d1', 'd2'])
  })

  it('a span with non-native numbers is read as it was received', async () => {
    const odd = aSpan({
      spanId: '00000000000000b1',
      attributes: [text('input.value', `{"huge":1e400,"long":"${'x'.repeat(70)}"}`)],
    })
    const bytes = Buffer.from(encodeRequest(aRequest([odd])))
    await send('ent/odd', bytes)
    const huge = { $eq: [field('attributes.input.value.huge'), { $literal: '1e400' }] }
    expect(await read('ent/odd', query(huge))).toEqual(rawSpans(bytes))
  })

  it('doubles that are written as integers beyond 64 bits come back as they were written', async () => {
    const far = [{ doubleValue: 1e20 }, { doubleValue: -1e19 }, { doubleValue: 2 ** 63 }]
    const nested = [{ arrayValue: { values: far } }, { kvlistValue: { values: [{ key: 'k', value: far[0] }] } }]
    const spans = [...far, ...nested].map((value, n) =>
      aSpan({ spanId: `00000000000000e${n}`, attributes: [{ key: 'x', value }, text('y', 'a')] }),
    )
    await send('ent/far', Buffer.from(encodeRequest(aRequest(spans))))
    const ofResource = aRequest([aSpan({ spanId: '00000000000000f0' })], [{ key: 'x', value: { doubleValue: 1e20 } }])
    await send('ent/far', Buffer.from(encodeRequest(ofResource)))
    const named = { $eq: [field('attributes.y'), { $literal: 'a' }] }
    expect((await read('ent/far', query(named))).size).toBe(5)
    const large = { $gt: [field('attributes.x'), { $literal: 9e19 }] }
    expect((await read('ent/far', query(large))).size).toBe(1)
    const resource = { $gt: [field('resource.attributes.x'), { $literal: 9e19 }] }
    expect([...(await read('ent/far', query(resource))).keys()]).toEqual(['00000000000000f0'])
  })

  it('an otel_span attribute that a client sent itself is not changed', async () => {
    const otel_dump = { name: 'own', marks: ['1', 2] }
    const start = {
      project_id: 'ent/own',
      id: '00000000000000c1',
      trace_id: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      op_name: 'x',
      started_at: '2023-11-14T22:13:20Z',
    }
    const dump = JSON.stringify(otel_dump, null, '\r\n\t').replace('2', '\r2')
    const body = JSON.stringify({ start: { ...start, attributes: {}, inputs: { a: 1 } } })
    const answer = await fetch(`${server.now().url}/call/start`, {
      method: 'POST',
      headers: { authorization },
      body: body.replace('"inputs"', `"otel_dump":${dump},"inputs"`),
    })
    expect(answer.status).toBe(200)
    expect([...(await read('ent/own')).values()]).toEqual([JSON.stringify(otel_dump)])
  })
})
