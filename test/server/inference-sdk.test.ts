// POST /completions/create and /completions/create_stream: what SDKs get of completions and of errors.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerJson, answerStream, chunk, completion, usage, usageChunk } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld, project } from '../fixtures/inference-world.ts'

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld()
})
afterAll(() => world.remove())

const messages = [{ role: 'user', content: 'Hi {name}' }]
const send = (path: string, inputs: object, more: object = {}) =>
  world.post(path, { project_id: project, inputs: { messages, ...inputs }, ...more })
const create = (inputs: object, more?: object) => send('/completions/create', inputs, more)
const stream = async (inputs: object, more?: object) => {
  const { status, text } = await send('/completions/create_stream', inputs, more)
  expect(status, text).toBe(200)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
const callOf = async (id: string) => (await world.calls({ call_ids: [id] }))[0]

describe('a whole completion', () => {
  it('comes with the call that tells of it', async () => {
    world.fake.on('whole', answerJson(JSON.stringify(completion('whole')).replace('"kept":1', '"kept":1.0')))
    const inputs = { model: 'mine/whole', stream: true, template_vars: { name: 'Ann' }, timeout: '30', user: null }
    const { json, text } = await create(inputs, {
      trace_id: 'e'.repeat(32),
      conversation_id: 'c-1',
      source: 'playground',
    })
    expect(json).toEqual({
      response: completion('whole'),
      weave_call_id: expect.any(String),
      span_id: null,
      trace_id: 'e'.repeat(32),
      conversation_id: 'c-1',
    })
    expect(text).toContain('"kept":1.0')
    expect(world.fake.last().json).toEqual({ model: 'whole', messages: [{ role: 'user', content: 'Hi Ann' }] })
    expect(await callOf(json.weave_call_id)).toMatchObject({
      op_name: 'weave.completions_create',
      trace_id: 'e'.repeat(32),
      thread_id: 'c-1',
      inputs: { model: 'mine/whole', messages },
      output: completion('whole'),
      summary: { usage: { 'mine/whole': usage } },
    })
  })

  it('is not recorded when the request says so', async () => {
    const { json } = await create({ model: 'mine/whole' }, { track_llm_call: false })
    expect(json).toMatchObject({ weave_call_id: null, trace_id: null, response: { id: 'cmpl-1' } })
  })
})

describe('errors', () => {
  it.each<[object, object]>([
    [
      { model: 'gpt-x', prompt: 'nobody' },
      { error: 'The prompt nobody does not exist', error_status_code: 404 },
    ],
    [
      { model: 'mine/m', prompt: 'greets', template_vars: { b: 1 } },
      { error: "Template variable 'name' is missing; available: b", error_status_code: 400 },
    ],
    [{ model: 'groq/m' }, { error: 'Missing secret: GROQ_API_KEY', error_status_code: 400, api_key: 'GROQ_API_KEY' }],
    [{ model: 'custom::a::b' }, { error: 'The model custom::a::b does not exist', error_status_code: 404 }],
    [
      { model: 'mine/m', cloud_credentials: 'x' },
      { error: 'cloud_credentials must be the JSON text of an object', error_status_code: 400 },
    ],
  ])('of %j before the provider are told in the answer', async (inputs, response) => {
    const greeting = {
      _type: 'MessagesPrompt',
      _class_name: 'MessagesPrompt',
      _bases: ['Prompt', 'Object', 'BaseModel'],
    }
    await world.create('greets', { ...greeting, messages: [{ role: 'user', content: 'Hi {name}' }] })
    const { status, json } = await create(inputs)
    expect([status, json]).toEqual([200, expect.objectContaining({ response, weave_call_id: null })])
    const { error, error_status_code } = response as Record<string, unknown>
    expect(await stream(inputs)).toEqual([{ error, error_status_code }])
  })

  it('of the provider, too, and are recorded', async () => {
    world.fake.on('bad', answerJson({ error: { message: 'No room' } }, 413))
    const { status, json } = await create({ model: 'mine/bad' })
    expect([status, json.response]).toEqual([200, { error: 'No room', error_status_code: 413 }])
    expect((await callOf(json.weave_call_id)).exception).toBe('No room')
    const [meta, error, ...rest] = await stream({ model: 'mine/bad' })
    expect([error, rest]).toEqual([{ error: 'No room', error_status_code: 413 }, []])
    expect((await callOf(meta._meta.weave_call_id)).exception).toBe('No room')
  })

  it.each(['create', 'create_stream'])('of the form of a request are refused (%s)', async (name) => {
    const path = `/completions/${name}`
    expect((await world.post(path, { project_id: project, inputs: { messages } })).json.detail[0].loc).toEqual([
      'body',
      'inputs',
      'model',
    ])
    expect((await world.post(path, { project_id: 'bad', inputs: { model: 'm' } })).status).toBe(400)
    expect((await send(path, { model: 'm' }, { trace_id: 'BAD' })).status).toBe(400)
  })
})

describe('a stream', () => {
  const pieces = [chunk('s', { content: 'Hel' }), chunk('s', { content: 'lo' }), chunk('s', {}, 'stop')]

  it('tells of its call, then gives every chunk on', async () => {
    world.fake.on('s', answerStream([...pieces, usageChunk('s')]))
    const [first, ...rest] = await stream(
      { model: 'mine/s', template_vars: { name: 'Ann' } },
      { conversation_id: 'c-2' },
    )
    expect(rest).toEqual([...pieces, usageChunk('s')])
    expect(world.fake.last().json).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    const { weave_call_id, ...meta } = first._meta
    expect(meta).toEqual({ span_id: null, trace_id: expect.any(String), conversation_id: 'c-2' })
    expect(await callOf(weave_call_id)).toMatchObject({
      trace_id: meta.trace_id,
      output: { choices: [{ message: { content: 'Hello' } }] },
      summary: { usage: { 'mine/s': usage } },
    })
  })

  it('that fails ends with the error', async () => {
    world.fake.on('cut', answerStream(pieces.slice(0, 1), { isEnded: false, isClosed: true }))
    const lines = await stream({ model: 'mine/cut' }, { track_llm_call: false })
    expect(lines).toEqual([pieces[0], { error: 'The provider ended the stream early' }])
  })
})
