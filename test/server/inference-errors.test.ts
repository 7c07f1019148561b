// Refusals and failures of a provider as answers: status, body, headers, trace, and no secret in any of them.

import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerJson, answerStream, beginStream, chunk } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld, providersOf, secretValue } from '../fixtures/inference-world.ts'

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld(['--inference-concurrency', '2'])
})
afterAll(() => world.remove())

const path = '/inference/v1/chat/completions'
const messages = [{ role: 'user', content: 'Hi' }]
const send = (model: string, more: object = {}) => world.post(path, { model, messages, ...more })

describe('statuses of the provider', () => {
  it.each<[number, number, string]>([
    [400, 400, 'invalid_request_error'],
    [401, 401, 'authentication_error'],
    [402, 402, 'insufficient_quota'],
    [403, 403, 'permission_error'],
    [404, 404, 'not_found_error'],
    [408, 408, 'invalid_request_error'],
    [409, 409, 'invalid_request_error'],
    [413, 413, 'invalid_request_error'],
    [418, 400, 'invalid_request_error'],
    [422, 422, 'invalid_request_error'],
    [429, 429, 'rate_limit_error'],
    [500, 502, 'server_error'],
    [502, 502, 'server_error'],
    [503, 503, 'server_error'],
    [504, 504, 'server_error'],
    [529, 502, 'server_error'],
    [302, 502, 'server_error'],
  ])('%i is answered %i', async (given, status, type) => {
    const name = `status-${given}`
    world.fake.on(name, answerJson({ error: { message: `Because of ${given}`, param: 'p', code: 'c' } }, given))
    for (const stream of [false, true]) {
      const answer = await send(`openai/${name}`, { stream })
      const message = given === 401 || given === 403 ? `openai: Because of ${given}` : `Because of ${given}`
      expect([answer.status, answer.json]).toEqual([
        status,
        { error: { message, type, param: 'p', code: 'c' }, reason: message },
      ])
      expect(answer.headers.get('retry-after')).toBe(status === 429 || status === 503 ? '1' : null)
      if (stream && (given === 401 || given === 500))
        expect(await world.callOf(answer)).toMatchObject({
          exception: message,
          output: null,
          summary: { weave: { status: 'error' } },
        })
    }
  })

  it.each<[number, string, string | null]>([
    [429, '17', '17'],
    [503, 'Fri, 31 Dec 2027 23:59:59 GMT', 'Fri, 31 Dec 2027 23:59:59 GMT'],
    [500, '3', '3'],
    [400, '3', null],
  ])('%i passes on Retry-After %s', async (status, sent, expected) => {
    world.fake.on('later', answerJson({ error: 'x' }, status, { 'retry-after': sent }))
    expect((await send('mine/later')).headers.get('retry-after')).toBe(expected)
  })

  it.each<[unknown, string]>([
    [{ error: 'a text' }, 'a text'],
    [{ object: 'error', message: 'older engines' }, 'older engines'],
    [{ detail: 'FastAPI' }, 'FastAPI'],
    [{ detail: [{ loc: ['body'], msg: 'no' }] }, '[{"loc":["body"],"msg":"no"}]'],
    ['plain words', 'plain words'],
    ['<html>proxy</html>', 'The provider answered 400'],
    ['', 'The provider answered 400'],
    [{ error: { type: 'x' } }, 'The provider answered 400'],
    [[{ error: { code: 400, message: 'in a list', status: 'INVALID_ARGUMENT' } }], 'in a list'],
    [{ success: false, errors: [{ code: 7, message: 'of many' }] }, 'of many'],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'Overloaded'],
    [{ error: { error: { message: 'within' } } }, 'within'],
    [`{"detail":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 'The provider answered 400'],
    [{ base_resp: { status_code: 1004, status_msg: 'login fail' } }, 'login fail'],
  ])('%j says %s', async (body, message) => {
    world.fake.on('says', answerJson(body, 400))
    expect((await send('mine/says')).json.error.message).toBe(message)
  })
})

describe('failures in the form of a success', () => {
  const choice = (more: object) => ({ id: 'c', object: 'chat.completion', choices: [{ index: 0, ...more }] })
  const part = { message: { role: 'assistant', content: 'par' } }

  it.each<[string, unknown, number, string]>([
    [
      'an error',
      { error: { message: 'Provider returned error', code: 502 }, user_id: 'u' },
      502,
      'Provider returned error',
    ],
    ['an error with a status', { error: { message: 'Slow down', code: 429 }, choices: null }, 429, 'Slow down'],
    ['an error as a text', { error: 'Out of room' }, 502, 'Out of room'],
    ['a list of errors', [{ error: { code: 400, message: 'API key not valid' } }], 400, 'API key not valid'],
    ['an object that is an error', { object: 'error', message: 'Too long', code: 400 }, 400, 'Too long'],
    ['a status in its own form', { base_resp: { status_code: 1004, status_msg: 'login fail' } }, 502, 'login fail'],
    ['nothing but words', { detail: 'No capacity' }, 502, 'No capacity'],
  ])('%s is one', async (_, body, status, message) => {
    world.fake.on('fails', answerJson(body))
    for (const stream of [false, true]) {
      if (stream && !JSON.stringify(body).includes('rror')) continue
      const answer = await send('mine/fails', { stream })
      expect([answer.status, answer.json.reason, answer.json.error.message]).toEqual([status, message, message])
      expect(await world.callOf(answer)).toMatchObject({
        exception: message,
        output: null,
        summary: { weave: { status: 'error' } },
      })
    }
  })

  it.each<[string, object, string]>([
    [
      'a choice',
      choice({ ...part, finish_reason: 'error', error: { code: 502, message: 'Upstream died' } }),
      'Upstream died',
    ],
    [
      'the reason of an end',
      choice({ ...part, finish_reason: 'error', native_finish_reason: 'network_error' }),
      'The provider ended the answer with "error" (network_error)',
    ],
    ['a member beside choices', { ...choice(part), error: { message: 'Cut sk-abcdefgh12345678' } }, 'Cut REDACTED'],
  ])('%s is told by the call, and what came is kept', async (_, body, message) => {
    world.fake.on('half-fails', answerJson(body))
    const answer = await send('mine/half-fails')
    expect([answer.status, answer.json]).toEqual([200, body])
    const call = await world.callOf(answer)
    expect(call).toMatchObject({ exception: message, summary: { weave: { status: 'error' } } })
    expect(call.output.choices[0].message.content).toBe('par')
  })

  it('no error is none', async () => {
    const body = { ...choice({ ...part, finish_reason: 'stop', error: null }), error: null, detail: 'x', message: 'y' }
    world.fake.on('fine', answerJson(body))
    const answer = await send('mine/fine')
    expect([answer.status, (await world.callOf(answer)).exception]).toEqual([200, null])
  })
})

describe('secrets', () => {
  const credentials = JSON.stringify({ private_key: 'very-private-key-text' })
  const body = {
    cloud_credentials: credentials,
    extra_headers: { 'X-Api-Key': 'header-secret-1', Authorization: 'Bearer header-secret-2' },
  }
  const words = [
    secretValue,
    'very-private-key-text',
    credentials,
    'header-secret-1',
    'header-secret-2',
    'sk-abc***xyz1',
  ]

  it('that a provider quotes do not come out', async () => {
    const quoted = `${words.join(' ')} ${JSON.stringify(credentials)}`
    world.fake.on(
      'quotes',
      answerJson({ error: { message: quoted, code: secretValue, param: secretValue, type: secretValue } }, 401),
    )
    world.fake.on('quotes-later', answerStream([chunk('m', { content: 'x' }), { error: { message: quoted } }]))
    const answers = [
      await send('openai/quotes', body),
      await send('openai/quotes', { ...body, stream: true }),
      await send('openai/quotes-later', { ...body, stream: true }),
    ]
    for (const answer of answers) {
      expect(answer.text).toContain('REDACTED')
      const call = await world.callOf(answer)
      for (const secret of [...words, 'cloud_credentials', 'private_key'])
        expect(
          [answer.text, JSON.stringify(call)].some((text) => text.includes(secret)),
          secret,
        ).toBe(false)
      expect(call.inputs).toEqual(expect.objectContaining({ extra_headers: {} }))
    }
    for (const secret of words) expect(world.server.lines.join('')).not.toContain(secret)
  })

  it('in a request are not recorded anywhere in it', async () => {
    const text = [{ role: 'user', content: `my account is ${credentials}` }]
    const answer = await send('mine/m', { ...body, messages: text })
    expect(JSON.stringify(await world.callOf(answer))).not.toContain('very-private')
  })
})

describe('failures', () => {
  it('to connect are 502', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const given = providersOf(world.fake.url)
    world.writeProviders({
      ...given,
      providers: {
        ...given.providers,
        closed: { base_url: `http://127.0.0.1:${port}/v1` },
        plain: { base_url: world.fake.url.replace('http:', 'https:') },
      },
    })
    for (const provider of ['closed', 'plain']) {
      const answer = await send(`${provider}/m`)
      expect([answer.status, answer.json.error.code], provider).toEqual([502, 'provider_failed'])
      expect((await world.callOf(answer)).exception).toBe(answer.json.reason)
    }
  })

  it('to answer in time are 504', async () => {
    world.fake.on('hang', () => undefined)
    world.fake.on('half', (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'))
    world.fake.on('begun', (response) => beginStream(response))
    for (const [model, stream] of [
      ['hang', false],
      ['half', false],
      ['hang', true],
      ['begun', true],
    ] as const) {
      const answer = await send(`mine/${model}`, { stream, timeout: 0.2 })
      expect([answer.status, answer.json?.error?.code], model).toEqual([504, 'timeout'])
      await world.fake.last().aborted
      expect(await world.callOf(answer)).toMatchObject({ exception: 'The provider did not answer in time' })
    }
  })

  it('in the middle of an answer are 502', async () => {
    world.fake.on('cut', (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{"a":', () => response.destroy())
    })
    const { status, json } = await send('mine/cut')
    expect([status, json.error.message]).toEqual([502, 'The connection to the provider broke off'])
  })
})

it('more inference requests than a project may have at one time are 429, and those of others run', async () => {
  let begun = 0
  let bothBegun = (): void => undefined
  const both = new Promise<void>((resolve) => {
    bothBegun = resolve
  })
  const ends: (() => void)[] = []
  world.fake.on('held', (response) => {
    ends.push(() => response.end('{}'))
    if (++begun === 2) bothBegun()
  })
  const held = [send('mine/held'), send('mine/held')]
  await both
  const { status, json, headers } = await send('mine/m')
  expect([status, json.error.code, headers.get('retry-after')]).toEqual([429, 'concurrency_limit', '1'])
  const other = await world.post(path, { model: 'mine/m', messages }, { 'openai-project': 'other/project' })
  expect(other.status).toBe(200)
  for (const end of ends) end()
  expect((await Promise.all(held)).map((one) => one.status)).toEqual([200, 200])
  expect((await send('mine/m')).status).toBe(200)
})

it('a completion is answered even when its call cannot be recorded', async () => {
  // Beyond what the log takes of one body.
  const content = 'x'.repeat(40 * 2 ** 20)
  world.fake.on('large', answerJson({ choices: [], content }))
  const answer = await send('mine/large')
  expect([answer.status, answer.json.content.length]).toEqual([200, content.length])
  expect(world.server.lines.some((line) => line.includes('was not recorded'))).toBe(true)
})
