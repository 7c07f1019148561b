// The published vectors: one span each, in both encodings, with the call that it becomes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { opObjectId } from '../../services/ingest/otel/names.ts'
import { isoMicros } from '../../services/ingest/otel/times.ts'
import { aRequest, type Otel, payload, protobuf, type Row, startOtel, text } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'

type Expected = {
  rejected?: boolean
  /** It has no end: its start alone is stored. */
  running?: boolean
  op_name_before_ref?: string
  parent_id?: string
  started_at?: string
  ended_at?: string
  attributes?: unknown
  inputs?: unknown
  output?: unknown
  usage?: unknown
  exception?: string
  thread_id?: string
  turn_id?: string
  display_name?: string
  display_name_length?: number
  display_name_tail?: string
  run_id?: string
  run_step?: number
  run_step_end?: number
}
type Vector = { name: string; span: object; expect: Expected; expect_otel_dump?: unknown }

const file = join(import.meta.dirname, '../golden/otel/vectors.json')
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }

const resource = [text('service.name', 'svc'), text('deployment.environment', 'prod')]

function check(row: Row, expected: Expected): void {
  if (expected.started_at !== undefined) {
    expect(`${isoMicros(Number(row.started_us))}Z`).toBe(expected.started_at)
    expect(`${isoMicros(Number(row.ended_us))}Z`).toBe(expected.ended_at)
  }
  if (expected.op_name_before_ref !== undefined) {
    const id = opObjectId(expected.op_name_before_ref)
    expect(row.op_name).toMatch(/^weave:\/\/\/ent\/proj\/op\/[^:]+:[A-Za-z0-9]{43}$/)
    expect(String(row.op_name).split('/op/')[1]?.split(':')[0]).toBe(id)
  }
  expect(payload(row, 'attributes')).toEqual(expected.attributes)
  expect(payload(row, 'inputs')).toEqual(expected.inputs)
  expect(row.kind).toBe(expected.running ? 'start' : 'complete')
  if (!expected.running) {
    expect(payload(row, 'output')).toEqual(expected.output)
    expect(payload(row, 'summary')).toEqual({ usage: expected.usage })
  }
  for (const key of ['parent_id', 'exception', 'thread_id', 'turn_id', 'run_id', 'run_step', 'run_step_end'] as const)
    expect({ [key]: row[key] }).toEqual({ [key]: expected[key] })
  if (expected.display_name_length !== undefined) {
    expect(row.display_name).toHaveLength(expected.display_name_length)
    expect(String(row.display_name).endsWith(String(expected.display_name_tail))).toBe(true)
  } else expect(row.display_name).toBe(expected.display_name)
}

let otel: Otel
beforeAll(async () => {
  otel = await startOtel()
})
afterAll(() => otel.stop())

describe.each(['json', 'protobuf'] as const)('vectors as %s', (encoding) => {
  it.each(vectors)('$name', async ({ span, expect: expected, expect_otel_dump: dump }) => {
    const request = aRequest([span], resource)
    const answer =
      encoding === 'json' ? await otel.postJson(request) : await otel.post(encodeRequest(request), protobuf)
    expect(answer.status).toBe(200)
    const rows = otel.newCalls()
    if (expected.rejected) {
      expect(rows).toEqual([])
      expect(answer.text).toContain('span_id b7ad6b7169203331')
      return
    }
    expect(rows).toHaveLength(1)
    const row = rows[0] as Row
    check(row, expected)
    if (dump !== undefined) expect(payload(row, 'otel_dump')).toEqual(dump)
  })
})
