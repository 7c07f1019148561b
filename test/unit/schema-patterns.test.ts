// Patterns of clients in the spellings of JavaScript and Python: what they match, and which are taken unchecked.
import { describe, expect, it } from 'vitest'
import { isPattern, unicodePattern } from '../../services/ingest/feedback/patterns.ts'

const matches = (pattern: string, text: string): boolean => new RegExp(unicodePattern(pattern) ?? '(', 'u').test(text)

describe('a pattern', () => {
  it.each<[string, string[], string[]]>([
    ['^\\d{3}\\-\\d{4}$', ['123-4567'], ['1234567']],
    ['^[\\w.\\-]+\\@[\\w-.]+$', ['a-b@c-d.e'], ['a b@c']],
    ["^\\'\\_\\ \\#\\:\\,$", ["'_ #:,"], ['x']],
    ['(?i)^(yes|no)$', ['YES', 'no'], ['maybe']],
    ['(?si)a.b', ['A\nB'], ['ab']],
    ['(?u)^é$', ['é'], ['e']],
    ['(?i:a)b', ['Ab'], ['AB']],
    ['(?a-i:a)b', ['ab'], ['Ab']],
    ['(?P<x>a|b)-(?P=x)', ['a-a'], ['a-b']],
    ['\\A\\d+\\Z', ['12'], ['12\n', 'a12']],
    ['^{a}]$', ['{a}]'], ['a']],
    ['^a{,2}b{2,}$', ['aabb', 'bbb'], ['aaabb', 'b']],
    ['a(?# comment)b', ['ab'], ['a']],
    ['^\\U0001F600\\a\\012$', ['😀\x07\n'], ['x']],
    ['^[a-z\\d-x]+$', ['a-9'], ['A']],
    ['^\\p{L}+$', ['é'], ['1']],
    ['^.$', ['😀'], ['ab']],
  ])('%s', (pattern, fitting, others) => {
    expect(isPattern(pattern)).toBe(true)
    expect(fitting.filter((text) => !matches(pattern, text))).toEqual([])
    expect(others.filter((text) => matches(pattern, text))).toEqual([])
  })
  it.each(['(?x) a # b', '(?>a+)b', '(a)?(?(1)b|c)', 'a++', '\\N{DASH}', 'a(?i)b', '\\1(a)\\2'])(
    'that has no like here is taken: %s',
    (pattern) => {
      expect([isPattern(pattern), unicodePattern(pattern)]).toEqual([true, null])
    },
  )
  it.each(['(', '[', 'a**', '[b-a]', ')', '(?<n>', '*', '\\'])('that is broken is none: %s', (pattern) => {
    expect([isPattern(pattern), unicodePattern(pattern)]).toEqual([false, null])
  })
})
