// `npm run bench ingest`: the ratios of the ingest goals, each from variants that take turns in one run.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createPayloads } from './payloads.ts'
import {
  type BenchServer,
  countOf,
  createClient,
  median,
  medianRatio,
  quantile,
  sendAll,
  startCallhouseServer,
  startReferenceServer,
  startServer,
  untilCounted,
  untilTaken,
} from './process.ts'

const script = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url))
const project = 'acme/support-bot'
const perRequest = 200
const path = '/call/upsert_batch'
/** Requests before the measured ones: enough for the compiler to have seen the hot paths. */
const warmUp = 100
/** Duration and interval of measuring the time to a visible call. */
const visibleForMs = 20_000
const probeEveryMs = 150
const lostAfterMs = 120_000
/** The first seconds of a process are left out: nothing is compiled yet. */
const coldForMs = 3_000
/** The histogram of the process holds this much besides the delay: the interval of its own timer. */
const lagIntervalMs = 10

type Row = { figure: string; value: string; must: string; aim: string }

async function metric(server: BenchServer, name: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`, {
    headers: { authorization: 'Bearer bench-key' },
  })
  const line = (await response.text()).split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.split(' ')[1])
}

type Turn = { cpuMicros: number; rate: number }

/** CPU of a call and calls per second of one server over all bodies, until `settled`. */
async function turnOf(
  server: BenchServer,
  bodies: readonly Buffer[],
  settled: (calls: number) => Promise<unknown>,
  beforeMeasuring?: () => Promise<unknown>,
): Promise<Turn> {
  const send = createClient(server.port, 6)
  const post = (body: Buffer) => untilTaken(() => send(path, body))
  const measured = bodies.slice(warmUp)
  await sendAll(bodies.slice(0, warmUp), post, 2)
  await settled(warmUp * perRequest)
  await beforeMeasuring?.()
  const [before, beganMs] = [server.cpuSeconds(), performance.now()]
  await sendAll(measured, post, 6)
  await settled(bodies.length * perRequest)
  const calls = measured.length * perRequest
  return {
    cpuMicros: ((server.cpuSeconds() - before) / calls) * 1e6,
    rate: calls / ((performance.now() - beganMs) / 1000),
  }
}

/** One turn of a server of its own until its calls can be read; `ended` sees it before it stops. */
async function turnUntilReadable(
  start: () => Promise<BenchServer>,
  bodies: readonly Buffer[],
  hooks: { begin?(server: BenchServer): Promise<unknown>; ended?(server: BenchServer): Promise<unknown> } = {},
): Promise<Turn> {
  const server = await start()
  try {
    const settled = (calls: number) => untilCounted(server, project, calls)
    const turn = await turnOf(server, bodies, settled, async () => hooks.begin?.(server))
    await hooks.ended?.(server)
    return turn
  } finally {
    await server.stop()
  }
}

function bodiesOf(seed: number, calls: number): Buffer[] {
  const payloads = createPayloads(seed)
  return Array.from({ length: warmUp + Math.ceil(calls / perRequest) }, () =>
    Buffer.from(payloads.upsertBatch(perRequest)),
  )
}

export type IngestFigures = {
  /** CPU of a call until it can be read, against the frozen reference. */
  cpuOfReference: number
  /** Calls per second until they can be read, the same. */
  rateOfReference: number
  rate: number
  cpuMicros: { here: number; reference: number }
}

/** Ours and the frozen reference in turns, each on a fresh folder. */
export async function measureIngest(calls: number, rounds: number): Promise<IngestFigures> {
  const work = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const here: Turn[] = []
  const reference: Turn[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      const bodies = bodiesOf(round + 1, calls)
      const ways = [
        { turns: reference, start: startReferenceServer },
        { turns: here, start: startCallhouseServer },
      ]
      for (const { turns, start } of round % 2 === 0 ? ways : ways.reverse()) {
        const dir = mkdtempSync(join(work, 'turn-'))
        turns.push(await turnUntilReadable(() => start(dir), bodies))
        rmSync(dir, { recursive: true, force: true })
      }
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  const cpu = (turns: Turn[]) => turns.map(({ cpuMicros }) => cpuMicros)
  const rates = (turns: Turn[]) => turns.map(({ rate }) => rate)
  return {
    cpuOfReference: medianRatio(cpu(here), cpu(reference)),
    rateOfReference: medianRatio(rates(here), rates(reference)),
    rate: median(rates(here)),
    cpuMicros: { here: median(cpu(here)), reference: median(cpu(reference)) },
  }
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
      const bodies = bodiesOf(round + 1, calls)
      const total = bodies.length * perRequest
      const nothing = async () => {}

      const parse = await startServer(script('server-parse.ts'), [])
      note('parse', (await turnOf(parse, bodies, nothing)).cpuMicros)
      await parse.stop()

      const edgeDir = join(work, `edge-${round}`)
      const edge = await startServer(script('server-edge.ts'), [edgeDir])
      note('edge', (await turnOf(edge, bodies, nothing)).cpuMicros)
      await edge.stop()

      for (const mode of ['raw', 'worker']) {
        const copy = join(work, `drain-${round}-${mode}`)
        cpSync(edgeDir, copy, { recursive: true })
        const out = execFileSync(process.execPath, [script('drain.ts'), copy, mode], {
          env: { ...process.env, UV_THREADPOOL_SIZE: '24' },
        }).toString()
        const { cpuSeconds } = JSON.parse(out.trim().split('\n').at(-1) as string) as { cpuSeconds: number }
        note(mode, (cpuSeconds / total) * 1e6)
        rmSync(copy, { recursive: true, force: true })
      }

      const [obviousDir, referenceDir, fullDir] = ['obvious', 'reference', 'full'].map((name) =>
        join(work, `${name}-${round}`),
      ) as [string, string, string]
      const obvious = await turnUntilReadable(() => startServer(script('server-obvious.ts'), [obviousDir]), bodies)
      note('obvious', obvious.cpuMicros)
      note('reference', (await turnUntilReadable(() => startReferenceServer(referenceDir), bodies)).cpuMicros)
      const full = await turnUntilReadable(() => startCallhouseServer(fullDir), bodies, {
        // the first scrape resets the histogram, so that the start of the process is left out
        begin: (server) => metric(server, 'nodejs_eventloop_lag_p99_seconds'),
        async ended(server) {
          note('loop', (await metric(server, 'nodejs_eventloop_lag_p99_seconds')) * 1000 - lagIntervalMs)
          note('resident', server.residentMb())
        },
      })
      note('full', full.cpuMicros)
      note('rate', full.rate)
      for (const dir of [edgeDir, obviousDir, referenceDir, fullDir]) rmSync(dir, { recursive: true, force: true })
      process.stderr.write(
        `round ${round + 1} of ${rounds}: ${JSON.stringify(Object.fromEntries(Object.entries(samples).map(([k, v]) => [k, Number(v.at(-1)?.toFixed(3))])))}\n`,
      )
    }
    const of = (name: string) => median(samples[name] ?? [])
    const ratios = (a: string, b: string) => medianRatio(samples[a] ?? [], samples[b] ?? [])
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
      {
        figure: 'total CPU per call / the frozen reference (a bar)',
        value: ratios('full', 'reference').toFixed(2),
        must: '',
        aim: '',
      },
      { figure: 'event-loop delay p99 while ingesting, ms', value: of('loop').toFixed(1), must: '30', aim: '10' },
      { figure: 'calls/s, queryable', value: of('rate').toFixed(0), must: '', aim: '' },
      {
        figure: 'CPU us per call: parse / edge / worker / full / obvious / reference',
        value: ['parse', 'edge', 'worker', 'full', 'obvious', 'reference']
          .map((name) => of(name).toFixed(1))
          .join(' / '),
        must: '',
        aim: '',
      },
    )
    const times = await measureVisible(of('rate') / 2)
    const memory = await measureMemory(Number(process.env.BENCH_MEMORY_CALLS ?? 1_000_000))
    rows.push(
      {
        figure: 'acknowledged to read, at half of the peak rate, p50 / p99 ms',
        value: `${median(times).toFixed(0)} / ${quantile(times, 0.99).toFixed(0)}`,
        must: 'p99 250',
        aim: 'p99 150',
      },
      {
        figure: `resident MB after ${memory.calls} calls`,
        value: memory.residentMb.toFixed(0),
        must: '1000',
        aim: '700',
      },
    )
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  process.stdout.write(`| figure | here | must | aim |\n|---|---|---|---|\n`)
  for (const { figure, value, must, aim } of rows) process.stdout.write(`| ${figure} | ${value} | ${must} | ${aim} |\n`)
}

/**
 * Milliseconds from an acknowledgement until a read that waits for it has answered with the call.
 * Few such reads: they cost CPU too.
 * @param rate calls per second that are written meanwhile
 */
export async function measureVisible(rate: number): Promise<number[]> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
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
    // A read that has waited long enough answers without it.
    while (!(await send('/call/read', JSON.stringify({ project_id: project, id }))).body.includes(`"id":"${id}"`))
      if (performance.now() - acknowledgedMs > lostAfterMs) throw new Error('an acknowledged call is not there')
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
  rmSync(dir, { recursive: true, force: true })
  return times
}

/** Resident memory after so many calls or up to a round more, as fast as they are taken. */
export async function measureMemory(total: number): Promise<{ calls: number; residentMb: number }> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const server = await startCallhouseServer(dir)
  const send = createClient(server.port, 6)
  const payloads = createPayloads(78)
  let sent = 0
  for (; sent < total; sent += 40 * perRequest)
    await sendAll(
      Array.from({ length: 40 }, () => Buffer.from(payloads.upsertBatch(perRequest))),
      (body) => untilTaken(() => send(path, body)),
      6,
    )
  // A count under load may lack the latest calls, and says so in a header only.
  await untilCounted(server, project, sent)
  const calls = await countOf(server, project)
  const residentMb = server.residentMb()
  await server.stop()
  rmSync(dir, { recursive: true, force: true })
  return { calls, residentMb }
}
