// Rules of masking over HTTP: how they are set, tried and refused, and what they leave of what is written.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'masks/app'
const path = `/v2/${project_id}/masking`
let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer(['--mask-floor', '@payment'])
})
afterAll(() => server.remove())

async function put(rules: object) {
  const answer = await fetch(server.now().url + path, {
    method: 'PUT',
    headers: { authorization: basicAuth(), 'content-type': 'application/json' },
    body: JSON.stringify(rules),
  })
  return { status: answer.status, value: (await answer.json()) as Record<string, unknown> }
}

const read = async () =>
  (await (await fetch(server.now().url + path, { headers: { authorization: basicAuth() } })).json()) as object

/** Writes a call and reads it back. */
async function stored(inputs: object, more: object = {}) {
  const id = uuidv7()
  const start = { project_id, id, trace_id: id, op_name: 'o', started_at: new Date().toISOString(), attributes: {} }
  await server.send('/call/start', { start: { ...start, inputs, ...more } })
  const { call } = await server.send<{ call: Record<string, unknown> }>('/call/read', { project_id, id })
  return call
}

describe('rules of a project', () => {
  it('are none at first, but for the sets that are always on', async () => {
    expect(await read()).toMatchObject({
      scope: project_id,
      version: 0,
      rules: { sets: [], rules: [] },
      floor: ['@payment'],
    })
    expect(await stored({ a: 'card 4111111111111111 of x@y.de' })).toMatchObject({
      inputs: { a: 'card [card …1111] of x@y.de' },
    })
  })

  it('hold for what is written next, at a version that grows, and over a restart', async () => {
    const rules = { sets: ['@contact'], rules: [{ id: 'who', path: 'inputs.user.name', action: 'drop' }] }
    expect(await put(rules)).toMatchObject({ status: 200, value: { version: 1, rules } })
    expect(await put(rules)).toMatchObject({ status: 200, value: { version: 2 } })
    const sent = [{ user: { name: 'Ann', mail: 'x@y.de' } }, { display_name: 'for x@y.de' }] as const
    const kept = { inputs: { user: { name: '[dropped]', mail: '[email]' } }, display_name: 'for [email]' }
    expect(await stored(...sent)).toMatchObject(kept)
    await server.restart()
    expect(await read()).toMatchObject({ version: 2, rules })
    expect(await stored(...sent)).toMatchObject(kept)
  })

  it('reach long bodies, which threads handle, as soon as they change', async () => {
    const inputs = { texts: Array.from({ length: 12_000 }, () => `${'filler '.repeat(15)}x@y.de`) }
    await put({ rules: [{ id: 'mail', detect: 'email', action: 'mask' }] })
    expect(JSON.stringify(await stored(inputs))).not.toContain('x@y.de')
    await put({ mode: 'off', rules: [{ id: 'mail', detect: 'email', action: 'mask' }] })
    expect(JSON.stringify(await stored(inputs))).toContain('x@y.de')
  })

  it('of a dry run change nothing that is stored', async () => {
    await put({ mode: 'dry_run', sets: ['@contact'] })
    // The sets that are always on mask beside it.
    expect(await stored({ a: 'card 4111111111111111 of x@y.de' })).toMatchObject({
      inputs: { a: 'card [card …1111] of x@y.de' },
    })
    const metrics = await fetch(`${server.now().url}/metrics`, { headers: { authorization: basicAuth() } })
    expect(await metrics.text()).toMatch(
      /^callhouse_masked_total\{detector="email",rule="@contact:email",mode="dry_run"\} [1-9]/m,
    )
  })

  it('mask feedback', async () => {
    await put({ sets: ['@contact'] })
    const weave_ref = `weave:///${project_id}/call/${uuidv7()}`
    const payload = { note: 'ask x@y.de' }
    const { payload: kept } = await server.send<{ payload: object }>('/feedback/create', {
      project_id,
      weave_ref,
      feedback_type: 'custom',
      payload,
    })
    expect(kept).toEqual({ note: 'ask [email]' })
  })

  it('keep content and files out where they say so', async () => {
    await put({ content: 'drop' })
    const image = `data:image/png;base64,${Buffer.alloc(20_000, 'x').toString('base64')}`
    expect(await stored({ image })).toMatchObject({ inputs: { image: '[dropped]' } })
    const form = new FormData()
    form.set('project_id', project_id)
    form.set('file', new Blob(['hello']), 'a.txt')
    const answer = await fetch(`${server.now().url}/file/create`, {
      method: 'POST',
      headers: { authorization: basicAuth() },
      body: form,
    })
    expect(answer.status).toBe(403)
    await put({})
  })

  it('reach objects and rows of tables where they say so, whose digests are those of what is left', async () => {
    const val = { who: 'ann@canary.org', n: 1.5 }
    const object = { project_id, object_id: 'masked-object', val }
    const rows = [{ of: 'bob@canary.org' }]
    type Created = { digest: string; row_digests: string[] }
    const objectDigest = async () => (await server.send<Created>('/obj/create', { obj: object })).digest
    const table = async () => server.send<Created>('/table/create', { table: { project_id, rows } })
    const plain = { object: await objectDigest(), table: await table() }
    const rules = [{ id: 'mail', detect: 'email', action: 'mask' }]
    await put({ rules })
    expect([await objectDigest(), await table()]).toEqual([plain.object, plain.table])
    await put({ rules, objects: true })
    const [digest, made] = [await objectDigest(), await table()]
    expect(digest).not.toBe(plain.object)
    expect(await server.send('/obj/create', { obj: { ...object, expected_digest: digest } })).toMatchObject({ digest })
    const refused = await post(server.now().url, '/obj/create', { obj: { ...object, expected_digest: plain.object } })
    expect(refused.status).toBe(409)
    const read = await server.send<{ obj: { val: unknown } }>('/obj/read', {
      project_id,
      object_id: 'masked-object',
      digest,
    })
    expect(read.obj.val).toEqual({ who: '[email]', n: 1.5 })
    const updates = [{ append: { row: { of: 'eve@canary.org' } } }]
    const changed = await server.send<{ digest: string }>('/table/update', {
      project_id,
      base_digest: made.digest,
      updates,
    })
    const found = await server.send<{ rows: { val: unknown }[] }>('/table/query', {
      project_id,
      digest: changed.digest,
    })
    expect(found.rows.map((row) => row.val)).toEqual([{ of: '[email]' }, { of: '[email]' }])
    // The rule has a path, and not in calls.
    await put({ objects: true, rules: [{ id: 'who', path: 'objects.who', action: 'drop' }] })
    const dropped = await server.send<{ obj: { val: unknown } }>('/obj/read', {
      project_id,
      object_id: 'masked-object',
      digest: await objectDigest(),
    })
    expect(dropped.obj.val).toEqual({ who: '[dropped]', n: 1.5 })
    await put({})
  })

  it.each([
    [{ rules: [{ id: 'a', pattern: '(?=x)', action: 'mask' }] }, ['body', 'rules', 0, 'pattern']],
    [{ allow: ['('] }, ['body', 'allow', 0]],
    [{ sets: ['@everything'] }, ['body', 'sets', 0]],
    [{ rules: [{ id: 'a', action: 'mask' }] }, ['body', 'rules', 0]],
  ])('such as %j are refused with their place, and those before stay', async (rules, loc) => {
    const { status, value } = await put(rules)
    expect(status).toBe(422)
    expect(value.detail).toMatchObject([{ loc }])
    expect(await read()).toMatchObject({ rules: { sets: [], rules: [] } })
  })
})

it('rules of everything and of an entity are set by who administers them, and count for their projects', async () => {
  const ask = async (method: string, scope: string, rules?: object) => {
    const query = rules === undefined ? `?scope=${encodeURIComponent(scope)}` : ''
    const answer = await fetch(`${server.now().url}/masking${query}`, {
      method,
      headers: { authorization: basicAuth(), 'content-type': 'application/json' },
      ...(rules && { body: JSON.stringify({ scope, ...rules }) }),
    })
    return { status: answer.status, value: (await answer.json()) as Record<string, unknown> }
  }
  const mail = { rules: [{ id: 'mail', detect: 'email', action: 'mask' }] }
  const phone = { rules: [{ id: 'phone', detect: 'phone', action: 'drop' }] }
  expect(await ask('PUT', 'masks', mail)).toMatchObject({ status: 200, value: { scope: 'masks', version: 1 } })
  expect(await ask('PUT', '*', phone)).toMatchObject({ status: 200, value: { scope: '*', version: 1 } })
  expect(await ask('GET', 'masks')).toMatchObject({ value: { rules: mail } })
  await put({ allow: ['.*'] })
  expect(await stored({ a: 'x@y.de, +49 30 901820' })).toMatchObject({ inputs: { a: '[email], [dropped]' } })
  expect(await ask('GET', 'masks/')).toMatchObject({ status: 422, value: { detail: [{ loc: ['query', 'scope'] }] } })
  for (const scope of ['masks', '*']) await ask('PUT', scope, { mode: 'off' })
  expect(await stored({ a: 'x@y.de, +49 30 901820' })).toMatchObject({ inputs: { a: 'x@y.de, +49 30 901820' } })
})

it('a row that the store refuses is a dead letter as the rules left it', async () => {
  await put({ sets: ['@contact'] })
  const { store, worker } = server.now()
  const change = (what: string) =>
    store.command({ name: 'test.constraint', sql: `ALTER TABLE callhouse.payloads ${what}`, params: {} })
  await change(`ADD CONSTRAINT poisoned CHECK position(inputs, 'a poisoned row') = 0`)
  try {
    const id = uuidv7()
    const start = { project_id, id, trace_id: id, op_name: 'o', started_at: new Date().toISOString(), attributes: {} }
    await server.send('/call/start', { start: { ...start, inputs: { text: 'a poisoned row for dead@y.de' } } })
    await worker?.caughtUp()
  } finally {
    await change('DROP CONSTRAINT poisoned')
    await put({ mode: 'off' })
  }
  const letters = await readFile(join(server.dataDir, 'deadletters.jsonl'), 'utf8')
  expect(letters).toContain('a poisoned row for [email]')
  expect(letters).not.toContain('dead@y.de')
  expect(server.lines.filter((line) => line.includes('dead@y.de'))).toEqual([])
})

it('a preview shows what rules would do with a text, a value and stored calls, and changes nothing', async () => {
  const { id } = await stored({ to: 'x@y.de', n: 1 })
  const rules = { rules: [{ id: 'mail', detect: 'email', action: 'mask' }] }
  const version = (await read()) as { version: number }
  const { status, text } = await post(server.now().url, '/masking/preview', {
    project_id,
    rules,
    text: 'mail x@y.de',
    value: ['4111111111111111', 'x@y.de'],
    call_ids: [id],
  })
  expect([status, JSON.parse(text)]).toMatchObject([
    200,
    {
      text: 'mail [email]',
      value: ['[card …1111]', '[email]'],
      calls: [{ id, inputs: { to: '[email]', n: 1 } }],
      hits: { mail: 3, '@payment:card': 1 },
    },
  ])
  expect(await read()).toEqual(version)
})
