// Content encodings of requests and answers, and what errors turn into.
import { randomUUID } from 'node:crypto'
import { brotliCompressSync, deflateRawSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { json, send, sendRaw, startServer, type TestServer } from '../fixtures/http-server.ts'
import { routes } from './http-routes.ts'

let server: TestServer
/** Lines of the log quote paths of the checkout: a key whose text can stand in none of them. */
const keyText = `key-${randomUUID()}`
beforeAll(async () => {
  server = await startServer(routes, [
    '--max-body-bytes',
    '1048576',
    '--max-file-bytes',
    '2097152',
    '--keys',
    `ann:secret,ann:${keyText}`,
  ])
})
afterAll(() => server.stop())

const post = (path: string, body: Buffer | string | (Buffer | string)[], headers: Record<string, string> = {}) =>
  send(server.port, path, { body, headers })

describe('content encodings', () => {
  const body = JSON.stringify({ name: 'a'.repeat(2000) })
  const status = async (packed: Buffer, encoding: string, path = '/item') =>
    (await post(path, packed, { 'content-encoding': encoding })).status

  it('inflates gzip, deflate in both forms, and brotli', async () => {
    expect(await status(gzipSync(body), 'gzip')).toBe(200)
    expect(await status(gzipSync(body), 'GZIP')).toBe(200)
    expect(await status(deflateSync(body), 'deflate')).toBe(200)
    expect(await status(deflateRawSync(body), 'deflate')).toBe(200)
    expect(await status(brotliCompressSync(body), 'br')).toBe(200)
    expect(await status(Buffer.from(body), 'identity')).toBe(200)
  })
  it('refuses other codings with 415 and broken data with 400', async () => {
    expect(await status(Buffer.from(body), 'zstd')).toBe(415)
    expect(await status(gzipSync(gzipSync(body)), 'gzip, gzip')).toBe(415)
    for (const encoding of ['gzip', 'deflate', 'br']) expect(await status(Buffer.from(body), encoding)).toBe(400)
    expect(await status(gzipSync(body).subarray(0, -10), 'gzip')).toBe(400)
  })
  it('stops bombs at the limit', async () => {
    const bomb = Buffer.alloc(16 * 1024 * 1024, 0x20)
    expect(await status(gzipSync(bomb), 'gzip')).toBe(413)
    expect(await status(deflateSync(bomb), 'deflate')).toBe(413)
    expect(await status(brotliCompressSync(bomb), 'br')).toBe(413)
    expect(await status(gzipSync(bomb), 'gzip', '/raw')).toBe(413)
    const upload = { 'content-encoding': 'gzip', 'content-type': 'multipart/form-data' }
    expect((await post('/upload', gzipSync(bomb), upload)).status).toBe(413)
  })
  it('gives raw routes the inflated bytes', async () => {
    const answer = await post('/raw', gzipSync('abc'), { 'content-encoding': 'gzip' })
    expect([answer.status, answer.text]).toEqual([200, 'abc'])
    expect((await post('/raw', 'abc', { 'content-type': 'text/plain' })).status).toBe(415)
  })
  it('streams uploads, inflated', async () => {
    const type = { 'content-type': 'multipart/form-data; boundary=x' }
    expect(json(await post('/upload', [Buffer.alloc(100_000), Buffer.alloc(7)], type))).toEqual({ bytes: 100_007 })
    const packed = await post('/upload', gzipSync('abc'), { ...type, 'content-encoding': 'gzip' })
    expect(json(packed)).toEqual({ bytes: 3 })
    expect((await post('/upload', Buffer.alloc(4 * 1024 * 1024), type)).status).toBe(413)
    expect((await post('/upload', 'x', {})).status).toBe(415)
  })
  it('compresses JSON above 1 KiB for those who accept it', async () => {
    const ask = (accept: string) => send(server.port, '/big', { headers: { 'accept-encoding': accept } })
    const packed = await ask('deflate, gzip;q=0.5')
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(packed.headers['x-callhouse-position']).toBe('calls=1')
    expect(JSON.parse(gunzipSync(packed.bytes).toString())).toEqual({ text: 'x'.repeat(5000) })
    for (const accept of ['identity', 'gzip;q=0', 'br']) {
      const plain = await ask(accept)
      expect([accept, plain.headers['content-encoding'], plain.headers.vary]).toEqual([
        accept,
        undefined,
        'Accept-Encoding',
      ])
    }
    const small = await send(server.port, '/things/query', { headers: { 'accept-encoding': 'gzip' } })
    expect(small.headers['content-encoding']).toBeUndefined()
  })
  it('says "continue" only to those whose request will be read', async () => {
    const head = (path: string, auth: string) =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${auth}Expect: 100-continue\r\nContent-Length: 12\r\n`
    const auth = 'Authorization: Bearer secret\r\n'
    const close = 'Connection: close\r\n\r\n'
    const accepted = await sendRaw(server.port, `${head('/item', auth)}${close}{"name":"a"}`)
    expect(accepted).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/)
    expect(await sendRaw(server.port, `${head('/item', '')}\r\n`)).toMatch(/^HTTP\/1.1 401 /)
  })
})

describe('faults', () => {
  const failing = async (how: string) => {
    const answer = await send(server.port, `/fail/${how}`)
    return [answer.status, json(answer), answer.headers['retry-after']]
  }
  it('maps errors of the store, and hides everything unexpected', async () => {
    expect(await failing('timeout')).toEqual([504, { reason: 'Query took too long' }, undefined])
    expect(await failing('memory')).toEqual([502, { reason: 'Query needed too much memory' }, undefined])
    expect(await failing('outage')).toEqual([502, { reason: 'Database is not available' }, undefined])
    expect(await failing('crowd')).toEqual([503, { reason: 'Too many queries are waiting' }, '1'])
    expect(await failing('busy')).toEqual([429, { reason: 'Too many queries of this project are waiting' }, '1'])
    for (const how of ['query', 'data'])
      expect(await failing(how)).toEqual([502, { reason: 'Database error' }, undefined])
    expect(await failing('conflict')).toEqual([409, { reason: 'differs', expected: 'a' }, undefined])
    for (const how of ['bug', 'text'])
      expect(await failing(how)).toEqual([500, { reason: 'Internal server error' }, undefined])
  })
  it('tells the log of errors of the database, without what a statement quotes', async () => {
    await send(server.port, '/fail/query', { headers: { 'x-request-id': 'db-1' } })
    const line = server.lines.find(({ request, msg }) => request === 'db-1' && msg === 'database error')
    expect(line).toMatchObject({
      kind: 'query',
      code: 47,
      route: 'fail.read',
      message: "unknown identifier x in '…' AND '…'",
    })
    expect(JSON.stringify(server.lines)).not.toContain('of a caller')
  })
  it('logs unexpected errors with the request id, and one line per request without payloads or keys', async () => {
    const id = 'trace-me-1'
    await send(server.port, '/fail/bug', { headers: { 'x-request-id': id } })
    const lines = server.lines.filter((line) => line.request === id)
    expect(lines.map((line) => line.msg).sort()).toEqual(['request', 'unexpected error'])
    const done = await send(server.port, '/item', {
      body: '{"name":"payload-text"}',
      headers: { 'x-request-id': 'r2', authorization: `Bearer ${keyText}` },
    })
    expect(done.status).toBe(200)
    expect(server.lines.find((line) => line.request === 'r2')).toMatchObject({
      msg: 'request',
      route: 'item.echo',
      method: 'POST',
      status: 200,
      user: 'ann',
      in: 23,
      out: 23,
    })
    const all = JSON.stringify(server.lines)
    expect(all).not.toContain('payload-text')
    expect(all).not.toContain(keyText)
  })
})
