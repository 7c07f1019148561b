// A view that fills a table is dropped: what it would have filled is not taken for stored, and someone is told.
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { loadConfig } from '../../services/app/config.ts'
import { examineStore } from '../../services/app/doctor.ts'
import { topics } from '../../services/events/registry.ts'
import { declaredViews } from '../../services/worker/views.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project = 'dropped/view'
let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

const command = (sql: string) => server.now().store.command({ name: 'test', sql, params: {} })
const oneRow = async <T>(sql: string): Promise<T> =>
  (await server.now().store.rows<T>({ name: 'test', sql, params: {} }))[0] as T
const workers = () => server.now().worker?.status()
const committed = async () => (await server.now().log.committed('calls'))[0]?.offset

async function append(id: string): Promise<void> {
  const row = {
    kind: 'complete',
    project_id: project,
    id,
    clock: 9,
    started_us: 1.75e15,
    ended_us: 1.75e15 + 1,
    trace_id: 't',
    op_name: 'o',
    inputs: {},
    summary: {},
  }
  const rows = Buffer.from(`${JSON.stringify(row)}\n`)
  await server.now().log.append('calls', [{ rows, rowCount: 1, patchCount: 0, clock: 9n, key: project }])
  server.now().log.flush('calls')
}
const views = async (): Promise<string> => {
  const loaded = loadConfig({ env: {}, argv: [] })
  if (!loaded.ok) throw new Error(loaded.lines.join('\n'))
  const findings = await examineStore(loaded.config, server.now().store)
  return findings.filter(({ check }) => check === 'views').map(({ verdict, says }) => `${verdict} ${says}`)[0] ?? ''
}

it('the worker knows the views of every topic from the migrations', async () => {
  const declared = declaredViews()
  const { names } = await oneRow<{ names: string[] }>(`SELECT groupArray(name) AS names FROM system.tables
    WHERE database = 'callhouse' AND engine = 'MaterializedView' AND name NOT LIKE '%\\_to\\_landed' AND name != 'calls_in_to_batch'`)
  expect([...declared.values()].flat().sort()).toEqual(names.sort())
  expect([...declared.keys()].sort()).toEqual(Object.keys(topics).sort())
  expect(declared.get('calls')).toContain('calls_to_turns')
  expect(await views()).toMatch(/^ok /)
})

it('the worker applies no rows of the topic until the view is there again, and then those that came meanwhile', async () => {
  await append('before')
  await expectSoon(committed).toBe(1)
  const { text } = await oneRow<{ text: string }>(
    `SELECT create_table_query AS text FROM system.tables WHERE database = 'callhouse' AND name = 'calls_in_to_payloads'`,
  )
  await command('DROP VIEW callhouse.calls_in_to_payloads')
  // That the views were there is trusted for two seconds.
  const now = performance.now.bind(performance)
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 2_100)
  onTestFinished(() => later.mockRestore())
  await append('meanwhile')
  await expectSoon(workers).toMatchObject({
    status: 'down',
    reason: expect.stringContaining('calls: the database lacks the view calls_in_to_payloads'),
  })
  expect(await committed()).toBe(1)
  expect(await views()).toMatch(/^fail missing: calls_in_to_payloads/)
  await command(text)
  await expectSoon(workers).toEqual({ status: 'ok' })
  await expectSoon(committed).toBe(2)
  expect(
    await oneRow(`SELECT toUInt32(uniqExact(id)) AS n FROM callhouse.payloads WHERE project_id = '${project}'`),
  ).toEqual({ n: 2 })
})
