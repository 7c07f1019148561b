// Values that set some calls apart from others.
import { describe, expect, it } from 'vitest'
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
