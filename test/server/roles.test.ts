// tier: deep kafka
// Three processes over Kafka and a ClickHouse server: what one accepts, the next request to another one reads.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../services/app/config.ts'
import { openKeysOf } from '../../services/app/keys.ts'
import { createLogger } from '../../services/core/process/logger.ts'
import type { ChildServer } from '../fixtures/child-server.ts'
import { basicAuth, post, postLines } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type FakeProvider, startFakeProvider } from '../fixtures/fake-provider.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { aRequest, aSpan, text as attribute } from '../fixtures/otel.ts'
import { runs } from '../fixtures/runs.ts'
import { type S3Server, s3Environment, startS3Server } from '../fixtures/s3-server.ts'

const project_id = 'team/roles'
const project_evaluated = 'team/evaluated'
let s3: S3Server
let installation: Installation
let ingest: ChildServer
let worker: ChildServer
let query: ChildServer
let engine: FakeProvider

beforeAll(async () => {
  s3 = await startS3Server()
  installation = await createInstallation(await kafkaBrokers(), { CALLHOUSE_FILE_BUCKET: s3.url, ...s3Environment })
  ingest = await installation.start('ingest')
  engine = await startFakeProvider()
  worker = await installation.start('worker', { CALLHOUSE_ENGINE_URL: engine.url })
  query = await installation.start('query')
})
afterAll(async () => {
  await installation?.remove()
  await s3?.stop()
  await engine?.close()
})

const at = (ms: number) => new Date(Date.parse('2026-01-05T00:00:00Z') + ms).toISOString()
const started = (id: string, n: number) => ({
  mode: 'start',
  req: { start: { project_id, id, trace_id: id, op_name: 'op', started_at: at(n), attributes: {}, inputs: { n } } },
})
const ended = (id: string, n: number) => ({
  mode: 'end',
  req: { end: { project_id, id, ended_at: at(n + 5), output: { n }, summary: {} } },
})
const send = async (server: ChildServer, batch: unknown[]) => {
  const { status, text } = await post(server.url, '/call/upsert_batch', { batch })
  expect([status, text.slice(0, 200)]).toEqual([200, expect.any(String)])
}

it('a write to one process is read from another one at once, whether a call came whole or in two parts', async () => {
  for (let round = 0; round < 5; round++) {
    const ids = Array.from({ length: 20 }, () => randomUUID())
    await send(
      ingest,
      ids.map((id, n) => started(id, round * 100 + n)),
    )
    await send(
      ingest,
      ids.map((id, n) => ended(id, round * 100 + n)),
    )
    const calls = await postLines<{ id: string; output: { n: number } | null }>(query.url, '/calls/stream_query', {
      project_id,
      filter: { call_ids: ids },
    })
    expect(calls.map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect(calls.every(({ output }) => output !== null)).toBe(true)
  }
  const { text } = await post(query.url, '/calls/query_stats', { project_id })
  expect(JSON.parse(text)).toMatchObject({ count: 100 })
})

it('lets a key in everywhere that a command made, and nowhere two seconds after it was revoked', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'callhouse-keys-'))
  const loaded = loadConfig({ env: { ...installation.env, CALLHOUSE_DATA_DIR: dataDir }, argv: [] })
  if (!loaded.ok) throw new Error(loaded.lines.join('\n'))
  const { keys, close } = await openKeysOf(loaded.config, createLogger({ level: 'silent' }).log)
  try {
    const { id, text, stored } = keys.create({ userId: 'u', role: 'reader' })
    await stored
    const statuses = () =>
      Promise.all(
        [ingest, worker, query].map(async ({ url }) => {
          const answer = await fetch(`${url}/openapi.json`, { headers: { authorization: basicAuth(text) } })
          return answer.status
        }),
      )
    expect(await statuses()).toEqual([200, 200, 200])
    await keys.revoke(id)
    await eventually(async () => expect(await statuses()).toEqual([401, 401, 401]), { everyMs: 20 })
  } finally {
    await close()
    await rm(dataDir, { recursive: true })
  }
})

it('refuses rows by a limit that another process was told of', async () => {
  const project = 'team/limited'
  const put = await fetch(`${query.url}/v2/${project}/settings/limits`, {
    method: 'PUT',
    headers: { authorization: basicAuth() },
    body: JSON.stringify({ calls_per_minute: 1 }),
  })
  expect(put.status).toBe(200)
  const write = async () => {
    const id = randomUUID()
    const start = { project_id: project, id, op_name: 'op', started_at: at(0), attributes: {}, inputs: {} }
    return (await post(ingest.url, '/call/start', { start })).status
  }
  await eventually(async () => expect(await write()).toBe(429), { everyMs: 20 })
  expect(await write()).toBe(429)
})

it('runs an evaluation in the worker that was asked for elsewhere', async () => {
  const json = async (server: ChildServer, path: string, body: object) => {
    const { status, text } = await post(server.url, path, { project_id: project_evaluated, ...body })
    expect(status, text).toBe(200)
    return JSON.parse(text)
  }
  const create = async (object_id: string, name: string, fields: object) => {
    const obj = { project_id: project_evaluated, object_id, val: { _type: name, _class_name: name, ...fields } }
    const { digest } = await json(ingest, '/obj/create', { obj })
    return `weave:///${project_evaluated}/object/${object_id}:${digest}`
  }
  const table = { project_id: project_evaluated, rows: [{ user_input: 'a' }, { user_input: 'b' }] }
  const { digest } = await json(ingest, '/table/create', { table })
  const dataset = await create('data', 'Dataset', { rows: `weave:///${project_evaluated}/table/${digest}` })
  const refs = {
    evaluation_ref: await create('evaluation', 'Evaluation', { dataset, scorers: [], trials: 2 }),
    model_ref: await create('model', 'LLMStructuredCompletionModel', {
      llm_model_id: 'coreweave/m',
      default_params: {},
    }),
  }
  const { call_id } = await json(query, '/evaluations/evaluate_model', refs)
  await eventually(
    async () => {
      const { status } = await json(query, '/evaluations/status', { call_id })
      expect(status).toMatchObject({ code: 'complete', output: { model_latency: {} } })
    },
    { withinMs: 60_000, everyMs: 100 },
  )
  expect(engine.asked.map(({ json: { messages } }) => messages[0].content).sort()).toEqual(['a', 'a', 'b', 'b'])
})

it('keeps the counters of all partitions, whichever worker applied them', async () => {
  const database = createClient({
    url: installation.bridge.url,
    username: installation.bridge.user,
    password: installation.bridge.password,
  })
  await eventually(
    async () => {
      const query = `SELECT toUInt32(sum(calls)) AS n, uniqExact(partition) AS partitions
        FROM (SELECT calls, 0 AS partition FROM callhouse.call_counts FINAL WHERE project_id = '${project_id}'
          UNION ALL SELECT 0, partition FROM callhouse.rollups WHERE name = 'call_counts')`
      const [row] = await (await database.query({ query, format: 'JSONEachRow' })).json<{
        n: number
        partitions: number
      }>()
      expect(row).toEqual({ n: 100, partitions: 3 })
    },
    { withinMs: 60_000, everyMs: 200 },
  )
  await database.close()
})

it('no call is lost or doubled when workers are killed', async () => {
  const sent: string[] = []
  const names = Array.from({ length: runs(2, 8) }, () => randomUUID())
  for (const name of names) {
    const ids = Array.from({ length: 20 }, () => randomUUID())
    await send(
      ingest,
      ids.map((id, n) => started(id, 10_000 + n)),
    )
    await send(
      ingest,
      ids.map((id, n) => ended(id, 10_000 + n)),
    )
    sent.push(...ids)
    await worker.kill()
    worker = await installation.start('worker', { CALLHOUSE_WORKER_ID: `worker-${name}` })
  }
  const calls = await postLines<{ id: string; output: unknown }>(query.url, '/calls/stream_query', {
    project_id,
    filter: { call_ids: sent },
  })
  expect(
    calls
      .filter(({ output }) => output !== null)
      .map(({ id }) => id)
      .sort(),
  ).toEqual([...sent].sort())
})

it('joins spans and their log records that two workers apply at the same time', async () => {
  const other = await installation.start('worker')
  const project_id = 'team/joins'
  const traceId = 'd'.repeat(32)
  const ids = Array.from({ length: 24 }, (_, n) => String(n).padStart(16, 'e'))
  const times = { startTimeUnixNano: '1772712000000000000', endTimeUnixNano: '1772712001000000000' }
  const spans = ids.map((spanId) => aSpan({ traceId, spanId, ...times }))
  const logRecords = ids.map((spanId) => ({
    traceId,
    spanId,
    timeUnixNano: times.startTimeUnixNano,
    eventName: 'gen_ai.client.inference.operation.details',
    attributes: [attribute('gen_ai.input.messages', `[{"content":"${spanId}"}]`)],
  }))
  const write = async (path: string, body: object) =>
    expect((await post(ingest.url, path, body, { project_id })).status).toBe(200)
  // Some spans first, some records first, the rest at the same time; some of both again.
  const sendSpans = (from: number, to: number) => write('/v1/traces', aRequest(spans.slice(from, to)))
  const sendLogs = (from: number, to: number) =>
    write('/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords: logRecords.slice(from, to) }] }] })
  await sendSpans(0, 8)
  await sendLogs(8, 16)
  await Promise.all([sendLogs(0, 8), sendSpans(8, 16)])
  await Promise.all([...ids.slice(16).keys()].flatMap((n) => [sendSpans(16 + n, 17 + n), sendLogs(16 + n, 17 + n)]))
  await Promise.all([sendSpans(4, 20), sendLogs(4, 20)])
  await eventually(
    async () => {
      const calls = await postLines<{ id: string; inputs: unknown }>(query.url, '/calls/stream_query', { project_id })
      const found = calls.map(({ id, inputs }) => [id, inputs]).sort()
      expect(found).toEqual(ids.toSorted().map((id) => [id, { 'gen_ai.input.messages': [{ content: id }] }]))
    },
    { withinMs: 60_000, everyMs: 200 },
  )
  await other.kill()
})

it('answers at once and says that it is stale when nothing is applied any more', async () => {
  await worker.kill()
  const impatient = await installation.start('query', { CALLHOUSE_FRESHNESS_MS: '500' })
  const id = randomUUID()
  await send(ingest, [started(id, 20_000)])
  const ask = async () => {
    const beganMs = performance.now()
    const { status, headers, text } = await post(impatient.url, '/calls/stream_query', { project_id, limit: 1 })
    expect([status, text.length > 0]).toEqual([200, true])
    return { staleMs: Number(headers.get('x-callhouse-stale')), tookMs: performance.now() - beganMs }
  }
  // The first one waits its bound; once the record is older than that, no read waits for it.
  expect((await ask()).staleMs).toBeGreaterThan(0)
  await eventually(async () => expect((await ask()).staleMs).toBeGreaterThan(500))
  const rest = await Promise.all([ask(), ask(), ask()])
  for (const { staleMs, tookMs } of rest) expect([staleMs > 500, tookMs < staleMs]).toEqual([true, true])
  worker = await installation.start('worker')
  const [found] = await postLines<{ id: string }>(query.url, '/calls/stream_query', {
    project_id,
    filter: { call_ids: [id] },
  })
  expect(found?.id).toBe(id)
})

const largeProject = 'team/large'
const startedWith = (id: string, inputs: unknown) => ({
  mode: 'start',
  req: {
    start: { project_id: largeProject, id, trace_id: id, op_name: 'op', started_at: at(0), attributes: {}, inputs },
  },
})
const endedWith = (id: string, output: unknown) => ({
  mode: 'end',
  req: { end: { project_id: largeProject, id, ended_at: at(5), output, summary: {} } },
})
type Read = { id: string; inputs: Record<string, unknown>; output: unknown }
const read = (body: object) => postLines<Read>(query.url, '/calls/stream_query', { project_id: largeProject, ...body })

/** A text that no compression makes small, with characters that are escaped on their way. */
const textOf = (mebibytes: number): string => {
  const block = Array.from({ length: 4096 }, (_, n) => `${randomUUID()}"\n\\é${n}`).join('')
  return block.repeat(Math.ceil((mebibytes * 2 ** 20) / block.length))
}

it('reads, filters and sorts a call of 20 MiB as any other', async () => {
  const [id, small] = [randomUUID(), randomUUID()]
  const document = textOf(19)
  const inputs = { pointer: '{"large": true}', rank: 2, document, last: 'needle in the haystack' }
  const body = { batch: [startedWith(small, { rank: 1 }), startedWith(id, inputs)] }
  expect(Buffer.byteLength(JSON.stringify(body))).toBeGreaterThan(20 * 2 ** 20)
  expect((await post(ingest.url, '/call/upsert_batch', body)).status).toBe(200)
  const output = { answer: document.slice(0, 9 * 2 ** 20), n: 7 }
  expect((await post(ingest.url, '/call/upsert_batch', { batch: [endedWith(id, output)] })).status).toBe(200)

  const [whole] = await read({ filter: { call_ids: [id] } })
  expect(whole?.inputs.document === document).toBe(true)
  expect({ ...whole?.inputs, document: '' }).toEqual({ ...inputs, document: '' })
  expect((whole?.output as typeof output | undefined)?.answer === output.answer).toBe(true)
  const found = await read({
    query: { $expr: { $eq: [{ $getField: 'inputs.last' }, { $literal: inputs.last }] } },
    columns: ['id'],
  })
  expect(found.map((call) => call.id)).toEqual([id])
  const sorted = await read({ sort_by: [{ field: 'inputs.rank', direction: 'desc' }], columns: ['id'] })
  expect(sorted.map((call) => call.id)).toEqual([id, small])
  const keys = await s3.keys()
  expect(keys.filter((key) => key.startsWith('a/b/log-records/')).length).toBe(2)
})

it('applies a large call that was accepted while no worker ran, and answers 503 while blob storage is away', async () => {
  await worker.kill()
  const id = randomUUID()
  const inputs = { document: textOf(9) }
  expect((await post(ingest.url, '/call/upsert_batch', { batch: [startedWith(id, inputs)] })).status).toBe(200)
  const port = (s3.server.address() as { port: number }).port
  s3.server.closeAllConnections()
  await new Promise((resolve) => s3.server.close(resolve))

  const refused = await post(ingest.url, '/call/upsert_batch', { batch: [startedWith(randomUUID(), inputs)] })
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
  worker = await installation.start('worker')
  const small = randomUUID()
  expect((await post(ingest.url, '/call/upsert_batch', { batch: [startedWith(small, {})] })).status).toBe(200)

  await new Promise<void>((resolve) => s3.server.listen(port, '127.0.0.1', resolve))
  const calls = await read({ filter: { call_ids: [id, small] } })
  expect(calls.map((call) => call.id).sort()).toEqual([id, small].sort())
  expect(calls.find((call) => call.id === id)?.inputs.document === inputs.document).toBe(true)
  const { text } = await post(query.url, '/calls/query_stats', { project_id: largeProject })
  expect(JSON.parse(text)).toMatchObject({ count: 4 })
})

it('serves the routes of its role only', async () => {
  expect((await post(ingest.url, '/calls/query_stats', { project_id })).status).toBe(404)
  expect((await post(query.url, '/call/upsert_batch', { batch: [] })).status).toBe(404)
  for (const { url } of [ingest, worker, query]) {
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: basicAuth() } })
    expect(metrics.status).toBe(200)
  }
})

it('makes objects of evaluations through the process that answers reads', async () => {
  const made = await post(query.url, `/v2/${project_id}/scorers`, {
    name: 'A Scorer',
    op_source_code: 'def score(): 1',
  })
  const scorer = JSON.parse(made.text) as Record<string, string>
  expect([made.status, scorer]).toMatchObject([200, { object_id: 'a_scorer', version_index: 0 }])
  expect(made.headers.get('x-callhouse-position')?.match(/files|objects/g)).toEqual(
    expect.arrayContaining(['files', 'objects']),
  )
  const get = async (path: string) => {
    const response = await fetch(`${query.url}/v2/${project_id}/${path}`, { headers: { authorization: basicAuth() } })
    return response.json() as Promise<Record<string, string>>
  }
  const { score_op } = await get(`scorers/a_scorer/versions/${scorer.digest}`)
  const { code } = await get(`ops/a_scorer_score/versions/${score_op?.split(':').at(-1)}`)
  expect(code).toBe('def score(): 1')
  // Edges take no such writes.
  expect((await post(ingest.url, `/v2/${project_id}/scorers`, {})).status).toBe(404)
})

it('adds up a run that two processes write and finish at once', async () => {
  const other = await installation.start('query')
  const both = [query.url, other.url] as [string, string]
  const made = async (url: string, what: string, body: object) => {
    const { status, text } = await post(url, `/v2/${project_id}/${what}`, body)
    expect(status, text).toBe(200)
    return Object.values(JSON.parse(text))[0] as string
  }
  const ref = (name: string) => `weave:///${project_id}/object/${name}:v`
  const run = await made(both[0], 'evaluation_runs', { evaluation: ref('e'), model: ref('m') })
  await Promise.all(
    [0, 1, 2, 3].map(async (output) => {
      const [one, two] = output % 2 ? both : [both[1], both[0]]
      const sent = { model: ref('m'), inputs: {}, output, evaluation_run_id: run }
      const prediction_id = await made(one, 'predictions', sent)
      await made(two, 'scores', { prediction_id, scorer: ref('s'), value: output * 2, evaluation_run_id: run })
      await made(one, `predictions/${prediction_id}/finish`, {})
    }),
  )
  await Promise.all(both.map((url) => made(url, `evaluation_runs/${run}/finish`, {})))
  const filter = { parent_ids: [run] }
  const children = await postLines<{ op_name: string; output: unknown; inputs: Record<string, unknown> }>(
    query.url,
    '/calls/stream_query',
    { project_id, filter },
  )
  const output = { s: { mean: 3 }, output: { mean: 1.5 } }
  expect(children.filter(({ op_name }) => op_name === 'Evaluation.summarize')).toMatchObject([{ output }])
  const rows = children.filter(({ op_name }) => op_name.includes('predict_and_score'))
  expect(rows.map(({ inputs }) => inputs.self)).toEqual([0, 1, 2, 3].map(() => ref('e')))
  const { text } = await post(other.url, '/call/read', { project_id, id: run })
  expect(JSON.parse(text)).toMatchObject({ call: { output, ended_at: expect.any(String) } })
  await other.stop()
})
