// Property: whatever bytes and headers come, every route answers, and never with a 5xx.
// again: property
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { dict, int, optional, text } from '../../schemas/coerce.ts'
import { Fault } from '../../services/core/http/errors.ts'
import { parseJson } from '../../services/core/http/json-check.ts'
import { type Route, route } from '../../services/core/http/route.ts'
import { openGeoRanges } from '../../services/query/service/geolocate.ts'
import { createGraphqlRoutes } from '../../services/query/service/graphql.ts'
import { createServiceRoutes } from '../../services/query/service/routes.ts'
import { annAuth, send, sendRaw, startServer, type TestServer } from '../fixtures/http-server.ts'
import { runs } from '../fixtures/runs.ts'

const declared = { right: 'read', summary: '', response: z.unknown() } as const
const schema = z.object({ project_id: text(), limit: optional(int()), filter: optional(dict()) })
const routes: Route[] = [
  route({
    ...declared,
    name: 'checked',
    method: 'POST',
    path: '/checked',
    body: { type: 'json', schema, check: 'schema' },
    handle: async ({ input, project }) => ({ json: project(input.project_id) }),
  }),
  route({
    ...declared,
    name: 'free',
    method: 'POST',
    path: '/free/{id}',
    body: { type: 'json', schema: z.unknown(), check: 'handler' },
    handle: async ({ input }) => ({ json: input }),
  }),
  route({
    ...declared,
    name: 'raw',
    method: 'POST',
    path: '/raw',
    body: { type: 'raw', contentTypes: ['application/x-protobuf', 'application/json'] },
    handle: async ({ body }) => ({ bytes: body.bytes, contentType: 'application/octet-stream' }),
  }),
  route({
    ...declared,
    name: 'upload',
    method: 'POST',
    path: '/upload',
    body: { type: 'stream', contentType: 'multipart/form-data' },
    async handle({ stream }) {
      let bytes = 0
      for await (const chunk of stream) bytes += (chunk as Buffer).length
      return { json: bytes }
    },
  }),
  ...createServiceRoutes({
    version: '1.2.3',
    config: { minPythonVersion: '0.51.0', geoBlock: [] },
    geo: openGeoRanges(undefined),
    health: async () => ({ log: 'ok', storage: 'ok', workers: 'ok', lagMs: 0 }),
    isShuttingDown: () => false,
  }),
  ...createGraphqlRoutes(),
]

let server: TestServer
beforeAll(async () => {
  server = await startServer(routes, ['--max-body-bytes', '4096', '--trust-proxy', '127.0.0.1'])
})
afterAll(() => server.stop())

const paths = [
  '/checked',
  '/free/x',
  '/free/%',
  '/raw',
  '/upload',
  '/graphql',
  '/geolocate',
  '/health',
  '/traces/raw/',
  '/x',
  '//',
  '/metrics',
]
const jsonBytes = fc.json({ maxDepth: 5 }).map((value) => Buffer.from(value))
const fewBytes = fc.uint8Array({ maxLength: 6000 }).map((bytes) => Buffer.from(bytes))
const almostJson = fc.tuple(jsonBytes, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([bytes, at, value]) => {
  const copy = Buffer.from(bytes)
  if (copy.length > 0) copy[at % copy.length] = value
  return copy
})
const checked = fc
  .record({ project_id: fc.jsonValue(), limit: fc.jsonValue(), filter: fc.jsonValue() }, { requiredKeys: [] })
  .map((value) => Buffer.from(JSON.stringify(value)))
const anyHeaderText = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) })
const oneOf = (...values: string[]) => fc.oneof(fc.constantFrom(...values), anyHeaderText)
const headers = fc.record(
  {
    authorization: oneOf(annAuth, 'Bearer secret', 'Basic', 'Basic ='),
    'content-type': oneOf('application/json', 'multipart/form-data; boundary=x', 'application/x-protobuf'),
    'content-encoding': oneOf('gzip', 'deflate', 'br', 'identity', 'zstd'),
    accept: oneOf('application/jsonl', '*/*'),
    'accept-encoding': oneOf('gzip', 'gzip;q=0', '*'),
    host: oneOf('localhost', '127.0.0.1:1'),
    origin: oneOf('null', 'http://localhost'),
    'x-request-id': anyHeaderText,
    'x-forwarded-for': oneOf('1.2.3.4', '::1, ::ffff:1.2.3.4', 'unknown'),
    'access-control-request-method': oneOf('POST'),
  },
  { requiredKeys: [] },
)

it('answers any request below 500', async () => {
  const methods = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH')
  const bodies = fc.oneof(jsonBytes, almostJson, checked, fewBytes)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      methods,
      headers,
      bodies,
      fc.boolean(),
      fc.boolean(),
      async (path, method, extra, body, chunked, known) => {
        const given = known ? { ...extra, authorization: annAuth, host: 'localhost' } : extra
        const all: Record<string, string> = Object.fromEntries(
          Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
        )
        const { status } = await send(server.port, path, {
          method,
          headers: chunked
            ? { ...all, 'transfer-encoding': 'chunked' }
            : { ...all, 'content-length': `${body.length}` },
          body: chunked ? [body] : body,
          anonymous: true,
        })
        expect(status).toBeGreaterThanOrEqual(200)
        expect(status).toBeLessThan(500)
      },
    ),
    { numRuns: runs(1500, 15_000) },
  )
  expect(server.lines.filter((line) => line.msg === 'unexpected error')).toEqual([])
})

it('ends every connection that it cannot make sense of', async () => {
  await fc.assert(
    fc.asyncProperty(fewBytes, async (bytes) => {
      const answer = await sendRaw(server.port, Buffer.concat([bytes, Buffer.from('\r\n\r\n:\r\n\r\n')]))
      expect(answer === '' || /^HTTP\/1\.1 4\d\d /.test(answer)).toBe(true)
    }),
    { numRuns: runs(150, 1500) },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** True when something can follow the text, which ends behind a token or inside a string, that makes it JSON. */
function isBeginning(text: string): boolean {
  const open = [...text.replace(/"(?:[^"\\]|\\.)*("|$)/gs, '')].reduce((left, c) => {
    if (c === '{' || c === '[') return (c === '{' ? '}' : ']') + left
    return c === '}' || c === ']' ? left.slice(1) : left
  }, '')
  return ['', '0', '"', '"":0', ':0', '":0'].some((more) => isJson(text + more + open))
}

/** The offset at which a body is refused; undefined when it is not. */
function refusedAt(body: Buffer): number | undefined {
  try {
    expect(parseJson(body, 512)).toEqual(JSON.parse(body.toString()))
    return undefined
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return (error.body as { detail: { loc: [string, number] }[] }).detail[0]?.loc[1]
  }
}

it('parses JSON as JSON.parse does, and finds where text stops being JSON', () => {
  fc.assert(
    fc.property(fc.oneof(jsonBytes, almostJson, fewBytes), (bytes) => {
      const text = bytes.toString().replace(/^\ufeff+/, '')
      const offset = refusedAt(Buffer.from(text))
      expect(offset === undefined).toBe(isJson(text))
      if (offset === undefined) return
      expect(isBeginning(text.slice(0, offset))).toBe(true)
      // A number, word or escape is refused where it begins.
      if (!/^[-.eEtfn\\]/.test(text.slice(offset)))
        expect(isBeginning(text.slice(0, offset + 1))).toBe(offset === text.length)
    }),
    { numRuns: runs(2000, 20_000) },
  )
})
