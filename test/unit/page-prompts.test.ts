// The pages of prompts: variables within texts, and messages of two versions side by side.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pairsOf } from '../../services/web/page/engine/differences.ts'
import { variableNames, variablePieces } from '../../services/web/page/engine/variables.ts'
import { shownMessages, versionLabels, versionPairs } from '../../services/web/page/prompts/versions.ts'

it('variables are marked within a text, which stays whole', () => {
  expect(variablePieces('Be {tone} to {{who}}, {q}')).toEqual([
    { text: 'Be ', isVariable: false },
    { text: '{tone}', isVariable: true },
    { text: ' to {{who}}, ', isVariable: false },
    { text: '{q}', isVariable: true },
  ])
  expect(variableNames(['{b} {a}', '{b} { c } {1}'])).toEqual(['b', 'a'])
  const pieces = fc.array(fc.oneof(fc.string(), fc.constantFrom('{a}', '{{', '}}', '{b', 'c}')))
  fc.assert(
    fc.property(pieces, (all) => {
      const text = all.join('')
      const cut = variablePieces(text)
      expect(cut.map((one) => one.text).join('')).toBe(text)
      expect(
        [...new Set(cut.filter((one) => one.isVariable).map((one) => one.text.slice(1, -1)))].slice(0, 50),
      ).toEqual(variableNames([text]))
    }),
  )
})

it('elements of two lists go together: equal ones, those that changed at one place, and the rest alone', () => {
  const pairs = (before: string, now: string) =>
    pairsOf([...before], [...now], 1_000).map(
      ({ before: a, now: b, isEqual }) =>
        `${a === undefined ? '' : before[a]}${isEqual ? '=' : '/'}${b === undefined ? '' : now[b]}`,
    )
  expect(pairs('abc', 'axcd')).toEqual(['a=a', 'b/x', 'c=c', '/d'])
  expect(pairs('ab', '')).toEqual(['a/', 'b/'])
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c')), fc.array(fc.constantFrom('a', 'b', 'c')), (a, b) => {
      const found = pairsOf(a, b, 1_000)
      const places = (side: 'before' | 'now') => found.flatMap((pair) => pair[side] ?? [])
      expect(places('before')).toEqual(a.map((_, n) => n))
      expect(places('now')).toEqual(b.map((_, n) => n))
      for (const { before, now, isEqual } of found) if (isEqual) expect(a[before as number]).toBe(b[now as number])
    }),
  )
})

it('two versions of a prompt are shown message by message', () => {
  const one = shownMessages({
    messages: [
      { role: 'system', content: 'Be kind' },
      { role: 'user', content: '{q}' },
    ],
  })
  const two = shownMessages({
    messages: [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: '{q}' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'find', arguments: '{}' } }] },
    ],
  })
  expect(versionPairs(one ?? [], two ?? [])).toEqual([
    { before: one?.[0], now: two?.[0], isEqual: false },
    { before: one?.[1], now: two?.[1], isEqual: true },
    { before: undefined, now: two?.[2], isEqual: false },
  ])
  expect(two?.[2]).toMatchObject({ role: 'assistant', text: '', notes: ['calls find'] })
  expect(shownMessages({ content: 'Say {what}' })).toMatchObject([{ role: 'user', text: 'Say {what}' }])
  expect(shownMessages({ rows: [] })).toBeNull()
})

it('labels of a prompt are those of all its versions, but for what the server names itself', () => {
  const of = (object_id: string, version_index: number, aliases: string[] | null, tags: string[] | null = null) => ({
    object_id,
    version_index,
    aliases,
    tags,
  })
  const versions = [
    of('a', 2, ['latest']),
    of('a', 1, ['v1', 'staging'], ['reviewed']),
    of('a', 0, ['production']),
    of('b', 0, null),
  ]
  expect([...versionLabels(versions)]).toEqual([['a', ['staging (v1)', 'reviewed (v1)', 'production (v0)']]])
})
