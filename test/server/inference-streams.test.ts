// Streams of inference: chunk by chunk, how they end, how they break, and what is recorded of them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Answerer,
  answerJson,
  answerStream,
  beginStream,
  chunk,
  event,
  usage,
  usageChunk,
} from '../fixtures/fake-provider.ts'
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

/** Pieces of a body, read one at a time. */
async function* piecesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const piece of response.body as AsyncIterable<Uint8Array>) yield decoder.decode(piece, { stream: true })
}

describe('a whole stream', () => {
  it.each(Object.values(paths))('of %s', async (path) => {
    world.fake.on('whole', answerStream([...hello('whole'), usageChunk('whole')]))
    const model = path === paths.engine ? 'whole' : 'mine/whole'
    const answer = await world.post(path, request(model))
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    expect(answer.headers.get('x-accel-buffering')).toBe('no')
    expect(eventsOf(answer.text)).toEqual([...hello('whole').map((one) => JSON.stringify(one)), '[DONE]'])
    expect(world.fake.last().json).toEqual({
      model: 'whole',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(await world.callOf(answer)).toMatchObject({
      inputs: { model, messages, stream: true },
      output: {
        id: 'cmpl-1',
        object: 'chat.completion',
        created: 1_777_000_000,
        model: 'whole',
        usage,
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      },
      summary: { usage: { [model]: usage } },
      exception: null,
    })
  })

  it.each<[string, object | undefined, object, number]>([
    [paths.engine, undefined, { include_usage: true }, 0],
    [paths.engine, {}, { include_usage: true }, 1],
    [
      paths.engine,
      { include_usage: true, continuous_usage_stats: true },
      { include_usage: true, continuous_usage_stats: true },
      1,
    ],
    [paths.engine, { include_usage: false, own: 1 }, { include_usage: true, own: 1 }, 0],
    [paths.passed, { include_usage: true }, { include_usage: true }, 1],
    [paths.passed, { include_usage: false }, { include_usage: true }, 0],
    [paths.passed, {}, { include_usage: true }, 0],
  ])('%s tells usage of %j', async (path, options, sent, chunks) => {
    world.fake.on('counted', answerStream([...hello('counted'), usageChunk('counted')]))
    const model = path === paths.engine ? 'counted' : 'coreweave/counted'
    const { text } = await world.post(path, request(model, { stream_options: options }))
    expect(eventsOf(text).filter((one) => one.includes('"usage"'))).toHaveLength(chunks)
    expect(world.fake.last().json.stream_options).toEqual(sent)
  })

  it('keeps the text of each chunk, whatever the line ends, comments and pieces it came in', async () => {
    const first = '{"id":"a", "score":1.0,"big":12345678901234567890,"choices":[{"index":0,"delta":{"content":"é😀"}}]}'
    const last = '{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}'
    world.fake.on('odd', async (response) => {
      beginStream(response)
      const bytes = Buffer.from(
        `: hello\r\n\r\nevent: x\r\ndata: ${first}\r\n\r\nid: 3\ndata:${last}\n\ndata: [DONE]\n\n`,
      )
      for (const byte of bytes) response.write(Buffer.from([byte]))
      response.end()
    })
    const answer = await world.post(paths.engine, request('odd'))
    expect(eventsOf(answer.text)).toEqual([first, last, '[DONE]'])
    expect((await world.callOf(answer)).output.choices).toEqual([
      { index: 0, message: { role: 'assistant', content: 'é😀' }, finish_reason: 'length' },
    ])
  })

  it('may end without [DONE] once a choice has ended', async () => {
    world.fake.on('short', (response) => {
      beginStream(response)
      response.end(`${hello('short').map(event).join('').trimEnd()}`)
    })
    const answer = await world.post(paths.engine, request('short'))
    expect(eventsOf(answer.text)).toHaveLength(5)
    expect((await world.callOf(answer)).exception).toBeNull()
  })

  it('of several choices with tools and reasoning is put together', async () => {
    const call = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] })
    const of = (index: number, delta: object, finish: string | null = null) => ({
      choices: [{ index, delta, finish_reason: finish }],
    })
    world.fake.on(
      'tools',
      answerStream([
        { id: 'first', created: 5, service_tier: 'flex', ...of(1, { content: 'b' }) },
        {
          id: 'second',
          system_fingerprint: 'fp',
          ...of(0, call(1, { id: 'c2', type: 'function', function: { name: 'g', arguments: '{"x"' } })),
        },
        of(0, call(0, { id: 'c1', type: 'function', function: { name: 'f', arguments: '' } })),
        of(0, call(1, { function: { arguments: ':1}' } })),
        of(0, call(2, { function: { arguments: 'never named' } })),
        of(0, { reasoning_content: 'thi', reasoning: 'a' }),
        of(0, { reasoning_content: 'nk', reasoning: 'b' }),
        of(1, { content: 'c' }, 'length'),
        of(0, {}, 'tool_calls'),
        { choices: [], usage: { total_tokens: 1 } },
        { choices: [], usage },
      ]),
    )
    const answer = await world.post(paths.engine, request('tools'))
    const called = (id: string, name: string, args: string) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    })
    expect((await world.callOf(answer)).output).toEqual({
      id: 'first',
      created: 5,
      service_tier: 'flex',
      system_fingerprint: 'fp',
      object: 'chat.completion',
      model: 'tools',
      usage,
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            reasoning_content: 'think',
            reasoning: 'ab',
            tool_calls: [called('c1', 'f', ''), called('c2', 'g', '{"x":1}')],
          },
        },
        { index: 1, finish_reason: 'length', message: { role: 'assistant', content: 'bc' } },
      ],
    })
  })
})

describe('flow', () => {
  it('gives each of 1,000 chunks on before the next one is written', { timeout: 60_000 }, async () => {
    let release = (): void => undefined
    world.fake.on('steps', async (response) => {
      beginStream(response)
      for (let n = 0; n < 1_000; n++) {
        const read = new Promise<void>((resolve) => {
          release = resolve
        })
        response.write(event(chunk('steps', { content: `${n};` })))
        await read
      }
      response.end(event(chunk('steps', {}, 'stop')) + event('[DONE]'))
    })
    const response = await world.ask(paths.engine, request('steps'))
    const seen: string[] = []
    let rest = ''
    for await (const piece of piecesOf(response)) {
      const parts = (rest + piece).split('\n\n')
      rest = parts.pop() as string
      for (const data of parts) {
        seen.push(data)
        release()
      }
    }
    expect(seen).toHaveLength(1_002)
    const whole = Array.from({ length: 1_000 }, (_, n) => `${n};`).join('')
    expect((await world.callOf(response)).output.choices[0].message.content).toBe(whole)
  })

  it('reads no further ahead than a slow client', async () => {
    let written = 0
    let isFull = false
    const big = 'x'.repeat(64 * 1024)
    world.fake.on('big', async (response) => {
      beginStream(response)
      // 32 MiB are more than all buffers on the way hold.
      for (; written < 512; written++)
        if (!response.write(event(chunk('big', { content: big })))) {
          isFull = true
          await new Promise<void>((resolve) => response.once('drain', resolve))
          isFull = false
        }
      response.end(event(chunk('big', {}, 'stop')) + event('[DONE]'))
    })
    const response = await world.ask(paths.engine, request('big', { track_llm_call: false }))
    // A server that answers so many requests without taking a byte of the stream waits for the client.
    const settles = async () => {
      const before = written
      for (let n = 0; n < 20; n++) {
        await (await fetch(`${world.server.now().url}/health`)).text()
        if (!isFull || written !== before) return false
      }
      return true
    }
    while (written < 512 && !(await settles()));
    expect(written).toBeLessThan(512)
    let length = 0
    for await (const piece of piecesOf(response)) length += piece.length
    expect(written).toBe(512)
    expect(length).toBeGreaterThan(512 * big.length)
  })
})

describe('clients that go', () => {
  const begunThenSilent: Answerer = (response) => {
    beginStream(response)
    response.write(event(chunk('silent', { content: 'begun' })))
  }

  /** The call of the thread, once it is there. */
  async function callOfThread(thread: string) {
    for (;;) {
      const [call] = await world.calls({ thread_ids: [thread] })
      if (call !== undefined) return call
    }
  }

  it('in a stream end the request upstream, and what came is recorded', async () => {
    world.fake.on('silent', begunThenSilent)
    const controller = new AbortController()
    const body = request('silent', { conversation_id: 'gone-1' })
    const response = await world.ask(paths.engine, body, {}, { signal: controller.signal })
    const { value } = await piecesOf(response).next()
    expect(value).toContain('begun')
    controller.abort()
    await world.fake.last().aborted
    expect(await callOfThread('gone-1')).toMatchObject({
      exception: 'client disconnected',
      output: { choices: [{ message: { content: 'begun' }, finish_reason: null }] },
    })
  })

  it.each([[true], [false]])('before the answer end the request upstream (stream: %j)', async (stream) => {
    let begun = (): void => undefined
    const isAsked = new Promise<void>((resolve) => {
      begun = resolve
    })
    world.fake.on('hang', () => begun())
    const controller = new AbortController()
    const body = { ...request('hang', { conversation_id: `gone-${stream}` }), stream }
    const pending = world.ask(paths.engine, body, {}, { signal: controller.signal })
    await isAsked
    controller.abort()
    await expect(pending).rejects.toThrow()
    await world.fake.last().aborted
    expect(await callOfThread(`gone-${stream}`)).toMatchObject({ exception: 'client disconnected', output: null })
  })
})

describe('streams that fail', () => {
  const begun = [chunk('m', { content: 'be' }), chunk('m', { content: 'gun' })]
  const failing: [string, Answerer, string | RegExp][] = [
    [
      'break off',
      (response) => {
        beginStream(response)
        response.write(begun.map(event).join(''), () => response.destroy())
      },
      /broke off/,
    ],
    ['end early', answerStream(begun, { isEnded: false, isClosed: true }), /ended the stream early/],
    ['send no JSON', answerStream([...begun, '{"choices": [']), /malformed chunk/],
    [
      'send an error',
      answerStream([...begun, { error: { message: 'Out of room', code: 503 } }, ...begun]),
      'Out of room',
    ],
    ['send a plain error', answerStream([...begun, { error: 'No sk-abcdefgh12345678 here' }]), 'No REDACTED here'],
  ]

  it.each(failing)('%s', async (name, answer, message) => {
    world.fake.on(name, answer)
    const answered = await world.post(paths.engine, request(name))
    const events = eventsOf(answered.text)
    expect(events, answered.text).toHaveLength(4)
    expect(events.slice(0, 2)).toEqual(begun.map((one) => JSON.stringify(one)))
    const { error } = JSON.parse(events[2] as string)
    expect(error.message).toMatch(message)
    expect(error.type).toBe('server_error')
    expect(events[3]).toBe('[DONE]')
    const call = await world.callOf(answered)
    expect(call.exception).toBe(error.message)
    expect(call.output.choices[0].message.content).toBe('begun')
  })

  it('before the first chunk are answered by a status', async () => {
    world.fake.on('first', answerStream([{ error: { message: 'Too many', code: 429 } }]))
    const answer = await world.post(paths.engine, request('first'))
    expect([answer.status, answer.json]).toEqual([429, expect.objectContaining({ reason: 'Too many' })])
    expect((await world.callOf(answer)).exception).toBe('Too many')
  })

  it('as JSON though a stream was asked for are 502', async () => {
    world.fake.on('json', answerJson({ choices: [] }))
    const { status, json } = await world.post(paths.engine, request('json'))
    expect([status, json.error.code]).toEqual([502, 'provider_failed'])
  })

  it('go on too slowly', async () => {
    world.fake.on('slow', (response) => {
      beginStream(response)
      response.write(event(begun[0]))
    })
    // The limit is for the first chunk, too, which a busy machine may bring late.
    const answered = async (seconds: number): Promise<string[]> => {
      const { text } = await world.post(paths.passed, request('coreweave/slow', { timeout: String(seconds) }))
      const events = eventsOf(text)
      return events.length === 3 || seconds > 30 ? events : answered(2 * seconds)
    }
    const events = await answered(1)
    expect(JSON.parse(events[1] as string).error).toMatchObject({
      code: 'timeout',
      message: 'The provider did not answer in time',
    })
    expect(events[2]).toBe('[DONE]')
  })
})
