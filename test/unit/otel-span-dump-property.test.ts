// The raw span of a stored row is what was received, whichever attributes also became inputs, output and attributes.
// again: property
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createContent } from '../../services/content/extract.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { aRequest, aSpan, type Otel, protobuf, startOtel } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'
import { runs } from '../fixtures/runs.ts'
import { rawSpans } from '../fixtures/span-dump.ts'

let otel: Otel
beforeAll(async () => {
  otel = await startOtel()
})
afterAll(() => otel.stop())

const key = fc.constantFrom(
  'input.value',
  'output.value',
  'input',
  'output',
  'gen_ai.prompt',
  'gen_ai.prompt.0.content',
  'gen_ai.prompt.1.api_key',
  'gen_ai.completion',
  'gen_ai.completion.0.content',
  'gen_ai.input.messages',
  'outputs',
  'final_result',
  'ai.response',
  'ai.response.text',
  'weave.input.messages',
  'http.route',
  'secret.api_key',
)
const long = fc
  .string({ unit: 'grapheme', maxLength: 12 })
  .map((text) => `${text}${'long enough to be shared '.repeat(3)}${text}`)
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    long,
    fc.constantFrom(null, 1, true, 'x', 1.5),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('0', '1', 'a', 'api_key', 'content', '"'), tie('value'), { maxKeys: 3 }),
  ),
})).value
const json = fc
  .tuple(tree, fc.constantFrom(undefined, 1, '\t'))
  .map(([value, space]) => JSON.stringify(value, null, space))
const leaf = fc.oneof(
  fc.record({ stringValue: fc.oneof(long, json, json) }),
  fc.record({ doubleValue: fc.double({ noNaN: true }) }),
  fc.record({ arrayValue: fc.record({ values: fc.array(fc.record({ stringValue: long }), { maxLength: 3 }) }) }),
  fc.record({
    kvlistValue: fc.record({
      values: fc.array(
        fc.record({ key: fc.constantFrom('0', '1', 'k', 'api_key'), value: fc.record({ stringValue: long }) }),
        { maxLength: 3 },
      ),
    }),
  }),
)
const attributes = fc.uniqueArray(fc.record({ key, value: leaf }), { maxLength: 6, selector: (one) => one.key })

const check = async (server: Otel, own: object[], path: string): Promise<boolean> => {
  const body = Buffer.from(encodeRequest(aRequest([aSpan({ attributes: own })])))
  const answer = await server.post(body, protobuf, undefined, path)
  expect(answer.status).toBe(200)
  const [row] = server.newCalls()
  expect(row?.otel_dump).toBe(row && rawSpans(body).get(row.id as string))
  return row !== undefined
}

it('the stored span is read as it was received, whatever its attributes', async () => {
  let stored = 0
  await fc.assert(
    fc.asyncProperty(attributes, fc.constantFrom('/otel/v1/traces', '/agents/otel/v1/traces'), async (own, path) => {
      if (await check(otel, own, path)) stored++
    }),
    { numRuns: runs(600, 3000), endOnFailure: true },
  )
  expect(stored).toBeGreaterThan(200)
})

it('content that became a file stands as its ref in both places', async () => {
  const noBlobs = { upload: () => Promise.reject(new Error('unused')) } as never
  const server = await startOtel({
    content: (log) => createContent({ log, clock: createClock(), blobs: noBlobs }),
  })
  try {
    const png = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a'.repeat(900), 'hex').toString('base64')}`
    const body = encodeRequest(
      aRequest([aSpan({ attributes: [{ key: 'input.value', value: { stringValue: JSON.stringify([png, 'x']) } }] })]),
    )
    expect((await server.post(Buffer.from(body), protobuf)).status).toBe(200)
    const [row] = server.newCalls()
    const dump = JSON.parse(row?.otel_dump as string) as { attributes: { input: { value: string[] } } }
    expect(dump.attributes.input.value[0]).toMatch(/^weave:\/\/\/ent\/proj\/object\//)
    expect(row?.inputs).toEqual({ 'input.value': dump.attributes.input.value })
  } finally {
    await server.stop()
  }
})
