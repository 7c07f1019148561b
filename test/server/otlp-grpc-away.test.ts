// tier: deep slow
// OTLP over gRPC while something is away: the log, the keys, the server itself, the sender's patience. What may be sent
// again is answered so, with a time, and what was begun is stored.
import { type ClientHttp2Session, connect as connectH2, constants } from 'node:http2'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openSharedDirectory } from '../../services/core/directory/shared.ts'
import type { GrpcServerDeps } from '../../services/core/grpc/server.ts'
import { createAuthenticate } from '../../services/core/http/auth.ts'
import { createKeys } from '../../services/core/http/keys.ts'
import type { Log } from '../../services/core/log/log.ts'
import { createOtelGrpcMethods } from '../../services/ingest/otel/grpc.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { eventually, expectSoon } from '../fixtures/eventually.ts'
import { givenClock } from '../fixtures/given-clock.ts'
import { callOver, exportPath, framed, grpcBeside, retrySeconds } from '../fixtures/grpc.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'

const healthPath = '/grpc.health.v1.Health/Check'
let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer(['--otlp-grpc-port', '0'])
})
afterAll(async () => {
  await server?.remove()
})
const sessions: ClientHttp2Session[] = []
afterEach(() => {
  vi.restoreAllMocks()
  for (const session of sessions.splice(0)) session.destroy()
})
function sessionTo(address: string): ClientHttp2Session {
  const session = connectH2(`http://${address}`)
  session.on('error', () => undefined)
  sessions.push(session)
  return session
}
const toServer = () => sessionTo(server.now().otlp?.grpc as string)

const call = (on: ClientHttp2Session, n: number, headers: Record<string, string> = {}, path = exportPath) => {
  const span = aSpan({ spanId: (0xb0000000n + BigInt(n)).toString(16).padStart(16, '0') })
  const all = { authorization: basicAuth(), project_id: 'acme/away', ...headers }
  return callOver(on, path, [framed(encodeRequest(aRequest([span])))], all)
}
const ids = async (project: string) =>
  (await server.list<{ id: string }>('/calls/stream_query', { project_id: project })).map(({ id }) => id)

/** Holds appends of calls back at the door of the log from now on. */
function holdAppends(): { begun: Promise<void>; release(): void } {
  const { log } = server.now()
  const append = log.append.bind(log)
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  vi.spyOn(log, 'append').mockImplementation(async (...given: Parameters<Log['append']>) => {
    if (given[0] === 'calls') {
      begun.resolve()
      await gate.promise
    }
    return append(...given)
  })
  return { begun: begun.promise, release: () => gate.resolve() }
}

const closeLimitMs = 60_000
/** The same methods on a port of its own. */
async function listenBeside(own: Partial<GrpcServerDeps>) {
  const { isShuttingDown = () => false } = own
  const methods = createOtelGrpcMethods({ routes: server.now().http.routes, isShuttingDown })
  const grpc = grpcBeside(server.now(), { methods, ...own })
  const session = sessionTo(`127.0.0.1:${await grpc.listen(0, '127.0.0.1')}`)
  const end = async () => {
    session.close()
    expect(await grpc.close(closeLimitMs)).toBe(true)
  }
  return { session, end }
}

describe('a deadline that passes', () => {
  it('after the append began is told, and the append goes on: the spans are there', async () => {
    const held = holdAppends()
    const clock = givenClock()
    const { session, end } = await listenBeside({ clock })
    const answer = call(session, 1, { project_id: 'acme/late', 'grpc-timeout': '500m' })
    await held.begun
    clock.pass(500)
    expect(await answer).toMatchObject({ http: 200, status: 4 })
    expect(retrySeconds(await answer)).toBeUndefined()
    expect(await ids('acme/late')).toEqual([])
    held.release()
    await expectSoon(() => ids('acme/late')).toEqual([expect.stringContaining('b0000001')])
    await end()
  })

  it('in the middle of the message ends the call, and nothing of it is stored', async () => {
    const clock = givenClock()
    const { session, end } = await listenBeside({ clock })
    const { budget } = server.now().http.shared
    const body = framed(encodeRequest(aRequest([aSpan({})])))
    const answered = new Promise((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': exportPath,
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: basicAuth(),
        project_id: 'acme/half',
        'grpc-timeout': '300m',
      })
      stream.on('response', (headers) => resolve(headers['grpc-status'])).on('error', reject)
      stream.write(body.subarray(0, 20))
    })
    await eventually(() => expect(budget.heldBytes()).toBe(20))
    clock.pass(300)
    expect(await answered).toBe('4')
    expect((await call(session, 2, { project_id: 'acme/half' })).status).toBe(0)
    expect(await ids('acme/half')).toEqual([expect.stringContaining('b0000002')])
    await eventually(() => expect(budget.heldBytes()).toBe(0))
    await end()
  })

  it('of a client that goes away after the append began keeps nothing back either', async () => {
    const held = holdAppends()
    const session = toServer()
    const gone = call(session, 3, { project_id: 'acme/gone' }).catch(() => undefined)
    await held.begun
    session.destroy()
    await gone
    held.release()
    await expectSoon(() => ids('acme/gone')).toEqual([expect.stringContaining('b0000003')])
  })
})

it('a log that takes nothing: unavailable with a time, and taken once it does again', async () => {
  const { minFreeBytes } = server.config
  // No disk has so much.
  Object.assign(server.config, { minFreeBytes: 2 ** 52 })
  await server.restart()
  try {
    const answer = await call(toServer(), 1)
    expect(answer).toMatchObject({ http: 200, status: 14, message: expect.stringContaining('Disk space is low') })
    expect(retrySeconds(answer)).toBeGreaterThanOrEqual(1)
    expect(retrySeconds(answer)).toBeLessThanOrEqual(30)
    expect(await ids('acme/away')).toEqual([])
  } finally {
    Object.assign(server.config, { minFreeBytes })
    await server.restart()
  }
  expect((await call(toServer(), 1)).status).toBe(0)
  expect(await ids('acme/away')).toEqual([expect.stringContaining('b0000001')])
})

describe('keys', () => {
  it('that cannot be known are unavailable with a time, not unknown; those that can be go on', async () => {
    let isAway = false
    let nowMs = 0
    const failed = Promise.withResolvers<void>()
    const directory = await openSharedDirectory({
      staleMs: 1_000,
      now: () => nowMs,
      pauseMs: 5,
      log: {
        append: async () => 0,
        ends: async () => ({ first: 0, next: 0 }),
        close: async () => undefined,
        async read() {
          await new Promise((resolve) => setTimeout(resolve, 5))
          if (isAway) {
            failed.resolve()
            throw new Error('nobody answers')
          }
          return { records: [], next: 0 }
        },
      },
    })
    const keys = createKeys(directory, { configured: ['tester:test-key'], arrives: directory.arrives })
    const { session, end } = await listenBeside({ authenticate: createAuthenticate(keys, []) })
    const status = async (authorization: string) => (await call(session, 4, { authorization })).status
    expect(await status('Bearer somebody')).toBe(16)
    isAway = true
    // No read that began before is still to come.
    await failed.promise
    nowMs = 1_001
    const answer = await call(session, 5, { authorization: 'Bearer somebody' })
    expect(answer).toMatchObject({ status: 14, message: 'Keys cannot be verified at the moment' })
    // As many as the answer over HTTP says.
    expect(retrySeconds(answer)).toBe(2)
    expect(await status(basicAuth())).toBe(0)
    isAway = false
    await expectSoon(() => status('Bearer somebody')).toBe(16)
    await end()
    await directory.close()
  })
})

describe('a server that ends', () => {
  it('is gone for connections that it had, and for new ones', async () => {
    const address = server.now().otlp?.grpc as string
    const session = sessionTo(address)
    expect((await call(session, 8)).status).toBe(0)
    await server.restart()
    await expect(call(session, 9)).rejects.toThrow()
    await expect(call(sessionTo(address), 10)).rejects.toThrow('ECONNREFUSED')
  })

  it('answers calls that come before its goodbye as unavailable with a time, and probes with NOT_SERVING', async () => {
    let isShuttingDown = false
    const { session, end } = await listenBeside({ isShuttingDown: () => isShuttingDown })
    const probe = async () => {
      const answer = await callOver(session, healthPath, [framed(Buffer.alloc(0))], {})
      return [answer.status, ...answer.bytes.subarray(5)]
    }
    expect([(await call(session, 6, { project_id: 'acme/ending' })).status, await probe()]).toEqual([0, [0, 8, 1]])
    isShuttingDown = true
    const answer = await call(session, 7, { project_id: 'acme/ending' })
    expect(answer).toMatchObject({ http: 200, status: 14, message: 'Server is shutting down' })
    expect(retrySeconds(answer)).toBe(1)
    expect(await probe()).toEqual([0, 8, 2])
    expect(await ids('acme/ending')).toEqual([expect.stringContaining('b0000006')])
    await end()
  })

  it('lets a call in flight end, while new ones on its connection and new connections are refused', async () => {
    const slow = Promise.withResolvers<{ message: Buffer }>()
    const called = Promise.withResolvers<void>()
    const answer = () => {
      called.resolve()
      return slow.promise
    }
    const grpc = grpcBeside(server.now(), { methods: { '/a.B/Slow': { name: 'slow', answer } } })
    const address = `127.0.0.1:${await grpc.listen(0, '127.0.0.1')}`
    const session = sessionTo(address)
    const pending = callOver(session, '/a.B/Slow', [framed(Buffer.alloc(0))], {})
    await called.promise
    const goodbye = new Promise<number>((resolve) => session.once('goaway', resolve))
    const closing = grpc.close(closeLimitMs)
    expect(await goodbye).toBe(constants.NGHTTP2_NO_ERROR)
    await expect(callOver(session, '/a.B/Slow', [framed(Buffer.alloc(0))], {})).rejects.toThrow('GOAWAY')
    await expect(callOver(sessionTo(address), '/a.B/Slow', [], {})).rejects.toThrow('ECONNREFUSED')
    slow.resolve({ message: Buffer.from('x') })
    expect((await pending).status).toBe(0)
    expect(await closing).toBe(true)
  })
})
