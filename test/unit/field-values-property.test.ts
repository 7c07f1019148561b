// Field values that are taken from the bytes of documents and rows are those that the plainest way gives, to the byte.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFieldValueGroups, type FieldValueGroups, roots } from '../../services/derived/field-index/groups.ts'
import { addRowValues } from '../../services/derived/field-index/row-values.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { baseUs, complete } from '../fixtures/call-world.ts'
import { type ReferenceRow, referenceLines } from '../fixtures/field-lines.ts'
import { jsonText, numberToken } from '../fixtures/json-text.ts'
import { runs } from '../fixtures/runs.ts'

const numRuns = runs(300, 20_000)

const digits = (max: number) => fc.string({ unit: fc.constantFrom(...'0012345679'), minLength: 1, maxLength: max })
/** Around what is a shortest form: signs, zeros at either end, 15 and more digits, exponents. */
const decimal = fc
  .tuple(fc.constantFrom('', '', '-'), fc.constantFrom('0', '', '1', '70'), digits(18), digits(18), fc.nat(3))
  .map(([sign, lead, whole, fraction, form]) => {
    const integer = lead === '' ? whole.replace(/^0+(?=.)/, '') : lead === '0' ? '0' : `${lead}${whole}`
    return sign + [integer, `${integer}.${fraction}`, `${integer}.${fraction}`, `${integer}e-${fraction.length}`][form]
  })
const number = fc.oneof(
  decimal,
  numberToken,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom('0', '-0', '-0.0', '1e5', '1.0', '0.1', '1E400', '-1E400', '0.000001', '0.0000001', '5e-324'),
  fc.constantFrom('999999999999999', '9007199254740993', '-9223372036854775808', '18446744073709551616'),
  fc.constantFrom(`1${'0'.repeat(126)}`, `1${'0'.repeat(127)}`, `1${'0'.repeat(128)}`),
)
const escaped = (text: string): string =>
  `"${Array.from({ length: text.length }, (_, n) => `\\u${text.charCodeAt(n).toString(16).padStart(4, '0')}`).join('')}"`
const string = fc.oneof(
  fc
    .oneof(number, fc.constantFrom('+5', '.5', '5.', '+', '.', '-', '', 'e', '00', '1e', '2025-01-01'))
    .map((text) => `"${text}"`),
  number.map(escaped),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => JSON.stringify(text)),
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\ud800"', '"a\\/b"', '"\\n\\"\\\\"', '"\\udbff\\u0041"', '"\\u2028"', '"\\\\"', '"\\\\\\""'),
  fc
    .tuple(fc.integer({ min: 124, max: 131 }), fc.constantFrom('x', '7', 'é', '\\n', '\\u00e9'))
    .map(([length, unit]) => `"${unit.repeat(Math.ceil(length / Buffer.byteLength(unit)))}"`),
)
const keyText = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'ab', 'a.b', 'a\\b', '', 'é', '日本', 'k"', '__proto__'),
  },
  { weight: 1, arbitrary: fc.integer({ min: 240, max: 258 }).map((length) => 'k'.repeat(length)) },
  { weight: 1, arbitrary: fc.integer({ min: 120, max: 130 }).map((length) => 'é'.repeat(length)) },
)
const key = fc.oneof(
  { weight: 9, arbitrary: keyText.map((text) => JSON.stringify(text)) },
  { weight: 1, arbitrary: keyText.map(escaped) },
  { weight: 1, arbitrary: fc.constantFrom('"\\ud800"', '"\\/"', '"a"') },
)
const gap = fc.constantFrom('', '', '', ' ', '\n\t ')
const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 8, depthIdentifier: 'field value' },
    fc.oneof(number, string, fc.constantFrom('null', 'true', 'false', '[]', '{}', '[{"a":"]"}]', '{"a":null}')),
    tie('object'),
  ),
  object: fc
    .tuple(fc.array(fc.tuple(key, tie('value')), { maxLength: 6, depthIdentifier: 'field value' }), gap)
    .map(
      ([members, space]) =>
        `{${space}${members.map((one) => one.join(`${space}:${space}`)).join(`${space},${space}`)}${space}}`,
    ),
}))
/** About as many members as are indexed, or as are looked at. */
const wide = fc
  .tuple(fc.constantFrom(62, 63, 64, 65, 256, 257, 258), fc.constantFrom('1', 'null', '"x"'), value)
  .map(([count, one, last]) => `{${Array.from({ length: count }, (_, n) => `"k${n}":${one},`).join('')}"last":${last}}`)
const deep = fc
  .tuple(fc.integer({ min: 4, max: 8 }), value)
  .map(([depth, inner]) => `${'{"a":'.repeat(depth)}${inner}${'}'.repeat(depth)}`)
const document = fc.oneof(
  { weight: 8, arbitrary: value },
  { weight: 2, arbitrary: jsonText({ halves: true, lines: true }).map(({ text }) => text) },
  { weight: 1, arbitrary: wide },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: fc.constant('') },
)
const row = fc.record({
  projectId: fc.constantFrom('ent/one', 'ent/twö'),
  part: fc.constantFrom('both' as const, 'start' as const),
  us: fc.nat(3 * 3600).map((seconds) => baseUs + seconds * 1_000_000),
  clock: fc.nat().map(String),
  documents: fc.record({ attributes: document, inputs: document, output: document, summary: document }),
})
/** Documents come again, as those of a project do. */
const rows = fc
  .tuple(fc.array(row, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(), { minLength: 1, maxLength: 8 }))
  .map(([some, picks]): ReferenceRow[] => picks.map((pick) => some[pick % some.length] as ReferenceRow))

function addAll(groups: FieldValueGroups, all: readonly ReferenceRow[]): void {
  for (const { documents, ...key } of all) {
    groups.addRow(key)
    for (const root of roots) groups.addDocument(root, Buffer.from(documents[root] as string))
  }
}

const linesOf = (groups: FieldValueGroups, first: number) => {
  const { values, groups: groupLines, count } = groups.take(first)
  return { values: values === '' ? [] : values.split('\n'), groups: groupLines.split('\n'), count }
}
const expected = (all: readonly ReferenceRow[], first: number) => {
  const lines = referenceLines(all, first)
  return { ...lines, count: lines.groups.length }
}

describe('field values', () => {
  it('are those of the documents', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const groups = createFieldValueGroups()
        addAll(groups, all)
        expect(linesOf(groups, 7)).toEqual(expected(all, 7))
        expect(groups.bytes()).toBe(0)
        addAll(groups, all.slice(1))
        expect(linesOf(groups, 8).values).toEqual(referenceLines(all.slice(1), 8).values)
      }),
      { numRuns },
    )
  })

  it('are the same where groups took in others', () => {
    fc.assert(
      fc.property(rows, rows, rows, (...batches) => {
        const groups = createFieldValueGroups()
        for (const batch of batches) {
          const one = createFieldValueGroups()
          addAll(one, batch)
          groups.absorb(one)
        }
        expect(linesOf(groups, 7)).toEqual(expected(batches.flat(), 7))
      }),
      { numRuns: Math.ceil(numRuns / 3) },
    )
  })

  it('are the same in rows as they are written', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const calls = all.map((one) => ({ ...one, part: 'both' as const }))
        const writer = createCallWriter()
        // The edge leaves no line breaks between tokens.
        const tight = calls.map(({ documents, ...one }) => ({
          ...one,
          documents: Object.fromEntries(
            Object.entries(documents).map(([root, text]) => [root, text.replaceAll('\n', ' ')]),
          ),
        }))
        for (const { projectId, us, documents } of tight)
          writer.add(complete('a', { projectId, startedUs: us, otelDump: '', ...documents }))
        const texts = writer
          .take()
          .flatMap((record) => (record as unknown as { rows: Buffer }).rows.toString().trimEnd().split('\n'))
        const groups = createFieldValueGroups()
        for (const [n, { documents: _, ...key }] of tight.entries()) {
          groups.addRow(key)
          expect(addRowValues(groups, Buffer.from(texts[n] as string), true)).toBe(true)
        }
        expect(linesOf(groups, 7)).toEqual(expected(tight, 7))
      }),
      { numRuns: Math.ceil(numRuns / 3) },
    )
  })

  it('are found under keys that are ever new ones', () => {
    const all = Array.from({ length: 700 }, (_, n): ReferenceRow => {
      const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 40 }, (_, k) => [`k${n}.${k}`, k])))
      const documents = { attributes: wide, inputs: '{"same":{"as":"before"}}', output: '', summary: '' }
      return { projectId: 'ent/one', part: 'both', us: baseUs + n, clock: '1', documents }
    })
    const groups = createFieldValueGroups()
    addAll(groups, all)
    expect(linesOf(groups, 7)).toEqual(expected(all, 7))
  })
})
