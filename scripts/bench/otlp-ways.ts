// The second part of `npm run bench otlp`: the same spans over HTTP and gRPC, and log records of the same attributes, at an
// edge that nobody applies; and what connections cost that do nothing. Ratios are of turns in one run.
import { mkdtempSync, rmSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectH2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { callOver, exportPath, framed } from '../../test/fixtures/grpc.ts'
import { encodeLogsRequest, encodeRequest } from '../../test/fixtures/otlp-proto.ts'
import { type BenchServer, createClient, median, quantile, sendAll, startServer } from './process.ts'

const project_id = 'bench/ways'
const authorization = `Basic ${Buffer.from('api:bench-key').toString('base64')}`
const type = 'application/x-protobuf'
const idle = 1_000
/** Few, so that what is compared meets the machine in one mood; enough to pay for the garbage that they leave. */
const perTurn = 40

type Send = (body: Buffer) => Promise<{ status: number; ms: number; body: Buffer }>
export type SpanRequest = {
  resourceSpans: { resource: object; scopeSpans: { scope: object; spans: Record<string, unknown>[] }[] }[]
}

/** Each span as a log record with its attributes. */
const logsOf = ({ resourceSpans }: SpanRequest): Buffer =>
  encodeLogsRequest({
    resourceLogs: resourceSpans.map(({ resource, scopeSpans }) => ({
      resource,
      scopeLogs: scopeSpans.map(({ scope, spans }) => ({
        scope,
        logRecords: spans.map(({ traceId, spanId, startTimeUnixNano: timeUnixNano, attributes }) => ({
          traceId,
          spanId,
          timeUnixNano,
          attributes,
          severityNumber: 9,
          eventName: 'gen_ai.client.inference.operation.details',
        })),
      })),
    })),
  })

const overGrpc =
  (session: ClientHttp2Session, headers: Record<string, string> = {}): Send =>
  async (body) => {
    const began = performance.now()
    const { status, bytes } = await callOver(session, exportPath, [framed(body, headers['grpc-encoding'] ? 1 : 0)], {
      authorization,
      project_id,
      ...headers,
    })
    return { status: status === 0 ? 200 : status, ms: performance.now() - began, body: bytes }
  }

const print = (what: string, value: string, goal: string): boolean =>
  process.stdout.write(`| ${what} | ${value} | ${goal} |\n`)

/** Delay of the edge's event loop, at the 99th percentile since the last call. */
const delayOf = ({ child }: BenchServer): Promise<number> =>
  new Promise((resolve) => {
    child.stdout?.once('data', (line: Buffer) => resolve(JSON.parse(line.toString()).delayP99Ms))
    child.kill('SIGUSR2')
  })

/** Memory that connections take which say nothing, in a process that has done nothing else. */
async function memoryOfIdle(edge: BenchServer): Promise<number> {
  const before = edge.residentMb()
  const sockets: Socket[] = []
  for (let n = 0; n < idle; n++) {
    const socket = connect(edge.grpcPort, '127.0.0.1')
    sockets.push(socket.on('error', () => undefined))
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0')
    // The server's settings: the connection is there.
    await new Promise((resolve) => socket.once('data', resolve))
  }
  const took = edge.residentMb() - before
  for (const socket of sockets) socket.destroy()
  return took
}

/** @param perRequest spans of each request */
export async function benchOtlpWays(requests: SpanRequest[], perRequest: number, rounds: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const edge = await startServer(fileURLToPath(new URL('server-edge.ts', import.meta.url)), [dir])
  const idleMb = await memoryOfIdle(edge)
  const client = createClient(edge.port, 2)
  const session = connectH2(`http://127.0.0.1:${edge.grpcPort}`)
  const bodies = requests.map(encodeRequest)
  const zipped = bodies.map((body) => gzipSync(body))
  const logs = requests.map(logsOf)
  const http = (path: string, more: Record<string, string> = {}): Send => {
    return (body) => client(path, body, type, { project_id, ...more })
  }
  // Compared ways take turns next to each other.
  const ways: { name: string; bodies: Buffer[]; send: Send }[] = [
    { name: 'gRPC', bodies, send: overGrpc(session) },
    { name: 'HTTP', bodies, send: http('/otel/v1/traces') },
    { name: 'log records, HTTP', bodies: logs, send: http('/otel/v1/logs') },
    { name: 'HTTP, gzip', bodies: zipped, send: http('/otel/v1/traces', { 'content-encoding': 'gzip' }) },
    { name: 'gRPC, gzip', bodies: zipped, send: overGrpc(session, { 'grpc-encoding': 'gzip' }) },
  ]
  const turn = async ({ bodies: own, send }: (typeof ways)[number]): Promise<{ cpu: number; delay: number }> => {
    const all = Array.from({ length: perTurn }, (_, n) => own[n % own.length] as Buffer)
    // These requests pay for the garbage of the previous way, which this one must not pay for.
    await sendAll(all.slice(0, perTurn / 2), send, 2)
    await delayOf(edge)
    const before = edge.cpuSeconds()
    await sendAll(all, send, 2)
    return { cpu: ((edge.cpuSeconds() - before) / (perTurn * perRequest)) * 1e6, delay: await delayOf(edge) }
  }
  for (const way of ways) await turn(way)
  const [cpu, delay] = [new Map<string, number[]>(), new Map<string, number[]>()]
  for (let round = 0; round < 4 * rounds; round++)
    for (const way of ways) {
      const took = await turn(way)
      cpu.set(way.name, [...(cpu.get(way.name) ?? []), took.cpu])
      delay.set(way.name, [...(delay.get(way.name) ?? []), took.delay])
    }
  const total = (of: Map<string, number[]>, name: string) => (of.get(name) ?? []).reduce((sum, one) => sum + one, 0)
  const ratio = (name: string, to: string, of = cpu): string => (total(of, name) / total(of, to)).toFixed(2)
  process.stdout.write('\n| at the edge | | goal |\n|---|---|---|\n')
  for (const { name } of ways) print(`CPU of an item, ${name}`, `${median(cpu.get(name) ?? []).toFixed(1)} us`, '')
  print('gRPC / HTTP', ratio('gRPC', 'HTTP'), '1.15')
  print('gRPC / HTTP, gzip', ratio('gRPC, gzip', 'HTTP, gzip'), '1.15')
  print('event-loop delay p99, gRPC / HTTP', ratio('gRPC', 'HTTP', delay), '1.2')
  print('the same, log records / spans', ratio('log records, HTTP', 'HTTP', delay), '1.2')
  // gRPC and HTTP may both be late: how long rounds are is a figure of its own.
  print('rounds of the event loop, gRPC, p99', `${median(delay.get('gRPC') ?? []).toFixed(1)} ms`, '15 ms')
  const bytes = (all: Buffer[]) => all.reduce((sum, { length }) => sum + length, 0)
  print('log record / span', ratio('log records, HTTP', 'HTTP'), '0.5')
  print('bytes of a log record / span', (bytes(logs) / bytes(bodies)).toFixed(2), '1')

  const small = Array.from({ length: 2_000 }, () => Buffer.alloc(0))
  const p99 = async () => quantile(await sendAll(small, http('/otel/v1/traces'), 2), 0.99)
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < rounds; round++) {
    alone.push(await p99())
    const silent = connectH2(`http://127.0.0.1:${edge.grpcPort}`)
    silent.on('error', () => undefined)
    for (let n = 0; n < 100; n++) {
      const path = { ':method': 'POST', ':path': exportPath, 'content-type': 'application/grpc', te: 'trailers' }
      silent.request({ ...path, authorization, project_id }).on('error', () => undefined)
    }
    beside.push(await p99())
    silent.destroy()
  }
  print('p99 beside 100 silent calls / alone', (median(beside) / median(alone)).toFixed(2), '1.1')

  print(`${idle} idle connections`, `${idleMb.toFixed(0)} MB`, '64 MB')
  session.close()
  await edge.stop()
  rmSync(dir, { recursive: true, force: true })
}
