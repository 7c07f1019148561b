// `npm run bench kafka`: CPU per call over Kafka against the embedded log, lag at half of the peak, and a second worker.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBroker } from '../../test/fixtures/kafka-broker.ts'
import { createPayloads } from './payloads.ts'
import { type BenchServer, createClient, median, quantile, sendAll } from './process.ts'
import { overKafka, start, startRoles, unique } from './roles.ts'

const path = '/call/upsert_batch'
const perRequest = 200
/** Requests before the measured ones: enough for the compiler to have seen the hot paths. */
const warmUp = 100
/** Duration and interval of measuring the lag. */
const lagForMs = 15_000
const lookEveryMs = 200

type Variant = 'embedded' | 'kafka'

const requests = (seed: number, calls: number): Buffer[] => {
  const payloads = createPayloads(seed)
  return Array.from({ length: Math.ceil(calls / perRequest) }, () => Buffer.from(payloads.upsertBatch(perRequest)))
}

/** Value of a metric without labels. */
async function metric(server: BenchServer, name: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`, {
    headers: { authorization: 'Bearer bench-key' },
  })
  const line = (await answer.text()).split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.split(' ')[1])
}

/** Waits until a server that answers reads shows that many calls. */
async function untilCounted(server: BenchServer, calls: number): Promise<void> {
  const ask = createClient(server.port, 1)
  for (;;) {
    const { body, status } = await ask('/calls/query_stats', JSON.stringify({ project_id: 'acme/support-bot' }))
    if (status !== 200) throw new Error(`count answered ${status}: ${body}`)
    if ((JSON.parse(body.toString()) as { count: number }).count >= calls) return
    await sleep(20)
  }
}

/** Sends; what is refused for a moment is sent again. */
const patient =
  (send: ReturnType<typeof createClient>) =>
  async (body: Buffer): ReturnType<ReturnType<typeof createClient>> => {
    for (;;) {
      const answer = await send(path, body)
      if (answer.status !== 429) return answer
      await sleep(50)
    }
  }

/** One process that does everything: CPU us per call, and calls per second until they can be read. */
async function allInOne(dir: string, env: Record<string, string>, bodies: Buffer[]) {
  const server = await start('serve', dir, env)
  try {
    const send = patient(createClient(server.port, 6))
    await sendAll(bodies.slice(0, warmUp), send, 2)
    await untilCounted(server, warmUp * perRequest)
    const measured = bodies.slice(warmUp)
    const calls = measured.length * perRequest
    const before = server.cpuSeconds()
    const beganMs = performance.now()
    await sendAll(measured, send, 6)
    await untilCounted(server, bodies.length * perRequest)
    return {
      cpuUs: ((server.cpuSeconds() - before) / calls) * 1e6,
      rate: (calls / (performance.now() - beganMs)) * 1000,
    }
  } finally {
    await server.stop()
  }
}

/** Age of the oldest record that is not applied, in milliseconds, while a process gets calls at a rate. */
async function lagAt(rate: number, dir: string, env: Record<string, string>): Promise<number[]> {
  const server = await start('serve', dir, env)
  try {
    const send = createClient(server.port, 6)
    const perBatch = 50
    const everyMs = (perBatch / rate) * 1000
    const payloads = createPayloads(77)
    const bodies = Array.from({ length: Math.ceil(lagForMs / everyMs) }, () => payloads.upsertBatch(perBatch))
    const lags: number[] = []
    let isOver = false
    const looking = (async () => {
      while (!isOver) {
        lags.push((await metric(server, 'callhouse_log_lag_seconds')) * 1000)
        await sleep(lookEveryMs)
      }
    })()
    const beganMs = performance.now()
    for (const [n, body] of bodies.entries()) {
      const { status } = await send(path, body)
      if (status !== 200) throw new Error(`answered ${status}`)
      const waitMs = beganMs + (n + 1) * everyMs - performance.now()
      if (waitMs > 0) await sleep(waitMs)
    }
    isOver = true
    await looking
    // The first seconds are the start of the process.
    return lags.slice(Math.ceil(lags.length / 5))
  } finally {
    await server.stop()
  }
}

/**
 * Separate roles over Kafka and a ClickHouse server: calls per second of a backlog until all are applied. The workers
 * stand still while the calls are appended: else they and the edge share the processors, and that is what is measured.
 */
async function rateOfWorkers(workers: number, broker: string, dir: string, bodies: Buffer[]): Promise<number> {
  const { ingest, applying, query, remove } = await startRoles(workers, broker, dir)
  try {
    const send = patient(createClient(ingest.port, 6))
    // Every partition has an owner once these are applied, and every process has seen the hot paths.
    await sendAll(bodies.slice(0, warmUp), send, 2)
    await untilCounted(query, warmUp * perRequest)
    for (const { child } of applying) child.kill('SIGSTOP')
    await sendAll(bodies.slice(warmUp), send, 6)
    const beganMs = performance.now()
    for (const { child } of applying) child.kill('SIGCONT')
    await untilCounted(query, bodies.length * perRequest)
    return ((bodies.length - warmUp) * perRequest * 1000) / (performance.now() - beganMs)
  } finally {
    await remove()
  }
}

type Row = { figure: string; value: string; must: string }

export async function benchKafka(calls: number, rounds: number): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const broker = await startBroker()
  const samples: Record<string, number[]> = {}
  const note = (name: string, value: number): void => {
    samples[name] = [...(samples[name] ?? []), value]
  }
  const of = (name: string): number => median(samples[name] ?? [])
  const ratio = (a: string, b: string): string =>
    median((samples[a] ?? []).map((value, i) => value / ((samples[b] ?? [])[i] as number))).toFixed(2)
  const rows: Row[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      const bodies = requests(round + 1, warmUp * perRequest + calls)
      const variants: Variant[] = round % 2 === 0 ? ['embedded', 'kafka'] : ['kafka', 'embedded']
      for (const variant of variants) {
        const dir = join(work, `${variant}-${round}`)
        const { cpuUs, rate } = await allInOne(
          dir,
          variant === 'kafka' ? overKafka(broker.address, unique()) : {},
          bodies,
        )
        note(variant, cpuUs)
        note(`${variant} rate`, rate)
        rmSync(dir, { recursive: true, force: true })
      }
      for (const workers of round % 2 === 0 ? [1, 2] : [2, 1])
        note(`${workers} workers`, await rateOfWorkers(workers, broker.address, work, bodies))
      process.stderr.write(
        `round ${round + 1} of ${rounds}: ${JSON.stringify(Object.fromEntries(Object.entries(samples).map(([k, v]) => [k, Math.round(v.at(-1) ?? 0)])))}\n`,
      )
    }
    // Both at the same rate: on a busy machine the one says what the other means.
    const rate = of('kafka rate') / 2
    const lags = await lagAt(rate, join(work, 'lag'), overKafka(broker.address, unique()))
    const plain = await lagAt(rate, join(work, 'lag-embedded'), {})
    rows.push(
      { figure: 'CPU per call, Kafka / embedded log', value: ratio('kafka', 'embedded'), must: '<= 2' },
      {
        figure: 'CPU us per call: Kafka / embedded log',
        value: `${of('kafka').toFixed(0)} / ${of('embedded').toFixed(0)}`,
        must: '',
      },
      {
        figure: 'calls/s, queryable: Kafka / embedded log',
        value: `${of('kafka rate').toFixed(0)} / ${of('embedded rate').toFixed(0)}`,
        must: '',
      },
      {
        figure: 'lag at half of the peak, p50 / p99 ms',
        value: `${median(lags).toFixed(0)} / ${quantile(lags, 0.99).toFixed(0)}`,
        must: '< 1000',
      },
      {
        figure: 'the same rate on the embedded log, p50 / p99 ms',
        value: `${median(plain).toFixed(0)} / ${quantile(plain, 0.99).toFixed(0)}`,
        must: '',
      },
      { figure: 'calls/s of a backlog, two workers / one', value: ratio('2 workers', '1 workers'), must: '>= 1' },
      {
        figure: 'calls/s of a backlog, roles apart: one worker / two',
        value: `${of('1 workers').toFixed(0)} / ${of('2 workers').toFixed(0)}`,
        must: '',
      },
    )
  } finally {
    await broker.dispose()
    rmSync(work, { recursive: true, force: true })
  }
  process.stdout.write('| figure | here | must |\n|---|---|---|\n')
  for (const { figure, value, must } of rows) process.stdout.write(`| ${figure} | ${value} | ${must} |\n`)
}
