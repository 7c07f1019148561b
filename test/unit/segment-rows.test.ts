// Rows of a segment, told apart by their bytes.
import { expect, it } from 'vitest'
import { encodeHead } from '../../services/core/log/record.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { isPatch, segmentRows } from '../../services/worker/split/segment-rows.ts'

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
