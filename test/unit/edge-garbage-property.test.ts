// Bodies that are no valid write are refused with a fault and change nothing; nothing else is ever thrown.
// again: property
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aCall, anEnd, aStart, createCallsWrite, endItem, startItem } from '../fixtures/calls-write.ts'
import { jsonText } from '../fixtures/json-text.ts'
import { runs } from '../fixtures/runs.ts'

const paths = [
  '/call/start',
  '/call/end',
  '/call/update',
  '/call/upsert_batch',
  '/v2/e/p/calls/complete',
  '/v2/e/p/call/start',
  '/v2/e/p/call/end',
]
const valid = [
  { start: aStart() },
  { end: anEnd() },
  { project_id: 'e/p', call_id: '0123456789abcdef', display_name: 'x' },
  { batch: [startItem(), endItem(), startItem({ id: '0123456789abcdef' })] },
  { batch: [aCall(), aCall({ id: '0123456789abcdef' })] },
]
const path = fc.constantFrom(...paths)

/** A post that must end in an answer; what is stored is complete, and nothing is when the answer is a fault. */
async function check(where: string, body: string): Promise<void> {
  const edge = createCallsWrite()
  const { status, json } = await edge.post(where, body, { raw: true })
  const rows = edge.rows()
  if (status === 200) {
    for (const row of rows)
      expect(row).toMatchObject({ project_id: expect.stringMatching(/^[^/]+\/[^/]+$/), id: expect.any(String) })
  } else {
    expect([400, 413, 422]).toContain(status)
    expect(Object.keys(json as object)).toEqual([status === 422 ? 'detail' : 'reason'])
    expect(rows).toEqual([])
  }
}

test('a body of any JSON is taken or refused with a fault', async () => {
  await fc.assert(
    fc.asyncProperty(
      path,
      jsonText({ halves: true, lines: true }),
      fc.constantFrom('start', 'end', 'batch', ''),
      (where, { text }, key) => check(where, key === '' ? text : `{"${key}":${text}}`),
    ),
    { numRuns: runs(500, 10_000) },
  )
})

test('a body of any bytes is taken or refused with a fault', async () => {
  await fc.assert(
    fc.asyncProperty(path, fc.string({ unit: 'binary', maxLength: 60 }), (where, text) => check(where, text)),
    { numRuns: runs(300, 6000) },
  )
})

test('a valid body that is cut off or changed is taken or refused with a fault', async () => {
  const piece = fc.constantFrom(
    '',
    '"',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\\',
    '0',
    '-',
    'null',
    'é',
    '\\ud800',
    '1e999',
    '"start":',
    '\n',
  )
  await fc.assert(
    fc.asyncProperty(
      path,
      fc.constantFrom(...valid),
      fc.nat(),
      fc.nat(8),
      piece,
      fc.boolean(),
      (where, body, at, length, put, cut) => {
        const text = JSON.stringify(body)
        const from = at % text.length
        return check(where, cut ? text.slice(0, from) : text.slice(0, from) + put + text.slice(from + length))
      },
    ),
    { numRuns: runs(1000, 20_000) },
  )
})

test('a valid body with any value in the place of a member is taken or refused with a fault', async () => {
  type Members = Record<string, unknown>
  const places = (value: unknown): [Members, string][] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([key, member]) => [
          [value as Members, key] as [Members, string],
          ...places(member),
        ])
  await fc.assert(
    fc.asyncProperty(path, fc.constantFrom(...valid), fc.nat(), jsonText({ depth: 2 }), (where, body, at, sample) => {
      const copy = structuredClone(body)
      const all = places(copy)
      const [owner, key] = all[at % all.length] as [Members, string]
      owner[key] = '@@'
      return check(
        where,
        JSON.stringify(copy).replace('"@@"', () => sample.text),
      )
    }),
    { numRuns: runs(1000, 20_000) },
  )
})

test.each([
  ['a list', '['.repeat(600) + ']'.repeat(600)],
  ['an object', `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`],
])('a body with %s nested too deep is 413', async (_, deep) => {
  const edge = createCallsWrite()
  const body = JSON.stringify({ start: aStart({ inputs: { a: '@@' } }) }).replace('"@@"', deep)
  const { status, json } = await edge.post('/call/start', body, { raw: true })
  expect([status, json, edge.rows()]).toEqual([413, { reason: 'Request too large' }, []])
})
