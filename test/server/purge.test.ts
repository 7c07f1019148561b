// tier: deep slow
// Expired data is removed: from every table, and out of the files.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AuditEvent } from '../../services/core/audit/chain.ts'
import { createFolderBlobs } from '../../services/core/blobs/blobs.ts'
import { fileCutoffs } from '../../services/core/directory/retention.ts'
import type { Cutoffs } from '../../services/core/process/running-handler.ts'
import { unlimited } from '../../services/derived/budget.ts'
import { createFileRemoval } from '../../services/removal/files.ts'
import { createPurge, isPurgeDue } from '../../services/removal/purge.ts'
import { createRowRemoval } from '../../services/removal/rows.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import { heldProjects, nothingDerived } from '../fixtures/held-projects.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

const idOf = (n: number): string => `0199a0c8-0000-7000-8000-${String(n).padStart(12, '0')}`
const us = (iso: string): number => Date.parse(iso) * 1_000

const startOf = (project_id: string, n: number, started_at: string, more: object = {}) => {
  const own = { project_id, id: idOf(n), trace_id: idOf(n), started_at }
  return { ...own, op_name: 'op', attributes: {}, inputs: {}, ...more }
}

async function send(project_id: string, n: number, started_at: string): Promise<void> {
  const more = { thread_id: 'thread', turn_id: idOf(n), inputs: { text: `canary-${n}` } }
  const start = startOf(project_id, n, started_at, more)
  const end = {
    project_id,
    id: idOf(n),
    ended_at: started_at,
    output: `canary-${n}`,
    summary: { usage: { m: { requests: 1 } } },
  }
  await server.send('/call/upsert_batch', {
    batch: [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end } },
    ],
  })
}

const tables = [
  'calls',
  'turns',
  'call_keys',
  'call_counts_hourly',
  'call_counts',
  'trace_parts',
  'payloads',
  'payload_leaves',
  'payload_chunks',
]

/** Rows of a project in each table, the removed ones too where they still lie in the files. */
async function rowsOf(project: string, withRemoved = false): Promise<Record<string, number>> {
  const { store } = server.now()
  const found: Record<string, number> = {}
  for (const table of tables) {
    const [row] = await store.rows<{ n: number }>({
      name: 'test.rows',
      sql: `SELECT toFloat64(count()) AS n FROM callhouse.${table} WHERE project_id = {project:String}
        SETTINGS apply_deleted_mask = ${withRemoved ? 0 : 1}`,
      params: { project },
    })
    found[table] = Number(row?.n)
  }
  return found
}

const total = (rows: Record<string, number>) => Object.values(rows).reduce((sum, n) => sum + n, 0)

const recorded: AuditEvent[] = []

function purgeOf(cutoffs: Record<string, Cutoffs>, held: string[] = [], roundDays = 35) {
  const rules = { cutoffsOf: (id: string) => cutoffs[id] }
  const record = async (events: readonly AuditEvent[]) => void recorded.push(...events)
  const of = { held: heldProjects(...held), derived: nothingDerived }
  return createPurge({ ...of, store: server.now().store, rules, roundDays, record })
}

const derived = async () => {
  const { worker } = server.now()
  await worker?.caughtUp()
  await worker?.rollups.refresh()
  await worker?.fieldIndexRollups.refresh()
}

it('expired data goes from every table, where others lie in the same month and where none do', async () => {
  for (const project of ['ent/aged', 'ent/kept']) await send(project, 1, '2025-03-10T12:00:00Z')
  await send('ent/aged', 2, '2025-03-20T12:00:00Z')
  await send('ent/aged', 3, '2025-02-10T12:00:00Z')
  await derived()
  const [before, kept] = [await rowsOf('ent/aged'), await rowsOf('ent/kept')]
  expect(Object.values(before).every((n) => n >= 3)).toBe(true)

  const cutoffs = { callsUs: us('2025-03-15T00:00:00Z'), valuesUs: us('2025-03-15T00:00:00Z') }
  const purged = await purgeOf({ 'ent/aged': cutoffs }, [], 1).run(Date.parse('2025-06-01T04:00:00Z'))
  const after = await rowsOf('ent/aged')
  for (const table of tables) expect([table, after[table]]).toEqual([table, (before[table] as number) / 3])
  expect(await rowsOf('ent/kept')).toEqual(kept)
  expect(await server.send('/call/read', { project_id: 'ent/aged', id: idOf(1) })).toEqual({ call: null })
  expect(await server.send('/call/read', { project_id: 'ent/aged', id: idOf(2) })).toMatchObject({
    call: { output: 'canary-2' },
  })
  expect(await server.send('/calls/query_stats', { project_id: 'ent/aged' })).toMatchObject({ count: 1 })
  const removed = Object.fromEntries(tables.map((table) => [table, ((before[table] as number) / 3) * 2]))
  expect(purged.rows).toBe(total(removed))
  expect(recorded).toEqual([{ action: 'retention.purged', scope: 'ent/aged', details: { rows: removed } }])
  // Its rows were hidden for more than a day: they are out of the files, too.
  expect(purged.rewritten.length).toBeGreaterThan(0)
  expect(total(await rowsOf('ent/aged', true))).toBe(total(after))
  expect(await purgeOf({ 'ent/aged': cutoffs }, [], 1).run(Date.parse('2025-06-01T04:00:00Z'))).toEqual({
    rows: 0,
    rewritten: [],
  })
  expect(recorded.length).toBe(1)
})

it('files that came long ago and that nothing names any more go weekly, with their bytes in blob storage', async () => {
  const project_id = 'ent/files'
  const upload = async (bytes: string) => {
    const body = new FormData()
    body.set('project_id', project_id)
    body.set('file', new Blob([bytes]), 'note')
    const init = { method: 'POST', headers: { authorization: basicAuth() }, body }
    return ((await (await fetch(`${server.now().url}/file/create`, init)).json()) as { digest: string }).digest
  }
  const hasFile = async (digest: string) =>
    (await post(server.now().url, '/file/content', { project_id, digest })).status === 200
  const [named, alone, large] = [await upload('named'), await upload('alone'), await upload('large '.repeat(70_000))]
  await server.send('/call/start', {
    start: startOf(project_id, 1, new Date().toISOString(), { inputs: { note: named } }),
  })
  const url = `${server.now().url}/v2/${project_id}`
  const headers = { authorization: basicAuth(), 'content-type': 'application/json' }
  const set = await fetch(`${url}/settings/retention`, { method: 'PUT', headers, body: '{"files_days": 30}' })
  expect(set.status).toBe(200)
  expect(await (await fetch(`${url}/retention`, { headers })).json()).toMatchObject({
    files_days: 30,
    calls_days: null,
  })
  await derived()
  const { store, log } = server.now()
  const of = { store, budget: unlimited }
  const rows = createRowRemoval({ ...of, betweenDerivations: (job) => job(), recount: async () => {} })
  const blobs = await createFolderBlobs({ dir: join(server.dataDir, 'blobs'), minFreeBytes: 0 })
  const files = createFileRemoval({ ...of, log, blobs, removeRows: rows.remove, held: heldProjects() })
  const days = {
    projectIds: () => [project_id, 'ent/kept'],
    of: () => ({ files_days: 30 }),
    defaultDays: 0,
    logsDays: 30,
  }
  const purged = createPurge({
    store,
    roundDays: 35,
    held: heldProjects('ent/kept'),
    derived: nothingDerived,
    rules: {
      cutoffsOf: () => undefined,
      fileCutoffs: (at) => fileCutoffs(days, at),
    },
    removeOldFiles: async (id, beforeMs) => (await files.removeOld(id, beforeMs)).length,
  })
  const stored = async () => Promise.all([named, alone, large].map(hasFile))
  const week = async (fromMs: number) => {
    for (let day = 0; day < 7; day++) await purged.run(fromMs + day * 86_400_000)
  }
  await week(Date.now() + 20 * 86_400_000)
  expect(await stored()).toEqual([true, true, true])
  await week(Date.now() + 31 * 86_400_000)
  expect(await stored()).toEqual([true, false, false])
  const left = await readdir(join(server.dataDir, 'blobs'), { recursive: true })
  expect(left.filter((name) => name.endsWith(large))).toEqual([])
})

it('expired data goes out of the files within the days of a round, not before its last week, however few rows it has', async () => {
  const project = 'ent/few'
  for (let n = 1; n <= 20; n++) await send(project, n, `2025-08-${String(n).padStart(2, '0')}T12:00:00Z`)
  await derived()
  const dayUs = 86_400_000_000
  let removed = 0
  const rewritten: string[] = []
  const run = async (day: number) => {
    const callsUs = us('2025-08-02T00:00:00Z') + day * dayUs
    const purged = await purgeOf({ [project]: { callsUs, valuesUs: callsUs } }, [], 9).run(
      Date.parse('2025-10-01T04:00:00Z') + day * 86_400_000,
    )
    removed += purged.rows
    rewritten.push(...purged.rewritten)
  }
  for (let day = 0; day < 2; day++) await run(day)
  expect(removed).toBeGreaterThanOrEqual(2 * tables.length)
  // Files of other tests, and fragments, whose time is not that of their call, have a day of their month.
  const exact = () => rewritten.filter((name) => /^(?:calls|turns|payloads) /.test(name))
  expect(exact()).toEqual([])
  const before = total(await rowsOf(project, true))
  for (let day = 2; day < 9; day++) await run(day)
  expect(
    exact()
      .filter((name) => name.endsWith('202508'))
      .sort(),
  ).toEqual(['calls 202508', 'payloads 202508', 'turns 202508'])
  expect(total(await rowsOf(project, true))).toBeLessThan(before)
})

it('a call that comes during a purge for a project without days stays, though all else of its month goes', async () => {
  await send('ent/gone', 1, '2025-01-10T12:00:00Z')
  await derived()
  const cutoffs = { 'ent/gone': { callsUs: us('2025-06-01T00:00:00Z') } }
  const { store } = server.now()
  let isLate = false
  const purge = createPurge({
    roundDays: 35,
    held: heldProjects(),
    derived: nothingDerived,
    rules: { cutoffsOf: (id) => cutoffs[id as 'ent/gone'] },
    store: {
      async rows(query, options) {
        const found = await store.rows(query, options)
        // The month was looked into: now it is no longer as it was seen.
        if (query.name === 'purge.projects' && query.params.month === '202501' && !isLate) {
          isLate = true
          await send('ent/late', 2, '2025-01-20T12:00:00Z')
          await server.now().worker?.caughtUp()
        }
        return found as never
      },
      command: store.command,
    },
  })
  await purge.run()
  expect(isLate).toBe(true)
  expect(total(await rowsOf('ent/gone'))).toBe(0)
  expect(await server.send('/call/read', { project_id: 'ent/late', id: idOf(2) })).toMatchObject({
    call: { output: 'canary-2' },
  })
})

it('the output of a call that stays is not purged, whatever time its end told', async () => {
  const of = { project_id: 'ent/odd', id: idOf(1) }
  await server.send('/call/start', { start: startOf(of.project_id, 1, '2025-06-10T12:00:00Z') })
  const end = { ...of, ended_at: '2020-01-01T00:00:00Z', output: 'canary-odd', summary: {} }
  await server.send('/call/end', { end })
  await derived()
  await purgeOf({ 'ent/odd': { callsUs: us('2025-06-01T00:00:00Z') } }).run()
  expect(await server.send('/call/read', of)).toMatchObject({ call: { output: 'canary-odd' } })
})

it('parts of a call go with it; those that came alone go by their time if they are starts, else by when they were accepted; deletes stay', async () => {
  const project_id = 'ent/parts'
  const start = (n: number, day: string) => startOf(project_id, n, `2025-03-${day}T12:00:00Z`)
  const of = (n: number) => ({ project_id, id: idOf(n) })
  for (const [n, day] of [
    [1, '10'],
    [2, '20'],
  ] as const)
    await server.send('/call/start', { start: start(n, day) })
  await server.send('/call/end', { end: { ...of(3), ended_at: '2025-03-10T12:00:00Z', output: 1, summary: {} } })
  await server.send('/calls/delete', { project_id, call_ids: [idOf(1)] })
  // Named and ended later: their parts go with the call whose start is known.
  for (const [n, day] of [
    [4, '10'],
    [5, '20'],
  ] as const) {
    await server.send('/call/start', { start: start(n, day) })
    await server.send('/call/update', { project_id, call_id: idOf(n), display_name: 'named' })
    await server.send('/call/end', { end: { ...of(n), ended_at: '2025-03-20T12:00:00Z', output: 1, summary: {} } })
  }
  await derived()
  const parts = async () => {
    const found = await server.now().store.rows<{ part: string }>({
      name: 'test.parts',
      sql: `SELECT concat(kind, ' ', right(id, 1)) AS part FROM callhouse.call_patches FINAL
        WHERE project_id = {project_id:String} ORDER BY part`,
      params: { project_id },
    })
    return found.map(({ part }) => part)
  }
  expect((await parts()).join(', ')).toBe(
    'delete 1, end 3, end 4, end 5, name 4, name 5, start 1, start 2, start 4, start 5',
  )
  const rules = (iso: string) => purgeOf({ [project_id]: { callsUs: us(iso) } })
  await rules('2025-03-15T00:00:00Z').run()
  expect(await parts()).toEqual(['delete 1', 'end 3', 'end 5', 'name 5', 'start 2', 'start 5'])
  // Accepted today: a month and a day later it is as old as what was accepted with it.
  const days = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString()
  await rules(days(29)).run()
  expect(await parts()).toEqual(['delete 1', 'end 3'])
  await rules(days(31)).run()
  expect(await parts()).toEqual(['delete 1'])
})

it('feedback goes with its calls, or by its own age where they are gone, unless it is to stay', async () => {
  const said = async (project: string, n: number, note: string): Promise<string> => {
    const weave_ref = `weave:///${project}/call/${idOf(n)}`
    const asked = { project_id: project, weave_ref, feedback_type: 'note', payload: { note } }
    return (await server.send<{ id: string }>('/feedback/create', asked)).id
  }
  const notes = async (project: string): Promise<unknown[]> => {
    const query = {
      project_id: project,
      fields: ['payload.note'],
      sort_by: [{ field: 'payload.note', direction: 'asc' }],
    }
    const { result } = await server.send<{ result: Record<string, unknown>[] }>('/feedback/query', query)
    return result.map((row) => row['payload.note'])
  }
  const projects = ['ent/said', 'ent/said-kept', 'ent/said-held']
  for (const project of projects) {
    await send(project, 1, '2025-08-10T12:00:00Z')
    await send(project, 2, '2025-08-20T12:00:00Z')
    for (const [n, note] of [
      [1, 'of an old call'],
      [2, 'of a new call'],
      [3, 'of none'],
    ] as const)
      await said(project, n, note)
    const weave_ref = `weave:///${project}/object/name:abc`
    await server.send('/feedback/create', {
      project_id: project,
      weave_ref,
      feedback_type: 'note',
      payload: { note: 'of an object' },
    })
  }
  await derived()
  const callsUs = us('2025-08-15T00:00:00Z')
  const purgeFrom = (beforeUs: number) =>
    createPurge({
      store: server.now().store,
      held: heldProjects('ent/said-held'),
      derived: nothingDerived,
      roundDays: 35,
      rules: {
        cutoffsOf: (id) => (projects.includes(id) ? { callsUs: beforeUs } : undefined),
        keepsFeedback: (id) => id === 'ent/said-kept',
      },
    })
  const all = ['of a new call', 'of an object', 'of an old call', 'of none']
  expect(await notes('ent/said')).toEqual(all)
  await purgeFrom(callsUs).run()
  expect(await notes('ent/said')).toEqual(['of a new call', 'of an object', 'of none'])
  for (const project of projects.slice(1)) expect(await notes(project)).toEqual(all)
  // Everything that was said until now is too old.
  await purgeFrom(Date.now() * 1_000 + 1e9).run()
  expect(await notes('ent/said')).toEqual(['of an object'])
  for (const project of projects.slice(1)) expect(await notes(project)).toEqual(all)
  const left = await server.now().store.rows<{ n: string }>({
    name: 'test.left',
    sql: `SELECT toString(count()) AS n FROM callhouse.feedback_by_ref WHERE project_id = 'ent/said'`,
    params: {},
  })
  expect(left).toEqual([{ n: '1' }])
})

it('nothing of a project is purged while something of it is held', async () => {
  const project = 'ent/held'
  await send(project, 1, '2025-05-10T12:00:00Z')
  await derived()
  const before = await rowsOf(project)
  const cutoffs = { [project]: { callsUs: us('2025-07-01T00:00:00Z') } }
  expect(await purgeOf(cutoffs, [project]).run()).toEqual({ rows: 0, rewritten: [] })
  expect(await rowsOf(project)).toEqual(before)
})

it('payloads go alone where their calls stay', async () => {
  const project = 'ent/light'
  await send(project, 1, '2025-05-10T12:00:00Z')
  await send(project, 2, '2025-05-20T12:00:00Z')
  await derived()
  const cutoffs = { [project]: { payloadsUs: us('2025-05-15T00:00:00Z'), valuesUs: us('2025-05-15T00:00:00Z') } }
  await purgeOf(cutoffs).run()
  expect(await rowsOf(project)).toMatchObject({
    calls: 2,
    call_keys: expect.any(Number),
    payloads: 1,
    payload_chunks: 1,
  })
})

it('a purge is due once a day, from its hour on', () => {
  const at = (text: string) => Date.parse(`2026-01-${text}:00Z`)
  expect(isPurgeDue(3, undefined, at('05T02:59'))).toBe(false)
  expect(isPurgeDue(3, undefined, at('05T03:00'))).toBe(true)
  expect(isPurgeDue(3, at('05T03:00'), at('05T23:00'))).toBe(false)
  expect(isPurgeDue(3, at('05T03:00'), at('06T02:00'))).toBe(false)
  expect(isPurgeDue(3, at('05T23:30'), at('06T03:00'))).toBe(true)
})
