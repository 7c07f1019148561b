// A key that is a value and a prefix of others: both are taken, and a look-up of either finds its own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { json } from '../fixtures/http-server.ts'
import {
  aRequest,
  aSpan,
  attributes,
  dump,
  flag,
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
const list = (key: string, ...values: number[]) => ({
  key,
  value: { arrayValue: { values: values.map((intValue) => ({ intValue })) } },
})

describe('a value and what lies below it', () => {
  it.each([
    ['a plain value first', [text('a', '1'), text('a.b', '2')], { a: { '(value)': '1', b: '2' } }],
    ['a plain value last', [text('a.b', '2'), text('a', '1')], { a: { '(value)': '1', b: '2' } }],
    ['between two', [text('a.b', '2'), text('a', '1'), text('a.c', '3')], { a: { '(value)': '1', b: '2', c: '3' } }],
    ['again', [text('a', '1'), text('a.b', '2'), text('a', '3')], { a: { '(value)': '3', b: '2' } }],
    [
      'three levels',
      [text('a.b.c', '3'), flag('a', true), integer('a.b', 2)],
      { a: { '(value)': true, b: { '(value)': 2, c: '3' } } },
    ],
    ['a list first', [list('n', 1), integer('n.x', 2)], { n: { '(value)': [1], x: 2 } }],
    ['a list last', [integer('n.x', 2), list('n', 1)], { n: { '(value)': [1], x: 2 } }],
    ['a list as text', [integer('n.x', 2), text('n', '[1]')], { n: { '(value)': [1], x: 2 } }],
    ['a plain value and items', [text('n', 'v'), integer('n.0', 2)], { n: { '(value)': 'v', 0: 2 } }],
    ['an object as text and a plain value', [text('a', '{"b":1}'), integer('a', 2)], { a: { '(value)': 2, b: 1 } }],
    [
      'a plain value in an object as text',
      [integer('a.b.c', 1), text('a', '{"b":2}')],
      { a: { b: { '(value)': 2, c: 1 } } },
    ],
  ])('%s', async (_name, given, expected) => {
    const row = await withAttributes(...given)
    expect(attributes(row)).toEqual(expected)
    expect(dump(row).attributes).toEqual(expected)
    expect(JSON.stringify(dump(row).attributes)).toBe(JSON.stringify(expected))
  })

  it('stays as it was where nothing but structures meet', async () => {
    const row = await withAttributes(list('n', 1), integer('n.3', 2), text('m', '[1]'), text('m', '{"1":2}'))
    expect(attributes(row)).toEqual({ n: { 0: 1, 3: 2 }, m: { 0: 1, 1: 2 } })
  })

  it('is taken in events, links, resources and scopes, in both encodings, without a word', async () => {
    const both = [text('error', 'x'), text('error.type', 'T')]
    const request = aRequest(
      [aSpan({ events: [{ name: 'e', attributes: both }], links: [{ attributes: both }], attributes: both })],
      both,
    )
    const [resourceSpans] = request.resourceSpans as { scopeSpans: { scope?: unknown }[] }[]
    Object.assign(resourceSpans?.scopeSpans[0] as object, { scope: { name: 'lib', attributes: both } })
    const expected = { error: { '(value)': 'x', type: 'T' } }
    for (const send of [() => otel.postJson(request), () => otel.post(encodeRequest(request), protobuf)]) {
      const answer = await send()
      expect(answer.status).toBe(200)
      expect(['', '{}']).toContain(answer.text)
      const raw = dump(otel.newCalls()[0])
      expect(raw.attributes).toEqual(expected)
      expect((raw.events as { attributes: unknown }[])[0]?.attributes).toEqual(expected)
      expect((raw.links as { attributes: unknown }[])[0]?.attributes).toEqual(expected)
      expect((raw.resource as { attributes: unknown }).attributes).toEqual(expected)
    }
  })

  it('is looked up by both keys where the call is made', async () => {
    const row = await withAttributes(
      text('ai.prompt', 'asked'),
      text('ai.prompt.messages', '[{"role":"user"}]'),
      text('output', 'said'),
      text('output.value', 'value'),
      text('gen_ai.response.model', 'm'),
      text('gen_ai.response.model.version', '2'),
    )
    expect(inputs(row)).toEqual({ 'ai.prompt': 'asked' })
    expect(output(row)).toEqual({ 'output.value': 'value' })
    expect(attributes(row)).toEqual({ model: 'm' })
  })

  it('names the project of a resource by both', async () => {
    const named = aRequest(
      [aSpan()],
      [text('wandb.project', 'two'), text('wandb.project.id', '7'), text('wandb.entity', 'ent')],
    )
    expect((await otel.postJson(named, {})).status).toBe(200)
    expect(otel.newCalls()[0]?.project_id).toBe('ent/two')
  })

  it('hides credentials under either', async () => {
    const row = await withAttributes(text('x.api_key', 'sk-1'), text('x.api_key.kind', 'live'))
    expect(attributes(row)).toEqual({ x: { api_key: { '(value)': 'REDACTED', kind: 'live' } } })
    expect(json(await otel.postJson(aRequest([aSpan()])))).toEqual({})
  })
})
