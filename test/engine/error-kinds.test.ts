// Errors that differ in numbers, ids and quoted values alone are of one kind, in the engine's SQL as in JS.
// again: property
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { errorKind, errorKindOf } from '../../services/query/calls/conditions/error-kind.ts'
import { type Engine, expressionCall, openEngine, sources } from '../fixtures/expression-rows.ts'
import { runs } from '../fixtures/runs.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openEngine()
})
afterAll(() => engine.close())

const known: readonly (readonly [exception: string, kind: string | null])[] = [
  ['', null],
  [' \n', null],
  [
    'TimeoutError: orders database did not answer in 812.5 ms for A-4711\n  at query (db.js:17)',
    'TimeoutError: orders database did not answer in ⟨n⟩ ms for A-⟨n⟩',
  ],
  ["KeyError: 'Oslo'", 'KeyError: ⟨text⟩'],
  ['no order "A 17" of user (\'ann\')', 'no order ⟨text⟩ of user (⟨text⟩)'],
  ["can't read it, don't ask", "can't read it, don't ask"],
  ['call 0190f5e2-7c1d-7abc-8def-0123456789ab at 0xDEADBEEF', 'call ⟨id⟩ at ⟨id⟩'],
  ['request req_011CSHoEeqs5C35K failed at 2026-11-30T03:20:01.5Z', 'request req_⟨id⟩ failed at ⟨time⟩'],
  ['lost 10.0.0.7:5432 after 30s', 'lost ⟨n⟩ after ⟨n⟩s'],
  [
    "Error code: 429 - {'error': {'message': 'Limit 30000, used 29500', 'type': 'tokens'}}",
    "Error code: 429 - {'error': {'message': 'Limit ⟨n⟩, used ⟨n⟩', 'type': 'tokens'}}",
  ],
  ['HTTP/1.1 503 after 450 ms', 'HTTP/⟨n⟩ 503 after ⟨n⟩ ms'],
  ['RateLimitError: 429: slow down', 'RateLimitError: 429: slow down'],
  ['404 page not found', '404 page not found'],
  [
    'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g(7)\nValueError: bad 7\nsecond line',
    'ValueError: bad ⟨n⟩',
  ],
  ['{"type": "ValueError", "message": "no \\"A1\\"\\nmore", "traceback": []}', 'ValueError: no ⟨text⟩'],
  ['{"error": "x"}', '{"error": "x"}'],
  [`x${'é😀'.repeat(2_000)}`, [...`x${'é😀'.repeat(200)}`].slice(0, 200).join('')],
]

const kindsOf = async (exceptions: readonly string[]) =>
  (
    await engine.values(
      exceptions.map((exception) => expressionCall({ exception })),
      [errorKind.sql(sources)],
    )
  ).map(([kind]) => kind)

it('an error is known by its first line, with placeholders for what differs from one to the next', async () => {
  expect(known.map(([exception]) => [exception, errorKindOf(exception)])).toEqual(known)
  expect(await kindsOf(known.map(([exception]) => exception))).toEqual(known.map(([, kind]) => kind))
})

it('SQL and JS say the same of any text', async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...' \t\r\n"\'\\{}[]():=⟨⟩,.-_',
      'Error',
      'code',
      'HTTP',
      '0x',
      'Traceback (most recent call last)',
    ),
    fc.constantFrom(
      '"type": "',
      '"message":"',
      '429',
      '2026-01-05',
      '\\n',
      '\\"',
      'a',
      'Z',
      'é',
      '😀',
      '\u2028',
      '\u00a0',
    ),
    fc.nat().map(String),
    fc.uuid(),
    fc.string({ unit: 'grapheme', maxLength: 4 }).map((text) => text.toWellFormed()),
  )
  const exception = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''))
  await fc.assert(
    fc.asyncProperty(fc.array(exception, { minLength: 1, maxLength: 100 }), async (all) => {
      expect(await kindsOf(all)).toEqual(all.map(errorKindOf))
    }),
    { numRuns: runs(20, 500) },
  )
})
