// Agreement of annotators: published examples, and what holds for any answers.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  agreementOf,
  disagreedOn,
  type Rating,
  type Scale,
  type Value,
} from '../../services/web/page/engine/agreement.ts'
import {
  answeringOf,
  answerOf,
  answerOfDigit,
  labelsOf,
  othersSeen,
  wrongAnswer,
} from '../../services/web/page/engine/question-specs.ts'
import { runs } from '../fixtures/runs.ts'

/** One string of values per annotator, `*` where there is none. */
const ratings = (...rows: string[]): Rating[] =>
  rows.flatMap((row, by) =>
    [...row.replaceAll(' ', '')].flatMap((value, item) =>
      value === '*' ? [] : [{ item: `i${item}`, by: `a${by}`, value: Number(value) }],
    ),
  )

describe('agreement', () => {
  it("is Krippendorff's alpha of his own example with four observers and missing values", () => {
    const data = ratings(
      '1 2 3 3 2 1 4 1 2 * * *',
      '1 2 3 3 2 2 4 1 2 5 * 3',
      '* 3 3 3 2 3 4 2 2 5 1 *',
      '1 2 3 3 2 4 4 1 2 5 1 *',
    )
    const alpha = (scale: Scale) => agreementOf(data, scale)?.alpha
    expect(alpha('nominal')).toBeCloseTo(0.743, 3)
    expect(alpha('ordinal')).toBeCloseTo(0.815, 3)
    expect(alpha('interval')).toBeCloseTo(0.849, 3)
  })

  it("is Cohen's kappa for two: 20 yes by both, 15 no by both, 5 and 10 apart", () => {
    const of = (n: number, a: boolean, b: boolean, from: number): Rating[] =>
      Array.from({ length: n }, (_, k) => `i${from + k}`).flatMap((item) => [
        { item, by: 'a', value: a },
        { item, by: 'b', value: b },
      ])
    const data = [
      ...of(20, true, true, 0),
      ...of(5, true, false, 20),
      ...of(10, false, true, 25),
      ...of(15, false, false, 35),
    ]
    const found = agreementOf(data, 'nominal')
    expect(found).toMatchObject({ items: 50, annotators: 2, percent: 70 })
    expect(found?.kappa).toBeCloseTo(0.4, 6)
    expect(found?.disagreed).toHaveLength(15)
  })

  it('counts the last answer of each, and shows what is widest apart first', () => {
    const data: Rating[] = [...ratings('1 5 3', '5 4 3'), { item: 'i0', by: 'a0', value: 2 }]
    expect(agreementOf(data, 'interval')?.disagreed).toEqual([
      {
        item: 'i0',
        values: [
          { by: 'a0', value: 2 },
          { by: 'a1', value: 5 },
        ],
      },
      {
        item: 'i1',
        values: [
          { by: 'a0', value: 5 },
          { by: 'a1', value: 4 },
        ],
      },
    ])
    expect(agreementOf(ratings('1 2 3'), 'nominal')).toBeUndefined()
    const of = (label: string, ...rows: string[]) => ({
      spec: { label },
      found: agreementOf(ratings(...rows), 'nominal'),
    })
    expect(disagreedOn([of('Tone', '1 1 2', '1 2 3'), of('Alone', '1 2'), of('Length', '1 2', '1 3')])).toEqual(
      new Map([
        ['i1', ['Tone', 'Length']],
        ['i2', ['Tone']],
      ]),
    )
    expect(agreementOf(ratings('1 1', '1 1'), 'nominal')).toMatchObject({ percent: 100, kappa: null, alpha: null })
  })

  it('is never above 1, is 1 where all agree, and does not depend on the order of answers', () => {
    const value: fc.Arbitrary<Value> = fc.oneof(fc.boolean(), fc.constantFrom('a', 'b', '__proto__'))
    const rating = fc.record({ item: fc.constantFrom('x', 'y', 'z'), by: fc.constantFrom('p', 'q', 'r'), value })
    const unique = fc.uniqueArray(rating, { selector: ({ item, by }) => `${item} ${by}` })
    fc.assert(
      fc.property(unique, (all) => {
        const found = agreementOf(all, 'nominal')
        if (found === undefined) return
        const again = agreementOf(all.toReversed(), 'nominal')
        for (const key of ['alpha', 'kappa'] as const) {
          if (found[key] === null) expect(again?.[key]).toBeNull()
          else {
            expect(found[key]).toBeLessThanOrEqual(1 + 1e-12)
            expect(again?.[key]).toBeCloseTo(found[key] as number, 9)
            if (found.percent === 100) expect(found[key]).toBeCloseTo(1, 9)
          }
        }
      }),
      { numRuns: runs(200, 5_000) },
    )
  })
})

it('a question is asked as its schema says', () => {
  expect(answeringOf({ type: 'boolean' })).toEqual({ is: 'boolean' })
  expect(answeringOf({ enum: ['a', 1, { no: 1 }] })).toEqual({ is: 'choice', choices: ['a', 1] })
  const stars = answeringOf({ type: 'integer', minimum: 1, maximum: 5 })
  expect(stars).toEqual({ is: 'number', min: 1, max: 5, isInteger: true })
  expect([answerOf('3', stars), answerOf('x', stars), answerOf('', stars)]).toEqual([3, undefined, undefined])
  for (const schema of [undefined, null, 'x', [], { type: ['string', 'null'] }])
    expect(answeringOf(schema)).toEqual({ is: 'text', maxLength: undefined })
  expect(answerOf('so', answeringOf({}))).toBe('so')
})

it('a number out of the bounds of its question is no answer, neither by a key', () => {
  const stars = answeringOf({ type: 'integer', minimum: 1, maximum: 5 })
  expect([1, 5, 6, 9].map((digit) => answerOfDigit(digit, stars))).toEqual([1, 5, undefined, undefined])
  expect([1, 5, undefined].map((value) => wrongAnswer(value, stars))).toEqual([undefined, undefined, undefined])
  for (const value of [9, 0, 1.5, 'x', null])
    expect(wrongAnswer(value, stars)).toBe('Enter a whole number, at least 1 and at most 5')
  expect(wrongAnswer(-1, answeringOf({ type: 'number', minimum: 0 }))).toBe('Enter a number, at least 0')
  expect(wrongAnswer('x', answeringOf({ type: 'number' }))).toBe('Enter a number')
  expect(wrongAnswer('any', answeringOf({ type: 'string' }))).toBeUndefined()
  const choice = answeringOf({ enum: ['a', 'b'] })
  expect([1, 2, 3].map((digit) => answerOfDigit(digit, choice))).toEqual(['a', 'b', undefined])
  expect(answerOfDigit(1, answeringOf({ type: 'boolean' }))).toBeUndefined()
})

it('labels of a call are what most people answered last', () => {
  const said = (callId: string, spec: string, by: string, value: unknown) => ({
    id: '',
    callId,
    spec,
    by,
    userId: by,
    value,
    at: '',
  })
  const labels = labelsOf([
    said('c1', 'tone', 'a', 'warm'),
    said('c1', 'tone', 'b', 'cold'),
    said('c1', 'tone', 'a', 'cold'),
    said('c1', 'ok', 'a', true),
    said('c2', 'ok', 'b', 1.5),
    said('c2', 'ok', 'a', 2),
  ])
  expect([...labels]).toEqual([
    [
      'c1',
      [
        ['tone', '"cold"'],
        ['ok', 'true'],
      ],
    ],
    ['c2', [['ok', '1.5']]],
  ])
})

it('answers of others wait until a question is answered, and whoever cannot answer sees them', () => {
  const by = (spec: string, who: string) => ({ id: who, callId: 'c', spec, by: who, userId: who, value: 1, at: '' })
  const others = [by('tone', 'a'), by('ok', 'a'), by('tone', 'b')]
  expect(othersSeen(others, new Set())).toEqual({ shown: [], hidden: 3 })
  expect(othersSeen(others, new Set(['tone']))).toEqual({ shown: [others[0], others[2]], hidden: 1 })
  expect(othersSeen(others, new Set(['tone', 'ok']))).toEqual({ shown: others, hidden: 0 })
  expect(othersSeen(others, null)).toEqual({ shown: others, hidden: 0 })
})
