// tier: deep property
// A hundred thousand spans that are wrong in everything but their ids: none is lost, nor one beside it.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { spanFields, spanMembers, wireField } from '../fixtures/hostile-spans.ts'
import { json } from '../fixtures/http-server.ts'
import { type Otel, payload, protobuf, startOtel } from '../fixtures/otel.ts'
import { TraceResponse } from '../fixtures/otlp-proto.ts'

const [batches, spansOfBatch] = [1_000, 50]
const traceId = '0af7651916cd43dd8448eb211c80319c'
const idOf = (n: number): string => (n + 1).toString(16).padStart(16, '0')

let otel: Otel
beforeAll(async () => {
  otel = await startOtel()
})
afterAll(() => otel.stop())

const shown = `The seed of these spans is ${Date.now() & 0x7fffffff}`
const seed = Number(shown.split(' ').at(-1))

let sent = 0
/** The data in memory slows a server down. */
async function renewed(): Promise<void> {
  if (++sent % 50 > 0) return
  await otel.stop()
  otel = await startOtel()
}

/** Every span of the request is stored, in texts that are JSON, and none was refused. */
function expectAll(told: { rejectedSpans?: string | number } | undefined, count: number): void {
  expect(Number(told?.rejectedSpans ?? 0)).toBe(0)
  const rows = otel.newCalls()
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, n) => idOf(n)))
  for (const row of rows) {
    expect(['complete', 'start']).toContain(row.kind)
    for (const column of ['attributes', 'inputs', 'output', 'summary', 'otel_dump'])
      if (row[column] !== undefined) expect(() => payload(row, column)).not.toThrow()
    expect(row.started_us).toBeGreaterThan(Date.UTC(2000) * 1_000)
  }
}

const options = { numRuns: batches, seed, endOnFailure: true } as const

it('in JSON', { timeout: 1_200_000 }, async () => {
  console.log(shown)
  await fc.assert(
    fc.asyncProperty(fc.array(spanMembers, { minLength: spansOfBatch, maxLength: spansOfBatch }), async (spans) => {
      const texts = spans.map(
        (members, n) => `{${[...members, `"traceId":"${traceId}"`, `"spanId":"${idOf(n)}"`].join(',')}}`,
      )
      const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[${texts.join(',')}]}]}]}`
      const answer = await otel.post(Buffer.from(body), 'application/json')
      expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, ''])
      expectAll((json(answer) as { partialSuccess?: { rejectedSpans: string } }).partialSuccess, spans.length)
      await renewed()
    }),
    options,
  )
})

it('in protobuf', { timeout: 1_200_000 }, async () => {
  console.log(shown)
  await fc.assert(
    fc.asyncProperty(fc.array(spanFields, { minLength: spansOfBatch, maxLength: spansOfBatch }), async (spans) => {
      const ids = (n: number) => [wireField(1, Buffer.from(traceId, 'hex')), wireField(2, Buffer.from(idOf(n), 'hex'))]
      const messages = spans.map((fields, n) => wireField(2, Buffer.concat([fields, ...ids(n)])))
      const answer = await otel.post(wireField(1, wireField(2, Buffer.concat(messages))), protobuf)
      expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, ''])
      const { partialSuccess } = TraceResponse.toObject(TraceResponse.decode(answer.bytes), { longs: Number })
      expectAll(partialSuccess, spans.length)
      await renewed()
    }),
    options,
  )
})

it('with ten megabytes in one attribute', async () => {
  const large = { key: 'k', value: { stringValue: 'é'.repeat(5_000_000) } }
  const spans = [
    { traceId, spanId: idOf(0), attributes: [large] },
    { traceId, spanId: idOf(1), name: 'beside' },
  ]
  const answer = await otel.postJson({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
  expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, ''])
  expectAll((json(answer) as { partialSuccess?: object }).partialSuccess, spans.length)
})
