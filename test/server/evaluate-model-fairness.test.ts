// tier: deep slow
// Evaluations of several projects: a few run at one time, and a project with many does not hold up another one's.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../fixtures/eventually.ts'
import { answerJson, completion } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld } from '../fixtures/inference-world.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are read at many depths
type Json = any

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld()
})
afterAll(() => world.remove())

/** Sets up a model and an evaluation of one row; returns what asks for it to be run. */
async function evaluationOf(project_id: string, model: string): Promise<() => Promise<string>> {
  const put = async (object_id: string, name: string, fields: object) => {
    const val = { _type: name, _class_name: name, _bases: ['Object'], ...fields }
    const { digest } = await world.server.send<Json>('/obj/create', { obj: { project_id, object_id, val } })
    return `weave:///${project_id}/object/${object_id}:${digest}`
  }
  const data = await world.server.send<Json>(`/v2/${project_id}/datasets`, { name: 'd', rows: [{ user_input: 'hi' }] })
  const dataset = `weave:///${project_id}/object/${data.object_id}:${data.digest}`
  const evaluation_ref = await put('e', 'Evaluation', { name: 'e', dataset, scorers: [], trials: 1 })
  const of = { name: model, llm_model_id: `mine/${model}`, default_params: {} }
  const model_ref = await put('m', 'LLMStructuredCompletionModel', of)
  return async () =>
    (await world.server.send<Json>('/evaluations/evaluate_model', { project_id, evaluation_ref, model_ref })).call_id
}

const ended = (project_id: string, call_id: string) =>
  eventually(
    async () => {
      const { status } = await world.server.send<Json>('/evaluations/status', { project_id, call_id })
      expect(status.code).toBe('complete')
    },
    { withinMs: 60_000 },
  )

it('evaluations of one project run beside those of another, which has many that take long', async () => {
  const release = Promise.withResolvers<void>()
  const asked = { many: 0, few: 0 }
  for (const model of ['many', 'few'] as const)
    world.fake.on(model, async (response, request) => {
      asked[model]++
      if (model === 'many') await release.promise
      await answerJson(completion(model, 'yes'))(response, request)
    })
  const many = await evaluationOf('turns/many', 'many')
  const few = await evaluationOf('turns/few', 'few')
  const slow = [await many(), await many(), await many(), await many(), await many(), await many()]
  await eventually(() => expect(asked.many).toBe(3), { withinMs: 60_000 })
  for (const id of [await few(), await few()]) await ended('turns/few', id)
  expect(asked).toEqual({ many: 3, few: 2 })
  release.resolve()
  for (const id of slow) await ended('turns/many', id)
  expect(asked).toEqual({ many: 6, few: 2 })
})
