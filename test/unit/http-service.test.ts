// Service routes, GraphQL, settings, the OpenAPI document, metrics, validation details and the shutdown order.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { jsonValue as anyJson, bool, dict, float, int, optional, text, withDefault } from '../../schemas/coerce.ts'
import { describeConfig, loadConfig, settings } from '../../services/app/config.ts'
import { checkedBody } from '../../services/core/http/details.ts'
import type { Detail, Fault } from '../../services/core/http/errors.ts'
import { createShutdown } from '../../services/core/process/shutdown.ts'
import { openGeoRanges } from '../../services/query/service/geolocate.ts'
import { createGraphqlRoutes } from '../../services/query/service/graphql.ts'
import { createServiceRoutes, type HealthChecks } from '../../services/query/service/routes.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { deferred, json, send, startServer, type TestServer } from '../fixtures/http-server.ts'

const fine: HealthChecks = { log: 'ok', storage: 'ok', workers: 'ok', lagMs: 12.4 }
let health: () => Promise<HealthChecks> = async () => fine
let closing = false
let folder: string
let server: TestServer

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'callhouse-geo-'))
  const file = join(folder, 'ranges.csv')
  const rows = [
    '"16777216","16777471","AU","Australia, ""down under"""',
    '127.0.0.0,127.0.0.255,XL,Loopback',
    '2a00::,2a00::ffff,NO,Norway',
    '203.0.113.0,203.0.113.255,KP,Blocked',
  ]
  writeFileSync(file, `# first,last,code,name\n${rows.join('\r\n')}\n`)
  const routes = [
    ...createServiceRoutes({
      version: '1.2.3',
      commit: 'abc',
      config: { minPythonVersion: '0.51.0', geoBlock: ['kp'] },
      geo: openGeoRanges(file),
      health: () => health(),
      isShuttingDown: () => closing,
    }),
    ...createGraphqlRoutes(),
  ]
  server = await startServer(routes, ['--trust-proxy', 'loopback'])
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const get = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await send(server.port, path, { anonymous: true, headers })
  return [answer.status, json(answer)]
}

describe('service routes', () => {
  it('tells versions', async () => {
    expect(await get('/version')).toEqual([200, { version: '1.2.3', commit: 'abc' }])
    expect(await get('/server_info')).toEqual([
      200,
      { min_required_weave_python_version: '0.51.0', trace_server_version: '1.2.3' },
    ])
  })
  it('tells health: unavailable when log or storage are down, degraded for everything else', async () => {
    const ok = { log: 'ok', storage: 'ok', workers: 'ok' }
    expect(await get('/health')).toEqual([200, { status: 'ok', checks: ok, lag_ms: 12 }])
    expect(await get('/ready')).toEqual([200, { ready: true }])
    health = async () => ({ ...fine, workers: 'down' })
    expect(await get('/health')).toMatchObject([200, { status: 'degraded' }])
    health = async () => ({ ...fine, storage: 'down' })
    expect(await get('/health')).toMatchObject([503, { status: 'unavailable', checks: { storage: 'down' } }])
    health = async () => {
      throw new Error('no')
    }
    expect(await get('/health')).toMatchObject([503, { status: 'unavailable' }])
    health = async () => fine
    closing = true
    expect(await get('/health')).toMatchObject([503, { status: 'unavailable', checks: ok }])
    expect(await get('/ready')).toEqual([503, { ready: false }])
    closing = false
  })
  it('locates the caller behind trusted proxies', async () => {
    expect(await get('/geolocate')).toMatchObject([200, { ip: '127.0.0.1', location: { country_code: 'XL' } }])
    const from = (chain: string) => get('/geolocate', { 'x-forwarded-for': chain })
    expect(await from('9.9.9.9, 1.0.0.7')).toEqual([
      200,
      {
        ip: '1.0.0.7',
        location: {
          file_index: 1,
          range_start_int: 16777216,
          range_end_int: 16777471,
          range_start_ip: '1.0.0.0',
          range_end_ip: '1.0.0.255',
          country_code: 'AU',
          country_name: 'Australia, "down under"',
        },
        allowed: true,
      },
    ])
    expect(await from('203.0.113.9')).toMatchObject([200, { allowed: false }])
    expect(await from('8.8.8.8')).toEqual([200, { ip: '8.8.8.8', location: null, allowed: true }])
    expect(await from('2a00::1')).toMatchObject([
      200,
      { location: { country_code: 'NO', range_start_ip: '2a00:0:0:0:0:0:0:0' } },
    ])
    expect(await from('2a00::1:0')).toMatchObject([200, { location: null }])
    expect(await from('::ffff:1.0.0.1')).toMatchObject([200, { location: { country_code: 'AU' } }])
  })
  it('names the faulty line of a range file', () => {
    const file = join(folder, 'bad.csv')
    writeFileSync(file, '1.0.0.0,1.0.0.9,AU,x\n1.0.0.9,1.0.0.0,AU,x\n')
    expect(() => openGeoRanges(file)).toThrow('line 2')
  })
  it('does not offer project infos', async () => {
    expect((await send(server.port, '/service/projects_info', { body: '{}' })).status).toBe(404)
  })
})

describe('GraphQL', () => {
  const ask = async (body: unknown, headers: Record<string, string> = {}) => {
    const answer = await send(server.port, '/graphql', { body: JSON.stringify(body), headers })
    expect(answer.status).toBe(200)
    return json(answer)
  }
  it('answers the operations of SDKs, by name and by field', async () => {
    const viewer = { viewer: { username: 'ann', defaultEntity: { name: 'ann' } } }
    expect(await ask({ query: 'query DefaultEntity { viewer { username defaultEntity { name } } }' })).toEqual({
      data: viewer,
    })
    expect(await ask({ query: '{ viewer { username } }', variables: null })).toEqual({ data: viewer })
    const project = 'query Project($entityName: String!, $name: String!) { project(name: $name) { name } }'
    expect(await ask({ query: project, variables: { name: 'p', entityName: 'e' } })).toEqual({
      data: { project: { name: 'p' } },
    })
    expect(await ask({ query: project, variables: { entityName: 'e' } })).toEqual({ data: { project: null } })
    const upsert = 'mutation UpsertModel($name: String!) { upsertModel(input: {}) { model { name } } }'
    expect(await ask({ query: upsert, variables: { name: 'p', entity: 'e', description: 'd' } })).toEqual({
      data: { upsertModel: { model: { name: 'p', description: 'd' } } },
    })
    expect(await ask({ query: 'x', operationName: 'ServerInfo' })).toEqual({
      data: { serverInfo: { frontendHost: `http://127.0.0.1:${server.port}` } },
    })
    expect(await ask({ query: '{ viewer { username } entity(name: "e") { readOnly } }' })).toEqual({
      data: { viewer: { username: 'ann' }, entity: { readOnly: false } },
    })
    expect(await ask({ query: 'query ArtifactManifestFoo { project { name } }' })).toEqual({
      data: { project: null, artifact: null },
    })
    for (const query of ['query Other { sweeps }', 'constructor', 'query toString { x }'])
      expect(await ask({ query })).toEqual({ errors: [{ message: 'Operation is not supported' }] })
  })
  it('opens projects for every role, and creates them for those who may write', async () => {
    const { text: key } = server.keys.create({ userId: 'r', entity: 'acme', grants: ['acme'], role: 'read' })
    const headers = { authorization: `Bearer ${key}` }
    const denied = { errors: [{ extensions: { code: 'PERMISSION_ERROR' } }] }
    const named = (operationName: string, variables: unknown) => ask({ query: '', operationName, variables }, headers)
    expect(await named('Project', { name: 'p', entityName: 'acme' })).toEqual({ data: { project: { name: 'p' } } })
    expect(await named('Project', { name: 'p' })).toEqual({ data: { project: { name: 'p' } } })
    expect(await named('Project', { name: 'p', entityName: 'other' })).toMatchObject(denied)
    expect(await named('UpsertModel', { name: 'p', entity: 'acme' })).toMatchObject(denied)
  })
  it('needs a key and a query', async () => {
    expect((await send(server.port, '/graphql', { body: '{"query":"x"}', anonymous: true })).status).toBe(401)
    expect((await send(server.port, '/graphql', { body: '{}' })).status).toBe(422)
  })
})

describe('own routes', () => {
  it('describes every declared route', async () => {
    const document = json(await send(server.port, '/openapi.json')) as {
      openapi: string
      paths: Record<string, Record<string, { operationId: string; requestBody?: unknown; security: unknown[] }>>
    }
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths).sort()).toEqual(server.routes.map((route) => route.path).sort())
    expect(document.paths['/graphql']?.post).toMatchObject({
      operationId: 'service.graphql',
      requestBody: { content: { 'application/json': { schema: { required: ['query'] } } } },
    })
    expect(document.paths['/health']?.get?.security).toEqual([])
  })
  it('counts requests by route and status', async () => {
    await get('/version')
    await get('/nope')
    const { text: metrics } = await send(server.port, '/metrics')
    expect(metrics).toMatch(/callhouse_http_request_seconds_count\{route="service.version",status="200"\} \d+/)
    expect(metrics).toMatch(/callhouse_http_request_seconds_count\{route="unmatched",status="404"\} \d+/)
    expect(metrics).toMatch(/callhouse_http_active_requests 1\n/)
  })
})

describe('validation details', () => {
  const schema = z.object({
    text: text(),
    whole: int(),
    real: float(),
    yes: bool(),
    map: dict(),
    any: anyJson(),
    list: z.array(text()),
    order: z.literal(['asc', 'desc']),
    low: z.int().min(0),
    strict: z.strictObject({ a: text() }),
    id: z.uuid(),
    either: z.union([text(), z.object({ deep: z.object({ x: text() }) })]),
    maybe: optional(int()),
    some: withDefault(z.array(text()), ['d']),
  })
  const good = {
    text: 'a',
    whole: ' 7 ',
    real: '1.5',
    yes: true,
    map: { a: 1 },
    any: null,
    list: ['x'],
    order: 'asc',
    low: 0,
    strict: { a: 'b' },
    id: '0190a0a0-0000-7000-8000-000000000000',
    either: 'x',
  }
  const types = (value: unknown) => {
    try {
      checkedBody(schema, value)
      return []
    } catch (error) {
      return ((error as Fault).body.detail as Detail[]).map(({ loc, type }) => `${loc.join('.')} ${type}`)
    }
  }
  it('parses what is right', () => {
    expect(schema.parse(good)).toEqual({ ...good, whole: 7, real: 1.5, some: ['d'] })
    expect(schema.parse({ ...good, maybe: null, some: null }).some).toEqual(['d'])
    expect(schema.parse(good).map).toBe(good.map)
  })
  it('names every absent key as missing', () => {
    const required = Object.keys(schema.shape).filter((key) => key !== 'maybe' && key !== 'some')
    expect(types({})).toEqual(required.map((key) => `body.${key} missing`))
  })
  it('uses the common names', () => {
    const bad = {
      text: null,
      whole: '3.5',
      real: 'x',
      yes: 'true',
      map: [],
      any: 1,
      list: ['a', 1],
      order: 'up',
      low: -1,
      strict: { a: 'b', c: 1, d: 2 },
      id: 'x',
      either: { deep: { x: 1 } },
      maybe: false,
      some: {},
    }
    expect(types(bad)).toEqual([
      'body.text string_type',
      'body.whole int_parsing',
      'body.real float_parsing',
      'body.yes bool_parsing',
      'body.map dict_type',
      'body.list.1 string_type',
      'body.order literal_error',
      'body.low greater_than_equal',
      'body.strict.c extra_forbidden',
      'body.strict.d extra_forbidden',
      'body.id uuid_parsing',
      'body.either.deep.x string_type',
      'body.maybe int_type',
      'body.some list_type',
    ])
  })
})

describe('settings', () => {
  const load = (env: Record<string, string>, ...argv: string[]) => loadConfig({ env, argv })
  it('has a default for each', () => {
    const loaded = load({ PATH: '/bin' })
    expect(loaded).toMatchObject({ ok: true, config: { port: 6400, host: '127.0.0.1', maxJsonDepth: 512, keys: [] } })
    expect(settings.every(({ help, flag }) => help !== '' && /^--[a-z-]+$/.test(flag))).toBe(true)
  })
  it('reads variables and flags, flags first', () => {
    const loaded = load(
      { CALLHOUSE_PORT: '1', CALLHOUSE_CORS_ORIGINS: 'https://a.b, *' },
      '--port=2',
      '--usage-own-only',
    )
    expect(loaded).toMatchObject({ config: { port: 2, corsOrigins: ['https://a.b', '*'], usageOwnOnly: true } })
    expect(load({ CALLHOUSE_PORT: '' })).toMatchObject({ config: { port: 6400 } })
    expect(load({ CALLHOUSE_SECRET_OPENAI_API_KEY: 's' })).toMatchObject({
      config: { secrets: { OPENAI_API_KEY: 's' } },
    })
  })
  it('refuses what is unknown or malformed, one line each', () => {
    const faulty: [Record<string, string>, string[], RegExp][] = [
      [{ CALLHOUSE_PROT: '1' }, [], /^Unknown setting CALLHOUSE_PROT;/],
      [{ CALLHOUSE_SECRET_: '1' }, [], /^Unknown setting/],
      [{}, ['--prot', '1'], /^Unknown flag --prot;/],
      [{}, ['--port'], /^--port needs a value$/],
      [{}, ['--port', '--host', 'x'], /^--port needs a value$/],
      [{ CALLHOUSE_PORT: '70000' }, [], /^CALLHOUSE_PORT must be an integer from 0 to 65535, not "70000"$/],
      [{}, ['--port', '1e3'], /^--port must be an integer/],
      [{ CALLHOUSE_WIRE_ALIASES: 'yes' }, [], /must be true or false/],
      [{ CALLHOUSE_CORS_ORIGINS: 'https://a.b/' }, [], /must be a comma-separated list of origins/],
      [{ CALLHOUSE_TRUST_PROXY: '10.0.0.0/33' }, [], /CALLHOUSE_TRUST_PROXY/],
      [{ CALLHOUSE_GEO_BLOCK: 'NOR' }, [], /CALLHOUSE_GEO_BLOCK/],
      [{ CALLHOUSE_EDGE_NUMBER: '1024' }, [], /CALLHOUSE_EDGE_NUMBER/],
      [{ CALLHOUSE_MAX_INFLIGHT_BYTES: '2048' }, [], /CALLHOUSE_MAX_INFLIGHT_BYTES/],
    ]
    for (const [env, argv, line] of faulty) {
      const loaded = loadConfig({ env, argv })
      expect(loaded.ok ? [] : loaded.lines.filter((one) => line.test(one))).toHaveLength(1)
    }
  })
  it('shows no secret', () => {
    const loaded = load({ CALLHOUSE_KEYS: 'ann:hush', CALLHOUSE_SECRET_X: 'hush' })
    const shown = JSON.stringify(loaded.ok && describeConfig(loaded.config))
    expect(shown).toContain('CALLHOUSE_KEYS')
    expect(shown).not.toContain('hush')
    expect(JSON.stringify(load({ CALLHOUSE_KEYS: 'hush' }))).not.toContain('hush')
  })
})

describe('shutdown', () => {
  const quiet = { info: () => {}, error: () => {} }
  it('runs the steps in order, past those that fail or are late', async () => {
    const ran: string[] = []
    const shutdown = createShutdown({
      log: quiet,
      steps: () => [
        { name: 'a', limitMs: 1000, close: async () => void ran.push('a') },
        {
          name: 'b',
          limitMs: 1000,
          close: () => {
            ran.push('b')
            throw new Error('no')
          },
        },
        { name: 'c', limitMs: 1, close: () => new Promise(() => void ran.push('c')) },
        { name: 'd', limitMs: 1000, close: () => void ran.push('d') },
      ],
    })
    expect(shutdown.isShuttingDown()).toBe(false)
    const running = shutdown.run('test')
    expect(shutdown.isShuttingDown()).toBe(true)
    expect(await running).toBe(false)
    expect(await shutdown.run('again')).toBe(false)
    expect(ran).toEqual(['a', 'b', 'c', 'd'])
  })
  it('exits after the first signal when all is closed, and at once on the second', async () => {
    const handlers = new Map<string, () => void>()
    const codes: number[] = []
    const closed = deferred()
    const shutdown = createShutdown({
      log: quiet,
      steps: () => [{ name: 'a', limitMs: 10_000, close: () => closed.promise }],
      signals: { on: (name, handler) => handlers.set(name, handler) },
      exit: (code) => void codes.push(code),
    })
    shutdown.onSignals()
    handlers.get('SIGTERM')?.()
    expect(codes).toEqual([])
    handlers.get('SIGINT')?.()
    expect(codes).toEqual([1])
    closed.resolve()
    await expectSoon(() => codes).toEqual([1, 0])
  })
})
