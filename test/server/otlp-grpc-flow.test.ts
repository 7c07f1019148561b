// The gRPC port and senders of more than there is room for: bytes stay with the sender until there is, metadata have a
// bound, and whoever floods with frames loses the connection, and nobody else.
import { type ClientHttp2Session, connect as connectH2, constants } from 'node:http2'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { GrpcServer } from '../../services/core/grpc/server.ts'
import type { ByteLease } from '../../services/core/http/limits.ts'
import { createOtelGrpcMethods } from '../../services/ingest/otel/grpc.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { givenClock } from '../fixtures/given-clock.ts'
import { callOver, exportPath, framed, grpcBeside } from '../fixtures/grpc.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, text } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'

const mebibyte = 2 ** 20
const inflightBytes = 32 * mebibyte
const streamWindow = mebibyte
/** Calls that may each send a whole window. */
const maxWaiting = 32
/** Between two looks of a call whether there is room, and longer than one waits. */
const [recheckMs, longestWaitMs] = [20, 2_001]

let server: LiveServer
beforeAll(async () => {
  const bounds = ['--max-body-bytes', String(4 * mebibyte), '--max-inflight-bytes', String(inflightBytes)]
  server = await startLiveServer(['--otlp-grpc-port', '0', ...bounds])
})
afterAll(async () => {
  await server?.remove()
})
const port = () => Number(server.now().otlp?.grpc?.split(':').at(-1))
const sessions: ClientHttp2Session[] = []
afterEach(() => {
  for (const session of sessions.splice(0)) session.destroy()
})
function sessionTo(to: number): ClientHttp2Session {
  const session = connectH2(`http://127.0.0.1:${to}`)
  session.on('error', () => undefined)
  sessions.push(session)
  return session
}
const pingOver = (session: ClientHttp2Session) =>
  new Promise<void>((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())))
const bodyOf = (n: number, more: object[] = []) =>
  Buffer.from(encodeRequest(aRequest([aSpan({ spanId: n.toString(16).padStart(16, 'b'), attributes: more })])))
const call = (on: ClientHttp2Session, body: Buffer, headers: Record<string, string> = {}) =>
  callOver(on, exportPath, [framed(body)], { authorization: basicAuth(), project_id: 'acme/flow', ...headers })

/** A way to a port that counts the bytes which it takes. */
async function countedWay(target: number): Promise<{ port: number; taken(): number; close(): void }> {
  let taken = 0
  const open = new Set<Socket>()
  const way = createServer((from) => {
    const to = connect(target, '127.0.0.1')
    for (const socket of [from, to]) open.add(socket.on('error', () => undefined))
    from.on('data', (chunk) => {
      from.pause()
      to.write(chunk, () => {
        taken += chunk.length
        from.resume()
      })
    })
    to.pipe(from)
    from.on('close', () => to.destroy())
  })
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve))
  return {
    port: (way.address() as AddressInfo).port,
    taken: () => taken,
    close() {
      way.close()
      for (const socket of open) socket.destroy()
    },
  }
}

describe('while there is no room for bodies', () => {
  const large = [text('input.value', 'x'.repeat(3 * mebibyte))]
  const clock = givenClock()
  let fill: ByteLease
  let grpc: GrpcServer
  let ownPort: number
  beforeEach(async () => {
    const { http } = server.now()
    const isShuttingDown = () => false
    const methods = createOtelGrpcMethods({ routes: http.routes, isShuttingDown })
    grpc = grpcBeside(server.now(), { methods, clock, maxBodyBytes: 4 * mebibyte })
    ownPort = await grpc.listen(0, '127.0.0.1')
    fill = http.shared.budget.lease({})
    fill.take(inflightBytes)
  })
  afterEach(async () => {
    fill.release()
    for (const session of sessions.splice(0)) session.destroy()
    clock.pass(longestWaitMs)
    await eventually(() => expect(server.now().http.shared.budget.heldBytes()).toBe(0))
    await grpc.close(60_000)
  })
  const stored = async (project_id: string) =>
    (await server.list('/calls/stream_query', { project_id, columns: ['id'] })).length

  it('the bytes of a call stay with the sender but for its window, and come once there is', async () => {
    const way = await countedWay(ownPort)
    try {
      const session = sessionTo(way.port)
      const pending = call(session, bodyOf(1, large), { project_id: 'acme/blocked' })
      await eventually(() => expect([clock.waiting(), way.taken() > streamWindow]).toEqual([1, true]))
      // The window that the server opened before it answers a ping is used before the next ping is answered.
      for (let looks = 0; looks < 10; looks++) {
        clock.pass(recheckMs)
        await pingOver(session)
        await eventually(() => expect(clock.waiting()).toBe(1))
      }
      expect(way.taken()).toBeLessThan(streamWindow * 1.02 + 65_536)
      fill.release()
      clock.pass(recheckMs)
      expect((await pending).status).toBe(0)
      expect(way.taken()).toBeGreaterThan(3 * mebibyte)
      expect(await stored('acme/blocked')).toBe(1)
    } finally {
      way.close()
    }
  })

  it('as many calls wait as memory is set aside for; those beyond are refused at once, and another connection waits too', async () => {
    /** Says that it is long, and does not come on. */
    const begin = (on: ClientHttp2Session) => {
      const stream = on.request({
        ':method': 'POST',
        ':path': exportPath,
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: basicAuth(),
        project_id: 'acme/crowd',
      })
      let status: string | undefined
      stream
        .on('error', () => undefined)
        .on('response', (headers) => {
          status = headers['grpc-status'] as string
        })
      stream.write(framed(Buffer.alloc(3 * mebibyte)).subarray(0, 10))
      return () => status
    }
    const crowded = sessionTo(ownPort)
    const crowd = Array.from({ length: 60 }, () => begin(crowded))
    const refused = () => crowd.filter((status) => status() === '14').length
    await eventually(() => expect(refused() + clock.waiting()).toBe(crowd.length))
    const waiting = clock.waiting()
    expect(waiting).toBeLessThanOrEqual(maxWaiting)
    expect(waiting).toBeGreaterThan(maxWaiting / 2)
    const beside = begin(sessionTo(ownPort))
    await eventually(() => expect(clock.waiting()).toBe(waiting + 1))
    clock.pass(longestWaitMs)
    await eventually(() => expect([refused(), beside()]).toEqual([crowd.length, '14']))
    fill.release()
    expect((await call(sessionTo(ownPort), bodyOf(9), { project_id: 'acme/crowd' })).status).toBe(0)
    expect(await stored('acme/crowd')).toBe(1)
  })
})

describe('metadata', () => {
  /** Bytes that HTTP/2 counts for a header beside its name and value (RFC 9113, 6.5.2). */
  const overhead = 32
  const sizeOf = (headers: Record<string, string>) =>
    Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + overhead, 0)
  const own = (): Record<string, string> => ({
    ':authority': `127.0.0.1:${port()}`,
    ':method': 'POST',
    ':path': exportPath,
    ':scheme': 'http',
    authorization: basicAuth(),
    project_id: 'acme/meta',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  const filledTo = (bytes: number) => 'y'.repeat(bytes - sizeOf(own()) - 'x-fill'.length - overhead)

  it('of 16 KiB are taken, and one byte more ends the call alone', async () => {
    const session = sessionTo(port())
    const send = (bytes: number, n: number) =>
      call(session, bodyOf(n), { project_id: 'acme/meta', 'x-fill': filledTo(bytes) })
    expect((await send(16 * 1024, 1)).status).toBe(0)
    await expect(send(16 * 1024 + 1, 2)).rejects.toThrow()
    expect((await send(16 * 1024, 3)).status).toBe(0)
    const rows = await server.list('/calls/stream_query', { project_id: 'acme/meta' })
    expect(rows).toHaveLength(2)
  })
})

/** HTTP/2 frames that no library sends. */
const frame = (type: number, flags: number, stream: number, content: Buffer): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(content.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, content])
}
const [data, headersFrame, reset, settings, ping, continuation] = [0, 1, 3, 4, 6, 9] as const
const endHeaders = 4
const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(settings, 0, 0, Buffer.alloc(0))])

/** Fields as they are without any compression (RFC 7541, 6.2.2), lengths below 127. */
const fields = (all: Record<string, string | Buffer>): Buffer =>
  Buffer.concat(
    Object.entries(all).flatMap(([name, value]) => {
      const bytes = Buffer.from(value as string, 'latin1')
      return [Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([bytes.length]), bytes]
    }),
  )
const grpcFields = (more: Record<string, string | Buffer> = {}) =>
  fields({
    ':method': 'POST',
    ':scheme': 'http',
    ':path': exportPath,
    ':authority': 'localhost',
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: basicAuth(),
    ...more,
  })

/** The code of the GOAWAY in what a server sent; undefined when there is none. */
function goawayIn(all: Buffer): number | undefined {
  for (let at = 0; at + 17 <= all.length; at += 9 + all.readUIntBE(at, 3))
    if (all[at + 3] === 7) return all.readUInt32BE(at + 13)
  return undefined
}

/** Sends, and reads what comes, until the server ends the connection or is silent for so long. */
function flood(chunks: Iterable<Buffer>): Promise<{ isEnded: boolean; goaway: number | undefined }> {
  return new Promise((resolve) => {
    const received: Buffer[] = []
    const socket = connect(port(), '127.0.0.1')
    let isEnded = true
    socket.on('data', (chunk) => received.push(chunk)).on('error', () => undefined)
    socket.on('close', () => resolve({ isEnded, goaway: goawayIn(Buffer.concat(received)) }))
    socket.setTimeout(60_000, () => {
      isEnded = false
      socket.destroy()
    })
    void (async () => {
      for (const chunk of chunks) {
        if (socket.destroyed) return
        if (!socket.write(chunk)) await new Promise((go) => socket.once('drain', go).once('close', go))
      }
    })()
  })
}
function* times(n: number, one: (i: number) => Buffer, before: Buffer = Buffer.alloc(0)): Generator<Buffer> {
  yield Buffer.concat([preface, before])
  const together = 100
  for (let i = 0; i < n; i += together) yield Buffer.concat(Array.from({ length: together }, (_, k) => one(i + k)))
}

describe('a connection that floods is ended, and nobody else is', () => {
  const opened = frame(headersFrame, endHeaders, 1, grpcFields())
  const begun = frame(headersFrame, 0, 1, grpcFields())
  const count = 200_000
  const [internal, calm] = [constants.NGHTTP2_INTERNAL_ERROR, constants.NGHTTP2_ENHANCE_YOUR_CALM]
  it.each<[string, number, () => Iterable<Buffer>]>([
    ['pings', internal, () => times(count, () => frame(ping, 0, 0, Buffer.alloc(8)))],
    ['settings', internal, () => times(count, () => frame(settings, 0, 0, Buffer.alloc(0)))],
    ['parts of one head', internal, () => times(count, () => frame(continuation, 0, 1, Buffer.alloc(0)), begun)],
    ['empty pieces of a message', internal, () => times(count, () => frame(data, 0, 1, Buffer.alloc(0)), opened)],
    [
      'calls that it takes back',
      calm,
      () =>
        times(count, (n) => {
          const head = frame(headersFrame, endHeaders, 2 * n + 1, grpcFields())
          return Buffer.concat([head, frame(reset, 0, 2 * n + 1, Buffer.from([0, 0, 0, 8]))])
        }),
    ],
  ])('%s', async (_, code, chunks) => {
    const beside = sessionTo(port())
    expect(await flood(chunks())).toEqual({ isEnded: true, goaway: code })
    expect((await call(beside, bodyOf(1))).status).toBe(0)
  })
})

describe('a header value with a control byte', () => {
  it.each(['\u0001', '\n', '\r\nproject_id: acme/other', '\u0000', '\u007f'])('%j counts as none', async (bad) => {
    const session = sessionTo(port())
    // The call ends, as one without a project or as a whole.
    const ended = await call(session, bodyOf(50), { project_id: `acme/control${bad}` }).catch(() => undefined)
    if (ended !== undefined) expect(ended).toMatchObject({ status: 3, message: expect.stringMatching(/^No project: /) })
    expect((await call(session, bodyOf(52), { project_id: 'acme/beside' })).status).toBe(0)
    expect(await server.list('/calls/stream_query', { project_id: 'acme/other' })).toEqual([])
    expect(await server.list('/calls/stream_query', { project_id: 'acme/control' })).toEqual([])
  })
})
