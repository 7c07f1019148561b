// POST /calls/aggregate by the end user whom programs name: calls, errors and costs of each, as the dashboard asks for them.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CallsAggregateResponse } from '../../schemas/calls-aggregate.ts'
import { storedBoard } from '../../services/web/page/dashboards/own-boards.ts'
import { boards, type Panel, templates } from '../../services/web/page/engine/boards.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, integer, text } from '../fixtures/otel.ts'
import { tokensSent } from '../fixtures/sent-calls.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server?.remove())

const project_id = 'acme/end-users'
const startMs = Date.UTC(2026, 8, 14, 9)
const time = (n: number) => new Date(startMs + n * 1000).toISOString()

/** Of a user, or of none. */
const callOf = (end_user: string | undefined, n: number) => ({
  project_id,
  id: randomUUID(),
  trace_id: randomUUID(),
  parent_id: null,
  op_name: 'answer',
  // Several start at one time.
  started_at: time(n >> 1),
  attributes: { tenant: 'blue', ...(end_user !== undefined && { end_user }) },
  inputs: {},
})
const endOf = (n: number, model?: string) => ({
  ended_at: time(100 + n),
  output: null,
  summary: { usage: tokensSent(1_000, 0, model) },
  ...(n % 2 === 1 && { exception: 'Error: no' }),
})

it('counts calls, errors and costs by end user, also of calls whose end came later', async () => {
  const users = ['ann', 'ann', 'noor rahman', undefined, 'ann', undefined]
  const calls = users.map(callOf)
  const whole = calls.slice(0, 4)
  await server.send(`/v2/${project_id}/calls/complete`, { batch: whole.map((call, n) => ({ ...call, ...endOf(n) })) })
  const apart = calls.slice(4)
  const starts = apart.map((start) => ({ mode: 'start', req: { start } }))
  const ends = apart.map(({ id }, n) => ({ mode: 'end', req: { end: { project_id, id, ...endOf(4 + n) } } }))
  await server.send('/call/upsert_batch', { batch: starts })
  await server.send('/call/upsert_batch', { batch: ends })
  const other = callOf('zoe', 0)
  await server.send(`/v2/${project_id}/calls/complete`, { batch: [{ ...other, ...endOf(0, 'own') }] })
  const metrics = ['calls', 'errors', 'input_tokens', 'total_cost'].map((field) => ({ field, as: 'sum' }))
  const asked = { project_id, start: time(0), end: time(60), metrics, group_by: ['attributes.end_user'], rest: false }
  const valuesOf = ({ groups }: CallsAggregateResponse) =>
    groups.map(({ keys, total }) => [
      keys[0],
      total['calls.sum'],
      total['errors.sum'],
      total['input_tokens.sum'],
      Math.round((total['total_cost.sum'] ?? 0) * 1e6),
    ])
  // A thousand tokens of this model.
  const each = 2_500
  const expected = [
    ['ann', 3, 1, 3_000, 3 * each],
    ['', 2, 2, 2_000, 2 * each],
    ['noor rahman', 1, 0, 1_000, each],
    ['zoe', 1, 0, 1_000, 0],
  ]
  const byCalls = await server.send<CallsAggregateResponse>('/calls/aggregate', asked)
  expect(valuesOf(byCalls)).toEqual(expected)
  expect(byCalls.unpriced_models).toEqual(['own'])
  // Models are those of the groups that are shown.
  const byCost = { ...asked, metrics: [...metrics].reverse(), top: 2 }
  const shown = await server.send<CallsAggregateResponse>('/calls/aggregate', byCost)
  expect(valuesOf(shown)).toEqual(expected.slice(0, 2))
  expect(shown.unpriced_models).toEqual([])
  const traces = await server.send<CallsAggregateResponse>('/calls/aggregate', { ...asked, count: 'traces' })
  expect(valuesOf(traces)).toEqual(expected)
})

it('charts by end user have tokens, costs and errors of whole traces, whose users stand at the root alone', async () => {
  const project = 'acme/end-users-of-traces'
  const spansOf = (user: string, n: number, fails: boolean) => {
    const traceId = randomUUID().replaceAll('-', '')
    const of = (place: number, more: object) =>
      aSpan({
        traceId,
        spanId: `00000000000${n}${place}000`,
        ...(place > 0 && { parentSpanId: `00000000000${n}0000` }),
        ...more,
      })
    const usage = [integer('gen_ai.usage.input_tokens', 1_000), integer('gen_ai.usage.output_tokens', 100)]
    const chat = [text('gen_ai.operation.name', 'chat'), text('gen_ai.request.model', 'gpt-4o'), ...usage]
    return [
      of(0, {
        name: 'invoke_agent',
        attributes: [text('gen_ai.operation.name', 'invoke_agent'), text('user.id', user)],
      }),
      of(1, { name: 'chat', attributes: chat }),
      of(2, { name: 'tool', ...(fails && { status: { code: 2, message: 'no' } }) }),
    ]
  }
  const spans = [spansOf('ada', 1, true), spansOf('ada', 2, false), spansOf('noor', 3, false)].flat()
  await server.send('/otel/v1/traces', aRequest(spans), { project_id: project })
  const all: readonly Panel[] = [...Object.values(boards), ...templates].flatMap(({ panels }) => [...panels])
  const panels = all.filter(({ by }) => by === 'end_user')
  const { charts } = storedBoard({ id: 'dashboard-x', title: 'x', panels, others: [] }) as {
    charts: { title: string; measure: string; request: { metrics: { field: string; as: string }[] } }[]
  }
  const range = { start: 0, end: '2100-01-01T00:00:00Z' }
  const expected: Record<string, [ada: number, noor: number]> = {
    'calls.sum': [2, 1],
    'errors.sum': [1, 0],
    'input_tokens.sum': [2_000, 1_000],
    'output_tokens.sum': [200, 100],
    'total_cost.sum': [0.007, 0.0035],
  }
  const told = new Set<string>()
  for (const { title, request } of charts) {
    const asked = { project_id: project, ...range, ...request, rest: false }
    const { groups } = await server.send<CallsAggregateResponse>('/calls/aggregate', asked)
    for (const metric of request.metrics.map(({ field, as }) => `${field}.${as}`)) {
      const [ada, noor] = ['ada', 'noor'].map((user) => groups.find(({ keys }) => keys[0] === user)?.total[metric])
      told.add(metric)
      if (expected[metric] === undefined) expect(ada, title).toBeGreaterThan(0)
      else
        for (const [n, value] of [ada, noor].entries())
          expect(value, `${title} ${metric}`).toBeCloseTo(expected[metric]?.[n] ?? 0, 9)
    }
  }
  expect([...told]).toEqual(expect.arrayContaining(Object.keys(expected)))
})
