// With CALLHOUSE_AUDIT_READS a request that reads is an audit event of the project that it opened; a write is none.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postLines } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer(['--audit-reads', 'true'])
})
afterAll(() => server.remove())

it('reads of a project are told of with who asked and by which route, and writes are not', async () => {
  const project_id = 'read/app'
  const started_at = '2026-01-05T12:00:00Z'
  const id = '0199a0c8-0000-7000-8000-000000000001'
  await server.send('/call/start', {
    start: { project_id, id, trace_id: id, op_name: 'op', started_at, attributes: {}, inputs: {} },
  })
  await server.list('/calls/stream_query', { project_id, filter: { call_ids: [id] } })
  await server.send('/calls/query_stats', { project_id })
  await server.send('/calls/query_stats', { project_id: 'read/other' })
  const told = await postLines<{ action: string; actor: string; scope: string; details: Record<string, unknown> }>(
    server.now().url,
    '/audit/query',
    { scope: project_id, action: 'data.read' },
  )
  expect(told.map(({ actor, scope, details }) => [actor, scope, details]).sort()).toEqual([
    ['tester', project_id, { route: 'calls.query_stats' }],
    ['tester', project_id, { route: 'calls.stream_query', 'filter.call_ids': { count: 1, first: [id] } }],
  ])
})
