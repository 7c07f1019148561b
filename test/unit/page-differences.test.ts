// Differences between two JSON values in the page: every difference is found, and none that is none.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differencesOf } from '../../services/web/page/engine/differences.ts'
import { sideOf, sideText } from '../../services/web/page/parts/sides.ts'
import { runs } from '../fixtures/runs.ts'

const found = (before: unknown, now: unknown) =>
  differencesOf(JSON.stringify(before), JSON.stringify(now)).found.map(({ path, kind }) => `${kind} ${path}`)

describe('differences', () => {
  it('are members that were added, removed and changed, by path', () => {
    const before = { model: 'a', options: { t: 0.5, 'top-p': 1 }, gone: [1] }
    const now = { model: 'b', options: { t: 0.7, 'top-p': 1, new: null } }
    expect(found(before, now)).toEqual(['changed model', 'changed options.t', 'added options.new', 'removed gone'])
    expect(found({ 'a b': 1 }, { 'a b': 2 })).toEqual(['changed ["a b"]'])
    const { found: changes, equal } = differencesOf('{"n":1,"m":2}', '{"n":3.5,"m":2}')
    expect(changes).toEqual([{ path: 'n', kind: 'changed', before: '1', now: '3.5', change: 2.5 }])
    expect(equal).toBe(1)
  })

  it('match elements of lists where these are equal, and compare what stands in one place', () => {
    const message = (content: string) => ({ role: 'user', content })
    const before = ['one', 'two', 'three'].map(message)
    expect(found(before, [message('zero'), ...before])).toEqual(['added [0]'])
    expect(found(before, [message('one'), message('TWO'), message('three')])).toEqual(['changed [1].content'])
    expect(found(before, before.slice(1))).toEqual(['removed [0]'])
  })

  it('see numbers as they are spelled, and not the order of members', () => {
    expect(differencesOf('[1.0,12345678901234567890]', '[1,12345678901234567891]').found).toMatchObject([
      { path: '[0]', before: '1.0', now: '1' },
      { path: '[1]', before: '12345678901234567890', now: '12345678901234567891' },
    ])
    expect(differencesOf('{"a":1,"b":2}', '{"b":2,"a":1}').found).toEqual([])
    expect(differencesOf('{"__proto__":1}', '{}').found).toMatchObject([{ path: '__proto__', kind: 'removed' }])
  })

  it('are none between a value and itself, and some between values that differ', () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), (one, other) => {
        expect(differencesOf(one, one)).toMatchObject({ found: [], isCut: false })
        const differ = differencesOf(one, other).found.length > 0
        const parsed = [one, other].map((text) => JSON.parse(text) as unknown)
        if (!differ) expect(parsed[1]).toEqual(parsed[0])
      }),
      { numRuns: runs(100, 3_000) },
    )
  })

  it('end when they are too many, take too long or lie too deep, and say so', () => {
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, n])))
    const cut = differencesOf(many, '{}', { most: 5 })
    expect([cut.found.length, cut.isCut]).toEqual([5, true])
    expect(differencesOf('{"a":1}', '{"a":2}', { limitMs: -1 })).toEqual({ found: [], equal: 0, isCut: true })
    const deep = (leaf: string) => `${'['.repeat(3_000)}${leaf}${']'.repeat(3_000)}`
    expect(differencesOf(deep('1'), deep('2')).found.length).toBeLessThanOrEqual(1)
  })
})

it('the address of a comparison names calls and versions of objects, and nothing else', () => {
  for (const side of [{ call: 'a/b' }, { object: 'my/prompt', digest: 'x' }])
    expect(sideOf(sideText(side))).toEqual(side)
  for (const word of [undefined, '', 'call/', 'object/a', 'https://evil/a']) expect(sideOf(word)).toBeUndefined()
})
