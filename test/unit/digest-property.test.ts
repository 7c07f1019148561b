// Content digests against the published vectors, and canonical JSON against an independent formatter.
// again: property

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asFault } from '../../services/core/http/errors.ts'
import {
  canonicalJson,
  compareCodePoints,
  floatText,
  items,
  members,
  oneLine,
} from '../../services/core/json/canonical.ts'
import { createFileDigest, fileDigest, isContentHash, tableDigest, valueDigest } from '../../services/events/digest.ts'
import { runs } from '../fixtures/runs.ts'

const op =
  '{"_type":"CustomWeaveType","weave_type":{"type":"Op"},"files":{"obj.py":"VLdokHOD3i2pvbMRA05t7qIwnXYLZmDENXylw4swnkY"}}'

/** [number, JSON text as received, canonical text or null when not stated, digest] */
const valueVectors: [string, string, string | null, string][] = [
  ['1', '{}', '{}', 'RBNvo1WzZ4oRRq0W9XhknpT7T8If536DEMBg9hyqY4o'],
  [
    '2',
    '{"b": 1, "a": {"d": true, "c": null}}',
    '{"a": {"c": null, "d": true}, "b": 1}',
    'rD2fG2mc4RfmO9ff8QcoJD6uqjniBJiNkxIk0ozGTFE',
  ],
  [
    '3',
    String.raw`{"t":"h\u00e9llo \ud83d\ude00 \"q\" \\ / \n \u007f \u2028"}`,
    String.raw`{"t": "h\u00e9llo \ud83d\ude00 \"q\" \\ / \n \u007f \u2028"}`,
    '0dSmLmcD8h7pqag7j0LGMZJmc9ZnYNvTEalFXXOpSoE',
  ],
  [
    '4',
    '{"f":[1.0,0.1,1e21,1e16,1e-7,0.0001,-0.0,1e5,123456789012345678,1.5e300,1e22,5e-324,100000000000000000000]}',
    '{"f": [1.0, 0.1, 1e+21, 1e+16, 1e-07, 0.0001, -0.0, 100000.0, 123456789012345678, 1.5e+300, 1e+22, 5e-324, 100000000000000000000]}',
    '70oEDs3JkpglkXrkcEo16BhKUYDSz5XHA8FMUYBXE1g',
  ],
  ['5a', '{"n":1.0}', '{"n": 1.0}', 'mPJQeeltdCR95IVCI8jEF15xn6wgdTXBz8rKANWenSM'],
  ['5b', '{"n":1}', '{"n": 1}', '5dX3wdIlYWsTYj67G1udB1xwVln4GGix43AFoJI7A0Y'],
  ['5c', '{"n":-0}', '{"n": 0}', 'OnWWq8D7Au4cTkBv0gBPUH6sXy3P4n6pHWSeWgl9dUE'],
  [
    '6',
    String.raw`{"c":"\u0000\u0001\b\t\n\u000b\f\r\u001f\u007f\u0080<>&"}`,
    String.raw`{"c": "\u0000\u0001\b\t\n\u000b\f\r\u001f\u007f\u0080<>&"}`,
    'IHPA9cOZMVIwsnHMixoXHbz9WLsfl97YtWKCLYPqwqw',
  ],
  [
    '7',
    String.raw`{"\uffff":1,"\ud83d\ude00":2,"a":3,"A":4,"_":5,"1":6,"10":7,"2":8}`,
    String.raw`{"1": 6, "10": 7, "2": 8, "A": 4, "_": 5, "a": 3, "\uffff": 1, "\ud83d\ude00": 2}`,
    'HmSSXMrYTOLkXSa4L8dLG6aps8dMXDAm0hFq61tbXl0',
  ],
  ['8', '[1,2,{"z":0,"y":[]}]', '[1, 2, {"y": [], "z": 0}]', 'afzwulYZVB9FEpvZp7Mr46GNcw1pHJO2uQVXk7YA7Eg'],
  ['9', '"plain"', '"plain"', 'lFYDqPWHeGtGPDXUYOEVwProj6wnKMyW3fWYHPf2F0E'],
  ['10', 'null', 'null', 'dCNOmKYnSYX12vHzasLXiswzlGT5UHA7jAGYkvmCuQs'],
  ['11', '{"a":1,"a":2}', '{"a": 2}', '5anVsDAOD1DTcuWp3fokIIqsmpQM6aNvJHOHIhriBf4'],
  ['12', op, null, 'cYWcz1qcWOJX5c5ZqrTpa6Z7G4DBbM35yy2Bz17L9Yw'],
  ['15', '{"q":"hi","a":1}', '{"a": 1, "q": "hi"}', 'p2kSnMyskAG8BWb3hhNrB3ydLkbSTwxuS9yajCXM1dI'],
  ['16', '{"q":"yo","a":2.5}', '{"a": 2.5, "q": "yo"}', 'TkVzYqCJ6JQHnwTOEF70rPrbDYRMU1AAqT4UUTAWPJ4'],
  [
    '17',
    '{"b":1.0,"a":"é","n":1e16}',
    String.raw`{"a": "\u00e9", "b": 1.0, "n": 1e+16}`,
    'Dv8hc3EXLmCKC8zGCbEToyXFyT4uFhrUBoq1DaHwnNQ',
  ],
  ['1.4 ref as sent', '{"ref":"weave:///acme/demo/object/x:abc"}', null, 'zvVEfxgFFvW1lIPv1X6Ky2GvDbNO0T2XpQVDz2UhZVo'],
]

const row15 = valueVectors.find(([n]) => n === '15')?.[3] as string
const row16 = valueVectors.find(([n]) => n === '16')?.[3] as string

const tableVectors: [string, string[], string][] = [
  ['18', [row15, row16], 'e3ae9ca303053ac2b7ec22773f86811879915efa7943d2756db881e262369fc8'],
  ['19', [row16, row15], '6f6ca74ee790ae366aeff34a52d247ea32fef5397239caf9d13cd14e72ff1c9c'],
  ['20', [row15], '2d1cb1eee42c331768c61c58d5b386e7ad9ab0475e5520afbb7bed5fdf2e5055'],
  ['21', [], 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
]

const fileVectors: [string, Buffer, string][] = [
  ['22', Buffer.from('hello'), 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ'],
  ['23', Buffer.alloc(0), '47DEQpj8HBSaXYTImWX5JCeuQeRkm5NMpJWZG3hSuFU'],
  ['24', Buffer.from(Array.from({ length: 256 }, (_, i) => i)), 'QKYy6dLYki5Hr9RkjmlnSXFYeFX9Hahw5xECZrXUSIA'],
  ['25', Buffer.from('0'), 'XXzrZvYIbzjZUnhsbWlsecLbwjndTpG0ZynXOif7VXk'],
  ['26', Buffer.from('import weave\n'), 'VLdokHOD3i2pvbMRA05t7qIwnXYLZmDENXylw4swnkY'],
]

describe('published vectors', () => {
  it.each(valueVectors)('value %s', (_, input, canonical, digest) => {
    if (canonical !== null) expect(canonicalJson(input)).toBe(canonical)
    expect(valueDigest(input)).toBe(digest)
  })
  it.each(tableVectors)('table %s', (_, rows, digest) => expect(tableDigest(rows)).toBe(digest))
  it.each(fileVectors)('file %s', (_, bytes, digest) => {
    expect(fileDigest(bytes)).toBe(digest)
    const streaming = createFileDigest()
    for (const byte of bytes) streaming.update(Buffer.from([byte]))
    expect(streaming.digest()).toBe(digest)
  })
  it('recognises content hashes', () => {
    for (const [, , digest] of [...tableVectors, ...fileVectors]) expect(isContentHash(digest)).toBe(true)
    for (const text of ['latest', 'v3', '', 'a'.repeat(42), `${'a'.repeat(42)}-`, 'g'.repeat(64)])
      expect(isContentHash(text)).toBe(false)
  })
})

describe('canonical JSON', () => {
  // Written from the rules over parsed values, where the code under test works on text.
  function referenceOfText(value: string): string {
    let out = ''
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      const short = { 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r', 34: '\\"', 92: '\\\\' }[unit]
      out += short ?? (unit >= 32 && unit < 127 ? value[i] : `\\u${unit.toString(16).padStart(4, '0')}`)
    }
    return `"${out}"`
  }
  function reference(value: unknown): string {
    if (typeof value === 'number') return /[.e]/.test(text(value)) ? floatText(value) : text(value)
    if (typeof value === 'string') return referenceOfText(value)
    if (Array.isArray(value)) return `[${value.map(reference).join(', ')}]`
    if (value === null || typeof value !== 'object') return String(value)
    const points = (text: string) => [...text].map((c) => c.codePointAt(0) as number)
    const entries = Object.entries(value).sort(([a], [b]) => {
      const [x, y] = [points(a), points(b)]
      for (let i = 0; i < Math.min(x.length, y.length); i++)
        if (x[i] !== y[i]) return (x[i] as number) - (y[i] as number)
      return x.length - y.length
    })
    return `{${entries.map(([k, v]) => `${reference(k)}: ${reference(v)}`).join(', ')}}`
  }
  /** JSON text with integers as integers and every other number with a fraction or an exponent. */
  const text = (value: unknown, space?: number): string =>
    JSON.stringify(
      value,
      (_, v) =>
        typeof v === 'number' && (/[.e]/.test(`${v}`) || Object.is(v, -0)) ? `\u0001${floatText(v)}\u0001` : v,
      space,
    ).replace(/"\\u0001([^"]*)\\u0001"/g, '$1')
  const anything = fc.jsonValue({ stringUnit: 'binary', noUnicodeString: false } as never)

  it('equals the reference for any value, however it is spaced', () => {
    fc.assert(
      fc.property(anything, fc.integer({ min: 0, max: 3 }), (value, space) => {
        fc.pre(!JSON.stringify(value).includes('\\u0001'))
        expect(canonicalJson(text(value, space))).toBe(reference(value))
      }),
      { numRuns: runs(500, 10_000) },
    )
  })
  it('is a fixed point', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const once = canonicalJson(json)
        expect(canonicalJson(once)).toBe(once)
      }),
    )
  })
  it('keeps a lone surrogate as its escape, at its place in the order', () => {
    expect(canonicalJson(String.raw`{"\ud83d\uffff":1,"\ud83d\ude00":2,"\ud83d":3,"\ue000":4}`)).toBe(
      String.raw`{"\ud83d": 3, "\ud83d\uffff": 1, "\ue000": 4, "\ud83d\ude00": 2}`,
    )
    expect(compareCodePoints('\ud83d', '\ud83d\ude00')).toBeLessThan(0)
  })
  it('takes the last of repeated keys, escaped or not', () => {
    expect(canonicalJson(String.raw`{"b":0,"a":1,"\u0061":2,"b":3}`)).toBe('{"a": 2, "b": 3}')
  })
  it('does not give special keys a meaning', () => {
    expect(canonicalJson('{"__proto__":{"x":1},"constructor":2}')).toBe('{"__proto__": {"x": 1}, "constructor": 2}')
    expect(members('{"__proto__":1}')?.get('__proto__')).toBe('1')
  })
  it('prints doubles as the shortest text that reads back', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(floatText(value)).toMatch(/^-?\d+\.\d+$|^-?\d(\.\d+)?e[+-]\d{2,3}$/)
        expect(Object.is(Number(floatText(value)), value)).toBe(true)
      }),
    )
  })
  it('refuses numbers beyond double range with 400 and deep nesting with 413', () => {
    const status = (run: () => unknown) => {
      try {
        run()
      } catch (error) {
        return asFault(error)?.status ?? error
      }
    }
    expect(status(() => canonicalJson('{"a":1e400}'))).toBe(400)
    expect(status(() => canonicalJson('-1.5E+999'))).toBe(400)
    expect(status(() => canonicalJson('['.repeat(2000) + ']'.repeat(2000)))).toBe(413)
    expect(canonicalJson('['.repeat(600) + ']'.repeat(600))).toHaveLength(1200)
  })
  it.each([
    '',
    '{',
    '{"a"}',
    '{"a":}',
    '[1,]',
    '[1 2]',
    '"a',
    '"\\',
    '01',
    '1.',
    'NaN',
    'Infinity',
    '{} {}',
    '{a:1}',
    '"\u0001"',
  ])('refuses %j', (bad) => {
    expect(() => canonicalJson(bad)).toThrow(SyntaxError)
  })
})

describe('slices of JSON text', () => {
  it('gives members and items as sent', () => {
    const sent = String.raw` { "a" : [1.0, {"x":"}]\"\\"}] , "b":-1e400,"a":{"k" :"\""} } `
    expect([...(members(sent) ?? [])]).toEqual([
      ['a', String.raw`{"k" :"\""}`],
      ['b', '-1e400'],
    ])
    expect(items(`[1.0 , "],", {"a":[]},null]`)).toEqual(['1.0', '"],"', '{"a":[]}', 'null'])
    expect([members('[]'), items('{}'), members('"{}"')]).toEqual([null, null, null])
    expect([members('{ }')?.size, items('[ ]')]).toEqual([0, []])
  })
  it('takes line breaks out of pretty-printed text and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const flat = oneLine(JSON.stringify(value, null, 2))
        expect(flat).not.toMatch(/[\n\r]/)
        expect(JSON.parse(flat)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    expect(oneLine('{\n "a b": 1.0,\r\n "c": "x  y\\n" }')).toBe('{"a b":1.0,"c":"x  y\\n"}')
    expect(oneLine('{ "a": 1 }')).toBe('{ "a": 1 }')
  })
})
