// tier: deep slow
// Holds on calls, traces and threads: retention and erasures leave exactly these calls with all that belongs to them.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { HeldKeys } from '../../services/core/directory/holds.ts'
import { unlimited } from '../../services/derived/budget.ts'
import { createFileRemoval } from '../../services/removal/files.ts'
import { createHeldCalls } from '../../services/removal/held-calls.ts'
import { createPurge } from '../../services/removal/purge.ts'
import { createDerivedPurge } from '../../services/removal/purge-derived.ts'
import { createRowRemoval } from '../../services/removal/rows.ts'
import type { Worker } from '../../services/worker/run.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import {
  derive,
  erasedId,
  hasOwnLog,
  placesOf,
  reaches,
  readErasure,
  sendCall,
  startErasingServer,
  tableTexts,
} from '../fixtures/erasing-server.ts'
import type { LiveServer } from '../fixtures/live-server.ts'
import { text } from '../fixtures/otel.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startErasingServer()
})
afterAll(() => server?.remove())

const upload = async (project_id: string, bytes: string): Promise<string> => {
  const body = new FormData()
  body.set('project_id', project_id)
  body.set('file', new Blob([bytes]), 'note')
  const init = { method: 'POST', headers: { authorization: basicAuth() }, body }
  return ((await (await fetch(`${server.now().url}/file/create`, init)).json()) as { digest: string }).digest
}
const hasFile = async (project_id: string, digest: string) =>
  (await post(server.now().url, '/file/content', { project_id, digest })).status === 200

const aged = 'keys/aged'
const spanOf = (n: number) => String(n).padStart(16, 'a')
const traceOf = (n: number) => String(n).padStart(32, 'b')

/** A call whose texts hold its word, with a file, feedback and a log record of its own. @returns the file */
async function sendAged(n: number, word: string, trace: number, started_at: string): Promise<string> {
  const digest = await upload(aged, `file of ${word}`)
  const of = { project_id: aged, id: spanOf(n) }
  const start = {
    ...of,
    trace_id: traceOf(trace),
    op_name: 'op',
    started_at,
    thread_id: `thread-${word}`,
    turn_id: spanOf(n),
    attributes: {},
    inputs: { text: `in ${word}`, file: digest },
  }
  const end = { ...of, ended_at: started_at, output: `out ${word}`, summary: { usage: { m: { requests: 1 } } } }
  await server.send('/call/upsert_batch', { batch: [{ mode: 'start', req: { start } }] })
  await server.send('/call/upsert_batch', { batch: [{ mode: 'end', req: { end } }] })
  await server.send('/feedback/create', {
    project_id: aged,
    weave_ref: `weave:///${aged}/call/${spanOf(n)}`,
    feedback_type: 'note',
    payload: { note: `said ${word}` },
  })
  const record = {
    timeUnixNano: `${Date.parse(started_at)}000000`,
    eventName: 'codex.tool_result',
    body: text('', `log of ${word}`).value,
    traceId: traceOf(trace),
    spanId: spanOf(n),
    attributes: [text('conversation.id', word), text('tool_name', 'shell')],
  }
  await server.send(
    '/otel/v1/logs',
    { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] },
    { project_id: aged },
  )
  return digest
}

/** A log record of a trace, without a span. */
const sendOfTrace = (body: string, trace: number, at: string) => {
  const record = { timeUnixNano: `${Date.parse(at)}000000`, body: text('', body).value, traceId: traceOf(trace) }
  const logs = { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }
  return server.send('/otel/v1/logs', logs, { project_id: aged })
}

const noKeys: HeldKeys = { all: false, callIds: new Set(), traceIds: new Set(), threadIds: new Set() }

type Run = { most?: number; recount?: Worker['recount']; roundDays?: number }

/** A run of retention, and the look at files of the week. @returns rows that went, by table */
async function purge(keys: HeldKeys, { most, recount, roundDays = 1_000 }: Run = {}): Promise<Record<string, number>> {
  const { store, worker, log } = server.now()
  if (worker === undefined) throw new Error('no worker')
  const held = createHeldCalls({
    store,
    heldOf: (id) => (id === aged ? keys : noKeys),
    vendors: [],
    ...(most && { most }),
  })
  const deriving = {
    store,
    budget: unlimited,
    recount: recount ?? worker.recount,
    betweenDerivations: worker.fieldIndexRollups.exclusive,
  }
  const rows = createRowRemoval(deriving)
  const blobs = { remove: async () => undefined }
  const files = createFileRemoval({ store, budget: unlimited, log, held, blobs, removeRows: rows.remove })
  const beforeUs = Date.parse('2025-03-15T00:00:00Z') * 1_000
  const cutoffs = { callsUs: beforeUs, valuesUs: beforeUs, statsUs: beforeUs, logsUs: beforeUs }
  let gone: Record<string, number> = {}
  const job = createPurge({
    store,
    held,
    roundDays,
    derived: createDerivedPurge({ ...deriving, remove: rows.remove }),
    rules: {
      cutoffsOf: (id) => (id === aged ? cutoffs : undefined),
      logsBeforeUs: (id) => (id === aged ? beforeUs : undefined),
    },
    record: async (events) => {
      const rowsOf = events.find(({ scope }) => scope === aged)?.details?.rows
      gone = (rowsOf ?? {}) as Record<string, number>
    },
  })
  await job.run()
  const old = (await files.removeOld(aged, Date.now() + 1_000)).length
  // Derived data is due with the next call.
  await sendCall(server, 'keys/later', 1, 'later')
  await derive(server)
  return { ...gone, ...(old > 0 && { files: old }) }
}

async function counted(): Promise<Record<string, unknown>> {
  const sum = (name: string, sql: string) =>
    server.now().store.rows<{ hour: string; n: number }>({
      name: 'test.counted',
      params: { project: aged },
      sql: `SELECT formatDateTime(${name}, '%d.%H', 'UTC') AS hour, toUInt32(sum(calls)) AS n ${sql}
        GROUP BY hour HAVING n > 0 ORDER BY hour`,
    })
  const of = 'WHERE project_id = {project:String}'
  const shown = (rows: { hour: string; n: number }[]) => Object.fromEntries(rows.map(({ hour, n }) => [hour, n]))
  return {
    minutes: shown(await sum('minute', `FROM callhouse.call_counts FINAL ${of}`)),
    hours: shown(await sum('hour', `FROM callhouse.call_counts_hourly FINAL ${of}`)),
    stats: shown(await sum('bucket', `FROM callhouse.call_stats FINAL ${of} AND seconds = 60`)),
    hourly: shown(await sum('bucket', `FROM callhouse.call_stats FINAL ${of} AND seconds = 3600`)),
  }
}
const same = (hours: Record<string, number>) => ({ minutes: hours, hours, stats: hours, hourly: hours })

it('retention keeps the calls of a held trace, and takes the rest of their hours', async () => {
  const day = '2025-03-10T12'
  const files = {
    'kept-root': await sendAged(1, 'kept-root', 1, `${day}:00:00Z`),
    'kept-child': await sendAged(2, 'kept-child', 1, `${day}:40:00Z`),
    'gone-minute': await sendAged(3, 'gone-minute', 3, `${day}:00:00Z`),
    'gone-hour': await sendAged(4, 'gone-hour', 4, `${day}:50:00Z`),
    'gone-month': await sendAged(5, 'gone-month', 5, '2025-03-01T12:00:00Z'),
    'kept-call': await sendAged(6, 'kept-call', 6, '2025-02-01T12:00:00Z'),
    'kept-young': await sendAged(7, 'kept-young', 7, '2025-03-20T12:00:00Z'),
  }
  await sendOfTrace('kept with its trace', 6, '2025-02-01T12:00:00Z')
  await sendOfTrace('kept with a held trace', 1, '2025-02-01T12:00:00Z')
  await sendOfTrace('gone with its age', 4, '2025-02-01T12:00:00Z')
  await derive(server)
  // Files leave the table's files with the next run.
  const tablesOf = (texts: ReadonlyMap<string, Buffer>, word: string) => {
    const found = [...texts].filter(([name, bytes]) => name !== 'files' && bytes.includes(word))
    return found.map(([name]) => name)
  }
  const before = tablesOf(await tableTexts(server), 'gone-hour')
  expect(before).toEqual(expect.arrayContaining(['calls', 'feedback', 'logs', 'payload_leaves', 'payloads', 'turns']))
  const keys = { ...noKeys, traceIds: new Set([traceOf(1)]), callIds: new Set([spanOf(6)]) }
  const gone = await purge(keys, { roundDays: 1 })
  const texts = await tableTexts(server)
  for (const [word, digest] of Object.entries(files)) {
    const isKept = word.startsWith('kept')
    expect([word, tablesOf(texts, word)]).toEqual([word, isKept ? before : []])
    expect([word, await hasFile(aged, digest)]).toEqual([word, isKept])
  }
  expect(await counted()).toEqual(same({ '10.12': 2, '01.12': 1, '20.12': 1 }))
  for (const word of ['kept with its trace', 'kept with a held trace', 'gone with its age'])
    expect([word, texts.get('logs')?.includes(word)]).toEqual([word, word.startsWith('kept')])
  expect(gone).toMatchObject({ calls: 3, turns: 3, payloads: 6, feedback: 3, logs: 4, files: 3 })
  // Held calls are found, whole, once more days bring them back.
  const listed = await server.list<{ id: string; output: string }>('/calls/stream_query', { project_id: aged })
  expect(listed.map(({ output }) => output).sort()).toEqual([
    'out kept-call',
    'out kept-child',
    'out kept-root',
    'out kept-young',
  ])
  expect(await purge(keys)).toEqual({})
  expect(await counted()).toEqual(same({ '10.12': 2, '01.12': 1, '20.12': 1 }))
  // More held calls than are named one by one hold the whole project.
  expect(await purge(keys, { most: 1 })).toEqual({})
  // A run that breaks off before the hours are due again is finished by the next one.
  const child = { ...noKeys, callIds: new Set([spanOf(2), spanOf(6)]) }
  await expect(purge(child, { recount: () => Promise.reject(new Error('broken off')) })).rejects.toThrow('broken off')
  await purge(child)
  expect(await counted()).toEqual(same({ '10.12': 1, '01.12': 1, '20.12': 1 }))
  await purge({ ...keys, traceIds: new Set() }, { roundDays: 1 })
  const left = await tableTexts(server)
  for (const word of ['kept-root', 'kept-child'] as const) {
    expect([word, tablesOf(left, word)]).toEqual([word, []])
    expect([word, await hasFile(aged, files[word])]).toEqual([word, false])
  }
  expect(await counted()).toEqual(same({ '01.12': 1, '20.12': 1 }))
})

const erased = 'keys/erased'

it('an erasure removes what is free, waits with the rest, and goes on when the hold ends', async () => {
  await sendCall(server, erased, 1, 'held-root')
  await sendCall(server, erased, 2, 'held-child', 1)
  await sendCall(server, erased, 3, 'free-call')
  await derive(server)
  const places = await placesOf(server, 'held-child')
  const hold = await server.send<{ id: string }>(`/v2/${erased}/holds`, { trace_ids: [erasedId(1)], reason: 'a case' })
  const deleting = await post(server.now().url, '/calls/delete', {
    project_id: erased,
    call_ids: [1, 3].map(erasedId),
  })
  expect(deleting.status).toBe(200)
  const id = deleting.headers.get('x-callhouse-erasure') as string
  expect(await server.list('/calls/stream_query', { project_id: erased })).toEqual([])
  await reaches(server, erased, id, 'held')
  await derive(server)
  expect(await placesOf(server, 'free-call')).toEqual([])
  // Indexed values are of calls that are seen.
  const rows = (all: string[]) => all.filter((place) => !place.startsWith('payload_'))
  for (const word of ['held-root', 'held-child']) expect(rows(await placesOf(server, word))).toEqual(rows(places))
  expect(await readErasure(server, erased, id)).toMatchObject({
    status: 'held',
    held: 2,
    problem: 'held: 2',
    done_at: null,
    counts: { calls: 3, payload_rows: 2, feedback: 1, log_rows: hasOwnLog(server) ? 3 : 0 },
  })
  await fetch(`${server.now().url}/v2/${erased}/holds/${hold.id}`, {
    method: 'DELETE',
    headers: { authorization: basicAuth() },
  })
  await reaches(server, erased, id, 'done')
  for (const word of ['held-root', 'held-child']) expect(await placesOf(server, word)).toEqual([])
  expect(await readErasure(server, erased, id)).toMatchObject({
    held: 0,
    problem: null,
    counts: { calls: 3, payload_rows: 6, feedback: 3 },
  })
})
