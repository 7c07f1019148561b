// Filters and orders of a list of traces: what they ask of whole traces, what of the root alone, and what is refused.
import { describe, expect, it } from 'vitest'
import {
  callsSearch,
  isOfTraces,
  listRequest,
  ofTracesWithErrors,
  parsed,
  parsedList,
  sortOf,
  withErrors,
} from '../../services/web/page/engine/calls-search.ts'
import { plainFieldsOf } from '../../services/web/page/engine/completion.ts'
import { chartOfList } from '../../services/web/page/engine/dashboard-filters.ts'
import { narrowedLine } from '../../services/web/page/engine/filter-acts.ts'
import { queryText } from '../../services/web/page/engine/query-text.ts'
import { kinds } from '../../services/web/page/views/kinds.ts'

type View = 'all' | undefined
const requestIn = (q: string, view: View = undefined) =>
  listRequest('a/b', { q, view }, parsedList({ q, view }).expression, 1_000_000, () => 'UTC')
const query = (q: string, view?: View) => requestIn(q, view).query?.$expr
const problems = (q: string, view?: View) =>
  parsedList({ q, view }).problems.map(({ message, fixes }) => [message, ...fixes.map((fix) => fix.q)])

const field = (name: string) => ({ $getField: name })
const compare = (operator: string, name: string, value: unknown) => ({ [operator]: [field(name), { $literal: value }] })
const above = (name: string, value: number) => compare('$gt', name, value)
const contains = (name: string, substr: string) => ({
  $contains: { input: field(name), substr: { $literal: substr }, case_insensitive: true },
})

describe('terms', () => {
  it('of what is used, of errors, spans and duration mean the whole trace of a root', () => {
    expect(query('errors>0')).toEqual(above('trace.errors', 0))
    expect(query('spans>=1k')).toEqual(compare('$gte', 'trace.spans', 1_000))
    expect(query('cost>$0.1')).toEqual(above('trace.cost', 0.1))
    expect(query('tokens>1k')).toEqual(above('trace.total_tokens', 1_000))
    expect(query('input_tokens<5')).toEqual(compare('$lt', 'trace.input_tokens', 5))
    expect(query('output_tokens:5')).toEqual(compare('$eq', 'trace.output_tokens', 5))
    expect(query('duration>2s')).toEqual(above('trace.duration_ms', 2_000))
    expect(query('model:gpt-4o')).toEqual(contains('trace.models', 'gpt-4o'))
    expect(query('model~gpt')).toEqual(contains('trace.model', 'gpt'))
  })

  it('of anything else mean the root, and those of all calls the call', () => {
    expect(query('latency>2s')).toEqual(above('summary.weave.latency_ms', 2_000))
    expect(query('status:error')).toEqual(compare('$eq', 'summary.weave.status', 'error'))
    expect(query('cost>0.1', 'all')).toEqual(above('summary.weave.cost', 0.1))
    expect(query('model:gpt-4o', 'all')).toEqual(contains('summary.weave.models', 'gpt-4o'))
    expect(query('tokens>1k', 'all')).toEqual(above('summary.weave.tokens', 1_000))
  })

  it('stand together, as alternatives of one another, and turned round', () => {
    const failed = above('trace.errors', 0)
    const isBlue = compare('$eq', 'inputs.tenant', 'blue')
    expect(query('errors>0 inputs.tenant:blue')).toEqual({ $and: [failed, isBlue] })
    expect(query('errors>0 OR inputs.tenant:blue')).toEqual({ $or: [failed, isBlue] })
    expect(query('-errors>0')).toEqual({ $not: [failed] })
    expect(query('-(model:x OR inputs.tenant:blue)')).toEqual({
      $not: [{ $or: [contains('trace.models', 'x'), isBlue] }],
    })
    expect(requestIn('op:chat errors>0')).toMatchObject({
      filter: { trace_roots_only: true, op_names: ['chat', 'weave:///a/b/op/chat:*'] },
      query: { $expr: failed },
    })
  })

  it('ask whether anything was used by a model', () => {
    const used = { $gt: [{ $size: field('trace.models') }, { $literal: 0 }] }
    const exists = (name: string) => ({
      $eq: [{ $convert: { input: field(name), to: 'exists' } }, { $literal: true }],
    })
    expect(query('has:model')).toEqual(used)
    expect(query('-has:cost')).toEqual({ $not: [{ $and: [used, exists('trace.cost')] }] })
    expect(query('has:cost', 'all')).toEqual(exists('summary.weave.cost'))
  })

  it('are refused where rows are no traces, each with what may be meant', () => {
    const choose = (name: string) => `${name} is a field of traces: choose Traces`
    expect(problems('errors>0', 'all')).toEqual([[choose('errors'), 'status:error']])
    expect(problems('-spans>5 model:x', 'all')).toEqual([[choose('spans')]])
    expect(problems('op:a OR duration>2s', 'all')).toEqual([[choose('duration'), 'op:a OR latency>2s']])
    expect(problems('has:errors', 'all')).toEqual([[choose('errors')]])
    for (const q of ['errors>0', 'spans>5', 'duration>2s', 'has:model has:cost has:tokens'])
      expect(problems(q)).toEqual([])
    expect(problems('has:errors')).toEqual([['Every trace has errors', 'errors>0']])
    expect(problems('failures>0')).toEqual([['Unknown field failures', 'errors>0', '"failures>0"']])
    expect(problems('errors>many')).toEqual([[expect.stringContaining('errors must be a number')]])
    // A filter with one that is refused asks for nothing at all.
    expect(parsed('op:a errors>0')).toMatchObject({
      expression: [],
      fault: { message: 'errors is a field of traces: add is:root to count traces' },
    })
  })

  it('mean calls where the filter names them, and traces where it asks for roots', () => {
    const choose = 'errors is a field of traces: a filter by id, trace or parent is of calls'
    expect(problems('trace:abc errors>0')[0]?.[0]).toBe(choose)
    expect(problems('id:abc errors>0')[0]?.[0]).toBe(choose)
    expect(query('trace:abc cost>1')).toEqual(above('summary.weave.cost', 1))
    expect(isOfTraces(requestIn('trace:abc'))).toBe(false)
    // Alternatives name none.
    expect(problems('trace:abc OR errors>0')).toEqual([])
    expect(query('is:root errors>0', 'all')).toEqual(above('trace.errors', 0))
    expect(isOfTraces(requestIn('is:root errors>0', 'all'))).toBe(true)
  })

  it('are offered where they can be asked', () => {
    expect(plainFieldsOf('traces')).toEqual(
      expect.arrayContaining(['errors>', 'spans>', 'duration>', 'model:', 'cost>']),
    )
    for (const name of ['errors>', 'spans>', 'duration>']) expect(plainFieldsOf('calls')).not.toContain(name)
  })
})

describe('orders', () => {
  it('of whole traces are those of the list of traces', () => {
    const orderOf = (sort: string, view?: View) =>
      listRequest('a/b', callsSearch({ sort, view }), [], 1_000_000, () => 'UTC').sort_by[0]
    expect(orderOf('errors:desc')).toEqual({ field: 'trace.errors', direction: 'desc' })
    expect(orderOf('tokens:asc')).toEqual({ field: 'trace.total_tokens', direction: 'asc' })
    expect(orderOf('latency:asc', 'all')).toEqual({ field: 'summary.weave.latency_ms', direction: 'asc' })
    for (const sort of ['weight:desc', 'errors:up', 'errors', 'errors:desc:x', '__proto__:asc'])
      expect(callsSearch({ sort })).toEqual({})
  })

  it('are none where rows are calls, and the list says by what it goes', () => {
    expect(callsSearch({ sort: 'errors:desc', view: 'all' })).toEqual({ view: 'all' })
    expect(callsSearch({ sort: 'errors:desc', q: 'trace:x' })).toEqual({ q: 'trace:x' })
    const ofRoots = { sort: 'errors:desc', view: 'all', q: 'is:root' }
    expect(callsSearch(ofRoots)).toEqual(ofRoots)
    expect(sortOf('cost:desc', 'calls')).toBe('started_at:desc')
    expect(sortOf('cost:desc', 'traces')).toBe('cost:desc')
    const named = listRequest('a/b', { sort: 'cost:desc', q: 'trace:x' }, parsed('trace:x').expression, 0, () => 'UTC')
    expect(named.sort_by).toEqual([{ field: 'started_at', direction: 'desc' }])
  })
})

describe('a list', () => {
  it('has those with errors as one more condition', () => {
    expect(withErrors(requestIn('cost>1')).query?.$expr).toEqual({
      $and: [above('trace.cost', 1), above('trace.errors', 0)],
    })
    expect(withErrors(requestIn('')).query?.$expr).toEqual(above('trace.errors', 0))
  })

  it('of failed roots leads to that of traces in which anything failed', () => {
    const others = (q: string, view?: View) => ofTracesWithErrors({ q, view }).map((one) => one.q)
    expect(others('op:a (status:error OR status=error)')).toEqual(['op:a (errors>0 OR errors>0)'])
    expect(
      [others('-status:error'), others('status:errors'), others(''), others('status:error', 'all')].flat(),
    ).toEqual([])
  })

  it('is kept as a view, for other programs by the fields that they know', () => {
    const search = { q: 'errors>0', sort: 'cost:desc' }
    expect(kinds.calls.kept(search)).toEqual(search)
    expect(kinds.calls.definition('a/b', search, () => 'UTC')).toMatchObject({
      filter: { trace_roots_only: true },
      query: { $expr: above('trace.errors', 0) },
      sort_by: [{ field: 'trace.cost', direction: 'desc' }],
    })
  })

  it('becomes a chart of the same traces', () => {
    const { q } = chartOfList({ q: 'errors>0' })
    expect(q).toBe('errors>0 is:root')
    // A dashboard counts all calls unless it is told of roots.
    expect(query(q ?? '', 'all')).toEqual(above('trace.errors', 0))
  })
})

describe('one more condition', () => {
  it.each([
    ['', 'status:error', 'status:error'],
    ['op:a', '-op:b', 'op:a -op:b'],
    ['op:a OR op:b', 'op:c', '(op:a OR op:b) op:c'],
    // What is refused stays, and stays refused.
    ['op:a staus:error', 'op:c', 'op:a staus:error op:c'],
    ['op:a OR errors>x', 'op:c', '(op:a OR errors>x) op:c'],
    ['op:a "open', 'op:c', 'op:c op:a "open'],
  ])('%s with %s', (q, term, expected) => expect(narrowedLine(q, term)).toBe(expected))

  it('is read back as it was', () => {
    const line = narrowedLine('errors>0 OR duration>90s', 'model:"a b"')
    expect(queryText(parsedList({ q: line }).expression)).toBe('(errors>0 OR duration>90s) model:"a b"')
  })
})
