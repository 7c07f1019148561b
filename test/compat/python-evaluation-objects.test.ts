// tier: deep compat
// The published Python SDK's client makes, lists, reads and deletes evaluation objects, and sees those that it publishes.
import { describe, expect, it } from 'vitest'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

describe(`evaluation objects of the Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  it('are made, listed, read and deleted', { timeout: 180_000 }, async () => {
    const report = await runPython<Record<string, unknown>>(
      'evaluation_objects.py',
      ['compat/evaluation-objects'],
      server,
    )
    const own = ['my_op', 'my_set', 'my_scorer', 'my_evaluation', 'my_model']
    expect(report).toEqual({
      created: own.map((id) => [id, 0]),
      refs: [true, true, true],
      op: 'def f(): ...',
      dataset: ['My Set', 'd', true],
      rows: [{ q: 1 }, { q: null }],
      scorer: '///compat/evaluation-objects/op/my_scorer_score',
      evaluation: ['My Evaluation', true, true, 3],
      evaluation_ops: ['my_evaluation.evaluate', 'my_evaluation.predict_and_score', 'my_evaluation.summarize'],
      model: ['My Model', 'class M: ...', { t: 0.5 }],
      datasets: ['published set', 'My Set'],
      scorers: [
        ['Length', 'Length.score'],
        ['my_scorer', 'my_scorer_score'],
      ],
      evaluations: [
        ['published evaluation', 2, 1],
        ['My Evaluation', 3, 1],
      ],
      models: [
        ['Greeter', '', ['greeting', 'predict']],
        ['my_model', 'class M: ...', ['t']],
      ],
      ops: [
        'Evaluation.evaluate',
        'Evaluation.predict_and_score',
        'Evaluation.summarize',
        'Greeter.predict',
        'Length.score',
        'Scorer.summarize',
        'my_evaluation.evaluate',
        'my_evaluation.predict_and_score',
        'my_evaluation.summarize',
        'my_op',
        'my_scorer_score',
        'my_scorer_summarize',
      ],
      published_op: true,
      page: ['My Set'],
      again: 1,
      deleted: [2, 1, 1, 1, 1],
      missing: ['NotFoundError', true],
    })
  })
})
