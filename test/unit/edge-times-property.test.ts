// Timestamps and refs: every form that is written is read back, for any moment and any path.
// again: property
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeRefValue, extractRefs, formatRef, isRef, parseRef, type Ref } from '../../services/content/refs.ts'
import { formatTimestamp, isPlausible, parseTimestamp } from '../../services/core/clock/timestamps.ts'
import { runs } from '../fixtures/runs.ts'

const us = fc.integer({ min: -2_208_988_800_000_000, max: 4_102_444_800_000_000 })

describe('timestamps', () => {
  test('are read as they were written', () => {
    fc.assert(
      fc.property(us, (moment) => {
        const text = formatTimestamp(moment)
        expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/)
        expect(parseTimestamp(text)).toBe(moment)
        expect(Math.floor(moment / 1000)).toBe(Date.parse(text.replace(/\d{3}Z$/, 'Z')) || Math.floor(moment / 1000))
      }),
      { numRuns: runs(2000, 40_000) },
    )
  })

  test('agree with the platform for every offset', () => {
    fc.assert(
      fc.property(us, fc.integer({ min: -1439, max: 1439 }), fc.constantFrom(':', ''), (moment, minutes, colon) => {
        const local = formatTimestamp(moment + minutes * 60_000_000).slice(0, -1)
        const pad = (n: number) => String(n).padStart(2, '0')
        const size = Math.abs(minutes)
        const offset = `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}${colon}${pad(size % 60)}`
        expect(parseTimestamp(local + offset)).toBe(moment)
      }),
      { numRuns: runs(1000, 20_000) },
    )
  })

  const second = Date.UTC(2026, 0, 2, 3, 4, 5) * 1000
  test.each([
    ['2026-01-02T03:04:05Z', second],
    ['2026-01-02 03:04:05', second],
    ['2026-01-02t03:04:05z', second],
    ['2026-01-02T03:04Z', second - 5_000_000],
    ['2026-01-02', Date.UTC(2026, 0, 2) * 1000],
    ['2026-01-02T05:04:05+02', second],
    ['2026-01-02T03:04:05.1Z', second + 100_000],
    ['2026-01-02T03:04:05.9999999999Z', second + 999_999],
    ['2026-01-02T03:04:05,5', second + 500_000],
    ['2024-02-29', Date.UTC(2024, 1, 29) * 1000],
    [second / 1e6, second],
    [second / 1e3, second],
    [String(second / 1e6), second],
    [1767323045.1, second + 100_000],
    [1767323045.999999, second + 999_999],
    [1767323045123.4565, second + 123_456],
    [20_000_000_000, 20_000_000_000_000_000],
    [20_000_000_001, 20_000_000_001_000],
    [0, 0],
    [-1.5, -1_500_000],
  ])('%j is understood', (value, expected) => {
    expect(parseTimestamp(value)).toBe(expected)
  })

  test.each([
    '',
    'x',
    '2026-01-02T',
    '2026-1-2',
    '2026-13-01',
    '2026-02-29',
    '2026-01-32',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:60Z',
    '2026-01-02T03:04:60Z',
    '2026-01-02T03:04:05.Z',
    '2026-01-02T03:04:05+25:00',
    '26-01-02',
    '2026-01-02T03:04:05ZZ',
    '2026-01-02T03:04:05 Z',
    '2026-01-02T03:04:05Z ',
    '2026/01/02',
    '2026-01-02X03:04:05Z',
    null,
    undefined,
    true,
    {},
    [],
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('%j is not', (value) => {
    expect(parseTimestamp(value)).toBeNull()
  })

  test('are plausible from 2000 until a day from now', () => {
    const now = Date.UTC(2026, 0, 1)
    const accepted = (text: string) => isPlausible(parseTimestamp(text) as number, now)
    expect(accepted('2000-01-01T00:00:00Z')).toBe(true)
    expect(accepted('1999-12-31T23:59:59.999999Z')).toBe(false)
    expect(accepted('2026-01-02T00:00:00Z')).toBe(true)
    expect(accepted('2026-01-02T00:00:00.000001Z')).toBe(false)
  })
})

describe('refs', () => {
  const name = fc.string({ unit: fc.constantFrom(...'abAB01_-. é%'), minLength: 1, maxLength: 8 })
  const value = fc.string({ unit: 'grapheme', maxLength: 6 })
  const step = fc.oneof(
    fc.record({ edge: fc.constantFrom('attr' as const, 'key' as const, 'id' as const), value }),
    fc.record({ edge: fc.constant('index' as const), value: fc.integer().map(String) }),
  )
  // A path that ends in an empty value cannot be told from a trailing slash.
  const extra = fc.array(step, { maxLength: 3 }).filter((steps) => steps.at(-1)?.value !== '')
  const base = { entity: name, project: name }
  const ref: fc.Arbitrary<Ref> = fc.oneof(
    fc.record({ kind: fc.constantFrom('object' as const, 'op' as const), ...base, name, version: name, extra }),
    fc.record({ kind: fc.constant('table' as const), ...base, digest: name }),
    fc.record({ kind: fc.constant('call' as const), ...base, id: name }),
    fc.record({
      kind: fc.constant('opaque' as const),
      ...base,
      type: fc.constantFrom('agent_turn', 'agent_span'),
      id: name,
    }),
    fc.record({ kind: fc.constant('artifact' as const), ...base, id: name }),
  )

  test('are read as they were written, and are found in values', () => {
    fc.assert(
      fc.property(ref, ref, (one, other) => {
        const [text, second] = [formatRef(one), formatRef(other)]
        expect(parseRef(text)).toEqual(one)
        expect(isRef(text)).toBe(true)
        expect(extractRefs({ [text]: 1, a: [text, { b: `see ${text}` }], c: second, d: text })).toEqual([
          ...new Set([text, second]),
        ])
      }),
      { numRuns: runs(1000, 20_000) },
    )
  })

  test('are exactly the texts that print back', () => {
    const piece = fc.constantFrom(
      'weave:///',
      'e',
      '/',
      'p',
      'object',
      'op',
      'table',
      'call',
      'name',
      ':',
      'v1',
      'attr',
      'index',
      '-1',
      '%2F',
      '%2f',
      ' ',
      '~',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = `weave:///${pieces.join('')}`
        const parsed = parseRef(text)
        expect(isRef(text)).toBe(parsed !== null && formatRef(parsed) === text)
      }),
      { numRuns: runs(3000, 60_000) },
    )
  })

  test('encode everything but letters, digits and four signs', () => {
    expect(encodeRefValue("a/b c!'()*é_.-~")).toBe('a%2Fb%20c%21%27%28%29%2A%C3%A9_.-~')
  })
})
