// What holds for every request: paths, methods, bodies, encodings, limits and the faults they lead to.
import { brotliCompressSync, deflateRawSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { int, optional, text } from '../../schemas/coerce.ts'
import { fault } from '../../services/core/http/errors.ts'
import { type Route, route } from '../../services/core/http/route.ts'
import { StoreError } from '../../services/core/store/store.ts'
import { type Answer, json, send, sendRaw, startServer, type TestServer } from './http-server.ts'

const item = z.object({ name: text(), count: optional(int()) })
const anyJson = z.unknown()
const none = { type: 'none' } as const
const declared = { right: 'read', summary: '', response: anyJson } as const

const failures: Record<string, () => unknown> = {
  timeout: () => new StoreError('timeout', 159, 'x'),
  memory: () => new StoreError('memory', 241, 'x'),
  outage: () => new StoreError('outage', 210, 'x'),
  query: () => new StoreError('query', 47, 'unknown identifier'),
  bug: () => new TypeError('hidden detail'),
  text: () => 'a thrown text',
  conflict: () => fault(409, 'differs', { expected: 'a' }),
}

const routes: Route[] = [
  route({
    ...declared,
    name: 'item.echo',
    method: 'POST',
    path: '/item',
    aliases: ['/items/one'],
    body: { type: 'json', schema: item, check: 'schema' },
    handle: async ({ input }) => ({ json: input }),
  }),
  route({
    ...declared,
    name: 'item.count',
    method: 'POST',
    path: '/bytes',
    body: { type: 'json', schema: anyJson, check: 'handler' },
    handle: async ({ input, body }) => ({ json: { bytes: body.bytes.length, type: body.contentType, input } }),
  }),
  route({
    ...declared,
    name: 'raw.echo',
    method: 'POST',
    path: '/raw',
    body: { type: 'raw', contentTypes: ['application/x-protobuf'] },
    handle: async ({ body }) => ({ bytes: body.bytes, contentType: 'application/octet-stream' }),
  }),
  route({
    ...declared,
    name: 'upload.count',
    method: 'POST',
    path: '/upload',
    body: { type: 'stream', contentType: 'multipart/form-data' },
    async handle({ stream }) {
      let bytes = 0
      for await (const chunk of stream) bytes += (chunk as Buffer).length
      return { json: { bytes } }
    },
  }),
  route({
    ...declared,
    name: 'upload.unread',
    method: 'POST',
    path: '/unread',
    body: { type: 'stream', contentType: 'multipart/form-data' },
    handle: async () => ({ json: null }),
  }),
  route({
    ...declared,
    name: 'thing.read',
    method: 'GET',
    path: '/things/{id}',
    body: none,
    handle: async ({ params, query }) => ({ json: { params, query: [...query] } }),
  }),
  route({
    ...declared,
    name: 'thing.query',
    method: 'GET',
    path: '/things/query',
    body: none,
    handle: async () => ({ json: 'query' }),
  }),
  route({
    ...declared,
    name: 'rest.read',
    method: 'GET',
    path: '/rest/{path*}',
    body: none,
    handle: async ({ params }) => ({ json: params }),
  }),
  route({
    ...declared,
    name: 'big.read',
    method: 'GET',
    path: '/big',
    body: none,
    handle: async () => ({ json: { text: 'x'.repeat(5000) }, headers: { 'X-Callhouse-Position': 'calls=1' } }),
  }),
  route({
    ...declared,
    name: 'fail.read',
    method: 'GET',
    path: '/fail/{how}',
    body: none,
    async handle({ params }) {
      throw failures[params.how ?? '']?.()
    },
  }),
  route({
    ...declared,
    name: 'never.read',
    method: 'GET',
    path: '/never',
    body: none,
    handle: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  }),
]

let server: TestServer
beforeAll(async () => {
  server = await startServer(routes, ['--max-body-bytes', '1048576', '--max-file-bytes', '2097152'])
})
afterAll(() => server.stop())

const post = (path: string, body: Buffer | string | (Buffer | string)[], headers: Record<string, string> = {}) =>
  send(server.port, path, { body, headers })
const detail = (answer: Answer) => (json(answer) as { detail: { loc: unknown[]; type: string }[] }).detail

describe('paths and methods', () => {
  it('serves paths, aliases, trailing slashes and the mirror alike', async () => {
    for (const path of ['/item', '/item/', '/items/one', '/traces/item', '/traces/items/one/']) {
      const answer = await post(path, '{"name":"a"}')
      expect([path, answer.status, json(answer)]).toEqual([path, 200, { name: 'a' }])
    }
  })
  it('answers unknown paths and wrong methods with detail', async () => {
    const unknown = await send(server.port, '/nope', { anonymous: true })
    expect([unknown.status, json(unknown)]).toEqual([404, { detail: 'Not Found' }])
    expect((await send(server.port, '/traces')).status).toBe(404)
    expect((await send(server.port, '/ITEM')).status).toBe(404)
    const wrong = await send(server.port, '/things/1', { method: 'DELETE' })
    expect([wrong.status, json(wrong), wrong.headers.allow]).toEqual([
      405,
      { detail: 'Method Not Allowed' },
      'GET, HEAD',
    ])
    expect((await send(server.port, '/item', { method: 'HEAD' })).status).toBe(405)
  })
  it('answers HEAD like GET, without a body', async () => {
    const get = await send(server.port, '/big')
    const head = await send(server.port, '/big', { method: 'HEAD' })
    expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([
      200,
      0,
      get.headers['content-length'],
    ])
  })
  it('prefers literal paths, decodes placeholders and keeps slashes of the rest', async () => {
    expect(json(await send(server.port, '/things/query'))).toBe('query')
    expect(json(await send(server.port, '/things/a%2Fb%20c?x=1&x=2'))).toEqual({
      params: { id: 'a/b c' },
      query: [
        ['x', '1'],
        ['x', '2'],
      ],
    })
    expect(json(await send(server.port, '/rest/a/b/c'))).toEqual({ path: 'a/b/c' })
    expect((await send(server.port, '/things/%E0%A4%A')).status).toBe(400)
  })
  it('has room for a thousand ids in a query, and answers malformed requests in JSON', async () => {
    const ids = Array.from({ length: 1000 }, (_, at) => `ids=0190a0a0-0000-7000-8000-${String(at).padStart(12, '0')}`)
    expect((await send(server.port, `/things/1?${ids.join('&')}`)).status).toBe(200)
    expect(await sendRaw(server.port, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*"reason":"Malformed request"/s)
  })
  it('echoes a request id, and makes one when there is none worth echoing', async () => {
    const given = await send(server.port, '/big', { headers: { 'x-request-id': 'r-1' } })
    expect(given.headers['x-request-id']).toBe('r-1')
    const made = await send(server.port, '/big', { headers: { 'x-request-id': 'a b' } })
    expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('JSON bodies', () => {
  it('needs no Content-Type, and takes misleading ones', async () => {
    for (const type of [
      undefined,
      'application/json; charset=utf-8',
      'text/plain',
      'application/x-www-form-urlencoded',
    ])
      expect((await post('/item', '{"name":"a"}', type === undefined ? {} : { 'content-type': type })).status).toBe(200)
    for (const type of ['multipart/form-data; boundary=x', 'application/x-protobuf'])
      expect((await post('/item', '{"name":"a"}', { 'content-type': type })).status).toBe(415)
  })
  it('takes bodies in pieces and a byte order mark', async () => {
    expect(json(await post('/item', ['{"na', 'me":"ä', '"}']))).toEqual({ name: 'ä' })
    expect(json(await post('/item', '\ufeff{"name":"a"}'))).toEqual({ name: 'a' })
  })
  it('names what is wrong and where', async () => {
    const missing = await post('/item', Buffer.alloc(0))
    expect([missing.status, detail(missing)]).toEqual([
      422,
      [{ loc: ['body'], msg: 'Field required', type: 'missing' }],
    ])
    const cases: [string, number][] = [
      ['{"a":1', 6],
      ['{"a":NaN}', 5],
      ['[1,2,]', 5],
      ['{"a" 1}', 5],
      ['"a\u0001"', 2],
      ['{} {}', 3],
      ['-', 0],
      ['[01]', 2],
      ['{"a":"\\x"}', 6],
      [' ', 1],
      ['Infinity', 0],
      ['{a:1}', 1],
    ]
    for (const [body, offset] of cases) {
      const answer = await post('/item', body)
      expect([body, answer.status, detail(answer)[0]]).toEqual([
        body,
        422,
        { loc: ['body', offset], msg: 'JSON decode error', type: 'json_invalid' },
      ])
    }
    const notUtf8 = await post('/item', Buffer.from([0x22, 0xc3, 0xa4, 0xff, 0x22]))
    expect([notUtf8.status, detail(notUtf8)[0]?.loc, detail(notUtf8)[0]?.type]).toEqual([
      422,
      ['body', 3],
      'json_invalid',
    ])
  })
  it('checks the schema, coerces integers, ignores unknown keys and nulls', async () => {
    expect(json(await post('/item', '{"name":"a","count":"3","x":1}'))).toEqual({ name: 'a', count: 3 })
    expect(json(await post('/item', '{"name":"a","count":3.0}'))).toEqual({ name: 'a', count: 3 })
    expect(json(await post('/item', '{"name":"a","count":null}'))).toEqual({ name: 'a' })
    const types = async (body: string) =>
      detail(await post('/item', body)).map(({ loc, type }) => [loc.join('.'), type])
    expect(await types('{"count":true}')).toEqual([
      ['body.name', 'missing'],
      ['body.count', 'int_type'],
    ])
    expect(await types('{"name":1,"count":"x"}')).toEqual([
      ['body.name', 'string_type'],
      ['body.count', 'int_parsing'],
    ])
    expect(await types('{"name":null,"count":3.5}')).toEqual([
      ['body.name', 'string_type'],
      ['body.count', 'int_from_float'],
    ])
    expect(await types('[]')).toEqual([['body', 'dict_type']])
  })
  it('is not harmed by prototype keys', async () => {
    const body = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":"a"}'
    expect(json(await post('/item', body))).toEqual({ name: 'a' })
    expect((await post('/bytes', body)).status).toBe(200)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
  it('replaces lone surrogates in text', async () => {
    expect(json(await post('/item', '{"name":"a\\ud800b"}'))).toEqual({ name: 'a\ufffdb' })
  })
})

describe('limits', () => {
  const nested = (depth: number, pad = '') => `${'['.repeat(depth)}${pad}${']'.repeat(depth)}`
  it('refuses deep nesting in small and in large bodies, valid or not', async () => {
    const server2 = await startServer(routes)
    try {
      const status = async (body: string) => (await send(server2.port, '/bytes', { body })).status
      expect(await status(nested(512))).toBe(200)
      expect(await status(nested(513))).toBe(413)
      expect(await status(`${'{"a":'.repeat(513)}1${'}'.repeat(513)}`)).toBe(413)
      const pad = `"${'[\\"'.repeat(500_000)}"`
      expect(await status(nested(512, pad))).toBe(200)
      expect(await status(nested(513, pad))).toBe(413)
      expect(await status('['.repeat(1_000_000))).toBe(413)
      expect(await status('['.repeat(20_000_000))).toBe(413)
      expect(await status(`${'['.repeat(300)},`)).toBe(422)
      expect(json(await send(server2.port, '/bytes', { body: nested(600) }))).toEqual({ reason: 'Request too large' })
    } finally {
      await server2.stop()
    }
  })
  it('refuses large bodies with and without a length, and lets the sender read the answer', async () => {
    const large = Buffer.alloc(3 * 1024 * 1024, 0x20)
    expect((await post('/bytes', large)).status).toBe(413)
    const pieces = await post('/bytes', [large, large])
    expect([pieces.status, json(pieces)]).toEqual([413, { reason: 'Request too large' }])
  })
  it('keeps the connection after answers that did not need the body', async () => {
    const request = (path: string, type: string, auth = 'Bearer secret') =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${auth}\r\nContent-Type: ${type}\r\nContent-Length: 900000\r\n`
    const body = Buffer.alloc(900_000, 0x20)
    const requests = [
      request('/unread', 'multipart/form-data; boundary=x'),
      request('/unread', 'multipart/form-data; boundary=x', 'none'),
      request('/bytes', 'multipart/form-data'),
      request('/bytes', 'text/plain'),
      request('/nope', 'text/plain'),
      request('/things/1', 'text/plain'),
      request('/unread', 'multipart/form-data; boundary=x\r\nConnection: close'),
    ]
    const answers = await sendRaw(
      server.port,
      Buffer.concat(requests.flatMap((one) => [Buffer.from(`${one}\r\n`), body])),
    )
    expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual([
      '200',
      '401',
      '415',
      '422',
      '404',
      '405',
      '200',
    ])
  })
  it('cuts the connection when the rest of a refused body does not end', async () => {
    const head = 'POST /bytes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n'
    const answer = await sendRaw(server.port, Buffer.concat([Buffer.from(head), Buffer.alloc(4 * 1024 * 1024)]))
    expect(answer).toMatch(/^HTTP\/1.1 401 /)
  })
  it('answers 429 when all bodies together are too large, and takes bodies again afterwards', async () => {
    const tight = await startServer(routes, ['--max-body-bytes', '1048576', '--max-inflight-bytes', '1048576'])
    try {
      const packed = gzipSync(JSON.stringify('x'.repeat(1_048_570)))
      const refused = await send(tight.port, '/bytes', { body: packed, headers: { 'content-encoding': 'gzip' } })
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1'])
      for (let round = 0; round < 3; round++)
        expect((await send(tight.port, '/bytes', { body: JSON.stringify('x'.repeat(900_000)) })).status).toBe(200)
    } finally {
      await tight.stop()
    }
  })
  it('answers 504 after the time limit, and aborts the handler', async () => {
    const hasty = await startServer(routes, ['--request-timeout-ms', '100'])
    try {
      expect((await send(hasty.port, '/never')).status).toBe(504)
    } finally {
      await hasty.stop()
    }
  })
})

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
    expect(await failing('outage')).toEqual([503, { reason: 'Storage is not available' }, '1'])
    expect(await failing('conflict')).toEqual([409, { reason: 'differs', expected: 'a' }, undefined])
    for (const how of ['query', 'bug', 'text'])
      expect(await failing(how)).toEqual([500, { reason: 'Internal server error' }, undefined])
  })
  it('logs unexpected errors with the request id, and one line per request without payloads or keys', async () => {
    const id = 'trace-me-1'
    await send(server.port, '/fail/bug', { headers: { 'x-request-id': id } })
    const lines = server.lines.filter((line) => line.request === id)
    expect(lines.map((line) => line.msg).sort()).toEqual(['request', 'unexpected error'])
    const done = await send(server.port, '/item', {
      body: '{"name":"payload-text"}',
      headers: { 'x-request-id': 'r2' },
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
    expect(all).not.toContain('secret')
  })
})
