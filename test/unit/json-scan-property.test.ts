// The scanner of JSON bytes takes exactly the documents that JSON.parse takes, and reads the same values from them.
// again: property
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  enter,
  namesOf,
  nextItem,
  nextMember,
  nothingRepeated,
  search,
  skipValue,
  takeRepeated,
  takeScalar,
  takeSlice,
  typeOf,
} from '../../services/content/json-scan.ts'
import { Refusal } from '../../services/core/errors.ts'
import { endScan } from '../../services/core/json/strict-walk.ts'
import { startScan, Unreadable } from '../../services/core/json/tokens.ts'
import { jsonText } from '../fixtures/json-text.ts'
import { runs } from '../fixtures/runs.ts'

const everything = search.refs | search.credentials | search.content
const names = namesOf('a', '1', '__proto__', 'project_id')

function attempt<T>(read: () => T): { value: T } | null {
  try {
    return { value: read() }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return null
  }
}

/** Passes over the whole document. */
const isAccepted = (bytes: Buffer): boolean =>
  attempt(() => {
    const scan = startScan(bytes, 512)
    skipValue(scan, everything)
    endScan(scan)
  }) !== null

/** Steps through the outer containers instead. */
const isWalked = (bytes: Buffer): boolean =>
  attempt(() => {
    const scan = startScan(bytes, 512)
    if (enter(scan, 123)) while (nextMember(scan, names) !== -1) takeSlice(scan, everything)
    else if (enter(scan, 91)) while (nextItem(scan)) takeScalar(scan)
    else takeScalar(scan)
    endScan(scan)
  }) !== null

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function check(text: string): void {
  const bytes = Buffer.from(text)
  const expected = parses(bytes.toString())
  expect([isAccepted(bytes), isWalked(bytes), text]).toEqual([expected, expected, text])
}

const pieces = [
  '',
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '0',
  '00',
  '-',
  '+',
  '.',
  'e',
  'E5',
  '1',
  ' ',
  '\n',
  '\t',
  '\r',
  '\f',
  '\u0000',
  '\u001f',
  '\u007f',
  '\u00a0',
  '\u2028',
  'true',
  'tru',
  'nul',
  'null',
  '\\u',
  '\\u12',
  '\\ud800',
  '\\x',
  '/',
  "'",
  'NaN',
  'Infinity',
  '""',
  '[]',
  '{}',
  ',,',
  '"a":',
  'é',
  '😀',
]

test('the scanner takes valid documents as JSON.parse does', () => {
  fc.assert(
    fc.property(jsonText({ halves: true, lines: true }), fc.constantFrom('', ' ', '\n\t'), ({ text }, gap) => {
      check(`${gap}${text}${gap}`)
      expect(isAccepted(Buffer.from(text))).toBe(true)
    }),
    { numRuns: runs(2000, 40_000) },
  )
})

test('the scanner takes or refuses changed and cut documents as JSON.parse does', () => {
  const samples = jsonText({ halves: true, lines: true, depth: 3 })
  const change = fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...pieces))
  fc.assert(
    fc.property(samples, fc.array(change, { minLength: 1, maxLength: 3 }), ({ text }, changes) => {
      let changed = text
      for (const [at, length, piece] of changes) {
        const from = at % (changed.length + 1)
        changed = changed.slice(0, from) + piece + changed.slice(from + length)
      }
      check(changed)
      check(text.slice(0, (changes[0]?.[0] ?? 0) % (text.length + 1)))
    }),
    { numRuns: runs(5_000, 200_000) },
  )
})

test('the scanner takes or refuses any sequence of pieces as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 10 }), (list) => check(list.join(''))),
    { numRuns: runs(5_000, 200_000) },
  )
})

test('the scanner refuses bytes that are not UTF-8', () => {
  for (const bytes of [[0xff], [0x22, 0xc3, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22]])
    expect(isAccepted(Buffer.from(bytes))).toBe(false)
})

test('the scanner reads the values of JSON.parse, the last of repeated names counts', () => {
  fc.assert(
    fc.property(fc.array(jsonText({ halves: true, lines: true }), { maxLength: 8 }), (samples) => {
      const text = `{${samples.map(({ text }, i) => `"${names.texts[i % 4]}": ${text}, "x${i}":${text}`).join(' ,\n')}}`
      const scan = startScan(Buffer.from(text), 512)
      const read = new Map<string, { scalar: unknown; type: unknown }>()
      const repeated = names.texts.map(nothingRepeated)
      expect(enter(scan, 123)).toBe(true)
      for (let name = nextMember(scan, names); name !== -1; name = nextMember(scan, names)) {
        const at = scan.at
        const type = typeOf(takeSlice(scan, 0))
        scan.at = at
        const scalar = takeRepeated(scan, repeated[name] as (typeof repeated)[number])
        read.set(names.texts[name] as string, { scalar, type })
      }
      endScan(scan)
      const parsed = JSON.parse(text) as Record<string, unknown>
      for (const name of names.texts) {
        expect(read.has(name)).toBe(Object.hasOwn(parsed, name))
        const value = parsed[name]
        const got = read.get(name)
        if (got === undefined) continue
        if (typeof value !== 'object' || value === null) expect(got.scalar).toBe(value)
        expect(Array.isArray(got.scalar)).toBe(Array.isArray(value))
        expect(typeof got.type).toBe(typeof value)
        expect(got.type === null).toBe(value === null)
      }
    }),
    { numRuns: runs(1000, 20_000) },
  )
})

test.each(['[', '{"a":'])('nesting of %s is bounded, whatever follows', (open) => {
  const close = open === '[' ? ']' : '}'
  const nested = (depth: number) => Buffer.from(`${open.repeat(depth)}${open === '[' ? '' : '1'}${close.repeat(depth)}`)
  expect(isAccepted(nested(512))).toBe(true)
  expect(isWalked(nested(512))).toBe(true)
  expect(() => isAccepted(nested(513))).toThrow(Refusal)
  expect(() => isWalked(nested(513))).toThrow(Refusal)
  expect(() => isAccepted(Buffer.from(open.repeat(513)))).toThrow(Refusal)
})

test.each([1, 15, 16, 17, 100_000])(
  '%d refs in a value are found once, in their order',
  { timeout: 20_000 },
  (count) => {
    const refs = Array.from({ length: count }, (_, n) => `weave:///ent/proj/object/x:${n}`)
    const scan = startScan(
      Buffer.from(JSON.stringify([[...refs, ...refs], refs.slice(0, 1), [...refs].reverse()])),
      512,
    )
    enter(scan, 91)
    const found: string[][] = []
    while (nextItem(scan)) found.push(takeSlice(scan, search.refs).refs)
    expect(found.map((list) => list.length)).toEqual([count, 1, count])
    expect(found[0]).toEqual(refs)
    expect(found[2]?.[0]).toBe(refs.at(-1))
  },
)
