// tier: deep crash
// Parts that the engine sets aside as broken are rebuilt by themselves, and what cannot be rebuilt is said.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventually } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

type Row = Record<string, unknown>

const project = 'broken/parts'
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const timeOf = (n: number) => new Date(Date.UTC(2026, n % 2, 5, 12, n)).toISOString()

let server: LiveServer
beforeEach(async () => {
  server = await startLiveServer()
  await write()
})
afterEach(() => server.remove())

/** Calls of two months: whole ones, starts with an end of their own, a renamed one, a deleted one, turns of a thread. */
async function write(): Promise<void> {
  const start = (n: number) => ({
    project_id: project,
    id: idOf(n),
    trace_id: idOf(n),
    op_name: `op-${n}`,
    started_at: timeOf(n),
    attributes: {},
    inputs: { n },
    thread_id: 'thread',
    turn_id: idOf(n),
  })
  const end = (n: number) => ({ project_id: project, id: idOf(n), ended_at: timeOf(n), output: { n }, summary: {} })
  const batch = Array.from({ length: 20 }, (_, n) => n).flatMap((n) => [
    { mode: 'start', req: { start: start(n) } },
    { mode: 'end', req: { end: end(n) } },
  ])
  await server.send('/call/upsert_batch', { batch })
  await server.send('/call/start', { start: start(20) })
  await server.send('/call/start', { start: start(21) })
  await server.send('/call/end', { end: end(21) })
  await server.send('/call/update', { project_id: project, call_id: idOf(3), display_name: 'renamed' })
  await server.send('/calls/delete', { project_id: project, call_ids: [idOf(4)] })
  await server.send('/obj/create', { obj: { project_id: project, object_id: 'thing', val: { a: 1 } } })
  await everything()
  await server.now().worker?.rollups.refresh()
}

/** The answers of every kind of read about the calls. */
async function everything(): Promise<unknown> {
  const of = { project_id: project }
  const sort_by = [{ field: 'started_at', direction: 'asc' }]
  return {
    calls: await server.list<Row>('/calls/stream_query', { ...of, sort_by }),
    byTrace: await server.list<Row>('/calls/stream_query', { ...of, filter: { trace_ids: [idOf(7)] } }),
    byId: await server.send('/call/read', { ...of, id: idOf(3) }),
    count: await server.send('/calls/query_stats', of),
    threads: await server.list<Row>('/threads/stream_query', of),
    objects: await server.send('/objs/query', of),
  }
}

const partsOf = (table: string) =>
  server.now().store.rows<{ path: string }>({
    name: 'test.parts',
    sql: `SELECT path FROM system.parts WHERE active AND database = 'callhouse' AND table = {table:String}`,
    params: { table },
  })

/** Breaks every part of a table, as the next start finds it; returns the folder of what is set aside. */
async function breakTable(table: string): Promise<string> {
  const parts = await partsOf(table)
  expect(parts.length).toBeGreaterThan(0)
  for (const { path } of parts) writeFileSync(join(path, 'columns.txt'), 'not a list of columns')
  return join(parts[0]?.path as string, '..', 'detached')
}

type Health = { status: string; checks: { storage: string }; reasons?: { storage?: string } }
const health = async () => (await (await fetch(`${server.now().url}/health`)).json()) as Health

/** Resolves when the log line is there. */
const told = (text: string) => eventually(() => expect(server.lines.join('')).toContain(text), { withinMs: 60_000 })

it.each([
  ['calls', ['calls', 'call_patches']],
  ['copies', ['payloads', 'call_keys', 'turns', 'call_counts', 'trace_parts', 'objects', 'object_events']],
])('%s', async (_name, tables) => {
  const before = await everything()
  const folders = await Promise.all(tables.map(breakTable))
  await server.restart()
  await told('"broken parts rebuilt"')
  await eventually(async () => expect(await health()).toMatchObject({ status: 'ok' }), { withinMs: 60_000 })
  expect(await everything()).toEqual(before)
  for (const folder of folders) expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([])
})

it('rows that the log no longer holds are reported, and their broken parts stay set aside', async () => {
  const folder = await breakTable('payloads')
  await server.restart()
  await told('"broken parts rebuilt"')
  // The log now begins after what was lost.
  const log = join(server.dataDir, 'log', 'calls')
  const segments = () => readdirSync(log).filter((name) => /\.(jsonl|zst)/.test(name))
  await server.send('/call/start', {
    start: {
      project_id: project,
      id: idOf(99),
      trace_id: idOf(99),
      op_name: 'late',
      started_at: timeOf(1),
      attributes: {},
      inputs: {},
    },
  })
  await everything()
  const again = await breakTable('payloads')
  const oldest = segments().sort()[0] as string
  rmSync(join(log, oldest))
  await server.restart()
  await told('broken parts rebuilt as far as the log goes back')
  const now = await health()
  expect(now).toMatchObject({ status: 'degraded', checks: { storage: 'degraded' } })
  expect(now.reasons?.storage).toMatch(/payloads: rows accepted before \d{4}-.* may be missing/)
  expect(again).toBe(folder)
  expect(readdirSync(again).length).toBeGreaterThan(0)
})
