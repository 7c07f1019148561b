// Results of evaluations from answers and failures: results, tries, and summaries whose denominators are all rows.
import { describe, expect, it } from 'vitest'
import { Fault } from '../../services/core/http/errors.ts'
import { rawNumber } from '../../services/core/json/lossless.ts'
import { createPredict } from '../../services/evaluation/evaluate-model/predict.ts'
import { evaluationSummary, type RowFailures, summaryOf } from '../../services/evaluation/evaluate-model/summary.ts'

/** Predicts with answers that are given one after the other; tells what is waited between them. */
async function predicted(answers: readonly (object | Fault)[], isJson = false) {
  const pauses: number[] = []
  let at = 0
  const answer = async () => {
    const next = answers[Math.min(at++, answers.length - 1)]
    if (next instanceof Fault) throw next
    return { bytes: Buffer.from(JSON.stringify(next)) }
  }
  const predict = createPredict({ answer } as never, async (ms) => void pauses.push(ms))
  const model = { modelId: 'm', params: isJson ? { response_format: 'json_object' } : {} }
  const as = { signal: new AbortController().signal } as never
  const place = { projectId: 'e/p', traceId: 't', parentId: 'c', as }
  const result = await predict(model, { userInput: 'x', config: {}, variables: {} }, place).catch(
    (error: unknown) => error,
  )
  return { result, pauses, asked: at }
}

const saying = (content: unknown, more: object = {}) => ({ choices: [{ message: { content }, ...more }] })
const refused = (status: 400 | 429 | 503, retryAfter?: string, code = 'c') =>
  new Fault(
    status,
    { error: { code }, reason: `refused ${status}` },
    retryAfter === undefined ? {} : { 'Retry-After': retryAfter },
  )

describe('a result', () => {
  it.each<[string, unknown]>([
    ['{"ok": true}', { ok: true }],
    ['```json\n{"ok": true}\n```', { ok: true }],
    ['```\n{"ok": true}\n```', { ok: true }],
    ['```JSON\r\n{"ok": true}\r\n```', { ok: true }],
    ['~~~json\n[1]\n~~~', [1]],
    ['Here it is:\n\n```json\n{"ok": "```"}\n```', { ok: '```' }],
    ['Here it is:\n\n```json\n{"ok": 1}\n```\nAs you asked.', { ok: 1 }],
    ['```python\nx = 1\n```\n```json\n{"ok": 2}\n```', { ok: 2 }],
    ['```json\n{"ok": 3}', { ok: 3 }],
    ['```{"ok": 4}```', { ok: 4 }],
    ['```true```', true],
    ['```json\n4\n```', 4],
    ['"```json 5```"', '```json 5```'],
    ['no JSON', expect.any(Error)],
    ['```json\nno JSON\n```', expect.any(Error)],
    ['', expect.any(Error)],
  ])('that is JSON: %j', async (content, expected) => {
    expect((await predicted([saying(content)], true)).result).toEqual(expected)
  })

  it.each<[object, unknown]>([
    [
      saying([
        { type: 'thinking', thinking: [] },
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
      'ab',
    ],
    [saying('part', { finish_reason: 'error' }), new Error('The provider ended the answer with an error')],
    [saying('part', { error: { message: 'Died' } }), new Error('Died')],
    [{ ...saying('part'), error: { message: 'Broke' } }, new Error('Broke')],
    [saying(null), new Error('The completion has no content')],
    [saying([{ type: 'image' }]), new Error('The completion has no content')],
  ])('of %j', async (answer, expected) => {
    expect((await predicted([answer])).result).toEqual(expected)
  })
})

describe('a request', () => {
  it('that is refused for a while is sent again when the provider says', async () => {
    const later = refused(429, '7')
    expect(await predicted([later, refused(503, '1'), saying('fine')])).toEqual({
      result: 'fine',
      pauses: [7_000, 1_000],
      asked: 3,
    })
  })

  it('waits longer and longer, and gives up', async () => {
    const { result, pauses, asked } = await predicted([refused(429, '1')])
    expect(result).toMatchObject({ status: 429, message: 'refused 429' })
    expect([asked, pauses]).toEqual([8, [1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000]])
    expect((await predicted([refused(429, '0')])).asked).toBe(8)
  })

  it('waits for a date', async () => {
    const inTen = new Date(Date.now() + 100_000).toUTCString()
    const { result, pauses } = await predicted([refused(429, inTen), saying('fine')])
    expect([result, pauses.length]).toEqual(['fine', 1])
    expect(pauses[0]).toBeGreaterThan(1_000)
  })

  it.each<[Fault]>([
    [refused(400)],
    [refused(503)],
    [refused(429, '3600')],
    [refused(429, '1', 'insufficient_quota')],
    [refused(429, 'soon')],
  ])('that has no better prospect is not: %j', async (fault) => {
    expect(await predicted([fault, saying('late')])).toEqual({ result: fault, pauses: [], asked: 1 })
  })

  it('waits for a place of its own project as often as it takes', async () => {
    const full = refused(429, '1', 'concurrency_limit')
    const { result, asked } = await predicted([...Array.from({ length: 20 }, () => full), saying('fine')])
    expect([result, asked]).toEqual(['fine', 21])
  })
})

describe('a summary', () => {
  it.each<[unknown[], number, unknown]>([
    [[true, false, null, true, true], 0, { true_count: 3, true_fraction: 0.75 }],
    [[true, undefined], 1, { true_count: 1, true_fraction: 0.5 }],
    [[null, 1, 2, 'x'], 0, { mean: 1.5 }],
    [[undefined, 1, 2], 1, { mean: 1 }],
    [[rawNumber('1.0'), 2], 0, { mean: 1.5 }],
    [['a', 1], 0, undefined],
    [[null, undefined], 2, undefined],
    [[[1], [2]], 0, undefined],
    [[{ b: 1 }, { a: { c: true } }, null, 5], 0, { b: { mean: 1 }, a: { c: { true_count: 1, true_fraction: 1 } } }],
    [[{ b: 1, a: { c: true } }, undefined], 1, { b: { mean: 0.5 }, a: { c: { true_count: 1, true_fraction: 0.5 } } }],
    [[{ only: 'texts' }], 0, undefined],
  ])('of %j with %i failed is %j', (values, failed, expected) => {
    expect(summaryOf(values, failed)).toEqual(expected)
  })

  const row = (scores: Record<string, unknown>, failures: RowFailures = {}, output: unknown = 'x') => ({
    output,
    scores,
    latency: 1,
    failures,
  })
  const noPrediction = row({}, { prediction: 'refused' }, null)

  it.each<[string, unknown[], unknown]>([
    ['truth values', [true, true], { true_count: 2, true_fraction: 2 / 3 }],
    ['numbers', [4, 2], { mean: 2 }],
    ['objects', [{ ok: true }, { ok: false }], { ok: { true_count: 1, true_fraction: 1 / 3 } }],
  ])('counts failed rows in %s, wherever they stand', (_, [one, two], quality) => {
    const good = [row({ quality: one }), row({ quality: two })]
    for (const results of [
      [noPrediction, ...good],
      [...good, noPrediction],
    ])
      expect(evaluationSummary(results, ['quality'])).toEqual({
        failures: { rows: 1, of: 3, predictions: 1, scores: {} },
        quality,
        model_latency: { mean: 1 },
      })
    const unjudged = row({}, { scores: { quality: 'judge broke' } })
    expect(evaluationSummary([unjudged, ...good], ['quality'])).toEqual({
      failures: { rows: 1, of: 3, predictions: 0, scores: { quality: 1 } },
      quality,
      model_latency: { mean: 1 },
    })
  })

  it('counts a failed judge for its own scores alone', () => {
    const results = [row({ a: 1, b: 1 }), row({ b: 1 }, { scores: { a: 'judge broke' } })]
    expect(evaluationSummary(results, ['a', 'b'])).toMatchObject({ a: { mean: 0.5 }, b: { mean: 1 } })
  })

  it('says nothing of failures when there are none, nor of rows that gave nothing', () => {
    expect(evaluationSummary([row({ s: { n: 2 } }, {}, 1), row({}, {}, 3)], ['s', 'none'])).toEqual({
      s: { n: { mean: 2 } },
      output: { mean: 2 },
      model_latency: { mean: 1 },
    })
    expect(evaluationSummary([], ['s'])).toEqual({})
  })
})
