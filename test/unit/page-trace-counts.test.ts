// Numbers of a trace: how many spans match what is asked for, and the place of the trace in its list.
import { describe, expect, it } from 'vitest'
import { spanCounts } from '../../services/web/page/engine/span-counts.ts'
import { spansOf, treeOf } from '../../services/web/page/engine/tree.ts'
import { neighbours, rememberList } from '../../services/web/page/parts/remembered.ts'

const view = { query: '', onlyCritical: false, kind: '', minShare: 0 } as const

describe('spans that match', () => {
  const matching = 411
  const spans = 1_000
  const of = <Value>(value: (n: number) => Value): Value[] => Array.from({ length: spans }, (_, n) => value(n))
  const nulls = of(() => null)
  const tree = treeOf(
    spansOf({
      trace_id: 't',
      started_at: '2026-01-05T12:00:00Z',
      is_cut: false,
      names: ['search docs', 'other'],
      ops: ['o'],
      kinds: ['llm', 'tool'],
      ...{ models: [], users: [], threads: [], turns: [], errors: [] },
      id: of((n) => n.toString(16).padStart(16, '0')),
      parent: of((n) => (n === 0 ? -1 : 0)),
      name: of((n) => (n < matching ? 0 : 1)),
      op: of(() => 0),
      kind: of((n) => (n % 4 === 0 ? 0 : 1)),
      ...{ model: of(() => -1), user: of(() => -1), thread: of(() => -1), turn: of(() => -1) },
      error: of(() => -1),
      start_us: of((n) => n),
      duration_us: of(() => 1),
      status: of((n) => (n % 2 === 0 ? 0 : 1)),
      ...{ tokens_in: nulls, tokens_out: nulls, cost: nulls },
      counted: { span: [], tokens_in: [], tokens_out: [], cost: [] },
      ...{ feedback: [], size: [], orphans: [] },
    }),
  )

  it('are all counted, whatever is asked for; without a search there is no number', () => {
    const matchCount = (...asked: Parameters<typeof spanCounts>) => spanCounts(...asked).matching
    expect(matchCount(tree, { ...view, query: 'Docs' })).toBe(matching)
    expect(matchCount(tree, { ...view, query: 'nowhere' })).toBe(0)
    expect(matchCount(tree, { ...view, query: 'Docs', status: 'error' })).toBe(205)
    expect(matchCount(tree, { ...view, query: 'x', inPayloads: new Set(['0000000000000001']) })).toBe(1)
    expect(matchCount(tree, view)).toBeUndefined()
    expect(spanCounts(tree, { ...view, mode: 'start' })).toEqual({ all: spans, matching: undefined })
  })

  it('are LLM calls alone in the view of these', () => {
    // Every fourth span is one, whose status is the same.
    const mode = 'messages'
    expect(spanCounts(tree, { ...view, mode })).toEqual({ all: 250, matching: undefined })
    expect(spanCounts(tree, { ...view, mode, query: 'Docs' })).toEqual({ all: 250, matching: 103 })
    expect(spanCounts(tree, { ...view, mode, status: 'error' })).toEqual({ all: 250, matching: 0 })
  })
})

describe('the place of a trace', () => {
  const traces = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `t${from + n}`)
  const placeOf = (rows: Parameters<typeof rememberList>[1], opened: string, asked = opened) => {
    rememberList('a/b', rows, '/list', opened)
    return neighbours('a/b', asked)
  }

  it('is one of all traces of the list, of which a page is here', () => {
    const rows = { traceIds: traces(0, 100), before: 0, total: 411, ofTraces: true }
    expect(placeOf(rows, 't0')).toEqual({ next: 't1', place: 1, of: 411, isMore: false })
    expect(placeOf(rows, 't0', 't99')).toEqual({ previous: 't98', place: 100, of: 411, isMore: false })
    expect(placeOf({ ...rows, traceIds: traces(300, 400), before: 300 }, 't310')).toMatchObject({ place: 311, of: 411 })
    expect(neighbours('a/other', 't310').of).toBe(0)
  })

  it('is one of those that are here, and says so, where nobody knows how many there are', () => {
    const rows = { traceIds: traces(0, 100), before: 0, total: undefined, ofTraces: true }
    expect(placeOf(rows, 't2')).toMatchObject({ place: 3, of: 100, isMore: true })
    // Rows that are calls: two of each trace.
    const calls = { ...rows, traceIds: traces(0, 50).flatMap((one) => [one, one]), ofTraces: false }
    expect(placeOf({ ...calls, total: 411 }, 't2')).toMatchObject({ place: 3, of: 50, isMore: true })
    expect(placeOf({ ...calls, total: 100 }, 't2')).toMatchObject({ place: 3, of: 50, isMore: false })
  })

  it('counts those that are too many to be kept', () => {
    const rows = { traceIds: traces(0, 12_000), before: 0, total: 20_000, ofTraces: true }
    expect(placeOf(rows, 't8000')).toEqual({
      previous: 't7999',
      next: 't8001',
      place: 8_001,
      of: 20_000,
      isMore: false,
    })
  })
})
