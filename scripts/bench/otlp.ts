// `npm run bench otlp`: spans per second until they can be read, the same OTLP batches for us and for servers that are
// started by hand. BENCH_PEERS: `name|url|count command|header:value`, separated by `;`; the command prints the number of stored spans.
import { execSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeRequest } from '../../test/fixtures/otlp-proto.ts'
import { benchOtlpJoins } from './otlp-joins.ts'
import { benchOtlpWays, type SpanRequest } from './otlp-ways.ts'
import { type BenchCall, createPayloads } from './payloads.ts'
import {
  type BenchServer,
  countOf,
  createClient,
  median,
  medianRatio,
  sendAll,
  startCallhouseServer,
  startReferenceServer,
  untilTaken,
} from './process.ts'

const perRequest = 512
const project = 'bench/otlp'
/** Requests before the measured ones. */
const warmUp = 20

type Value = { stringValue: string } | { intValue: number } | { doubleValue: number }
const attribute = (key: string, value: string | number): { key: string; value: Value } => ({
  key,
  value:
    typeof value === 'string'
      ? { stringValue: value }
      : Number.isInteger(value)
        ? { intValue: value }
        : { doubleValue: value },
})
const hex = (id: unknown, digits: number): string => String(id).replaceAll('-', '').slice(-digits)
const nanoseconds = (time: unknown): string => `${BigInt(Date.parse(String(time))) * 1_000_000n}`

/** A call as a span of the GenAI conventions, about 2.3 KB. */
function spanOf({ start, end, kind }: BenchCall): Record<string, unknown> {
  const inputs = start.inputs as { model?: string; messages?: unknown }
  const attributes = inputs.model
    ? [
        attribute('gen_ai.operation.name', 'chat'),
        attribute('gen_ai.request.model', inputs.model),
        attribute('gen_ai.response.model', inputs.model),
        attribute('gen_ai.request.temperature', 0.2),
        attribute('gen_ai.usage.input_tokens', 400),
        attribute('gen_ai.usage.output_tokens', 180),
        attribute('gen_ai.conversation.id', String(start.thread_id)),
        attribute('gen_ai.input.messages', JSON.stringify(inputs.messages)),
        attribute('gen_ai.output.messages', JSON.stringify(end.output)),
      ]
    : [
        attribute('gen_ai.operation.name', 'execute_tool'),
        attribute('gen_ai.tool.name', kind),
        attribute('input.value', JSON.stringify(inputs)),
        attribute('output.value', JSON.stringify(end.output)),
      ]
  return {
    traceId: hex(start.trace_id, 32),
    spanId: hex(start.id, 16),
    ...(start.parent_id ? { parentSpanId: hex(start.parent_id, 16) } : {}),
    name: kind,
    kind: 1,
    startTimeUnixNano: nanoseconds(start.started_at),
    endTimeUnixNano: nanoseconds(end.ended_at),
    attributes,
    status: { code: 1 },
  }
}

function requestsOf(seed: number, spans: number): SpanRequest[] {
  const payloads = createPayloads(seed)
  const calls: BenchCall[] = []
  while (calls.length < spans) calls.push(...payloads.trace())
  const attributes = [attribute('service.name', 'bench'), attribute('openinference.project.name', 'bench')]
  return Array.from({ length: Math.floor(spans / perRequest) }, (_, n) => {
    const own = calls.slice(n * perRequest, (n + 1) * perRequest).map(spanOf)
    return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope: { name: 'bench' }, spans: own }] }] }
  })
}

const bodiesOf = (seed: number, spans: number): Buffer[] => requestsOf(seed, spans).map(encodeRequest)

type Target = {
  name: string
  post(body: Buffer): Promise<{ status: number; ms: number; body: Buffer }>
  count(): Promise<number>
  /** CPU of our server and of the reference, which run on this machine. */
  cpuSeconds?(): number
}

/** Spans per second from the first request until all of them are counted, and the CPU of each where it is known. */
async function turnOf(target: Target, bodies: Buffer[]): Promise<{ rate: number; cpuMicros: number }> {
  const [before, cpuBefore] = [await target.count(), target.cpuSeconds?.() ?? Number.NaN]
  const spans = bodies.length * perRequest
  const beganMs = performance.now()
  await sendAll(bodies, (body) => untilTaken(() => target.post(body)), 2)
  while ((await target.count()) < before + spans) await new Promise((resolve) => setTimeout(resolve, 20))
  return {
    rate: spans / ((performance.now() - beganMs) / 1000),
    cpuMicros: (((target.cpuSeconds?.() ?? Number.NaN) - cpuBefore) / spans) * 1e6,
  }
}

const peers = (process.env.BENCH_PEERS ?? '')
  .split(';')
  .filter(Boolean)
  .map((peer): Target => {
    const [name = '', url = '', command = '', header = ''] = peer.split('|')
    const [headerName, headerValue] = header.split(':')
    return {
      name,
      async post(body) {
        const began = performance.now()
        const response = await fetch(url, {
          method: 'POST',
          body,
          headers: {
            'content-type': 'application/x-protobuf',
            ...(headerName && headerValue ? { [headerName]: headerValue } : {}),
          },
        })
        return {
          status: response.status,
          ms: performance.now() - began,
          body: Buffer.from(await response.arrayBuffer()),
        }
      },
      count: async () => Number(execSync(command).toString().trim().split(/\s+/).pop()),
    }
  })

function targetOf(name: string, server: BenchServer): Target {
  const post = createClient(server.port, 4)
  return {
    name,
    post: (body) => post('/otel/v1/traces', body, 'application/x-protobuf', { project_id: project }),
    count: () => countOf(server, project),
    cpuSeconds: server.cpuSeconds,
  }
}

export type OtlpFigures = {
  /** CPU of a span until it can be read, against the frozen reference. */
  cpuOfReference: number
  /** Spans per second until they can be read, the same. */
  rateOfReference: number
  cpuMicros: { here: number; reference: number }
  residentMb: number
  /** Collections that marked a whole heap, of any thread, per hundred requests of 1.2 MB. */
  markCompactsPer100: number
  /** Spans per second by server, the peers too. */
  rates: Map<string, number>
}

/** Ours, the frozen reference and the peers in turns, with other spans in each round. */
export async function measureOtlp(spans: number, rounds: number): Promise<OtlpFigures> {
  const [dir, referenceDir] = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'callhouse-bench-'))) as [string, string]
  const server = await startCallhouseServer(dir, {}, ['--trace-gc'])
  const frozen = await startReferenceServer(referenceDir)
  try {
    const [here, reference] = [targetOf('callhouse', server), targetOf('reference', frozen)]
    for (const target of [here, reference]) await turnOf(target, bodiesOf(1, warmUp * perRequest))
    let markCompacts = 0
    const turns = new Map<Target, { rate: number; cpuMicros: number }[]>()
    for (let round = 0; round < rounds; round++) {
      const bodies = bodiesOf(100 + round, spans)
      for (const target of [...(round % 2 === 0 ? [here, reference] : [reference, here]), ...peers]) {
        const before = server.markCompacts()
        const turn = await turnOf(target, peers.includes(target) ? bodies.slice(0, 4) : bodies)
        if (target === here) markCompacts += server.markCompacts() - before
        turns.set(target, [...(turns.get(target) ?? []), turn])
      }
    }
    const rates = (target: Target) => (turns.get(target) ?? []).map(({ rate }) => rate)
    const cpu = (target: Target) => (turns.get(target) ?? []).map(({ cpuMicros }) => cpuMicros)
    return {
      cpuOfReference: medianRatio(cpu(here), cpu(reference)),
      rateOfReference: medianRatio(rates(here), rates(reference)),
      cpuMicros: { here: median(cpu(here)), reference: median(cpu(reference)) },
      residentMb: server.residentMb(),
      markCompactsPer100: (markCompacts / (rounds * Math.floor(spans / perRequest))) * 100,
      rates: new Map([here, reference, ...peers].map((target) => [target.name, median(rates(target))])),
    }
  } finally {
    await server.stop()
    await frozen.stop()
    for (const one of [dir, referenceDir]) rmSync(one, { recursive: true, force: true })
  }
}

export async function benchOtlp(spans: number, rounds: number): Promise<void> {
  const { rates, cpuMicros, cpuOfReference, residentMb } = await measureOtlp(spans, rounds)
  process.stdout.write('| server | queryable spans/s | callhouse / it |\n|---|---|---|\n')
  const own = rates.get('callhouse') ?? 0
  for (const [name, rate] of rates)
    process.stdout.write(`| ${name} | ${rate.toFixed(0)} | ${(own / rate).toFixed(1)} |\n`)
  process.stdout.write(
    `\nCPU ${cpuMicros.here.toFixed(1)} us per span, ${cpuOfReference.toFixed(2)} of the reference, resident ${residentMb.toFixed(0)} MB\n`,
  )
  await benchEdgeOfOtlp(rounds)
  await benchJoinsOfOtlp(rounds)
}

/** The second part alone. */
export const benchEdgeOfOtlp = (rounds: number): Promise<void> =>
  benchOtlpWays(requestsOf(900, 4 * perRequest), perRequest, rounds)

/** The third part alone. */
export const benchJoinsOfOtlp = (rounds: number): Promise<void> => benchOtlpJoins(requestsOf, perRequest, rounds)
