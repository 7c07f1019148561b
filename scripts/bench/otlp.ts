// `npm run bench otlp`: spans per second until they can be read, the same OTLP batches for us and for servers that are
// started by hand. BENCH_PEERS: space-separated `name=url=count command`; the command prints the number of stored spans.
import { execSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeRequest } from '../../test/fixtures/otlp-proto.ts'
import { benchOtlpJoins } from './otlp-joins.ts'
import { benchOtlpWays, type SpanRequest } from './otlp-ways.ts'
import { type BenchCall, createPayloads } from './payloads.ts'
import { createClient, median, sendAll, startCallhouseServer } from './process.ts'

const perRequest = 512

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
}

/** Spans per second from the first request until all of them are counted. */
async function spansPerSecond(target: Target, bodies: Buffer[]): Promise<number> {
  const before = await target.count()
  const beganMs = performance.now()
  await sendAll(bodies, target.post, 2)
  while ((await target.count()) < before + bodies.length * perRequest)
    await new Promise((resolve) => setTimeout(resolve, 20))
  return (bodies.length * perRequest) / ((performance.now() - beganMs) / 1000)
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

export async function benchOtlp(spans: number, rounds: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const server = await startCallhouseServer(dir)
  const post = createClient(server.port, 4)
  const here: Target = {
    name: 'callhouse',
    post: (body) => post('/otel/v1/traces', body, 'application/x-protobuf', { project_id: 'bench/otlp' }),
    async count() {
      const { body } = await post('/calls/query_stats', JSON.stringify({ project_id: 'bench/otlp' }))
      return (JSON.parse(body.toString()) as { count: number }).count
    },
  }
  const rates = new Map<string, number[]>()
  await spansPerSecond(here, bodiesOf(1, 20 * perRequest))
  const cpu: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const target of [here, ...peers]) {
      const bodies = bodiesOf(100 + round, target === here ? spans : Math.min(spans, 4 * perRequest))
      const before = server.cpuSeconds()
      const rate = await spansPerSecond(target, bodies)
      if (target === here) cpu.push(((server.cpuSeconds() - before) / (bodies.length * perRequest)) * 1e6)
      rates.set(target.name, [...(rates.get(target.name) ?? []), rate])
    }
  }
  process.stdout.write('| server | queryable spans/s | callhouse / it |\n|---|---|---|\n')
  const own = median(rates.get('callhouse') ?? [])
  for (const [name, all] of rates)
    process.stdout.write(`| ${name} | ${median(all).toFixed(0)} | ${(own / median(all)).toFixed(1)} |\n`)
  process.stdout.write(`\nCPU ${median(cpu).toFixed(1)} us per span, resident ${server.residentMb().toFixed(0)} MB\n`)
  await server.stop()
  rmSync(dir, { recursive: true, force: true })
  await benchEdgeOfOtlp(rounds)
  await benchJoinsOfOtlp(rounds)
}

/** The second part alone. */
export const benchEdgeOfOtlp = (rounds: number): Promise<void> =>
  benchOtlpWays(requestsOf(900, 4 * perRequest), perRequest, rounds)

/** The third part alone. */
export const benchJoinsOfOtlp = (rounds: number): Promise<void> => benchOtlpJoins(requestsOf, perRequest, rounds)
