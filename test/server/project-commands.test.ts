// Commands about a project do what routes do for those with a key: in the running server, as the operator.
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { eraseCalls } from '../../services/cli/erase.ts'
import { printProjects, removeProject, setProject, showProject } from '../../services/cli/projects.ts'
import { post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project = 'commands/app'
let server: RunningServer
let printed: string
beforeAll(async () => {
  server = await sharedServer()
})
beforeEach(() => {
  printed = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text
    return true
  })
})
afterEach(() => vi.restoreAllMocks())

const idOf = (n: number): string => `0199a0c8-0000-7000-8000-${String(n).padStart(12, '0')}`
const write = (...ns: number[]) =>
  server.send('/call/upsert_batch', {
    batch: ns.map((n) => {
      const of = { project_id: project, id: idOf(n), trace_id: idOf(n), op_name: 'op', attributes: {}, inputs: {} }
      return { mode: 'start', req: { start: { ...of, started_at: new Date().toISOString() } } }
    }),
  })
const ids = async (): Promise<string[]> =>
  (await server.list<{ id: string }>('/calls/stream_query', { project_id: project })).map(({ id }) => id).sort()
const flags = (given: Record<string, string>) => (name: string) => given[name] ?? ''

it('commands list projects, show what is set for one, and set some of it', async () => {
  await write(1, 2, 3)
  await printProjects(server.config, 'COMMANDS/')
  expect(printed).toMatch(/^commands\/app( {2}|$)/)
  await setProject(server.config, [project, 'calls_days=90', 'payloads_days=30', 'calls_per_minute=600'])
  await setProject(server.config, [project, 'payloads_days=none', 'stored_bytes=5'])
  printed = ''
  await showProject(server.config, project)
  expect(JSON.parse(printed)).toMatchObject({
    project_id: project,
    limits: { calls_per_minute: 600, stored_bytes: 5 },
    retention: { calls_days: 90, hidden_calls: 0 },
    masking: { version: 0, rules: { rules: [] } },
  })
  await setProject(server.config, [project, 'stored_bytes=0'])
})

it('commands say what is wrong and change nothing then', async () => {
  const set = (...words: string[]) => setProject(server.config, [project, ...words])
  await expect(set('days=3')).rejects.toThrow('"days=3" is not <name>=<number> with one of calls_days, payloads_days')
  await expect(set('calls_days=soon')).rejects.toThrow('"calls_days=soon" is not <name>=<days>')
  await expect(set('calls_days=7', 'payloads_days=30')).rejects.toThrow('payloads_days (30) is more than')
  await expect(setProject(server.config, ['commands', 'calls_days=7'])).rejects.toThrow('is not <entity>/<project>')
  await expect(removeProject(server.config, project, 'commands')).rejects.toThrow(`--confirm ${project}`)
  const to = (given: Record<string, string>) => eraseCalls(server.config, project, flags(given))
  await expect(to({ calls: idOf(1) })).rejects.toThrow('reason')
  await expect(to({ reason: 'asked for' })).rejects.toThrow('One of --calls, --traces')
  await expect(to({ calls: idOf(1), traces: idOf(2), reason: 'asked for' })).rejects.toThrow('One of --calls')
  await showProject(server.config, project)
  expect(JSON.parse(printed)).toMatchObject({ retention: { calls_days: 90 } })
  expect(await ids()).toEqual([1, 2, 3].map(idOf))
})

it('commands erase calls and remove the project, and the audit log says that it was the command', async () => {
  await eraseCalls(server.config, project, flags({ calls: `${idOf(1)},${idOf(9)}`, reason: 'asked for' }))
  expect(printed).toMatch(/^erasure \S+: 1 call is deleted, 1 id is of none; removed by 20/)
  expect(await ids()).toEqual([2, 3].map(idOf))
  await removeProject(server.config, project, project)
  expect(printed).toMatch(/commands\/app is closed; its data is removed by 20\S+: erasure \S+\n$/)
  expect((await post(server.now().url, '/calls/stream_query', { project_id: project })).status).toBe(410)
  await server.now().worker?.caughtUp()
  const sql = `SELECT DISTINCT action, actor FROM callhouse.audit_events WHERE scope = {project:String}
    AND action IN ('erasure.requested', 'project.removed') ORDER BY action`
  const found = await server.now().store.rows({ name: 'test', sql, params: { project } })
  expect(found).toEqual(['erasure.requested', 'project.removed'].map((action) => ({ action, actor: 'command' })))
})
