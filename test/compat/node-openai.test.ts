// tier: deep compat
// The published OpenAI client for Node against both routes of completions: whole, streamed, lists, errors.
import OpenAI, { APIError, type ClientOptions, NotFoundError, RateLimitError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerJson, answerStream, chunk, completion, usage, usageChunk } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld, project } from '../fixtures/inference-world.ts'

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld()
  world.fake.on('whole', answerJson(completion('whole')))
  const pieces = ['Hel', 'lo'].map((content) => chunk('streamed', { role: 'assistant', content }))
  world.fake.on('streamed', answerStream([...pieces, chunk('streamed', {}, 'stop'), usageChunk('streamed')]))
})
afterAll(() => world.remove())

const clientOf = (base: string, options: ClientOptions = {}) =>
  new OpenAI({ baseURL: `${world.server.now().url}${base}`, apiKey: 'test-key', project, maxRetries: 0, ...options })

const messages = [{ role: 'user' as const, content: 'Hi' }]

describe.each([
  ['/v1', ''],
  ['/inference/v1', 'mine/'],
])('%s', (base, prefix) => {
  it('completes', async () => {
    const { data, response } = await clientOf(base)
      .chat.completions.create({ model: `${prefix}whole`, messages, temperature: 0.5 })
      .withResponse()
    expect(data.choices[0]?.message.content).toBe('Hello')
    expect(data.usage).toEqual(usage)
    expect(await world.callOf(response)).toMatchObject({ summary: { usage: { [`${prefix}whole`]: usage } } })
  })

  it('streams', async () => {
    const options = { model: `${prefix}streamed`, messages, stream: true as const }
    const texts: string[] = []
    for await (const part of await clientOf(base).chat.completions.create(options))
      texts.push(part.choices[0]?.delta.content ?? '')
    expect(texts).toEqual(['Hel', 'lo', ''])
    const counted: unknown[] = []
    const withUsage = { ...options, stream_options: { include_usage: true } }
    for await (const part of await clientOf(base).chat.completions.create(withUsage))
      if (part.usage) counted.push(part.usage)
    expect(counted).toEqual([usage])
  })

  it('gathers a stream', async () => {
    const runner = clientOf(base).chat.completions.stream({ model: `${prefix}streamed`, messages })
    expect((await runner.finalChatCompletion()).choices[0]?.message.content).toBe('Hello')
  })

  it('tells of errors, before and in a stream', async () => {
    world.fake.on('busy', answerJson({ error: { message: 'Slow down', code: 'busy' } }, 429))
    const client = clientOf(base)
    const create = (model: string) => client.chat.completions.create({ model: prefix + model, messages, stream: true })
    const refused = await create('busy').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RateLimitError)
    expect(refused).toMatchObject({ status: 429, code: 'busy', type: 'rate_limit_error', message: '429 Slow down' })
    world.fake.on('broken', answerStream([chunk('m', { content: 'x' }), { error: { message: 'Out of room' } }]))
    const read = async () => {
      for await (const _ of await create('broken'));
    }
    await expect(read()).rejects.toThrow(APIError)
    await expect(read()).rejects.toThrow('Out of room')
  })

  it('a client that stops reading ends the request upstream', async () => {
    world.fake.on('endless', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(chunk('m', { content: 'x' }))}\n\n`)
    })
    const stream = await clientOf(base).chat.completions.create({ model: `${prefix}endless`, messages, stream: true })
    for await (const _ of stream) break
    await world.fake.last().aborted
  })
})

it('the OpenAI client of Node lists models, embeds, and asks for responses', async () => {
  const client = clientOf('/inference/v1')
  const ids: string[] = []
  for await (const model of client.models.list()) ids.push(model.id)
  expect(ids).toContain('gpt-4o')
  expect((await client.models.retrieve('gpt-4o')).owned_by).toBe('openai')
  await expect(client.models.retrieve('nobody')).rejects.toThrow(NotFoundError)
  world.fake.on(
    '/v1/embeddings',
    answerJson({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] }),
  )
  const { data } = await client.embeddings.create({ model: 'mine/e', input: 'x', encoding_format: 'float' })
  expect(data[0]?.embedding).toEqual([0.5])
  world.fake.on('/v1/responses', answerJson({ id: 'r', object: 'response', output: [], status: 'completed' }))
  expect((await client.responses.create({ model: 'mine/r', input: 'x' })).id).toBe('r')
})
