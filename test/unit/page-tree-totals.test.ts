// Tokens and costs of the spans of a trace, alone and with everything below them.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Counts, countedOf, tokensOfSpan, totalsOf } from '../../services/web/page/engine/tree-totals.ts'
import { runs } from '../fixtures/runs.ts'

/** A span: the place of its parent, and what it reports. */
type Span = { above: number; tokensIn?: number; tokensOut?: number; cost?: number }

const column = (spans: readonly Span[], of: (span: Span) => number | undefined) =>
  Float64Array.from(spans, (span) => of(span) ?? Number.NaN)
const countsOf = (spans: readonly Span[]): Counts => ({
  count: spans.length,
  tokensIn: column(spans, ({ tokensIn }) => tokensIn),
  tokensOut: column(spans, ({ tokensOut }) => tokensOut),
  cost: column(spans, ({ cost }) => cost),
})
/** Spans whose parents stand before them, by their lines. */
function totals(spans: readonly Span[], counted?: Counts['counted']) {
  const order = Int32Array.from(spans, (_, n) => n)
  const parent = Int32Array.from(spans, ({ above }) => above)
  const { tokens, cost } = totalsOf({ ...countsOf(spans), counted }, order, parent)
  return { tokens: [...tokens], cost: [...cost] }
}

const none = Number.NaN

describe('counts of spans with everything below them', () => {
  it.each<[name: string, spans: Span[], tokens: number[], cost: number[]]>([
    ['of none', [], [], []],
    ['of one without any', [{ above: -1 }], [none], [none]],
    ['of one that reports nothing but zero', [{ above: -1, tokensIn: 0, tokensOut: 0, cost: 0 }], [0], [0]],
    ['of one with its prompt alone', [{ above: -1, tokensIn: 7 }], [7], [none]],
    ['of a cost without tokens', [{ above: -1, cost: 0.5 }], [none], [0.5]],
    [
      'of a chain whose last one reports',
      [{ above: -1 }, { above: 0 }, { above: 1, tokensIn: 2, tokensOut: 3, cost: 0.1 }],
      [5, 5, 5],
      [0.1, 0.1, 0.1],
    ],
    [
      'of children that report, and some that do not',
      [
        { above: -1, tokensIn: 1 },
        { above: 0, tokensIn: 10, cost: 1 },
        { above: 0 },
        { above: 2, tokensIn: 100, cost: 2 },
        { above: 2 },
      ],
      [111, 10, 100, 100, none],
      [3, 1, 2, 2, none],
    ],
    [
      'of several roots, which add nothing to one another',
      [{ above: -1, tokensIn: 1 }, { above: -1 }, { above: 1, tokensIn: 2 }],
      [1, 2, 2],
      [none, none, none],
    ],
    [
      'of less than nothing, as a program sent it',
      [
        { above: -1, cost: -1 },
        { above: 0, cost: 3 },
      ],
      [none, none],
      [2, 3],
    ],
  ])('%s', (_, spans, tokens, cost) => {
    expect(totals(spans)).toEqual({ tokens, cost })
  })

  it('are added by the order of the lines, not by the places of the spans', () => {
    // The root is the last span that came.
    const spans: Span[] = [
      { above: 2, tokensIn: 1 },
      { above: 0, tokensIn: 10 },
      { above: -1, tokensIn: 100 },
    ]
    const { tokens } = totalsOf(countsOf(spans), Int32Array.of(2, 0, 1), Int32Array.of(2, 0, -1))
    expect([...tokens]).toEqual([11, 10, 111])
  })

  it('are none where no span has the column at all', () => {
    const empty = new Float64Array(0)
    const spans = { count: 2, tokensIn: empty, tokensOut: empty, cost: empty }
    const { tokens, cost } = totalsOf(spans, Int32Array.of(0, 1), Int32Array.of(-1, 0))
    expect([[...tokens], [...cost]]).toEqual([
      [none, none],
      [none, none],
    ])
    expect(tokensOfSpan(spans, 0)).toBeNaN()
    // Prompts without answers, as embeddings report them.
    expect(tokensOfSpan({ ...spans, tokensIn: Float64Array.of(4, none) }, 0)).toBe(4)
  })

  it('of a chain as deep as a trace may be take no more than its length', () => {
    const spans = Array.from({ length: 100_000 }, (_, n): Span => ({ above: n - 1, tokensIn: 1 }))
    const { tokens } = totals(spans)
    expect([tokens[0], tokens.at(-1)]).toEqual([100_000, 1])
  })

  it('of the roots are all that is reported, in any tree', () => {
    const span = fc.record({ up: fc.nat(1_000), tokensIn: fc.option(fc.nat(1_000), { nil: undefined }) })
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 40 }), (drawn) => {
        const spans = drawn.map(
          ({ up, tokensIn }, n): Span => ({
            above: (up % (n + 1)) - 1,
            ...(tokensIn !== undefined && { tokensIn }),
          }),
        )
        const { tokens } = totals(spans)
        const roots = spans.flatMap(({ above }, n) => (above === -1 ? [tokens[n] || 0] : []))
        const sum = (all: readonly number[]) => all.reduce((some, one) => some + one, 0)
        expect(sum(roots)).toBe(sum(spans.map(({ tokensIn = 0 }) => tokensIn)))
        for (const [n, { above }] of spans.entries())
          if (above !== -1) expect(tokens[above] || 0).toBeGreaterThanOrEqual(tokens[n] || 0)
      }),
      { numRuns: runs(200, 5_000) },
    )
  })
})

describe('spans that report what is below them as well', () => {
  const answer = (more: object) =>
    ({
      id: ['a', 'b', 'c'],
      tokens_in: [10, 4, null],
      tokens_out: [5, 3, 8],
      cost: [0.5, 0.2, null],
      counted: { span: [0], tokens_in: [6], tokens_out: [2], cost: [0.3] },
      ...more,
    }) as unknown as Parameters<typeof countedOf>[0]

  it('have own counts, the others those that they report', () => {
    expect(countedOf(answer({}))).toEqual({
      tokens: Float64Array.of(8, 7, none),
      cost: Float64Array.of(0.3, 0.2, none),
    })
  })

  it('may have nothing of their own, or nothing that is known', () => {
    const counted = { span: [0, 1], tokens_in: [0, null], tokens_out: [0, null], cost: [0, null] }
    expect(countedOf(answer({ counted }))).toEqual({
      tokens: Float64Array.of(0, none, none),
      cost: Float64Array.of(0, none, none),
    })
    const prompts = { span: [0], tokens_in: [6], tokens_out: [null], cost: [null] }
    expect(countedOf(answer({ counted: prompts }))?.tokens[0]).toBe(6)
  })

  it('are none: the reported counts are their own', () => {
    expect(countedOf(answer({ counted: { span: [], tokens_in: [], tokens_out: [], cost: [] } }))).toBeUndefined()
  })

  it('are counted once in the sum above them', () => {
    const spans: Span[] = [
      { above: -1, tokensIn: 10, tokensOut: 5, cost: 0.5 },
      { above: 0, tokensIn: 4, tokensOut: 3, cost: 0.2 },
    ]
    const counted = { tokens: Float64Array.of(8, 7), cost: Float64Array.of(0.3, 0.2) }
    expect(totals(spans, counted)).toEqual({ tokens: [15, 7], cost: [0.5, 0.2] })
    expect(totals(spans)).toEqual({ tokens: [22, 7], cost: [0.7, 0.2] })
    expect(tokensOfSpan({ ...countsOf(spans), counted }, 0)).toBe(8)
    expect(tokensOfSpan(countsOf(spans), 0)).toBe(15)
  })
})
