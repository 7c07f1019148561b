// Property: whatever is asked of a route that reads, the answer comes and is below 500, or says that it took too long.
// HOSTILE_RUNS sets how many requests are sent, HOSTILE_SEED which ones.
// again: property
import { beforeAll, expect, it } from 'vitest'
import { basicAuth } from '../fixtures/child-server.ts'
import type { Hostile } from '../fixtures/hostile.ts'
import { costly, hostileRead } from '../fixtures/hostile-reads.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { createRandom } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const requests = Number(process.env.HOSTILE_RUNS ?? runs(240, 2_400))
const seed = Number(process.env.HOSTILE_SEED ?? 12)
const answerLimitMs = 120_000
const authorization = basicAuth()

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
  const at = '2026-05-01T10:00:00Z'
  const batch = Array.from({ length: 40 }, (_, n) => ({
    project_id: 'fuzz/a',
    id: (0xb00000000000 + n).toString(16).padStart(16, '0'),
    trace_id: (0xc0 + (n % 5)).toString(16).padStart(32, '0'),
    op_name: 'f',
    started_at: at,
    ended_at: at,
    attributes: {},
    inputs: { x: n % 3 === 0 ? n : `text ${n}`, model: 'weave:///fuzz/a/object/x:latest' },
    output: n % 2 === 0 ? { score: n / 3 } : [n],
    summary: { usage: { m: { total_tokens: n } } },
  }))
  await server.send('/v2/fuzz/a/calls/complete', { batch })
  await server.send('/obj/create', { obj: { project_id: 'fuzz/a', object_id: 'x', val: { y: [{ z: 1 }] } } })
})

const statuses = new Map<number, number>()

async function ask({ path, headers, body, what }: Hostile): Promise<string> {
  const shown = `${what} to ${path}: ${body.subarray(0, 900).toString('latin1')}`
  try {
    const answer = await fetch(server.now().url + path, {
      method: 'POST',
      headers: { authorization, ...headers },
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(answerLimitMs),
    })
    const text = await answer.text()
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const isRefused = answer.status >= 400 && answer.status < 500
    if (isRefused && !/"(detail|reason)"/.test(text)) return `no reason in ${answer.status} ${text} for ${shown}`
    return answer.status === 200 || isRefused ? '' : `${answer.status} ${text} for ${shown}`
  } catch (error) {
    return `${error} ${error instanceof Error ? error.cause : ''} for ${shown}`
  }
}

it('reads with one thing wrong, or a random query, are answered below 500', { timeout: limitMs(600_000) }, async () => {
  const random = createRandom(seed)
  const failed: string[] = []
  for (let n = 0; n < requests; n += 8)
    failed.push(...(await Promise.all(Array.from({ length: 8 }, () => ask(hostileRead(random))))).filter(Boolean))
  expect(failed).toEqual([])
  // Both sides of the border are met.
  for (const status of [200, 400, 422]) expect(statuses.get(status), `${status}`).toBeGreaterThan(requests / 40)
})

it.each(costly)('$what', { timeout: answerLimitMs }, async ({ body }) => {
  for (const path of ['/calls/query_stats', '/calls/stream_query']) {
    const answer = await fetch(server.now().url + path, {
      method: 'POST',
      headers: { authorization },
      body,
      signal: AbortSignal.timeout(answerLimitMs),
    })
    const text = await answer.text()
    expect([200, 400, 413, 422, 504], text.slice(0, 500)).toContain(answer.status)
    if (answer.status !== 200) expect(text).toMatch(/"(detail|reason)"/)
  }
})

it('hostile reads leave nothing unexpected in the server’s log lines', () => {
  expect(server.lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
})
