// Every operation of inference leaves a call: inputs, output, usage and errors, whole and streamed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../fixtures/eventually.ts'
import { answerJson, beginStream, event, usage } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld, project, secretValue } from '../fixtures/inference-world.ts'

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld()
})
afterAll(() => world.remove())

const send = (at: string, body: object) => world.post(`/inference/v1/${at}`, body)

const tokens = { input_tokens: 100, output_tokens: 20, total_tokens: 120 }
const response = {
  id: 'resp_1',
  object: 'response',
  model: 'gpt-4o-2024-08-06',
  status: 'completed',
  error: null,
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }],
  usage: tokens,
}
const begun = { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } }
const delta = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hel' }
const namedEvent = (one: { type: string }) => `event: ${one.type}\n${event(one)}`
const embeddings = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.25] }],
  model: 'e',
  usage: { prompt_tokens: 9, total_tokens: 9 },
}
const text = (more: object) => ({ id: 'c', object: 'text_completion', created: 5, model: 'm', ...more })
const texts = [
  text({ choices: [{ index: 0, text: 'Hel', finish_reason: null }] }),
  text({ choices: [{ index: 0, text: 'lo', finish_reason: 'stop' }] }),
  text({ choices: [], usage }),
]

function streams(name: string, pieces: readonly string[]): string {
  world.fake.on(name, (answer) => {
    beginStream(answer)
    answer.end(pieces.join(''))
  })
  return pieces.join('')
}

describe('an answer', () => {
  it.each<[string, string, object, object, object]>([
    ['responses', 'gpt-4o', { input: 'hi' }, response, tokens],
    ['embeddings', 'openai/text-embedding-3-small', { input: ['hi'] }, embeddings, embeddings.usage],
    [
      'completions',
      'gpt-3.5-turbo-instruct',
      { prompt: 'hi' },
      text({ choices: [{ index: 0, text: 'Hi' }], usage }),
      usage,
    ],
    [
      'images/generations',
      'gpt-image-1',
      { prompt: 'hi' },
      { created: 5, data: [{ url: 'u' }], usage: tokens },
      tokens,
    ],
  ])('of %s', async (at, model, input, output, counts) => {
    world.fake.on(model.replace('openai/', ''), answerJson(output))
    const answer = await send(at, { model, ...input, user: 'u', conversation_id: 'thread-1' })
    expect([answer.status, answer.json]).toEqual([200, output])
    const call = await world.callOf(answer)
    expect(call).toMatchObject({
      inputs: { model, ...input, user: 'u' },
      output,
      exception: null,
      thread_id: 'thread-1',
      summary: { usage: { [model]: counts }, weave: { status: 'success' } },
    })
    expect(call.op_name).toMatch(/^weave\.\w+_create$/)
    const [costs] = await world.server.list<typeof call>('/calls/stream_query', {
      project_id: project,
      filter: { call_ids: [call.id] },
      include_costs: true,
    })
    expect(Object.keys(costs.summary.weave.costs ?? {}), JSON.stringify(costs.summary)).toEqual([model])
  })

  it.each([['responses'], ['embeddings'], ['completions']])('of %s that is refused', async (at) => {
    world.fake.on('refused', answerJson({ error: { message: `No ${secretValue}`, code: 'c' } }, 429))
    const answer = await send(at, { model: 'openai/refused', input: 'hi', prompt: 'hi' })
    expect([answer.status, answer.json.error.code]).toEqual([429, 'c'])
    expect(await world.callOf(answer)).toMatchObject({ exception: 'No REDACTED', output: null })
  })

  it('of responses that failed is kept with its error', async () => {
    const failed = { ...response, status: 'failed', output: [], error: { code: 'server_error', message: 'Broke' } }
    world.fake.on('failed', answerJson(failed))
    const answer = await send('responses', { model: 'mine/failed', input: 'hi' })
    expect([answer.status, answer.json]).toEqual([200, failed])
    expect(await world.callOf(answer)).toMatchObject({ exception: 'Broke', output: { status: 'failed' } })
  })

  it('is masked and left out as that of a chat', async () => {
    world.fake.on('plain', answerJson(embeddings))
    const hidden = { model: 'mine/plain', input: 'hi', extra_headers: { authorization: 'Bearer very-secret-text' } }
    const call = await world.callOf(await send('embeddings', hidden))
    expect(call.inputs).toEqual({ model: 'mine/plain', input: 'hi', extra_headers: {} })
    const untracked = await send('embeddings', { ...hidden, track_llm_call: false })
    expect([untracked.status, untracked.headers.get('x-call-id')]).toEqual([200, null])
  })
})

describe('a stream', () => {
  it('of a response goes on byte for byte, and its last event is the call', async () => {
    const sent = streams('r', [begun, delta, { type: 'response.completed', response }].map(namedEvent))
    const answer = await send('responses', { model: 'mine/r', input: 'x', stream: true })
    expect([answer.status, answer.text]).toEqual([200, sent])
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    expect(await world.callOf(answer)).toMatchObject({
      inputs: { model: 'mine/r', input: 'x', stream: true },
      output: response,
      exception: null,
      summary: { usage: { [response.model]: tokens } },
    })
  })

  it('of a response that is too long to be read at once', async () => {
    const long = {
      ...response,
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'x'.repeat(3 * 2 ** 20) }] }],
    }
    streams('long', [begun, delta, { type: 'response.completed', response: long }].map(namedEvent))
    const answer = await send('responses', { model: 'mine/long', input: 'x', stream: true })
    const call = await world.callOf(answer)
    expect(call).toMatchObject({ exception: null, summary: { usage: { [response.model]: tokens } } })
    expect(call.output.output[0].content[0].text).toHaveLength(3 * 2 ** 20)
  })

  it.each<[string, { type: string }[], string]>([
    [
      'failed',
      [
        begun,
        delta,
        {
          type: 'response.failed',
          response: { ...response, status: 'failed', error: { code: 'x', message: 'Broke' } },
        } as never,
      ],
      'Broke',
    ],
    ['sent an error', [begun, delta, { type: 'error', code: 'x', message: 'Too many' } as never], 'Too many'],
    ['ended early', [begun, delta], 'The provider ended the stream early'],
  ])('of a response that %s', async (name, events, message) => {
    const sent = streams(name, events.map(namedEvent))
    const answer = await send('responses', { model: `mine/${name}`, input: 'x', stream: true })
    expect([answer.status, answer.text]).toEqual([200, sent])
    const call = await world.callOf(answer)
    expect(call).toMatchObject({ exception: message, summary: { weave: { status: 'error' } } })
    expect(JSON.stringify(call.output)).toContain('Hel')
  })

  it.each<[string, string[]]>([
    ['with its end', [...texts.map(event), event('[DONE]')]],
    ['without an end', texts.map(event)],
  ])('of plain text %s', async (name, pieces) => {
    const sent = streams(`text ${name}`, pieces)
    const answer = await send('completions', { model: `mine/text ${name}`, prompt: 'x', stream: true })
    expect([answer.status, answer.text]).toEqual([200, sent])
    expect(await world.callOf(answer)).toMatchObject({
      output: { object: 'text_completion', choices: [{ index: 0, text: 'Hello', finish_reason: 'stop' }] },
      exception: null,
      summary: { usage: { [`mine/text ${name}`]: usage } },
    })
  })

  it('of an image', async () => {
    streams('i', [
      namedEvent({ type: 'image_generation.partial_image', b64_json: 'AA' } as never),
      namedEvent({ type: 'image_generation.completed', b64_json: 'BB', created_at: 5, usage: tokens } as never),
    ])
    const answer = await send('images/generations', { model: 'mine/i', prompt: 'x', stream: true })
    expect(await world.callOf(answer)).toMatchObject({
      output: { created: 5, data: [{ b64_json: 'BB' }] },
      exception: null,
      summary: { usage: { 'mine/i': tokens } },
    })
  })

  it('of nobody knows what goes on as it is', async () => {
    const sent = streams('odd', ['event: x\ndata: {"a": 1.0}\n\n', 'data: no JSON\n\n', 'data: {}\n\n'])
    const answer = await send('responses', { model: 'mine/odd', input: 'x', stream: true })
    expect([answer.status, answer.text]).toEqual([200, sent])
    expect((await world.callOf(answer)).exception).toBeNull()
  })

  it('whose client goes tells how far it came', async () => {
    world.fake.on('silent', (answer) => {
      beginStream(answer)
      answer.write([begun, delta].map(namedEvent).join(''))
    })
    const controller = new AbortController()
    const body = { model: 'mine/silent', input: 'x', stream: true, conversation_id: 'gone-response' }
    const answer = await world.ask('/inference/v1/responses', body, {}, { signal: controller.signal })
    await answer.body?.getReader().read()
    controller.abort()
    await world.fake.last().aborted
    const call = await eventually(async () => {
      const [found] = await world.calls({ thread_ids: ['gone-response'] })
      expect(found).toBeDefined()
      return found
    })
    expect(call).toMatchObject({ exception: 'client disconnected' })
    expect(JSON.stringify(call.output)).toContain('Hel')
  })
})
