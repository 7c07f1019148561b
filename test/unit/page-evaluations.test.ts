// The page's engines of evaluations: rows of runs, distributions, and comparisons with what gets worse first.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changeOf, compare, type MetricHead, rowsText, tQuantile } from '../../services/web/page/engine/comparison.ts'
import {
  distributionOf,
  exampleTexts,
  type RunRow,
  refLabel,
  runHeadOf,
  runRowOf,
} from '../../services/web/page/engine/evaluation-rows.ts'
import { runs } from '../fixtures/runs.ts'

const record = (output: unknown, example: unknown = { question: 'q', expected: 'e' }, more: object = {}) => ({
  id: 'c',
  trace_id: 't',
  op_name: 'Evaluation.predict_and_score',
  summary: {},
  exception: null,
  started_at: '2026-01-05T12:00:00.000000Z',
  ended_at: '2026-01-05T12:00:01.000000Z',
  inputs: { example },
  output,
  ...more,
})
const row = (key: string, scores: Record<string, number | boolean>, more: Partial<RunRow> = {}): RunRow => ({
  id: key,
  traceId: 't',
  key,
  exampleRef: null,
  input: key,
  expected: '',
  output: key,
  reasons: [],
  scores: new Map(Object.entries(scores)),
  latencyMs: 1,
  error: null,
  runs: false,
  ...more,
})

describe('a row of a run', () => {
  it('has scores by path, reasons beside them, and what was asked and expected', () => {
    const scores = { correct: true, judge: { value: 0.5, reason: 'so so', deep: { er: 2 } }, nothing: null }
    const found = runRowOf(record({ output: { text: 'x' }, scores, model_latency: 0.25 }))
    expect([...found.scores]).toEqual([
      ['correct', true],
      ['judge.value', 0.5],
      ['judge.deep.er', 2],
    ])
    expect(found.reasons).toEqual([['judge.reason', 'so so']])
    expect(found).toMatchObject({ input: 'q', expected: 'e', output: '{"text":"x"}', latencyMs: 250, error: null })
  })

  it('is matched by the digest of its dataset row, else by the example whatever the order of its keys', () => {
    const ref = 'weave:///a/b/object/set:digest/attr/rows/id/abc'
    expect(runRowOf(record({}, ref))).toMatchObject({ key: 'abc', exampleRef: ref })
    const one = runRowOf(record({}, { a: 1, b: { c: 2, d: [3] } })).key
    expect(runRowOf(record({}, { b: { d: [3], c: 2 }, a: 1 })).key).toBe(one)
    expect(runRowOf(record({}, { a: 1, b: { c: 2, d: [4] } })).key).not.toBe(one)
  })

  it.each([
    [{ question: 'q', answer: 'e' }, 'q', 'e'],
    [{ Question: 'q', expectedOutput: 'e', answer: 'no' }, 'q', 'e'],
    [{ input: 'q', 'Ground Truth': 'e', label: 'no' }, 'q', 'e'],
    [{ prompt: 'q', ideal: 1 }, 'q', '1'],
    [{ inputs: { a: 1 }, output: 'e' }, '{"a":1}', 'e'],
    [{ expected: null, target: 'no', text: 'q' }, 'q', 'null'],
    [{ topic: 'q' }, 'q', ''],
  ])('knows what is expected by the names that data sets have: %j', (example, input, expected) => {
    expect(exampleTexts(example)).toEqual({ input, expected })
  })

  it('failed when it threw or has no output, and runs while it has no end', () => {
    expect(runRowOf(record(null, {}, { exception: 'bad' })).error).toBe('bad')
    expect(runRowOf(record({ output: null, scores: {} })).error).toBe('No output')
    expect(runRowOf(record(null, {}, { ended_at: null }))).toMatchObject({ error: null, runs: true })
  })

  it('takes any example, also none and one with names of the language', () => {
    const hostile = fc.oneof(fc.jsonValue(), fc.constant(JSON.parse('{"__proto__":{"x":1},"constructor":2}')))
    fc.assert(
      fc.property(hostile, hostile, (example, output) => {
        const found = runRowOf(record(output, example))
        expect(typeof found.key).toBe('string')
        expect(exampleTexts(example)).toEqual({ input: expect.any(String), expected: expect.any(String) })
        for (const value of found.scores.values()) expect(['number', 'boolean']).toContain(typeof value)
      }),
      { numRuns: runs(100, 5_000) },
    )
  })
})

it('a run shows its means, wherever its summary has them', () => {
  const output = {
    correct: { true_count: 3, true_fraction: 0.75 },
    judge: { helpful: { mean: 0.5 }, text: 'no number' },
    model_latency: { mean: 1.5 },
  }
  const inputs = { self: 'weave:///a/b/object/quality:abcdefgh', model: 'weave:///a/b/object/m%20x:123456789' }
  const head = runHeadOf(record(output, {}, { inputs, op_name: 'weave:///a/b/op/Evaluation.evaluate:x' }))
  expect(head).toMatchObject({
    evaluation: inputs.self,
    predictionMs: 1_500,
    latencyMs: 1_000,
    scores: [
      ['correct', 0.75],
      ['judge.helpful', 0.5],
    ],
  })
  expect([refLabel(inputs.self), refLabel(inputs.model), refLabel('plain')]).toEqual([
    'quality:abcdef',
    'm x:123456',
    'plain',
  ])
})

it('a run that failed as a whole says why', () => {
  const inputs = { self: 'weave:///a/b/object/quality:abcdefgh' }
  const summary = { weave: { status: 'error' } }
  const head = runHeadOf(record(null, {}, { inputs, summary, exception: 'JobFault: the model has no prompt' }))
  expect(head).toMatchObject({ status: 'error', error: 'JobFault: the model has no prompt', scores: [] })
  expect(runHeadOf(record({}, {}, { inputs })).error).toBeNull()
})

describe('a distribution', () => {
  it('is the share of what is true, or ten bins', () => {
    const truths = [true, true, false].map((one, n) => row(String(n), { one }))
    expect(distributionOf('one', truths)).toMatchObject({ isTruth: true, bins: [1, 2], mean: 2 / 3, count: 3 })
    const numbers = Array.from({ length: 11 }, (_, n) => row(String(n), { one: n }))
    expect(distributionOf('one', numbers)).toMatchObject({
      isTruth: false,
      bins: [1, 1, 1, 1, 1, 1, 1, 1, 1, 2],
      min: 0,
      max: 10,
      mean: 5,
      quartiles: [2.5, 5, 7.5],
    })
    expect(distributionOf('other', numbers)).toBeUndefined()
  })
})

it('rows that failed say why, and count in the means of what they lack', () => {
  const scored = (quality: unknown) => runRowOf(record({ output: 'x', scores: { quality } }))
  const failed = [
    runRowOf(record({ output: null, scores: {}, failures: { prediction: 'refused' } })),
    runRowOf(record({ output: 'x', scores: { other: 1 }, failures: { scores: { quality: 'judge broke' } } })),
  ]
  expect(failed.map(({ error }) => error)).toEqual(['refused', 'quality: judge broke'])
  const rows = [...failed, scored(true), scored(true)]
  expect(distributionOf('quality', rows)).toMatchObject({ mean: 0.5, count: 2, failed: 2 })
  expect(distributionOf('other', rows)).toMatchObject({ mean: 0.5, count: 1, failed: 1, over: 2 })
  // What the run itself has summed up is the mean wherever the run is shown.
  expect(distributionOf('quality', rows, 1)).toMatchObject({ mean: 1, count: 2, failed: 2, over: 2 })
  expect(distributionOf('quality', rows, 0.5)).toMatchObject({ mean: 0.5, over: 4 })
})

describe('a comparison', () => {
  it('has the mean paired change with its interval, and counts of better and worse', () => {
    const first = [1, 2, 3, 4].map((score, n) => row(`k${n}`, { score }))
    const second = [2, 2, 5, 3].map((score, n) => row(`k${n}`, { score }))
    const { heads, metrics } = compare([first, second])
    expect(metrics).toEqual(['score'])
    const [a, b] = heads[0] ?? []
    expect(a).toEqual({ mean: 2.5, count: 4, rows: 4, scored: 4, meanScored: 2.5, change: null })
    expect(b).toMatchObject({ mean: 3, count: 4, change: { mean: 0.5, pairs: 4, better: 2, worse: 1, same: 1 } })
    // Twice the changes 1 0 2 -1: deviation 1.195, t of seven degrees of freedom 2.365.
    const twice = (of: typeof first) => [...of, ...of.map((one) => ({ ...one, key: `${one.key} again` }))]
    const [, more] = compare([twice(first), twice(second)]).heads[0] ?? []
    const [low, high] = more?.change?.interval ?? []
    expect(low).toBeCloseTo(0.5 - (2.365 * 1.19523) / Math.sqrt(8), 2)
    expect(high).toBeCloseTo(0.5 + (2.365 * 1.19523) / Math.sqrt(8), 2)
    // 1 to 5 are 4 to 92 to the right, and from below upwards.
    expect(b?.change?.points).toBe('M4.0 70.0h0M26.0 70.0h0M48.0 4.0h0M70.0 48.0h0')
  })

  it('tells one change, the difference of the means that it shows, and an interval of that change alone', () => {
    const run = (...values: (number | boolean)[]) => values.map((score, n) => row(`k${n}`, { score }))
    const headIn = (first: RunRow[], second: RunRow[]) => compare([first, second]).heads[0]?.[1] as MetricHead
    const shown = (first: RunRow[], second: RunRow[]) => {
      const [a, b] = compare([first, second]).heads[0] ?? []
      return changeOf(b as MetricHead, a?.mean ?? null, b?.mean ?? null)
    }
    // Two rows are no sample.
    expect(shown(run(true, false), run(true, true))).toEqual({ value: 0.5, interval: null, why: 'too few rows' })
    // Rates stay rates: of 0.2 no more than 0.8 can be won, and no more than 0.2 lost.
    const rates = shown(run(true, false, false, false, false), run(true, true, true, true, false))
    expect(rates?.value).toBeCloseTo(0.6)
    expect(rates?.interval?.[1]).toBeCloseTo(0.8)
    const scores = fc.array(
      fc.record({ a: fc.double({ min: 0, max: 1, noNaN: true }), b: fc.double({ min: 0, max: 1, noNaN: true }) }),
      { minLength: 5 },
    )
    fc.assert(
      fc.property(scores, (all) => {
        const first = run(...all.map(({ a }) => a))
        const [low = 0, high = 0] = headIn(first, run(...all.map(({ b }) => b))).change?.interval ?? []
        const mean = all.reduce((sum, { a }) => sum + a, 0) / all.length
        expect(mean + low).toBeGreaterThanOrEqual(-1e-9)
        expect(mean + high).toBeLessThanOrEqual(1 + 1e-9)
      }),
      { numRuns: runs(50, 2_000) },
    )
    // A run of other rows has other means: no interval is told beside a change that is not its own.
    const other = shown(run(1, 2, 3, 4, 5), [...run(2, 3, 4, 5, 6), row('more', { score: 100 })])
    expect(other).toEqual({ value: 120 / 6 - 3, interval: null, why: 'only 5 rows in both' })
    // What failed counts as 0 in the mean, as it does in the run.
    const failed = [...run(1, 1, 1, 1), row('k4', {}, { error: 'bad' })]
    expect(shown(run(1, 1, 1, 1, 1), failed)?.value).toBeCloseTo(-0.2)
    expect(distributionOf('score', failed)?.mean).toBeCloseTo(0.8)
    // Unless the run leaves it out.
    expect(changeOf(headIn(run(1, 1, 1, 1, 1), failed), 1, 1)?.why).toBe('the runs leave out different rows')
    expect(changeOf(headIn(run(1), run(0)), 0.5, 0.75)?.value).toBe(0.25)
    expect(changeOf(headIn(run(1), run(0)), null, 0.75)).toBeUndefined()
  })

  it('counts a row without a score in one of the runs as neither better nor worse, and says over how many rows a mean is', () => {
    const failed = row('k2', {}, { error: 'timeout' })
    const first = [row('k0', { s: 1 }), row('k1', { s: 0 }), failed]
    const second = ['k0', 'k1', 'k2'].map((key) => row(key, { s: 1 }))
    const { heads, rows } = compare([first, second])
    const [a, b] = heads[0] as [MetricHead, MetricHead]
    expect(b.change).toMatchObject({ better: 1, worse: 0, same: 1 })
    // Points: those of the two rows with scores alone.
    expect(b.change?.points.match(/M/g)).toHaveLength(2)
    expect(compare([second, first]).heads[0]?.[1]?.change).toMatchObject({ better: 0, worse: 1, same: 1 })
    expect(rows.map(({ key, verdict }) => `${key} ${verdict}`)).toEqual(['k1 improved', 'k2 unscored', 'k0 same'])
    // Where a run leaves failed rows out of its mean, and where it counts them.
    expect(rowsText(a, 0.5)).toBe('2 of 3 rows scored')
    expect(rowsText(a, 1 / 3)).toBe('2 of 3 rows scored, 1 failed as 0')
    expect(rowsText(a, 0.9)).toBe('2 of 3 rows scored')
    expect(rowsText(b, 1)).toBe('3 rows')
  })

  it('knows quantiles of Student t', () => {
    const known = { 1: 12.706, 2: 4.303, 3: 3.182, 5: 2.571, 10: 2.228, 30: 2.042, 100: 1.984 }
    for (const [freedom, value] of Object.entries(known)) expect(tQuantile(Number(freedom))).toBeCloseTo(value, 2)
  })

  it('shows what gets worse first, the worst before, then new errors, what gets better, the rest, and rows of some runs', () => {
    const first = [
      row('better', { s: 0.2 }),
      row('bad', { s: 0.9 }),
      row('same', { s: 0.5 }),
      row('worst', { s: 1 }),
      row('fails', { s: 0.5 }),
      row('only', { s: 0.5 }),
    ]
    const second = [
      row('same', { s: 0.5 }),
      row('fails', {}, { error: 'timeout' }),
      row('worst', { s: 0 }),
      row('better', { s: 0.9 }),
      row('bad', { s: 0.7 }),
    ]
    const shown = compare([first, second]).rows.map(({ key, verdict }) => `${key} ${verdict}`)
    expect(shown).toEqual([
      'worst regressed',
      'bad regressed',
      'fails error',
      'better improved',
      'same same',
      'only partly',
    ])
    const turned = compare([first, second], { lower: new Set(['s']) }).rows.map(({ key }) => key)
    expect(turned.slice(0, 2)).toEqual(['better', 'fails'])
  })

  it('counts the chosen scores only, each as a share of its range', () => {
    const first = [row('a', { points: 50, share: 1 }), row('b', { points: 100, share: 1 })]
    const second = [row('a', { points: 40, share: 1 }), row('b', { points: 100, share: 0.1 })]
    expect(compare([first, second]).rows.map(({ key }) => key)).toEqual(['b', 'a'])
    const chosen = compare([first, second], { chosen: new Set(['points']) })
    expect(chosen.rows.map(({ key, verdict }) => [key, verdict])).toEqual([
      ['a', 'regressed'],
      ['b', 'same'],
    ])
  })

  it('folds trials of an example into means with a spread', () => {
    const trials = [row('a', { s: 0 }), row('a', { s: 1 }), row('a', { s: 0.5 })]
    const [only] = compare([trials, [row('a', { s: 1 })]]).rows
    expect(only?.cells[0]).toMatchObject({ trials: 3, scores: [0.5], spread: [1] })
    expect(only?.verdict).toBe('improved')
  })

  it('of a run with itself has no change at all', () => {
    const rows = fc.array(fc.record({ key: fc.string(), s: fc.float({ noNaN: true, noDefaultInfinity: true }) }), {
      minLength: 1,
    })
    fc.assert(
      fc.property(rows, (all) => {
        const run = all.map(({ key, s }) => row(key, { s }))
        const found = compare([run, run])
        expect(found.rows.every(({ verdict, differs }) => verdict === 'same' && !differs)).toBe(true)
        expect(found.heads[0]?.[1]?.change).toMatchObject({ mean: 0, better: 0, worse: 0 })
      }),
      { numRuns: runs(50, 2_000) },
    )
  })
})
