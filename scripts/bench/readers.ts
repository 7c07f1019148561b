// `npm run bench readers`: lists read by eight readers beside an ingest at half of the peak rate, and an export of many
// calls: its first row, its memory, and how soon the server is idle again when the client leaves.
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPayloads } from './payloads.ts'
import { type BenchServer, createClient, median, quantile, sendAll, startCallhouseServer } from './process.ts'

const project = 'acme/support-bot'
const path = '/call/upsert_batch'
const readers = 8
const perRequest = 50

const line = (name: string, value: string) => process.stdout.write(`| ${name} | ${value} |\n`)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Sends until it is taken: a full log asks to wait. */
async function fill(server: BenchServer, calls: number): Promise<void> {
  const payloads = createPayloads(3)
  const send = createClient(server.port, 4)
  for (let sent = 0; sent < calls; sent += 40 * 200)
    await sendAll(
      Array.from({ length: 40 }, () => Buffer.from(payloads.upsertBatch(200))),
      async (body) => {
        for (;;) {
          const answer = await send(path, body)
          if (answer.status !== 429) return answer
          await pause(200)
        }
      },
      4,
    )
  await send('/calls/query_stats', JSON.stringify({ project_id: project }))
}

/** @param restMs pause of a reader between an answer and its next question */
async function beside(server: BenchServer, rate: number, forMs: number, restMs: number): Promise<void> {
  const payloads = createPayloads(9)
  const send = createClient(server.port, 4)
  const read = createClient(server.port, readers)
  const lists = [
    { project_id: project, limit: 50, filter: { trace_roots_only: true }, columns: ['id', 'started_at', 'op_name'] },
    {
      project_id: project,
      limit: 50,
      sort_by: [{ field: 'started_at', direction: 'desc' }],
      columns: ['id', 'summary'],
    },
    { project_id: project, limit: 50, offset: 500, sort_by: [{ field: 'started_at', direction: 'desc' }] },
  ].map((body) => JSON.stringify(body))
  const bodies = Array.from({ length: Math.ceil((rate * forMs) / 1000 / perRequest) }, () =>
    payloads.upsertBatch(perRequest),
  )
  let isOver = false
  const times: number[] = []
  const failed: number[] = []
  const loops = Array.from({ length: readers }, async (_, n) => {
    for (let i = n; !isOver; i++) {
      const answer = await read('/calls/stream_query', lists[i % lists.length] as string)
      if (answer.status === 200) times.push(answer.ms)
      else failed.push(answer.status)
      if (restMs > 0) await pause(restMs)
    }
  })
  const beganMs = performance.now()
  let refused = 0
  for (const [n, body] of bodies.entries()) {
    const answer = await send(path, body)
    if (answer.status !== 200) refused++
    const waitMs = beganMs + ((n + 1) * perRequest * 1000) / rate - performance.now()
    if (waitMs > 0) await pause(waitMs)
  }
  const reached = (bodies.length * perRequest) / ((performance.now() - beganMs) / 1000)
  isOver = true
  await Promise.all(loops)
  line(
    `lists by ${readers} readers, ${restMs} ms between them, beside ${reached.toFixed(0)} calls/s, p50 / p95 / p99 ms (goal p95 200)`,
    `${median(times).toFixed(0)} / ${quantile(times, 0.95).toFixed(0)} / ${quantile(times, 0.99).toFixed(0)}; ${times.length} lists, ${failed.length} failed, ${refused} writes refused`,
  )
}

type Exported = { firstMs: number; totalMs: number; rows: number; peakMb: number }

/** @param until stops reading after so many rows */
function exportCalls(server: BenchServer, until = Number.POSITIVE_INFINITY): Promise<Exported> {
  const began = performance.now()
  const before = server.residentMb()
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, server.residentMb())
  }, 50)
  return new Promise((resolve, reject) => {
    let firstMs = 0
    let rows = 0
    const done = () => {
      clearInterval(watch)
      resolve({ firstMs, totalMs: performance.now() - began, rows, peakMb: peak - before })
    }
    const outgoing = request(
      {
        port: server.port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/calls/stream_query',
        headers: { authorization: 'Bearer bench-key', 'content-type': 'application/json' },
      },
      (incoming) => {
        incoming.on('data', (chunk: Buffer) => {
          if (firstMs === 0) firstMs = performance.now() - began
          for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows++
          if (rows < until) return
          incoming.destroy()
          done()
        })
        incoming.on('end', done)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(JSON.stringify({ project_id: project }))
  })
}

/** Milliseconds until the server uses less than a tenth of a core. */
async function idleAfter(server: BenchServer): Promise<number> {
  const began = performance.now()
  for (;;) {
    const before = server.cpuSeconds()
    await pause(200)
    if (server.cpuSeconds() - before <= 0.02) return performance.now() - began - 200
    if (performance.now() - began > 60_000) return Number.POSITIVE_INFINITY
  }
}

/** @param rate calls per second of the ingest beside the readers: half of what `bench ingest` shows */
export async function benchReaders(calls: number, rate: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const server = await startCallhouseServer(dir)
  try {
    await fill(server, calls)
    process.stdout.write('| what | measured |\n|---|---|\n')
    await beside(server, rate, 20_000, 1_000)
    await beside(server, rate, 20_000, 0)
    await idleAfter(server)
    const whole = await exportCalls(server)
    line(
      `export of ${whole.rows} calls`,
      `first bytes after ${whole.firstMs.toFixed(0)} ms (goal 500), all after ${(whole.totalMs / 1000).toFixed(1)} s, resident memory +${whole.peakMb.toFixed(0)} MB`,
    )
    const left = await exportCalls(server, 20_000)
    line(
      `export that the client leaves after ${left.rows} calls`,
      `idle after ${(await idleAfter(server)).toFixed(0)} ms`,
    )
  } finally {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
