// Attributes of spans that only their raw spans hold are offered with their values, from the latest of them.
import { beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { callsFieldsResponse, callsValuesResponse } from '../../schemas/call-values.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, flag, integer, text } from '../fixtures/otel.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

type Fields = z.output<typeof callsFieldsResponse>
type Values = z.output<typeof callsValuesResponse>

let server: RunningServer
const project_id = 'acme/span-attributes'
const above = 'attributes.otel_span.attributes'
const idOf = (n: number) => `00000000000000c${n}`
const list = { key: 'tags', value: { arrayValue: { values: [{ stringValue: 'a' }] } } }
const messages = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'a long question '.repeat(20) }] }])

const generative = (n: number, tenant: string) =>
  aSpan({
    spanId: idOf(n),
    name: 'chat',
    attributes: [
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', 'gpt-4o'),
      text('gen_ai.input.messages', messages),
      text('tenant', tenant),
      text('metadata.tenant', tenant),
      integer('shard', n),
      flag('is_paid', n === 1),
      text('db.system', 'sqlite'),
      text('db.system.name', 'sqlite3'),
      text('essay', 'x'.repeat(200)),
      list,
    ],
  })
// Its call has the same attributes, so that the raw span refers to them.
const plain = aSpan({ spanId: idOf(9), attributes: [text('tenant', 'plain'), text('http.route', '/v1/x'.repeat(20))] })

const ofResource = 'attributes.otel_span.resource.attributes'
const resource = [text('service.name', 'checkout'), text('host.name', 'box-1')]

const fieldsOf = (more: object = {}) =>
  server.send<Fields>('/calls/fields', { project_id, span_attributes: true, ...more })
const valuesOf = async (field: string, more: object = {}) =>
  (await server.send<Values>('/calls/values', { project_id, fields: [field], ...more })).fields[field]

beforeAll(async () => {
  server = await sharedServer()
  const spans = [
    generative(1, 'north'),
    generative(2, 'North East'),
    generative(3, 'wrong'),
    generative(4, 'gone'),
    plain,
  ]
  expect(await server.send('/otel/v1/traces', aRequest(spans, resource), { project_id })).toEqual({})
  expect(
    await server.send('/otel/v1/traces', aRequest([generative(3, 'south')], [text('service.name', 'cart')]), {
      project_id,
    }),
  ).toEqual({})
  await server.send('/calls/delete', { project_id, call_ids: [idOf(4)] })
})

describe('attributes of spans', () => {
  it('are fields of the latest spans, each span counted as it came last, without what is deleted', async () => {
    const { span_attributes } = await fieldsOf()
    const of = (name: string) => span_attributes?.fields.find(({ path }) => path === `${above}.${name}`)
    expect(span_attributes?.sampled_calls).toBe(4)
    expect(of('tenant')).toEqual({ path: `${above}.tenant`, types: { string: 4 }, calls: 4 })
    expect(of('metadata.tenant')?.calls).toBe(3)
    expect(of('shard')?.types).toEqual({ number: 3 })
    expect(of('is_paid')?.types).toEqual({ bool: 3 })
    expect(of('db.system')?.calls).toBe(3)
    expect(of('db.system.name')?.calls).toBe(3)
    expect(of('http.route')?.calls).toBe(1)
    expect([of('tags'), of('essay')]).toMatchObject([{ calls: 3 }, { calls: 3 }])
  })

  it('are answered where they are asked for, by the beginning of their paths, and are none where no span is', async () => {
    expect(await server.send('/calls/fields', { project_id })).not.toHaveProperty('span_attributes')
    const { span_attributes } = await fieldsOf({ prefix: `${above}.ten`, limit: 1 })
    expect(span_attributes?.fields.map(({ path }) => path)).toEqual([`${above}.tenant`])
    const none = { fields: [], sampled_calls: 0 }
    expect((await fieldsOf({ prefix: 'inputs.' })).span_attributes).toEqual(none)
    expect(await fieldsOf({ project_id: 'acme/span-attributes-none' })).toEqual({ ...none, span_attributes: none })
  })

  it('of their resources are offered and found in the same way', async () => {
    const { span_attributes } = await fieldsOf({ prefix: ofResource })
    const name = `${ofResource}.service.name`
    expect(span_attributes?.fields).toEqual([
      { path: name, types: { string: 4 }, calls: 4 },
      { path: `${ofResource}.host.name`, types: { string: 3 }, calls: 3 },
    ])
    expect((await valuesOf(name))?.values).toEqual([
      { value: 'checkout', calls: 3 },
      { value: 'cart', calls: 1 },
    ])
    const query = { $expr: { $eq: [{ $getField: name }, { $literal: 'cart' }] } }
    expect(await server.send('/calls/query_stats', { project_id, query })).toMatchObject({ count: 1 })
    const asked = { project_id, call_ids: [idOf(3)], paths: [name] }
    expect(await server.send('/calls/cells', asked)).toMatchObject({ cells: { [idOf(3)]: [{ text: 'cart' }] } })
  })

  it('are cells of the calls that were sent as spans, also in raw spans that refer to their calls', async () => {
    const paths = ['tenant', 'metadata.tenant', 'shard', 'db.system', 'db.system.name', 'db'].map(
      (name) => `${above}.${name}`,
    )
    type Cells = { cells: Record<string, ({ type: string; text: string } | null)[]> }
    const { cells } = await server.send<Cells>('/calls/cells', { project_id, call_ids: [idOf(2), idOf(9)], paths })
    const texts = (n: number) => cells[idOf(n)]?.map((cell) => cell && [cell.type, cell.text])
    expect(texts(2)).toEqual([
      ['string', 'North East'],
      ['string', 'North East'],
      ['number', '2'],
      // A value that holds others is shown itself.
      ['string', 'sqlite'],
      ['string', 'sqlite3'],
      ['object', 'system'],
    ])
    expect(texts(9)).toEqual([['string', 'plain'], null, null, null, null, null])
  })

  it('have the values that a filter finds, the commonest first, of the calls that match', async () => {
    const tenants = await valuesOf(`${above}.tenant`)
    expect(tenants).toEqual({
      values: expect.arrayContaining(['north', 'North East', 'south', 'plain'].map((value) => ({ value, calls: 1 }))),
      is_complete: false,
    })
    expect(tenants?.values).toHaveLength(4)
    expect((await valuesOf(`${above}.tenant`, { prefix: 'NORTH' }))?.values.map(({ value }) => value).sort()).toEqual([
      'North East',
      'north',
    ])
    expect((await valuesOf(`${above}.db.system`))?.values).toEqual([{ value: 'sqlite', calls: 3 }])
    expect((await valuesOf(`${above}.shard`, { limit: 1 }))?.values).toHaveLength(1)
    const query = { $expr: { $eq: [{ $getField: `${above}.tenant` }, { $literal: 'south' }] } }
    expect((await valuesOf(`${above}.shard`, { query }))?.values).toEqual([{ value: 3, calls: 1 }])
    // Texts that no filter names have no value here.
    for (const name of ['essay', 'tags', 'gen_ai.input.messages', 'no'])
      expect((await valuesOf(`${above}.${name}`))?.values).toEqual([])
  })
})
