// tier: deep slow
// Log records of what is deleted are removed with it, from tables and log; each is told to the request that asked for it.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth, post } from '../fixtures/child-server.ts'
import {
  erase,
  hasOwnLog,
  placesOf,
  reaches,
  readErasure,
  removed,
  startErasingServer,
} from '../fixtures/erasing-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import type { LiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, text } from '../fixtures/otel.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startErasingServer()
})
afterAll(() => server.remove())

const trace = (n: number) => String(n).padStart(32, 'a')
const span = (n: number) => String(n).padStart(16, 'b')
const began = BigInt(Date.now() - 3_600_000) * 1_000_000n
let count = 0n
type Said = { trace?: string; span?: string; eventName?: string; attributes?: unknown[]; timeUnixNano?: undefined }
const record = (word: string, { trace: traceId, span: spanId, ...more }: Said = {}) => ({
  timeUnixNano: String(began + ++count),
  body: { stringValue: word },
  ...(traceId && { traceId }),
  ...(spanId && { spanId }),
  ...more,
})
const sendLogs = (project_id: string, ...logRecords: unknown[]) =>
  server.send('/otel/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }, { project_id })
const sendSpans = (project_id: string, ...spans: [traceId: string, spanId: string][]) =>
  server.send('/otel/v1/traces', aRequest(spans.map(([traceId, spanId]) => aSpan({ traceId, spanId }))), { project_id })
const gone = (...words: string[]) =>
  expectSoon(async () => (await Promise.all(words.map((word) => placesOf(server, word)))).flat(), {
    withinMs: 60_000,
    everyMs: 500,
  }).toEqual([])
const range = {
  start: new Date(Date.now() - 86_400_000).toISOString(),
  end: new Date(Date.now() + 86_400_000).toISOString(),
}
const everywhere = () => (hasOwnLog(server) ? ['log/logs', 'logs'] : ['logs'])

it('those of deleted calls go with these, and those of a trace with the last of its calls', async () => {
  const project = 'ent/logs-of-calls'
  await sendSpans(project, [trace(1), span(1)], [trace(1), span(2)], [trace(2), span(3)])
  await sendLogs(
    project,
    record('canary-of-one', { trace: trace(1), span: span(1) }),
    record('canary-of-two', { trace: trace(1), span: span(2) }),
    record('canary-of-trace', { trace: trace(1) }),
    record('stays-of-three', { trace: trace(2), span: span(3) }),
    record('stays-elsewhere', { trace: trace(3), span: span(1) }),
  )
  const first = await erase(server, { project_id: project, call_ids: [span(1)], reason: 'one' })
  await removed(server, project, first.body.erasure_id)
  await gone('canary-of-one')
  expect(await placesOf(server, 'canary-of-trace')).toEqual(everywhere())
  const second = await erase(server, { project_id: project, call_ids: [span(2)], reason: 'two' })
  await removed(server, project, second.body.erasure_id)
  await gone('canary-of-two', 'canary-of-trace')
  for (const word of ['stays-of-three', 'stays-elsewhere']) expect(await placesOf(server, word)).toEqual(everywhere())
  for (const [{ body }, log_records] of [
    [first, 1],
    [second, 2],
  ] as const)
    expect(await readErasure(server, project, body.erasure_id)).toMatchObject({
      counts: { calls: 1, log_records, log_rows: hasOwnLog(server) ? log_records + 1 : 0 },
    })
})

it('those that were deleted by themselves go, and come not back from the log', async () => {
  const project = 'ent/logs-alone'
  await sendLogs(
    project,
    record('canary-said'),
    record('stays-said'),
    record('canary-session', { attributes: [text('session.id', 's-1')] }),
    record('canary-list', {
      attributes: [{ key: 'session_id', value: { arrayValue: { values: [{ stringValue: 's-1' }] } } }],
    }),
    record('canary-of-a-trace', { trace: trace(5) }),
  )
  const deleted = await post(server.now().url, '/logs/delete', {
    project_id: project,
    ...range,
    contains: 'canary-said',
  })
  expect(JSON.parse(deleted.text)).toEqual({ num_deleted: 1 })
  await removed(server, project, deleted.headers.get('x-callhouse-erasure') as string)
  const { body } = await erase(server, { project_id: project, thread_ids: ['s-1'], reason: 'a session' })
  const last = await erase(server, {
    project_id: project,
    trace_ids: [trace(5).toUpperCase()],
    reason: 'a trace',
  })
  expect([body, last.body]).toMatchObject([
    { calls: 0, log_records: 2 },
    { calls: 0, log_records: 1 },
  ])
  await removed(server, project, body.erasure_id)
  await removed(server, project, last.body.erasure_id)
  await gone('canary-said', 'canary-session', 'canary-list', 'canary-of-a-trace')
  expect(await placesOf(server, 'stays-said')).toEqual(everywhere())
  await reaches(server, project, last.body.erasure_id, 'done')
  const receipt = await readErasure(server, project, last.body.erasure_id)
  expect(receipt).toMatchObject({
    counts: { calls: 0, log_records: 1, log_rows: hasOwnLog(server) ? 1 : 0 },
    places: expect.arrayContaining(['table logs', 'table logs_by_span', 'dead letters']),
    remaining: expect.arrayContaining([{ place: 'calls and feedback that log records became part of', until: null }]),
  })
})

it('those of a prompt of an agent go with its call', async () => {
  const project = 'ent/logs-of-agent'
  const attributes = [text('session.id', 's'), text('prompt.id', 'p'), text('prompt', 'canary-prompt')]
  await sendLogs(project, record('canary-prompt', { eventName: 'claude_code.user_prompt', attributes }))
  const [call] = await server.list<{ id: string }>('/calls/stream_query', { project_id: project })
  const { body } = await erase(server, { project_id: project, call_ids: [call?.id], reason: 'a prompt' })
  await removed(server, project, body.erasure_id)
  await gone('canary-prompt')
  expect(await readErasure(server, project, body.erasure_id)).toMatchObject({ counts: { log_records: 1 } })
})

it('those that are held stay hidden until the hold ends', async () => {
  const project = 'ent/logs-held'
  await sendSpans(project, [trace(1), span(1)])
  await sendLogs(
    project,
    record('canary-call', { trace: trace(1), span: span(1) }),
    record('canary-trace', { trace: trace(1) }),
    record('canary-other', { trace: trace(7) }),
  )
  const hold = await server.send<{ id: string }>(`/v2/${project}/holds`, {
    trace_ids: [trace(1).toUpperCase()],
    reason: 'a case',
  })
  const { body } = await erase(server, { project_id: project, trace_ids: [trace(1), trace(7)], reason: 'all' })
  expect(body).toMatchObject({ calls: 1, log_records: 3 })
  await reaches(server, project, body.erasure_id, 'held')
  await gone('canary-other')
  expect(await server.list('/logs/query', { project_id: project, ...range })).toEqual([])
  for (const word of ['canary-call', 'canary-trace']) expect(await placesOf(server, word)).toEqual(everywhere())
  const headers = { authorization: basicAuth() }
  await fetch(`${server.now().url}/v2/${project}/holds/${hold.id}`, { method: 'DELETE', headers })
  await removed(server, project, body.erasure_id)
  await gone('canary-call', 'canary-trace')
})

it('those that name a held thread within another value stay, whoever else they name', async () => {
  const project = 'ent/logs-held-thread'
  const session = (id: string) => ({
    key: 'session',
    value: { kvlistValue: { values: [{ key: 'id', value: { stringValue: id } }] } },
  })
  await sendLogs(
    project,
    record('canary-held', { attributes: [session('s-9'), text('user_id', 'u-9')] }),
    record('canary-free', { attributes: [session('s-8'), text('user_id', 'u-9')] }),
  )
  await server.send(`/v2/${project}/holds`, { thread_ids: ['s-9'], reason: 'a case' })
  const { body } = await erase(server, { project_id: project, user_ids: ['u-9'], reason: 'a user' })
  expect(body).toMatchObject({ log_records: 2 })
  await reaches(server, project, body.erasure_id, 'held')
  await gone('canary-free')
  expect(await placesOf(server, 'canary-held')).toEqual(everywhere())
})

it('files that they alone name go with them, and one that a record still names stays with no call left', async () => {
  const project = 'ent/logs-files'
  const content = (word: string) => `data:text/plain;base64,${Buffer.alloc(30_000, word).toString('base64')}`
  await sendSpans(project, [trace(1), span(1)])
  await server.send('/call/upsert_batch', {
    batch: [
      {
        mode: 'start',
        req: {
          start: {
            project_id: project,
            id: span(8),
            trace_id: trace(8),
            op_name: 'op',
            started_at: new Date().toISOString(),
            attributes: {},
            inputs: { file: content('stays-file ') },
          },
        },
      },
    ],
  })
  await sendLogs(
    project,
    record(content('canary-file '), { trace: trace(1), span: span(1) }),
    record(content('stays-file '), { trace: trace(2) }),
  )
  const files = () => server.send<{ total_size_bytes: number }>('/files/query_stats', { project_id: project })
  const before = (await files()).total_size_bytes
  expect(before).toBeGreaterThan(60_000)
  const { body } = await erase(server, { project_id: project, call_ids: [span(1), span(8)], reason: 'files' })
  await removed(server, project, body.erasure_id)
  const receipt = await readErasure(server, project, body.erasure_id)
  expect(receipt).toMatchObject({ counts: { calls: 2, log_records: 1, files: 2 } })
  const after = (await files()).total_size_bytes
  expect([after > 30_000, after < before - 29_000]).toEqual([true, true])
})
