// Whatever JSON a client sends as payload is what is stored: the same bytes, or the same value where bytes must change.
// again: property
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { redact } from '../../services/content/redact.ts'
import { extractRefs } from '../../services/content/refs.ts'
import { needsLossless, parseLossless, stringifyLossless } from '../../services/core/json/lossless.ts'
import { callId, createCallsWrite, otherId } from '../fixtures/calls-write.ts'
import { jsonText, numberToken } from '../fixtures/json-text.ts'
import { runs } from '../fixtures/runs.ts'

/** A request body with the payloads of one finished call, in an envelope of any spelling. */
const envelope = (inputs: string, output: string, gap: string, order: boolean): string => {
  const head = `"project_id":"e/p","id":"${callId}","op_name":"o","started_at":"2026-01-01","trace_id":null`
  const start = `{"req":${gap}{"start":{${head},"attributes":{}${gap},"in\\u0070uts":${gap}{"v":${inputs}}${gap}}}}`
  const end = `{"mode":"end",${gap}"req":{"end":{"output":${output},"project_id":"e/p","id":"${callId}","ended_at":1767225600,"summary":{}}}}`
  const other = `{"req":{"end":{"id":"${otherId}","output":{"output":[${output}]},"project_id":"e/p","ended_at":1767225600,"summary":{}}}}`
  return `{"x":[${inputs}],"batch"${gap}:[${(order ? [start, other, end] : [end, start, other]).join(`${gap},`)}]${gap}}`
}

async function store(body: string | Buffer) {
  const edge = createCallsWrite()
  const { status } = await edge.post('/call/upsert_batch', body, { raw: true })
  const kinds = edge.rows().map(({ kind }) => kind)
  const at = kinds.indexOf('complete')
  return { status, kinds, row: edge.rows()[at], inputs: edge.stored(at, 'inputs'), output: edge.stored(at, 'output') }
}

/** The value with lone surrogates replaced. */
function withoutHalves(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutHalves)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), withoutHalves(member)]))
}

/** Number tokens of a JSON text, in order. */
const tokens = (json: string) => json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d[\d.eE+-]*/g) ?? []

test('texts without line breaks and half surrogates are stored byte by byte', async () => {
  await fc.assert(
    fc.asyncProperty(
      jsonText(),
      jsonText(),
      fc.constantFrom('', ' ', '\n\t'),
      fc.boolean(),
      async (inputs, output, gap, order) => {
        const stored = await store(envelope(inputs.text, output.text, gap, order))
        expect(stored.kinds.toSorted()).toEqual(['complete', 'end'])
        expect(stored.inputs).toBe(`{"v":${inputs.text}}`)
        expect(stored.output).toBe(output.text)
      },
    ),
    { numRuns: runs(300, 6000) },
  )
})

test('any text keeps its value and its number tokens, and holds no line break', async () => {
  const samples = jsonText({ halves: true, lines: true })
  await fc.assert(
    fc.asyncProperty(samples, samples, fc.boolean(), async (inputs, output, order) => {
      const stored = await store(envelope(inputs.text, output.text, '', order))
      expect(stored.output).not.toMatch(/[\n\r]/)
      expect(JSON.parse(stored.output as string)).toEqual(withoutHalves(JSON.parse(output.text)))
      expect(JSON.parse(stored.inputs as string)).toEqual({ v: withoutHalves(JSON.parse(inputs.text)) })
      expect(tokens(stored.output as string)).toEqual(tokens(output.text))
      if (/\\ud[89a-f]/i.test(output.text.replaceAll(/\\ud83d\\ude00/gi, ''))) return
      expect([output.text, output.tight]).toContain(stored.output)
    }),
    { numRuns: runs(300, 6000) },
  )
})

test('refs are those that a walk over the value finds', async () => {
  await fc.assert(
    fc.asyncProperty(jsonText({ lines: true }), async (sample) => {
      const { row } = await store(envelope(sample.text, sample.text, '', true))
      // The walk sees the last of repeated keys only, the edge all of them.
      const found = extractRefs(JSON.parse(sample.text))
      expect((row?.output_refs ?? []) as string[]).toEqual(expect.arrayContaining(found))
      if (found.length === 0 && !sample.text.includes('weave:')) expect(row?.output_refs).toBeUndefined()
    }),
    { numRuns: runs(200, 4000) },
  )
})

test('credentials are hidden wherever they are, like in the value, and nothing else changes', async () => {
  const key = fc.constantFrom(
    'api_key',
    'Api-Key',
    'x_secret_key_',
    'authorization',
    'key',
    'token',
    'apikeys',
    'a\\u0070iKey',
  )
  const nest = fc.constantFrom('', '[', '{"a":', '{"api_key":')
  await fc.assert(
    fc.asyncProperty(
      key,
      nest,
      jsonText({ depth: 2 }),
      fc.constantFrom('', ' ', '\t'),
      async (name, open, sample, gap) => {
        const close = open === '' ? '' : open === '[' ? ']' : '}'
        const text = `{"${name}"${gap}:${gap}${open}${sample.text}${close},"n":1.0}`
        const { inputs, output } = await store(envelope(text, text, '', true))
        expect(JSON.parse(inputs as string)).toEqual({ v: redact(JSON.parse(text)) })
        expect(inputs).toMatch(/"n":1\.0\}\}$/)
        expect(output).toBe(text)
      },
    ),
    { numRuns: runs(300, 6000) },
  )
})

test('a byte order mark does not shift anything', async () => {
  await fc.assert(
    fc.asyncProperty(jsonText(), async (sample) => {
      const stored = await store(Buffer.from(`\ufeff ${envelope(sample.text, sample.text, ' ', true)}`))
      expect([stored.inputs, stored.output]).toEqual([`{"v":${sample.text}}`, sample.text])
    }),
    { numRuns: runs(50, 1000) },
  )
})

test('lossless parsing gives numbers back as they were written', () => {
  fc.assert(
    fc.property(jsonText(), ({ text, tight }) => {
      const value = parseLossless(text)
      expect(JSON.parse(stringifyLossless(value))).toEqual(JSON.parse(text))
      const keysRepeat = JSON.stringify(JSON.parse(tight)).match(/[{,]"/g)?.length !== tight.match(/[{,]"/g)?.length
      if (!keysRepeat && !tight.includes('"1"')) expect(tokens(stringifyLossless(value))).toEqual(tokens(tight))
    }),
    { numRuns: runs(500, 10_000) },
  )
  fc.assert(
    fc.property(numberToken, (token) => {
      expect(stringifyLossless(parseLossless(`[${token}]`))).toBe(`[${token}]`)
      if (!needsLossless(`{"a":${token}}`)) expect(String(JSON.parse(token))).toBe(token)
    }),
    { numRuns: runs(2000, 40_000) },
  )
})
