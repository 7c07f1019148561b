// tier: deep slow
// Runs that many write at once, and runs larger than what one statement reads.
import { beforeAll, expect, it } from 'vitest'
import { type Asking, askingIn } from '../fixtures/evaluation-runs.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { createRandom } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'acme/many'
const refOf = (name: string) => `weave:///${project_id}/object/${name}:${name.repeat(43)}`
const [evaluation, model] = ['e', 'm'].map(refOf) as [string, string]

let server: RunningServer
let ask: Asking
beforeAll(async () => {
  server = await sharedServer()
  ask = askingIn(server, project_id)
})

const ok = async (method: string, path: string, body?: object) => {
  const answer = await ask(method, path, body)
  expect(answer.status, answer.text.slice(0, 500)).toBe(200)
  return answer
}
const made = async (what: string, body: object): Promise<string> =>
  Object.values((await ok('POST', what, body)).json)[0] as string
const times = <T>(count: number, job: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => job(n)))
const count = async (filter: object) =>
  (await server.send<{ count: number }>('/calls/query_stats', { project_id, filter })).count
const childrenOf = (id: string) =>
  server.list<{ op_name: string; output: unknown }>('/calls/stream_query', { project_id, filter: { parent_ids: [id] } })

/** The mean of what counts as a number; undefined when nothing does. */
function meanOf(values: unknown[]): { mean: number } | undefined {
  const counted = values.filter((value) => typeof value === 'number' || typeof value === 'boolean').map(Number)
  return counted.length === 0 ? undefined : { mean: counted.reduce((sum, value) => sum + value, 0) / counted.length }
}

it('predictions, scores and finishes that come at once add up', { timeout: limitMs(60_000) }, async () => {
  const random = createRandom(3)
  const value = () => random.pick<unknown>([0, 1, 2, 7, 0.5, -3, true, false, 'text', { x: 1 }, [1], null])
  const evaluation_run_id = await made('evaluation_runs', { evaluation, model })
  const scorers = ['s', 't', 'u']
  const rows = Array.from({ length: runs(12, 24) }, () => ({
    output: value(),
    scores: scorers.filter(() => random.chance(0.8)).map((scorer) => ({ scorer, value: value() })),
    isFinished: random.chance(0.9),
  }))
  await Promise.all(
    rows.map(async ({ output, scores, isFinished }, n) => {
      const prediction_id = await made('predictions', { model, inputs: { n }, output, evaluation_run_id })
      await Promise.all(
        scores.map(({ scorer, value }) =>
          made('scores', { prediction_id, scorer: refOf(scorer), value, evaluation_run_id }),
        ),
      )
      if (isFinished) await times(2, () => ok('POST', `predictions/${prediction_id}/finish`))
    }),
  )
  await times(4, () => ok('POST', `evaluation_runs/${evaluation_run_id}/finish`))

  const finished = rows.filter(({ isFinished }) => isFinished)
  const means = [
    ...scorers.map((scorer) => {
      const scores = finished.flatMap((row) => row.scores.filter((score) => score.scorer === scorer))
      return [scorer, meanOf(scores.map((score) => score.value))] as const
    }),
    ['output', meanOf(finished.map(({ output }) => output))] as const,
  ]
  const expected = new Map(means.filter(([, mean]) => mean !== undefined))
  expect(expected.size).toBe(4)
  const children = await childrenOf(evaluation_run_id)
  const summarizing = children.filter(({ op_name }) => op_name === 'Evaluation.summarize')
  const { json } = await ok('POST', '/call/read', { project_id, id: evaluation_run_id })
  for (const outputs of [summarizing.map(({ output }) => output), [json.call.output]]) {
    expect(outputs).toHaveLength(1)
    const found = new Map(Object.entries(outputs[0] as Record<string, { mean: number }>))
    expect([...found.keys()].sort()).toEqual([...expected.keys()].sort())
    for (const [name, mean] of expected) expect(found.get(name)?.mean).toBeCloseTo(mean?.mean as number, 12)
  }
  expect(children).toHaveLength(rows.length + 1)
  const scoreCount = rows.reduce((sum, { scores }) => sum + scores.length, 0)
  for (const [what, total] of [
    ['predictions', rows.length],
    ['scores', scoreCount],
  ] as const)
    expect((await ok('GET', `${what}?evaluation_run_id=${evaluation_run_id}`)).lines).toHaveLength(total)
  expect(await count({ trace_ids: [evaluation_run_id] })).toBe(rows.length * 2 + scoreCount + 2)
})

it('a run of thousands of predictions is listed, finished and deleted whole', {
  timeout: limitMs(120_000),
}, async () => {
  const rows = 1_000 * runs(2, 5)
  const evaluation_run_id = await made('evaluation_runs', { evaluation, model })
  const started_at = new Date().toISOString()
  const idOf = (kind: string, n: number) => kind + n.toString(16).padStart(15, '0')
  const whole = { project_id, trace_id: evaluation_run_id, started_at, ended_at: started_at, summary: {} }
  for (let at = 0; at < rows; at += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, k) => at + k).flatMap((n) => [
      {
        ...whole,
        id: idOf('a', n),
        parent_id: evaluation_run_id,
        op_name: 'Evaluation.predict_and_score',
        attributes: {},
        inputs: {},
        output: { output: n, scores: { s: n % 2 } },
      },
      {
        ...whole,
        id: idOf('b', n),
        parent_id: idOf('a', n),
        op_name: 'm.predict',
        inputs: { inputs: { n } },
        attributes: { weave: { prediction: 'true', model, evaluation_run_id } },
        output: n,
      },
      { ...whole, id: idOf('c', n), parent_id: idOf('b', n), op_name: 'inside', attributes: {}, inputs: {} },
    ])
    await ok('POST', 'calls/complete', { batch })
  }
  const { lines } = await ok('GET', `predictions?evaluation_run_id=${evaluation_run_id}`)
  expect(lines.map(({ output }) => output)).toEqual(Array.from({ length: rows }, (_, n) => n))
  const page = await ok('GET', `predictions?evaluation_run_id=${evaluation_run_id}&limit=2&offset=${rows - 1_000}`)
  expect(page.lines.map(({ output }) => output)).toEqual([rows - 1_000, rows - 999])
  await ok('POST', `evaluation_runs/${evaluation_run_id}/finish`)
  const { json } = await ok('POST', '/call/read', { project_id, id: evaluation_run_id })
  expect(json.call.output).toEqual({ s: { mean: 0.5 }, output: { mean: (rows - 1) / 2 } })
  expect(await count({ trace_ids: [evaluation_run_id] })).toBe(rows * 3 + 2)
  await ok('DELETE', `evaluation_runs?evaluation_run_ids=${evaluation_run_id}`)
  expect(await count({ trace_ids: [evaluation_run_id] })).toBe(0)
})
