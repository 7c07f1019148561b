// Most frequent errors are grouped by their kind, and the link of a group finds its calls and no others.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import type { CallsAggregateResponse } from '../../schemas/calls-aggregate.ts'
import { termsOf } from '../../services/web/page/dashboards/groups.ts'
import { storedBoard } from '../../services/web/page/dashboards/own-boards.ts'
import { boards, type Panel } from '../../services/web/page/engine/boards.ts'
import { parsed } from '../../services/web/page/engine/calls-search.ts'
import { requestOf } from '../../services/web/page/engine/query-request.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sendCalls } from '../fixtures/sent-calls.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'acme/error-kinds'
let server: RunningServer
const late = (ms: number, order: number) => `TimeoutError: orders database did not answer in ${ms} ms for A-${order}`
const sent = [late(450, 17), late(812, 4711), late(1_204, 9), 'KeyError: "Oslo"', 'KeyError: "Rome"', 'Error: no']

beforeAll(async () => {
  server = await sharedServer()
  const calls = sent.map((exception, n) => ({ trace: randomUUID(), atMs: Date.now() - 60_000 - n, exception }))
  await sendCalls(server, project_id, [...calls, { trace: randomUUID(), atMs: Date.now() - 60_000 }])
})

it('errors that differ in numbers, ids and quoted values are one row, whose link leads to its calls alone', async () => {
  const panels = (boards.errors.panels as readonly Panel[]).filter(({ title }) => title === 'Most frequent errors')
  const [{ request } = { request: {} }] = (
    storedBoard({ id: 'dashboard-x', title: 'x', panels, others: [] }) as { charts: { request: object }[] }
  ).charts
  const [{ by = '', filter = '' } = {}] = panels
  const of = (q: string) => requestOf(parsed(q).expression, project_id, { zoneOf: () => 'UTC' })
  const range = { project_id, start: 0, end: '2100-01-01T00:00:00Z' }
  const asked = { ...range, ...of(filter), ...request, rest: false }
  const { groups } = await server.send<CallsAggregateResponse>('/calls/aggregate', asked)
  const found = groups.map(({ keys, total }) => [keys[0], total['errors.sum']])
  expect(found).toEqual([
    ['TimeoutError: orders database did not answer in ⟨n⟩ ms for A-⟨n⟩', 3],
    ['KeyError: ⟨text⟩', 2],
    ['Error: no', 1],
  ])
  const linked = async (key: string) => {
    const body = { project_id, ...of(`${filter} ${termsOf([by], [key])}`), columns: ['exception'] }
    return (await server.list<{ exception: string }>('/calls/stream_query', body)).map(({ exception }) => exception)
  }
  const lists = await Promise.all(found.map(([key]) => linked(String(key))))
  expect(lists.map((list) => list.toSorted())).toEqual([
    sent.slice(0, 3).toSorted(),
    sent.slice(3, 5).toSorted(),
    sent.slice(5),
  ])
  // The message itself is a group, too.
  const byMessage = { ...asked, group_by: ['exception'] }
  expect((await server.send<CallsAggregateResponse>('/calls/aggregate', byMessage)).groups).toHaveLength(6)
})
