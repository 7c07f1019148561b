// Rules of every request: paths, methods, bodies and limits.
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../fixtures/eventually.ts'
import { type Answer, annAuth, json, send, sendRaw, startServer, type TestServer } from '../fixtures/http-server.ts'
import { routes } from './http-routes.ts'

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
    const malformed = await sendRaw(server.port, 'nonsense\r\n\r\n')
    expect(malformed).toMatch(/^HTTP\/1.1 400 .*"reason":"Malformed request"/s)
    expect(malformed).toContain("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'")
  })
  it('echoes a request id, and makes one when there is none worth echoing', async () => {
    const given = await send(server.port, '/big', { headers: { 'x-request-id': 'r-1' } })
    expect(given.headers['x-request-id']).toBe('r-1')
    const made = await send(server.port, '/big', { headers: { 'x-request-id': 'a b' } })
    expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('JSON bodies', () => {
  it('serves one of each connection in turn, however many one of them sends in one piece', async () => {
    const before = server.lines.length
    const sockets = ['/nope', '/things/1'].map((path) => ({ path, socket: connect(server.port, '127.0.0.1') }))
    onTestFinished(() => sockets.forEach(({ socket }) => void socket.destroy()))
    await Promise.all(sockets.map(({ socket }) => once(socket, 'connect')))
    for (const { path, socket } of sockets) {
      const count = path === '/nope' ? 1_000 : 1
      socket
        .resume()
        .write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${annAuth}\r\n\r\n`.repeat(count))
    }
    const served = () => server.lines.slice(before).filter(({ msg }) => msg === 'request')
    await eventually(() => expect(served().length).toBe(1_001))
    expect(served().findIndex(({ route }) => route !== 'unmatched')).toBeLessThan(500)
  })
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
  it('answers 429 to a key that sends too many bodies at one time, and takes those of another one', async () => {
    const tight = await startServer(routes, ['--max-body-bytes', '1048576', '--max-inflight-bytes', '4194304'])
    const text = JSON.stringify('x'.repeat(900_000))
    const begin = () => {
      const outgoing = request({
        port: tight.port,
        host: '127.0.0.1',
        path: '/bytes',
        method: 'POST',
        agent: false,
        headers: { authorization: annAuth, 'content-length': text.length },
      })
      const answered = new Promise<number>((resolve) => {
        outgoing.on('response', ({ statusCode = 0 }) => resolve(statusCode)).on('error', () => resolve(0))
      })
      outgoing.write(text.slice(0, -1))
      return { answered, finish: () => outgoing.end(text.slice(-1)) }
    }
    try {
      const other = { authorization: `Bearer ${tight.keys.create({ userId: 'bob', role: 'write' }).text}` }
      const bodies = Array.from({ length: 3 }, begin)
      await eventually(async () => {
        const { text: samples } = await send(tight.port, '/metrics')
        expect(samples).toMatch(new RegExp(`^callhouse_http_body_bytes ${3 * (text.length - 1)}$`, 'm'))
      })
      const whole = JSON.stringify('x'.repeat(1_048_570))
      const refused = await send(tight.port, '/bytes', { body: whole })
      const reason = 'Too many bytes of concurrent request bodies for this key'
      expect([refused.status, refused.headers['retry-after'], json(refused)]).toEqual([429, '1', { reason }])
      expect((await send(tight.port, '/bytes', { body: whole, headers: other })).status).toBe(200)
      for (const { finish } of bodies) finish()
      expect(await Promise.all(bodies.map(({ answered }) => answered))).toEqual([200, 200, 200])
      expect((await send(tight.port, '/bytes', { body: whole })).status).toBe(200)
      const metrics = await send(tight.port, '/metrics')
      expect(metrics.text).toMatch(/^callhouse_refused_total\{policy="bodies_share"\} 1$/m)
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
