// tier: deep crash
// `callhouse backup`, `restore` and `rebuild` with log records: those that are joined stay joined, once, and those that
// wait for their spans are joined when they come.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { callhouse } from '../fixtures/callhouse.ts'
import { type ChildServer, post, postLines, startChildServer } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { aRequest, aSpan, integer, text } from '../fixtures/otel.ts'

const project_id = 'back/logs'
const traceId = '0af7651916cd43dd8448eb211c80319c'
const idOf = (n: number) => n.toString(16).padStart(16, 'a')
const ns = (n: number) => String(1_772_712_000_000_000_000n + BigInt(n))

let folder: string
let dataDir: string
let server: ChildServer
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callhouse-backup-logs-'))
  dataDir = join(folder, 'data')
  await mkdir(dataDir)
  server = await startChildServer(dataDir)
})
afterAll(async () => {
  await server?.kill()
  await rm(folder, { recursive: true, force: true })
})

async function ask<T>(path: string, body: object): Promise<T> {
  const { status, text } = await post(server.url, path, body, { project_id })
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`)
  return JSON.parse(text) as T
}
const sendSpan = (n: number) =>
  ask(
    '/otel/v1/traces',
    aRequest([aSpan({ traceId, spanId: idOf(n), startTimeUnixNano: ns(0), endTimeUnixNano: ns(1_000_000) })]),
  )
const sendLogs = (...logRecords: object[]) => ask('/otel/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
const details = (n: number) => ({
  traceId,
  spanId: idOf(n),
  timeUnixNano: ns(n),
  eventName: 'gen_ai.client.inference.operation.details',
  attributes: [
    text('gen_ai.request.model', 'm1'),
    integer('gen_ai.usage.input_tokens', n),
    text('gen_ai.input.messages', `[{"content": "question ${n}"}]`),
  ],
})
const evaluation = {
  traceId,
  spanId: idOf(1),
  timeUnixNano: ns(9),
  eventName: 'gen_ai.evaluation.result',
  attributes: [text('gen_ai.evaluation.name', 'Relevance'), text('gen_ai.evaluation.score.label', 'good')],
}

type Call = { id: string; inputs: object; summary: { usage?: object } }
const joinedInputs = (n: number) => ({ 'gen_ai.input.messages': [{ content: `question ${n}` }] })
const calls = () =>
  postLines<Call>(server.url, '/calls/stream_query', { project_id, sort_by: [{ field: 'id', direction: 'asc' }] })
const waitForJoin = (n: number) =>
  eventually(async () => expect((await calls()).find(({ id }) => id === idOf(n))?.inputs).toEqual(joinedInputs(n)), {
    withinMs: 60_000,
    everyMs: 100,
  })
/** Everything that says something of records: logs, calls, feedback, statistics. */
const world = async () => ({
  calls: await calls(),
  logs: await postLines(server.url, '/logs/query', {
    project_id,
    start: '2026-03-05T00:00:00Z',
    end: '2026-03-06T00:00:00Z',
  }),
  feedback: (await ask<{ result: object[] }>('/feedback/query', { project_id })).result,
  count: await ask('/calls/query_stats', { project_id }),
})

it('a restored server holds records as they were, and joins those that waited', { timeout: 300_000 }, async () => {
  await sendSpan(1)
  await sendLogs(details(1), details(2), evaluation, { timeUnixNano: ns(20), body: { stringValue: 'of no span' } })
  await sendSpan(3)
  await waitForJoin(1)
  await eventually(async () => expect((await world()).feedback).toHaveLength(1), { withinMs: 60_000, everyMs: 100 })
  const before = await world()
  expect([before.calls.length, before.logs.length]).toEqual([2, 4])
  const backup = join(folder, 'backup')
  expect(await callhouse(['backup', backup], { CALLHOUSE_DATA_DIR: dataDir })).toMatch(/done/)
  // Later records are no part of it.
  await sendSpan(2)
  await waitForJoin(2)
  await server.kill()

  const restored = join(folder, 'restored')
  await callhouse(['restore', backup], { CALLHOUSE_DATA_DIR: restored })
  dataDir = restored
  server = await startChildServer(restored)
  expect(await world()).toEqual(before)
  await sendLogs(details(1), evaluation, details(3))
  await waitForJoin(3)
  await sendSpan(2)
  await waitForJoin(2)
  const after = await world()
  expect([after.calls.length, after.logs.length, after.feedback]).toEqual([3, 5, before.feedback])
  expect(after.calls.find(({ id }) => id === idOf(1))).toEqual(before.calls.find(({ id }) => id === idOf(1)))
})

it.each(['calls', 'call_keys', 'logs', 'logs_by_span'])(
  'a rebuild of %s changes nothing of them',
  { timeout: 300_000 },
  async (table) => {
    const before = await world()
    expect(before.calls.map(({ inputs }) => inputs)).toEqual([1, 2, 3].map(joinedInputs))
    await callhouse(['rebuild', table], { CALLHOUSE_DATA_DIR: dataDir })
    expect(await world()).toEqual(before)
    // A span that is sent again is joined again.
    await sendSpan(1)
    await waitForJoin(1)
  },
)
