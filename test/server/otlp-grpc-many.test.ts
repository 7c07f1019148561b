// tier: deep slow
// The gRPC port with many connections and streams, silent ones, and faults of the server.
import { type ClientHttp2Session, connect as connectH2, constants } from 'node:http2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Logger } from '../../services/core/process/logger.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { callOver, exportPath, framed, grpcBeside } from '../fixtures/grpc.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'

let server: LiveServer
let session: ClientHttp2Session
const port = () => Number(server.now().otlp?.grpc?.split(':').at(-1))

beforeAll(async () => {
  server = await startLiveServer(['--otlp-grpc-port', '0'])
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
const requestOf = (n: number): Uint8Array =>
  encodeRequest(
    aRequest([aSpan({ spanId: (0xb0000000n + BigInt(n)).toString(16).padStart(16, '0'), name: `span ${n}` })]),
  )
const rows = (project: string) => server.list<{ id: string }>('/calls/stream_query', { project_id: project })

const grpcWith = (own: Parameters<typeof grpcBeside>[1]) => grpcBeside(server.now(), own)

describe('many at one time', () => {
  it('a hundred calls on one connection are all taken, each as its own', async () => {
    const before = (await rows('acme/streams')).length
    const calls = Array.from({ length: 100 }, (_, n) =>
      call([framed(requestOf(1_000 + n))], { project_id: 'acme/streams' }),
    )
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([0]))
    expect([before, (await rows('acme/streams')).length]).toEqual([0, 100])
  })

  it('hundreds of connections each have a call taken, also beside silent ones', async () => {
    const connections: ClientHttp2Session[] = []
    let cut = 0
    const open = (count: number): ClientHttp2Session[] => {
      const opened = Array.from({ length: count }, () => connectH2(`http://127.0.0.1:${port()}`))
      for (const one of opened) one.on('error', () => cut++)
      connections.push(...opened)
      return opened
    }
    try {
      const calls = open(950).map((on, n) =>
        call([framed(requestOf(2_000 + n))], { project_id: 'acme/connections' }, exportPath, on),
      )
      expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([0]))
      // Where there is room for all, nobody is cut off; where there is none: server/strangers.
      open(100)
      expect((await call([framed(requestOf(5_000))], { project_id: 'acme/connections' })).status).toBe(0)
      expect((await rows('acme/connections')).length).toBe(951)
      expect(cut).toBe(0)
    } finally {
      for (const connection of connections) connection.destroy()
    }
  })
})

it('a connection that says nothing for long is closed in order, and one that goes on is not', async () => {
  const grpc = grpcWith({
    methods: { '/a.B/Echo': { name: 'echo', answer: async () => ({ message: Buffer.from('x') }) } },
    idleMs: 1_000,
  })
  const own = await grpc.listen(0, '127.0.0.1')
  const [silent, busy] = [connectH2(`http://127.0.0.1:${own}`), connectH2(`http://127.0.0.1:${own}`)]
  const ask = (on: ClientHttp2Session) => call([framed(Buffer.alloc(0))], {}, '/a.B/Echo', on)
  expect((await ask(silent)).status).toBe(0)
  let isOpen = true
  silent.once('close', () => {
    isOpen = false
  })
  const goaway = new Promise<number>((resolve) => silent.once('goaway', resolve))
  while (isOpen) expect((await ask(busy)).status).toBe(0)
  expect(await goaway).toBe(constants.NGHTTP2_NO_ERROR)
  expect((await ask(busy)).status).toBe(0)
  busy.close()
  expect(await grpc.close(10_000)).toBe(true)
})

it('a fault of the server itself is told as internal, without what it was, and is logged', async () => {
  const logged: unknown[] = []
  const log = {
    warn() {},
    info() {},
    debug() {},
    error: (...line: unknown[]) => logged.push(...line),
  } as unknown as Logger
  const grpc = grpcWith({
    methods: { '/a.B/Broken': { name: 'broken', answer: () => Promise.reject(new Error('the secret inside')) } },
    log,
  })
  const own = connectH2(`http://127.0.0.1:${await grpc.listen(0, '127.0.0.1')}`)
  const { status, message } = await call([framed(Buffer.alloc(0))], {}, '/a.B/Broken', own)
  expect(status).toBe(13)
  expect(message).not.toContain('secret')
  expect(JSON.stringify(logged, (_, value) => (value instanceof Error ? value.message : value))).toContain(
    'secret inside',
  )
  own.close()
  expect(await grpc.close(10_000)).toBe(true)
})
