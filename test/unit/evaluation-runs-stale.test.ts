// Runs, predictions and scores while the tables are behind the log, or when what they are written to refuses.
import { describe, expect, it } from 'vitest'
import { createClock } from '../../services/core/clock/clock.ts'
import { createKeyedLock } from '../../services/core/concurrency/keyed-lock.ts'
import { Fault } from '../../services/core/http/errors.ts'
import { createInvoke } from '../../services/core/http/invoke.ts'
import type { Reply, Route } from '../../services/core/http/route.ts'
import { createRunRoutes } from '../../services/evaluation/routes.ts'
import { createCall } from '../fixtures/route-call.ts'

const id = '01890000-0000-7000-8000-000000000000'
const behind = { 'X-Callhouse-Stale': '350' }
const found = {
  id,
  op_name: 'Evaluation.evaluate',
  trace_id: id,
  parent_id: null,
  started_at: '2026-05-01T00:00:00Z',
  ended_at: null,
  exception: null,
  attributes: {},
  inputs: {},
  output: null,
  summary: {},
}
const taken = { json: { res: [{}, {}, {}] }, headers: { 'X-Callhouse-Position': 'calls=5' } }

async function* linesOf(call: object | null): AsyncGenerator<string> {
  if (call !== null) yield `${JSON.stringify(call)}\n`
}

/** The routes over others that answer what they are told to, and the bodies that those were sent. */
function over(call: object | null, headers: Record<string, string>, answers: Record<string, () => Reply> = {}) {
  const sent: string[] = []
  const all: Record<string, () => Reply> = {
    'calls.read': () => ({ json: { call } }),
    'calls.stream_query': () => ({ lines: linesOf(call), contentType: 'application/jsonl' }),
    'calls.upsert_batch': () => taken,
    'calls.delete': () => ({ json: { num_deleted: 1 } }),
    'feedback.create': () => ({ json: {}, headers: { 'X-Callhouse-Position': 'feedback=6' } }),
    ...answers,
  }
  const routes = Object.entries(all).map(
    ([name, answer]): Route => ({
      name,
      method: 'GET',
      path: `/${name}`,
      right: 'any',
      summary: '',
      body: { type: 'none' },
      response: null,
      async handle() {
        sent.push(name)
        return answer()
      },
    }),
  )
  const own = createRunRoutes({
    invoke: createInvoke({ routes: () => routes, config: { maxBodyBytes: 1_000_000, maxJsonDepth: 100 } }),
    freshness: { wait: async () => headers },
    ensureOps: async (_project, _user, names) => ({
      refs: names.map((name) => `weave:///e/p/op/${name}:x`),
      positions: [{ topic: 'objects', partition: 0, offset: 4 }],
    }),
    clock: createClock(),
    lock: createKeyedLock(),
    config: { wirePrefix: 'platform', feedbackPrefix: 'wandb' },
  })
  const params = { entity: 'e', project: 'p', evaluation_run_id: id, prediction_id: id, score_id: id }
  const ask = (name: string, json: object = {}) => {
    const route = own.find((one) => one.name === name) as Route
    return createCall([route])(route.path, { json }, { params })
  }
  return { ask, sent }
}

const run = { evaluation: 'weave:///e/p/object/e:v', model: 'weave:///e/p/object/m:v' }
const prediction = { model: 'm', inputs: {}, output: 1, evaluation_run_id: id }
const score = { prediction_id: id, scorer: 'weave:///e/p/object/s:v', value: 1, evaluation_run_id: id }

describe('while the tables are behind', () => {
  it.each([
    ['evaluation_runs.read', {}],
    ['predictions.read', {}],
    ['scores.read', {}],
    ['predictions.create', prediction],
    ['scores.create', score],
  ])('what %s does not find may be there: ask again', async (name, body) => {
    const { ask, sent } = over(null, behind)
    const { status, headers } = await ask(name, body)
    expect([status, headers['Retry-After'], sent]).toEqual([503, '1', ['calls.read']])
    expect((await over(null, {}).ask(name, body)).status).toBe(name.endsWith('read') ? 404 : 200)
  })

  it.each([
    ['evaluation_runs.finish', {}],
    ['predictions.finish', {}],
    ['evaluation_runs.delete', { evaluation_run_ids: [id] }],
    ['predictions.delete', { prediction_ids: [id] }],
    ['scores.delete', { score_ids: [id] }],
  ])('%s does not decide by what happens to be there', async (name, body) => {
    const { ask, sent } = over(found, behind)
    expect([(await ask(name, body)).status, sent]).toEqual([503, []])
    expect((await over(found, {}).ask(name, body)).status).toBe(200)
  })

  it.each([
    ['evaluation_runs.read', {}],
    ['evaluation_runs.list', {}],
    ['predictions.read', {}],
    ['predictions.list', {}],
    ['scores.list', {}],
    ['evaluations.status', { project_id: 'e/p', call_id: id }],
  ])('what %s shows says so', async (name, body) => {
    const { status, headers } = await over({ ...found, exception: 'x' }, behind).ask(name, body)
    expect([status, headers]).toEqual([200, behind])
  })

  it('a run is started all the same', async () => {
    const { status, headers } = await over(null, behind).ask('evaluation_runs.create', run)
    expect([status, headers]).toEqual([200, { 'X-Callhouse-Position': 'calls=5' }])
  })
})

describe('writes', () => {
  it('tell all their positions', async () => {
    const { ask } = over(found, {})
    const position = async (name: string, body: object) => (await ask(name, body)).headers['X-Callhouse-Position']
    expect(await position('predictions.create', prediction)).toBe('objects=4,calls=5')
    expect(await position('scores.create', score)).toBe('objects=4,feedback=6,calls=5')
    expect(await position('evaluation_runs.finish', {})).toBe('calls=5')
  })

  it('are refused as the calls are', async () => {
    const refused = { json: { res: [{}, { error: { reason: 'not this one' } }, {}] } }
    const { ask } = over(found, {}, { 'calls.upsert_batch': () => refused })
    for (const [name, body] of [
      ['evaluation_runs.create', run],
      ['predictions.create', prediction],
      ['evaluation_runs.finish', {}],
    ] as const) {
      const { status, json } = await ask(name, body)
      expect([status, json]).toEqual([400, { reason: 'not this one' }])
    }
  })

  it('go on being sent again when the log is full', async () => {
    const full = () => {
      throw new Fault(429, { reason: 'too much' }, { 'Retry-After': '3' })
    }
    const { status, headers } = await over(found, {}, { 'calls.upsert_batch': full }).ask(
      'predictions.create',
      prediction,
    )
    expect([status, headers]).toEqual([429, { 'Retry-After': '3' }])
  })
})
