// tier: deep slow
// POST /evaluations/evaluate_model: what a job asks models and judges, the calls it writes, restarts, and what it refuses to run.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock } from '../../services/core/clock/clock.ts'
import { type ProjectId, uuidv7 } from '../../services/core/ids.ts'
import { evaluateModelRoute } from '../../services/evaluation/evaluate-model/routes.ts'
import { type EvaluationJob, evaluationJobRecord } from '../../services/events/evaluation-jobs.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type Answerer, answerJson, completion } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld, project } from '../fixtures/inference-world.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'
import { createCall } from '../fixtures/route-call.ts'

// biome-ignore lint/suspicious/noExplicitAny: call records are read at many depths
type Json = any

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld()
})
afterAll(() => world.remove())

const path = '/evaluations/evaluate_model'
const refOf = (id: string, digest: string) => `weave:///${project}/object/${id}:${digest}`
const put = async (id: string, val: Json) => refOf(id, await world.create(id, val))
const ofClass = (name: string, fields: object) => ({ _type: name, _class_name: name, _bases: ['Object'], ...fields })
const modelValue = (model: string, default_params: object = {}) =>
  ofClass('LLMStructuredCompletionModel', { name: 'm', llm_model_id: `mine/${model}`, default_params })
const judgeValue = (model: string, fields: object = {}) =>
  ofClass('LLMAsAJudgeScorer', {
    name: 'quality',
    model: modelValue(model, { response_format: 'json_object' }),
    column_map: { wanted: 'want' },
    scoring_prompt: 'Is {output} like {wanted}? {inputs}',
    ...fields,
  })
const evaluationOf = async (rows: object[], scorers: unknown[], more: object = {}) => {
  const name = `e${uuidv7()}`
  const dataset = await world.server.send<Json>(`/v2/${project}/datasets`, { name: `d-${name}`, rows })
  const data = refOf(dataset.object_id, dataset.digest)
  return put(name, ofClass('Evaluation', { name, dataset: data, scorers, trials: 1, ...more }))
}
const start = async (evaluation_ref: string, model_ref: string): Promise<string> =>
  (await world.server.send<Json>(path, { project_id: project, evaluation_ref, model_ref })).call_id
const statusOf = async (call_id: string): Promise<Json> =>
  (await world.server.send<Json>('/evaluations/status', { project_id: project, call_id })).status
const ended = (id: string): Promise<Json> =>
  eventually(
    async () => {
      const status = await statusOf(id)
      expect(['complete', 'failed']).toContain(status.code)
      return status
    },
    { withinMs: 60_000 },
  )
const jobEnded = (id: string) =>
  eventually(
    async () => {
      const rows = await world.server.now().store.rows<Json>({
        name: 'test.jobs',
        sql: 'SELECT state FROM callhouse.evaluation_jobs FINAL WHERE call_id = {id:String}',
        params: { id },
      })
      expect(rows).toEqual([{ state: 'ended' }])
    },
    { withinMs: 60_000 },
  )
const childrenOf = (id: string): Promise<Json[]> =>
  world.server.list('/calls/stream_query', {
    project_id: project,
    filter: { parent_ids: [id] },
    sort_by: [{ field: 'started_at', direction: 'asc' }],
  })
const nameIn = (op: string) => /\/op\/([^:]+):/.exec(op)?.[1] ?? op
const askedOf = (model: string) => world.fake.asked.filter(({ json }) => json?.model === model)
const echo: Answerer = (response, { json }) =>
  answerJson(completion(json.model, json.messages.at(-1).content))(response, {} as never)

describe('an evaluation', () => {
  it('asks the model for each row, then the judges, and sums up', async () => {
    world.fake.on('echo', (response, asked) => {
      const answer = asked.text.includes('fail') ? answerJson({ error: { message: 'not this one' } }, 400) : echo
      return answer(response, asked)
    })
    world.fake.on('judge', (response, { json }) => {
      const text = json.messages.at(-1).content as string
      return answerJson(
        completion('judge', JSON.stringify({ ok: text.includes('one like'), points: text.length > 0 ? 1.5 : 0 })),
      )(response, {} as never)
    })
    const template = [{ role: 'system', content: 'Greet {who} in {lang}' }]
    const params = {
      messages_template: template,
      temperature: 0.5,
      stop: [],
      max_tokens: 9,
      n_times: 1,
      functions: null,
    }
    const model = await put('model', modelValue('echo', params))
    const judge = await put('judge', judgeValue('judge'))
    const row = (user_input: unknown, want: string) => ({ user_input, want, who: { first: 'Ann' }, lang: 'ünï {x}' })
    const rows = [row('one', 'ONE'), row([{ role: 'user', content: 'two' }], 'TWO'), row('fail', '-')]
    const id = await start(await evaluationOf(rows, [judge], { trials: 2 }), model)
    const status = await ended(id)
    const summary = {
      failures: { rows: 2, of: 6, predictions: 2, scores: {} },
      quality: { ok: { true_count: 2, true_fraction: 2 / 6 }, points: { mean: 1 } },
      model_latency: { mean: expect.any(Number) },
    }
    expect(status).toEqual({ code: 'complete', output: summary })

    const asked = askedOf('echo')
    expect(asked).toHaveLength(6)
    expect(asked.map(({ json }) => json).find(({ messages }) => messages[1].content === 'two')).toEqual({
      model: 'echo',
      temperature: 0.5,
      max_tokens: 9,
      n: 1,
      messages: [
        { role: 'system', content: 'Greet {"first":"Ann"} in ünï {x}' },
        { role: 'user', content: 'two' },
      ],
    })
    const judged = askedOf('judge')
    expect(judged).toHaveLength(4)
    expect(judged[0]?.json.response_format).toEqual({ type: 'json_object' })
    expect(judged.map(({ json }) => json.messages[0].content)).toContain(`Is one like ONE? ${JSON.stringify(rows[0])}`)

    const children = await childrenOf(id)
    expect(children.map(({ op_name }) => nameIn(op_name)).sort()).toEqual([
      ...Array.from({ length: 6 }, () => 'Evaluation.predict_and_score'),
      'Evaluation.summarize',
    ])
    for (const child of children) {
      expect(child).toMatchObject({ trace_id: id, ended_at: expect.any(String), exception: null })
      expect(child.attributes._weave_eval_meta).toEqual({ evaluate_model_worker: true, declarative: true })
    }
    expect(children.at(-1)).toMatchObject({ output: summary })
    const [one] = children.filter(({ inputs }) => inputs.example?.user_input === 'one')
    expect(one.inputs).toMatchObject({ model, example: rows[0] })
    expect(one.output).toEqual({
      output: 'one',
      scores: { quality: { ok: true, points: 1.5 } },
      model_latency: expect.any(Number),
    })
    const parts = await childrenOf(one.id)
    expect(parts.map(({ op_name, output }) => [nameIn(op_name), output])).toEqual([
      ['LLMStructuredCompletionModel.predict', 'one'],
      ['LLMAsAJudgeScorer.score', { ok: true, points: 1.5 }],
    ])
    for (const part of parts)
      expect(await childrenOf(part.id)).toMatchObject([{ op_name: 'weave.completions_create', trace_id: id }])
    const [failed] = children.filter(({ inputs }) => inputs.example?.user_input === 'fail')
    expect(failed.output).toEqual({
      output: null,
      scores: {},
      model_latency: expect.any(Number),
      failures: { prediction: 'not this one' },
    })
    expect(await childrenOf(failed.id)).toMatchObject([{ exception: 'not this one', output: null }])

    const [evaluation] = await world.calls({ call_ids: [id] })
    expect(evaluation).toMatchObject({ parent_id: null, trace_id: id, output: summary, platform_user_id: 'tester' })
    expect(nameIn(evaluation.op_name)).toBe('Evaluation.evaluate')
    expect(evaluation.attributes._weave_eval_meta).toEqual({ evaluate_model_worker: true })
    await jobEnded(id)
  })

  it('goes on after a restart with the rows that were not done', async () => {
    let isHeld = true
    const held = Promise.withResolvers<void>()
    world.fake.on('slow', (response, asked) => {
      if (!isHeld || !asked.text.includes('row 7')) return echo(response, asked)
      held.resolve()
    })
    const rows = Array.from({ length: 8 }, (_, n) => ({ user_input: `row ${n}` }))
    const evaluation = await evaluationOf(rows, [])
    const id = await start(evaluation, await put('slow', modelValue('slow')))
    await held.promise
    await eventually(async () => expect(await statusOf(id)).toMatchObject({ completed_rows: 7, total_rows: 8 }), {
      withinMs: 60_000,
    })
    isHeld = false
    await world.server.restart()
    expect(await ended(id)).toMatchObject({ code: 'complete' })
    expect(
      askedOf('slow')
        .map(({ json }) => json.messages[0].content)
        .sort(),
    ).toEqual([...rows.map(({ user_input }) => user_input), 'row 7'])
    const children = await childrenOf(id)
    expect(children.map(({ output }) => output.output ?? '-').sort()).toEqual([
      '-',
      ...rows.map((row) => row.user_input),
    ])
    await jobEnded(id)
  })

  it('asks for at most 20 rows at once', async () => {
    let inFlight = 0
    let most = 0
    const full = Promise.withResolvers<void>()
    world.fake.on('many', async (response, asked) => {
      most = Math.max(most, ++inFlight)
      if (inFlight === 20) full.resolve()
      await full.promise
      inFlight--
      await echo(response, asked)
    })
    const rows = Array.from({ length: 25 }, (_, n) => ({ user_input: `${n}` }))
    const id = await start(await evaluationOf(rows, []), await put('many', modelValue('many')))
    expect(await ended(id)).toMatchObject({ code: 'complete' })
    expect([most, askedOf('many').length]).toEqual([20, 25])
  })

  it('tries rows again that the provider refuses for a while', async () => {
    let asked = 0
    world.fake.on('flaky', (response, request) => {
      const isRefused = asked++ % 2 === 0
      if (isRefused)
        return answerJson({ error: { message: 'rate limit' } }, 429, { 'retry-after': '0' })(response, request)
      return echo(response, request)
    })
    const rows = [{ user_input: 'one' }, { user_input: 'two' }, { user_input: 'three' }]
    const id = await start(await evaluationOf(rows, []), await put('flaky', modelValue('flaky')))
    expect(await ended(id)).toEqual({ code: 'complete', output: { model_latency: expect.anything() } })
    const outputs = (await childrenOf(id)).flatMap(({ output }) => output.output ?? [])
    expect([outputs.sort(), asked]).toEqual([['one', 'three', 'two'], 6])
  })

  it('takes prompts by ref, for models and judges, and looks for no variables in what a row says', async () => {
    world.fake.on('prompted', echo)
    world.fake.on('judge2', answerJson(completion('judge2', 'not JSON')))
    const messages = [{ role: 'system', content: 'Speak {lang}' }]
    const prompt = await put(
      'prompt',
      ofClass('MessagesPrompt', { _bases: ['Prompt', 'Object', 'BaseModel'], name: 'p', messages }),
    )
    const scoring = await put(
      'scoring',
      ofClass('MessagesPrompt', { messages: [{ role: 'user', content: 'Rate {output}' }] }),
    )
    const model = await put(
      'prompted',
      modelValue('prompted', { prompt, messages_template: [{ role: 'user', content: 'no' }] }),
    )
    const row = { user_input: 'a {brace} and {{two}}', lang: 'x', config: { temperature: 1 } }
    const id = await start(
      await evaluationOf([row], [judgeValue('judge2', { scoring_prompt: scoring, name: null })]),
      model,
    )
    expect(await ended(id)).toMatchObject({ code: 'complete', output: { model_latency: {} } })
    const [around] = await childrenOf(id)
    const parts = await childrenOf(around.id)
    expect(parts[0].exception).toBe(null)
    const [asked] = askedOf('prompted')
    expect(asked?.json).toEqual({
      model: 'prompted',
      temperature: 1,
      messages: [
        { role: 'system', content: 'Speak x' },
        { role: 'user', content: 'a {brace} and {{two}}' },
      ],
    })
    expect(askedOf('judge2')[0]?.json.messages).toEqual([{ role: 'user', content: 'Rate a {brace} and {{two}}' }])
    expect(around.output).toMatchObject({
      output: 'a {brace} and {{two}}',
      scores: {},
      failures: { scores: { LLMAsAJudgeScorer: 'The completion is not valid JSON' } },
    })
    expect(parts.at(-1)).toMatchObject({ exception: 'The completion is not valid JSON', output: null })
  })
})

describe('what is not run', () => {
  const failure = async (evaluation: string, model: string) => {
    const id = await start(evaluation, model)
    const status = await ended(id)
    await jobEnded(id)
    return status
  }

  it('is said by the evaluation itself', async () => {
    const model = await put('fine', modelValue('fine'))
    const evaluation = await evaluationOf([{ user_input: 'x' }], [])
    const own = await put('own-scorer', ofClass('MyScorer', { score: 'code' }))
    const manyRows = Array.from({ length: 1001 }, (_, n) => ({ n }))
    const cases: [string, string, RegExp][] = [
      [model, model, /expected an object of the class Evaluation, found LLMStructuredCompletionModel/],
      [evaluation, evaluation, /expected an object of the class LLMStructuredCompletionModel, found Evaluation/],
      [await evaluationOf([], [own]), model, /expected an object of the class LLMAsAJudgeScorer, found MyScorer/],
      [refOf('none', 'x'.repeat(43)), model, /point at nothing/],
      ['no ref', model, /found nothing that is known/],
      [`weave:///other/project/object/a:${'x'.repeat(43)}`, model, /point at nothing/],
      [await evaluationOf([{ user_input: 'x' }], [], { trials: 1e300 }), model, /1e\+300 trials, more than 1000$/],
      [await evaluationOf(manyRows, [], { trials: 1_000 }), model, /1001 rows and 1000 trials, more than 1000000 in/],
    ]
    const statuses = await Promise.all(cases.map(([one, two]) => failure(one, two)))
    for (const [at, status] of statuses.entries())
      expect(status).toEqual({ code: 'failed', error: expect.stringMatching(cases[at]?.[2] as RegExp) })
    expect(askedOf('fine')).toEqual([])
  })

  it('is an evaluation without rows, however many trials it has', async () => {
    const model = await put('rowless', modelValue('rowless'))
    expect(await failure(await evaluationOf([], [], { trials: 1_000 }), model)).toEqual({
      code: 'complete',
      output: {},
    })
    expect(askedOf('rowless')).toEqual([])
  })

  it('is a job whose evaluation has ended', async () => {
    const callId = uuidv7()
    const at = new Date().toISOString()
    const call = { project_id: project, id: callId, trace_id: callId, op_name: 'Evaluation.evaluate', started_at: at }
    await world.server.send(`/v2/${project}/calls/complete`, {
      batch: [{ ...call, attributes: {}, inputs: {}, ended_at: at, output: { done: 1 }, summary: {} }],
    })
    const job: EvaluationJob = {
      projectId: project as ProjectId,
      callId,
      userId: 'tester',
      evaluationRef: await evaluationOf([{ user_input: 'x' }], []),
      modelRef: await put('late', modelValue('late')),
    }
    const { log } = world.server.now()
    const queued = () => evaluationJobRecord(job, 'queued', BigInt(Date.now()) * 1024_000n)
    await log.append('evaluation_jobs', [queued()])
    await jobEnded(callId)
    // Delivered once more, after its end.
    await log.append('evaluation_jobs', [queued()])
    await world.server.now().worker?.caughtUp()
    await jobEnded(callId)
    expect(await statusOf(callId)).toEqual({ code: 'complete', output: { done: 1 } })
    expect(askedOf('late')).toEqual([])
  })

  it('is refused where evaluations are not run, and in projects of others', async () => {
    const log = createMemoryLog()
    const ask = (evaluateDispatch: boolean, may: boolean) =>
      createCall([evaluateModelRoute({ log, clock: createClock(), config: { evaluateDispatch } })])(
        path,
        { json: { project_id: project, evaluation_ref: 'e', model_ref: 'm' } },
        { may: () => may },
      )
    expect((await ask(false, true)).status).toBe(503)
    expect((await ask(true, false)).status).toBe(403)
    expect(log.appends()).toBe(0)
    const { status, json } = await ask(true, true)
    expect([status, json]).toEqual([200, { call_id: expect.stringMatching(/^[0-9a-f-]{36}$/) }])
    expect(log.rows('evaluation_jobs')).toMatchObject([
      { project_id: project, job_type: 'evaluate_model', evaluation_ref: 'e', model_ref: 'm', user_id: 'tester' },
    ])
    const missing = await world.post(path, { project_id: project, evaluation_ref: 'e' })
    expect([missing.status, missing.json.detail[0].loc]).toEqual([422, ['body', 'model_ref']])
  })
})
