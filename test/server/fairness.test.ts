// One project that asks for more than there is: it is refused or waits, and the others are served as if it were not there.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProjectLimits } from '../../schemas/project-settings.ts'
import { setLimits } from '../../services/cli/limits.ts'
import { uuidv7 } from '../../services/core/ids.ts'
import type { Query, Store } from '../../services/core/store/store.ts'
import { blockInserts } from '../fixtures/blocked-inserts.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { parseExposition } from '../fixtures/exposition.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const noisy = 'fair/noisy'
const quiet = 'fair/quiet'
/** Connections for reads, and reads that may wait: docs/http.md, fair shares. */
const [places, mayWait] = [5, 32]
let server: LiveServer
/** Rates and quotas see one time: nothing is given back while the tests run, and no hour ends. */
const nowMs = Date.now()

beforeAll(async () => {
  const flags = [
    ...['--max-unapplied-bytes', String(32 * 2 ** 20), '--metrics-projects', 'fair/counted'],
    // Statements that wait for their reader to leave, and requests that wait for them, end in no other way.
    ...['--query-timeout-ms', '3600000', '--request-timeout-ms', '3600000'],
  ]
  server = await startLiveServer(flags, {}, () => nowMs)
})
afterAll(() => server.remove())

const metrics = async () => {
  const answer = await fetch(`${server.now().url}/metrics`, { headers: { authorization: basicAuth() } })
  return parseExposition(await answer.text())
}

describe('reads', () => {
  /** Makes every statement of the noisy project last until its reader leaves. */
  function slow(): { asked(): number; undo(): void } {
    const { store } = server.now()
    const { bytes, rows }: Pick<Store, 'bytes' | 'rows'> = store
    let count = 0
    const endless = 'SELECT sleepEachRow(0.5) FROM numbers(1000000) SETTINGS max_block_size = 1'
    const slowed = (query: Query): Query => {
      if (query.projectId !== noisy) return query
      count++
      return { ...query, sql: endless, params: {} }
    }
    store.bytes = (query, format, options) => bytes(slowed(query), format, options)
    store.rows = (query, options) => rows(slowed(query), options)
    return { asked: () => count, undo: () => Object.assign(store, { bytes, rows }) }
  }

  it('of a quiet project pass sixty waiting requests for statistics of a busy one, whose 33rd waiting request is 429', async () => {
    const refusals = async () => (await metrics()).value('callhouse_refused_total', { policy: 'reads_share' }) ?? 0
    const before = await refusals()
    const { asked, undo } = slow()
    const stop = new AbortController()
    const ended: { status: number; retryAfter: string | null; body: unknown }[] = []
    const statistics = Array.from({ length: 60 }, () =>
      fetch(`${server.now().url}/calls/query_stats`, {
        method: 'POST',
        headers: { authorization: basicAuth() },
        body: JSON.stringify({ project_id: noisy }),
        signal: stop.signal,
      })
        .then(async (answer) => {
          const { status, headers } = answer
          ended.push({ status, retryAfter: headers.get('retry-after'), body: await answer.json() })
        })
        .catch(() => undefined),
    )
    await eventually(() => expect(asked()).toBeGreaterThanOrEqual(60), { withinMs: 60_000 })
    const answer = await post(server.now().url, '/calls/query_stats', { project_id: quiet })
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, expect.objectContaining({ count: 0 })])
    expect(ended.filter(({ status }) => status === 200)).toEqual([])
    const refusal = { status: 429, retryAfter: '1', body: { reason: 'Too many queries of this project are waiting' } }
    await eventually(
      async () => {
        expect(ended).toHaveLength((await refusals()) - before)
        expect(ended.length).toBeGreaterThanOrEqual(60 - (places - 1) - mayWait)
      },
      { withinMs: 60_000 },
    )
    for (const one of ended) expect(one).toEqual(refusal)
    // One request at least has the places of its project.
    expect(ended.length).toBeLessThan(60 - mayWait)
    stop.abort()
    await Promise.all(statistics)
    undo()
    // As soon as the server has seen them leave there is room again.
    await eventually(
      async () => {
        const { status } = await post(server.now().url, '/calls/query_stats', { project_id: noisy })
        expect(status).toBe(200)
      },
      { withinMs: 60_000 },
    )
  })
})

describe('writes', () => {
  const write = async (project_id: string, text = '') => {
    const id = uuidv7()
    const at = new Date().toISOString()
    const start = { project_id, id, op_name: 'fair', started_at: at, attributes: {}, inputs: { text } }
    return { id, ...(await post(server.now().url, '/call/start', { start })) }
  }

  it('of a quiet project are taken while another one alone has filled the log, and nothing is lost', async () => {
    const { arrived, release } = blockInserts(server.now().store)
    const first = await write(noisy)
    await arrived
    const taken = [first.id]
    let last = await write(noisy, 'y'.repeat(2 ** 20))
    while (last.status === 200) {
      taken.push(last.id)
      last = await write(noisy, 'y'.repeat(2 ** 20))
    }
    expect([last.status, last.headers.get('retry-after'), JSON.parse(last.text)]).toEqual([
      429,
      '1',
      { reason: expect.stringContaining('waiting to be applied') },
    ])
    const others = await Promise.all(Array.from({ length: 3 }, () => write(quiet)))
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
    const beganMs = performance.now()
    expect((await write(noisy, 'y'.repeat(2 ** 20))).status).toBe(429)
    // Whoever sends it again at once has the server read no more than two such bodies a second and connection.
    expect(performance.now() - beganMs).toBeGreaterThan(490)
    expect((await metrics()).value('callhouse_refused_total', { policy: 'log_share' })).toBe(2)
    release()
    for (const [project_id, ids] of [[quiet, others.map(({ id }) => id)] as const, [noisy, taken] as const]) {
      const { text } = await post(server.now().url, '/calls/query_stats', { project_id })
      expect(JSON.parse(text)).toMatchObject({ count: ids.length })
    }
    expect((await write(noisy)).status).toBe(200)
  })
})

describe('limits that are set for a project', () => {
  const ask = (path: string, method: string, body?: unknown) =>
    fetch(`${server.now().url}${path}`, {
      method,
      headers: { authorization: basicAuth() },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const limit = async (project: string, limits: ProjectLimits) => {
    const answer = await ask(`/v2/${project}/settings/limits`, 'PUT', limits)
    expect([answer.status, await answer.json()]).toEqual([200, limits])
  }
  const at = '2026-03-05T12:00:00Z'
  const complete = (project_id: string, count: number, text = '') => ({
    batch: Array.from({ length: count }, () => {
      const id = uuidv7()
      return {
        project_id,
        id,
        trace_id: id,
        op_name: 'fair',
        started_at: at,
        ended_at: at,
        attributes: {},
        inputs: { text },
        output: null,
        summary: {},
      }
    }),
  })
  const write = (project: string, count: number, text?: string) =>
    ask(`/v2/${project}/calls/complete`, 'POST', complete(project, count, text))
  const count = async (project_id: string): Promise<number> => {
    const { text } = await post(server.now().url, '/calls/query_stats', { project_id })
    return (JSON.parse(text) as { count: number }).count
  }

  it('are read back, and a name that is not known is refused', async () => {
    expect(await (await ask('/v2/fair/read/settings', 'GET')).json()).toEqual({ retention: {}, limits: {} })
    await limit('fair/read', { requests_per_minute: 1000, query_rows: 5 })
    expect(await (await ask('/v2/fair/read/settings', 'GET')).json()).toEqual({
      retention: {},
      limits: { requests_per_minute: 1000, query_rows: 5 },
    })
    expect((await ask('/v2/fair/read/settings/limits', 'PUT', { requests_per_hour: 1 })).status).toBe(422)
    expect((await ask('/v2/fair/read/settings/limits', 'PUT', { requests_per_minute: -1 })).status).toBe(422)
  })

  it('of a key hold from its next request on when they are changed, and are audited', async () => {
    const made = async (path: string, body: object) => (await ask(path, 'POST', body)).json()
    await made('/users', { id: 'limited', kind: 'service' })
    await ask('/grants', 'PUT', { user_id: 'limited', scope: 'fair/keyed', role: 'reader' })
    const of = { user_id: 'limited', name: 'k', actions: ['read'], scopes: ['fair/keyed'] }
    const { id, key } = (await made('/keys', of)) as { id: string; key: string }
    const statusOf = async () => {
      const headers = { authorization: `Bearer ${key}` }
      const body = JSON.stringify({ project_id: 'fair/keyed' })
      return (await fetch(`${server.now().url}/calls/query_stats`, { method: 'POST', headers, body })).status
    }
    const several = async () => [await statusOf(), await statusOf(), await statusOf()]
    expect(await several()).toEqual([200, 200, 200])
    expect((await ask(`/keys/${id}/limits`, 'PUT', { requests_per_minute: 1 })).status).toBe(200)
    expect(await several()).toEqual([200, 429, 429])
    expect((await ask(`/keys/${id}/limits`, 'PUT', { requests_per_minute: 0 })).status).toBe(200)
    expect(await several()).toEqual([200, 200, 200])
    const { worker, store } = server.now()
    await worker?.caughtUp()
    const sql =
      "SELECT details FROM callhouse.audit_events WHERE action = 'limits.changed' AND target = {id:String} ORDER BY at"
    const events = await store.rows<{ details: string }>({ name: 'test', sql, params: { id } })
    expect(events.map(({ details }) => JSON.parse(details))).toEqual([
      { before: null, after: { requests_per_minute: 1 } },
      { before: { requests_per_minute: 1 }, after: {} },
    ])
  })

  it('hold for its rows: what is refused is not stored, and little room is told before', async () => {
    await limit('fair/rows', { calls_per_minute: 8 })
    const [taken, low, refused] = [
      await write('fair/rows', 4),
      await write('fair/rows', 3),
      await write('fair/rows', 3),
    ]
    expect([taken.status, taken.headers.get('ratelimit')]).toEqual([200, null])
    expect([low.status, low.headers.get('ratelimit')]).toEqual([
      200,
      expect.stringMatching(/^"project-calls";r=1;t=53$/),
    ])
    expect(low.headers.get('ratelimit-policy')).toBe('"project-calls";q=8;qu="calls";w=60')
    expect([refused.status, await refused.json()]).toEqual([
      429,
      {
        reason: 'Too many calls per minute for this project',
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        'violated-policies': ['project-calls'],
      },
    ])
    // The two calls that are too many come back in 15 seconds; not everybody is told to come at the same time.
    expect(refused.headers.get('retry-after')).toMatch(/^1[5-9]$/)
    expect((await metrics()).value('callhouse_refused_total', { policy: 'project-calls' })).toBe(1)
    expect(await count('fair/rows')).toBe(7)
    await limit('fair/rows', {})
    expect((await write('fair/rows', 3)).status).toBe(200)
  })

  it('hold for long requests too, which run in a thread', async () => {
    await limit('fair/long', { bytes_per_minute: 3_000_000, requests_per_minute: 4 })
    const long = 'y'.repeat(2_000_000)
    expect((await write('fair/long', 1, long)).status).toBe(200)
    const refused = await write('fair/long', 1, long)
    expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([
      429,
      '"project-bytes";q=3000000;qu="content-bytes";w=60',
    ])
    for (let n = 0; n < 2; n++) expect((await write('fair/long', 1)).status).toBe(200)
    // Nothing of a request beyond the limit is written.
    const fifth = await write('fair/long', 1, 'z'.repeat(1_100_000))
    expect([fifth.status, await fifth.json()]).toEqual([
      429,
      expect.objectContaining({ 'violated-policies': ['project'] }),
    ])
    await limit('fair/long', {})
    expect(await count('fair/long')).toBe(3)
  })

  it('hold for what its statements may read', async () => {
    expect((await write('fair/wide', 3)).status).toBe(200)
    expect(await count('fair/wide')).toBe(3)
    await limit('fair/wide', { query_rows: 1 })
    const { status, text } = await post(server.now().url, '/calls/stream_query', { project_id: 'fair/wide' })
    expect([status, text]).toEqual([400, expect.stringContaining('rows')])
  })

  it('hold for its bytes of a day: 403, and SDKs are told not to try again', async () => {
    await limit('fair/day', { bytes_per_day: 500 })
    expect((await write('fair/day', 3)).status).toBe(200)
    const refused = await write('fair/day', 1)
    expect([refused.status, refused.headers.get('x-should-retry'), await refused.json()]).toEqual([
      403,
      'false',
      expect.objectContaining({ reason: 'This project has reached its daily limit of bytes' }),
    ])
    expect(await count('fair/day')).toBe(3)
  })

  it('and what it took is counted by day, hour and key, and lasts', async () => {
    expect((await write('fair/counted', 2)).status).toBe(200)
    expect(await count('fair/counted')).toBe(2)
    expect((await ask('/calls/query_stats', 'POST', { project_id: 'fair/counted' })).status).toBe(200)
    const range = { from: new Date(nowMs - 3_600_000).toISOString(), to: new Date(nowMs + 3_600_000).toISOString() }
    await limit('fair/rows', { stored_bytes: 1 })
    expect((await write('fairly/stored', 1)).status).toBe(200)
    await setLimits(server.config, ['fairly', 'stored_bytes=1'])
    await server.restart()
    // Quotas count what was accepted and stored before.
    const reasonOf = async (project: string) => (await (await write(project, 1)).json()) as { reason: string }
    expect(await reasonOf('fair/day')).toMatchObject({ reason: 'This project has reached its daily limit of bytes' })
    expect(await reasonOf('fair/rows')).toMatchObject({ reason: 'This project has reached its storage limit' })
    expect(await reasonOf('fairly/new')).toMatchObject({ reason: 'This entity has reached its storage limit' })
    const usage = (by: string) =>
      server.list<Record<string, unknown>>('/usage/query', { project_id: 'fair/counted', ...range, by })
    const counts = {
      requests: 3,
      refused: 0,
      calls: 2,
      reads: 2,
      sampled_out: 0,
      masked: 0,
      bytes_in: expect.any(Number),
      bytes_stored: expect.any(Number),
      read_ms: expect.any(Number),
      read_bytes: expect.any(Number),
    }
    const [byKey] = await usage('key')
    expect(byKey).toEqual({ key_id: expect.stringMatching(/^configured-/), ...counts })
    expect(byKey?.bytes_stored).toBeGreaterThan(200)
    expect(await usage('day')).toEqual([
      { ...byKey, key_id: undefined, time: `${new Date(nowMs).toISOString().slice(0, 10)}T00:00:00Z` },
    ])
    expect(await usage('hour')).toEqual([
      { ...byKey, key_id: undefined, time: `${new Date(nowMs).toISOString().slice(0, 13)}:00:00Z` },
    ])
    const wrong = await ask('/usage/query', 'POST', { project_id: 'fair/counted', ...range, from: 'soon', by: 'day' })
    expect([wrong.status, await wrong.json()]).toEqual([
      400,
      { reason: 'from must be a time, such as 2026-01-31T12:00:00Z' },
    ])
  })
})
