// What the rows of a batch begin with, and fingerprints of calls: what is unsure is never taken for new.
import { describe, expect, it } from 'vitest'
import type { CallFragment } from '../../services/events/calls.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { keyOfTexts, rowsByCall, textOf } from '../../services/worker/calls/call-rows.ts'
import { createFingerprints, fingerprintOf } from '../../services/worker/calls/fingerprints.ts'
import { complete, end, rename, start } from '../fixtures/call-world.ts'

const rowsOf = (...texts: string[]) =>
  texts.map((text, rowIndex) => ({ partition: 0, offset: 1, rowIndex, text: Buffer.from(text) }))
const written = (...parts: CallFragment[]) => {
  const writer = createCallWriter()
  for (const part of parts) writer.add(part)
  const [record] = writer.take()
  return rowsOf(...(record as { rows: Buffer }).rows.toString().trimEnd().split('\n'))
}
const idsOf = async (rows: ReturnType<typeof rowsOf>) =>
  [...(await rowsByCall(rows)).calls.values()].flatMap((one) => (one ? [textOf(one.id)] : []))

describe('rows by call', () => {
  it('finds rows that begin a call of which the batch has no other', async () => {
    const rows = written(
      ...[complete('a'), complete('b', { projectId: 'ent/other' }), start('c'), end('d'), rename('e', 'n')],
      ...[complete('f'), rename('f', 'n'), complete('g'), complete('g'), complete('h', { projectId: 'ent/other' })],
      ...[complete('h'), complete('i', { displayName: 'n' }), complete('Zoë 🐾', { startedUs: 1_750_000_000_000_123 })],
    )
    expect(await idsOf(rows)).toEqual(['a', 'b', 'c', 'h', 'h', 'Zoë 🐾'])
    const { calls, isUnsure } = await rowsByCall(rows)
    expect(isUnsure).toBe(false)
    // the others are known too, as what comes later may be about them
    expect(calls.size).toBe(11)
    expect(calls.get(keyOfTexts('ent/proj', 'Zoë 🐾'))).toMatchObject({ startedUs: 1_750_000_000_000_123 })
    expect([...calls.keys()]).toContain(keyOfTexts('ent/proj', 'e'))
  })

  it('reads ids of any length', async () => {
    const long = 'x'.repeat(100_000)
    expect(await idsOf(written(complete(long), complete('a')))).toEqual([long, 'a'])
  })

  it('reads the row behind a record header', async () => {
    const [{ text }] = written(complete('a')) as unknown as [{ text: Buffer }]
    expect(await idsOf(rowsOf(`{"_record":"0001 1 0","${text.toString().slice(2)}`))).toEqual(['a'])
  })

  it('leaves ids with escapes to the merge, and says so of rows that it cannot read', async () => {
    const withEscapes = written(complete('a"b'), complete('a\\'), complete('a\n'), end('a"b'))
    expect(await rowsByCall(withEscapes)).toEqual({ calls: new Map(), rowCount: withEscapes.length, isUnsure: false })
    for (const text of ['{"n":1}', '{"project_id":"p","kind":"complete","id":"i","clock":1}', 'not JSON', ''])
      expect(await rowsByCall(rowsOf(text)), text).toEqual({ calls: new Map(), rowCount: 1, isUnsure: true })
  })
})

describe('fingerprints', () => {
  const keys = (from: number, upTo: number) =>
    Array.from({ length: upTo - from }, (_, n) => `p","id":"call-${from + n}`)

  it('hold whatever was added, and hardly anything else', () => {
    const known = createFingerprints()
    const added = keys(0, 700_000)
    expect(added.every((key) => known.add(fingerprintOf(key)))).toBe(true)
    expect(added.every((key) => known.has(fingerprintOf(key)))).toBe(true)
    const byMistake = keys(1_000_000, 1_200_000).filter((key) => known.has(fingerprintOf(key)))
    expect(byMistake.length).toBeLessThan(100)
  })

  it('say when there is no room', () => {
    const known = createFingerprints(2 ** 18)
    const taken = keys(0, 300_000).filter((key) => known.add(fingerprintOf(key)))
    expect(taken.length).toBeGreaterThan(190_000)
    expect(taken.length).toBeLessThan(200_000)
    expect(createFingerprints(0).add(fingerprintOf('a'))).toBe(false)
  })
})
