// Evaluation runs, predictions and scores: the calls that they are, their records, finishing, refusals.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Asking, askingIn, type RunsAnswer } from '../fixtures/evaluation-runs.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'acme/runs'
const of = `weave:///${project_id}`
const evaluation = `${of}/object/my_eval:${'e'.repeat(43)}`
const model = `${of}/object/My-Model:${'m'.repeat(43)}`
const accuracy = `${of}/object/accuracy:${'a'.repeat(43)}`
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const unknownId = '01890000-0000-7000-8000-000000000000'
/** Members of calls that an SDK recorded, beside their own. */
const recorded = { project_id, started_at: '2026-05-01T00:00:00Z', attributes: {}, summary: {} }

let server: LiveServer
let ask: Asking
beforeAll(async () => {
  server = await startLiveServer(['--feedback-prefix', 'acme'])
  ask = askingIn(server, project_id)
})
afterAll(() => server.remove())

const ok = ({ status, json, text }: RunsAnswer) => {
  expect(status, text).toBe(200)
  return json
}
const made = async (what: string, body: object): Promise<string> => {
  const ids = Object.values(ok(await ask('POST', what, body)))
  expect(ids).toEqual([expect.stringMatching(uuid7)])
  return ids[0] as string
}
const newRun = (more: object = {}) => made('evaluation_runs', { evaluation, model, ...more })
const newPrediction = (more: object = {}) => made('predictions', { model, inputs: { q: 1 }, output: 'a', ...more })
const newScore = (prediction_id: string, value: unknown, more: object = {}) =>
  made('scores', { prediction_id, scorer: accuracy, value, ...more })
const read = async (path: string) => ok(await ask('GET', path))
const callOf = async (id: string) => ok(await ask('POST', '/call/read', { project_id, id })).call
const childrenOf = (id: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: call records are read at many depths
  server.list<any>('/calls/stream_query', { project_id, filter: { parent_ids: [id] } })

describe('evaluation runs', () => {
  it('are calls that go on until they are finished', async () => {
    const id = await newRun({ source_evaluation_run_id: unknownId, platform_user_id: 'someone', surplus: 1 })
    expect(await callOf(id)).toMatchObject({
      id,
      trace_id: id,
      parent_id: null,
      op_name: 'Evaluation.evaluate',
      ended_at: null,
      inputs: { self: evaluation, model },
      output: null,
      platform_user_id: 'tester',
      attributes: {
        weave: { evaluation_run: 'true', evaluation, model, source_evaluation_run_id: unknownId },
      },
    })
    expect(await read(`evaluation_runs/${id}`)).toEqual({
      evaluation_run_id: id,
      evaluation,
      model,
      status: 'running',
      finished_at: null,
      started_at: expect.stringMatching(/Z$/),
      source_evaluation_run_id: unknownId,
      summary: { weave: { status: 'running', trace_name: 'Evaluation.evaluate' } },
    })
    expect(ok(await ask('POST', `evaluation_runs/${id}/finish`))).toEqual({ success: true })
    const call = await callOf(id)
    expect(call).toMatchObject({ output: {}, exception: null, ended_at: expect.any(String) })
    expect(await read(`evaluation_runs/${id}`)).toMatchObject({ status: 'completed', finished_at: call.ended_at })
    expect(await childrenOf(id)).toMatchObject([
      { op_name: 'Evaluation.summarize', trace_id: id, attributes: {}, inputs: { self: evaluation }, output: {} },
    ])
  })

  it('carry no source that was not given', async () => {
    const id = await newRun({ source_evaluation_run_id: null })
    expect((await callOf(id)).attributes.weave).toEqual({ evaluation_run: 'true', evaluation, model })
    expect((await read(`evaluation_runs/${id}`)).source_evaluation_run_id).toBeNull()
  })

  it('come to the means of their finished predictions', async () => {
    const evaluation_run_id = await newRun()
    const other = `${of}/object/other:${'b'.repeat(43)}`
    const odd = `${of}/object/__proto__:${'c'.repeat(43)}`
    const rows: [output: unknown, ...scores: [string, unknown][]][] = [
      [1, [accuracy, true], [other, 'text'], [odd, 5]],
      [2.5, [accuracy, false], [other, { x: 1 }]],
      ['text', [accuracy, 2]],
      [{ nested: 3 }, [accuracy, null]],
      [true],
    ]
    await Promise.all(
      rows.map(async ([output, ...scores]) => {
        const prediction = await newPrediction({ evaluation_run_id, output })
        for (const [scorer, value] of scores) await newScore(prediction, value, { scorer, evaluation_run_id })
        ok(await ask('POST', `predictions/${prediction}/finish`))
      }),
    )
    const unfinished = await newPrediction({ evaluation_run_id, output: 1000 })
    await newScore(unfinished, 1000, { evaluation_run_id })
    ok(await ask('POST', `evaluation_runs/${evaluation_run_id}/finish`, { summary: { mine: { a: 1 } } }))
    const output = JSON.parse('{"accuracy":{"mean":1},"__proto__":{"mean":5},"output":{"mean":1.5}}')
    const call = await callOf(evaluation_run_id)
    expect(call.output).toEqual(output)
    expect(call.summary).toMatchObject({ mine: { a: 1 }, weave: { status: 'success' } })
    const summarize = (await childrenOf(evaluation_run_id)).filter(({ op_name }) => op_name === 'Evaluation.summarize')
    expect(summarize).toMatchObject([{ output, id: expect.stringMatching(uuid7) }])
    expect((await read(`evaluation_runs/${evaluation_run_id}`)).summary).toMatchObject({ mine: { a: 1 } })
  })

  it('are computed anew when they are finished again, without a second summarize call', async () => {
    const evaluation_run_id = await newRun()
    const finish = (body?: object) => ask('POST', `evaluation_runs/${evaluation_run_id}/finish`, body)
    ok(await finish({ summary: { kept: 1.0, weave: { mine: true } } }))
    const first = await callOf(evaluation_run_id)
    const prediction = await newPrediction({ evaluation_run_id, output: 7 })
    ok(await ask('POST', `predictions/${prediction}/finish`))
    ok(await finish({}))
    const second = await callOf(evaluation_run_id)
    expect(second).toMatchObject({ output: { output: { mean: 7 } }, ended_at: first.ended_at, summary: { kept: 1 } })
    expect(second.summary.weave).toEqual(first.summary.weave)
    expect(first.summary.weave.mine).toBe(true)
    const children = await childrenOf(evaluation_run_id)
    expect(children.map(({ op_name }) => op_name).filter((name) => name === 'Evaluation.summarize')).toHaveLength(1)
    expect(children.find(({ op_name }) => op_name === 'Evaluation.summarize')?.output).toEqual(second.output)
    ok(await finish({ summary: { other: 2 } }))
    expect((await callOf(evaluation_run_id)).summary).toMatchObject({ other: 2, weave: { status: 'success' } })
    expect((await callOf(evaluation_run_id)).summary).not.toHaveProperty('weave.mine')
  })

  it('do not come to anything when the summary has another form', async () => {
    const id = await newRun()
    for (const [summary, loc] of [
      [{ usage: { m: { total_tokens: 'x' } } }, ['usage', 'm', 'total_tokens']],
      [{ status_counts: { none: 1 } }, ['status_counts', 'none']],
      [{ usage: null }, ['usage']],
      [[], []],
    ] as const) {
      const answer = await ask('POST', `evaluation_runs/${id}/finish`, { summary })
      expect([answer.status, answer.json.detail?.[0].loc]).toEqual([422, ['body', 'summary', ...loc]])
    }
    expect(await read(`evaluation_runs/${id}`)).toMatchObject({ status: 'running' })
    expect(await childrenOf(id)).toEqual([])
    const summary = { usage: { m: { total_tokens: '3', requests: true, more: null } }, status_counts: { error: 1 } }
    ok(await ask('POST', `evaluation_runs/${id}/finish`, { summary }))
    expect((await callOf(id)).summary.usage.m).toEqual({ total_tokens: 3, requests: 1, more: null })
  })

  it('that an SDK recorded are read by id, and failed ones say so', async () => {
    const [one, two, three] = ['1', '2', '3'].map((n) => `01890000-0000-7000-8000-00000000000${n}`)
    const op_name = `${of}/op/Evaluation.evaluate:${'0'.repeat(43)}`
    const whole = { ...recorded, trace_id: unknownId, op_name, ended_at: recorded.started_at }
    const batch = [
      { ...whole, id: one, inputs: { self: evaluation, model } },
      { ...whole, id: two, inputs: { this: evaluation, model: {} }, exception: 'broke' },
      { ...whole, id: three, inputs: { self: 3 } },
    ]
    ok(await ask('POST', 'calls/complete', { batch }))
    expect(await read(`evaluation_runs/${one}`)).toMatchObject({ evaluation, model, status: 'completed' })
    expect(await read(`evaluation_runs/${two}`)).toMatchObject({ evaluation, model: '', status: 'failed' })
    expect(await read(`evaluation_runs/${three}`)).toMatchObject({ evaluation: '', model: '' })
    const { lines } = await ask('GET', `evaluation_runs?evaluation_run_ids=${one}`)
    expect(lines).toEqual([])
  })

  it('are not finished as something else, nor is something else as one', async () => {
    const evaluation_run_id = await newRun()
    const prediction = await newPrediction({ evaluation_run_id, output: 'kept' })
    const score = await newScore(prediction, 1, { evaluation_run_id })
    const before = await childrenOf(evaluation_run_id)
    for (const path of [`evaluation_runs/${prediction}`, `evaluation_runs/${score}`, `predictions/${score}`])
      expect((await ask('POST', `${path}/finish`)).status).toBe(404)
    expect(await childrenOf(evaluation_run_id)).toEqual(before)
    expect((await callOf(prediction)).output).toBe('kept')
    // A run has nothing around it that could be ended.
    expect((await ask('POST', `predictions/${evaluation_run_id}/finish`)).json).toEqual({ success: true })
    expect((await callOf(evaluation_run_id)).ended_at).toBeNull()
  })
})

describe('predictions', () => {
  it('of a run lie in a call of predict_and_score', async () => {
    const evaluation_run_id = await newRun()
    const genai_span_ref = [{ trace_id: 't', span_id: 's' }]
    const output = { a: [1, null] }
    const id = await newPrediction({ evaluation_run_id, output, genai_span_ref })
    const [row, ...others] = await childrenOf(evaluation_run_id)
    expect(others).toEqual([])
    expect(row).toMatchObject({
      trace_id: evaluation_run_id,
      ended_at: null,
      output: null,
      op_name: expect.stringMatching(new RegExp(`^${of}/op/Evaluation.predict_and_score:\\w{43}$`)),
      attributes: { weave: { predict_call_id: id, genai_span_ref } },
      inputs: { self: evaluation, model, example: { q: 1 } },
    })
    const call = await callOf(id)
    expect(call).toMatchObject({
      trace_id: evaluation_run_id,
      parent_id: row.id,
      ended_at: expect.any(String),
      output,
      op_name: expect.stringMatching(new RegExp(`^${of}/op/My-Model.predict:\\w{43}$`)),
      inputs: { self: model, inputs: { q: 1 } },
    })
    expect(call.attributes.weave).toEqual({ prediction: 'true', model, evaluation_run_id })
    expect(await read(`predictions/${id}`)).toEqual({
      prediction_id: id,
      model,
      inputs: { q: 1 },
      output,
      evaluation_run_id,
      platform_user_id: 'tester',
    })
    // The ops are there under their object ids.
    for (const object_id of ['evaluation.predict_and_score', 'my-model.predict'])
      ok(await ask('POST', '/obj/read', { project_id, object_id, digest: call.op_name.split(':').at(-1) }))
  })

  it('by themselves have a trace of their own, and any text as model', async () => {
    const id = await newPrediction({ model: 'gpt', output: null })
    expect(await callOf(id)).toMatchObject({
      trace_id: id,
      parent_id: null,
      op_name: expect.stringMatching(/\/op\/Model\.predict:/),
      attributes: { weave: { prediction: 'true', model: 'gpt' } },
    })
    expect(await read(`predictions/${id}`)).toMatchObject({ model: 'gpt', output: null, evaluation_run_id: null })
    expect(ok(await ask('POST', `predictions/${id}/finish`))).toEqual({ success: true })
    expect(await childrenOf(id)).toEqual([])
  })

  it('of a run without a name are by themselves', async () => {
    const id = await newPrediction({ evaluation_run_id: '' })
    const prediction = await callOf(id)
    expect(prediction).toMatchObject({ trace_id: id, parent_id: null })
    expect(prediction.attributes.weave).not.toHaveProperty('evaluation_run_id')
    const score = await callOf(await newScore(id, 1, { evaluation_run_id: '' }))
    expect(score).toMatchObject({ trace_id: score.id, parent_id: null })
    expect(score.attributes.weave).not.toHaveProperty('evaluation_run_id')
  })

  it('of a run that is not known are taken', async () => {
    const evaluation_run_id = unknownId.replace(/0$/, 'f')
    const id = await newPrediction({ evaluation_run_id })
    expect(await callOf(id)).toMatchObject({ trace_id: evaluation_run_id })
    expect(await childrenOf(evaluation_run_id)).toMatchObject([{ inputs: { self: null, model } }])
    const refused = await ask('POST', 'predictions', { model, inputs: {}, output: 1, evaluation_run_id: 'x/y' })
    expect([refused.status, refused.json.reason]).toEqual([400, expect.stringContaining('evaluation_run_id')])
  })

  it('are finished with their output, the last score of each scorer and their latency', async () => {
    const evaluation_run_id = await newRun()
    const id = await newPrediction({ evaluation_run_id, output: 'answer' })
    const before = await callOf(id)
    await newScore(id, 1, { evaluation_run_id })
    await newScore(id, 2, { evaluation_run_id })
    await newScore(id, null, { evaluation_run_id, scorer: `${of}/object/none:x` })
    await newScore(id, { deep: true }, { evaluation_run_id, scorer: `${of}/object/deep:x` })
    // Beside the prediction, but no score of it.
    await newScore(id, 5)
    const finish = () => ask('POST', `predictions/${id}/finish`)
    ok(await finish())
    const rowOf = async () => (await childrenOf(evaluation_run_id))[0]
    const row = await rowOf()
    expect(row.output).toEqual({
      output: 'answer',
      scores: { accuracy: 2, deep: { deep: true } },
      model_latency: { mean: 0 },
    })
    expect(row.ended_at).not.toBeNull()
    expect(await callOf(id)).toEqual(before)
    await newScore(id, 3, { evaluation_run_id })
    ok(await finish())
    expect(await rowOf()).toMatchObject({ ended_at: row.ended_at, output: { scores: { accuracy: 3 } } })
    expect(await callOf(id)).toEqual(before)
  })

  it('that an SDK recorded are read, and finished with the latency of their call', async () => {
    const [run, row, id] = ['a', 'b', 'c'].map((n) => n.repeat(16)) as [string, string, string]
    const whole = { ...recorded, trace_id: 'd'.repeat(32) }
    const ended_at = '2026-05-01T00:00:01.25Z'
    const predictAndScore = `${of}/op/Evaluation.predictAndScore:x`
    const batch = [
      { ...whole, id: row, parent_id: run, op_name: predictAndScore, ended_at, inputs: {} },
      { ...whole, id, parent_id: row, op_name: 'f', ended_at, inputs: { q: 1 }, output: 'x' },
    ]
    ok(await ask('POST', 'calls/complete', { batch }))
    expect(await read(`predictions/${id}`)).toMatchObject({
      model: '',
      inputs: {},
      output: 'x',
      evaluation_run_id: run,
    })
    ok(await ask('POST', `predictions/${id}/finish`))
    expect((await callOf(row)).output).toEqual({ output: 'x', scores: {}, model_latency: { mean: 1.25 } })
  })

  it('that are long are stored whole', async () => {
    const evaluation_run_id = await newRun()
    const inputs = { text: 'some words '.repeat(120_000) }
    const id = await newPrediction({ evaluation_run_id, inputs, output: 1 })
    expect((await read(`predictions/${id}`)).inputs).toEqual(inputs)
    expect((await childrenOf(evaluation_run_id))[0].inputs.example).toEqual(inputs)
  })

  it('keep every digit', async () => {
    const evaluation_run_id = await newRun()
    const inputs = '{"2": 1.0, "1": 123456789012345678901234567890, "a": 1e400, "a": 0.10}'
    const body = `{"model": "m", "inputs": ${inputs}, "output": [1.00, -0], "evaluation_run_id": "${evaluation_run_id}"}`
    const { prediction_id } = ok(await ask('POST', 'predictions', body))
    const kept = (text: string) => text.replaceAll(' ', '')
    const { text } = await ask('GET', `predictions/${prediction_id}`)
    expect(kept(text)).toContain(kept(`"inputs":${inputs},"output":[1.00,-0]`))
    const scored = `{"prediction_id":"${prediction_id}","scorer":"${accuracy}","value":{"x":1.0},"evaluation_run_id":"${evaluation_run_id}"}`
    const score = ok(await ask('POST', 'scores', scored))
    expect((await ask('GET', `scores/${score.score_id}`)).text).toContain('"value":{"x":1.0}')
    ok(await ask('POST', `predictions/${prediction_id}/finish`))
    const calls = await ask('POST', '/calls/stream_query', { project_id, filter: { trace_ids: [evaluation_run_id] } })
    expect(kept(calls.text)).toContain(kept(`"example":${inputs}`))
    expect(kept(calls.text)).toContain(
      '"output":{"output":[1.00,-0],"scores":{"accuracy":{"x":1.0}},"model_latency":{"mean":0.0}}',
    )
  })
})

describe('scores', () => {
  it('of a run lie beside their prediction, and are feedback on it', async () => {
    const evaluation_run_id = await newRun()
    const prediction_id = await newPrediction({ evaluation_run_id, inputs: { q: 2 }, output: 'o' })
    const id = await newScore(prediction_id, 0.5, { evaluation_run_id })
    const prediction = await callOf(prediction_id)
    const call = await callOf(id)
    expect(call).toMatchObject({
      trace_id: evaluation_run_id,
      parent_id: prediction.parent_id,
      output: 0.5,
      ended_at: expect.any(String),
      op_name: expect.stringMatching(/\/op\/accuracy\.score:/),
      inputs: { self: accuracy, inputs: { q: 2 }, output: 'o' },
    })
    expect(call.attributes.weave).toEqual({ score: 'true', prediction_id, scorer: accuracy, evaluation_run_id })
    expect(await read(`scores/${id}`)).toEqual({
      score_id: id,
      scorer: accuracy,
      value: 0.5,
      evaluation_run_id,
      platform_user_id: 'tester',
    })
    const weave_ref = `${of}/call/${prediction_id}`
    const query = { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: weave_ref }] } }
    expect(ok(await ask('POST', '/feedback/query', { project_id, query })).result).toMatchObject([
      {
        weave_ref,
        feedback_type: 'acme.runnable.accuracy',
        payload: { output: 0.5 },
        runnable_ref: accuracy,
        platform_user_id: 'tester',
      },
    ])
  })

  it('of a prediction by itself lie under the run, or in a trace of their own', async () => {
    const evaluation_run_id = await newRun()
    const prediction = await newPrediction()
    const [under, alone] = [await newScore(prediction, 1, { evaluation_run_id }), await newScore(prediction, null)]
    expect(await callOf(under)).toMatchObject({ trace_id: evaluation_run_id, parent_id: evaluation_run_id })
    expect(await callOf(alone)).toMatchObject({ trace_id: alone, parent_id: null })
    expect((await ask('GET', `scores/${alone}`)).text).toContain('"value":0.0,"evaluation_run_id":null')
  })

  it('of a prediction that is not known are taken', async () => {
    for (const prediction_id of [unknownId, 'anything']) {
      const id = await newScore(prediction_id, 'x', { evaluation_run_id: unknownId })
      expect(await callOf(id)).toMatchObject({ parent_id: unknownId, inputs: { inputs: {}, output: null } })
    }
  })

  it('need the ref of an object', async () => {
    for (const scorer of ['accuracy', '', `${of}/call/x`, `${of}/op/f:x`, `${of}/object/x`]) {
      const answer = await ask('POST', 'scores', { prediction_id: unknownId, scorer, value: 1 })
      expect([answer.status, answer.json.reason]).toEqual([400, expect.stringContaining('scorer')])
    }
  })

  it('are not stored when their feedback is refused', async () => {
    const evaluation_run_id = await newRun()
    const value = 'x'.repeat(2 ** 20)
    const body = { prediction_id: unknownId, scorer: accuracy, value, evaluation_run_id }
    expect((await ask('POST', 'scores', body)).status).toBe(400)
    expect(await childrenOf(evaluation_run_id)).toEqual([])
  })
})
