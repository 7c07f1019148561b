// Security headers: sent with every answer, whoever gives it and however early.
import { expect, it, onTestFinished } from 'vitest'
import { openOtlpPorts } from '../../services/app/otlp-ports.ts'
import { createConnections } from '../../services/core/process/connections.ts'
import { send, sendRaw, startServer } from '../fixtures/http-server.ts'

it('the server says with every answer what a browser must not make of it', async () => {
  const headersOf = async (port: number, path: string, more = {}) => (await send(port, path, more)).headers
  const common = {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  }
  const server = await startServer([])
  onTestFinished(() => server.stop())
  for (const path of ['/nowhere', '/metrics', '/openapi.json'])
    expect(await headersOf(server.port, path)).toMatchObject(common)
  const keyed = await headersOf(server.port, '/openapi.json')
  const open = await headersOf(server.port, '/nowhere')
  expect([keyed['cache-control'], open['cache-control'], open['strict-transport-security']]).toEqual([
    'no-store',
    undefined,
    undefined,
  ])
  // Refusals before a route is found, and answers of Node itself, are answers too.
  const refused: [status: number, text: string][] = [
    [403, 'GET /version HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'],
    [403, 'GET /version HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n'],
    [400, 'GET /version HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [400, 'nonsense\r\n\r\n'],
    [431, `GET /version HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(200_000)}\r\n\r\n`],
    [417, 'POST /version HTTP/1.1\r\nHost: localhost\r\nExpect: the impossible\r\nContent-Length: 0\r\n\r\n'],
  ]
  const secure = await startServer([], ['--public-url', 'https://obs.example'])
  onTestFinished(() => secure.stop())
  for (const [status, text] of refused) {
    const [plain, overTls] = [await sendRaw(server.port, text), await sendRaw(secure.port, text)]
    expect(plain).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    for (const [name, value] of Object.entries(common)) expect(plain.toLowerCase()).toContain(`\n${name}: ${value}`)
    expect([plain, overTls].map((one) => /strict-transport-security: max-age=31536000/i.test(one))).toEqual([
      false,
      true,
    ])
  }
  expect((await headersOf(secure.port, '/openapi.json'))['strict-transport-security']).toBe('max-age=31536000')
})

it('the port of OTLP over HTTP says it too, of what it does not take and of what it hands on', async () => {
  const server = await startServer([])
  onTestFinished(() => server.stop())
  const ports = await openOtlpPorts({
    config: { host: '127.0.0.1', otlpGrpcPort: undefined, otlpHttpPort: 0, given: new Set() },
    main: server.server,
    methods: {},
    connections: createConnections({ most: 100 }),
  } as never)
  onTestFinished(async () => void (await ports.close(1_000)))
  for (const path of ['/version', '/v1/traces']) {
    const { status, headers } = await send(Number(ports.http?.split(':').at(-1)), path)
    expect([path, status, headers['x-content-type-options']]).toEqual([path, 404, 'nosniff'])
    expect(headers['content-security-policy']).toContain("default-src 'none'")
  }
})
