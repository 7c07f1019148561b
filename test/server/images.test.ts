// POST /image/create: what the provider is asked, images as stored content, usage, traces, and failures inside a 200.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basicAuth } from '../fixtures/child-server.ts'
import { answerJson } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld, project, secretValue } from '../fixtures/inference-world.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const prompt = 'a line\n"quoted" ünï'

let world: InferenceWorld
const within = (flags: string[]) => {
  beforeAll(async () => {
    world = await createInferenceWorld(flags)
  })
  afterAll(() => world.remove())
}

const create = (inputs: object, more: object = {}) =>
  world.post('/image/create', { project_id: project, inputs, ...more })
const imageUrl = (name: string) => `${world.fake.url}/images/${name}`
/** Answers of a provider for a model, as data of images. */
const answers = (model: string, data: unknown, more: object = {}) =>
  world.fake.on(model, answerJson({ created: 1_777_000_000, data, ...more }))
const served = (name: string) =>
  world.fake.on(`/v1/images/${name}`, (response) => void response.writeHead(200, { 'content-type': 'x/y' }).end(png))
const contentOf = async (digest: string): Promise<Buffer> => {
  const response = await fetch(`${world.server.now().url}/file/content`, {
    method: 'POST',
    headers: { authorization: basicAuth(), 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: project, digest }),
  })
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}
const stored = (_type = 'CustomWeaveType') => ({
  _type,
  weave_type: { type: 'weave.type_wrappers.Content.content.Content' },
  files: { content: expect.any(String), 'metadata.json': expect.any(String) },
})

describe('images may come from loopback', () => {
  within(['--allow-private-networks', 'true'])

  describe('what the provider is asked', () => {
    it.each<[string, object, object]>([
      ['dall-e-3', { n: 4 }, { n: 1, quality: 'standard', style: 'natural', response_format: 'url' }],
      ['dall-e-2', { n: 4 }, { n: 4, response_format: 'url' }],
      ['dall-e-2', {}, { n: 1, response_format: 'url' }],
      ['gpt-image-1', { n: '2' }, { n: 2, quality: 'high' }],
      ['gpt-image-1.5', { n: null }, { n: 1, quality: 'high' }],
      ['gpt-image-1-mini', {}, { n: 1 }],
    ])('%s with %j', async (model, inputs, expected) => {
      answers(model, [])
      expect((await create({ model, prompt, ...inputs }, { track_llm_call: false })).status).toBe(200)
      const { path, json, headers } = world.fake.last()
      expect([path, headers.authorization]).toEqual(['/v1/images/generations', `Bearer ${secretValue}`])
      expect(json).toEqual({ model, prompt, size: '1024x1024', ...expected })
    })
  })

  describe('images', () => {
    it('are fetched, decoded and stored, and the call tells of them', async () => {
      served('one.png')
      const data = [
        { url: imageUrl('one.png?signed=a%2Fb'), revised_prompt: 'r' },
        { b64_json: png.toString('base64') },
      ]
      answers('dall-e-2', data, { usage: { input_tokens: 7, output_tokens: 9, total_tokens: 16 }, far: 1.5 })
      const { status, json } = await create({ model: 'dall-e-2', prompt }, { platform_user_id: 'someone' })
      expect(status).toBe(200)
      const usage = { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 }
      expect(json.response).toEqual({
        created: 1_777_000_000,
        model: 'dall-e-2',
        usage,
        far: 1.5,
        data: [{ url: stored(), revised_prompt: 'r' }, { b64_json: stored() }],
      })
      expect(world.fake.asked.some(({ path }) => path === '/v1/images/one.png?signed=a%2Fb')).toBe(true)
      const { files } = json.response.data[0].url
      expect(await contentOf(files.content)).toEqual(png)
      expect(JSON.parse((await contentOf(files['metadata.json'])).toString())).toMatchObject({
        size: png.length,
        mimetype: 'image/png',
        extension: '.png',
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
      const [call] = await world.calls({ call_ids: [json.weave_call_id] })
      expect(call).toMatchObject({
        op_name: 'weave.image_generation_create',
        parent_id: null,
        exception: null,
        output: json.response,
        inputs: { model: 'dall-e-2', prompt, n: null },
        platform_user_id: 'tester',
      })
      expect(call.summary.usage).toMatchObject({ 'dall-e-2': usage })
    })

    it('are not traced when that is not wanted, and count no tokens when nobody says how many', async () => {
      answers('gpt-image-1', [{ b64_json: png.toString('base64') }])
      const before = (await world.calls()).length
      const { json } = await create({ model: 'gpt-image-1', prompt }, { track_llm_call: false })
      expect(json.weave_call_id).toBe(null)
      expect(json.response.usage).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })
      expect(await world.calls()).toHaveLength(before)
    })

    it('count tokens however their numbers are written, and nothing else as tokens', async () => {
      const usage = '{"input_tokens":7.0,"output_tokens":{"a":1},"total_tokens":9.0}'
      world.fake.on('gpt-image-1', answerJson(`{"data":[1,null,{"b64_json":""}],"usage":${usage}}`))
      const { json } = await create({ model: 'gpt-image-1', prompt })
      expect(json.response.usage).toEqual({ prompt_tokens: 7, completion_tokens: 9, total_tokens: 9 })
      expect(json.response.data).toEqual([1, null, { b64_json: '' }])
      expect(await world.calls({ call_ids: [json.weave_call_id] })).toHaveLength(1)
    })

    it.each<[string, () => string, RegExp]>([
      ['is gone', () => imageUrl('none.png'), /its address answered 404/],
      ['leads elsewhere', () => imageUrl('moved.png'), /its address answered 302/],
      ['cannot be reached', () => 'http://127.0.0.1:1/x.png', /cannot be reached/],
      ['is no address', () => 'ftp://files.example/x.png', /must be an http or https address/],
      ['is of a metadata service', () => 'http://metadata.google.internal/x', /metadata service/],
    ])('stay as they are when their address %s', async (_, address, message) => {
      world.fake.on('/v1/images/none.png', answerJson({}, 404))
      world.fake.on('/v1/images/moved.png', answerJson({}, 302, { location: imageUrl('one.png') }))
      answers('dall-e-3', [{ url: address() }, { b64_json: png.toString('base64') }])
      const { status, json } = await create({ model: 'dall-e-3', prompt })
      expect(status).toBe(200)
      expect(json.response.data).toEqual([{ url: address() }, { b64_json: stored() }])
      expect(json.response.error).toMatch(message)
    })
  })

  describe('failures', () => {
    it.each<[string, string, RegExp]>([
      ['a refusal of the provider', 'dall-e-3', /^no such size$/],
      ['an answer that is no JSON', 'dall-e-2', /a JSON object/],
      ['a secret that is missing', 'gemini/imagen', /GEMINI_API_KEY/],
      ['a model that nobody knows', 'unheard-of', /does not exist/],
    ])('%s is told inside a 200 and not traced', async (_, model, message) => {
      world.fake.on('dall-e-3', answerJson({ error: { message: 'no such size' } }, 400))
      world.fake.on('dall-e-2', answerJson('a text'))
      const before = (await world.calls()).length
      const { status, json } = await create({ model, prompt })
      expect([status, json]).toEqual([
        200,
        { response: { error: expect.stringMatching(message) }, weave_call_id: null },
      ])
      expect(await world.calls()).toHaveLength(before)
    })

    it('no key appears in an answer about a failure', async () => {
      world.fake.on('dall-e-3', answerJson({ error: `Incorrect key: ${secretValue}` }, 401))
      const { text } = await create({ model: 'dall-e-3', prompt })
      expect(text).toContain('Incorrect key')
      expect(text).not.toContain(secretValue)
    })

    it.each<[object, string[]]>([
      [{ inputs: { model: 'm', prompt } }, ['project_id']],
      [{ project_id: project }, ['inputs']],
      [{ project_id: project, inputs: { prompt } }, ['inputs', 'model']],
      [{ project_id: project, inputs: { model: 'm' } }, ['inputs', 'prompt']],
      [{ project_id: project, inputs: { model: 'm', prompt, n: 1.5 } }, ['inputs', 'n']],
    ])('%j is refused', async (body, loc) => {
      const { status, json } = await world.post('/image/create', body)
      expect(status).toBe(422)
      expect(json.detail).toMatchObject([{ loc: ['body', ...loc] }])
    })
  })
})

describe('images may come from public addresses only', () => {
  within(['--inference-concurrency', '1'])

  it.each([
    ['127.0.0.1', () => imageUrl('secret.png')],
    ['2130706433', () => imageUrl('secret.png').replace('127.0.0.1', '2130706433')],
    ['a name of this machine', () => imageUrl('secret.png').replace('127.0.0.1', 'localhost')],
  ])('are not fetched from %s', async (_, address) => {
    served('secret.png')
    answers('dall-e-3', [{ url: address() }])
    const { json } = await create({ model: 'dall-e-3', prompt })
    expect(json.response).toMatchObject({ error: expect.stringMatching(/public address/), data: [{ url: address() }] })
    expect(world.fake.asked.some(({ path }) => path.includes('secret'))).toBe(false)
  })

  it('more image requests than a project may have at one time are refused, and ended ones make room', async () => {
    let release = () => undefined as unknown
    const asked = new Promise<void>((resolve) => {
      world.fake.on('gpt-image-1', (response, one) => {
        release = () => answerJson({ data: [] })(response, one)
        resolve()
      })
    })
    const first = create({ model: 'gpt-image-1', prompt })
    await asked
    const second = await create({ model: 'gpt-image-1', prompt })
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '1'])
    await release()
    expect((await first).json.response.data).toEqual([])
    answers('gpt-image-1', [])
    expect((await create({ model: 'gpt-image-1', prompt })).status).toBe(200)
  })
})
