// The first bytes of a batch's rows, and fingerprints of calls: an unsure call is never taken for new.
import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import type { CallFragment } from '../../services/events/calls.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { textOfBytes } from '../../services/events/segment-rows.ts'
import { mayBeBilled } from '../../services/worker/calls/billed-rows.ts'
import { keyOfTexts, rowsByCall } from '../../services/worker/calls/call-rows.ts'
import { createFingerprints, fingerprintOf } from '../../services/worker/calls/fingerprints.ts'
import { keyOfTrace } from '../../services/worker/calls/spans.ts'
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
  [...(await rowsByCall(rows)).calls.values()].flatMap((one) => (one ? [textOfBytes(one.id)] : []))

describe('rows by call', () => {
  it('finds rows that begin a call of which the batch has no other', async () => {
    const rows = written(
      complete('a'),
      complete('b', { projectId: 'ent/other' }),
      start('c'),
      end('d'),
      rename('e', 'n'),
      complete('f'),
      rename('f', 'n'),
      complete('g'),
      complete('g'),
      complete('h', { projectId: 'ent/other' }),
      complete('h'),
      complete('i', { displayName: 'n' }),
      complete('Zoë 🐾', { startedUs: 1_750_000_000_000_123 }),
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

  it('finds when a call began however long what stands before it is', async () => {
    for (let length = 1; length < 600; length++) {
      const projectId = `ent/${'p'.repeat(length)}`
      const { calls } = await rowsByCall(written(complete('a', { projectId, startedUs: 1_750_000_000_000_123 })))
      expect(calls.get(keyOfTexts(projectId, 'a')), projectId).toMatchObject({ startedUs: 1_750_000_000_000_123 })
    }
  })

  const noSpans = { traces: new Map(), mixed: new Set(), others: new Map(), reporting: new Set() }

  it('leaves ids with escapes to the merge, and says so of rows that it cannot read', async () => {
    const withEscapes = written(complete('a"b'), complete('a\\'), complete('a\n'), end('a"b'))
    expect(await rowsByCall(withEscapes)).toEqual({
      calls: new Map(),
      rowCount: withEscapes.length,
      isUnsure: false,
      hasPayloads: true,
      mayBeBilled: false,
      spans: noSpans,
    })
    for (const text of ['{"n":1}', '{"project_id":"p","kind":"complete","id":"i","clock":1}', 'not JSON', ''])
      expect(await rowsByCall(rowsOf(text)), text).toEqual({
        calls: new Map(),
        rowCount: 1,
        isUnsure: true,
        hasPayloads: true,
        mayBeBilled: false,
        spans: noSpans,
      })
  })
})

describe('rows that have nothing to bill beside their counts', () => {
  const billed = async (...parts: CallFragment[]) => (await rowsByCall(written(...parts))).mayBeBilled
  const cached = '{"usage":{"m":{"cached_tokens":5}}}'
  const plain = '{"usage":{"m":{"input_tokens":5,"cached_tokens":0}}}'

  it('are told from others by their summaries', async () => {
    for (const summary of ['{}', plain, '{"status_counts":{"success":1}}', 'null'])
      expect(
        await billed(complete('a', { summary, inputs: cached, output: cached, attributes: cached })),
        summary,
      ).toBe(false)
    for (const summary of [
      cached,
      plain.replace('0', '-1'),
      plain.replace('0', '"7"'),
      plain.replace(':0', ' : 7'),
      '{"usage":{"m":{"cached_t\\u006fkens":5}}}',
      '{"reasoning_tokens":1}',
      '{"thoughts":1}',
    ])
      expect(await billed(complete('a', { summary: plain }), complete('b', { summary })), summary).toBe(true)
    expect(await billed(start('a'), end('b', { summary: cached }))).toBe(false)
  })

  it('are not looked for in long summaries, which would be parsed at once', async () => {
    const summary = JSON.stringify({ usage: { m: { input_tokens: 5, more: 'x'.repeat(300_000) } } })
    const parse = vi.spyOn(JSON, 'parse')
    expect(await billed(complete('a', { summary, otelDump: '{"a":1}' }))).toBe(true)
    expect(parse.mock.calls.filter(([text]) => text.length > 100_000)).toEqual([])
    parse.mockRestore()
  })

  it('names the traces of spans, and which projects have any with usage', async () => {
    const [trace, span, other] = ['ab'.repeat(16), 'cd'.repeat(8), 'ef'.repeat(8)]
    const usage = [{ model: 'm', requests: 1, input: 1, output: 1, total: 2, cacheRead: 0, cacheWrite: 0 }]
    const rows = written(
      complete(span, { projectId: 'a/spans', traceId: trace, parentId: other }),
      complete(span, { projectId: 'a/usage', traceId: trace, usage: [...usage, ...usage], otelDump: '{}' }),
      complete(other, { projectId: 'a/usage', traceId: trace, usage, summary: cached }),
      complete(span, { projectId: 'a/other', traceId: trace, parentId: 'no id of a span' }),
      complete('019b0000-0000-7000-8000-000000000000', { projectId: 'a/sdk', traceId: trace, usage }),
      { kind: 'delete', projectId: 'a/spans', id: other, clock: 1n } as CallFragment,
      end(other, { projectId: 'a/ends', usage }),
    )
    const { traces, mixed, others, reporting } = (await rowsByCall(rows)).spans
    const none = { parent: '', numbers: [], isSpan: false, endVer: '' }
    const told = [...traces.values()].map(({ key, project, spans, isPartial }) => {
      expect(key).toBe(keyOfTrace({ project, trace }))
      return {
        project,
        isPartial,
        spans: spans.map(({ startedUs, billed, stored, ...rest }) => ({ ...rest, billed: billed !== null })),
      }
    })
    expect(told).toEqual([
      { project: 'a/spans', isPartial: false, spans: [{ ...none, id: span, parent: other, billed: true }] },
      {
        project: 'a/usage',
        isPartial: false,
        spans: [
          {
            ...none,
            id: span,
            numbers: [2, 2, 2, 4, 0, 0],
            isSpan: true,
            endVer: expect.stringMatching(/^\d+$/),
            billed: true,
          },
          { ...none, id: other, numbers: [1, 1, 1, 2, 0, 0], endVer: expect.stringMatching(/^\d+$/), billed: false },
        ],
      },
      { project: 'a/other', isPartial: true, spans: [] },
    ])
    expect([...mixed]).toEqual([keyOfTrace({ project: 'a/sdk', trace })])
    expect([...others.values()]).toEqual([
      { project: 'a/spans', id: other },
      { project: 'a/ends', id: other },
    ])
    expect([...reporting]).toEqual(['a/usage', 'a/ends'])
  })

  it('are told beside raw spans, whatever these hold', async () => {
    const otelDump = `{"summary":1,"text":"\\n","usage":${cached}}`
    expect(await billed(complete('a', { summary: plain, otelDump }))).toBe(false)
    expect(await billed(complete('a', { summary: cached, otelDump }))).toBe(true)
    expect(await billed(complete('a', { summary: plain, otelDump: `{"n":1,"otel_dump":${cached}}` }))).toBe(false)
  })

  it('are never taken for such where a name of a column is the client’s', async () => {
    const nested = `{"n":1,"summary":{"k":1},"otel_dump":2,"usage":${cached}}`
    expect(await billed(complete('a', { summary: nested }))).toBe(true)
    expect(await billed(complete('a', { summary: `{"n":1,"otel_dump":2,"usage":${cached}}` }))).toBe(true)
    expect(await billed(complete('a', { summary: plain, inputs: '{"n":1,"summary":{}}' }))).toBe(true)
    expect(mayBeBilled(Buffer.from('{"kind":"complete"}'))).toBe(true)
  })

  it('are told by the condition of the column', () => {
    const migration = readFileSync(
      new URL('../../clickhouse/migrations/0045_billed_names.sql', import.meta.url),
      'utf8',
    )
    const pattern = /match\(summary, '(.*?)'\)/.exec(migration)?.[1] as string
    const source = readFileSync(new URL('../../services/worker/calls/billed-rows.ts', import.meta.url), 'utf8')
    expect(source).toContain(`/${pattern.replaceAll('\\\\', '\\')}/`)
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
    // With 16 bits it would be some 40.
    expect(byMistake.length).toBeLessThan(3)
  })

  it('say when there is no room', () => {
    const known = createFingerprints(2 ** 18)
    const taken = keys(0, 300_000).filter((key) => known.add(fingerprintOf(key)))
    expect(taken.length).toBeGreaterThan(190_000)
    expect(taken.length).toBeLessThan(200_000)
    expect(createFingerprints(0).add(fingerprintOf('a'))).toBe(false)
  })
})
