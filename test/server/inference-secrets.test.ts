// Keys of providers reach the addresses and serve the projects that they belong to, whatever a caller stores or asks.
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openKeys } from '../../services/core/http/keys.ts'
import { answerJson, type FakeProvider, startFakeProvider } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld, project, secretValue } from '../fixtures/inference-world.ts'

const team = 'own-key-0123456789'
const stranger = 'other/proj'
const path = '/inference/v1/chat/completions'
const messages = [{ role: 'user', content: 'Hi' }]

let world: InferenceWorld
/** The listener of someone who stores Providers. */
let thief: FakeProvider
beforeAll(async () => {
  thief = await startFakeProvider()
  world = await createInferenceWorld([
    '--allow-private-networks',
    '--engine-get-paths',
    'batches, batches/*, files/*/content',
  ])
  world.fake.on('/v1/models', answerJson({ data: [{ id: 'listed' }] }))
  world.writeProviders({
    providers: {
      openai: { base_url: world.fake.url },
      azure: { base_url: world.fake.url.replace(/\/v1$/, '') },
      house: { base_url: `${world.fake.url}/house`, api_key_name: 'OWN_KEY' },
    },
    models: { shared: { provider: 'openai' }, ours: { provider: 'openai', api_key_name: 'OWN_KEY' } },
    secrets: { OWN_KEY: { projects: [project, 'friends'], origins: [world.fake.url] } },
  })
})
afterAll(async () => {
  await world.remove()
  await thief.close()
})

/** Stores a Provider and its model, then asks for a completion. */
async function ask(value: { base_url: string; api_key_name: string; extra_headers?: object }, as = project) {
  const store = async (object_id: string, val: object, builtin_object_class: string) =>
    (
      await world.server.send<{ digest: string }>('/obj/create', {
        obj: { project_id: as, object_id, val, builtin_object_class },
      })
    ).digest
  const provider = await store('own', value, 'Provider')
  await store('own-m', { name: 'm', provider, max_tokens: 1 }, 'ProviderModel')
  return world.post(path, { model: 'custom::own::m', messages }, { 'openai-project': as })
}

const carries = ({ asked }: FakeProvider, secret: string) =>
  asked.filter(({ headers }) => JSON.stringify(headers).includes(secret)).map((one) => one.path)

const portOf = (url: string) => new URL(url).port

describe('a key', () => {
  it.each([['XAI_API_KEY'], ['OPENAI_API_KEY'], ['OWN_KEY']])(
    '%s is not sent to an address that a project made up',
    async (api_key_name) => {
      const { status, json } = await ask({ base_url: thief.url, api_key_name })
      expect([status, json.error.code, json.api_key]).toEqual([400, 'missing_secret', api_key_name])
      expect(thief.asked).toEqual([])
      expect(world.server.lines.findLast((line) => line.includes('a secret was not sent'))).toContain(api_key_name)
    },
  )

  it('that is not there is answered in the same words as one of others', async () => {
    const base_url = thief.url
    const absent = await ask({ base_url, api_key_name: 'NOT_SET' })
    const foreign = await ask({ base_url, api_key_name: 'XAI_API_KEY' })
    expect(absent.text.replaceAll('NOT_SET', '')).toBe(foreign.text.replaceAll('XAI_API_KEY', ''))
  })

  it.each<[string, () => string]>([
    ['another port', () => world.fake.url.replace(portOf(world.fake.url), portOf(thief.url))],
    ['its host as a user', () => `http://${new URL(world.fake.url).host}@${new URL(thief.url).host}/v1`],
    ['steps back with an escaped slash', () => `${world.fake.url}/..%2fadmin`],
  ])('of a project is not sent to %s', async (_, base_url) => {
    const before = carries(world.fake, team).length
    expect((await ask({ base_url: base_url(), api_key_name: 'OWN_KEY' })).status).toBe(400)
    expect([thief.asked, carries(world.fake, team).length]).toEqual([[], before])
  })

  it('of a project is sent below its address, without the user in front of the host', async () => {
    const base_url = `${world.fake.url.replace('//', '//someone:else@')}/eu.west/`
    const answer = await ask({ base_url, api_key_name: 'OWN_KEY' })
    expect(answer.status, answer.text).toBe(200)
    expect(world.fake.last().headers.authorization).toBe(`Bearer ${team}`)
    expect(world.fake.last().path).toBe('/v1/eu.west/chat/completions')
  })

  it('of a project is for it and its entities alone, by every way to ask', async () => {
    const before = carries(world.fake, team).length
    expect((await ask({ base_url: world.fake.url, api_key_name: 'OWN_KEY' }, stranger)).status).toBe(400)
    const about = { 'openai-project': stranger }
    for (const model of [`weave:///${project}/object/own-m:latest`, 'house/m', 'ours'])
      expect((await world.post(path, { model, messages }, about)).json.error.code, model).toBe('missing_secret')
    const image = await world.post('/image/create', { project_id: stranger, inputs: { model: 'ours', prompt: 'x' } })
    expect(image.json.response.error).toBe('Missing secret: OWN_KEY')
    const sdk = await world.post('/completions/create', { project_id: stranger, inputs: { model: 'ours', messages } })
    expect(sdk.json.response).toMatchObject({ error_status_code: 400, api_key: 'OWN_KEY' })
    expect((await world.get('/inference/router/house/models', about)).status).toBe(400)
    const listed = async (headers: object) =>
      (await world.get('/inference/v1/models', { ...headers })).json.data.map(({ id }: { id: string }) => id)
    expect(await listed(about)).not.toContain('ours')
    expect(carries(world.fake, team).length).toBe(before)
    expect((await world.post(path, { model: 'ours', messages }, { 'openai-project': 'friends/any' })).status).toBe(200)
    expect(await listed({})).toContain('ours')
    expect(carries(world.fake, team).length).toBe(before + 1)
  })

  it("that is bound to nobody serves the operator's providers, for every project", async () => {
    expect((await world.post(path, { model: 'shared', messages }, { 'openai-project': stranger })).status).toBe(200)
    expect(world.fake.last().headers.authorization).toBe(`Bearer ${secretValue}`)
  })

  it.each([301, 302, 303, 307, 308])('does not follow a redirect (%i) elsewhere', async (status) => {
    world.fake.on('moved', answerJson({}, status, { location: `${thief.url}/chat/completions` }))
    world.fake.on('/v1/house/models', answerJson({}, status, { location: `${thief.url}/models` }))
    expect((await world.post(path, { model: 'openai/moved', messages })).status).toBe(502)
    expect((await world.get('/inference/router/house/models')).status).toBe(502)
    expect(thief.asked).toEqual([])
  })

  it('goes out with no header that leads a proxy to another path, method or host', async () => {
    const names = ['X-Original-URL', 'x-rewrite-url', 'X-HTTP-Method-Override', 'X-Forwarded-Host', 'Forwarded', 'Host']
    const extra_headers = Object.fromEntries(names.map((name) => [name, '/v1/files']))
    expect((await world.post(path, { model: 'shared', messages, extra_headers })).status).toBe(200)
    const ofRequest = Object.keys(world.fake.last().headers)
    expect((await ask({ base_url: world.fake.url, api_key_name: 'OWN_KEY', extra_headers })).status).toBe(200)
    for (const sent of [ofRequest, Object.keys(world.fake.last().headers)])
      for (const name of names.slice(0, -1)) expect(sent).not.toContain(name.toLowerCase())
    expect(world.fake.last().headers.host).toBe(new URL(world.fake.url).host)
    for (const [name, value] of [
      ['X-A', 'x\r\nAuthorization: y'],
      ['X-A\r\nB', 'x'],
      ['Authorization ', 'x'],
    ] as const)
      expect((await world.post(path, { model: 'shared', messages, extra_headers: { [name]: value } })).status).toBe(400)
  })

  it('of Azure goes to deployments only', async () => {
    for (const name of ['.', '..', '../files', '%2e%2e'])
      await world.post(path, { model: `azure/${name}`, messages, api_version: 'x' })
    const at = world.fake.asked.map((one) => one.path).filter((one) => one.startsWith('/openai'))
    expect(at).toEqual(
      ['..%2Ffiles', '%252e%252e'].map((name) => `/openai/deployments/${name}/chat/completions?api-version=x`),
    )
  })
})

describe('reads of the engine', () => {
  let reader: string
  beforeAll(() => {
    reader = openKeys({ dataDir: world.server.dataDir, configured: [] }).create({
      userId: 'r',
      grants: ['ent'],
      role: 'read',
    }).text
  })
  /** The path as it stands: fetch would resolve its dots. */
  const read = (at: string) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(world.server.now().url)
      const headers = { authorization: `Bearer ${reader}`, 'openai-project': project }
      request({ hostname, port, path: `/inference/v1/${at}`, headers }, async (response) => {
        resolve({ status: response.statusCode, text: (await response.toArray()).join('') })
      })
        .on('error', reject)
        .end()
    })

  it.each([
    'files',
    'organization/api_keys',
    'models/../files',
    'models/..%2ffiles',
    'models%2f..%2ffiles',
    'models%2F%2E%2E%2Ffiles',
    'models/%252e%252e/files',
    'batches/%252e%252e',
    'batches/..%2ffiles',
    'batches/x%2f..%2f..%2ffiles',
    'batches/x%5c..%5cfiles',
    'batches/%2e%2e',
    'batches//files',
    'batches/x/y',
    'files/x',
    'files/content',
    'files//content',
    'batches%3f/files',
    'batches%00/files',
    '__proto__',
  ])('of a path that the operator did not list (%s) do not reach it', async (at) => {
    const before = world.fake.asked.length
    expect((await read(at)).status).toBe(404)
    // Models that may be used are asked for where the path is one of a model.
    expect(world.fake.asked.slice(before).filter((one) => one.path !== '/v1/models')).toEqual([])
  })

  it('of listed paths do, with their query and the key of the engine', async () => {
    for (const [at, upstream] of [
      ['batches', '/v1/batches'],
      ['batches/b_1?limit=2&project_id=ent/x', '/v1/batches/b_1?limit=2'],
      ['batches?../files', '/v1/batches?..%2Ffiles='],
      ['files/a%20b/content/', '/v1/files/a%20b/content'],
    ] as const) {
      expect((await read(at)).status, at).toBe(200)
      const { path: asked, headers } = world.fake.last()
      expect([asked, headers.authorization]).toEqual([upstream, 'Bearer engine-secret-key'])
    }
    world.fake.on('/v1/batches/gone', answerJson({ error: { message: 'No such thing' } }, 404))
    expect((await read('batches/gone')).text).toContain('No such thing')
  })

  it('of models need nothing listed', async () => {
    expect((await read('models')).status).toBe(200)
    expect((await read('models/listed')).text).toContain('"id":"listed"')
  })
})

it('no listener of a caller was ever asked with a key', () => {
  expect(thief.asked).toEqual([])
  const log = world.server.lines.join('')
  for (const secret of [team, secretValue, 'engine-secret-key', 'xai-key-0123456789']) expect(log).not.toContain(secret)
})
