// Any expression on any document gives the same three-valued answer in the engine's SQL and in JS, and the same order.
// again: property
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expandedPaths } from '../../services/query/calls/conditions/expanded.ts'
import { callFields } from '../../services/query/calls/conditions/fields.ts'
import { derivedFieldFactory } from '../../services/query/calls/conditions/joins.ts'
import { compileSort } from '../../services/query/calls/conditions/sort.ts'
import { compileCondition } from '../../services/query/language/compile.ts'
import { evaluateCondition } from '../../services/query/language/evaluate.ts'
import { parseQuery } from '../../services/query/language/parse.ts'
import {
  asRow,
  type Engine,
  type ExpressionCall,
  expressionCall,
  openEngine,
  sources,
} from '../fixtures/expression-rows.ts'
import { runs } from '../fixtures/runs.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openEngine()
})
afterAll(() => engine.close())

const derived = derivedFieldFactory('wandb')
const expand = expandedPaths(['summary', 'summary.b'])
const fields = callFields({ derived, expand })
/** Texts from elsewhere are called in the order in which fields are met: these come first. */
const [typed, many, any, whole, below] = [
  'feedback.[x].payload',
  'feedback.[wandb.note.1].payload.note',
  'feedback.[*].payload.a',
  'summary.a',
  'summary.b.c',
] as const
for (const name of [typed, many, any, whole, below]) fields(name)

const numberSpellings = [
  '0',
  '-0',
  '-0.0',
  '1',
  '5',
  '5.0',
  '5.50',
  '1e0',
  '1E3',
  '-3',
  '255',
  '256',
  '1e21',
  '1e-7',
  '0.000001',
  '9007199254740993',
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '18446744073709551615',
  '0.1',
  '1.7976931348623157e308',
  '5e-324',
]
const texts = [
  'a, b',
  'x/y: z',
  '\t\u2028abc',
  'b/c',
  '',
  '5',
  '5.0',
  '+5',
  '005',
  ' 5',
  '5 ',
  '1e3',
  '1e400',
  'inf',
  'nan',
  'Infinity',
  '0x10',
  'true',
  'false',
  'TRUE',
  'abc',
  'ABC',
  "it's",
  '\\',
  '"',
  '\u0000',
  '\n\t',
  '\u2028',
  'é',
  'É',
  '😀',
  '\uffff',
  "'; DROP TABLE calls --",
  '{v0:String}',
  '%',
  '_',
  '.5',
  '5.',
  '9223372036854775808',
  '2024-01-01',
  '[1]',
  '{"k":1}',
]
const keys = ['a', 'b', '0', '1', 'a.b', '', "k'", 'é', '"', '-', '\\', 'weave']

const jsonString = fc.oneof(
  fc.constantFrom(...texts).map((text) => JSON.stringify(text)),
  fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => JSON.stringify(text.toWellFormed())),
  fc.constantFrom('"\\u0041"', '"\\u00e9\\/"', '"\\ud83d\\ude00"', '"b\\/c"', '"\\u0061, \\u0062"', '"\\nt\\u2028"'),
)
/** Integers beyond 64 bits are what the engine cannot read: large doubles are written with an exponent. */
const spell = (n: number): string => (Math.abs(n) < 2 ** 53 ? JSON.stringify(n) : n.toExponential())
const jsonNumber = fc.oneof(
  fc.constantFrom(...numberSpellings),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(spell),
  fc.integer().map(String),
)
/** JSON texts, with white space here and there. */
const { value: jsonValue } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'json' },
    fc.constantFrom('null', 'true', 'false'),
    jsonNumber,
    jsonString,
    fc
      .tuple(fc.array(tie('value'), { maxLength: 3 }), fc.constantFrom('', ' ', '\n'))
      .map(([list, gap]) => `[${gap}${list.join(`,${gap}`)}]`),
    fc
      .tuple(fc.array(fc.tuple(fc.constantFrom(...keys), tie('value')), { maxLength: 4 }), fc.constantFrom('', ' '))
      .map(([members, gap]) => `{${members.map(([k, v]) => `${gap}${JSON.stringify(k)}${gap}:${gap}${v}`).join(',')}}`),
  ),
}))
const jsonObject = fc
  .array(fc.tuple(fc.constantFrom(...keys), jsonValue), { maxLength: 4 })
  .map((members) => `{${members.map(([k, v]) => `${JSON.stringify(k)}:${v}`).join(',')}}`)

const start = 1_704_067_200_000_000
const micros = fc.oneof(
  fc.constantFrom(start, start + 1, start + 500_000, start - 1),
  fc.integer({ min: start, max: start + 1e10 }),
)
const word = fc.constantFrom('', 'x', 'weave:///e/p/op/my_op:v1', 'weave:///e/p/op/bad', '5', 'é', '2024-01-01')

const anyCall: fc.Arbitrary<ExpressionCall> = fc
  .record({
    id: word,
    parent_id: word,
    op_name: word,
    display_name: word,
    exception: word,
    run_step: fc.integer({ min: -1, max: 5 }),
    started_at: micros,
    ended_at: micros,
    end_ver: fc.integer({ min: 0, max: 1 }),
    error_count: fc.integer({ min: 0, max: 1 }),
    input_refs: fc.array(word, { maxLength: 2 }),
    attributes: jsonObject,
    inputs: jsonObject,
    output: jsonValue,
    otel_dump: fc.oneof(fc.constant(''), jsonObject),
    feedback_0: fc.oneof(fc.constant(''), jsonObject),
    feedback_1: fc.oneof(
      fc.constant(''),
      fc
        .array(fc.constantFrom(...texts.filter((text) => text !== '')), { maxLength: 3 })
        .map((list) => JSON.stringify(list)),
    ),
    feedback_2: fc.oneof(fc.constant(''), jsonString),
    ref_0: fc.oneof(fc.constantFrom('', 'null'), jsonString),
    ref_1: fc.oneof(fc.constantFrom('', 'null'), jsonString),
  })
  .map((fields) => expressionCall(fields))

const escapeName = (key: string): string => key.replaceAll('.', '\\.')
const jsonName = fc
  .tuple(
    fc.constantFrom('inputs', 'output', 'attributes', 'attributes.otel_span'),
    fc.array(fc.constantFrom(...keys), { maxLength: 3 }),
  )
  .map(([document, path]) => [document, ...path.map(escapeName)].join('.'))
const columnName = fc.constantFrom(
  'id',
  'parent_id',
  'op_name',
  'display_name',
  'exception',
  'started_at',
  'ended_at',
  'expire_at',
  'platform_run_step',
  'summary.weave.status',
  'summary.weave.latency_ms',
  'summary.weave.trace_name',
)
/** Parts of texts, tokens and escapes, where a search of the stored text could miss the text form. */
const needles = [
  'a',
  'A',
  'abc',
  'Bc',
  'true',
  'nul',
  'u2028',
  'u20',
  '28',
  'u',
  'n',
  'nt',
  '/',
  'é/',
  'b/',
  '5',
  '.5',
  'e2',
  '1,',
  ', ',
  'a, b',
  ':',
  '":',
  '{',
  '\\',
  '+',
  '-',
  'é',
  '😀',
  'DROP TABLE',
  '{v0',
  '000',
  "'",
  '%',
  ' 5',
  '001',
  '"a"',
  '2024-01-',
  'x/y: z',
]
const literal = fc
  .oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      1,
      5,
      5.5,
      -3,
      1e21,
      0.1,
      1704067200,
      1704067200.5,
      9007199254740991,
    ),
    fc.constantFrom(...texts),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  .map((value) => ({ $literal: value }))
const joinedName = fc.oneof(
  fc.constantFrom<string>(many, any, whole, below),
  // a path of a feedback payload has no empty names
  fc
    .array(fc.constantFrom(...keys.filter((key) => key !== '')), { maxLength: 2 })
    .map((path) => [typed, ...path.map(escapeName)].join('.')),
)
const field = fc.oneof({ weight: 3, arbitrary: jsonName }, columnName, joinedName).map((name) => ({ $getField: name }))

const { operation } = fc.letrec<{ operand: unknown; operation: unknown }>((tie) => ({
  operand: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'expression' },
    { weight: 4, arbitrary: field },
    { weight: 4, arbitrary: literal },
    fc
      .record({ input: tie('operand'), to: fc.constantFrom('double', 'string', 'int', 'bool', 'exists') })
      .map(($convert) => ({ $convert })),
    tie('operand').map(($size) => ({ $size })),
    tie('operation'),
  ),
  operation: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'expression' },
    fc
      .tuple(fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte'), tie('operand'), tie('operand'))
      .map(([op, a, b]) => ({ [op]: [a, b] })),
    fc.tuple(field, fc.array(literal, { maxLength: 4 })).map((pair) => ({ $in: pair })),
    fc.tuple(tie('operand'), fc.array(tie('operand'), { maxLength: 2 })).map((pair) => ({ $in: pair })),
    fc
      .record({ input: fc.oneof(tie('operand'), fc.constant({ $getField: 'input_refs' })), substr: tie('operand') })
      .map(($contains) => ({ $contains })),
    fc
      .record({ input: jsonName, substr: fc.constantFrom(...needles), case_insensitive: fc.boolean() })
      .map(({ input, substr, ...rest }) => ({
        $contains: { input: { $getField: input }, substr: { $literal: substr }, ...rest },
      })),
    fc
      .tuple(fc.constantFrom('$and', '$or'), fc.array(tie('operand'), { minLength: 1, maxLength: 3 }))
      .map(([op, list]) => ({ [op]: list })),
    tie('operand').map((of) => ({ $not: [of] })),
  ),
}))

/** The condition, or null when the request is refused (dates that are none). */
function parse($expr: unknown) {
  try {
    return parseQuery({ $expr }, fields)
  } catch (error) {
    if (error instanceof Error && /^Not a date/.test(error.message)) return null
    throw error
  }
}

describe('expressions', () => {
  it('give the same answer in SQL and in JS', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCall, { minLength: 1, maxLength: 40 }),
        fc.array(operation, { minLength: 1, maxLength: 25 }),
        async (rows, expressions) => {
          const parsed = expressions.flatMap(($expr) => {
            const condition = parse($expr)
            return condition === null ? [] : [{ $expr, condition }]
          })
          const answers = await engine.values(
            rows,
            parsed.map(({ condition }) => compileCondition(condition, sources)),
          )
          for (const [n, row] of rows.entries())
            for (const [i, { $expr, condition }] of parsed.entries()) {
              const answer = answers[n]?.[i]
              const engineSays = answer === null ? null : answer === true || answer === 1
              expect({ $expr, row, says: evaluateCondition(condition, asRow(row)) }).toEqual({
                $expr,
                row,
                says: engineSays,
              })
            }
        },
      ),
      { numRuns: runs(40, 320) },
    )
  })

  it('sort the same in SQL and in JS', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(anyCall, { minLength: 2, maxLength: 40, selector: (row) => JSON.stringify(row) }),
        fc.array(
          fc.record({
            field: fc.oneof(jsonName, columnName, joinedName),
            direction: fc.constantFrom('asc' as const, 'desc' as const),
          }),
          { minLength: 1, maxLength: 3 },
        ),
        async (list, sortBy) => {
          const rows = list.map((row, n) => ({ ...row, id: `${String(row.id)} ${n}` }))
          const sort = compileSort(sortBy, fields, sources)
          const ids = [...rows].sort((a, b) => sort.compare(asRow(a), asRow(b))).map((row) => row.id)
          const orderBy = sort.orderBy()
          if (orderBy === null) throw new Error('an order was asked for')
          expect(await engine.order(rows, orderBy)).toEqual(ids)
        },
      ),
      { numRuns: runs(60, 480) },
    )
  })
})
