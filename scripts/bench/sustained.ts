// `npm run bench sustained`: small calls at half of the peak rate for ten minutes: how far behind what is derived is at the
// end, what reads cost then against the state when all of it is quiet, and all CPU of a call until then.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../../test/fixtures/random.ts'
import { type BenchServer, createClient, median, type Post, startCallhouseServer } from './process.ts'

const project = 'acme/small'
const perRequest = 200
const connections = 6
const sampleMs = 5_000
const readsPerSample = 7

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Bodies of calls of about 350 bytes, start and end together; `output.r` has many distinct values. */
export function createSmallCalls(projectOf: (call: number) => string = () => project, calls = perRequest) {
  const random = createRandom(5)
  let made = 0
  const hex = (n: number, length: number) => n.toString(16).padStart(length, '0')
  const call = (nowMs: number): string => {
    const n = ++made
    const id = `0190a000-0000-7000-8000-${hex(n, 12)}`
    const trace = `0190a000-0000-7000-9000-${hex(n >> 2, 12)}`
    const parent = n % 4 === 0 ? 'null' : `"0190a000-0000-7000-8000-${hex((n >> 2) << 2, 12)}"`
    const started = new Date(nowMs).toISOString()
    const ended = new Date(nowMs + random.below(900)).toISOString()
    return (
      `{"mode":"start","req":{"start":{"project_id":"${projectOf(n)}","id":"${id}","op_name":"op-${n % 7}","trace_id":"${trace}",` +
      `"parent_id":${parent},"started_at":"${started}","attributes":{},"inputs":{"q":${n % 1000}}}}},` +
      `{"mode":"end","req":{"end":{"project_id":"${projectOf(n)}","id":"${id}","ended_at":"${ended}",` +
      `"output":{"r":${random.next().toFixed(6)}},"summary":{}}}}`
    )
  }
  return (): string => `{"batch":[${Array.from({ length: calls }, () => call(Date.now())).join(',')}]}`
}

/** Seconds by table that a recomputed table lacks. */
async function lags(server: BenchServer): Promise<Map<string, number>> {
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`, {
    headers: { authorization: 'Bearer bench-key' },
  })
  const text = await response.text()
  const found = text.matchAll(/^callhouse_rollup_lag_seconds\{table="(\w+)"\} (\S+)$/gm)
  return new Map(Array.from(found, ([, table, seconds]) => [table as string, Number(seconds)]))
}

async function quiet(server: BenchServer): Promise<void> {
  for (let since = performance.now(); performance.now() - since < 2_000; await pause(100))
    if (Math.max(...(await lags(server)).values()) > 0) since = performance.now()
}

const newest = [{ field: 'started_at', direction: 'desc' }]
const reads: Record<string, [path: string, body: Record<string, unknown>]> = {
  'latest 50 roots': [
    '/calls/stream_query',
    { limit: 50, filter: { trace_roots_only: true }, columns: ['id', 'started_at', 'op_name'], sort_by: newest },
  ],
  count: ['/calls/query_stats', {}],
  'order by output.r': ['/calls/stream_query', { limit: 50, sort_by: [{ field: 'output.r', direction: 'desc' }] }],
}

/** Medians in ms. `freshness=any`: what a read waits for is another figure (`bench readers`). */
async function timesOf(send: Post): Promise<Record<string, number>> {
  const times: Record<string, number> = {}
  for (const [name, [path, body]] of Object.entries(reads)) {
    const all: number[] = []
    for (let n = 0; n < readsPerSample; n++) {
      const {
        status,
        ms,
        body: answer,
      } = await send(`${path}?freshness=any`, JSON.stringify({ project_id: project, ...body }))
      if (status !== 200) throw new Error(`${name} answered ${status}: ${answer.toString().slice(0, 200)}`)
      all.push(ms)
    }
    times[name] = median(all)
  }
  return times
}

type Load = { calls: number; refused: number }

/**
 * Sends for a while, again what is refused.
 * @param rate calls per second; absent: as fast as it goes
 * @param callsPerBody of `bodyOf`
 */
export async function load(
  send: Post,
  bodyOf: () => string,
  forMs: number,
  rate = Number.POSITIVE_INFINITY,
  callsPerBody = perRequest,
): Promise<Load> {
  const beganMs = performance.now()
  let bodies = 0
  let refused = 0
  const one = async (): Promise<void> => {
    while (performance.now() - beganMs < forMs) {
      const waitMs = beganMs + (bodies * callsPerBody * 1000) / rate - performance.now()
      if (waitMs > 0) {
        await pause(waitMs)
        continue
      }
      bodies++
      const body = bodyOf()
      for (;;) {
        const { status, body: answer } = await send('/call/upsert_batch', body)
        if (status === 200) break
        if (status !== 429 && status !== 503) throw new Error(`answered ${status}: ${answer.toString().slice(0, 200)}`)
        refused++
        await pause(200)
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  return { calls: bodies * callsPerBody, refused }
}

export type Lags = {
  /** Calls per second that were taken, and requests that were refused and came again. */
  reached: number
  refused: number
  /** Seconds by table that what is derived is behind, when the load ends and at worst. */
  end: Map<string, number>
  worst: Map<string, number>
}

/** Lag of derived data under one rate. @param rate calls per second */
async function lagsUnder(
  server: BenchServer,
  send: Post,
  bodyOf: () => string,
  [seconds, rate, callsPerBody]: [seconds: number, rate: number, callsPerBody: number],
): Promise<Lags> {
  const worst = new Map<string, number>()
  let isOver = false
  const watch = (async () => {
    for (; !isOver; await pause(sampleMs))
      for (const [table, lag] of await lags(server)) worst.set(table, Math.max(worst.get(table) ?? 0, lag))
  })()
  const beganMs = performance.now()
  const { calls, refused } = await load(send, bodyOf, seconds * 1000, rate, callsPerBody)
  const reached = calls / ((performance.now() - beganMs) / 1000)
  const end = await lags(server)
  isOver = true
  await watch
  return { reached, refused, end, worst }
}

/** The same on a server of its own. @param rate calls per second */
export async function measureLags(seconds: number, rate: number, callsPerBody: number): Promise<Lags> {
  const work = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const server = await startCallhouseServer(work)
  try {
    const send = createClient(server.port, connections)
    const bodyOf = createSmallCalls(() => project, callsPerBody)
    await load(send, bodyOf, 5_000, rate, callsPerBody)
    await quiet(server)
    return await lagsUnder(server, send, bodyOf, [seconds, rate, callsPerBody])
  } finally {
    await server.stop()
    rmSync(work, { recursive: true, force: true })
  }
}

const line = (...cells: (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`)

/** @param rate calls per second; 0: half of what one process takes at most */
export async function benchSustained(seconds: number, rate: number): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  try {
    const server = await startCallhouseServer(work)
    const send = createClient(server.port, connections)
    const bodyOf = createSmallCalls()
    const count = async () => {
      const { body } = await send('/calls/query_stats', JSON.stringify({ project_id: project }))
      return (JSON.parse(body.toString()) as { count: number }).count
    }
    await load(send, bodyOf, 5_000)
    await quiet(server)

    // Until everything is derived, with nothing else to do: what a call costs in the end.
    const [cpuBefore, atMs] = [server.cpuSeconds(), performance.now()]
    const peak = await load(send, bodyOf, 20_000)
    await count()
    const peakRate = peak.calls / ((performance.now() - atMs) / 1000)
    const atOnce = server.cpuSeconds() - cpuBefore
    await quiet(server)
    const whole = server.cpuSeconds() - cpuBefore
    const micros = (cpuSeconds: number) => `${((cpuSeconds / peak.calls) * 1e6).toFixed(1)} us`

    const asked = rate > 0 ? rate : peakRate / 2
    const { reached, refused, end, worst } = await lagsUnder(server, send, bodyOf, [seconds, asked, perRequest])
    const under = await timesOf(send)
    const stored = await count()
    await quiet(server)
    const idle = await timesOf(send)
    await server.stop()

    line('figure', 'here', 'must', 'aim')
    line('---', '---', '---', '---')
    line('calls/s at most, queryable', peakRate.toFixed(0), '', '')
    line(
      'CPU per call: when queryable / when derived too',
      `${micros(atOnce)} / ${micros(whole)}`,
      '0.6 x 92 us',
      '0.45 x',
    )
    line(`calls/s for ${seconds} s (refused requests)`, `${reached.toFixed(0)} (${refused})`, '', '')
    for (const [table, lag] of [...end].sort())
      line(
        `lag of ${table} at the end / at worst, s`,
        `${lag.toFixed(1)} / ${(worst.get(table) ?? 0).toFixed(1)}`,
        ...(table === 'payload_leaves' ? ['30', '10'] : ['5', '2']),
      )
    for (const [name, ms] of Object.entries(idle))
      line(
        `${name}: at the end / quiet, ms (${stored} calls)`,
        `${(under[name] ?? 0).toFixed(0)} / ${ms.toFixed(0)} = ${((under[name] ?? 0) / ms).toFixed(1)}`,
        '1.5',
        '1.2',
      )
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
