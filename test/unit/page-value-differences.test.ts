// Values that set some calls apart from others.
import { describe, expect, it } from 'vitest'
import { sidesOf } from '../../services/web/page/engine/sides-of-list.ts'
import { type ValueCounts, valueDifferences } from '../../services/web/page/engine/value-differences.ts'

const side = (
  sampled: number,
  fields: Record<string, [values: Record<string, number>, isComplete?: boolean]>,
): ValueCounts => ({
  sampled,
  fields: new Map(
    Object.entries(fields).map(([field, [values, isComplete = true]]) => [
      field,
      { values: Object.entries(values).map(([value, calls]) => ({ value, calls })), isComplete },
    ]),
  ),
})

describe('values that set calls apart', () => {
  it('are those whose shares differ most, more or less common here', () => {
    const here = side(10, { model: [{ b: 8, a: 2 }], user: [{ ann: 5, bob: 5 }] })
    const others = side(100, { model: [{ a: 90, b: 10 }], user: [{ ann: 50, bob: 50 }], old: [{ yes: 30 }] })
    const found = valueDifferences(here, others, 20)
    expect(found.map(({ field, value }) => [field, value])).toEqual([
      ['model', 'b'],
      ['model', 'a'],
      ['old', 'yes'],
    ])
    expect(found[0]).toMatchObject({ here: 0.8, elsewhere: 0.1, isAtMost: undefined })
    expect(found[2]).toMatchObject({ here: 0, elsewhere: 0.3 })
    expect(valueDifferences(here, others, 1)).toHaveLength(1)
  })

  it('count for the least that they can differ where a list of values is cut', () => {
    const here = side(10, { id: [{ x: 5 }], word: [{ y: 4 }] })
    const others = side(10, { id: [{ p: 6, q: 4 }, false], word: [{ z: 1 }, false] })
    const found = valueDifferences(here, others, 20)
    expect(found.find(({ value }) => value === 'x')).toMatchObject({ elsewhere: 0.4, isAtMost: 'elsewhere' })
    // 0.5 against at most 0.4 is less of a difference than 0.4 against at most 0.1.
    expect(found.findIndex(({ value }) => value === 'y')).toBeLessThan(found.findIndex(({ value }) => value === 'x'))
  })

  it('are none of what a single call has, of little differences, and where one side is empty', () => {
    expect(valueDifferences(side(5, { id: [{ a: 1, b: 1 }] }), side(5, { id: [{ c: 1 }] }), 20)).toEqual([])
    const alike = side(1_000, { id: [{ a: 500 }] })
    expect(valueDifferences(alike, side(1_000, { id: [{ a: 505 }] }), 20)).toEqual([])
    expect(valueDifferences(alike, side(0, {}), 20)).toEqual([])
  })
})

describe('shares of values', () => {
  it.each<[name: string, here: ValueCounts, elsewhere: ValueCounts, found: object[]]>([
    [
      'of a field that one side lacks',
      side(4, { tenant: [{ blue: 4 }] }),
      side(8, {}),
      [{ field: 'tenant', value: 'blue', here: 1, elsewhere: 0, isAtMost: undefined }],
    ],
    [
      'of more values than calls are all of them',
      side(10, { tag: [{ x: 14 }] }),
      side(10, { tag: [{ x: 5 }] }),
      [{ field: 'tag', value: 'x', here: 1, elsewhere: 0.5, isAtMost: undefined }],
    ],
    [
      'that may be as common as the last that is known',
      side(10, { tag: [{ x: 14 }, false] }),
      side(10, { tag: [{ y: 10 }] }),
      [{ field: 'tag', value: 'x', here: 1, elsewhere: 0, isAtMost: undefined }],
    ],
    [
      'by names that every object has',
      side(4, JSON.parse('{"__proto__":[{"constructor":4}]}')),
      side(4, JSON.parse('{"constructor":[{"toString":4}]}')),
      [
        { field: '__proto__', value: 'constructor', here: 1, elsewhere: 0, isAtMost: undefined },
        { field: 'constructor', value: 'toString', here: 0, elsewhere: 1, isAtMost: undefined },
      ],
    ],
    // A hundredth is a difference, less is none.
    [
      'of a hundredth',
      side(100, { m: [{ a: 51 }] }),
      side(100, { m: [{ a: 50 }] }),
      [{ field: 'm', value: 'a', here: 0.51, elsewhere: 0.5, isAtMost: undefined }],
    ],
    ['of less than a hundredth', side(1_000, { m: [{ a: 509 }] }), side(1_000, { m: [{ a: 500 }] }), []],
    ['of the same calls', side(3, { m: [{ a: 3 }] }), side(3, { m: [{ a: 3 }] }), []],
    ['of nothing', side(0, { m: [{ a: 3 }] }), side(3, { m: [{ a: 3 }] }), []],
    ['of one call on either side', side(1, { m: [{ a: 1 }] }), side(1, { m: [{ b: 1 }] }), []],
  ])('%s', (_, here, elsewhere, found) => {
    expect(valueDifferences(here, elsewhere, 20)).toEqual(found)
  })

  it('of the number 1 and of the text 1 are two', () => {
    const fieldOf = (value: string | number): ValueCounts => ({
      sampled: 4,
      fields: new Map([['n', { values: [{ value, calls: 4 }], isComplete: true }]]),
    })
    expect(valueDifferences(fieldOf(1), fieldOf('1'), 20).map(({ value, here }) => [value, here])).toEqual([
      [1, 1],
      ['1', 0],
    ])
    expect(valueDifferences(fieldOf(''), fieldOf(0), 20)).toHaveLength(2)
  })

  it('of a value that one call has here count where others have it, on either side', () => {
    const here = side(4, { m: [{ a: 1, b: 2 }] })
    const others = side(4, { m: [{ a: 4 }] })
    expect(
      valueDifferences(here, others, 20).map(({ value, here: own, elsewhere }) => [value, own, elsewhere]),
    ).toEqual([
      ['a', 0.25, 1],
      ['b', 0.5, 0],
    ])
  })

  it('that are unknown may be as great as the last of the list: the sides are treated alike', () => {
    const cut = side(10, { m: [{ p: 6, q: 2 }, false] })
    const whole = side(10, { m: [{ x: 9, y: 2 }] })
    const seen = (all: ReturnType<typeof valueDifferences>, own: 'here' | 'elsewhere') =>
      all.map((one) => [one.value, one[own], one[own === 'here' ? 'elsewhere' : 'here'], one.isAtMost])
    const [one, other] = [valueDifferences(whole, cut, 20), valueDifferences(cut, whole, 20)]
    expect(seen(one, 'here')).toEqual([
      ['x', 0.9, 0.2, 'elsewhere'],
      ['p', 0, 0.6, undefined],
      ['q', 0, 0.2, undefined],
    ])
    expect(seen(other, 'elsewhere').map(([value]) => value)).toEqual(['x', 'p', 'q'])
    expect(other[0]?.isAtMost).toBe('here')
    // y has 0.2 here and at most 0.2 there: that may be no difference.
    expect(one.some(({ value }) => value === 'y')).toBe(false)
  })

  it.each([0, 1, 2, 100])('are as many as are asked for: %i', (most) => {
    const values = Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`v${n}`, 3]))
    expect(valueDifferences(side(9, { m: [values] }), side(9, {}), most)).toHaveLength(Math.min(3, most))
  })
})

describe('marked calls', () => {
  const isOther = { $not: [{ $in: [{ $getField: 'id' }, [{ $literal: 'a' }]] }] }
  const of = (search: object) => sidesOf('e/p', { range: '1h', ...search }, ['a'], 7_200, 'UTC')
  const inRange = { $gte: [{ $getField: 'started_at' }, { $literal: 3_600 }] }

  it('have as the rest the others of the filter, and without it those of the range and view', () => {
    const { here, elsewhere, withoutFilter } = of({ q: 'errors>0' })
    expect(here).toEqual({ project_id: 'e/p', filter: { call_ids: ['a'] } })
    expect(JSON.stringify(elsewhere)).toContain('trace.errors')
    expect(withoutFilter).toEqual({
      project_id: 'e/p',
      filter: { trace_roots_only: true },
      query: { $expr: { $and: [inRange, isOther] } },
    })
    for (const search of [{ q: 'status:error', view: 'all' as const }, { q: 'trace:t' }])
      expect(of(search).withoutFilter?.filter).toEqual({})
  })

  it('have no other rest without a filter', () => {
    expect(of({})).not.toHaveProperty('withoutFilter')
  })
})
