// One project that asks for more than there is: it is refused or waits, and the others are served as if it were not there.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import type { Query, Store } from '../../services/core/store/store.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import { parseExposition } from '../fixtures/exposition.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const noisy = 'fair/noisy'
const quiet = 'fair/quiet'
/** Connections for reads, and reads that may wait: docs/http.md, fair shares. */
const [places, mayWait] = [5, 32]
let server: LiveServer

beforeAll(async () => {
  server = await startLiveServer(['--max-unapplied-bytes', String(32 * 2 ** 20)])
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
    const endless = 'SELECT sleepEachRow(0.5) FROM numbers(200) SETTINGS max_block_size = 1'
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
    const before = (await metrics()).value('callhouse_refused_total', { policy: 'reads_share' }) ?? 0
    await vi.waitFor(() => expect(asked()).toBeGreaterThanOrEqual(60), { timeout: 60_000 })
    const answer = await post(server.now().url, '/calls/query_stats', { project_id: quiet })
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, expect.objectContaining({ count: 0 })])
    expect(ended.filter(({ status }) => status === 200)).toEqual([])
    const refusal = { status: 429, retryAfter: '1', body: { reason: 'Too many queries of this project are waiting' } }
    await vi.waitFor(async () => {
      const refused = (await metrics()).value('callhouse_refused_total', { policy: 'reads_share' })
      expect(ended).toHaveLength((refused ?? 0) - before)
      expect(ended.length).toBeGreaterThanOrEqual(60 - (places - 1) - mayWait)
    }, 60_000)
    for (const one of ended) expect(one).toEqual(refusal)
    expect(ended.length).toBeLessThan(60 - places)
    stop.abort()
    await Promise.all(statistics)
    undo()
    // As soon as the server has seen them leave there is room again.
    await vi.waitFor(async () => {
      const { status } = await post(server.now().url, '/calls/query_stats', { project_id: noisy })
      expect(status).toBe(200)
    }, 60_000)
  })
})

describe('writes', () => {
  /** Makes the worker stand still in its next insert, until it is undone. */
  function pause(): { isStanding: Promise<void>; undo(): void } {
    const { store } = server.now()
    const { insert } = store
    const standing = Promise.withResolvers<void>()
    const going = Promise.withResolvers<void>()
    store.insert = async (topic, source) => {
      standing.resolve()
      await going.promise
      return insert(topic, source)
    }
    return {
      isStanding: standing.promise,
      undo() {
        store.insert = insert
        going.resolve()
      },
    }
  }

  const write = async (project_id: string, text = '') => {
    const id = uuidv7()
    const at = new Date().toISOString()
    const start = { project_id, id, op_name: 'fair', started_at: at, attributes: {}, inputs: { text } }
    return { id, ...(await post(server.now().url, '/call/start', { start })) }
  }

  it('of a quiet project are taken while another one alone has filled the log, and nothing is lost', async () => {
    const { isStanding, undo } = pause()
    const first = await write(noisy)
    await isStanding
    const taken = [first.id]
    let last = await write(noisy, 'y'.repeat(2 ** 20))
    while (last.status === 200) {
      taken.push(last.id)
      last = await write(noisy, 'y'.repeat(2 ** 20))
    }
    expect([last.status, last.headers.get('retry-after'), JSON.parse(last.text)]).toEqual([
      ...[429, '1', { reason: expect.stringContaining('waiting to be applied') }],
    ])
    const others = await Promise.all(Array.from({ length: 3 }, () => write(quiet)))
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await write(noisy, 'y'.repeat(2 ** 20))).status).toBe(429)
    expect((await metrics()).value('callhouse_refused_total', { policy: 'log_share' })).toBe(2)
    undo()
    for (const [project_id, ids] of [[quiet, others.map(({ id }) => id)] as const, [noisy, taken] as const]) {
      const { text } = await post(server.now().url, '/calls/query_stats', { project_id })
      expect(JSON.parse(text)).toMatchObject({ count: ids.length })
    }
    expect((await write(noisy)).status).toBe(200)
  })
})
