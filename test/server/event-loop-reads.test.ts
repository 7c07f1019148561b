// tier: deep slow
// Nothing holds the event loop of a server, counted, while large answers are read: which of them move to a thread, and how
// much text a round makes. Milliseconds are in test/bars/event-loop.test.ts.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { watchLoop } from '../fixtures/loop-work.ts'
import { letters, list, maxAtOnce, sendWatched, type WatchedRequest } from '../fixtures/watched-requests.ts'

const mib = 2 ** 20
let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server.remove())

it('large answers are read', async () => {
  const seen = watchLoop()
  const send = (sent: WatchedRequest) => sendWatched(server, seen, sent)
  const value = letters(4 * mib)
  const [rows, calls] = [40_000, 7_000]
  const post = async (path: string, body: string): Promise<string> => {
    const { status, bytes } = await send({ path, body })
    expect([path, status]).toEqual([path, 200])
    return bytes.toString('latin1', 0, 200)
  }
  const of = '"project_id":"fuzz/reads"'
  await post('/obj/create', `{"obj":{${of},"object_id":"long","val":"${value}"}}`)
  const made = await post('/table/create', `{"table":{${of},"rows":[${list(rows, (n) => `{"a":${rows - n}}`)}]}}`)
  const digest = /"digest":"(\w+)"/.exec(made)?.[1]
  const at = '"started_at":"2026-05-01T00:00:00Z"'
  await post(
    '/call/start',
    `{"start":{${of},"id":"ffffffffffffffff","op_name":"o",${at},"attributes":{},"inputs":{"a":"${value}"}}}`,
  )
  const whole = (n: number) =>
    `{${of},"id":"${n.toString(16).padStart(16, '0')}","trace_id":"${'0'.repeat(31)}1","op_name":"o",${at},"ended_at":"2026-05-01T00:00:01Z","attributes":{},"inputs":{},"output":1,"summary":{"usage":{"m":{"prompt_tokens":1}}}}`
  await post('/v2/fuzz/reads/calls/complete', `{"batch":[${list(calls, (n) => whole(n + 1))}]}`)
  await post('/calls/query_stats', `{${of}}`)
  const scorers = '/v2/fuzz/scorers/scorers'
  const scorer = async (name: string, bytes: number) => {
    const body = `{"name":"${name}","op_source_code":"x","description":"${letters(bytes)}"}`
    return JSON.parse(await post(scorers, body)) as { object_id: string; digest: string }
  }
  for (let n = 0; n < 3; n++) await scorer(`s${n}`, mib)
  const long = await scorer('long', 4 * mib)
  const reads: [moved: number, path: string, body?: string][] = [
    [1, '/obj/read', `{${of},"object_id":"long","digest":"latest"}`],
    [1, '/objs/query', `{${of}}`],
    [0, '/table/query', `{${of},"digest":"${digest}"}`],
    [1, '/table/query', `{${of},"digest":"${digest}","sort_by":[{"field":"a","direction":"desc"}],"limit":5}`],
    [1, '/table/update', `{${of},"base_digest":"${digest}","updates":[{"append":{"row":{"a":1}}}]}`],
    [0, '/call/read', `{${of},"id":"ffffffffffffffff","include_costs":true}`],
    [0, '/calls/stream_query', `{${of}}`],
    [
      0,
      '/calls/stream_query',
      `{${of},"columns":["id"],"sort_by":[{"field":"summary.weave.latency_ms","direction":"asc"}]}`,
    ],
    [1, '/trace/usage', `{${of},"limit":${calls}}`],
    [1, scorers],
    [1, `${scorers}/${long.object_id}/versions/${long.digest}`],
    [0, '/metrics'],
  ]
  const wrong: string[] = []
  for (const [moved, path, body] of reads) {
    const done = await send({ path, ...(body === undefined ? { method: 'GET' } : { body }) })
    if (done.status !== 200 || done.moved !== moved || done.mostAtOnce > maxAtOnce)
      wrong.push(`${path} ${body}: ${done.status}, ${done.moved} moved, ${done.mostAtOnce} in ${done.at}`)
  }
  expect(wrong).toEqual([])
})
