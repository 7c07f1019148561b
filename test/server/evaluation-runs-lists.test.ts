// Lists of evaluation runs, predictions and scores, deleting them, and what is refused.
import { beforeAll, describe, expect, it } from 'vitest'
import { openKeys } from '../../services/core/http/keys.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { type Asking, askingIn } from '../fixtures/evaluation-runs.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'acme/lists'
const refOf = (name: string) => `weave:///${project_id}/object/${name}:${name.repeat(43).slice(0, 43)}`
const [scorer, model, other, evaluation] = ['s', 'm', 'o', 'e'].map(refOf) as [string, string, string, string]
const unknownId = '01890000-0000-7000-8000-000000000000'

let server: RunningServer
let ask: Asking
beforeAll(async () => {
  server = await sharedServer()
  ask = askingIn(server, project_id)
})

const made = async (what: string, body: object, asking = ask): Promise<string> => {
  const { status, json, text } = await asking('POST', what, body)
  expect(status, text).toBe(200)
  return Object.values(json)[0] as string
}
const listed = async (path: string, asking = ask) => {
  const { status, text, lines, headers } = await asking('GET', path)
  expect(status, text).toBe(200)
  expect(headers.get('content-type')).toBe('application/jsonl')
  return lines
}
const query = (fields: Record<string, string | string[]>) => {
  const pairs = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  )
  return `?${new URLSearchParams(pairs)}`
}

describe('lists', () => {
  const evaluations = ['a', 'b', 'c', 'd'].map(refOf)
  const runs: string[] = []
  const predictions: string[] = []
  const scores: string[] = []
  beforeAll(async () => {
    for (const [n, evaluation] of evaluations.entries())
      runs.push(
        await made('evaluation_runs', { evaluation, model: n % 2 ? other : model, source_evaluation_run_id: 'x' }),
      )
    for (const [n, run] of [runs[0], runs[1], undefined, runs[0]].entries()) {
      const evaluation_run_id = run === undefined ? {} : { evaluation_run_id: run }
      const prediction_id = await made('predictions', { model, inputs: { n }, output: n, ...evaluation_run_id })
      predictions.push(prediction_id)
      scores.push(await made('scores', { prediction_id, scorer, value: n / 2, ...evaluation_run_id }))
    }
  })

  const runsOf = async (fields: Record<string, string | string[]>) =>
    (await listed(`evaluation_runs${query(fields)}`)).map((run) => runs.indexOf(run.evaluation_run_id))

  it('of runs hold records, oldest first', async () => {
    const lines = await listed('evaluation_runs')
    expect(lines.map((run) => run.evaluation_run_id)).toEqual(runs)
    for (const [n, line] of lines.entries())
      expect([line.source_evaluation_run_id, line]).toEqual([
        'x',
        (await ask('GET', `evaluation_runs/${runs[n]}`)).json,
      ])
  })

  it.each(['evaluations', 'evaluation_refs'])('of runs are filtered by %s, however they are spelled', async (name) => {
    const [a, b, c] = evaluations as [string, string, string]
    expect(await runsOf({ [name]: a })).toEqual([0])
    expect(await runsOf({ [name]: [a, c] })).toEqual([0, 2])
    expect(await runsOf({ [name]: `${a},${c}` })).toEqual([0, 2])
    expect(await runsOf({ evaluations: a, evaluation_refs: `${b},${c}` })).toEqual([0, 1, 2])
    expect(await runsOf({ [name]: '' })).toEqual([0, 1, 2, 3])
    expect(await runsOf({ [name]: refOf('z') })).toEqual([])
  })

  it('of runs are filtered by model and id, all filters together', async () => {
    const [zero, one, two] = runs as [string, string, string]
    expect(await runsOf({ models: model })).toEqual([0, 2])
    expect(await runsOf({ model_refs: `${other},nothing` })).toEqual([1, 3])
    expect(await runsOf({ models: model, model_refs: other })).toEqual([0, 1, 2, 3])
    expect(await runsOf({ evaluation_run_ids: [two, one] })).toEqual([1, 2])
    expect(await runsOf({ evaluation_run_ids: `${two},${zero}`, models: model })).toEqual([0, 2])
    expect(await runsOf({ evaluation_run_ids: one, models: model })).toEqual([])
    expect(await runsOf({ evaluation_run_ids: [predictions[0] as string, unknownId, 'x'] })).toEqual([])
  })

  it('of runs are cut by limit and offset', async () => {
    expect(await runsOf({ limit: '2' })).toEqual([0, 1])
    expect(await runsOf({ limit: '2', offset: '1' })).toEqual([1, 2])
    expect(await runsOf({ offset: '3' })).toEqual([3])
    expect(await runsOf({ limit: '0' })).toEqual([])
    expect(await runsOf({ offset: '9' })).toEqual([])
    expect((await ask('GET', 'evaluation_runs?limit=0')).text).toBe('')
  })

  it('of predictions and scores hold records of all or of one run', async () => {
    for (const [what, ids] of [
      ['predictions', predictions],
      ['scores', scores],
    ] as const) {
      const lines = await listed(what)
      const idOf = (line: object) => ids.indexOf(Object.values(line)[0])
      expect(lines.map(idOf)).toEqual([0, 1, 2, 3])
      for (const [n, line] of lines.entries()) expect((await ask('GET', `${what}/${ids[n]}`)).json).toEqual(line)
      const ofRun = (run: string | undefined, more = '') => listed(`${what}?evaluation_run_id=${run}${more}`)
      expect((await ofRun(runs[0])).map(idOf)).toEqual([0, 3])
      expect((await ofRun(runs[0], '&limit=1&offset=1')).map(idOf)).toEqual([3])
      expect(await ofRun(unknownId)).toEqual([])
      expect(lines[2]).toMatchObject({ evaluation_run_id: null })
    }
  })

  it('refuse what is no count', async () => {
    for (const what of ['evaluation_runs', 'predictions', 'scores'])
      for (const name of ['limit', 'offset']) {
        const wrong = await ask('GET', `${what}?${name}=x`)
        expect([wrong.status, wrong.json.detail]).toMatchObject([422, [{ loc: ['query', name], type: 'int_parsing' }]])
        expect((await ask('GET', `${what}?${name}=-1`)).status).toBe(400)
      }
  })

  it('tell in the interface document what they take', async () => {
    const { paths } = (await ask('GET', '/openapi.json')).json
    const { get, delete: remove } = paths['/v2/{entity}/{project}/evaluation_runs']
    const inQuery = ({ parameters }: { parameters: { in: string; name: string; required: boolean }[] }) =>
      parameters.filter((one) => one.in === 'query' && !one.required).map(({ name }) => name)
    const filters = ['evaluations', 'models', 'evaluation_run_ids', 'evaluation_refs', 'model_refs']
    expect(inQuery(get)).toEqual(['limit', 'offset', ...filters])
    expect([inQuery(remove), remove.requestBody.required]).toEqual([['evaluation_run_ids'], false])
  })

  it('show nothing of other projects', async () => {
    for (const what of ['evaluation_runs', 'predictions', 'scores'])
      expect(await listed(what, askingIn(server, 'acme/other'))).toEqual([])
  })

  it('and writes need their rights', async () => {
    const keys = openKeys({ dataDir: server.dataDir, configured: [] })
    const as = (role: 'read' | 'ingest', grants: string[]) => ({
      authorization: basicAuth(keys.create({ userId: `${role} of lists`, role, grants }).text),
    })
    const body = { evaluation: refOf('a'), model }
    expect((await ask('POST', 'evaluation_runs', body, as('read', ['acme']))).status).toBe(403)
    expect((await ask('POST', 'evaluation_runs', body, as('ingest', ['acme']))).status).toBe(403)
    expect((await ask('GET', 'evaluation_runs', undefined, as('read', ['acme']))).lines).toHaveLength(4)
    expect((await ask('GET', 'evaluation_runs', undefined, as('read', ['others']))).status).toBe(403)
    expect((await ask('GET', 'evaluation_runs', undefined, { authorization: 'Bearer x' })).status).toBe(401)
  })
})

describe('deleting', () => {
  const project = 'acme/deleted'
  const asking: Asking = (...request) => askingIn(server, project)(...request)
  const callsLeft = async () =>
    (await server.list<{ id: string }>('/calls/stream_query', { project_id: project, columns: ['id'] })).map(
      ({ id }) => id,
    )
  const world = async () => {
    const evaluation_run_id = await made('evaluation_runs', { evaluation: refOf('a'), model }, asking)
    const prediction = await made('predictions', { model, inputs: {}, output: 1, evaluation_run_id }, asking)
    const score = await made('scores', { prediction_id: prediction, scorer, value: 1, evaluation_run_id }, asking)
    return { run: evaluation_run_id, prediction, score }
  }
  const remove = async (path: string, body?: unknown) => {
    const { status, json, text } = await asking('DELETE', path, body)
    expect(status, text).toBe(200)
    return json
  }

  it('takes runs with everything below them, and counts the ids that were given', async () => {
    const [kept, one, two] = [await world(), await world(), await world()]
    const ids = `evaluation_run_ids=${one.run}&evaluation_run_ids=${two.run}&evaluation_run_ids=${unknownId}`
    expect(await remove(`evaluation_runs?${ids}`)).toEqual({ num_deleted: 3 })
    for (const path of [`evaluation_runs/${one.run}`, `predictions/${two.prediction}`, `scores/${two.score}`])
      expect((await asking('GET', path)).status).toBe(404)
    expect(await callsLeft()).toHaveLength(4)
    expect(await listed('evaluation_runs', asking)).toMatchObject([{ evaluation_run_id: kept.run }])
    expect(await remove(`evaluation_runs?${ids}`)).toEqual({ num_deleted: 3 })
    expect(await remove('evaluation_runs', { evaluation_run_ids: [kept.run, kept.run] })).toEqual({ num_deleted: 2 })
    expect(await callsLeft()).toEqual([])
    for (const [method, path] of [
      ['POST', `evaluation_runs/${kept.run}/finish`],
      ['POST', `predictions/${kept.prediction}/finish`],
    ] as const)
      expect((await asking(method, path)).status).toBe(404)
  })

  it('takes predictions and scores by themselves', async () => {
    const { run, prediction, score } = await world()
    expect(await remove(`scores?score_ids=${score}`)).toEqual({ num_deleted: 1 })
    expect((await asking('GET', `scores/${score}`)).status).toBe(404)
    expect((await asking('GET', `predictions/${prediction}`)).status).toBe(200)
    expect(await remove(`predictions?prediction_ids=${prediction},${unknownId}`)).toEqual({ num_deleted: 2 })
    expect((await asking('GET', `predictions/${prediction}`)).status).toBe(404)
    expect(await listed('predictions', asking)).toEqual([])
    expect((await asking('GET', `evaluation_runs/${run}`)).status).toBe(200)
  })

  it('needs a list, of at most a thousand', async () => {
    for (const [what, name] of [
      ['evaluation_runs', 'evaluation_run_ids'],
      ['predictions', 'prediction_ids'],
      ['scores', 'score_ids'],
    ] as const) {
      for (const body of [undefined, {}, { [name]: null }]) {
        const { status, json } = await asking('DELETE', what, body)
        expect([status, json.detail]).toEqual([422, [{ loc: ['query', name], msg: 'Field required', type: 'missing' }]])
      }
      expect((await asking('DELETE', what, { [name]: [1] })).json.detail?.[0].loc).toEqual(['body', name, 0])
      const many = Array.from({ length: 1001 }, (_, n) => unknownId.replace(/.{4}$/, String(n).padStart(4, '0')))
      const repeated = new URLSearchParams(many.map((id): [string, string] => [name, id]))
      expect((await asking('DELETE', `${what}?${repeated}`)).status).toBe(413)
      expect((await asking('DELETE', what, { [name]: many })).status).toBe(413)
      expect((await asking('DELETE', what, { [name]: many.slice(1) })).json).toEqual({ num_deleted: 1000 })
      expect(await remove(what, { [name]: [] })).toEqual({ num_deleted: 0 })
    }
  })
})

describe('refusals', () => {
  it.each([
    ['evaluation_runs', { model }, ['body', 'evaluation']],
    ['evaluation_runs', { evaluation, model: null }, ['body', 'model']],
    ['predictions', { model, inputs: {} }, ['body', 'output']],
    ['predictions', { model, inputs: [], output: 1 }, ['body', 'inputs']],
    ['predictions', { inputs: {}, output: 1 }, ['body', 'model']],
    ['predictions', { model, inputs: {}, output: 1, genai_span_ref: [{}] }, ['body', 'genai_span_ref', 0, 'trace_id']],
    ['scores', { prediction_id: 'p', scorer }, ['body', 'value']],
    ['scores', { scorer, value: 1 }, ['body', 'prediction_id']],
  ])('%s %j', async (path, body, loc) => {
    const answer = await ask('POST', path, body)
    expect([answer.status, answer.json.detail?.[0]?.loc]).toEqual([422, loc])
  })

  it('of what is no ref', async () => {
    for (const body of [
      { evaluation: 'mine', model },
      { evaluation, model: 'gpt' },
    ])
      expect((await ask('POST', 'evaluation_runs', body)).status).toBe(400)
  })

  it('of what is not there', async () => {
    for (const [method, path] of [
      ['GET', 'evaluation_runs/x'],
      ['GET', `evaluation_runs/${unknownId}`],
      ['GET', `predictions/${unknownId}`],
      ['GET', `scores/${unknownId}`],
      ['POST', `evaluation_runs/${unknownId}/finish`],
      ['POST', `predictions/${unknownId}/finish`],
    ] as const) {
      const answer = await ask(method, path)
      expect([path, answer.status, answer.json]).toEqual([path, 404, { reason: expect.any(String) }])
    }
  })

  it('of a project that is none', async () => {
    for (const part of ['a%2Fb', '%2F']) expect((await ask('GET', `/v2/acme/${part}/evaluation_runs`)).status).toBe(400)
  })
})
