// tier: deep compat
// The published Python SDK's own evaluation is read back as a run, and its methods for runs make another one.
import { describe, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

type Record = { [key: string]: unknown }
type Report = {
  recorded: Record
  id: string
  refs: [evaluation: string, model: string]
  output: Record
  predicted: Record
  run: string
  runs: Record[]
  predictions: Record[]
  scores: Record[]
  score: Record
  made: Record
  tree: string[]
  feedback: unknown[]
  deleted: Record[]
  left: number
}

describe(`evaluations of the Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  it('are read as runs, and made by its methods', { timeout: 180_000 }, async () => {
    const project_id = 'compat/python-evaluations'
    const report = await runPython<Report>('evaluations.py', [project_id], server)
    const [evaluation, model] = report.refs
    expect(report.recorded).toMatchObject({
      evaluation_run_id: report.id,
      evaluation,
      model,
      status: 'completed',
      source_evaluation_run_id: null,
      summary: { weave: { status: 'success' } },
    })
    expect(report.output).toMatchObject({ right: { true_count: 2 } })
    expect(report.predicted).toMatchObject({
      evaluation_run_id: report.id,
      output: expect.any(Number),
      wb_user_id: 'tester',
    })

    const { run } = report
    expect(report.runs).toMatchObject([{ evaluation_run_id: run, evaluation, model, status: 'completed' }])
    expect(report.runs[0]?.summary).toMatchObject({ by: 'hand' })
    expect(report.predictions).toMatchObject(
      [3, 4, 5].map((output) => ({
        evaluation_run_id: run,
        model,
        output,
        inputs: { a: output - 2 },
        wb_user_id: 'tester',
      })),
    )
    expect(report.scores).toMatchObject([{ value: true }, { value: true }])
    expect(report.score).toEqual(report.scores[0])
    expect(report.made).toEqual({ judge: { mean: 2 / 3 }, output: { mean: 4 } })
    const rows = ['Adder.predict', 'Evaluation.predict_and_score', 'judge.score'].flatMap((name) => [name, name, name])
    expect(report.tree).toEqual([...rows, 'Evaluation.evaluate', 'Evaluation.summarize'].sort())
    expect(report.feedback).toEqual([['wandb.runnable.judge', true]])
    expect(report.deleted).toEqual([{ num_deleted: 1 }, { num_deleted: 3 }, { num_deleted: 1 }])
    expect(report.left).toBe(0)

    const status = await post(server.url, '/evaluations/status', { project_id, call_id: report.id })
    expect(JSON.parse(status.text)).toMatchObject({ status: { code: 'complete', output: report.output } })
  })
})
