// The table of dialects as it is looked up: words of types, members that hold parts, and what lies at a path.
import { describe, expect, it } from 'vitest'
import { dialects } from '../../services/web/page/engine/message-dialects.ts'
import {
  at,
  first,
  formOf,
  isNothing,
  isPartType,
  layersOf,
  openedText,
  parsedAsSpelled,
  partsIn,
  written,
} from '../../services/web/page/engine/message-parts.ts'

describe('the table', () => {
  const forms = dialects.flatMap(({ parts = [] }) => parts)

  it.each(dialects.map((row) => [row.name, row] as const))('%s has forms that can be met, with a source', (_, row) => {
    expect(row.source).toMatch(/^https:\/\//)
    for (const form of row.parts ?? []) expect((form.types ?? form.in ?? []).length).toBeGreaterThan(0)
    // Words for roles are looked up in small letters.
    for (const word of Object.keys(row.roles ?? {})) expect(word).toBe(word.toLowerCase())
  })

  it('finds each word of a type, whatever its joints are, by any of the members that say so', () => {
    for (const type of forms.filter(({ where, at: path }) => !where && !path).flatMap(({ types = [] }) => types))
      for (const word of [type, type.replaceAll(/[_.]/g, '-'), type.replaceAll(/[-.]/g, '_')]) {
        expect([word, isPartType(word)]).toEqual([word, true])
        for (const key of ['type', 'part_kind', 'block_type', 'kind'])
          expect([key, word, formOf({ [key]: word })]).not.toEqual([key, word, undefined])
      }
    for (const word of ['', 'sarcasm', '__proto__', 'constructor', 'TEXT ']) expect(isPartType(word)).toBe(false)
  })

  it('finds each member that holds a part, where it holds something', () => {
    for (const name of forms.filter(({ where }) => !where).flatMap((form) => form.in ?? [])) {
      expect([name, formOf({ [name]: 'x' })]).not.toEqual([name, undefined])
      expect([name, formOf({ [name]: '' })]).toEqual([name, undefined])
    }
  })
})

describe('members', () => {
  const value = { a: { b: { c: 1 } }, 'a/b': 'by name', text: '{"in":{"it":2}}', none: null, list: [{ x: 1 }] }
  it.each<[path: string, found: unknown]>([
    ['a/b', 'by name'],
    ['a/b/c', 1],
    ['text/in/it', 2],
    ['none', null],
    ['none/x', undefined],
    ['list/0', undefined],
    ['', undefined],
    ['/', undefined],
    ['toString', undefined],
    ['constructor/name', undefined],
    ['__proto__/a', undefined],
  ])('at %s', (path, found) => {
    expect(at(value, path)).toEqual(found)
  })

  it('are the first that say something, of the first object that has one', () => {
    expect(first([{ a: '' }, { a: 'outer', b: 'x' }], ['b', 'a'])).toBe('x')
    expect(first([{ a: 0 }, { a: 'outer' }], ['a'])).toBe(0)
    expect(first([{ a: false }], ['a'])).toBe(false)
    expect(first([{ a: [] }, { a: {} }, { a: null }], ['a', 'toString'])).toBeUndefined()
    expect(first([], ['a'])).toBeUndefined()
  })

  it('that hold an object within it are its layers, the innermost first, and no more than six', () => {
    const wrapped = { x: 0, kwargs: '{"x":1,"kwargs":{"x":2}}' }
    expect(layersOf(wrapped, ['kwargs']).map(({ x }) => x)).toEqual([2, 1, 0])
    expect(layersOf(wrapped, ['kwargs'], ({ x }) => x === 1).map(({ x }) => x)).toEqual([1, 0])
    expect(layersOf({ kwargs: [1], data: 5 }, ['kwargs', 'data'])).toHaveLength(1)
    const endless: Record<string, unknown> = {}
    endless.kwargs = endless
    expect(layersOf(endless, ['kwargs'])).toHaveLength(6)
  })

  it('in texts are read where these are JSON, with numbers as they were spelled', () => {
    expect(openedText(' [1, {"a": null}]')).toEqual([1, { a: null }])
    for (const text of ['{"a":', '[x]', '"a"', '5', '', '{}x']) expect(openedText(text)).toBe(text)
    for (const other of [5, null, undefined, { a: 1 }]) expect(openedText(other)).toBe(other)
    const spelled = '{"a":1.0,"b":12345678901234567890,"c":1e400,"d":-0,"e":5}'
    expect(JSON.stringify(parsedAsSpelled(spelled))).toBe(spelled)
    expect(written(parsedAsSpelled('1.50'))).toBe('1.50')
    expect(isNothing(parsedAsSpelled('0.0'))).toBe(false)
    expect(partsIn({ type: 'tool_use', name: 'f', input: parsedAsSpelled('{"n":1.0}') })).toEqual([
      { is: 'call', id: null, name: 'f', arguments: '{\n  "n": 1.0\n}' },
    ])
  })
})
