// Streams of chat completions in the forms that servers write them: line ends, blanks, comments, ends, and errors in them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerStream, beginStream, chunk, event, usage, usageChunk } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, eventsOf, type InferenceWorld } from '../fixtures/inference-world.ts'

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld()
})
afterAll(() => world.remove())

const paths = { engine: '/v1/chat/completions', passed: '/inference/v1/chat/completions' }
const messages = [{ role: 'user', content: 'Hi' }]
const request = (model: string, more: object = {}) => ({ model, messages, stream: true, ...more })
const hello = (model: string) => [
  chunk(model, { role: 'assistant', content: '' }),
  chunk(model, { content: 'Hel' }),
  chunk(model, { content: 'lo' }),
  chunk(model, {}, 'stop'),
]

describe('a stream', () => {
  const done = 'data: [DONE]\n\n'
  it.each<[string, string, string]>([
    ['blanks around the end', '', 'data: [DONE] \n\n'],
    ['a tab before the end', '', 'data:\t[DONE]\n\n'],
    ['events without data', 'data: \n\ndata:\n\ndata\n\n', `data: \n\n${done}`],
    ['comments', ': ping\n\n:\r\n\r\n', `: ping\n\n${done}`],
    ['no end', '', ''],
    ['blanks for an end', 'data: \n\n', 'data: \n\n'],
  ])('may have %s', async (name, before, behind) => {
    world.fake.on(name, (response) => {
      beginStream(response)
      response.end(before + hello(name).map(event).join('') + behind)
    })
    const answer = await world.post(paths.engine, request(name))
    expect(eventsOf(answer.text)).toEqual([...hello(name).map((one) => JSON.stringify(one)), '[DONE]'])
    const call = await world.callOf(answer)
    expect([call.exception, call.output.choices[0].message.content]).toEqual([null, 'Hello'])
  })

  it.each([['\r\n'], ['\r'], ['\n']])('may have lines that end with %j', async (end) => {
    const name = `ends-${end.length}-${end.charCodeAt(0)}`
    world.fake.on(name, (response) => {
      beginStream(response)
      const bytes = Buffer.from(`\ufeff${[...hello(name), '[DONE]'].map(event).join('').replaceAll('\n', end)}`)
      for (const byte of bytes) response.write(Buffer.from([byte]))
      response.end()
    })
    const answer = await world.post(paths.engine, request(name))
    expect(eventsOf(answer.text)).toEqual([...hello(name).map((one) => JSON.stringify(one)), '[DONE]'])
    expect((await world.callOf(answer)).output.choices[0].message.content).toBe('Hello')
  })
})

describe('an error', () => {
  const begun = [chunk('m', { content: 'be' }), chunk('m', { content: 'gun' })]

  it.each<[string, object[], string, boolean]>([
    [
      'a choice',
      [
        chunk('m', {}, 'stop', {}),
        { ...chunk('m', {}), choices: [{ index: 1, delta: {}, finish_reason: 'error', error: { message: 'Died' } }] },
        usageChunk('m'),
      ],
      'Died',
      true,
    ],
    [
      'the reason of an end',
      [chunk('m', { content: '' }, 'error', {}), usageChunk('m')],
      'The provider ended the answer with "error"',
      true,
    ],
    [
      'an error beside choices',
      [{ ...chunk('m', {}, 'error'), error: { code: 'x', message: 'Disconnected' } }],
      'Disconnected',
      false,
    ],
    ['an event', [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }], 'Overloaded', false],
    ['a list', [[{ error: { code: 503, message: 'Listed' } }] as never], 'Listed', false],
  ])('that %s tells of', async (name, more, message, hasUsage) => {
    world.fake.on(name, answerStream([...begun, ...more]))
    const answered = await world.post(paths.passed, request(`mine/${name}`))
    const events = eventsOf(answered.text)
    expect(JSON.parse(events.at(-2) as string).error.message).toBe(message)
    expect(events.at(-1)).toBe('[DONE]')
    const call = await world.callOf(answered)
    expect(call).toMatchObject({ exception: message, summary: { weave: { status: 'error' } } })
    expect(call.output.choices[0].message.content).toBe('begun')
    expect(call.summary.usage?.[`mine/${name}`]?.prompt_tokens).toBe(hasUsage ? usage.prompt_tokens : undefined)
  })

  it.each([['['.repeat(50_000) + ']'.repeat(50_000)], [`{"error":${'['.repeat(50_000)}${']'.repeat(50_000)}}`]])(
    'by nesting end in order',
    async (text) => {
      world.fake.on('nested', answerStream([...begun, text]))
      expect(eventsOf((await world.post(paths.engine, request('nested'))).text).at(-1)).toBe('[DONE]')
    },
  )
})
