// OTLP over gRPC and the standard ports: a published exporter, every status, and senders that mean no good.
import { type ClientHttp2Session, connect as connectH2, constants } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { JsonMetricsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openOtlpPorts } from '../../services/app/otlp-ports.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import type { Logger } from '../../services/core/process/logger.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { callOver, exportPath, framed, retrySeconds } from '../fixtures/grpc.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan } from '../fixtures/otel.ts'
import { encodeLogsRequest, encodeRequest } from '../fixtures/otlp-proto.ts'

let server: LiveServer
let session: ClientHttp2Session
const port = () => Number(server.now().otlp?.grpc?.split(':').at(-1))

beforeAll(async () => {
  server = await startLiveServer([
    ...'--otlp-grpc-port 0 --otlp-http-port 0 --otel-project-attribute service.name'.split(' '),
    ...'--max-body-bytes 65536 --max-inflight-bytes 131072'.split(' '),
  ])
  session = connectH2(`http://127.0.0.1:${port()}`)
})
afterAll(async () => {
  session?.close()
  await server?.remove()
})

const call = (
  chunks: readonly Uint8Array[],
  headers: Record<string, string> = {},
  path = exportPath,
  on: ClientHttp2Session = session,
) => callOver(on, path, chunks, { authorization: basicAuth(), project_id: 'acme/grpc', ...headers })

const spanOf = (n: number, name = `span ${n}`) =>
  aSpan({ spanId: (0xb0000000n + BigInt(n)).toString(16).padStart(16, '0'), name })
const requestOf = (n: number, name?: string): Uint8Array => encodeRequest(aRequest([spanOf(n, name)]))
const rows = (project: string) =>
  server.list<Record<string, unknown>>('/calls/stream_query', {
    project_id: project,
    sort_by: [{ field: 'started_at', direction: 'asc' }],
  })

describe('a call that is taken', () => {
  it('by a published exporter with its defaults, named by the service', async () => {
    const { text: key } = openKeys({ dataDir: server.dataDir, configured: [] }).create({
      userId: 'sender',
      entity: 'acme',
      grants: ['acme'],
      role: 'ingest',
    })
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', `authorization=Bearer%20${key}`)
    const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${port()}` })
    vi.unstubAllEnvs()
    const provider = new NodeTracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'my shop/api' }),
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    })
    provider.getTracer('t').startSpan('exported').end()
    await provider.forceFlush()
    await provider.shutdown()
    expect((await rows('acme/my-shop-api')).map(({ op_name }) => op_name)).toEqual([
      expect.stringContaining('exported'),
    ])
  })

  it.each([
    ['not compressed', (bytes: Uint8Array) => framed(bytes), {}],
    ['by gzip', (bytes: Uint8Array) => framed(gzipSync(bytes), 1), { 'grpc-encoding': 'gzip' }],
    ['by zstd', (bytes: Uint8Array) => framed(zstdCompressSync(bytes), 1), { 'grpc-encoding': 'zstd' }],
  ])('%s, with its position', async (name, frame, headers) => {
    const answer = await call([frame(requestOf(name.length, name))], { ...headers, project_id: 'acme/coded' })
    expect(answer).toMatchObject({ http: 200, status: 0, bytes: Buffer.alloc(5) })
    expect(answer.headers['x-callhouse-position']).toMatch(/calls=\d+/)
    expect(
      (await rows('acme/coded')).some(
        ({ op_name }) => String(op_name).includes(name.replaceAll(' ', '_')) || String(op_name).includes(name),
      ),
    ).toBe(true)
  })

  it('is stored the same however it is cut into DATA frames', async () => {
    const body = framed(requestOf(500, 'cut'))
    const whole = await call([body], { project_id: 'acme/cut' })
    const [expected] = await rows('acme/cut')
    for (let at = 1; at < body.length; at += 7) {
      const answer = await call([body.subarray(0, at), body.subarray(at)], { project_id: `acme/cut-${at}` })
      expect([at, answer.status, answer.bytes]).toEqual([at, 0, whole.bytes])
    }
    const bytewise = await call(
      [...body].map((byte) => Buffer.from([byte])),
      { project_id: 'acme/bytewise' },
    )
    expect(bytewise.status).toBe(0)
    const [row] = await rows('acme/bytewise')
    const known = ({ project_id: _, ...rest }: Record<string, unknown>) =>
      JSON.stringify(rest).replaceAll(/acme\/[\w-]+/g, '')
    expect(known(row as Record<string, unknown>)).toBe(known(expected as Record<string, unknown>))
  })

  it('in part, when some of its spans are refused', async () => {
    const bad = aSpan({ spanId: '', name: 'bad' })
    const answer = await call([framed(encodeRequest(aRequest([spanOf(600), bad])))])
    expect(answer.status).toBe(0)
    expect(answer.bytes.length).toBeGreaterThan(5)
  })
})

describe('the health check', () => {
  it.each([
    ['of the whole server', Buffer.alloc(0), 0],
    [
      'of a service',
      Buffer.concat([Buffer.from([10, 51]), Buffer.from('opentelemetry.proto.collector.trace.v1.TraceService')]),
      0,
    ],
    ['of a service that nobody knows', Buffer.from([10, 1, 120]), 5],
  ])('%s needs no key', async (_what, message, status) => {
    const answer = await call([framed(message)], { authorization: '' }, '/grpc.health.v1.Health/Check')
    expect(answer.status).toBe(status)
    if (status === 0) expect([...answer.bytes.subarray(5)]).toEqual([8, 1])
  })
})

describe('a call that is refused', () => {
  const ok = () => framed(requestOf(1))
  it.each<[string, number, () => Uint8Array[], Record<string, string>]>([
    ['without a key', 16, () => [ok()], { authorization: '' }],
    ['with an unknown key', 16, () => [ok()], { authorization: 'Bearer nobody' }],
    ['with a malformed project', 3, () => [ok()], { project_id: 'x' }],
    ['of bytes that are no request', 3, () => [framed(Buffer.from('no protobuf'))], {}],
    ['without a message', 3, () => [], {}],
    ['that ends inside its frame', 3, () => [ok().subarray(0, 4)], {}],
    ['that ends inside its message', 3, () => [ok().subarray(0, 30)], {}],
    ['of two messages', 3, () => [ok(), ok()], {}],
    ['with a flag that nobody knows', 3, () => [framed(requestOf(1), 7)], {}],
    ['compressed without saying how', 3, () => [framed(gzipSync(requestOf(1)), 1)], {}],
    ['of broken gzip', 3, () => [framed(Buffer.from('not gzip'), 1)], { 'grpc-encoding': 'gzip' }],
    ['in an encoding that nobody knows', 12, () => [ok()], { 'grpc-encoding': 'snappy' }],
    ['that says it is 4 GiB long', 8, () => [Buffer.from([0, 255, 255, 255, 255, 1])], {}],
    ['that is too long', 8, () => [framed(Buffer.alloc(70_000))], {}],
    [
      'that inflates to too much',
      8,
      () => [framed(gzipSync(Buffer.alloc(10_000_000)), 1)],
      { 'grpc-encoding': 'gzip' },
    ],
    ['with a malformed deadline', 3, () => [ok()], { 'grpc-timeout': '1x' }],
    ['whose deadline is over', 4, () => [ok()], { 'grpc-timeout': '1n' }],
  ])('%s: status %i, not to be sent again', async (_what, status, chunks, headers) => {
    const answer = await call(chunks(), headers)
    expect(answer).toMatchObject({ http: 200, status })
    expect(answer.headers['grpc-status-details-bin']).toBeUndefined()
  })

  it('of a method that nobody knows', async () => {
    const answer = await call([framed(Buffer.alloc(0))], {}, '/x.Y/Z')
    expect([answer.status, answer.message]).toEqual([12, 'Unknown method /x.Y/Z'])
  })

  it('to another host than this one', async () => {
    expect((await call([ok()], { ':authority': 'evil.example' })).status).toBe(7)
  })

  it('while the budget of bodies is used up: to be sent again, after some time', async () => {
    const { budget } = server.now().http.shared
    // Handlers of calls that were given up may still hold their messages.
    await eventually(() => expect(budget.heldBytes()).toBe(0))
    const lease = budget.lease({})
    lease.take(131_072)
    try {
      const answer = await call([ok()])
      expect(answer.status).toBe(14)
      const seconds = retrySeconds(answer)
      expect(seconds).toBeGreaterThanOrEqual(1)
      expect(seconds).toBeLessThanOrEqual(30)
    } finally {
      lease.release()
    }
    expect((await call([ok()])).status).toBe(0)
  })
})

/** The bytes that a peer which sends these reads until the connection ends. */
const talk = (bytes: Uint8Array): Promise<string> =>
  new Promise((resolve) => {
    const received: Buffer[] = []
    const socket: Socket = connect(port(), '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => received.push(chunk)).on('error', () => undefined)
    socket.on('close', () => resolve(Buffer.concat(received).toString('latin1')))
  })

describe('a peer that speaks something else', () => {
  it('over HTTP/1.1 is told where to go', async () => {
    const answer = await talk(Buffer.from('POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'))
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('X-Content-Type-Options: nosniff')
    expect(answer).toContain(`This is the gRPC port. OTLP over HTTP: ${server.now().otlp?.http}`)
  })

  it('over TLS is cut off', async () => {
    expect(await talk(Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]))).toBe('')
  })

  it('that floods with resets is cut off, and nobody else', async () => {
    const flooding = connectH2(`http://127.0.0.1:${port()}`)
    flooding.on('error', () => undefined)
    const closed = new Promise((resolve) => flooding.once('close', resolve))
    const headers = {
      ':method': 'POST',
      ':path': exportPath,
      'content-type': 'application/grpc',
      authorization: basicAuth(),
    }
    for (let n = 0; n < 3_000 && !flooding.destroyed; n++) {
      const stream = flooding.request(headers)
      stream.on('error', () => undefined)
      stream.close(constants.NGHTTP2_CANCEL)
      if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await closed
    expect((await call([framed(requestOf(2))])).status).toBe(0)
  })

  it('that sends ten thousand headers is refused', async () => {
    const many = connectH2(`http://127.0.0.1:${port()}`)
    many.on('error', () => undefined)
    const headers = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`x-${n}`, 'y']))
    await expect(call([framed(requestOf(3))], headers, exportPath, many)).rejects.toThrow()
    many.destroy()
    expect((await call([framed(requestOf(4))])).status).toBe(0)
  })
})

describe('the HTTP port', () => {
  const at = (path: string, init: RequestInit = {}) =>
    fetch(`http://${server.now().otlp?.http}${path}`, {
      ...init,
      headers: { authorization: basicAuth(), project_id: 'acme/port', ...(init.headers as Record<string, string>) },
    })
  const post = (path: string, body: Uint8Array, headers: Record<string, string> = {}) =>
    at(path, {
      method: 'POST',
      body: Buffer.from(body),
      headers: { 'content-type': 'application/x-protobuf', ...headers },
    })

  it('takes spans under the default path, as the main port does', async () => {
    expect((await post('/v1/traces', requestOf(700))).status).toBe(200)
    expect((await post('/v1/traces', zstdCompressSync(requestOf(701)), { 'content-encoding': 'zstd' })).status).toBe(
      200,
    )
    const main = await fetch(`${server.now().url}/v1/traces`, {
      method: 'POST',
      body: Buffer.from(requestOf(702)),
      headers: { authorization: basicAuth(), project_id: 'acme/port', 'content-type': 'application/x-protobuf' },
    })
    expect(main.status).toBe(200)
    expect(await rows('acme/port')).toHaveLength(3)
  })

  it('answers for metrics that they are not stored, and how many they were, in each encoding', async () => {
    const points = (count: number) => Array.from({ length: count }, () => ({ value: 1, attributes: {}, ...times }))
    const times = { startTime: [1_772_712_000, 0], endTime: [1_772_712_000, 0] }
    const [gauge, sum] = [2, 3]
    const metric = (dataPointType: number, count: number) => ({
      descriptor: { name: 'a', description: '', unit: '', valueType: 1 },
      aggregationTemporality: 1,
      dataPointType,
      isMonotonic: true,
      dataPoints: points(count),
    })
    const metrics = [metric(gauge, 2), metric(sum, 3)]
    const request = { resource: resourceFromAttributes({}), scopeMetrics: [{ scope: { name: 's' }, metrics }] }
    const partialSuccess = { rejectedDataPoints: '5', errorMessage: 'metrics are not stored' }
    const text = JsonMetricsSerializer.serializeRequest(request as never) as Uint8Array
    const json = await post('/v1/metrics', text, { 'content-type': 'application/json' })
    expect(await json.json()).toEqual({ partialSuccess })
    const body = ProtobufMetricsSerializer.serializeRequest(request as never) as Uint8Array
    const shown = (bytes: Uint8Array) => ProtobufMetricsSerializer.deserializeResponse(bytes)
    const expected = { partialSuccess: { ...partialSuccess, rejectedDataPoints: 5 } }
    const http = await post('/v1/metrics', body)
    expect([http.status, shown(new Uint8Array(await http.arrayBuffer()))]).toEqual([200, expected])
    const path = exportPath.replace('trace.v1.Trace', 'metrics.v1.Metrics')
    const grpc = await call([framed(body)], {}, path)
    expect([grpc.status, shown(grpc.bytes.subarray(5))]).toEqual([0, expected])
    const nothing = await call([framed(Buffer.alloc(0))], {}, path)
    expect([nothing.status, nothing.bytes]).toEqual([0, Buffer.alloc(5)])
    expect((await call([framed(Buffer.from([10, 200]))], {}, path)).status).toBe(3)
  })

  it('takes logs over gRPC as over HTTP', async () => {
    const logRecords = [{ timeUnixNano: '1772712000000000000', body: { stringValue: 'over gRPC' } }]
    const body = encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
    const path = exportPath.replace('trace.v1.Trace', 'logs.v1.Logs')
    const first = await call([framed(body)], { project_id: 'acme/grpc-logs' }, path)
    expect(first.bytes.subarray(5)).toHaveLength(0)
    expect((await post('/v1/logs', body, { project_id: 'acme/grpc-logs' })).status).toBe(200)
    const found = await server.list('/logs/query', {
      project_id: 'acme/grpc-logs',
      start: '2026-03-05T00:00:00Z',
      end: '2026-03-06T00:00:00Z',
    })
    expect(found).toEqual([expect.objectContaining({ body: 'over gRPC', time_unix_nano: '1772712000000000000' })])
  })

  it('speaks HTTP as the main port does: room for headers, connections that are kept, what is no request', async () => {
    const raw = (send: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(Number(server.now().otlp?.http?.split(':').at(-1)), '127.0.0.1', () =>
          socket.write(send),
        )
        let answer = ''
        socket.on('data', (chunk) => {
          answer += chunk
          // The body of each of these answers comes with its head.
          socket.destroy()
        })
        socket.on('close', () => resolve(answer)).on('error', reject)
      })
    const get = (headers: string) => raw(`GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`)
    expect(await get(`X-Long: ${'x'.repeat(100_000)}\r\n`)).toMatch(/^HTTP\/1\.1 200 .*\r\nKeep-Alive: timeout=75\r\n/s)
    expect(await get(`X-Long: ${'x'.repeat(200_000)}\r\n`)).toMatch(/^HTTP\/1\.1 431 .*"reason":"Malformed request"/s)
    expect(await raw('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*"reason":"Malformed request"/s)
  })

  it('answers readiness, and refers everything else to the main port', async () => {
    expect((await at('/ready')).status).toBe(200)
    const other = await at('/calls/stream_query', { method: 'POST', body: '{}' })
    expect([other.status, await other.text()]).toEqual([404, expect.stringContaining(new URL(server.now().url).host)])
  })
})

it('gRPC calls have metrics by method and code', async () => {
  await call([framed(requestOf(1))])
  await call([framed(Buffer.alloc(0))], {}, '/no.such.Service/Method')
  const answer = await fetch(`${server.now().url}/metrics`, { headers: { authorization: basicAuth() } })
  const shown = await answer.text()
  expect(shown).toMatch(
    /callhouse_grpc_call_seconds_count\{method="opentelemetry.proto.collector.trace.v1.TraceService\/Export",code="OK"\} \d/,
  )
  expect(shown).toMatch(/callhouse_grpc_call_seconds_count\{method="unmatched",code="UNIMPLEMENTED"\} \d/)
  expect(shown).not.toMatch(/callhouse_http_request_seconds_count\{[^}]*(gRPC|status="\d\d?")/)
})

describe('a port that is taken', () => {
  const deps = (given: string[]) => {
    const { http } = server.now()
    const warnings: string[] = []
    const metrics = { observe: () => {}, started: () => {}, ended: () => {} }
    const log = { warn: (_: object, line: string) => void warnings.push(line), info() {}, debug() {}, error() {} }
    const logger = log as unknown as Logger
    return {
      warnings,
      ...http.shared,
      metrics,
      logger,
      log: logger,
      methods: {},
      maxBodyBytes: 1024,
      requestTimeoutMs: 60_000,
      main: http.server,
      isShuttingDown: () => false,
      config: { host: '127.0.0.1', otlpGrpcPort: port(), otlpHttpPort: undefined, given: new Set(given) },
    }
  }

  it('is one warning when nobody asked for it', async () => {
    const asked = deps([])
    const opened = await openOtlpPorts(asked)
    expect([opened.grpc, asked.warnings]).toEqual([undefined, [expect.stringMatching(`^port ${port()} is in use: `)]])
    expect(await opened.close(0)).toBe(true)
  })

  it('ends the start when the operator asked for it', async () => {
    await expect(openOtlpPorts(deps(['otlpGrpcPort']))).rejects.toThrow(
      `port ${port()} is in use; see CALLHOUSE_OTLP_GRPC_PORT`,
    )
  })
})

it('calls with wrong keys are counted among the refusals', async () => {
  const refusals = async () => {
    const headers = { authorization: basicAuth() }
    const text = await (await fetch(`${server.now().url}/metrics`, { headers })).text()
    return Number(/^callhouse_auth_failures_total\{code="key_unknown"\} (\d+)$/m.exec(text)?.[1] ?? 0)
  }
  const before = await refusals()
  for (let n = 0; n < 3; n++)
    expect((await call([framed(requestOf(n))], { authorization: 'Bearer not-a-key' })).status).toBe(16)
  expect(await refusals()).toBe(before + 3)
})
