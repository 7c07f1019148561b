// The access path of a query of calls, and the reads that find it.
import { describe, expect, it } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import type { Query } from '../../services/core/store/store.ts'
import type { Candidates } from '../../services/query/calls/access/access-path.ts'
import { chooseAccessPath } from '../../services/query/calls/access/choose.ts'
import { createCountCache } from '../../services/query/calls/access/counts.ts'
import { compileCallsQuery } from '../../services/query/calls/conditions/compile-query.ts'
import { conditionsOf } from '../../services/query/calls/conditions/conditions.ts'
import type { Refine } from '../../services/query/calls/conditions/refine.ts'
import type { CompiledCallsQuery } from '../../services/query/calls/conditions/types.ts'
import { everything, rangeOf, type Scope } from '../../services/query/calls/scope.ts'

const projectId = 'ent/proj' as ProjectId
const eq = (name: string, value: unknown) => ({ $expr: { $eq: [{ $getField: name }, { $literal: value }] } })

/** Rows of (Int64), as the engine sends them. */
function times(...us: number[]): Buffer {
  const bytes = Buffer.alloc(8 * us.length)
  for (const [n, one] of us.entries()) bytes.writeBigInt64LE(BigInt(one), 8 * n)
  return bytes
}

type Answers = Record<string, Buffer | string>

async function choose(
  use: Parameters<typeof chooseAccessPath>[1],
  request: object,
  answers: Answers = {},
  refine: (query: CompiledCallsQuery) => Refine = () => () => expect.unreachable(),
) {
  const reads: string[] = []
  const query = compileCallsQuery({ projectId, ...request })
  const store = {
    async bytes({ name }: Query) {
      reads.push(name)
      return Buffer.from(answers[name] ?? '')
    },
    rows: () => expect.unreachable(),
  }
  const search = {
    reader: { store, projectId, query, options: {}, cache: createCountCache() },
    range: rangeOf(query.facts),
    refine: refine(query),
    order: { startedAt: 'desc', id: 'desc' },
    limit: 50,
    offset: 0,
    rows: 2_000,
  } as const
  const path = await chooseAccessPath(search, use)
  async function candidates(): Promise<Candidates[]> {
    const found: Candidates[] = []
    for await (const one of path.candidates({ hits: 0 })) found.push(one)
    return found
  }
  return { name: path.name, estimate: await path.estimate(), reads, candidates }
}

/** Answers of an installation whose field index covers everything. */
const covered: Answers = { 'calls.field-index-covered': '[0,"7"]\n' }

it.each([
  ['a condition that nothing meets', 'byTime', { filter: { call_ids: ['a'] }, query: eq('id', 'b') }, 'no calls'],
  ['ids', 'byTime', { filter: { call_ids: ['a', 'b'], trace_ids: ['t'] } }, 'keys'],
  ['a trace, counted', 'counted', { filter: { trace_ids: ['t'] } }, 'keys'],
  ['no condition', 'byTime', {}, 'time windows'],
  ['an operation, counted', 'counted', { filter: { op_names: ['x'] } }, 'whole range'],
  ['ids in another order', 'sorted', { filter: { call_ids: ['a'] } }, 'sorted keys of keys'],
  ['another order', 'sorted', { sort_by: [{ field: 'op_name', direction: 'asc' }] }, 'sorted keys of whole range'],
] as const)('%s: a path is chosen without reading', async (_, use, request, name) => {
  const path = await choose(use, request)
  expect({ name: path.name, reads: path.reads }).toEqual({ name, reads: [] })
})

it('a field of a payload leads over the field index once that covers the calls, and over windows of time before', async () => {
  const request = { query: eq('inputs.a', 5) }
  expect(await choose('byTime', request)).toMatchObject({ name: 'time windows' })
  const path = await choose('byTime', request, { ...covered, 'calls.field-index-candidates': times(5, 3) })
  expect(path.name).toBe('field index')
  expect(await path.candidates()).toEqual([
    { scope: { projectId, range: everything, index: null, keys: null, times: [5, 3] }, calls: Infinity },
  ])
})

it('candidates of the field index are few for one statement, else everything is scanned', async () => {
  const request = { query: eq('inputs.a', 5) }
  const few = await choose('whole', request, { ...covered, 'calls.field-index-candidates': times(5, 3) })
  expect(few).toMatchObject({ name: 'field index', estimate: 2 })
  const all = Array.from({ length: 4_000 }, (_, n) => n)
  const many = await choose('whole', request, { ...covered, 'calls.field-index-candidates': times(...all) })
  expect(many).toMatchObject({ name: 'whole range', estimate: Infinity })
})

it('feedback that a condition requires leads to ids, unless there is too much of it', async () => {
  const request = { query: eq('feedback.[x].payload.n', 5) }
  const found = { 'calls.feedback-rows': '["3"]\n', 'calls.pre-filtered-ids': '["a"]\n["b"]\n' }
  const path = await choose('byTime', request, found)
  expect(path).toMatchObject({ name: 'pre-filtered ids', estimate: 2 })
  expect(await path.candidates()).toMatchObject([{ scope: { index: { column: 'id', values: ['a', 'b'] } } }])
  const none = await choose('byTime', request, { ...found, 'calls.pre-filtered-ids': '' })
  expect(none).toMatchObject({ name: 'pre-filtered ids', estimate: 0 })
  expect(await none.candidates()).toEqual([])
  expect(await choose('byTime', request, { 'calls.feedback-rows': '["50001"]\n' })).toMatchObject({
    name: 'time windows',
    reads: ['calls.feedback-rows'],
  })
})

describe('calls in the order of a field, of which some are not indexed yet', () => {
  const lines = (rows: readonly unknown[][]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const places = Array.from({ length: 64 }, (_, n) => n + 1)
  const minute = 3_600
  /** @param notIndexed calls that the field index may lack, @param all of the project */
  const ordered = (notIndexed: number, all: number) => {
    const scopes: Scope[] = []
    const answers = {
      ...covered,
      'calls.field-index-dirty-minutes': lines([[minute, '0']]),
      'calls.field-index-dirty-count': lines([[String(notIndexed)]]),
      'calls.marks': lines([[0]]),
      'calls.total': lines([[String(all), '0']]),
      'calls.field-index-sample': lines([[64, 1, 64]]),
      'calls.field-index-first': lines(places.map((n) => [String(n), 0, n])),
      'calls.field-index-order': lines(places.map((n) => [String(n), `call ${n}`, 1])),
    }
    const refine = (query: CompiledCallsQuery) => (scope: Scope) => {
      scopes.push(scope)
      return Promise.resolve({ scope, conditions: conditionsOf(query) })
    }
    const sort_by = [{ field: 'inputs.n', direction: 'asc' }]
    return choose('sorted', { sort_by }, answers, refine).then((path) => ({ ...path, scopes }))
  }

  it('are found by the index, and the others looked through beside it, where these are few', async () => {
    const { name, estimate, reads, scopes } = await ordered(100_000, 100_000)
    expect([name, estimate]).toEqual(['field order', 50])
    expect(scopes[0]?.within).toEqual([{ fromUs: minute * 1e6, beforeUs: (minute + 60) * 1e6 }])
    // So few are read whatever the project has.
    expect(reads).not.toContain('calls.total')
  })

  it.each([
    [100_001, 300_003, 'field order'],
    [100_001, 300_002, 'sorted keys of whole range'],
    [2_000_000, 6_000_000, 'field order'],
    [2_000_001, 6_000_000, 'sorted keys of whole range'],
  ])('%i of %i calls: %s', async (notIndexed, all, path) => {
    const { name, reads, scopes } = await ordered(notIndexed, all)
    expect(name).toBe(path)
    const isRead = path === 'field order'
    expect([reads.includes('calls.field-index-first'), scopes.some(({ within }) => within)]).toEqual([isRead, isRead])
  })
})
