// Calls that are new go into the tables by one insert, however they came: what most batches are must take the short way.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan } from '../fixtures/otel.ts'

let server: LiveServer
/** Names of the statements that ran. */
const ran: string[] = []
beforeAll(async () => {
  server = await startLiveServer()
  const { store } = server.now()
  const { command, rows } = store
  store.command = (query, ...rest) => {
    ran.push(query.name)
    return command(query, ...rest)
  }
  store.rows = (query, ...rest) => {
    ran.push(query.name)
    return rows(query, ...rest)
  }
})
afterAll(() => server.remove())

const at = '2026-01-05T12:00:00Z'
const entity = 'acme'
const callOf = (project: string, id: string) => ({
  project_id: `${entity}/${project}`,
  id,
  trace_id: 'a'.repeat(32),
  op_name: 'op',
  started_at: at,
  ended_at: at,
  attributes: {},
  inputs: { question: 'Why?' },
  output: 'Because.',
  summary: {},
})
const shortId = () => randomUUID().replaceAll('-', '').slice(0, 16)

/** @param path of a project */
type Way = [what: string, path: (project: string) => string, body: (project: string) => object, headers?: object]
const ways: Way[] = [
  ...[randomUUID, shortId].map(
    (id): Way => [
      `whole calls with ids of ${id().length} letters`,
      (project) => `/v2/${entity}/${project}/calls/complete`,
      (project) => ({ batch: Array.from({ length: 5 }, () => callOf(project, id())) }),
    ],
  ),
  [
    'starts with their ends in one batch',
    () => '/call/upsert_batch',
    (project) => ({
      batch: Array.from({ length: 5 }, () => {
        const { ended_at, output, summary, ...start } = callOf(project, randomUUID())
        const end = { project_id: start.project_id, id: start.id, ended_at, output, summary }
        return [
          { mode: 'start', req: { start } },
          { mode: 'end', req: { end } },
        ]
      }).flat(),
    }),
  ],
  ['spans', () => '/otel/v1/traces', () => aRequest(Array.from({ length: 5 }, () => aSpan({ spanId: shortId() })))],
]

it.each(
  ways.flatMap((way) => ['p', 'p'.repeat(60), 'p'.repeat(128)].map((project) => [way[0], project, way] as const)),
)('%s of the project %s', async (_, project, [, path, body]) => {
  ran.length = 0
  await server.send(path(project), body(project), { project_id: `${entity}/${project}` })
  const { count } = await server.send<{ count: number }>('/calls/query_stats', { project_id: `${entity}/${project}` })
  expect(count).toBeGreaterThan(0)
  // Until it is known at the start what is stored, calls are looked up.
  expect(ran.filter((name) => name.startsWith('calls-') && name !== 'calls-known')).toEqual([])
  expect(ran).toContain('dirty-buckets-of-new')
})
