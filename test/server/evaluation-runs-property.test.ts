// Property: whatever stands in the path and the query of a route of runs, predictions and scores, the answer is below
// 500, and what was not named stays. HOSTILE_RUNS sets how many requests are sent, HOSTILE_SEED which ones.
// again: property
import { beforeAll, expect, it } from 'vitest'
import { type Asking, askingIn } from '../fixtures/evaluation-runs.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { createRandom } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const requests = Number(process.env.HOSTILE_RUNS ?? runs(160, 800))
const random = createRandom(Number(process.env.HOSTILE_SEED ?? 15))
const ref = (name: string) => `weave:///fuzz/a/object/${name}:v`

let server: RunningServer
let ask: Asking
beforeAll(async () => {
  server = await sharedServer()
  ask = askingIn(server, 'fuzz/runs')
})

const world = async () => {
  const made = async (what: string, body: object) => Object.values((await ask('POST', what, body)).json)[0] as string
  const run = await made('evaluation_runs', { evaluation: ref('e'), model: ref('m') })
  const prediction = await made('predictions', { model: ref('m'), inputs: {}, output: 1, evaluation_run_id: run })
  const score = { prediction_id: prediction, scorer: ref('s'), value: 1, evaluation_run_id: run }
  return { run, ids: [run, prediction, await made('scores', score)] }
}

it('random paths and queries of runs, predictions and scores are answered below 500', {
  timeout: limitMs(300_000),
}, async () => {
  const kept = await world()
  const callsOf = () =>
    server.list('/calls/stream_query', { project_id: 'fuzz/runs', filter: { trace_ids: [kept.run] } })
  const before = await callsOf()
  expect(before).toHaveLength(4)
  const { ids } = await world()
  const odd = [
    'x',
    '',
    ' ',
    '..',
    'a/b',
    '\u0000',
    '\n\nDROP',
    "'; DROP TABLE callhouse.calls; --",
    '\\',
    '{x:String}',
    'é😀',
    '__proto__',
    'constructor',
    '*',
    'a:b',
    ref('x'),
    'A'.repeat(36),
    '0'.repeat(16),
    'b'.repeat(3_000),
    ',',
    ',,x',
  ]
  const raw = ['%E0%A4%A', '%', '%00', '%2e%2e%2f', '%C3%28', '+', ';', '%u0041']
  const kinds = ['evaluation_runs', 'predictions', 'scores']
  const names = [
    'evaluations',
    'evaluation_refs',
    'models',
    'model_refs',
    'evaluation_run_ids',
    'prediction_ids',
    'score_ids',
    'evaluation_run_id',
    'limit',
    'offset',
    'freshness',
    'evaluation_run_ids[]',
  ]
  const numbers = ['0', '1', '-1', 'x', '1e3', '9'.repeat(300), '9'.repeat(400), ' 1', '+1', '-0', String(2 ** 53)]
  const part = () =>
    random.chance(0.15) ? random.pick(raw) : encodeURIComponent(random.pick(random.chance(0.3) ? ids : odd))
  const value = (name: string) =>
    /limit|offset/.test(name) ? encodeURIComponent(random.pick(numbers)) : name === 'freshness' ? 'any' : part()
  const query = () => {
    const name = random.pick(names)
    return `${name}=${value(name)}`
  }
  const bodies = [undefined, undefined, '', '{}', '[]', 'null', '{', '{"score_ids":["x"]}', '{"summary":null}', '"x"']
  const request = (): [string, string, string | undefined] => {
    const project = random.chance(0.9) ? 'fuzz/runs' : `${part()}/${part()}`
    const method = random.pick(['GET', 'GET', 'DELETE', 'POST'])
    const path = random.pick(['', '', `/${part()}`, `/${part()}/finish`])
    const body = method === 'GET' ? undefined : random.pick(bodies)
    return [method, `/v2/${project}/${random.pick(kinds)}${path}?${query()}&${query()}`, body]
  }
  const statuses = new Map<number, number>()
  const failed: string[] = []
  for (let n = 0; n < requests; n += 8)
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const [method, path, body] = request()
        const { status, text } = await ask(method, path, body)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status >= 500) failed.push(`${status} ${text.slice(0, 300)} for ${method} ${path.slice(0, 500)} ${body}`)
      }),
    )
  expect(failed).toEqual([])
  for (const status of [200, 400, 404, 422]) expect(statuses.get(status), `${status}`).toBeGreaterThan(requests / 60)
  expect(await callsOf()).toEqual(before)
  expect(server.lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
})
