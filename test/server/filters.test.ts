// No condition of a request that selects calls is passed over: users and runs go by either spelling under any prefix, and
// what is not known is refused. Of a filter that is left out, every call of a project is what is left.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'filters/all'
const trace = (n: number) => `00000000-0000-7000-8000-00000000000${n}`
const time = { start: '2026-01-05T00:00:00Z', end: '2026-01-06T00:00:00Z' }
let server: LiveServer

beforeAll(async () => {
  server = await startLiveServer(['--wire-prefix', 'wb'])
  const batch = [1, 2, 3].map((n) => ({
    ...{
      project_id,
      id: trace(n),
      trace_id: trace(n),
      op_name: 'ask',
      attributes: {},
      inputs: {},
      summary: {},
      output: null,
    },
    ...{ started_at: `2026-01-05T12:00:0${n}Z`, ended_at: '2026-01-05T12:01:00Z', wb_run_id: `${project_id}/run-${n}` },
  }))
  const answer = await post(server.now().url, '/v2/filters/all/calls/complete', { batch })
  expect([answer.status, answer.text]).toEqual([200, '{}'])
})
afterAll(() => server.remove())

const ask = (path: string, body: object) => post(server.now().url, path, { project_id, ...body })

/** Every route that takes the filter of calls, with what else it needs, and whether it takes an expression too. */
const selecting: [path: string, more: object, query: boolean][] = [
  ['/calls/stream_query', {}, true],
  ['/calls/query_stats', {}, true],
  ['/calls/aggregate', { ...time, metrics: [{ field: 'calls' }] }, true],
  ['/calls/values', { fields: ['op_name'] }, true],
  ['/calls/stats', { ...time, call_metrics: [{ metric: 'call_count', aggregations: ['sum'] }] }, false],
  ['/trace/usage', {}, true],
  ['/export/calls', { format: 'jsonl' }, true],
]

it.each(selecting)('%s takes both spellings, and refuses what it does not know', async (path, more, query) => {
  for (const prefix of ['platform', 'wb']) {
    const { status } = await ask(path, {
      ...more,
      filter: { [`${prefix}_user_ids`]: ['x'], [`${prefix}_run_ids`]: ['x'] },
    })
    expect([prefix, status]).toEqual([prefix, 200])
  }
  for (const filter of [{ user_ids: ['x'] }, { platform_user_id: ['x'] }, { op_names: ['ask'], thread: ['x'] }]) {
    const { status, text } = await ask(path, { ...more, filter })
    expect([filter, status, JSON.parse(text)]).toMatchObject([filter, 422, { detail: [{ type: 'extra_forbidden' }] }])
  }
  if (!query) return
  const known = { $eq: [{ $getField: 'op_name' }, { $literal: 'x' }] }
  for (const $expr of [{ $ne: known.$eq }, { ...known, $ne: known.$eq }, { $and: [known, { $matches: known.$eq }] }])
    expect([$expr, (await ask(path, { ...more, query: { $expr } })).status]).toEqual([$expr, 422])
})

it('both spellings select the same in filters, conditions, orders, columns and files', async () => {
  for (const prefix of ['platform', 'wb']) {
    const field = `${prefix}_run_id`
    const found = async (body: object) =>
      (await ask('/calls/stream_query', body)).text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(await found({ filter: { [`${prefix}_run_ids`]: ['run-2'] } })).toMatchObject([{ id: trace(2) }])
    expect(await found({ filter: { [`${prefix}_user_ids`]: ['nobody'] } })).toEqual([])
    const $expr = { $eq: [{ $getField: field }, { $literal: `${project_id}/run-3` }] }
    expect(await found({ query: { $expr } })).toMatchObject([{ id: trace(3) }])
    const sorted = await found({ sort_by: [{ field, direction: 'desc' }], columns: [field] })
    expect(sorted.map((call) => call.wb_run_id)).toEqual([3, 2, 1].map((n) => `${project_id}/run-${n}`))
    const { text } = await ask('/export/calls', {
      format: 'csv',
      columns: ['id', field],
      filter: { call_ids: [trace(1)] },
    })
    const file = await (await fetch((JSON.parse(text) as { url: string }).url)).text()
    expect(file).toBe(`id,${field}\r\n${trace(1)},${project_id}/run-1\r\n`)
  }
})

it('a filter by both spellings is of both', async () => {
  const count = async (filter: object) => JSON.parse((await ask('/calls/query_stats', { filter })).text).count
  expect(await count({ platform_run_ids: ['run-1', 'run-2'], wb_run_ids: ['run-2', 'run-3'] })).toBe(1)
})
