// Streamed answers: JSON Lines types, back-pressure, clients that go away, sources that fail, and the end of the server.
import { connect } from 'node:net'
import { Duplex } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fault } from '../../services/core/http/errors.ts'
import { type Route, route } from '../../services/core/http/route.ts'
import { lineBuffers } from '../../services/core/memory/buffer-pool.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { annAuth, deferred, json, send, startServer, type TestServer } from '../fixtures/http-server.ts'

/** The source of the running test; each test sets it. */
let source: (signal: AbortSignal) => AsyncIterable<string | Buffer>
let slow: () => Promise<void> = async () => {}

const stream = (name: string, contentType: 'application/jsonl' | 'application/x-ndjson') =>
  route({
    name,
    method: 'GET',
    path: `/${name}`,
    right: 'read',
    summary: '',
    body: { type: 'none' },
    response: null,
    responseType: contentType,
    handle: async ({ signal }) => ({ lines: source(signal), contentType }),
  })
const routes: Route[] = [
  stream('jsonl', 'application/jsonl'),
  stream('ndjson', 'application/x-ndjson'),
  route({
    name: 'bytes',
    method: 'GET',
    path: '/bytes',
    right: 'read',
    summary: '',
    body: { type: 'none' },
    response: null,
    handle: async ({ signal }) => ({
      bytes: source(signal) as AsyncIterable<Buffer>,
      contentType: 'application/octet-stream',
    }),
  }),
  route({
    name: 'slow',
    method: 'GET',
    path: '/slow',
    right: 'read',
    summary: '',
    body: { type: 'none' },
    response: z.unknown(),
    async handle() {
      await slow()
      return { json: 'done' }
    },
  }),
]

let server: TestServer
beforeAll(async () => {
  server = await startServer(routes)
})
afterAll(() => server.stop())

async function* lines(...all: string[]) {
  yield* all
}
const head = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${annAuth}\r\n${more}\r\n`

describe('JSON Lines', () => {
  it('negotiates between its two types', async () => {
    source = () => lines('{"a":1}\n', '{"a":2}\n')
    const typeOf = async (path: string, accept?: string) =>
      (await send(server.port, path, { headers: accept === undefined ? {} : { accept } })).headers['content-type']
    expect(await typeOf('/jsonl')).toBe('application/jsonl')
    expect(await typeOf('/ndjson')).toBe('application/x-ndjson')
    expect(await typeOf('/jsonl', 'application/x-ndjson, */*')).toBe('application/x-ndjson')
    expect(await typeOf('/ndjson', 'Application/JSONL')).toBe('application/jsonl')
    expect(await typeOf('/ndjson', 'application/jsonl, application/x-ndjson')).toBe('application/x-ndjson')
    expect(await typeOf('/jsonl', 'application/json')).toBe('application/jsonl')
  })
  it('writes the lines as they are, uncompressed, and nothing for nothing', async () => {
    source = () => lines('{"a":1}\n', '', `{"b":"${'x'.repeat(3000)}"}\n`)
    const answer = await send(server.port, '/jsonl', { headers: { 'accept-encoding': 'gzip' } })
    expect([answer.status, answer.text]).toEqual([200, `{"a":1}\n{"b":"${'x'.repeat(3000)}"}\n`])
    source = () => lines()
    const empty = await send(server.port, '/jsonl')
    expect([empty.status, empty.text, empty.headers['content-type']]).toEqual([200, '', 'application/jsonl'])
  })
  it('writes from buffers that are used again once the socket has taken them, and not before', async () => {
    const size = 2 ** 20
    const chunks = [...'abcdefgh']
    const used: ArrayBufferLike[] = []
    source = async function* () {
      for (const letter of chunks) {
        const buffer = lineBuffers.take(size).fill(letter)
        used.push(buffer.buffer)
        yield buffer
      }
    }
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(server.port, '/jsonl')))
    const whole = chunks.map((letter) => letter.repeat(size)).join('')
    expect(answers.map(({ text }) => text === whole)).toEqual([true, true, true, true])
    expect(new Set(used).size).toBeLessThan(used.length)
  })
  it('starts no source for HEAD', async () => {
    let started = false
    source = async function* () {
      started = true
      yield 'x\n'
    }
    const answer = await send(server.port, '/jsonl', { method: 'HEAD' })
    expect([answer.status, answer.headers['content-type'], started]).toEqual([200, 'application/jsonl', false])
  })
  it('answers a fault before the first line normally', async () => {
    source = async function* () {
      throw fault(404, 'gone')
      // biome-ignore lint/correctness/noUnreachable: makes the type of the source
      yield ''
    }
    const answer = await send(server.port, '/jsonl')
    expect([answer.status, json(answer)]).toEqual([404, { reason: 'gone' }])
  })
  it('breaks the answer off when the source fails after the first line', async () => {
    for (const path of ['/jsonl', '/bytes']) {
      source = async function* () {
        yield '{"a":1}\n'
        throw new Error('lost')
      }
      const id = `broken-${path.slice(1)}`
      await expect(send(server.port, path, { headers: { 'x-request-id': id } })).rejects.toThrow(/aborted|hang up/)
      expect(server.lines.find((line) => line.request === id && line.msg === 'answer broken off')).toBeDefined()
    }
  })
})

describe('clients that go away or are slow', () => {
  it('aborts the signal and returns the source while it waits for the next line', async () => {
    const aborted = deferred<unknown>()
    const returned = deferred()
    const waits = deferred()
    source = async function* (signal) {
      try {
        yield '{"a":1}\n'
        waits.resolve()
        await new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => {
            aborted.resolve(signal.reason)
            resolve()
          }),
        )
        yield '{"a":2}\n'
      } finally {
        returned.resolve()
      }
    }
    const socket = connect(server.port, '127.0.0.1', () => socket.write(head('/jsonl')))
    await waits.promise
    socket.destroy()
    expect(await aborted.promise).toBeInstanceOf(Error)
    await returned.promise
  })
  it('returns a source that has its next line ready but no one to take it', async () => {
    const returned = deferred<number>()
    let pulled = 0
    const line = Buffer.from(`${JSON.stringify('x'.repeat(65_536))}\n`)
    source = async function* () {
      try {
        for (;;) {
          pulled++
          yield line
        }
      } finally {
        returned.resolve(pulled)
      }
    }
    const full = deferred()
    // A connection that takes nothing: what is written first is never done.
    const connection = new Duplex({ read() {}, write: () => full.resolve() })
    server.server.emit('connection', connection)
    connection.push(head('/jsonl'))
    await full.promise
    connection.destroy()
    expect(await returned.promise).toBeLessThan(3)
  })
  it('delivers everything to a slow reader', async () => {
    const line = `${JSON.stringify('y'.repeat(100_000))}\n`
    source = () => lines(...new Array<string>(100).fill(line))
    const answer = await send(server.port, '/jsonl')
    expect(answer.bytes.length).toBe(100 * line.length)
  })
  it('logs 499 for a client that went away before its answer', async () => {
    const began = deferred()
    const finish = deferred()
    slow = () => {
      began.resolve()
      return finish.promise
    }
    const socket = connect(server.port, '127.0.0.1', () => socket.write(head('/slow', 'X-Request-Id: left\r\n')))
    await began.promise
    socket.destroy()
    await expectSoon(() => server.lines.find((line) => line.request === 'left')).toMatchObject({ status: 499 })
    finish.resolve()
  })
})

describe('the end of the server', () => {
  it('finishes requests in flight, refuses new ones, and cuts what takes too long', async () => {
    const own = await startServer(routes)
    const began = deferred()
    const finish = deferred()
    slow = () => {
      began.resolve()
      return finish.promise
    }
    const inFlight = send(own.port, '/slow')
    await began.promise
    own.shuttingDown()
    const late = await send(own.port, '/slow')
    expect([late.status, late.headers['retry-after'], late.headers.connection]).toEqual([503, '1', 'close'])
    const closed = own.close(10_000)
    await expect(send(own.port, '/slow')).rejects.toThrow()
    finish.resolve()
    expect((await inFlight).status).toBe(200)
    expect(await closed).toBe(true)
    await own.stop()
  })
  it('cuts requests that outlast the limit', async () => {
    const own = await startServer(routes)
    const began = deferred()
    slow = () => {
      began.resolve()
      return new Promise(() => {})
    }
    const inFlight = send(own.port, '/slow').then(
      () => 'answered',
      () => 'cut',
    )
    await began.promise
    expect(await own.close(1)).toBe(false)
    expect(await inFlight).toBe('cut')
    await own.stop()
  })
})
