// Bodies with any number of faults: 422 with the first hundred, never a failure of the server.
import { beforeAll, describe, expect, it } from 'vitest'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

const ask = async (path: string, body: string) => {
  const headers = { authorization: 'Bearer test-key' }
  const response = await fetch(`${server.now().url}${path}`, { method: 'POST', headers, body })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}
const detail = { loc: expect.any(Array), msg: expect.any(String), type: expect.any(String) }
// More than one call takes as its arguments.
const many = (item: string, times = 130_000): string => `[${Array(times).fill(item).join(',')}]`
const zeros = many('0')
const members = (value: string, times = 130_000): string =>
  `{${Array.from({ length: times }, (_, at) => `"k${at}":${value}`).join(',')}}`
const end = (summary: string) =>
  `{"project_id":"e/p","id":"0190a0a0-0000-7000-8000-000000000001","ended_at":"2026-05-01T00:00:00Z","summary":${summary}}`

describe('a body with more faults than anybody reads', () => {
  it.each([
    ['/v1/chat/completions', () => `{"messages":[{"role":"user"}],"stop":${zeros}}`],
    ['/v1/chat/completions', () => `{"messages":${zeros}}`],
    ['/v1/chat/completions', () => `{"messages":[{"role":"user"}],"vllm_xargs":{"a":${many('{}')}}}`],
    ['/v1/chat/completions', () => `{"messages":[{"role":"user"}],"logit_bias":${members('"x"')}}`],
    ['/feedback/batch/create', () => `{"batch":[{"scorer_tags":${zeros}}]}`],
    [
      '/calls/stats',
      () => `{"project_id":"e/p","start":1,"usage_metrics":[{"metric":"total_cost","percentiles":${many('"x"')}}]}`,
    ],
    ['/refs/read_batch', () => `{"refs":${zeros}}`],
    ['/table/create_from_digests', () => `{"project_id":"e/p","row_digests":${zeros}}`],
    ['/table/create', () => `{"table":{"project_id":"e/p","rows":${zeros}}}`],
    ['/table/update', () => `{"project_id":"e/p","base_digest":"x","updates":${zeros}}`],
    ['/table/update', () => `{"project_id":"e/p","base_digest":"x","updates":[${members('0')}]}`],
    ['/cost/create', () => `{"project_id":"e/p","costs":${members('0')}}`],
    ['/calls/stream_query', () => `{"project_id":"e/p","query":${members('0')}}`],
    ['/v2/e/p/calls/complete', () => `{"batch":${many('1')}}`],
    ['/call/upsert_batch', () => `{"batch":${many('1')}}`],
    ['/call/upsert_batch', () => `{"batch":[{"req":{"end":${end(`{"usage":${members('1')}}`)}}}]}`],
    ['/call/end', () => `{"end":${end(`{"usage":${members('1')}}`)}}`],
    ['/call/end', () => `{"end":${end(`{"status_counts":${members('1')}}`)}}`],
  ])('%s answers 422 with the first hundred', async (path, body) => {
    const answer = await ask(path, body())
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, ['detail']])
    const told = answer.json.detail as { loc: unknown[] }[]
    expect(told.length).toBeLessThanOrEqual(100)
    expect(told.length).toBeGreaterThanOrEqual(path === '/feedback/batch/create' || path === '/table/update' ? 90 : 100)
    expect(told[0]).toEqual(detail)
  })

  it('of calls with more items than can be valid is too large', async () => {
    for (const path of ['/call/upsert_batch', '/v2/e/p/calls/complete'])
      expect(await ask(path, `{"batch":${many('1', 500_001)}}`)).toEqual({
        status: 413,
        json: { reason: 'Request too large' },
      })
  })

  it('of calls of which some are valid names each fault shortly', async () => {
    const valid = `{"req":{"end":${end('{}')}}}`
    const bad = `{"req":{"end":${end(`{"usage":${members('1', 1000)}}`)}}}`
    const { status, json } = await ask('/call/upsert_batch', `{"batch":[${valid},${bad},{}]}`)
    expect([status, json.res]).toEqual([
      200,
      [
        {},
        { error: { reason: expect.stringMatching(/^req\.end\.summary\.usage\.k0: Input .{900,980}$/) } },
        { error: { reason: 'req: Field required' } },
      ],
    ])
  })
})

describe('a body of millions of parts that take far more memory than their text', () => {
  const tooLarge = { status: 413, json: { reason: 'Request too large' } }
  it('is too large', async () => {
    const lists = many('[]', 4_000_000)
    expect(await ask('/table/create_from_digests', `{"project_id":"e/p","row_digests":${lists}}`)).toEqual(tooLarge)
  })
  it('is too large when it has more rows than a table takes at once', async () => {
    const rows = many('{}', 1_000_001)
    expect(await ask('/table/create', `{"table":{"project_id":"e/p","rows":${rows}}}`)).toEqual(tooLarge)
  })
  it('brackets in texts do not count', async () => {
    const val = '[{'.repeat(2_500_000)
    const { status } = await ask('/obj/create', JSON.stringify({ obj: { project_id: 'e/p', object_id: 'x', val } }))
    expect(status).toBe(200)
  })
})

it('a batch that is stored in part says so in the log, without what was sent', async () => {
  const before = server.lines.length
  const answer = await ask('/call/upsert_batch', `{"batch":[{"req":{"end":${end('{}')}}},{"mode":"secret-7"},3]}`)
  expect([answer.status, answer.json.res]).toEqual([200, [{}, expect.anything(), expect.anything()]])
  const told = server.lines.slice(before).find((line) => line.includes('items of a batch were refused'))
  expect(JSON.parse(told ?? '{}')).toMatchObject({ refused: 2, of: 3, places: [1, 2], requestId: expect.any(String) })
  expect(told).not.toContain('secret-7')
})
