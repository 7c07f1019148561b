// `npm run bench ingest`: the ratios of the ingest goals, each from variants that take turns in one run.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createPayloads } from './payloads.ts'
import {
  type BenchServer,
  createClient,
  median,
  quantile,
  sendAll,
  startCallhouseServer,
  startServer,
} from './process.ts'

const script = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url))
const perRequest = 200
const path = '/call/upsert_batch'
/** Requests before the measured ones: enough for the compiler to have seen the hot paths. */
const warmUp = 100
/** How long the time to a visible call is looked at, and how often. */
const visibleForMs = 20_000
const probeEveryMs = 150
/** The first seconds of a process are left out: nothing is compiled yet. */
const coldForMs = 3_000
/** The histogram of the process holds this much besides the delay: the interval of its own timer. */
const lagIntervalMs = 10

type Row = { figure: string; value: string; must: string; aim: string }

async function countOf(server: BenchServer, project: string): Promise<number> {
  const { body, status } = await createClient(server.port, 1)(
    '/calls/query_stats',
    JSON.stringify({ project_id: project }),
  )
  if (status !== 200) throw new Error(`count answered ${status}: ${body}`)
  return (JSON.parse(body.toString()) as { count: number }).count
}

async function metric(server: BenchServer, name: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`, {
    headers: { authorization: 'Bearer bench-key' },
  })
  const line = (await response.text()).split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.split(' ')[1])
}

/** CPU seconds per 1,000 calls of one server over all bodies, until `settled`. */
async function cpuPerThousand(
  server: BenchServer,
  bodies: Buffer[],
  settled: (calls: number) => Promise<unknown>,
  beforeMeasuring?: () => Promise<unknown>,
): Promise<number> {
  const send = createClient(server.port, 6)
  const measured = bodies.slice(warmUp)
  await sendAll(bodies.slice(0, warmUp), (body) => send(path, body), 2)
  await settled(warmUp * perRequest)
  await beforeMeasuring?.()
  const before = server.cpuSeconds()
  await sendAll(measured, (body) => send(path, body), 6)
  await settled(bodies.length * perRequest)
  return ((server.cpuSeconds() - before) / (measured.length * perRequest)) * 1000
}

export async function benchIngest(calls: number, rounds: number): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const rows: Row[] = []
  const samples: Record<string, number[]> = {}
  const note = (name: string, value: number): void => {
    samples[name] = [...(samples[name] ?? []), value]
  }
  try {
    for (let round = 0; round < rounds; round++) {
      const payloads = createPayloads(round + 1)
      const bodies = Array.from({ length: warmUp + Math.ceil(calls / perRequest) }, () =>
        Buffer.from(payloads.upsertBatch(perRequest)),
      )
      const total = bodies.length * perRequest
      const nothing = async () => {}

      const parse = await startServer(script('server-parse.ts'), [])
      note('parse', await cpuPerThousand(parse, bodies, nothing))
      await parse.stop()

      const edgeDir = join(work, `edge-${round}`)
      const edge = await startServer(script('server-edge.ts'), [edgeDir])
      note('edge', await cpuPerThousand(edge, bodies, nothing))
      await edge.stop()

      for (const mode of ['raw', 'worker']) {
        const copy = join(work, `drain-${round}-${mode}`)
        cpSync(edgeDir, copy, { recursive: true })
        const out = execFileSync(process.execPath, [script('drain.ts'), copy, mode], {
          env: { ...process.env, UV_THREADPOOL_SIZE: '24' },
        }).toString()
        const { cpuSeconds } = JSON.parse(out.trim().split('\n').at(-1) as string) as { cpuSeconds: number }
        note(mode, (cpuSeconds / total) * 1000)
        rmSync(copy, { recursive: true, force: true })
      }

      const obviousDir = join(work, `obvious-${round}`)
      const obvious = await startServer(script('server-obvious.ts'), [obviousDir])
      const obviousDone = async (wanted: number): Promise<void> => {
        const client = createClient(obvious.port, 1)
        for (;;) {
          const { body } = await client('/count', '{}')
          if ((JSON.parse(body.toString()) as { count: number }).count >= wanted) break
        }
      }
      note('obvious', await cpuPerThousand(obvious, bodies, obviousDone))
      await obvious.stop()

      const fullDir = join(work, `full-${round}`)
      const full = await startCallhouseServer(fullDir)
      const fullDone = async (expected: number): Promise<void> => {
        while ((await countOf(full, 'acme/support-bot')) < expected) {}
      }
      let beganMs = 0
      // the first scrape resets the histogram, so that the start of the process is left out
      const begin = async (): Promise<void> => {
        await metric(full, 'nodejs_eventloop_lag_p99_seconds')
        beganMs = performance.now()
      }
      note('full', await cpuPerThousand(full, bodies, fullDone, begin))
      note('rate', ((bodies.length - warmUp) * perRequest) / ((performance.now() - beganMs) / 1000))
      note('loop', (await metric(full, 'nodejs_eventloop_lag_p99_seconds')) * 1000 - lagIntervalMs)
      note('resident', full.residentMb())
      await full.stop()
      for (const dir of [edgeDir, obviousDir, fullDir]) rmSync(dir, { recursive: true, force: true })
      process.stderr.write(
        `round ${round + 1} of ${rounds}: ${JSON.stringify(Object.fromEntries(Object.entries(samples).map(([k, v]) => [k, Number(v.at(-1)?.toFixed(3))])))}\n`,
      )
    }
    const of = (name: string) => median(samples[name] ?? [])
    const ratios = (a: string, b: string) =>
      median((samples[a] ?? []).map((value, i) => value / ((samples[b] ?? [])[i] as number)))
    rows.push(
      {
        figure: 'edge calls per CPU-s, durable / node:http + JSON.parse',
        value: ratios('parse', 'edge').toFixed(2),
        must: '0.55',
        aim: '0.75',
      },
      {
        figure: 'engine CPU per row, worker / raw file() insert',
        value: ratios('worker', 'raw').toFixed(2),
        must: '',
        aim: '',
      },
      {
        figure: 'total CPU per call / the obvious design',
        value: ratios('full', 'obvious').toFixed(2),
        must: '<= 0.45',
        aim: '<= 0.35',
      },
      { figure: 'event-loop delay p99 while ingesting, ms', value: of('loop').toFixed(1), must: '30', aim: '10' },
      { figure: 'calls/s, queryable', value: of('rate').toFixed(0), must: '', aim: '' },
      {
        figure: 'CPU us per call: parse / edge / worker / full / obvious',
        value: ['parse', 'edge', 'worker', 'full', 'obvious'].map((name) => (of(name) * 1000).toFixed(1)).join(' / '),
        must: '',
        aim: '',
      },
      ...(await visibleAfter(join(work, 'visible'), of('rate') / 2)),
      ...(await flatMemory(join(work, 'memory'))),
    )
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  process.stdout.write(`| figure | here | must | aim |\n|---|---|---|---|\n`)
  for (const { figure, value, must, aim } of rows) process.stdout.write(`| ${figure} | ${value} | ${must} | ${aim} |\n`)
}

/**
 * Time from an acknowledgement until a read that waits for it has answered with the call, at half of the peak rate.
 * Few such reads: they cost CPU too.
 */
async function visibleAfter(dir: string, rate: number): Promise<Row[]> {
  const server = await startCallhouseServer(dir)
  const send = createClient(server.port, 6)
  const payloads = createPayloads(77)
  const perBatch = 50
  const everyMs = (perBatch / rate) * 1000
  const bodies = Array.from({ length: Math.ceil(visibleForMs / everyMs) }, () => payloads.upsertBatch(perBatch))
  const times: number[] = []
  const probes: Promise<void>[] = []
  const probe = async (body: string): Promise<void> => {
    const acknowledgedMs = performance.now()
    const id = (JSON.parse(body) as { batch: { req: { end?: { id: string } } }[] }).batch.at(-1)?.req.end?.id
    const { body: found } = await send('/call/read', JSON.stringify({ project_id: 'acme/support-bot', id }))
    if (found.includes('"call":null')) throw new Error('an acknowledged call is not there')
    times.push(performance.now() - acknowledgedMs)
  }
  const beganMs = performance.now()
  let probedMs = beganMs + coldForMs
  for (const [n, body] of bodies.entries()) {
    const answer = await send(path, body)
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`)
    if (performance.now() - probedMs > probeEveryMs) {
      probedMs = performance.now()
      probes.push(probe(body))
    }
    const waitMs = beganMs + (n + 1) * everyMs - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  await Promise.all(probes)
  await server.stop()
  return [
    {
      figure: 'acknowledged to read, at half of the peak rate, p50 / p99 ms',
      value: `${median(times).toFixed(0)} / ${quantile(times, 0.99).toFixed(0)}`,
      must: 'p99 250',
      aim: 'p99 150',
    },
  ]
}

/** Resident memory after a million calls; fewer with BENCH_MEMORY_CALLS. */
async function flatMemory(dir: string): Promise<Row[]> {
  const total = Number(process.env.BENCH_MEMORY_CALLS ?? 1_000_000)
  const server = await startCallhouseServer(dir)
  const send = createClient(server.port, 6)
  const payloads = createPayloads(78)
  for (let sent = 0; sent < total; sent += 40 * perRequest)
    await sendAll(
      Array.from({ length: 40 }, () => Buffer.from(payloads.upsertBatch(perRequest))),
      async (body) => {
        for (;;) {
          const answer = await send(path, body)
          if (answer.status !== 429) return answer
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
      },
      6,
    )
  const count = await countOf(server, 'acme/support-bot')
  const resident = server.residentMb()
  await server.stop()
  return [{ figure: `resident MB after ${count} calls`, value: resident.toFixed(0), must: '1000', aim: '700' }]
}
