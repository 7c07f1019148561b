// The rows that the edge writes are what the engine reads: one record of every kind of part, loaded as the worker does.
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Store } from '../../services/core/store/store.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { topics } from '../../services/events/registry.ts'
import { aCall, anEnd, aStart, callId, createCallsWrite, endItem, otherId, startItem } from '../fixtures/calls-write.ts'
import { createTestStore } from '../fixtures/store.ts'

let opened: Awaited<ReturnType<typeof createTestStore>>
let store: Store
beforeAll(async () => {
  opened = await createTestStore()
  store = opened.store
})
afterAll(() => opened.remove())

const rows = <T>(sql: string) => store.rows<T>({ name: 'test', sql, params: {} })

test('the engine loads a segment with every kind of row and leaves payload texts unchanged', async () => {
  const edge = createCallsWrite()
  const odd = '{"n":[1.0,123456789012345678901234567890,1e400],"s":"\\u00e9\\n\\"","":{"a.b":[]},"a":1,"a":2}'
  const body = `{"batch":[${JSON.stringify(aCall({ id: callId })).replace('"inputs":{}', `"inputs":${odd},"output":"a\\u0000\\"b"`)}]}`
  await edge.post('/v2/e/p/calls/complete', body, { raw: true })
  await edge.post('/call/start', {
    start: aStart({
      id: otherId,
      platform_run_step: 5,
      platform_run_id: 'e/p/r',
      inputs: { r: 'weave:///e/p/op/f:v' },
    }),
  })
  await edge.post('/call/end', {
    end: anEnd({
      id: otherId,
      exception: 'x\ny',
      summary: { usage: { 'm"1': { requests: 2 } }, status_counts: { error: 3 } },
    }),
  })
  await edge.post('/call/update', { project_id: 'e/p', call_id: otherId, display_name: '' })
  await edge.post('/call/upsert_batch', {
    batch: [startItem({ id: 'span-"id"-€12345' }), endItem({ id: 'span-"id"-€12345', output: [] })],
  })
  const writer = createCallWriter()
  writer.add({ kind: 'delete', projectId: 'e/p', id: otherId, clock: 2n ** 63n + 1n })
  const lines = edge.log.lines('calls').map((line) => `${line}\n`)
  const file = join(tmpdir(), `callhouse-rows-${process.pid}.jsonl`)
  const text = [...lines, ...writer.take().map((record) => record.rows.toString())].map((line) =>
    line.replace('{', '{"_record":"",'),
  )
  await writeFile(file, text.join(''))
  try {
    expect(await store.insert(topics.calls, { file })).toEqual({ rowsRead: 6 })
  } finally {
    await rm(file)
  }

  const light = 'id, started_at, ended_at, start_bytes, end_bytes, user_id, run_step'
  expect(await rows(`SELECT ${light} FROM callhouse.calls FINAL ORDER BY id`)).toMatchObject([
    { id: callId, start_bytes: String(2 + Buffer.byteLength(odd)), end_bytes: '14', user_id: 'ada', run_step: '-1' },
    { id: 'span-"id"-€12345', end_bytes: '4' },
  ])
  const payloads = await rows<Record<string, unknown>>(
    'SELECT id, part, odd, attributes, inputs, output, summary FROM callhouse.payloads FINAL ORDER BY id, part',
  )
  expect(payloads).toEqual([
    { id: callId, part: 'both', odd: 1, attributes: '{}', inputs: odd, output: '"a\\u0000\\"b"', summary: '{}' },
    {
      id: otherId,
      part: 'start',
      odd: 0,
      attributes: '{}',
      inputs: '{"r":"weave:///e/p/op/f:v"}',
      output: '',
      summary: '',
    },
    {
      id: otherId,
      part: 'end',
      odd: 0,
      attributes: '',
      inputs: '',
      output: 'null',
      summary: '{"usage":{"m\\"1":{"requests":2}},"status_counts":{"error":3}}',
    },
    { id: 'span-"id"-€12345', part: 'both', odd: 0, attributes: '{}', inputs: '{}', output: '[]', summary: '{}' },
  ])
  const patches = await rows(
    `SELECT kind, toString(clock) AS clock, input_refs, usage_model, usage_requests, error_count, run_id, run_step, exception
     FROM callhouse.call_patches FINAL WHERE id = '${otherId}' ORDER BY kind`,
  )
  expect(patches).toMatchObject([
    { kind: 'start', input_refs: ['weave:///e/p/op/f:v'], run_id: 'e/p/r', run_step: '5' },
    { kind: 'end', usage_model: ['m"1'], usage_requests: ['2'], error_count: 3, exception: 'x\ny' },
    { kind: 'name' },
    { kind: 'delete', clock: String(2n ** 63n + 1n) },
  ])
})
