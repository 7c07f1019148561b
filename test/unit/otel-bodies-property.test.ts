// Whatever is sent as an OTLP body is answered with 200, 400 or 413, and what was stored are whole rows.
// again: property
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aRequest, aSpan, type Otel, protobuf, startOtel } from '../fixtures/otel.ts'
import { runs } from '../fixtures/runs.ts'

const golden = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../golden/otel', name))
const bodies = ['openinference-openai.bin', 'pydantic-ai.bin', 'vercel-ai.bin', 'opentelemetry-js-json.json'].map(
  golden,
)

let otel: Otel
beforeAll(async () => {
  otel = await startOtel()
})
afterAll(() => otel.stop())

async function accepts(body: Buffer, type: string): Promise<void> {
  const answer = await otel.post(body, type)
  expect([200, 400, 413]).toContain(answer.status)
  if (type === 'application/json') expect(() => JSON.parse(answer.text)).not.toThrow()
  for (const row of otel.newCalls()) {
    expect(['complete', 'start']).toContain(row.kind)
    expect(row).toMatchObject({ project_id: 'ent/proj', id: expect.stringMatching(/^[0-9a-f]{16}$/) })
    for (const name of ['attributes', 'inputs', 'output', 'summary', 'otel_dump']) {
      const value = row[name]
      if (typeof value === 'string') expect(() => JSON.parse(value)).not.toThrow()
    }
  }
}

const damage = fc.array(fc.record({ at: fc.nat(), byte: fc.nat(255), cut: fc.nat(3) }), { minLength: 1, maxLength: 4 })
function damaged(body: Buffer, changes: { at: number; byte: number; cut: number }[]): Buffer {
  let result = body
  for (const { at, byte, cut } of changes) {
    const i = at % result.length
    result = Buffer.concat([result.subarray(0, i), Buffer.from([byte]), result.subarray(i + cut)])
  }
  return result
}

const keys = fc.oneof(
  fc.constantFrom(
    'resourceSpans',
    'scopeSpans',
    'spans',
    'resource',
    'scope',
    'attributes',
    'events',
    'links',
    'status',
    'key',
    'value',
    'stringValue',
    'intValue',
    'doubleValue',
    'arrayValue',
    'kvlistValue',
    'values',
    'name',
    'traceId',
    'code',
  ),
  fc.string({ maxLength: 5 }),
)
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(null, true, 0, -1, 1.5, '', 'x', '12', '{"a":1}', '[', 1e300),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
  ),
})).value

/** Attribute lists that are decoded, with keys and texts that meet in the tree. */
const key = fc
  .array(
    fc.constantFrom('a', 'b', '0', '1', 'input', 'value', '', 'api_key', '__proto__', 'gen_ai', 'usage', 'request'),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join('.'))
const leaf = fc.oneof(
  fc.record({
    stringValue: fc.oneof(
      fc.string(),
      fc.json({ maxDepth: 3 }),
      fc.constantFrom('{"0":1,"1":[]}', '[1e400]', '{"a":\n1}'),
    ),
  }),
  fc.record({ intValue: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) }),
  fc.record({ boolValue: fc.boolean() }),
)
const attributes = fc.array(fc.record({ key, value: leaf }), { maxLength: 8 })

describe('bodies', () => {
  it('of damaged captures are answered 200, 400 or 413', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...bodies), damage, async (body, changes) => {
        await accepts(damaged(body, changes), body[0] === 0x7b ? 'application/json' : protobuf)
      }),
      { numRuns: runs(400, 2000), endOnFailure: true },
    )
  })

  it('of random bytes are answered 200, 400 or 413', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), fc.boolean(), async (noise, isJson) => {
        await accepts(Buffer.from(noise), isJson ? 'application/json' : protobuf)
      }),
      { numRuns: runs(200, 1000), endOnFailure: true },
    )
  })

  it('of random JSON are answered 200, 400 or 413', async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, async (body) => {
        await accepts(Buffer.from(JSON.stringify({ resourceSpans: body })), 'application/json')
        await accepts(Buffer.from(JSON.stringify(aRequest([body]))), 'application/json')
      }),
      { numRuns: runs(200, 1000), endOnFailure: true },
    )
  })

  it('whose attributes collide in the tree are answered 200, 400 or 413', async () => {
    await fc.assert(
      fc.asyncProperty(attributes, attributes, async (own, inEvent) => {
        const span = aSpan({ attributes: own, events: [{ name: 'gen_ai.user.message', attributes: inEvent }] })
        const answer = await otel.postJson(aRequest([span], inEvent))
        expect(answer.status).toBe(200)
        const rows = otel.newCalls()
        expect(rows).toHaveLength(answer.text === '{}' ? 1 : 0)
      }),
      { numRuns: runs(400, 2000), endOnFailure: true },
    )
  })
})
