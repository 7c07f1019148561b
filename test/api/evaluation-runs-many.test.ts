// Runs that many write at once, and runs larger than what one statement reads.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Asking, askingIn } from '../fixtures/evaluation-runs.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'acme/many'
const refOf = (name: string) => `weave:///${project_id}/object/${name}:${name.repeat(43)}`
const [evaluation, model] = ['e', 'm'].map(refOf) as [string, string]

let server: LiveServer
let ask: Asking
beforeAll(async () => {
  server = await startLiveServer()
  ask = askingIn(server, project_id)
})
afterAll(() => server.remove())

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

it('predictions, scores and finishes that come at once add up', { timeout: 60_000 }, async () => {
  const evaluation_run_id = await made('evaluation_runs', { evaluation, model })
  const rows = 24
  await times(rows, async (n) => {
    const body = { model, inputs: { n }, output: n, evaluation_run_id }
    const prediction_id = await made('predictions', body)
    await times(3, (k) =>
      made('scores', { prediction_id, scorer: refOf(`${k}`), value: n % (k + 2) === 0, evaluation_run_id }),
    )
    await times(2, () => ok('POST', `predictions/${prediction_id}/finish`))
  })
  await times(4, () => ok('POST', `evaluation_runs/${evaluation_run_id}/finish`))
  const children = await childrenOf(evaluation_run_id)
  const summarizing = children.filter(({ op_name }) => op_name === 'Evaluation.summarize')
  const output = { 0: { mean: 0.5 }, 1: { mean: 8 / 24 }, 2: { mean: 0.25 }, output: { mean: 11.5 } }
  expect(summarizing).toMatchObject([{ output }])
  expect(children).toHaveLength(rows + 1)
  const { json } = await ok('POST', '/call/read', { project_id, id: evaluation_run_id })
  expect(json.call.output).toEqual(output)
  for (const [what, total] of [
    ['predictions', rows],
    ['scores', rows * 3],
  ] as const)
    expect((await ok('GET', `${what}?evaluation_run_id=${evaluation_run_id}`)).lines).toHaveLength(total)
  expect(await count({ trace_ids: [evaluation_run_id] })).toBe(rows * 5 + 2)
})

it('a run of 5,000 predictions is listed, finished and deleted whole', { timeout: 120_000 }, async () => {
  const rows = 5_000
  const evaluation_run_id = await made('evaluation_runs', { evaluation, model })
  const started_at = new Date().toISOString()
  const idOf = (kind: string, n: number) => kind + n.toString(16).padStart(15, '0')
  const whole = { project_id, trace_id: evaluation_run_id, started_at, ended_at: started_at, summary: {} }
  for (let at = 0; at < rows; at += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, k) => at + k).flatMap((n) => [
      {
        ...{ ...whole, id: idOf('a', n), parent_id: evaluation_run_id, op_name: 'Evaluation.predict_and_score' },
        ...{ attributes: {}, inputs: {}, output: { output: n, scores: { s: n % 2 } } },
      },
      {
        ...{ ...whole, id: idOf('b', n), parent_id: idOf('a', n), op_name: 'm.predict', inputs: { inputs: { n } } },
        ...{ attributes: { weave: { prediction: 'true', model, evaluation_run_id } }, output: n },
      },
      { ...whole, id: idOf('c', n), parent_id: idOf('b', n), op_name: 'inside', attributes: {}, inputs: {} },
    ])
    await ok('POST', 'calls/complete', { batch })
  }
  const { lines } = await ok('GET', `predictions?evaluation_run_id=${evaluation_run_id}`)
  expect(lines.map(({ output }) => output)).toEqual(Array.from({ length: rows }, (_, n) => n))
  const page = await ok('GET', `predictions?evaluation_run_id=${evaluation_run_id}&limit=2&offset=4000`)
  expect(page.lines.map(({ output }) => output)).toEqual([4000, 4001])
  await ok('POST', `evaluation_runs/${evaluation_run_id}/finish`)
  const { json } = await ok('POST', '/call/read', { project_id, id: evaluation_run_id })
  expect(json.call.output).toEqual({ s: { mean: 0.5 }, output: { mean: (rows - 1) / 2 } })
  expect(await count({ trace_ids: [evaluation_run_id] })).toBe(rows * 3 + 2)
  await ok('DELETE', `evaluation_runs?evaluation_run_ids=${evaluation_run_id}`)
  expect(await count({ trace_ids: [evaluation_run_id] })).toBe(0)
})
