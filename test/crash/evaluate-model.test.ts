// tier: deep crash
// kill -9 while the server runs an evaluation: a start in the same folder goes on with it, and every row counts once.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildServer, post, postLines, startChildServer } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import {
  type Answerer,
  answerJson,
  completion,
  type FakeProvider,
  startFakeProvider,
} from '../fixtures/fake-provider.ts'

// biome-ignore lint/suspicious/noExplicitAny: call records are read at many depths
type Json = any

const project = 'crash/evaluate'
let dir: string
let fake: FakeProvider
let server: ChildServer
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'callhouse-evaluate-'))
  fake = await startFakeProvider()
})
afterAll(async () => {
  await server.kill()
  await fake.close()
  rmSync(dir, { recursive: true, force: true })
})

const start = async () => {
  server = await startChildServer(dir, { CALLHOUSE_ENGINE_URL: fake.url })
}
async function send(path: string, body: object): Promise<Json> {
  const { status, text } = await post(server.url, path, body)
  expect(status, text).toBe(200)
  return JSON.parse(text)
}
async function put(object_id: string, name: string, fields: object): Promise<string> {
  const val = { _type: name, _class_name: name, _bases: ['Object'], ...fields }
  const { digest } = await send('/obj/create', { obj: { project_id: project, object_id, val } })
  return `weave:///${project}/object/${object_id}:${digest}`
}
const modelOf = (model: string, default_params: object = {}) => ({
  name: model,
  llm_model_id: `coreweave/${model}`,
  default_params,
})
const statusOf = async (call_id: string): Promise<Json> =>
  (await send('/evaluations/status', { project_id: project, call_id })).status
const calls = (filter: object): Promise<Json[]> =>
  postLines(server.url, '/calls/stream_query', {
    project_id: project,
    filter,
    sort_by: [{ field: 'started_at', direction: 'asc' }],
  })
const nameOf = ({ op_name }: Json): string => /\/op\/([^:]+):/.exec(op_name)?.[1] ?? op_name
const contentOf = ({ json }: { json: Json }): string => json.messages.at(-1).content
const timesAsked = (model: string, text: string) =>
  fake.asked.filter((one) => one.json?.model === model && contentOf(one) === text).length

const rows = ['first', 'second', 'judge waits', 'model waits']

it('an evaluation that was killed goes on with the remaining rows and ends once', { timeout: 400_000 }, async () => {
  const waiting = new Set(['model: model waits', 'judge: judge waits'])
  let onAnswered: ((text: string) => void) | undefined
  const answering =
    (model: string, contentFor: (text: string) => string): Answerer =>
    (response, asked) => {
      const text = contentOf(asked)
      // Never answered: the server is killed meanwhile.
      if (waiting.has(`${model}: ${text}`)) return
      void answerJson(completion(model, contentFor(text)))(response, asked)
      if (model === 'judge') response.once('finish', () => onAnswered?.(text))
    }
  fake.on(
    'model',
    answering('model', (text) => text),
  )
  fake.on(
    'judge',
    answering('judge', (text) => `{"length": ${text.length}}`),
  )

  await start()
  const model = await put('model', 'LLMStructuredCompletionModel', modelOf('model'))
  const judge = await put('judge', 'LLMAsAJudgeScorer', {
    name: 'quality',
    scoring_prompt: '{output}',
    model: {
      _type: 'LLMStructuredCompletionModel',
      _class_name: 'LLMStructuredCompletionModel',
      ...modelOf('judge', { response_format: 'json_object' }),
    },
  })
  const data = await send(`/v2/${project}/datasets`, { name: 'd', rows: rows.map((user_input) => ({ user_input })) })
  const dataset = `weave:///${project}/object/${data.object_id}:${data.digest}`
  const evaluation_ref = await put('evaluation', 'Evaluation', { name: 'e', dataset, scorers: [judge], trials: 1 })
  const asked = { project_id: project, evaluation_ref, model_ref: model }
  const id = (await send('/evaluations/evaluate_model', asked)).call_id

  // Killed with two rows done, one between its prediction and its score, and one before its prediction.
  await eventually(async () => {
    expect(await statusOf(id)).toEqual({ code: 'running', completed_rows: 2, total_rows: 4 })
    expect([timesAsked('judge', 'judge waits'), timesAsked('model', 'model waits')]).toEqual([1, 1])
  })
  await server.kill()
  waiting.delete('judge: judge waits')
  await start()
  await eventually(async () => {
    expect(await statusOf(id)).toEqual({ code: 'running', completed_rows: 3, total_rows: 4 })
    expect(timesAsked('model', 'model waits')).toBe(2)
  })

  // Killed as soon as the last answer of all is there.
  await server.kill()
  waiting.clear()
  const killed = Promise.withResolvers<void>()
  onAnswered = (text) => {
    if (text === 'model waits') killed.resolve(server.kill())
  }
  await start()
  await killed.promise
  onAnswered = undefined
  await start()
  const quality = { length: { mean: rows.join('').length / rows.length } }
  await eventually(async () => {
    expect(await statusOf(id)).toEqual({
      code: 'complete',
      output: { quality, model_latency: { mean: expect.any(Number) } },
    })
  })

  const children = await calls({ parent_ids: [id] })
  expect(children.map(nameOf).sort()).toEqual([
    ...rows.map(() => 'Evaluation.predict_and_score'),
    'Evaluation.summarize',
  ])
  const around = children.filter((one) => nameOf(one) === 'Evaluation.predict_and_score')
  expect(around.map(({ inputs }) => inputs.example.user_input).sort()).toEqual([...rows].sort())
  for (const { id: rowId, inputs, output, ended_at } of around) {
    const text = inputs.example.user_input
    const score = { length: text.length }
    expect([ended_at, output]).toEqual([
      expect.any(String),
      { output: text, scores: { quality: score }, model_latency: expect.any(Number) },
    ])
    const parts = await calls({ parent_ids: [rowId] })
    expect(parts.map((part) => [nameOf(part), part.output, part.exception])).toEqual([
      ['LLMStructuredCompletionModel.predict', text, null],
      ['LLMAsAJudgeScorer.score', score, null],
    ])
    for (const part of parts) expect(part.ended_at >= part.started_at).toBe(true)
  }
  for (const text of ['first', 'second'])
    expect([timesAsked('model', text), timesAsked('judge', text)], text).toEqual([1, 1])
  const whole = await calls({ trace_ids: [id] })
  expect(new Set(whole.map((one) => one.id)).size).toBe(whole.length)
  expect((await send('/calls/query_stats', { project_id: project, filter: { trace_ids: [id] } })).count).toBe(
    whole.length,
  )
  expect(whole.filter(({ ended_at }) => ended_at === null)).toEqual([])
})
