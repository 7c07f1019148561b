// Property: whatever is sent to a route that writes, the answer is below 500 and comes, and what was taken can be read.
// again: property
// HOSTILE_RUNS sets how many requests are sent, HOSTILE_SEED which ones.
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth } from '../fixtures/child-server.ts'
import { type FakeProvider, startFakeProvider } from '../fixtures/fake-provider.ts'
import { type Hostile, hostileWrite } from '../fixtures/hostile.ts'
import { hostileFrame } from '../fixtures/hostile-frames.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { createRandom } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'

const requests = Number(process.env.HOSTILE_RUNS ?? runs(50, 1_200))
const seed = Number(process.env.HOSTILE_SEED ?? 11)
// Some routes wait until they see what was written before, which takes its time on a busy machine.
const answerLimitMs = 180_000
const authorization = basicAuth()
const idOf = (n: number): string => (0xa000000000 + n).toString(16).padStart(16, '0')

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

/** Sends bytes and the end of what will come; resolves with what came back when the server ends the connection. */
const sendWhole = (bytes: Buffer): Promise<string | null> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = []
    const { port } = new URL(server.now().url)
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true }, () => socket.end(bytes))
    const limit = setTimeout(() => {
      resolve(null)
      socket.destroy()
    }, answerLimitMs)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {})
    socket.on('close', () => {
      clearTimeout(limit)
      resolve(Buffer.concat(chunks).toString('latin1'))
    })
  })

const taken: string[] = []
const statuses = new Map<number, number>()

/** The fault of the answer, '' if there is none. */
async function check(hostile: Hostile): Promise<string> {
  const { path, headers, body, what, callId } = hostile
  const shown = `${what} to ${path}: ${body.subarray(0, 600).toString('latin1')}`
  try {
    const answer = await fetch(server.now().url + path, {
      method: 'POST',
      headers: { authorization, ...headers },
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(answerLimitMs),
    })
    const text = await answer.text()
    // Several at one time may need more memory than there is for long bodies: a client asks again.
    if (answer.status === 503 && answer.headers.has('retry-after')) return check(hostile)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    if (answer.status >= 500) return `${answer.status} ${text} for ${shown}`
    if (answer.status === 200 && callId !== undefined) taken.push(callId)
    return ''
  } catch (error) {
    return `${error} ${error instanceof Error ? error.cause : ''} for ${shown}`
  }
}

it('writes with one thing wrong in body, bytes or encoding are answered below 500', {
  timeout: limitMs(600_000),
}, async () => {
  const random = createRandom(seed)
  const failed: string[] = []
  for (let n = 0; n < requests; n += 8) {
    const some = Array.from({ length: 8 }, (_, k) => hostileWrite(random, idOf(n + k)))
    failed.push(...(await Promise.all(some.map(check))).filter((text) => text !== ''))
  }
  expect(failed).toEqual([])
  // Both sides of the border are met.
  expect(statuses.get(200)).toBeGreaterThan(requests / 20)
  expect(statuses.get(422)).toBeGreaterThan(requests / 20)
})

it('requests with broken framing are answered below 500', { timeout: limitMs(600_000) }, async () => {
  const random = createRandom(seed + 1)
  for (let n = 0; n < requests / 4; n += 8) {
    const some = Array.from({ length: 8 }, (_, k) => hostileFrame(random, idOf(1e6 + n + k), authorization))
    const answers = await Promise.all(some.map(sendWhole))
    for (const [k, answer] of answers.entries()) {
      const shown = some[k]?.subarray(0, 900).toString('latin1')
      if (answer === null) expect(`no end of ${shown}`).toBe('an answer')
      else if (/^HTTP\/1\.1 5/m.test(answer)) expect(`${answer.slice(0, 300)} for ${shown}`).toBe('below 500')
    }
  }
})

it('rows of hostile writes can be read, with no dead letter and no fault in the log lines', {
  timeout: limitMs(120_000),
}, async () => {
  expect(taken.length).toBeGreaterThan(requests / runs(200, 100))
  const found = await server.list<{ id: string }>('/calls/stream_query', {
    project_id: 'fuzz/a',
    filter: { call_ids: taken },
    columns: ['id'],
  })
  expect(found.map(({ id }) => id).sort()).toEqual([...new Set(taken)].sort())
  const { count } = await server.send<{ count: number }>('/calls/query_stats', { project_id: 'fuzz/a' })
  expect(await server.list('/calls/stream_query', { project_id: 'fuzz/a' })).toHaveLength(count)
  expect(server.lines.filter((line) => /"level":(50|60)|"deadLetters":[1-9]/.test(line))).toEqual([])
  expect(server.now().worker?.status()).toEqual({ status: 'ok' })
})
