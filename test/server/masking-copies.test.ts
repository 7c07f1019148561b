// Copies on the way in are masked, each of them: names of spans in those of ops and objects, models in usage, refs in
// lists of refs, and the short texts beside payloads.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'copies/app'
/** The object id keeps only `marker…xsecret.example.com` of it. */
const mark = (n: number): string => `marker${n}x@secret.example.com`
let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer(['--mask-floor', '@contact,@payment'])
})
afterAll(() => server.remove())

const nowNs = () => `${BigInt(Date.now()) * 1_000_000n}`
const hex = (length: number) => uuidv7().replaceAll('-', '').slice(-length)
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const refTo = (name: string) => `weave:///${project_id}/object/${name}:v1`
const span = (name: string, attributes: object[] = []) => ({
  traceId: hex(32),
  spanId: hex(16),
  name,
  startTimeUnixNano: nowNs(),
  endTimeUnixNano: nowNs(),
  attributes,
})
const record = (fields: object) => ({ timeUnixNano: nowNs(), body: { stringValue: 'b' }, ...fields })

/** Tables and files of the log in which a text stands. */
async function placesOf(marker: string): Promise<string[]> {
  const { store, worker } = server.now()
  await worker?.caughtUp()
  const rows = <Row>(sql: string): Promise<Row[]> => store.rows<Row>({ name: 'test.search', sql, params: {} })
  const tables = await rows<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = 'callhouse' AND engine LIKE '%MergeTree'",
  )
  const found: string[] = []
  for (const { name } of tables) {
    const json = JSON.stringify(await rows(`SELECT * FROM callhouse.${name}`))
    if (json.includes(marker)) found.push(name)
  }
  for (const entry of await readdir(server.dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/log/.test(entry.parentPath)) continue
    if ((await readFile(join(entry.parentPath, entry.name))).includes(marker)) found.push(entry.name)
  }
  return found
}

it('names of spans and ops, models, refs, severities, names of events, types of feedback and texts of queues', async () => {
  const spans = [
    span(`chat with ${mark(1)}`),
    span('pay 4111 1111 1111 1111'),
    span('usage', [
      text('gen_ai.request.model', `for ${mark(2)}`),
      { key: 'gen_ai.usage.input_tokens', value: { intValue: 7 } },
      text('input.value', JSON.stringify({ of: refTo(mark(3)), plain: refTo('plain') })),
    ]),
  ]
  const headers = { project_id }
  await server.send('/otel/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] }, headers)
  const logRecords = [
    record({ severityText: mark(4), eventName: `event ${mark(5)}` }),
    record({ eventName: 'claude_code.user_prompt', attributes: [text('prompt', mark(6))] }),
  ]
  await server.send('/otel/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }, headers)
  const id = uuidv7()
  const start = { project_id, id, trace_id: id, started_at: new Date().toISOString(), attributes: {} }
  await server.send('/call/start', {
    start: { ...start, op_name: `ask ${mark(7)}`, inputs: { of: refTo(mark(8)), plain: refTo('plain') } },
  })
  const other = uuidv7()
  const op = `weave:///${project_id}/op/${mark(9)}:v1`
  const inputs = { of: refTo(mark(10)), odd: 'a\u2028b', long: 'long '.repeat(50_000) }
  await server.send('/call/start', { start: { ...start, id: other, op_name: op, inputs } })
  const weave_ref = `weave:///${project_id}/call/${id}`
  await server.send('/feedback/create', { project_id, weave_ref, feedback_type: `of ${mark(11)}`, payload: {} })
  const queue = { project_id, name: `for ${mark(12)}`, description: mark(13), scorer_refs: [] }
  const { id: queueId } = await server.send<{ id: string }>('/annotation_queues', queue)
  const changed = await fetch(`${server.now().url}/annotation_queues/${queueId}`, {
    method: 'PUT',
    headers: { authorization: `Basic ${btoa('api:test-key')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project_id, description: `of ${mark(14)}` }),
  })
  expect(await changed.json()).toMatchObject({ queue: { name: 'for [email]', description: 'of [email]' } })

  const calls = await server.list<Record<string, unknown>>('/calls/stream_query', { project_id })
  const ops = calls.map(({ op_name }) => String(op_name).replace(/:[A-Za-z0-9]{43}$/, ''))
  const ofProject = (name: string) => `weave:///${project_id}/op/${name}`
  expect(ops).toEqual(
    expect.arrayContaining([
      'ask [email]',
      `${ofProject('[email]')}:v1`,
      ...['chat_with_email', 'pay_card_1111'].map(ofProject),
    ]),
  )
  expect(calls.map(({ summary }) => JSON.stringify(summary)).join()).toContain('for [email]')
  expect(await placesOf('marker')).toEqual([])
  expect(await placesOf('4111 1111')).toEqual([])
  expect(await placesOf('4111_1111')).toEqual([])
  // Names of events stay: the record is a call.
  expect(JSON.stringify(calls)).toContain('claude_code.user_prompt')
})
