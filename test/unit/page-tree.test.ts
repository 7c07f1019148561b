// The tree of a trace in the page: its order, own times, critical path, totals, and what of a call its rows are made of.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sharesOf } from '../../services/content/usage-shares.ts'
import { boxAt, flameOfPaths, flameOfTree, linesMeant, partWith, stepOf } from '../../services/web/page/engine/flame.ts'
import type { Part } from '../../services/web/page/engine/message-parts.ts'
import { namePaths } from '../../services/web/page/engine/name-paths.ts'
import { cellOf, kindOf, rowOf } from '../../services/web/page/engine/rows.ts'
import { idAt, idsOf, markIds, spanOfId, textColumn, textOf } from '../../services/web/page/engine/span-columns.ts'
import { toolSpans } from '../../services/web/page/engine/tool-spans.ts'
import { changeOfPair, matchedSpans } from '../../services/web/page/engine/trace-differences.ts'
import {
  errorsBelow,
  lastChange,
  nextMeant,
  spansOf,
  treeOf,
  visibleLines,
} from '../../services/web/page/engine/tree.ts'
import { runs } from '../fixtures/runs.ts'

const numRuns = runs(200, 5_000)

describe('a trace', () => {
  type Made = [id: string, parent: string | null, fromMs: number, ms: number, tokens?: number]
  const record = (...made: Made): Made => made
  /** As the server tells it (services/query/trace-tree/counted.ts). */
  const countedOf = (places: number[], used: (number | null)[]) => {
    const reported = (place: number) => (used[place] === null ? null : [1, used[place] as number, 0])
    const shares = [...sharesOf(Int32Array.from(places), reported, () => true)]
    const nothing = shares.map(() => null)
    return {
      span: shares.map(([span]) => span),
      tokens_in: shares.map(([, share]) => share[1] ?? 0),
      tokens_out: nothing,
      cost: nothing,
    }
  }
  const treeOfRecords = (records: Made[]) => {
    const ids = records.map(([id]) => id)
    const none = records.map(() => -1)
    const nulls = records.map(() => null)
    const used = records.map(([, , , , tokens]) => tokens ?? null)
    const placeOf = new Map(ids.map((id, n) => [id, n]))
    const places = records.map(([, parent]) => placeOf.get(parent ?? '') ?? -1)
    const list = { kinds: [], models: [], users: [], threads: [], turns: [], errors: [] }
    return treeOf(
      spansOf({
        trace_id: 't',
        started_at: '2026-01-05T12:00:00Z',
        is_cut: false,
        names: ids,
        ops: ids,
        ...list,
        id: ids,
        parent: places,
        name: ids.map((_, n) => n),
        op: ids.map((_, n) => n),
        kind: none,
        model: none,
        user: none,
        thread: none,
        turn: none,
        error: none,
        start_us: records.map(([, , from]) => from * 1_000),
        duration_us: records.map(([, , , ms]) => ms * 1_000),
        status: records.map(() => 0),
        tokens_in: used,
        tokens_out: nulls,
        cost: nulls,
        counted: countedOf(places, used),
        feedback: [],
        size: [],
        orphans: records.flatMap(([, parent], n) => (parent !== null && places[n] === -1 ? [n] : [])),
      }),
    )
  }

  it('knows the spans of the tools that the messages of a call ask for, before it and after it', () => {
    const records = [
      record('agent', null, 0, 100),
      record('search', 'agent', 5, 5),
      record('execute_tool search', 'agent', 20, 5),
      record('chat', 'agent', 40, 10),
      record('Tools.search', 'agent', 60, 5),
      record('execute_tool_search', 'agent', 65, 5),
      record('research', 'agent', 70, 5),
    ]
    const tree = treeOfRecords(records)
    const asked = (id: string | null, name = 'search') => ({ is: 'call' as const, id, name, arguments: '{}' })
    const answer = (id: string | null) => ({ is: 'answer' as const, id, name: null, text: 'x' })
    const linked = (...parts: Part[]) => {
      const found = toolSpans(tree, 3, [{ role: 'assistant', name: null, parts }])
      return parts.filter(({ is }) => is === 'call').map((part) => found.get(part))
    }
    expect(idAt(tree.spans.ids, tree.order[3] as number)).toBe('chat')
    // The conversation began in an earlier trace.
    expect(linked(asked('0'), answer('0'), asked('1'), answer('1'), asked('2'), answer('2'), asked('3'))).toEqual([
      undefined,
      'search',
      'execute_tool search',
      'Tools.search',
    ])
    expect(linked(asked(null), answer(null), asked(null), asked(null))).toEqual([
      'execute_tool search',
      'Tools.search',
      'execute_tool_search',
    ])
    expect(linked(asked('1', 'other'))).toEqual([undefined])
    expect(toolSpans(tree, -1, []).size).toBe(0)
  })

  it('counts what failed below a span, and neither the span itself nor its neighbours', () => {
    const below = (parent: string) => record(`below ${parent}`, parent, 1, 1)
    const tree = treeOfRecords([record('a', null, 0, 9), record('b', 'a', 0, 5), below('b'), record('c', 'a', 5, 4)])
    for (const id of ['b', 'below b', 'c']) tree.spans.status[spanOfId(tree.spans.ids, id)] = 1
    expect(['a', 'b', 'below b', 'c', 'unknown'].map((id) => errorsBelow(tree, id))).toEqual([3, 1, 0, 0, 0])
  })

  it('finds ids, and what they hold, in the one text that has them all', () => {
    const id = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 4 }), fc.constant('cab'))
    const lists = fc.oneof(fc.array(id, { maxLength: 12 }), fc.array(fc.constantFrom<string>('abc', 'cab', 'bca')))
    const needle = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(lists, needle, (list, text) => {
        const ids = idsOf(list)
        expect(list.map((_, span) => idAt(ids, span))).toEqual(list)
        for (const one of [...list, text]) expect(spanOfId(ids, one)).toBe(list.indexOf(one))
        const marks = new Uint8Array(list.length)
        markIds(ids, text, marks)
        expect([...marks]).toEqual(list.map((one) => (one.includes(text) ? 1 : 0)))
      }),
      { numRuns },
    )
  })

  it.each([0, 1, 127, 128, 129, 32_768, 32_769])('keeps the places of %d distinct texts', (length) => {
    const texts = Array.from({ length }, (_, n) => `text ${n}`)
    const made = textColumn(texts, [...texts.keys(), -1])
    expect(texts.every((text, n) => textOf(made, n) === text)).toBe(true)
    expect(textOf(made, length)).toBe('')
  })

  it('keeps each span once, below its parent, whatever the parents are', () => {
    const spans = fc.array(fc.tuple(fc.nat(14), fc.nat(100), fc.nat(50)), { minLength: 1, maxLength: 15 })
    fc.assert(
      fc.property(spans, (list) => {
        const records = list.map(([parent, from, ms], n) =>
          record(`s${n}`, parent === n ? null : `s${parent}`, from, ms),
        )
        const tree = treeOfRecords(records)
        expect([...tree.order].sort((a, b) => a - b)).toEqual(list.map((_, n) => n))
        for (const [line, span] of tree.order.entries()) {
          expect(tree.lineOf[span]).toBe(line)
          expect(tree.end[line]).toBeGreaterThan(line)
          expect(tree.own[span]).toBeGreaterThanOrEqual(0)
          if (line > 0) expect(tree.depth[line]).toBeLessThanOrEqual((tree.depth[line - 1] as number) + 1)
        }
      }),
      { numRuns },
    )
  })

  it('is a flame graph by time, and by paths that fit below what called them', () => {
    const tree = treeOfRecords([
      record('root', null, 0, 100),
      record('one', 'root', 0, 40),
      record('leaf', 'one', 10, 20),
      record('two', 'root', 50, 100),
    ])
    const flame = flameOfTree(tree, 0)
    const boxes = (of: typeof flame) =>
      Array.from({ length: of.count }, (_, n) => [
        of.nameOf(n),
        of.level[n],
        (of.from[n] ?? 0) / 1e3,
        (of.to[n] ?? 0) / 1e3,
      ])
    expect(boxes(flame)).toEqual([
      ['root', 0, 0, 100],
      ['one', 1, 0, 40],
      ['leaf', 2, 10, 30],
      ['two', 1, 50, 150],
    ])
    expect([boxAt(flame, 20_000, 2), boxAt(flame, 45_000, 1), boxAt(flame, 60_000, 1)]).toEqual([2, -1, 3])
    // A box out of view is brought into it, and the time that shows stays as long.
    const part = (box: number, from: number, to: number) => partWith(flame, box, { from, to })
    expect([part(2, 25_000, 60_000), part(3, 0, 51_000)]).toEqual([undefined, undefined])
    expect(part(2, 60_000, 70_000)).toEqual({ from: 10_000, to: 20_000 })
    expect(part(3, 0, 40_000)).toEqual({ from: 50_000, to: 90_000 })
    expect(part(1, 140_000, 150_000)).toEqual({ from: 0, to: 10_000 })
    const step = (box: number, key: Parameters<typeof stepOf>[2]) => stepOf(flame, box, key)
    expect([step(0, 'ArrowDown'), step(2, 'ArrowUp'), step(1, 'ArrowRight'), step(3, 'ArrowLeft')]).toEqual([
      1, 1, 3, 1,
    ])
    expect([step(2, 'ArrowDown'), step(0, 'ArrowUp'), step(-1, 'ArrowLeft'), step(3, 'Home')]).toEqual([2, 0, 0, 0])
    const linesOf = (of: typeof flame, ...names: string[]) => [
      ...linesMeant(of, tree, (span) => names.includes(textOf(tree.spans.names, span))),
    ]
    expect(linesOf(flame, 'leaf', 'two')).toEqual([-1, -1, 2, 3])
    const isMeant = (place: number) => [1, 3].includes(place)
    const next = (at: number, by: 1 | -1) => nextMeant(4, at, by, isMeant)
    expect([next(-1, 1), next(1, 1), next(3, 1), next(-1, -1), next(3, -1), next(1, -1)]).toEqual([1, 3, 1, 3, 1, 3])
    expect(nextMeant(4, 1, 1, () => false)).toBeUndefined()
    // Below the root 140 ms were taken in 100: side by side they are as narrow as it is.
    const byPath = flameOfPaths(namePaths(tree))
    expect(
      boxes(byPath).map(([name, level, from, to]) => [name, level, Math.round(Number(from)), Math.round(Number(to))]),
    ).toEqual([
      ['root', 0, 0, 100],
      ['two', 1, 0, 71],
      ['one', 1, 71, 100],
      ['leaf', 2, 71, 86],
    ])
    expect(linesOf(byPath, 'leaf', 'two')).toEqual([-1, 3, -1, 2])
  })

  it('stands in the order of starts, and by the path of names with what all calls of one took', () => {
    const tree = treeOfRecords([
      record('root', null, 0, 100),
      record('late', 'root', 50, 10),
      record('early', 'root', 10, 20),
      record('inner', 'late', 5, 5),
    ])
    const view = { collapsed: new Uint8Array(4), query: '', onlyCritical: false, kind: '', minShare: 0 } as const
    const shown = [...visibleLines(tree, { ...view, mode: 'start' })]
    expect(shown.map((line) => textOf(tree.spans.names, tree.order[line] as number))).toEqual([
      'root',
      'inner',
      'early',
      'late',
    ])
    expect(lastChange(tree.spans)).toBe(100_000)
    expect(namePaths(tree).paths.map(({ name, depth, calls, totalUs }) => [name, depth, calls, totalUs])).toEqual([
      ['root', 0, 1, 100_000],
      ['early', 1, 1, 20_000],
      ['late', 1, 1, 10_000],
      ['inner', 2, 1, 5_000],
    ])
  })

  it('is matched with another by name and order, level by level; what is in one alone stands where it was', () => {
    const before = treeOfRecords([
      record('agent', null, 0, 100),
      record('chat', 'agent', 0, 40, 10),
      record('tool', 'agent', 40, 20),
      record('search', 'tool', 41, 10),
      record('answer', 'agent', 60, 40),
    ])
    const now = treeOfRecords([
      record('agent', null, 0, 150),
      record('chat', 'agent', 0, 90, 25),
      record('check', 'agent', 90, 10),
      record('below', 'check', 91, 5),
      record('answer', 'agent', 100, 50),
    ])
    const { pairs, isCut } = matchedSpans([before, 0], [now, 0])
    const shown = pairs.map((pair) => [
      pair.depth,
      pair.name,
      pair.a?.ms ?? null,
      pair.b?.ms ?? null,
      changeOfPair(pair),
    ])
    expect([isCut, shown]).toEqual([
      false,
      [
        [0, 'agent', 100, 150, 50],
        [1, 'chat', 40, 90, 50],
        [1, 'tool', 20, null, -20],
        [2, 'search', 10, null, -10],
        [1, 'check', null, 10, 10],
        [2, 'below', null, 5, 5],
        [1, 'answer', 40, 50, 10],
      ],
    ])
    expect(pairs.map(({ a, b }) => [a?.tokens ?? null, b?.tokens ?? null]).slice(0, 2)).toEqual([
      [10, 25],
      [10, 25],
    ])
    expect(matchedSpans([before, 0], [now, 0], { most: 3 })).toMatchObject({ isCut: true, pairs: { length: 3 } })
    // Both sides begin at a span within a trace.
    expect(matchedSpans([before, 2], [before, 2]).pairs.map(({ name }) => name)).toEqual(['tool', 'search'])
  })

  it('holds every span of two traces once when they are matched, however deep they are', () => {
    const parents = fc.array(fc.nat(14), { minLength: 1, maxLength: 15 })
    const made = (list: number[]) =>
      treeOfRecords(list.map((parent, n) => record(`s${n}`, n === 0 ? null : `s${parent % n}`, n, 5)))
    fc.assert(
      fc.property(parents, parents, (one, other) => {
        const { pairs } = matchedSpans([made(one), 0], [made(other), 0])
        const sorted = (ids: (string | undefined)[]) => ids.filter((id) => id !== undefined).sort()
        expect(sorted(pairs.map(({ a }) => a?.id))).toEqual(sorted(one.map((_, n) => `s${n}`)))
        expect(sorted(pairs.map(({ b }) => b?.id))).toEqual(sorted(other.map((_, n) => `s${n}`)))
      }),
      { numRuns },
    )
    const deep = treeOfRecords(
      Array.from({ length: 20_000 }, (_, n) => record(`s${n}`, n === 0 ? null : `s${n - 1}`, 0, 5)),
    )
    expect(matchedSpans([deep, 0], [deep, 0], { most: 30_000, limitMs: 60_000 }).pairs).toHaveLength(20_000)
  })

  it('has a critical path, own times, and shows matches with what is above them', () => {
    const tree = treeOfRecords([
      record('root', null, 0, 100),
      record('first', 'root', 0, 40),
      record('beside', 'root', 0, 30),
      record('last', 'root', 40, 60),
      record('inner', 'last', 50, 50),
    ])
    const names = Array.from(tree.order, (_, span) => idAt(tree.spans.ids, span))
    const named = (marks: ArrayLike<number>) => names.filter((_, span) => marks[span] === 1)
    expect(named(tree.critical)).toEqual(['root', 'first', 'last', 'inner'])
    expect(tree.own[names.indexOf('last')]).toBe(10_000)
    expect(tree.own[0]).toBe(0)
    const view = { collapsed: new Uint8Array(5), query: 'inner', onlyCritical: false, kind: '' as const, minShare: 0 }
    const shown = [...visibleLines(tree, view)].map((line) => names[tree.order[line] as number])
    expect(shown).toEqual(['root', 'last', 'inner'])
    const closed = Uint8Array.from(tree.order, (_, line) => Number(line === 0))
    expect([...visibleLines(tree, { ...view, query: '', collapsed: closed })]).toEqual([0])
  })

  it('has totals of spans with what is below them, once where parents report the sum of their children', () => {
    const tree = treeOfRecords([
      record('root', null, 0, 100),
      record('agent', 'root', 0, 60, 30),
      record('chat', 'agent', 0, 30, 10),
      record('other chat', 'agent', 30, 30, 20),
      record('alone', 'root', 60, 40, 5),
      record('tool', 'root', 60, 40),
    ])
    expect([...tree.total.tokens]).toEqual([35, 30, 10, 20, 5, Number.NaN])
    expect([...tree.total.cost]).toEqual(Array(6).fill(Number.NaN))
  })

  it('is laid out for 100,000 spans', () => {
    const parentOf = (n: number) => (n === 0 ? null : `s${Math.floor((n - 1) / 8)}`)
    const tree = treeOfRecords(Array.from({ length: 100_000 }, (_, n) => record(`s${n}`, parentOf(n), n, 5)))
    expect(tree.end[0]).toBe(100_000)
  })

  it('takes few bytes of each span, as its neighbours in a list are read while it is kept', () => {
    const width = (n: number) => `s${String(n).padStart(15, '0')}`
    const { spans } = treeOfRecords(Array.from({ length: 10_000 }, (_, n) => record(width(n), null, n, 5)))
    const {
      ids,
      names,
      models,
      errors,
      count: _,
      baseUs: __,
      orphans: ___,
      isCut: ____,
      counted: _____,
      ...columns
    } = spans
    const all = [...Object.values(columns), names.places, models.places, errors.places, ids.starts]
    const bytes = all.reduce((sum, { byteLength }) => sum + byteLength, ids.joined.length)
    expect(bytes / 10_000).toBeLessThan(36)
  })

  it('keeps the microseconds of times, whatever stands before and after them', () => {
    const times = ['05T12:00:00.123456Z', '05T12:00:00Z', '05T12:00:01.5Z', '05T12:00:00.000001Z', '06T00:00:00.1Z']
    const micros = times.map((time) => rowOf({ started_at: `2026-01-${time}` }).startedUs - 1_767_614_400_000_000)
    expect(micros).toEqual([123_456, 0, 1_500_000, 1, 43_200_100_000])
  })

  it('takes kinds from what instrumentation records, and no prototype for a value', () => {
    expect(kindOf({ 'gen_ai.operation.name': 'execute_tool' }, 'x', null)).toBe('tool')
    expect(kindOf({ openinference: { span: { kind: 'RETRIEVER' } } }, 'x', null)).toBe('retrieval')
    expect(kindOf({ operation_name: 'search_memory', kind: 'memory' }, 'x', null)).toBe('retrieval')
    // A trace is told the first word alone.
    for (const [word, kind] of [
      ['plan', 'agent'],
      ['invoke_workflow', 'agent'],
      ['upsert_memory', 'retrieval'],
      ['delete_memory_store', 'retrieval'],
      ['mcp', 'other'],
    ])
      expect(kindOf({ operation_name: word }, 'x', null)).toBe(kind)
    expect(kindOf({ operation_name: 'constructor' }, 'x', null)).toBe('other')
    expect(kindOf({}, 'chat gpt', null)).toBe('llm')
    const hostile = JSON.parse(
      '{"__proto__":{"weave":{"status":"error"}},"op_name":"a","started_at":"2026-01-01T00:00:00Z"}',
    )
    expect(rowOf(hostile).status).toBe('success')
    expect(cellOf({ 'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }] })).toBe('Hi')
    const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } }
    const choices = (message: object) => ({ choices: [{ index: 0, message: { role: 'assistant', ...message } }] })
    expect(cellOf(choices({ content: 'Ho' }))).toBe('Ho')
    expect(cellOf(choices({ content: null, tool_calls: [call] }))).toBe('find({"a":1})')
    expect(cellOf({ question: 'Why?' })).toBe('Why?')
  })
})
