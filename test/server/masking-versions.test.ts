// The rules that masked a call: on its rows, in lists and filters, and in counts of a project.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project_id = 'marks/app'
let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer([])
})
afterAll(() => server.remove())

const headers = { authorization: basicAuth(), 'content-type': 'application/json' }

async function put(rules: object, path = `/v2/${project_id}/masking`) {
  const answer = await fetch(server.now().url + path, { method: 'PUT', headers, body: JSON.stringify(rules) })
  expect(answer.status).toBe(200)
  return (await answer.json()) as { version: number; rows_version?: number }
}

const startOf = (id: string, inputs: object) => ({
  project_id,
  id,
  trace_id: id,
  op_name: 'o',
  started_at: new Date().toISOString(),
  attributes: {},
  inputs,
})
const endOf = (id: string, output: unknown) => ({
  project_id,
  id,
  ended_at: new Date().toISOString(),
  output,
  summary: {},
})
const mail = 'x@y.de'

async function written(inputs: object, output: unknown): Promise<string> {
  const id = uuidv7()
  const batch = [
    { mode: 'start', req: { start: startOf(id, inputs) } },
    { mode: 'end', req: { end: endOf(id, output) } },
  ]
  await server.send('/call/upsert_batch', { batch })
  return id
}

type Listed = { id: string; masking?: { version: number; hits: number } }

async function list(more: object): Promise<Listed[]> {
  const answer = await fetch(`${server.now().url}/calls/stream_query`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ project_id, ...more }),
  })
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Listed]))
}
const maskingOf = async (id: string) =>
  (await list({ columns: ['masking'], filter: { call_ids: [id] } })).map(({ masking }) => masking)

/** Ids of the calls that rules before a version masked, or none at all. */
const maskedBefore = async (version: number) =>
  (
    await list({
      columns: ['id'],
      query: { $expr: { $not: [{ $gte: [{ $getField: 'masking.version' }, { $literal: version }] }] } },
    })
  ).map(({ id }) => id)

describe('the version of the rules that masked a call', () => {
  it('is told where it is asked for, with what they hit', async () => {
    const plain = await written({ a: mail }, null)
    expect(await maskingOf(plain)).toEqual([{ version: 0, hits: 0 }])
    expect((await list({ filter: { call_ids: [plain] } }))[0]).not.toHaveProperty('masking')
    expect((await put({ sets: ['@contact'] })).rows_version).toBe(1)
    expect(await maskingOf(await written({ a: mail, b: `${mail}, ${mail}` }, [mail]))).toEqual([
      { version: 1, hits: 4 },
    ])
    expect(await maskingOf(await written({ a: 'nothing' }, null))).toEqual([{ version: 1, hits: 0 }])
  })

  it('grows with the rules of every scope that reach the project, and is 0 where nothing is masked', async () => {
    expect(await put({ scope: 'marks', sets: ['@payment'] }, '/masking')).toMatchObject({ version: 1 })
    expect(await put({ sets: ['@contact'] })).toMatchObject({ version: 2, rows_version: 3 })
    expect(await maskingOf(await written({ a: mail }, '4111111111111111'))).toEqual([{ version: 3, hits: 2 }])
    await put({ scope: 'marks', mode: 'off' }, '/masking')
    expect(await put({ mode: 'dry_run', sets: ['@contact'] })).toMatchObject({ version: 3, rows_version: 0 })
    expect(await maskingOf(await written({ a: mail }, null))).toEqual([{ version: 0, hits: 0 }])
  })

  it('is the older one of a start and an end that came apart', async () => {
    const id = uuidv7()
    const older = (await put({ sets: ['@contact'] })).rows_version as number
    await server.send('/call/start', { start: startOf(id, { a: mail }) })
    expect(await maskingOf(id)).toEqual([{ version: older, hits: 1 }])
    await put({ sets: ['@contact', '@payment'] })
    await server.send('/call/end', { end: endOf(id, [mail, mail]) })
    expect(await maskingOf(id)).toEqual([{ version: older, hits: 3 }])
    expect(await maskedBefore(older + 1)).toContain(id)
    expect(await maskedBefore(older)).not.toContain(id)
  })

  it('is what calls can be found and put in order by', async () => {
    const { rows_version: now = 0 } = await put({ sets: ['@contact'] })
    const late = await written({ a: mail }, null)
    const wide = await written({ a: mail, n: 123456789012345678901234567890n.toString() }, null)
    const ids = await maskedBefore(now)
    expect(ids.length).toBeGreaterThan(4)
    expect(ids).not.toContain(late)
    expect(ids).not.toContain(wide)
    const sorted = await list({ columns: ['masking'], sort_by: [{ field: 'masking.version', direction: 'desc' }] })
    const versions = sorted.map(({ masking }) => masking?.version ?? -1)
    expect(versions).toEqual([...versions].sort((a, b) => b - a))
    expect(versions[0]).toBe(now)
    const unknown = await fetch(`${server.now().url}/calls/stream_query`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ project_id, sort_by: [{ field: 'masking.hints', direction: 'asc' }] }),
    })
    expect(unknown.status).toBe(422)
  })

  it('is told of calls with numbers that the engine cannot read', async () => {
    const { rows_version: now = 0 } = await put({ sets: ['@contact'] })
    const id = uuidv7()
    const [head, tail] = JSON.stringify({ start: startOf(id, { a: mail, n: 0 }) }).split('"n":0')
    const answer = await fetch(`${server.now().url}/call/start`, {
      method: 'POST',
      headers,
      body: `${head}"n":123456789012345678901234567890${tail}`,
    })
    expect(answer.status).toBe(200)
    expect(await maskedBefore(now)).not.toContain(id)
    expect(await maskedBefore(now + 1)).toContain(id)
  })

  it('stands on spans', async () => {
    const { rows_version: version } = await put({ sets: ['@contact'] })
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const now = `${Date.now()}000000`
    const spans = [
      {
        traceId: 'ab'.repeat(16),
        spanId: 'cd'.repeat(8),
        name: 's',
        startTimeUnixNano: now,
        endTimeUnixNano: now,
        attributes: [text('input.value', `${mail} ${mail}`), text('other', mail)],
      },
    ]
    const answer = await fetch(`${server.now().url}/otel/v1/traces`, {
      method: 'POST',
      headers: { ...headers, project_id },
      body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
    })
    expect(answer.status).toBe(200)
    const [masking] = await maskingOf('cd'.repeat(8))
    expect(masking?.version).toBe(version)
    expect(masking?.hits).toBeGreaterThanOrEqual(3)
  })
})

describe('masked values', () => {
  const used = async (id: string): Promise<number> => {
    const answer = await fetch(`${server.now().url}/usage/query`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ project_id: id, from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', by: 'day' }),
    })
    const lines = (await answer.text()).split('\n').filter((line) => line !== '')
    return lines.reduce((sum, line) => sum + (JSON.parse(line) as { masked: number }).masked, 0)
  }

  it('are counted for the project, those of long bodies too, and by what found them', async () => {
    const other = 'marks/counted'
    await put({ sets: ['@contact'] }, `/v2/${other}/masking`)
    const texts = Array.from({ length: 3_000 }, () => `${'filler '.repeat(60)}${mail}`)
    for (const inputs of [{ a: mail }, { texts }])
      await server.send('/call/start', { start: { ...startOf(uuidv7(), inputs), project_id: other } })
    await put({ mode: 'dry_run', sets: ['@contact'] }, `/v2/${other}/masking`)
    await server.send('/call/start', { start: { ...startOf(uuidv7(), { a: mail }), project_id: other } })
    const metrics = await (await fetch(`${server.now().url}/metrics`, { headers })).text()
    const counted = (mode: string) =>
      Number(
        new RegExp(
          `^callhouse_masked_total\\{detector="email",rule="@contact:email",mode="${mode}"\\} (\\d+)`,
          'm',
        ).exec(metrics)?.[1],
      )
    expect(counted('on')).toBeGreaterThanOrEqual(3_001)
    expect(counted('dry_run')).toBeGreaterThanOrEqual(1)
    // Usage is written when a minute is over, and at the end of the process.
    await server.restart()
    await expectSoon(() => used(other)).toBe(3_001)
  })
})
