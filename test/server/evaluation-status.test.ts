// POST /evaluations/status: each code, and how rows are counted.
import { beforeAll, describe, expect, it } from 'vitest'
import { openKeys } from '../../services/core/http/keys.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { type Asking, askingIn } from '../fixtures/evaluation-runs.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'acme/status'
const model = `weave:///${project_id}/object/m:${'m'.repeat(43)}`
const unknownId = '01890000-0000-7000-8000-000000000000'

let server: RunningServer
let ask: Asking
let evaluation: string
beforeAll(async () => {
  server = await sharedServer()
  ask = askingIn(server, project_id)
  evaluation = await publish(project_id, { trials: 2 })
})

const createObject = async (project_id: string, object_id: string, val: object) => {
  const { digest } = await server.send<{ digest: string }>('/obj/create', { obj: { project_id, object_id, val } })
  return `weave:///${project_id}/object/${object_id}:${digest}`
}
/** An evaluation on a dataset of three rows. */
async function publish(project_id: string, more: object): Promise<string> {
  const rows = [{ a: 1 }, { a: 2 }, { a: 3 }]
  const { digest } = await server.send<{ digest: string }>('/table/create', { table: { project_id, rows } })
  const dataset = await createObject(project_id, 'dataset', { rows: `weave:///${project_id}/table/${digest}` })
  return createObject(project_id, 'evaluation', { dataset, scorers: [], ...more })
}
const newRun = async (of = evaluation) =>
  (await ask('POST', 'evaluation_runs', { evaluation: of, model })).json.evaluation_run_id as string
const predict = async (evaluation_run_id: string, isFinished = true) => {
  const { json } = await ask('POST', 'predictions', { model, inputs: {}, output: 1, evaluation_run_id })
  if (isFinished) await ask('POST', `predictions/${json.prediction_id}/finish`)
}
const statusOf = async (call_id: string, headers: Record<string, string> = {}) => {
  const { status, json, text } = await ask('POST', '/evaluations/status', { project_id, call_id }, headers)
  expect(status, text).toBe(200)
  return json.status
}
const running = (completed_rows: number, total_rows: number) => ({ code: 'running', completed_rows, total_rows })

describe('an evaluation', () => {
  it('that is not there is not found', async () => {
    for (const id of [unknownId, 'x', '']) expect(await statusOf(id)).toEqual({ code: 'not_found' })
  })

  it('that runs tells how many rows are done, of its dataset once per trial', async () => {
    const run = await newRun()
    expect(await statusOf(run)).toEqual(running(0, 6))
    await predict(run)
    await predict(run, false)
    expect(await statusOf(run)).toEqual(running(1, 6))
  })

  it('of which nothing is known has as many rows as are done', async () => {
    const gone = (await publish('acme/status-other', {})).replace(/.$/, '0')
    const notes = await createObject(project_id, 'notes', { dataset: 3 })
    const unreadable = [model, gone, notes, evaluation.replace(/[^:]*$/, 'latest')]
    const runs = await Promise.all(
      unreadable.map(async (of) => {
        const run = await newRun(of)
        await predict(run)
        return run
      }),
    )
    for (const [n, run] of runs.entries()) expect(await statusOf(run), unreadable[n]).toEqual(running(1, 1))
  })

  it('in a project that the caller may not read has as many rows as are done', async () => {
    const run = await newRun(await publish('secret/project', {}))
    expect(await statusOf(run)).toEqual(running(0, 3))
    const keys = openKeys({ dataDir: server.dataDir, configured: [] })
    const authorization = basicAuth(keys.create({ userId: 'reader of status', role: 'read', grants: ['acme'] }).text)
    expect(await statusOf(run, { authorization })).toEqual(running(0, 0))
  })

  it('with more rows done than its dataset has counts those', async () => {
    const run = await newRun(await publish('acme/small', { trials: 'many' }))
    await Promise.all([1, 2, 3, 4].map(() => predict(run)))
    expect(await statusOf(run)).toEqual(running(4, 4))
  })

  it('that has ended shows its output', async () => {
    const run = await newRun()
    await predict(run)
    await ask('POST', `evaluation_runs/${run}/finish`)
    expect(await statusOf(run)).toEqual({ code: 'complete', output: { output: { mean: 1 } } })
  })

  it('recorded by an SDK shows its failure, or its output as an object', async () => {
    const ids = ['1', '2', '3'].map((n) => `01890000-0000-7000-8000-00000000000${n}`) as [string, string, string]
    const whole = {
      project_id,
      trace_id: unknownId,
      started_at: '2026-05-01T00:00:00Z',
      ended_at: '2026-05-01T00:00:00Z',
      op_name: `weave:///${project_id}/op/Evaluation.evaluate:x`,
      attributes: {},
      inputs: {},
      summary: {},
    }
    const batch = [
      { ...whole, id: ids[0], exception: 'broke', output: {} },
      { ...whole, id: ids[1], output: [1] },
      { ...whole, id: ids[2], op_name: 'another' },
    ]
    expect((await ask('POST', 'calls/complete', { batch })).status).toBe(200)
    expect(await statusOf(ids[0])).toEqual({ code: 'failed', error: 'broke' })
    expect(await statusOf(ids[1])).toEqual({ code: 'complete', output: { output: [1] } })
    const other = await ask('POST', '/evaluations/status', { project_id, call_id: ids[2] })
    expect([other.status, other.json]).toEqual([400, { reason: expect.any(String) }])
  })

  it('needs an id', async () => {
    const answer = await ask('POST', '/evaluations/status', { project_id })
    expect([answer.status, answer.json.detail?.[0].loc]).toEqual([422, ['body', 'call_id']])
  })
})
