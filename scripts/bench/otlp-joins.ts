// The third part of `npm run bench otlp`, on whole servers: how long a record takes to become part of its call, beside how
// long a span takes to be readable, and what spans of a project without such records pay for those that other projects have.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Batch, RecordInput } from '../../services/core/log/log.ts'
import type { Store } from '../../services/core/store/store.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { createNewCallsInsert } from '../../services/worker/calls/insert-new.ts'
import { complete } from '../../test/fixtures/call-world.ts'
import { encodeLogsRequest, encodeRequest } from '../../test/fixtures/otlp-proto.ts'
import type { SpanRequest } from './otlp-ways.ts'
import {
  type BenchServer,
  createClient,
  median,
  type Post,
  quantile,
  sendAll,
  startCallhouseServer,
} from './process.ts'

const type = 'application/x-protobuf'
const traceId = '0af7651916cd43dd8448eb211c80319c'
const pairs = 100
const pollMs = 20

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const idOf = (n: number): string => n.toString(16).padStart(16, 'c')
const text = (key: string, value: string) => ({ key, value: { stringValue: value } })

type Part = { post: Post; project_id: string }

const sendSpan = ({ post, project_id }: Part, n: number) => {
  const at = BigInt(Date.now()) * 1_000_000n
  const span = {
    traceId,
    spanId: idOf(n),
    name: 'chat',
    kind: 1,
    attributes: [text('gen_ai.request.model', 'm')],
    startTimeUnixNano: String(at - 1_000_000n),
    endTimeUnixNano: String(at),
  }
  const request = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }
  return post('/v1/traces', encodeRequest(request), type, { project_id })
}
const sendRecord = ({ post, project_id }: Part, n: number) => {
  const record = {
    traceId,
    spanId: idOf(n),
    timeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
    eventName: 'gen_ai.client.inference.operation.details',
    attributes: [text('gen_ai.input.messages', '[{"content":"question"}]')],
  }
  const request = { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }
  return post('/v1/logs', encodeLogsRequest(request), type, { project_id })
}

/** Milliseconds from now until the call is answered and `holds`. */
async function untilRead({ post, project_id }: Part, n: number, holds: (text: string) => boolean): Promise<number> {
  const began = performance.now()
  for (;;) {
    const { status, body } = await post('/call/read', JSON.stringify({ project_id, id: idOf(n) }))
    if (status === 200 && holds(body.toString())) return performance.now() - began
    await pause(pollMs)
  }
}

/** Time until spans and records of it are visible, in milliseconds, while others write. */
async function freshnessOf(part: Part, others: () => Promise<unknown>): Promise<{ span: number[]; joined: number[] }> {
  const times = { span: [] as number[], joined: [] as number[] }
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      await others()
      await pause(500)
    }
  })()
  for (let n = 0; n < pairs; n++) {
    await sendSpan(part, n)
    times.span.push(await untilRead(part, n, () => true))
    await sendRecord(part, n)
    times.joined.push(await untilRead(part, n, (call) => call.includes('question')))
  }
  isOver = true
  await writing
  return times
}

const print = (what: string, value: string, goal: string): boolean =>
  process.stdout.write(`| ${what} | ${value} | ${goal} |\n`)

/** CPU of a server from the first of these spans until all of them can be read, in microseconds of a span. */
async function cpuOf(server: BenchServer, post: Post, bodies: Buffer[], perRequest: number): Promise<number> {
  const project_id = 'bench/without'
  const before = server.cpuSeconds()
  for (let at = 0; at < bodies.length; at += 4) {
    await sendAll(bodies.slice(at, at + 4), (body) => post('/v1/traces', body, type, { project_id }), 2)
    // Waits for what was accepted.
    await post('/calls/query_stats', JSON.stringify({ project_id }))
  }
  return ((server.cpuSeconds() - before) / (bodies.length * perRequest)) * 1e6
}

const batchRows = 512
const turns = 400

/**
 * Measures the extra cost of a span where `projects` have records, none of them its own, in microseconds of CPU: the
 * batch goes in without an engine, whose work is the same. A whole server's CPU differs by a twentieth from turn to
 * turn.
 */
async function moreWhereOthersHave(projects: readonly string[]): Promise<number> {
  const writer = createCallWriter()
  for (let n = 0; n < batchRows; n++) writer.add(complete(idOf(n), { projectId: 'bench/without' }))
  const [{ rows }] = writer.take() as [RecordInput]
  const record = { offset: 1, version: 1, rowCount: batchRows, patchCount: 0, clock: 1n, sizeBytes: rows.length }
  const store = { rows: async () => [], command: async () => {}, insert: async () => ({ rowsRead: batchRows }) }
  const insertOf = (joined: readonly string[]) =>
    createNewCallsInsert(store as unknown as Store, { joined: () => joined })
  const ways = [insertOf([]), insertOf(projects)].map((one) => ({ insert: one.insert, cpu: [] as number[] }))
  for (let turn = -50; turn < turns; turn++) {
    for (const { insert, cpu } of turn % 2 === 0 ? ways : ways.toReversed()) {
      const batch = {
        topic: 'calls',
        partition: 0,
        lastOffset: turn,
        records: [record],
        rowCount: batchRows,
        source: { bytes: [rows] },
      }
      const before = process.cpuUsage()
      await insert(batch as unknown as Batch, undefined, { isAlone: false, isBySecond: false })
      const { user, system } = process.cpuUsage(before)
      if (turn >= 0) cpu.push((user + system) / batchRows)
    }
  }
  const [without, beside] = ways.map(({ cpu }) => median(cpu)) as [number, number]
  return beside - without
}

/** @param requestsOf spans of a seed, so many of them, in requests of `perRequest` */
export async function benchOtlpJoins(
  requestsOf: (seed: number, spans: number) => SpanRequest[],
  perRequest: number,
  rounds: number,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const server = await startCallhouseServer(dir, {
    CALLHOUSE_OTLP_GRPC_PORT: 'off',
    CALLHOUSE_OTLP_HTTP_PORT: 'off',
  })
  const post = createClient(server.port, 4)
  const part = { post, project_id: 'bench/joined' }
  const others = requestsOf(901, 4 * perRequest).map(encodeRequest)
  let other = 0
  const write = () =>
    post('/v1/traces', others[other++ % others.length] as Buffer, type, { project_id: 'bench/others' })
  const { span, joined } = await freshnessOf(part, write)
  process.stdout.write('\n| joins of log records | | goal |\n|---|---|---|\n')
  print('a span readable, p50 / p99', `${quantile(span, 0.5).toFixed(0)} / ${quantile(span, 0.99).toFixed(0)} ms`, '')
  print('joined, p50 / p99', `${quantile(joined, 0.5).toFixed(0)} / ${quantile(joined, 0.99).toFixed(0)} ms`, '')
  print('the latter to the former, p99', (quantile(joined, 0.99) / quantile(span, 0.99)).toFixed(2), '1.5')

  const cpu: number[] = []
  for (let round = -1; round < rounds; round++) {
    const bodies = requestsOf(910 + round, 20 * perRequest).map(encodeRequest)
    const took = await cpuOf(server, post, bodies, perRequest)
    if (round >= 0) cpu.push(took)
  }
  const more = await moreWhereOthersHave(['bench/joined', 'bench/others'])
  const ratio = 1 + more / median(cpu)
  print('CPU of a span where other projects have records / without', ratio.toFixed(4), '1.01')
  await server.stop()
  rmSync(dir, { recursive: true, force: true })
}
