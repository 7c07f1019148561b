// tier: deep slow
// Secrets of projects and entities: who uses which, where they go, and that nobody reads one again.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCallhouse } from '../../services/app/server.ts'
import { createLogger } from '../../services/core/process/logger.ts'
import { callhouse } from '../fixtures/callhouse.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { answerJson, completion, type FakeProvider, startFakeProvider } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld, project, secretValue } from '../fixtures/inference-world.ts'
import { processEnv } from '../fixtures/process-env.ts'

const path = '/inference/v1/chat/completions'
const messages = [{ role: 'user', content: 'Hi' }]
const own = 'sk-own-of-the-project-0123456789-wxyz'
const ofEntity = 'sk-of-the-entity-0123456789-abcd'
const sibling = 'ent/sibling'

let world: InferenceWorld
let thief: FakeProvider
const told: string[] = []
beforeAll(async () => {
  thief = await startFakeProvider()
  world = await createInferenceWorld(['--allow-private-networks'])
})
afterAll(async () => {
  await world.remove()
  await thief.close()
})

async function about(method: string, name: string, body?: object, of = project) {
  const answer = await fetch(`${world.server.now().url}/v2/${of}/secrets${name}`, {
    method,
    headers: { authorization: basicAuth(), 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  told.push(text, JSON.stringify([...answer.headers]))
  return { status: answer.status, json: JSON.parse(text) }
}

/** The key that the provider gets. */
async function sentFor(model: string, of = project, more: object = {}) {
  const answer = await world.post(path, { model, messages, ...more }, { 'openai-project': of })
  told.push(answer.text)
  return answer.status === 200 ? world.fake.last().headers.authorization : answer.json.error.code
}

const command = (words: string[], input = '', env: Record<string, string> = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['services/main.ts', ...words], {
    input,
    encoding: 'utf8',
    env: { ...processEnv(), CALLHOUSE_DATA_DIR: world.server.dataDir, ...env },
  })
  told.push(stdout, stderr)
  return { status, text: stdout + stderr }
}

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

describe('a secret of a project', () => {
  it("is used in the place of the operator's, by that project alone, over a restart", async () => {
    expect(await sentFor('openai/m')).toBe(`Bearer ${secretValue}`)
    expect(await about('PUT', '/OPENAI_API_KEY', { value: own })).toMatchObject({
      status: 200,
      json: { name: 'OPENAI_API_KEY', version: 1, updated_by: 'tester', last4: 'wxyz' },
    })
    expect(await sentFor('openai/m')).toBe(`Bearer ${own}`)
    expect(await sentFor('openai/m', sibling)).toBe(`Bearer ${secretValue}`)
    await world.server.restart()
    expect(await sentFor('openai/m')).toBe(`Bearer ${own}`)
  })

  it('reaches requests that threads handle, at once', async () => {
    const long = { messages: [{ role: 'user', content: 'x'.repeat(200_000) }] }
    expect(await sentFor('openai/m', project, long)).toBe(`Bearer ${own}`)
    await about('PUT', '/OPENAI_API_KEY', { value: `${own}2` })
    expect(await sentFor('openai/m', project, long)).toBe(`Bearer ${own}2`)
    await about('PUT', '/OPENAI_API_KEY', { value: own })
    world.fake.on('/v1/images/generations', answerJson({ data: [] }))
    await world.post('/image/create', { project_id: project, inputs: { model: 'openai/gpt-image-1', prompt: 'x' } })
    expect(world.fake.last().headers.authorization).toBe(`Bearer ${own}`)
  })

  it('is taken out of what a provider says, of the recorded call and of the log', async () => {
    world.fake.on('m', answerJson({ error: { message: `bad key ${own}, really` } }, 400))
    const answer = await world.post(path, { model: 'openai/m', messages })
    told.push(answer.text)
    expect(answer.json.error.message).toContain('REDACTED')
    world.fake.on('m', answerJson(completion('m')))
  })

  it('goes to an address that the project stores only where it is bound to that address', async () => {
    const store = async (object_id: string, val: object, builtin: string) => world.create(object_id, val, builtin)
    const ask = async (base_url: string) => {
      const provider = await store('own', { base_url, api_key_name: 'TEAM' }, 'Provider')
      await store('own-m', { name: 'm', provider, max_tokens: 1 }, 'ProviderModel')
      return sentFor('custom::own::m')
    }
    await about('PUT', '/TEAM', { value: own })
    expect(await ask(world.fake.url)).toBe('missing_secret')
    await about('PUT', '/TEAM', { value: own, origins: [world.fake.url] })
    expect(await ask(world.fake.url)).toBe(`Bearer ${own}`)
    expect(await ask(thief.url)).toBe('missing_secret')
    expect(thief.asked).toEqual([])
  })

  it("is an address for Azure, and the operator's key does not go there", async () => {
    world.writeProviders({})
    await about('PUT', '/AZURE_API_BASE', { value: thief.url })
    await expectSoon(() => sentFor('azure/m')).toBe('missing_secret')
    expect(thief.asked).toEqual([])
    await about('PUT', '/AZURE_API_KEY', { value: own, origins: [world.fake.url] })
    expect(await sentFor('azure/m')).toBe('missing_secret')
    await about('PUT', '/AZURE_API_BASE', { value: world.fake.url })
    await world.post(path, { model: 'azure/m', messages })
    expect(world.fake.last().headers['api-key']).toBe(own)
    world.fake.on('m', answerJson({ error: { message: `bad key ${own}, really` } }, 400))
    const answer = await world.post(path, { model: 'azure/m', messages })
    told.push(answer.text)
    expect([answer.status, answer.json.error.message]).toEqual([400, expect.stringContaining('REDACTED')])
    world.fake.on('m', answerJson(completion('m')))
  })

  it('is listed without its value, and removed', async () => {
    const { json } = await about('GET', '')
    expect(json.secrets.map(({ name, version }: { name: string; version: number }) => [name, version])).toEqual([
      ['AZURE_API_BASE', 2],
      ['AZURE_API_KEY', 1],
      ['OPENAI_API_KEY', 3],
      ['TEAM', 2],
    ])
    expect((await about('GET', '', undefined, sibling)).json).toEqual({ secrets: [] })
    expect(await about('DELETE', '/TEAM')).toMatchObject({ json: { removed: true } })
    expect(await about('DELETE', '/TEAM')).toMatchObject({ json: { removed: false } })
  })

  it.each<[string, string, object]>([
    ['a name with a dash', '/MY-KEY', { value: 'x' }],
    ['no value', '/A', { value: '' }],
    ['two lines', '/A', { value: 'a\nb' }],
    ['an address with a user', '/A', { value: 'x', origins: ['https://a:b@c.example'] }],
    ['another member', '/A', { value: 'x', scope: 'other' }],
  ])('is refused with %s', async (_, name, body) => {
    expect((await about('PUT', name, body)).status).toBe(422)
  })
})

it('commands set secrets of entities from the standard input, list them and take them away', async () => {
  world.writeProviders({ providers: { xai: { base_url: world.fake.url }, openai: { base_url: world.fake.url } } })
  expect(command(['secrets', 'set', 'ent', 'XAI_API_KEY'], `${ofEntity}\n`).text).toMatch(/is set/)
  await expectSoon(() => sentFor('xai/m', sibling)).toBe(`Bearer ${ofEntity}`)
  expect(await sentFor('xai/m', 'other/app')).toBe('Bearer xai-key-0123456789')
  expect(command(['secrets', 'list']).text).toMatch(/^ent {2}XAI_API_KEY {2}version 1 .*command {2}…abcd$/m)
  expect(command(['secrets', 'set', '*', 'A'], 'x')).toMatchObject({ status: 2 })
  expect(command(['secrets', 'set', 'ent', 'A', 'sk-value'], '')).toMatchObject({ status: 2 })
  expect(command(['secrets', 'remove', 'ent', 'XAI_API_KEY'])).toMatchObject({ status: 0 })
  await expectSoon(() => sentFor('xai/m', sibling)).toBe('Bearer xai-key-0123456789')
})

it('changes are audited by name alone', async () => {
  const { worker, store } = world.server.now()
  await expectSoon(async () => {
    await worker?.caughtUp()
    const events = await store.rows<Record<string, string>>({
      name: 'test',
      sql: 'SELECT action, scope, target, actor, details FROM callhouse.audit_events',
      params: {},
    })
    told.push(JSON.stringify(events))
    return events.map(({ action, scope, target, actor }) => [action, scope, target, actor].join(' '))
  }).toEqual(
    expect.arrayContaining([
      `secret.set ${project} OPENAI_API_KEY tester`,
      `secret.removed ${project} TEAM tester`,
      'secret.set ent XAI_API_KEY command',
    ]),
  )
})

/** Fails with the first file of a folder that holds a secret's value. */
function expectNoSecretsIn(folder: string): void {
  for (const file of filesOf(folder))
    for (const secret of [own, ofEntity]) expect(readFileSync(file).includes(secret), file).toBe(false)
}

it('no answer, log line or file of a backup holds a value, and a backup no master key', async () => {
  const backup = `${world.server.dataDir}-backup`
  await callhouse(['backup', backup], { CALLHOUSE_DATA_DIR: world.server.dataDir })
  const copied = filesOf(backup)
  expect(copied.some((file) => file.endsWith('directory.jsonl'))).toBe(true)
  expect(copied.filter((file) => file.endsWith('master.key'))).toEqual([])
  expectNoSecretsIn(backup)
  for (const secret of [own, ofEntity])
    for (const text of [...told, ...world.server.lines]) expect(text).not.toContain(secret)
  rmSync(backup, { recursive: true })
  await callhouse(['backup', backup, '--with-master-key'], { CALLHOUSE_DATA_DIR: world.server.dataDir })
  const restored = `${backup}-restored`
  await callhouse(['restore', backup], { CALLHOUSE_DATA_DIR: restored })
  const key = join(world.server.dataDir, 'master.key')
  expect(readFileSync(join(restored, 'master.key'), 'utf8')).toBe(readFileSync(key, 'utf8'))
  for (const folder of [backup, restored]) rmSync(folder, { recursive: true })
})

it('the data folder of a server that has ended holds no value', async () => {
  // Files of one that runs come and go while they are read.
  await world.server.now().shutdown.run('test')
  expectNoSecretsIn(world.server.dataDir)
})

it('another master key stops the start, and one of before opens them until they are sealed anew', async () => {
  const { config, dataDir } = world.server
  const before = readFileSync(join(dataDir, 'master.key'), 'utf8').trim()
  const after = Buffer.alloc(32, 7).toString('base64')
  writeFileSync(join(dataDir, 'master.key'), after)
  const quiet = () => createLogger({ level: 'error', out: { write: () => true } })
  await expect(startCallhouse(config, quiet())).rejects.toThrow(
    /does not open the secrets ent\/proj\/OPENAI_API_KEY, .*ent\/proj\/AZURE_API_KEY/,
  )
  expect(command(['secrets', 'rotate']).status).not.toBe(0)
  expect(command(['secrets', 'rotate'], '', { CALLHOUSE_MASTER_KEYS_OLD: before }).text).toMatch(/^3 secrets/)
  await world.server.restart()
  expect(await sentFor('openai/m')).toBe(`Bearer ${own}`)
  const rotated = async () => {
    const { worker, store } = world.server.now()
    await worker?.caughtUp()
    return store.rows({
      name: 'test',
      sql: "SELECT DISTINCT target FROM callhouse.audit_events WHERE action = 'secret.rotated'",
      params: {},
    })
  }
  await expectSoon(rotated).toHaveLength(3)
})

it('projects do without the secrets of the operator where these are not shared', async () => {
  // One process has one engine.
  await world.server.now().shutdown.run('test')
  const closed = await createInferenceWorld(['--shared-secrets', 'false'])
  try {
    const answer = await closed.post(path, { model: 'openai/m', messages })
    expect([answer.status, answer.json.error.code]).toEqual([400, 'missing_secret'])
  } finally {
    await closed.remove()
  }
})
