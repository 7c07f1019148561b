// Requests that run in a thread of their own are answered as all others are: white space makes a body long.
// again: property
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../fixtures/eventually.ts'
import { type FakeProvider, startFakeProvider } from '../fixtures/fake-provider.ts'
import { damagedValue } from '../fixtures/hostile.ts'
import { validReads } from '../fixtures/hostile-reads.ts'
import { textOf } from '../fixtures/hostile-text.ts'
import { validWrites } from '../fixtures/hostile-valid.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { createRandom } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'

const requests = runs(10, 300)
const seed = Number(process.env.LONG_REQUESTS_SEED ?? 5)
const padding = Buffer.alloc(1_100_000, 32)
const headers = { authorization: 'Bearer test-key', 'content-type': 'application/json', project_id: 'fuzz/a' }

let server: LiveServer
let engine: FakeProvider
beforeAll(async () => {
  engine = await startFakeProvider()
  server = await startLiveServer(['--engine-url', engine.url])
})
afterAll(async () => {
  await server.remove()
  await engine.close()
})

const ask = async (path: string, body: Buffer) => {
  const answer = await fetch(server.now().url + path, { method: 'POST', headers, body })
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
}
const both = async (path: string, text: string) => {
  const body = Buffer.from(text)
  return [await ask(path, body), await ask(path, Buffer.concat([body, padding]))] as const
}
const gauge = async (name: string): Promise<number> => {
  const text = await (await fetch(`${server.now().url}/metrics`, { headers })).text()
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
}

/** Without what is new in every answer: ids, times, and digests of what holds them. */
const lasting = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{16}/g, 'id')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')

it('a request has the same answer whether its body is long or short', { timeout: limitMs(120_000) }, async () => {
  const random = createRandom(seed)
  const id = '0123456789abcdef'
  const asked = [
    ...validWrites.flatMap(({ path, value, type }) => (type === undefined ? [{ path, value: value(id) }] : [])),
    ...validReads,
  ]
  for (let n = 0; n < requests; n++) {
    const { path, value } = random.pick(asked)
    const { value: sent, what } = random.chance(0.3) ? { value, what: 'valid' } : damagedValue(random, value)
    const text = textOf(sent)
    const [short, long] = await both(path, text)
    const shown = `${what} to ${path}: ${text.slice(0, 300)}`
    expect([long.status, long.type, lasting(long.text)], shown).toEqual([short.status, short.type, lasting(short.text)])
  }
  expect(await gauge('callhouse_request_threads')).toBeGreaterThan(0)
})

describe('a long request', () => {
  const project_id = 'long/a'
  const exact =
    '{"one":1.0,"big":123456789012345678901234567890,"far":12345678901234567890.5e-3,"text":"\\u00e9\\ud83d\\ude00"}'

  it('has the digests of a short one, whose numbers count as they are spelled', async () => {
    const object = `{"obj":{"project_id":"${project_id}","object_id":"o","val":${exact}}}`
    const table = `{"table":{"project_id":"${project_id}","rows":[${exact},{"a":1},{"a":1.0}]}}`
    for (const [path, body] of [
      ['/obj/create', object],
      ['/table/create', table],
    ] as const) {
      const [short, long] = await both(path, body)
      expect(long).toEqual(short)
      expect(short.status).toBe(200)
    }
  })

  it('stores calls that read as they were sent', async () => {
    const call = (id: string) =>
      `{"batch":[{"project_id":"${project_id}","id":"${id}","trace_id":"0123456789abcdef0123456789abcdef","op_name":"o","started_at":"2026-05-01T00:00:00Z","ended_at":"2026-05-01T00:00:01Z","attributes":{},"inputs":${exact},"output":${exact},"summary":{}}]}`
    const read = async (id: string) => {
      const { text } = await ask('/call/read', Buffer.from(JSON.stringify({ project_id, id })))
      expect(text).toContain(`"inputs":${exact},"output":${exact}`)
      return text.replaceAll(id, 'id')
    }
    const path = `/v2/${project_id}/calls/complete`
    const ids = ['00000000000000aa', '00000000000000bb'] as const
    expect(await ask(path, Buffer.from(call(ids[0])))).toMatchObject({ status: 200, text: '{}' })
    expect((await ask(path, Buffer.concat([Buffer.from(call(ids[1])), padding]))).status).toBe(200)
    expect(await read(ids[1])).toBe(await read(ids[0]))
  })

  it('waits for a short one that creates the same name, so that only one class has it', async () => {
    const body = (className: string) =>
      Buffer.from(
        JSON.stringify({
          obj: {
            project_id,
            object_id: 'bound',
            val: { _class_name: 'Mine', _bases: [className, 'Object', 'BaseModel'] },
          },
        }),
      )
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => {
        const one = body(n % 2 ? 'Model' : 'Prompt')
        return ask('/obj/create', n % 3 ? one : Buffer.concat([one, padding]))
      }),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 400, 400, 400])
  })

  it('is refused with its rights and its size like a short one', async () => {
    const body = Buffer.concat([Buffer.from(`{"project_id":"${project_id}","row_digests":[]}`), padding])
    const denied = await fetch(`${server.now().url}/table/create_from_digests`, { method: 'POST', body })
    expect(denied.status).toBe(401)
    const large = Buffer.alloc(server.config.maxBodyBytes + 1, 32)
    expect((await ask('/obj/create', large)).status).toBe(413)
  })

  it('that its client gives up leaves nothing behind', async () => {
    const controller = new AbortController()
    const members = Array.from({ length: 150_000 }, (_, n) => `"k${n}":0`).join(',')
    const body = `{"obj":{"project_id":"${project_id}","object_id":"gone","val":{${members}}}}`
    const given = fetch(`${server.now().url}/obj/create`, { method: 'POST', headers, body, signal: controller.signal })
    given.catch(() => undefined)
    await eventually(async () => expect(await gauge('callhouse_request_threads_running')).toBe(1), { everyMs: 5 })
    controller.abort()
    await eventually(async () => expect(await gauge('callhouse_request_threads_running')).toBe(0))
  })

  it('does not keep a server from ending', async () => {
    const members = Array.from({ length: 100_000 }, (_, n) => `"k${n}":0`).join(',')
    const body = `{"obj":{"project_id":"${project_id}","object_id":"late","val":{${members}}}}`
    const late = ask('/obj/create', Buffer.from(body))
    await eventually(async () => expect(await gauge('callhouse_request_threads_running')).toBe(1), { everyMs: 5 })
    await Promise.all([server.restart(), late])
    expect((await late).status).toBe(200)
    const { text } = await ask(
      '/obj/read',
      Buffer.from(JSON.stringify({ project_id, object_id: 'late', digest: 'latest' })),
    )
    expect(text).toContain('"k99999":0')
  })
})
