// tier: deep slow
// Retention of a project's log records: by days of their own, with their calls, or by whole months.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AuditEvent } from '../../services/core/audit/chain.ts'
import { logsRemovedBeforeUs, mostLogsDays, type RetentionDays } from '../../services/core/directory/retention.ts'
import { createPurge } from '../../services/removal/purge.ts'
import { dropOldLogs } from '../../services/removal/retention.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { heldProjects, nothingDerived } from '../fixtures/held-projects.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { text } from '../fixtures/otel.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
  for (const project of projects) await sendDays(project)
})
afterAll(() => server?.remove())

const dayMs = 86_400_000
const nowMs = Date.now()
const days = [1, 5, 20, 80]
const projects = ['days/week', 'days/calls', 'days/both', 'days/ever', 'days/default', 'days/held']
const set: Record<string, RetentionDays> = {
  'days/week': { logs_days: 7 },
  'days/calls': { calls_days: 3 },
  'days/both': { calls_days: 3, logs_days: 10 },
  'days/ever': { calls_days: 3, logs_days: null },
  'days/held': { logs_days: 7 },
}

/** A record of each age, as a coding agent's: it stands in every table that log records have. */
const sendDays = (project_id: string) =>
  server.send(
    '/otel/v1/logs',
    {
      resourceLogs: days.map((ago) => ({
        scopeLogs: [
          {
            logRecords: ['', 'a'.repeat(16)].map((spanId) => ({
              timeUnixNano: `${nowMs - ago * dayMs}000000`,
              eventName: 'codex.tool_result',
              body: { stringValue: `${ago}` },
              traceId: 'b'.repeat(32),
              spanId,
              attributes: [text('conversation.id', 's'), text('tool_name', 'shell')],
            })),
          },
        ],
      })),
    },
    { project_id },
  )
const range = { start: new Date(nowMs - 400 * dayMs).toISOString(), end: new Date(nowMs + dayMs).toISOString() }
const seen = async (project_id: string, more: object = {}) => {
  const found = await server.list<{ body: string }>('/logs/query', { project_id, ...range, ...more })
  return [...new Set(found.map(({ body }) => Number(body)))].sort((a, b) => a - b)
}
const settings = async (project: string, retention?: object) => {
  const headers = { 'content-type': 'application/json', authorization: basicAuth() }
  const url = `${server.now().url}/v2/${project}/${retention ? 'settings/retention' : 'retention'}`
  const init = retention ? { method: 'PUT', body: JSON.stringify(retention) } : {}
  const answer = await fetch(url, { headers, ...init })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
const stored = async (project: string, table: string) => {
  const sql = `SELECT uniqExact(at) AS n FROM callhouse.${table} WHERE project_id = {project:String}`
  const [row] = await server.now().store.rows<{ n: string }>({ name: 'test', sql, params: { project } })
  return Number(row?.n)
}

it('log records past their days are hidden from the next read on: by their own days, else with the calls of their project', async () => {
  for (const project of projects) expect(await seen(project)).toEqual(days)
  for (const [project, retention] of Object.entries(set))
    expect(await settings(project, retention)).toEqual({ status: 200, body: retention })
  const all = Object.fromEntries(await Promise.all(projects.map(async (one) => [one, await seen(one)] as const)))
  expect(all).toEqual({
    'days/week': [1, 5],
    'days/calls': [1],
    'days/both': [1, 5],
    'days/ever': days,
    'days/default': days,
    'days/held': [1, 5],
  })
  expect(await seen('days/week', { trace_id: 'b'.repeat(32) })).toEqual([1, 5])
  const { body } = await settings('days/week')
  expect(body).toMatchObject({ logs_days: 7, calls_days: null, calls_before: null })
  expect(Math.abs(Date.parse(body.logs_before as string) - (nowMs - 7 * dayMs))).toBeLessThan(2 * 3_600_000)
  expect((await settings('days/calls')).body).toMatchObject({ logs_days: 3, calls_days: 3 })
  expect((await settings('days/ever')).body).toMatchObject({ logs_days: null, logs_before: null })
  expect((await settings('days/default')).body).toMatchObject({ logs_days: 30, logs_before: null })
  expect((await settings('days/week', { logs_days: 0 })).status).toBe(422)
})

it('log records past their days are removed by rows; whole months only where nobody keeps them for longer, and never what is held', async () => {
  const { store } = server.now()
  const source = { of: (id: string) => set[id], projectIds: () => Object.keys(set), defaultDays: 0, logsDays: 30 }
  const recorded: AuditEvent[] = []
  const purge = createPurge({
    store,
    roundDays: 35,
    held: heldProjects('days/held'),
    derived: nothingDerived,
    rules: {
      cutoffsOf: () => undefined,
      logsBeforeUs: (id) => logsRemovedBeforeUs(source, id),
    },
    record: async (events) => void recorded.push(...events),
  })
  expect(mostLogsDays(source)).toBe(Number.POSITIVE_INFINITY)
  expect(await dropOldLogs(store, { own: mostLogsDays(source), derived: 30 })).toEqual([])
  await purge.run()
  const left = { 'days/week': 2, 'days/calls': 1, 'days/both': 2, 'days/ever': 4, 'days/default': 3, 'days/held': 4 }
  for (const table of ['logs', 'logs_by_span', 'log_turns'])
    for (const [project, n] of Object.entries(left))
      expect([table, project, await stored(project, table)]).toEqual([table, project, n])
  expect(recorded.map(({ scope }) => scope).sort()).toEqual(['days/both', 'days/calls', 'days/default', 'days/week'])
  expect(recorded.find(({ scope }) => scope === 'days/week')?.details).toEqual({
    rows: { logs: 4, logs_by_span: 4, log_turns: 2 },
  })
  expect(mostLogsDays({ ...source, projectIds: () => ['days/week', 'days/both'] })).toBe(30)
  expect(mostLogsDays({ ...source, projectIds: () => [], logsDays: 90 })).toBe(90)
})
