// Builtin classes field by field: what the published models take and what they refuse, and nodes of stored queries.
import { describe, expect, it } from 'vitest'
import { createNameBinding } from '../../services/content/name-binding.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { createObjectWriteRoutes } from '../../services/ingest/objects/routes.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'
import { createCall } from '../fixtures/route-call.ts'

const log = createMemoryLog()
const binding = createNameBinding(async () => [])
const call = createCall(
  createObjectWriteRoutes({ log, clock: createClock(), binding, config: { allowPrivateNetworks: false } }),
)
const create = (builtin_object_class: string, val: unknown) =>
  call('/obj/create', { json: { obj: { project_id: 'e/p', object_id: 'x', val, builtin_object_class } } })
const stored = async (name: string, val: unknown) => {
  const answer = await create(name, val)
  expect([answer.status, answer.json]).toEqual([200, expect.anything()])
  return log.rows('objects').at(-1)?.val as Record<string, unknown>
}
const view = (definition: unknown) => ({ view_type: 't', label: 'l', definition })
const query = ($expr: unknown) => view({ query: { $expr } })
const field = { $getField: 'a' }
const one = { $literal: 1 }

describe('are taken', () => {
  it('an alert with a condition of any name', async () => {
    const { spec } = await stored('AlertSpec', { spec: { alert_condition: 'ANOMALY' } })
    expect(spec).toMatchObject({ alert_condition: 'ANOMALY', source_type: 'calls' })
  })
  it('a size in a query, and a search whose case is not said', async () => {
    const $contains = { input: field, substr: { $literal: 'x' }, case_insensitive: null }
    const val = await stored('SavedView', query({ $and: [{ $gt: [{ $size: field }, one] }, { $contains }] }))
    const expression = (val.definition as { query: { $expr: { $and: Record<string, unknown>[] } } }).query.$expr
    const size = { _class_name: 'SizeOperation', $size: { _class_name: 'GetFieldOperator', $getField: 'a' } }
    expect(expression.$and[0]).toMatchObject({ $gt: [size, { _class_name: 'LiteralOperation', $literal: 1 }] })
    expect(expression.$and[1]).toMatchObject({ $contains: { case_insensitive: null, _class_name: 'ContainsSpec' } })
  })
  it('literals of literals', async () => {
    const val = await stored('SavedView', query({ $eq: [field, { $literal: [one, { $literal: { k: one } }] }] }))
    const node = { _class_name: 'LiteralOperation', $literal: 1 }
    expect(val).toMatchObject({
      definition: { query: { $expr: { $eq: [{}, { $literal: [node, { $literal: { k: node } }] }] } } },
    })
  })
  it('operators spelled with underscores', async () => {
    const val = await stored('SavedView', view({ query: { expr_: { eq_: [{ get_field_: 'a' }, { literal_: 1 }] } } }))
    const fields = [
      { _class_name: 'GetFieldOperator', get_field_: 'a' },
      { _class_name: 'LiteralOperation', literal_: 1 },
    ]
    expect(val).toMatchObject({ definition: { query: { expr_: { _class_name: 'EqOperation', eq_: fields } } } })
  })
})

describe('are refused', () => {
  it.each<[string, unknown]>([
    ['AlertSpec', { spec: { alert_condition: 1 } }],
    ['AlertSpec', { spec: { alert_condition: null } }],
    ['SavedView', view({ pin: { left: ['a'] } })],
    ['SavedView', view({ pin: { left: ['a'], right: null } })],
    ['SavedView', query(one)],
    ['SavedView', query({ $not: [] })],
    ['SavedView', query({ $not: [{ $eq: [field, one] }, { $eq: [field, one] }] })],
    ['SavedView', query({ $eq: [field, { $literal: [1] }] })],
    ['SavedView', query({ $eq: [field, { $literal: { a: field } }] })],
    ['SavedView', query({ $eq: [field, one, one] })],
    ['SavedView', view({ query: { $expr: { $eq: [field, one] }, more: 1 } })],
    ['ComparisonView', { label: 'l', definition: { evaluation_call_ids: [], selected_metrics: [1] } }],
    ['ComparisonView', { label: 'l', definition: { evaluation_call_ids: [], column_visibility: { a: null } } }],
    [
      'LLMStructuredCompletionModel',
      { llm_model_id: 'm', default_params: { messages_template: [{ role: 'user', content: ['a'] }] } },
    ],
  ])('%s: %j', async (name, val) => {
    expect(await create(name, val)).toMatchObject({ status: 400, json: { reason: expect.any(String) } })
  })
})
