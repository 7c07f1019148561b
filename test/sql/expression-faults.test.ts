// Refused requests, and their errors: malformed trees, unknown fields, bad values, oversized queries.
import { describe, expect, it } from 'vitest'
import { asFault, type Fault } from '../../services/core/http/errors.ts'
import { compileCallsQuery } from '../../services/query/calls/conditions/compile-query.ts'

function refusal(request: object): Fault | null {
  try {
    compileCallsQuery({ projectId: 'e/p', ...request })
    return null
  } catch (error) {
    const fault = asFault(error)
    if (fault !== undefined) return fault
    throw error
  }
}

const refused = ($expr: unknown): Fault | null => refusal({ query: { $expr } })
const a = { $getField: 'inputs.a' }
const one = { $literal: 1 }

describe('malformed trees', () => {
  const cases: [name: string, query: unknown, loc: (string | number)[], type: string][] = [
    ['no $expr', {}, ['body', 'query', '$expr'], 'missing'],
    ['a key beside $expr', { $expr: { $eq: [a, one] }, x: 1 }, ['body', 'query', 'x'], 'extra_forbidden'],
    ['a list', [], ['body', 'query'], 'dict_type'],
    ['a bare operand', { $expr: { $literal: true } }, ['body', 'query', '$expr', '$literal'], 'value_error'],
    [
      'an operator without its sign',
      { $expr: { $eq: [a, one], and: [] } },
      ['body', 'query', '$expr', 'and'],
      'extra_forbidden',
    ],
    [
      'a field in another writing',
      { $expr: { $eq: [{ ...one, GetField: 'a' }, one] } },
      ['body', 'query', '$expr', '$eq', 0, 'GetField'],
      'extra_forbidden',
    ],
    [
      'a member in another writing',
      { $expr: { $contains: { input: a, substr: one, caseInsensitive: true } } },
      ['body', 'query', '$expr', '$contains', 'caseInsensitive'],
      'extra_forbidden',
    ],
    ['an unknown operator', { $expr: { $ne: [a, one] } }, ['body', 'query', '$expr'], 'missing'],
    ['an inherited name', { $expr: { constructor: [a, one] } }, ['body', 'query', '$expr'], 'missing'],
    ['two operators', { $expr: { $eq: [a, one], $gt: [a, one] } }, ['body', 'query', '$expr'], 'value_error'],
    ['one operand', { $expr: { $eq: [a] } }, ['body', 'query', '$expr', '$eq', 1], 'missing'],
    ['three operands', { $expr: { $eq: [a, one, one] } }, ['body', 'query', '$expr', '$eq'], 'too_long'],
    ['$not of two', { $expr: { $not: [{ $eq: [a, one] }, one] } }, ['body', 'query', '$expr', '$not'], 'too_long'],
    ['$and of no list', { $expr: { $and: {} } }, ['body', 'query', '$expr', '$and'], 'list_type'],
    ['$in of no list', { $expr: { $in: [a, one] } }, ['body', 'query', '$expr', '$in', 1], 'list_type'],
    ['a bare value', { $expr: { $eq: [a, 1] } }, ['body', 'query', '$expr', '$eq', 1], 'dict_type'],
    [
      'a field that is no text',
      { $expr: { $and: [{ $getField: 1 }] } },
      ['body', 'query', '$expr', '$and', 0, '$getField'],
      'string_type',
    ],
    [
      'an unknown conversion',
      { $expr: { $and: [{ $convert: { input: a, to: 'date' } }] } },
      ['body', 'query', '$expr', '$and', 0, '$convert', 'to'],
      'literal_error',
    ],
    [
      '$contains without substr',
      { $expr: { $contains: { input: a } } },
      ['body', 'query', '$expr', '$contains', 'substr'],
      'missing',
    ],
    [
      'a list literal',
      { $expr: { $eq: [a, { $literal: [1] }] } },
      ['body', 'query', '$expr', '$eq', 1, '$literal'],
      'value_error',
    ],
  ]
  it.each(cases)('%s', (_, query, loc, type) => {
    const fault = refusal({ query })
    expect([fault?.status, fault?.body.detail]).toMatchObject([422, [{ loc, type }]])
  })
})

describe('reasons', () => {
  const cases: [name: string, expr: unknown, status: number, reason: RegExp][] = [
    ['empty $and', { $and: [] }, 400, /^Empty AND operation$/],
    ['empty $or', { $not: [{ $or: [] }] }, 400, /^Empty OR operation$/],
    ['no date', { $gt: [{ $getField: 'started_at' }, { $literal: 'soon' }] }, 400, /soon/],
    ['no date in a list', { $in: [{ $getField: 'ended_at' }, [{ $literal: 'x' }]] }, 400, /"x"/],
    ['object literal of literals', { $eq: [a, { $literal: { x: { $literal: 1 } } }] }, 400, /not supported/],
    ['unknown field', { $eq: [{ $getField: 'colour' }, one] }, 422, /Field colour is not allowed/],
    ['path below a column', { $eq: [{ $getField: 'op_name.x' }, one] }, 422, /op_name\.x/],
    ['neutral spelling', { $eq: [{ $getField: 'user_id' }, one] }, 422, /user_id/],
    ['storage size', { $gt: [{ $getField: 'storage_size_bytes' }, one] }, 422, /storage_size_bytes/],
    ['total storage size', { $gt: [{ $getField: 'total_storage_size_bytes' }, one] }, 422, /total_storage_size_bytes/],
    [
      'summary field',
      { $gt: [{ $getField: 'summary.weave.costs' }, one] },
      422,
      /^Summary field 'costs' is not allowed/,
    ],
    ['negative index', { $eq: [{ $getField: 'inputs.a.-1' }, one] }, 422, /-1/],
    ['many indexes', { $eq: [{ $getField: `inputs${'.0'.repeat(21)}` }, one] }, 422, /indexes/],
    ['list column', { $eq: [{ $getField: 'input_refs' }, one] }, 422, /input_refs/],
    ['list column as condition', { $and: [{ $getField: 'output_refs' }] }, 422, /output_refs/],
    ['feedback column', { $eq: [{ $getField: 'feedback.[x].creator' }, one] }, 422, /feedback/],
    ['feedback path', { $eq: [{ $getField: 'feedback.x.payload' }, one] }, 422, /feedback/],
    ['queue column', { $eq: [{ $getField: 'annotation_queue_items.id' }, one] }, 422, /annotation_queue_items/],
  ]
  it.each(cases)('%s', (_, expr, status, reason) => {
    const fault = refused(expr)
    expect([fault?.status, fault?.body.reason]).toEqual([status, expect.stringMatching(reason)])
  })

  it('accepts the spellings of the prefix', () => {
    expect(refused({ $eq: [{ $getField: 'platform_user_id' }, one] })).toBeNull()
    expect(refused({ $eq: [{ $getField: 'wb_user_id' }, one] })).toBeNull()
  })

  it('accepts underscored operators, unknown keys beside them, and null', () => {
    expect(refused({ eq_: [{ get_field_: 'inputs.a' }, { literal_: 1 }], hint: 1 })).toBeNull()
    expect(refused({ $contains: { input: a, substr: one, case_insensitive: null, x: 1 } })).toBeNull()
    expect(refusal({ query: null, filter: null, sort_by: null })).toBeNull()
  })

  it('refuses fields that may not be sorted by', () => {
    for (const field of ['input_refs', 'storage_size_bytes', 'colour', 'annotation_queue_items.id', 'inputs.-1'])
      expect(refusal({ sort_by: [{ field, direction: 'asc' }] })?.status).toBe(422)
  })
})

describe('size', () => {
  const eq = (n: number) => ({ $eq: [{ $getField: `inputs.a${n}` }, { $literal: n }] })

  it('refuses ten thousand nested conditions', () => {
    let deep: unknown = eq(0)
    for (let i = 0; i < 10_000; i++) deep = { $not: [deep] }
    expect(refused(deep)?.status).toBe(413)
  })

  it('takes two hundred nested conditions of one kind', () => {
    let deep: unknown = eq(0)
    for (let i = 1; i < 200; i++) deep = { $and: [deep, eq(i)] }
    expect(refused(deep)).toBeNull()
  })

  it('refuses more nesting than the engine takes', () => {
    let deep: unknown = eq(0)
    for (let i = 0; i < 60; i++) deep = { $not: [{ $and: [deep, eq(i)] }] }
    expect(refused(deep)).toMatchObject({ status: 400 })
  })

  it('refuses ten thousand conditions, and shared operands that multiply', () => {
    expect(refused({ $or: Array.from({ length: 10_000 }, (_, i) => eq(i)) })?.status).toBe(400)
    let doubling: unknown = a
    for (let i = 0; i < 60; i++) doubling = { $in: [doubling, [{ $getField: 'inputs.b' }, { $getField: 'inputs.c' }]] }
    expect(refused(doubling)?.status).toBe(400)
  })

  it('refuses more than a hundred texts from other tables', () => {
    const given = (n: number) => ({ $eq: [{ $getField: `feedback.[t${n % 100}].payload.x` }, { $literal: n }] })
    const behind = (n: number) => ({ $eq: [{ $getField: `inputs.p${n}.x` }, { $literal: n }] })
    const any = (of: object[]) => ({
      query: { $expr: { $or: of } },
      expand_columns: [...Array(101).keys()].map((n) => `inputs.p${n}`),
    })
    const many = (length: number, one: (n: number) => object) => any(Array.from({ length }, (_, n) => one(n)))
    expect(refusal(many(300, given))).toBeNull()
    expect(refusal(many(100, behind))).toBeNull()
    expect(refusal(many(101, behind))?.status).toBe(400)
  })

  it('takes long lists of literals', () => {
    const literals = (n: number) => Array.from({ length: n }, (_, i) => ({ $literal: `id${i}` }))
    expect(refused({ $in: [{ $getField: 'id' }, literals(20_000)] })).toBeNull()
    expect(refused({ $in: [{ $getField: 'id' }, literals(20_001)] })?.status).toBe(400)
    expect(refused({ $or: literals(3000).map((id) => ({ $eq: [{ $getField: 'id' }, id] })) })).toBeNull()
  })
})

describe('filter lists', () => {
  it.each([
    'op_names',
    'input_refs',
    'output_refs',
    'parent_ids',
    'trace_ids',
    'call_ids',
    'thread_ids',
    'turn_ids',
    'platform_run_ids',
    'wb_run_ids',
  ])('%s takes a thousand values', (name) => {
    const list = (length: number) => ({ filter: { [name]: Array.from({ length }, (_, i) => `x${i}`) } })
    expect(refusal(list(1000))).toBeNull()
    const fault = refusal(list(1001))
    expect([fault?.status, fault?.body.reason]).toEqual([400, expect.stringMatching(`${name}.*1000.*1001`)])
  })

  it('does not bound user ids', () => {
    expect(refusal({ filter: { platform_user_ids: Array.from({ length: 1001 }, String) } })).toBeNull()
  })
})
