// OTLP over gRPC and HTTP from senders that mean no good, many at a time: the memory of the process is bounded, others are
// answered meanwhile, and nothing of it is stored.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect as connectH2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth, type ChildServer, postLines, startChildServer } from '../fixtures/child-server.ts'
import { callOver, exportPath, framed } from '../fixtures/grpc.ts'
import { freePort } from '../fixtures/kafka-broker.ts'
import { aRequest, aSpan, text } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'

const mebibyte = 2 ** 20
const maxBodyBytes = 4 * mebibyte
const memoryBound = 64 * mebibyte
/** The longest that somebody else waits for an answer, on a machine that does other things too. */
const longestMs = 5_000
/** Until memory has grown to what such work takes. */
const warmRounds = 2

const dir = mkdtempSync(join(tmpdir(), 'callhouse-otlp-hostile-'))
let server: ChildServer
let [grpcPort, httpPort] = [0, 0]
beforeAll(async () => {
  ;[grpcPort, httpPort] = [await freePort(), await freePort()]
  server = await startChildServer(dir, {
    CALLHOUSE_OTLP_GRPC_PORT: String(grpcPort),
    CALLHOUSE_OTLP_HTTP_PORT: String(httpPort),
    CALLHOUSE_MAX_BODY_BYTES: String(maxBodyBytes),
    CALLHOUSE_MAX_INFLIGHT_BYTES: String(4 * maxBodyBytes),
    CALLHOUSE_LOG_LEVEL: 'error',
  })
})
afterAll(async () => {
  await server?.kill()
  rmSync(dir, { recursive: true, force: true })
})

const residentBytes = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1]) * 1024
const [hostile, honest] = ['otlp/hostile', 'otlp/honest']
const idOf = (n: number) => n.toString(16).padStart(16, 'a')
const bodyOf = (n: number, more: object[] = []) =>
  Buffer.from(encodeRequest(aRequest([aSpan({ spanId: idOf(n), attributes: more })])))

/** A field of protobuf with a length that need not be true. */
const varint = (value: bigint): Buffer => {
  const bytes: number[] = []
  for (let left = value; ; left >>= 7n) {
    if (left < 0x80n) return Buffer.from([...bytes, Number(left)])
    bytes.push(Number(left & 0x7fn) | 0x80)
  }
}
const field = (number: number, content: Buffer, length = BigInt(content.length)): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2]), varint(length), content])
/** A span whose attribute is a list in a list, so deep. */
function nested(depth: number): Buffer {
  let value: Buffer = Buffer.from([0x10, 1])
  for (let n = 0; n < depth && value.length < maxBodyBytes / 2; n++) value = field(5, field(1, value))
  const attribute = Buffer.concat([field(1, Buffer.from('k')), field(2, value)])
  return field(1, field(2, field(2, field(9, attribute))))
}
const zeros = Buffer.alloc(256 * mebibyte)

const messages: Record<string, Buffer> = {
  'a length of 2^32 - 1': field(1, Buffer.from('x'), 2n ** 32n - 1n),
  'a length of 2^63': field(1, field(2, Buffer.from('x'), 2n ** 63n)),
  'a varint without an end': Buffer.alloc(4_000, 0xff),
  'groups that are not closed': Buffer.alloc(100_000, 0x0b),
  'a cut span': bodyOf(1).subarray(0, 30),
  // Each level is longer than the one within by its lengths: this is quadratic for whoever makes it.
  'lists in lists': nested(3_000),
  'a million empty spans': field(1, field(2, Buffer.alloc(2_000_000, Buffer.from([0x12, 0])))),
  'a million attributes': field(1, field(2, field(2, Buffer.alloc(2_000_000, Buffer.from([0x4a, 0]))))),
}
const bombs: Record<string, Buffer> = {
  gzip: gzipSync(zeros),
  deflate: deflateSync(zeros),
  br: brotliCompressSync(zeros, { params: { 1: 1 } }),
  zstd: zstdCompressSync(zeros),
}

/** What a server says to bytes until it ends the connection, or until nothing came for so long. */
function talk(port: number, chunks: Iterable<Buffer | string>, patienceMs = 1_000): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket: Socket = connect(port, '127.0.0.1')
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1', 0, 400)
    })
    socket.on('error', () => undefined).on('close', () => resolve(answer))
    socket.setTimeout(patienceMs, () => socket.destroy())
    void (async () => {
      for (const chunk of chunks) {
        if (socket.destroyed) return
        if (!socket.write(chunk)) await new Promise((go) => socket.once('drain', go).once('close', go))
      }
    })()
  })
}
const head = (...lines: string[]): string =>
  [
    'POST /v1/traces HTTP/1.1',
    'Host: localhost',
    `Authorization: ${basicAuth()}`,
    `project_id: ${hostile}`,
    ...(lines.some((line) => line.startsWith('Content-Type')) ? [] : ['Content-Type: application/x-protobuf']),
    ...lines,
    '',
    '',
  ].join('\r\n')
const whole = (body: Buffer, ...lines: string[]): (string | Buffer)[] => [
  head(`Content-Length: ${body.length}`, 'Connection: close', ...lines),
  body,
]
const chunked = (body: Buffer, trailers: string): (string | Buffer)[] => [
  head('Transfer-Encoding: chunked', 'Connection: close'),
  `${body.length.toString(16)}\r\n`,
  body,
  `\r\n0\r\n${trailers}\r\n`,
]
const json = (body: string) => whole(Buffer.from(body), 'Content-Type: application/json')
const manyTrailers = Array.from({ length: 10_000 }, (_, n) => `x-${n}: y\r\n`).join('')

/** Statuses by which a request over HTTP may be answered; none where the connection may just end. */
const overHttp: Record<string, { send: (string | Buffer)[]; is: RegExp }> = {
  ...Object.fromEntries(
    Object.entries(messages).map(([what, body]) => [what, { send: whole(body), is: /^(200|400|413)$/ }]),
  ),
  ...Object.fromEntries(
    Object.entries(bombs).map(([encoding, body]) => [
      `a bomb by ${encoding}`,
      { send: whole(body, `Content-Encoding: ${encoding}`), is: /^413$/ },
    ]),
  ),
  'no gzip': { send: whole(bodyOf(2), 'Content-Encoding: gzip'), is: /^400$/ },
  'a cut gzip': { send: whole(gzipSync(bodyOf(2)).subarray(0, 20), 'Content-Encoding: gzip'), is: /^400$/ },
  'gzip in gzip': { send: whole(gzipSync(gzipSync(bodyOf(2))), 'Content-Encoding: gzip, gzip'), is: /^(400|415)$/ },
  'an unknown encoding': { send: whole(bodyOf(2), 'Content-Encoding: snappy'), is: /^415$/ },
  'protobuf as JSON': { send: whole(bodyOf(2), 'Content-Type: application/json'), is: /^400$/ },
  'deep JSON': { send: json('['.repeat(1_000_000)), is: /^(400|413)$/ },
  'deep JSON in a value': {
    send: json(`{"resourceSpans":${'[{"arrayValue":{"values":'.repeat(50_000)}`),
    is: /^(400|413)$/,
  },
  'a declared length of 2^32 - 1': { send: [head(`Content-Length: ${2 ** 32 - 1}`), bodyOf(2)], is: /^413$/ },
  'a chunk of 2^32 - 1': { send: [head('Transfer-Encoding: chunked'), 'ffffffff\r\n', bodyOf(2)], is: /^(400|413|)$/ },
  'a body that is cut': { send: [head('Content-Length: 100000'), bodyOf(2)], is: /^(400|408|)$/ },
  'ten thousand trailers': { send: chunked(bodyOf(3), manyTrailers), is: /^(400|431|)$/ },
}
const statusOf = (answer: string) => /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? ''

const grpcHeaders = { authorization: basicAuth(), project_id: hostile }
/** Messages over gRPC, and codes by which they may be answered; NaN where the connection may just end. */
const overGrpc: Record<string, { chunks: Buffer[]; headers?: Record<string, string>; is: number[] }> = {
  ...Object.fromEntries(
    Object.entries(messages).map(([what, body]) => [what, { chunks: [framed(body)], is: [0, 3, 8] }]),
  ),
  ...Object.fromEntries(
    ['gzip', 'zstd'].map((encoding) => [
      `a bomb by ${encoding}`,
      { chunks: [framed(bombs[encoding] as Buffer, 1)], headers: { 'grpc-encoding': encoding }, is: [8] },
    ]),
  ),
  'no gzip': { chunks: [framed(bodyOf(2), 1)], headers: { 'grpc-encoding': 'gzip' }, is: [3, 13] },
  'an unknown encoding': { chunks: [framed(bodyOf(2), 1)], headers: { 'grpc-encoding': 'snappy' }, is: [12] },
  'a flag that nobody knows': { chunks: [framed(bodyOf(2), 7)], is: [3, 13] },
  'a declared length of 2^32 - 1': { chunks: [Buffer.from([0, 255, 255, 255, 255]), bodyOf(2)], is: [8] },
  'a frame that is cut': { chunks: [framed(bodyOf(2)).subarray(0, 20)], is: [3, 13] },
  'a head that is cut': { chunks: [Buffer.from([0, 0])], is: [3, 13] },
  'two messages': { chunks: [framed(bodyOf(2)), framed(bodyOf(2))], is: [3, 12, 13] },
  'nothing at all': { chunks: [], is: [3, 13] },
}

/** Messages that each come out as the most that one may be, on many streams: together far more than there is room for. */
const swelling = gzipSync(zeros.subarray(0, maxBodyBytes))
const swellingAtOneTime = 80

/** A connection whose calls stay open: half of them say nothing, half a byte now and then. */
function slowGrpc(until: Promise<unknown>): void {
  const session = connectH2(`http://127.0.0.1:${grpcPort}`)
  session.on('error', () => undefined)
  const streams = Array.from({ length: 90 }, (_, n) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': exportPath,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...grpcHeaders,
    })
    stream.on('error', () => undefined)
    if (n % 2 === 0) stream.write(Buffer.from([0, 0, 63, 255, 255]))
    return stream
  })
  const timer = setInterval(() => {
    for (const stream of streams) if (!stream.destroyed) stream.write(Buffer.from([0]))
  }, 100)
  void until.finally(() => {
    clearInterval(timer)
    session.destroy()
  })
}
function slowHttp(until: Promise<unknown>): void {
  const socket = connect(httpPort, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(head(`Content-Length: ${maxBodyBytes}`))
  const timer = setInterval(() => !socket.destroyed && socket.write('x'), 100)
  void until.finally(() => {
    clearInterval(timer)
    socket.destroy()
  })
}
/** HTTP/2 frames that no library sends. */
const rawFrame = (type: number, flags: number, stream: number, content: Buffer, length = content.length): Buffer => {
  const bytes = Buffer.alloc(9)
  bytes.writeUIntBE(length, 0, 3)
  bytes[3] = type
  bytes[4] = flags
  bytes.writeUInt32BE(stream, 5)
  return Buffer.concat([bytes, content])
}
const begun = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), rawFrame(4, 0, 0, Buffer.alloc(0))])
const raw: Record<string, Buffer[]> = {
  'CONTINUATION without end': [
    begun,
    rawFrame(1, 0, 1, Buffer.alloc(10, 0x40)),
    ...Array(3_000).fill(rawFrame(9, 0, 1, Buffer.alloc(8_000))),
  ],
  'a frame of 2^24 - 1': [begun, rawFrame(0, 0, 1, Buffer.alloc(1_000), 2 ** 24 - 1)],
  'settings over and over': [begun, ...Array(20_000).fill(rawFrame(4, 0, 0, Buffer.alloc(0)))],
  'pings over and over': [begun, ...Array(20_000).fill(rawFrame(6, 0, 0, Buffer.alloc(8)))],
  'no HTTP/2': [Buffer.alloc(100_000, 0x16)],
}

/** Spans of somebody else until it ends, over both; how long the longest of them took. */
async function somebodyElse(until: Promise<unknown>): Promise<{ sent: string[]; longest: number }> {
  const session = connectH2(`http://127.0.0.1:${grpcPort}`)
  let isOver = false
  void until.finally(() => {
    isOver = true
  })
  const sent: string[] = []
  let longest = 0
  for (let n = 0; !isOver; n += 2) {
    const began = performance.now()
    const own = { authorization: basicAuth(), project_id: honest }
    const [answer, response] = await Promise.all([
      callOver(session, exportPath, [framed(bodyOf(1_000_000 + n))], own),
      fetch(`http://127.0.0.1:${httpPort}/v1/traces`, {
        method: 'POST',
        body: new Uint8Array(bodyOf(1_000_001 + n)),
        headers: { ...own, 'content-type': 'application/x-protobuf' },
      }),
    ])
    expect([answer.status, response.status]).toEqual([0, 200])
    sent.push(idOf(1_000_000 + n), idOf(1_000_001 + n))
    longest = Math.max(longest, performance.now() - began)
    await new Promise((go) => setTimeout(go, 50))
  }
  session.close()
  return { sent, longest }
}

/** All of it at once, over every way; what was answered otherwise than it may be. */
async function attack(): Promise<string[]> {
  const faults: string[] = []
  const session = connectH2(`http://127.0.0.1:${grpcPort}`)
  session.on('error', (error) => faults.push(`a connection ended: ${error.message}`))
  await Promise.all([
    ...Object.entries(overHttp).map(async ([what, { send, is }]) => {
      const status = statusOf(await talk(httpPort, send, 15_000))
      if (!is.test(status) && status !== '503' && status !== '429') faults.push(`HTTP, ${what}: ${status}`)
    }),
    ...Object.entries(overGrpc).map(async ([what, { chunks, headers, is }]) => {
      const { status } = await callOver(session, exportPath, chunks, { ...grpcHeaders, ...headers })
      if (!is.includes(status) && status !== 14) faults.push(`gRPC, ${what}: ${status}`)
    }),
    ...Array.from({ length: swellingAtOneTime }, async () => {
      const headers = { ...grpcHeaders, 'grpc-encoding': 'gzip' }
      const { status } = await callOver(session, exportPath, [framed(swelling, 1)], headers)
      if (status !== 3 && status !== 14) faults.push(`gRPC, swelling: ${status}`)
      const answer = await talk(httpPort, whole(swelling, 'Content-Encoding: gzip'), 15_000)
      if (!/^(400|429|503)$/.test(statusOf(answer))) faults.push(`HTTP, swelling: ${statusOf(answer)}`)
    }),
    ...Object.values(raw).map((chunks) => talk(grpcPort, chunks)),
  ])
  session.destroy()
  return faults
}

it('senders that mean no good cost little memory, and nobody else an answer', { timeout: 600_000 }, async () => {
  const end = Promise.withResolvers<void>()
  const others = somebodyElse(end.promise)
  for (let n = 0; n < 20; n++) slowHttp(end.promise)
  for (let n = 0; n < 10; n++) slowGrpc(end.promise)
  let peak = 0
  const watching = setInterval(() => {
    peak = Math.max(peak, residentBytes())
  }, 20)
  const faults: string[] = []
  /** How far memory grows beyond what it is at the beginning. */
  const growthOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = residentBytes()
    peak = before
    await work()
    return peak - before
  }
  const attacked = async () => void faults.push(...(await attack()))
  let quiet = 0
  let loud = 0
  const large = bodyOf(5, [text('input.value', 'x'.repeat(3 * mebibyte))])
  try {
    // Threads start and heaps grow with work on bodies of the largest size, well-meant ones too; that is done once.
    for (let n = 0; n < 6; n++) expect(statusOf(await talk(httpPort, whole(large), 15_000))).toBe('200')
    for (let n = 0; n < warmRounds; n++) await attacked()
    const began = performance.now()
    loud = await growthOf(attacked)
    const tookMs = performance.now() - began
    // The engine's memory grows with the others' spans.
    quiet = await growthOf(() => new Promise((go) => setTimeout(go, tookMs)))
  } finally {
    end.resolve()
    clearInterval(watching)
  }
  const { sent, longest } = await others
  expect(faults).toEqual([])
  expect(sent.length).toBeGreaterThan(20)
  expect(longest).toBeLessThan(longestMs)
  expect(loud - quiet).toBeLessThan(memoryBound)
  const stored = await postLines<{ id: string }>(server.url, '/calls/stream_query', { project_id: honest })
  expect(stored.map(({ id }) => id).sort()).toEqual(sent.sort())
  expect(server.child.exitCode).toBeNull()
})
