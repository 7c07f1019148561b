// Rows of a segment, told apart by their bytes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Batch } from '../../services/core/log/log.ts'
import { encodeHead } from '../../services/core/log/record.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { isPatch, segmentRows, withSourceRows } from '../../services/events/segment-rows.ts'

const start = {
  startedUs: 1,
  traceId: 't',
  parentId: '',
  threadId: '',
  turnId: '',
  opName: 'op',
  displayName: null,
  userId: '',
  runId: '',
  runStep: null,
  inputRefs: [],
  attributes: '{}',
  otelDump: '',
}
const end = {
  endedUs: 2,
  exception: '',
  runStepEnd: null,
  outputRefs: [],
  errorCount: 0,
  usage: [],
  output: '{"kind":"complete"}',
  summary: '{}',
}
const inputs = '{"kind":"complete"}'

it('a start whose inputs read like the head of a whole call is a patch, with and without the record header', async () => {
  const writer = createCallWriter()
  for (const n of [0, 1]) {
    const call = { projectId: 'e/p', id: `${n}`, clock: 5n }
    writer.add({ kind: 'start', odd: false, ...call, ...start, inputs })
    writer.add({ kind: 'complete', odd: false, ...call, ...start, inputs, ...end })
    writer.add({ kind: 'end', odd: false, ...call, payloadUs: 2, ...end })
  }
  const [{ rows, rowCount, patchCount, clock } = expect.fail('no record')] = writer.take()
  const header = { offset: 3, version: 1, rowCount, patchCount, clock, highClock: clock, appendedMs: 9, groupIndex: 0 }
  const bytes = [Buffer.concat([encodeHead(header, rows), rows.subarray(1)])]
  const records = [{ offset: 3, version: 1, sizeBytes: 0, rowCount, patchCount, clock }]
  const batch = { topic: 'calls', partition: 0, firstOffset: 3, lastOffset: 3, rowCount, patchCount } as const
  const found = await segmentRows({ ...batch, records, source: { bytes } } as never)
  expect(found.map(isPatch)).toEqual([true, false, true, true, false, true])
})

const batchOf = (source: Batch['source'], rowCount: number): Batch => {
  const record = { offset: 1, version: 1, rowCount, patchCount: 0, clock: 0n, sizeBytes: 0 }
  const range = { topic: 'calls', partition: 0, firstOffset: 1, lastOffset: 1 }
  return { ...range, records: [record], rowCount, patchCount: 0, source, oldestMs: 0 }
}

/** Resolves for all once so many have come. */
const meetingOf = (count: number): (() => Promise<void>) => {
  const all = Promise.withResolvers<void>()
  return () => {
    if (--count === 0) all.resolve()
    return all.promise
  }
}

it('rows of sources of any size are read into memory that is used again, one batch beside another', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-rows-'))
  try {
    const sizes = [[1], [40], [3_000], [7_000, 2_180], [9_000, 2_180]] as const
    const batches = sizes.map(([count, longer = 0], n) => {
      const texts = Array.from({ length: count }, (_, i) => `{"n":${n},"row":${i},"text":"${'x'.repeat(longer)}"}`)
      const bytes = Buffer.from(`${texts.join('\n')}\n`)
      const file = join(dir, `${n}`)
      writeFileSync(file, bytes)
      return { texts, sources: [{ file }, { bytes: [bytes.subarray(0, 7), bytes.subarray(7)] }] as Batch['source'][] }
    })
    const buffers = new Map<ArrayBufferLike, number>()
    const read = (source: Batch['source'], texts: string[], bothHaveRead: () => Promise<void>) =>
      withSourceRows(batchOf(source, texts.length), async (rows) => {
        const found = [...rows]
        await bothHaveRead()
        const [{ text } = expect.fail('no row')] = found
        buffers.set(text.buffer, (buffers.get(text.buffer) ?? 0) + 1)
        return found.map((row) => row.text.toString())
      })
    for (let round = 0; round < 3; round++)
      for (const { texts, sources } of batches) {
        const bothHaveRead = meetingOf(sources.length)
        const found = await Promise.all(sources.map((source) => read(source, texts, bothHaveRead)))
        for (const one of found) expect(one.join()).toBe(texts.join())
      }
    // Two at a time need two of a size; those of a few bytes and of more than 16 MiB are their own.
    const reused = [...buffers].filter(([, times]) => times > 1).map(([{ byteLength }]) => byteLength)
    expect(reused.toSorted((a, b) => a - b)).toEqual([131_072, 131_072, 16_777_216, 16_777_216])
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
