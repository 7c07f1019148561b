// A request that is refused before an inference route runs, or fails in it, gets the body that OpenAI clients read.
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Invoke } from '../../services/core/http/invoke.ts'
import { StoreError } from '../../services/core/store/store.ts'
import { openProviders } from '../../services/inference/providers.ts'
import { createInferenceRoutes } from '../../services/inference/routes.ts'
import { createSlots } from '../../services/inference/slots.ts'
import { json, type SentRequest, send, startServer, type TestServer, testConfig } from '../fixtures/http-server.ts'

const failing = (): never => {
  throw new StoreError('timeout', 159, 'x')
}
const invoke: Invoke = { json: failing, rows: failing, lines: failing, answer: failing }
const config = { ...testConfig(), engineUrl: undefined }
const providers = openProviders({ file: undefined }).current
const bounds = ['--max-body-bytes', '65536', '--max-inflight-bytes', '65536', '--max-json-depth', '20']
let server: TestServer
let reader: string
beforeAll(async () => {
  const logger = { warn: () => {} }
  const routes = createInferenceRoutes({
    invoke,
    config,
    providers,
    logger,
    slots: createSlots(undefined),
    secrets: { find: () => undefined },
  })
  server = await startServer(routes, bounds)
  reader = server.keys.create({ userId: 'r', role: 'read', grants: '*' }).text
})
afterAll(() => server.stop())

const paths = ['/v1/chat/completions', '/inference/v1/chat/completions', '/inference/v1/embeddings']
const body = '{"model":"x","messages":[{"role":"user"}]}'
/** As long as its inflated form: the two together are more than all bodies may be. */
const packed = gzipSync(' '.repeat(60_000), { level: 0 })
const refusals: [number, string, SentRequest][] = [
  [401, 'authentication_error', { body, anonymous: true }],
  [413, 'invalid_request_error', { body: `{"messages":${'['.repeat(30)}${']'.repeat(30)}}` }],
  [413, 'invalid_request_error', { body: 'x'.repeat(65_537) }],
  [415, 'invalid_request_error', { body, headers: { 'content-type': 'multipart/form-data; boundary=x' } }],
  [429, 'rate_limit_error', { body: packed, headers: { 'content-encoding': 'gzip' } }],
]

describe.each(paths)('%s', (path) => {
  it.each(refusals)('answers %i as %s', async (status, type, sent) => {
    const answer = await send(server.port, path, sent)
    const reason = (json(answer) as { reason: string }).reason
    expect(reason).toMatch(/\w/)
    expect([answer.status, json(answer)]).toEqual([
      status,
      { error: { message: reason, type, param: null, code: null }, reason },
    ])
    if (status === 429) expect(answer.headers['retry-after']).toBe('1')
    if (status === 401) expect(answer.headers['www-authenticate']).toBe('Basic realm="api"')
  })

  it('answers keys without the right with 403', async () => {
    const answer = await send(server.port, path, {
      body,
      anonymous: true,
      headers: { authorization: `Bearer ${reader}` },
    })
    expect([answer.status, json(answer)]).toMatchObject([403, { error: { type: 'permission_error' } }])
  })

  it('answers what does not fit with detail alone', async () => {
    for (const text of ['', '{', '{"model":3}', '[]']) {
      const answer = await send(server.port, path, { body: text })
      expect([answer.status, Object.keys(json(answer) as object)]).toEqual([422, ['detail']])
    }
    const wrongMethod = await send(server.port, path, { method: 'DELETE' })
    expect([wrongMethod.status, json(wrongMethod)]).toEqual([405, { detail: 'Method Not Allowed' }])
  })
})

it('failures of the store have the body that OpenAI clients read, too', async () => {
  const answer = await send(server.port, '/inference/v1/models')
  const reason = 'Query took too long'
  expect([answer.status, json(answer)]).toEqual([
    504,
    { error: { message: reason, type: 'server_error', param: null, code: null }, reason },
  ])
})

it('a server that is shutting down says so', async () => {
  server.shuttingDown()
  for (const path of [...paths, '/inference/v1/models', '/inference/router/default/models']) {
    const answer = await send(server.port, path, path.endsWith('models') ? {} : { body })
    const reason = 'Server is shutting down'
    expect([answer.status, answer.headers['retry-after'], json(answer)]).toEqual([
      503,
      '1',
      { error: { message: reason, type: 'server_error', param: null, code: null }, reason },
    ])
  }
})
