// The page's engines, which run anywhere: filters as text, JSON by bytes, lines of trees, text that deceives, contrasts.
// again: property
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completed, fieldOfPath, writtenAt } from '../../services/web/page/engine/completion.ts'
import { columnMoney, count, duration, money, plural } from '../../services/web/page/engine/format.ts'
import {
  findBytes,
  kindAt,
  type LongEnds,
  membersAt,
  skipSpace,
  skipValue,
  stringAt,
  stringHead,
  textBetween,
} from '../../services/web/page/engine/json-index.ts'
import { lineOfPath, linesOf, type Open, opened, pathOfLine } from '../../services/web/page/engine/json-rows.ts'
import { requestOf } from '../../services/web/page/engine/query-request.ts'
import { type Expression, parseQuery, queryText, type Term } from '../../services/web/page/engine/query-text.ts'
import { piecesOf, plainOf } from '../../services/web/page/engine/safe-text.ts'
import { bucketFor, rangeOfBuckets } from '../../services/web/page/engine/time-axis.ts'
import { runs } from '../fixtures/runs.ts'

const numRuns = runs(200, 5_000)

describe('a filter', () => {
  const dayAndTime = fc.constantFrom('2026-01-05', '12:00', '+02:00', 'pm')
  const value = fc.oneof(fc.string({ maxLength: 12 }), dayAndTime, fc.integer(), fc.boolean(), fc.constant(null))
  const field = fc.constantFrom(
    'started',
    'status',
    'latency',
    'inputs.k',
    'output',
    'attributes.a.b',
    'feedback.quality',
    'op',
    'error',
  )
  const leaf: fc.Arbitrary<Term> = fc.oneof(
    fc.record({
      type: fc.constant('cond' as const),
      not: fc.boolean(),
      field,
      operator: fc.constantFrom(':', '=', '>', '>=', '<', '<=', '~'),
      values: fc.array(value, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ type: fc.constant('is' as const), not: fc.boolean(), what: fc.constantFrom('root', 'running') }),
    fc.record({ type: fc.constant('has' as const), not: fc.boolean(), field }),
    fc.record({
      type: fc.constant('word' as const),
      not: fc.boolean(),
      text: fc.oneof(fc.string({ minLength: 1, maxLength: 12 }), dayAndTime),
    }),
  )
  const group = (inner: fc.Arbitrary<Term>): fc.Arbitrary<Term> =>
    fc.record({
      type: fc.constant('group' as const),
      not: fc.boolean(),
      any: fc.array(fc.array(inner, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
    })
  const terms = fc.oneof(leaf, group(fc.oneof(leaf, group(leaf))))
  const expressions: fc.Arbitrary<Expression> = fc.array(fc.array(terms, { minLength: 1, maxLength: 4 }), {
    maxLength: 3,
  })

  it('reads back what it writes, whatever the tree', () => {
    fc.assert(
      fc.property(expressions, (tree) => {
        expect(parseQuery(queryText(tree))).toEqual(tree)
      }),
      { numRuns },
    )
  })

  it('keeps a value that begins with an equals sign apart from the operator before it', () => {
    const tree: Expression = [[{ type: 'cond', not: false, field: 'status', operator: '<', values: ['=a'] }]]
    expect(parseQuery(queryText(tree))).toEqual(tree)
  })

  it('reads any text or says where it cannot, and its own text is stable', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40, unit: fc.constantFrom(...'ab.:<>=~()"-\\ ,OR1isroot') }), (text) => {
        let tree: Expression
        try {
          tree = parseQuery(text)
        } catch (error) {
          expect(error).toMatchObject({ at: expect.any(Number) })
          return
        }
        const once = queryText(tree)
        expect(queryText(parseQuery(once))).toBe(once)
      }),
      { numRuns },
    )
  })

  it('becomes the request that indexes serve where it can', () => {
    const of = (text: string) => requestOf(parseQuery(text), 'a/b', { zoneOf: () => 'UTC' })
    expect(of('is:root op:answer thread:t')).toEqual({
      filter: { trace_roots_only: true, op_names: ['answer', 'weave:///a/b/op/answer:*'], thread_ids: ['t'] },
    })
    expect(of('status:error latency>2s').query).toEqual({
      $expr: {
        $and: [
          { $eq: [{ $getField: 'summary.weave.status' }, { $literal: 'error' }] },
          { $gt: [{ $getField: 'summary.weave.latency_ms' }, { $literal: 2000 }] },
        ],
      },
    })
    expect(of('-inputs.k>0.5').query).toEqual({
      $expr: { $not: [{ $gt: [{ $convert: { input: { $getField: 'inputs.k' }, to: 'double' } }, { $literal: 0.5 }] }] },
    })
    expect(of('trace:x OR user:y').filter).toEqual({})
  })
})

describe('JSON by bytes', () => {
  const bytesOf = (text: string) => new TextEncoder().encode(text)
  /** The value, put together again from what the index finds. */
  function rebuilt(bytes: Uint8Array, at: number): unknown {
    const kind = kindAt(bytes, at)
    if (kind !== 'object' && kind !== 'array') return JSON.parse(textBetween(bytes, at, skipValue(bytes, at)))
    const { count, keys, starts, ends } = membersAt(bytes, at)
    const values = Array.from({ length: count }, (_, n) => {
      expect(skipValue(bytes, starts[n] as number)).toBe(ends[n])
      return rebuilt(bytes, starts[n] as number)
    })
    if (kind === 'array') return values
    return Object.fromEntries(
      values.map((value, n) => [stringAt(bytes, keys[n] as number, skipValue(bytes, keys[n] as number)), value]),
    )
  }

  it('finds every member where a parser does', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(3), (text, spaces) => {
        const bytes = bytesOf(`  ${JSON.stringify(JSON.parse(text), null, spaces)} `)
        expect(rebuilt(bytes, skipSpace(bytes, 0))).toEqual(JSON.parse(text))
      }),
      { numRuns },
    )
  })

  it('knows where long containers end after walking over the whole once', () => {
    const rows = Array.from({ length: 400 }, (_, n) => ({ n, text: `"]} ${'x'.repeat(60)}` }))
    const bytes = bytesOf(JSON.stringify({ call: { inputs: { rows, few: [1] }, output: [rows, { more: rows }] } }))
    const long: LongEnds = new Map()
    expect(skipValue(bytes, 0, long)).toBe(bytes.length)
    const all: number[] = []
    const walk = (at: number): void => {
      const { count, starts, ends } = membersAt(bytes, at)
      all.push(at)
      for (let n = 0; n < count; n++) {
        const start = starts[n] as number
        if ((ends[n] as number) - start > 16_384) walk(start)
        else expect(long.has(start)).toBe(false)
      }
    }
    walk(0)
    expect([...long].sort(([a], [b]) => a - b)).toEqual(all.map((at) => [at, skipValue(bytes, at)]))
    for (const at of all) expect(membersAt(bytes, at, long)).toEqual(membersAt(bytes, at))
  })

  it('shows the head of a string without reading the rest', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.nat(20), (text, characters) => {
        const bytes = bytesOf(JSON.stringify(text))
        const known = Math.max(0, characters - 2)
        expect(stringHead(bytes, 0, bytes.length, characters).slice(0, known)).toBe(text.slice(0, known))
      }),
      { numRuns },
    )
  })

  it('takes broken texts without end or crash, and finds texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:1a\\ '), maxLength: 30 }), (text) => {
        const bytes = bytesOf(text)
        expect(membersAt(bytes, 0).count).toBeLessThanOrEqual(text.length)
        expect(skipValue(bytes, 0)).toBeLessThanOrEqual(bytes.length)
      }),
      { numRuns },
    )
    expect(findBytes(bytesOf('aab aab'), bytesOf('ab'), 0, 7, 9)).toEqual([1, 5])
  })

  it('knows the lines of an open tree', () => {
    const above = (inner: fc.Arbitrary<Open>): fc.Arbitrary<Open> =>
      fc.tuple(fc.nat(6), fc.array(fc.tuple(fc.nat(5), inner), { maxLength: 3 })).map(([count, children]) => {
        const one = opened(count)
        for (const [place, child] of children) if (place < count) one.children.set(place, child)
        return one
      })
    const tree = above(above(above(fc.nat(4).map(opened))))
    const walk = (open: Open, path: number[] = []): number[][] =>
      Array.from({ length: open.count }, (_, place) => {
        const child = open.children.get(place)
        return [[...path, place], ...(child ? walk(child, [...path, place]) : [])]
      }).flat()
    fc.assert(
      fc.property(tree, (open) => {
        const paths = walk(open)
        expect(linesOf(open)).toBe(paths.length)
        for (const [line, path] of paths.entries()) {
          expect(pathOfLine(open, line)).toEqual(path)
          expect(lineOfPath(open, path)).toBe(line)
        }
        expect(pathOfLine(open, paths.length)).toBeUndefined()
      }),
      { numRuns },
    )
  })
})

describe('text', () => {
  it('shows marks where a character deceives, and is otherwise what it was', () => {
    expect(plainOf('a\u202eb\u0000\u200b')).toBe('a[RLO]b[NUL][ZWSP]')
    expect(plainOf('👩‍💻 é\tx')).toBe('👩‍💻 é\tx')
    expect(plainOf(`a${'\u0301'.repeat(200)}b`)).toBe(`a${'\u0301'.repeat(8)}b`)
    expect(plainOf('\ud800')).toBe('[U+D800]')
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 50 }), (line) => {
        expect(
          piecesOf(line, 1_000).every((piece) => typeof piece !== 'string' || !/[\u202a-\u202e]/.test(piece)),
        ).toBe(true)
      }),
      { numRuns },
    )
  })

  it('rounds no money to nothing and keeps three digits of times', () => {
    expect([money(0.0000123), money(0), money(1.2345)]).toEqual(['$0.0000123', '$0', '$1.23'])
    const column = [0.00000999, 0.00001, 0.0000862, 0.000126, 0, null].map(columnMoney)
    expect(column).toEqual(['<$0.00001', '$0.000010', '$0.000086', '$0.000126', '$0', '–'])
    expect([duration(0.812), duration(1240), duration(75_000)]).toEqual(['812 µs', '1.24 s', '75.0 s'])
  })

  it('parts the thousands of numbers, and spells small ones as the browser does', () => {
    for (const value of [0, 7, 999, -999, 1_000, -1_000, 1_234_567, 0.5, 12.3456, Number.NaN, Number.POSITIVE_INFINITY])
      expect(count(value)).toBe(value.toLocaleString('en-US'))
  })

  it('name one thing or more of them', () => {
    expect([0, 1, 2, 1_000].map((value) => plural(value, 'error'))).toEqual([
      ...['0 errors', '1 error', '2 errors', '1,000 errors'],
    ])
    expect([plural(1, 'query', 'queries'), plural(2, 'query', 'queries')]).toEqual(['1 query', '2 queries'])
  })
})

it('has colours that can be read: 4.5 to 1 for texts and kinds, 3 to 1 for controls, on every ground, in both themes', () => {
  const css = readFileSync(new URL('../../services/web/page/theme.css', import.meta.url), 'utf8')
  const [light = '', dark = ''] = css.split(':root[data-theme="dark"]')
  const tokensOf = (text: string) =>
    new Map([...text.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', colour = '']) => [name, colour]))
  const channel = (value: number) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  const luminance = (colour: string) => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => channel(Number.parseInt(colour.slice(at, at + 2), 16) / 255))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrast = (a: string, b: string) => {
    const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
    return (high + 0.05) / (low + 0.05)
  }
  const texts = ['text', 'text-2', 'text-3', 'accent', 'danger', 'warning', 'success']
  const kinds = ['agent', 'llm', 'tool', 'retrieval', 'embedding', 'evaluation', 'guardrail', 'other']
  const weak: string[] = []
  for (const [theme, tokens] of [
    ['light', tokensOf(light)],
    ['dark', tokensOf(dark)],
  ] as const) {
    expect(tokens.size).toBeGreaterThan(20)
    for (const ground of ['bg', 'surface', 'raised', 'selection'])
      for (const [names, least] of [
        [[...texts, ...kinds], 4.5],
        [['control'], 3],
      ] as const)
        for (const name of names) {
          const found = contrast(tokens.get(name) as string, tokens.get(ground) as string)
          if (found < least) weak.push(`${theme} ${name} on ${ground}: ${found.toFixed(2)}`)
        }
  }
  expect(weak).toEqual([])
})

describe('completions of a filter', () => {
  const at = (marked: string) => writtenAt(marked.replace('|', ''), marked.indexOf('|'))

  it.each([
    ['|', { of: 'field', from: 0, to: 0, prefix: '' }],
    ['inp|', { of: 'field', from: 0, to: 3, prefix: 'inp' }],
    ['status:error -inputs.k|', { of: 'field', from: 14, to: 22, prefix: 'inputs.k' }],
    ['op:ans|wer rest', { of: 'value', from: 3, to: 9, field: 'op', prefix: 'ans' }],
    ['(inputs.a.b:"two w|', { of: 'value', from: 12, to: 18, field: 'inputs.a.b', prefix: 'two w' }],
    ['inputs.k:(x, y|', { of: 'value', from: 13, to: 14, field: 'inputs.k', prefix: 'y' }],
    ['"in quotes status|', { of: 'field', from: 0, to: 17, prefix: '"in quotes status' }],
  ])('%s', (marked, written) => expect(at(marked)).toEqual(written))

  it('stands in place of what was written, quoted where it must be', () => {
    const put = (marked: string, value: string | number) => completed(marked.replace('|', ''), at(marked), value)
    expect(put('sta|', 'status:')).toEqual({ text: 'status:', caret: 7 })
    expect(put('status:er|', 'error')).toEqual({ text: 'status:error ', caret: 13 })
    expect(put('op:a| is:root', 'two words')).toEqual({ text: 'op:"two words" is:root', caret: 14 })
    expect(put('inputs.k:|', 5)).toEqual({ text: 'inputs.k:5 ', caret: 11 })
    expect(put('inputs.k:|', '5').text).toBe('inputs.k:"5" ')
    for (const value of ['x', 'a "b" \\ c', '(', 'true', '-1', 7]) {
      const { text } = put('inputs.k:|', value)
      expect(parseQuery(text)).toEqual([
        [{ type: 'cond', not: false, field: 'inputs.k', operator: ':', values: [value] }],
      ])
    }
  })

  it('names fields as the line does, and leaves out those that it has no name for', () => {
    expect(fieldOfPath('inputs.a.b')).toBe('inputs.a.b')
    expect(fieldOfPath('feedback.[wandb.annotation.quality].payload.value')).toBe('feedback.quality')
    expect(fieldOfPath('feedback.[wandb.runnable.judge].payload.output.score')).toBe('scorer.judge.score')
    for (const path of ['inputs.a b', 'feedback.[x].payload.y', 'inputs.a:b', 'id'])
      expect(fieldOfPath(path)).toBeNull()
  })
})

describe('buckets of a chart', () => {
  it('are as short as their number allows, from a second to months', () => {
    expect(
      [60, 120, 3_600, 86_400, 30 * 86_400, 365 * 86_400, 20 * 365 * 86_400].map((span) => bucketFor(span)),
    ).toEqual([1, 1, 30, 1_800, 21_600, 'week', 'month'])
  })

  it('make a range of the address, whichever end was touched first', () => {
    const buckets = ['2026-03-05T08:00:00+01:00', '2026-03-05T09:00:00+01:00', '2026-03-05T10:00:00+01:00']
    const endS = Date.parse('2026-03-05T09:30:00Z') / 1000
    expect(rangeOfBuckets(buckets, 1, 0, endS)).toBe('2026-03-05T07:00:00Z~2026-03-05T09:00:00Z')
    expect(rangeOfBuckets(buckets, 2, 2, endS)).toBe('2026-03-05T09:00:00Z~2026-03-05T09:30:00Z')
  })
})
