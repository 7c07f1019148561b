// Read your own writes: waits, positions, staleness, and what happens when the tables cannot keep up with the log.
// again: kafka
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { blockInserts } from '../fixtures/blocked-inserts.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { parseExposition } from '../fixtures/exposition.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project = 'fresh/ness'
const stale = 'x-callhouse-stale'
const position = 'x-callhouse-position'
let server: LiveServer
let release = () => {}

/** Until `release`, or the end of the test. */
function block(): Promise<void> {
  const blocked = blockInserts(server.now().store)
  release = blocked.release
  return blocked.arrived
}

beforeAll(async () => {
  // Addresses of exports are signed, and where there is Kafka no key is made.
  const key = ['--master-key', Buffer.alloc(32, 7).toString('base64')]
  server = await startLiveServer(['--freshness-ms', '200', '--max-unapplied-bytes', String(2 ** 20), ...key])
})
afterEach(() => release())
afterAll(() => server.remove())

async function write(text = ''): Promise<{ id: string; status: number; headers: Headers; body: string }> {
  const id = uuidv7()
  const start = {
    project_id: project,
    id,
    op_name: 'fresh',
    started_at: new Date().toISOString(),
    attributes: {},
    inputs: { text },
  }
  const { status, headers, text: body } = await post(server.now().url, '/call/start', { start })
  return { id, status, headers, body }
}

const metrics = async () => {
  const answer = await fetch(`${server.now().url}/metrics`, { headers: { authorization: basicAuth() } })
  return parseExposition(await answer.text())
}

async function read(id: string, path = '/call/read', headers: Record<string, string> = {}) {
  const answer = await post(server.now().url, path, { project_id: project, id }, headers)
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  const { call } = JSON.parse(answer.text) as { call: { id: string } | null }
  return { isThere: call !== null, stale: answer.headers.get(stale) }
}

/** Reads again while the answer says that it may lack writes; on a slow machine the first one may. */
async function readFresh(id: string, headers: Record<string, string> = {}): Promise<boolean> {
  for (;;) {
    const answer = await read(id, '/call/read', headers)
    if (answer.stale === null) return answer.isThere
  }
}

/** A call that can be read, and one behind it that is acknowledged and cannot. */
async function behind() {
  const before = await write()
  await readFresh(before.id)
  const isBlocked = block()
  const late = await write()
  await isBlocked
  return { before, late }
}

describe('a read', () => {
  it('sees every write that was answered before it', async () => {
    for (let n = 0; n < 5; n++) {
      const { id } = await write()
      expect(await readFresh(id)).toBe(true)
    }
    // So many reads of one project may wait at one time.
    const written = await Promise.all(Array.from({ length: 32 }, () => write()))
    const seen = await Promise.all(written.map(({ id }) => readFresh(id)))
    expect(seen.every((isThere) => isThere)).toBe(true)
  })

  it('waits for exactly the position that it names', async () => {
    const first = await write()
    const wanted = first.headers.get(position) as string
    expect(wanted).toMatch(/^calls(\.\d+)?=\d+$/)
    expect(await readFresh(first.id, { [position]: wanted })).toBe(true)

    const isBlocked = block()
    const later = await write()
    await isBlocked
    // The earlier position is applied; that later writes are not does not matter.
    expect(await read(first.id, '/call/read', { [position]: wanted })).toEqual({ isThere: true, stale: null })
    const missing = await read(later.id, '/call/read', { [position]: later.headers.get(position) as string })
    expect(missing).toEqual({ isThere: false, stale: expect.stringMatching(/^[1-9]\d*$/) })
    release()
    expect(await readFresh(later.id, { [position]: later.headers.get(position) as string })).toBe(true)
  })

  it('says that it may lack writes when a position does not come', async () => {
    const { id } = await write()
    expect(await readFresh(id)).toBe(true)
    const far = await read(id, '/call/read', { [position]: 'calls=999999999' })
    expect(far).toEqual({ isThere: true, stale: expect.stringMatching(/^[1-9]\d*$/) })
    for (const wrong of ['calls', 'calls=-1', 'calls=1;drop', 'nothing=1', 'calls=99999999999999999999', '=']) {
      const body = { project_id: project, id }
      const { status } = await post(server.now().url, '/call/read', body, { [position]: wrong })
      expect({ wrong, status }).toEqual({ wrong, status: 400 })
    }
  })

  it('waits for the projects that it reads, all of them and on one machine no others', async () => {
    const quiet = `${project}-quiet`
    const other = `${project}-other`
    const start = (project_id: string) => {
      const at = new Date().toISOString()
      return { mode: 'start', req: { start: { project_id, op_name: 'x', started_at: at, attributes: {}, inputs: {} } } }
    }
    const batch = (...projects: string[]) =>
      post(server.now().url, '/call/upsert_batch', { batch: projects.map(start) })
    const count = async (project_id: string) => {
      const answer = await post(server.now().url, '/calls/query_stats', { project_id })
      return answer.status === 503 ? 'refused' : (JSON.parse(answer.text) as { count: number }).count
    }
    const rows = async (project_id: string) => {
      const { headers, text } = await post(server.now().url, '/calls/stream_query', { project_id })
      return { rows: text.split('\n').filter(Boolean).length, isStale: headers.get(stale) !== null }
    }
    expect((await batch(quiet, other)).status).toBe(200)
    await eventually(async () => expect(await count(quiet)).toBe(1))
    const isBlocked = block()
    expect((await batch(project, other)).status).toBe(200)
    expect(await rows(other)).toEqual({ rows: 1, isStale: true })
    await isBlocked
    expect([await count(project), await count(other)]).toEqual(['refused', 'refused'])
    const waitsForAll = server.now().log.endOf === undefined
    expect([await count(quiet), await rows(quiet)]).toEqual([
      waitsForAll ? 'refused' : 1,
      { rows: 1, isStale: waitsForAll },
    ])
  })

  it('answers what is there, and says so, while the tables stand still', async () => {
    const { before, late } = await behind()
    const staleOf = async () =>
      (await metrics()).value('callhouse_freshness_wait_seconds_count', { outcome: 'stale' }) ?? 0
    const staleBefore = await staleOf()
    const answer = await read(late.id)
    expect(await staleOf()).toBe(staleBefore + 1)
    expect(answer.isThere).toBe(false)
    expect(Number(answer.stale)).toBeGreaterThan(0)
    expect((await read(before.id)).isThere).toBe(true)

    // The oldest unapplied record is older than the bound by now: no further read waits, or hurries the log.
    const { log } = server.now()
    const hurry = log.flush
    let hurried = 0
    log.flush = (topic) => {
      hurried++
      hurry(topic)
    }
    const given = await read(late.id)
    log.flush = hurry
    expect({ ...given, hurried }).toEqual({ isThere: false, stale: expect.stringMatching(/^\d{3,}$/), hurried: 0 })

    release()
    const { headers } = await write()
    expect(await readFresh(late.id, { [position]: headers.get(position) as string })).toBe(true)
  })

  it('does not wait when any freshness will do', async () => {
    const isBlocked = block()
    const { id } = await write()
    await isBlocked
    expect(await read(id, '/call/read?freshness=any')).toEqual({ isThere: false, stale: null })
    expect(await read(id, '/call/read', { 'x-callhouse-freshness': 'any' })).toEqual({ isThere: false, stale: null })
    const { status } = await post(server.now().url, '/call/read?freshness=soon', { project_id: project, id })
    expect(status).toBe(400)
  })

  it('that is strict is refused rather than answered without them', async () => {
    const { id } = (await behind()).late
    const strict = (path: string, headers = {}) => post(server.now().url, path, { project_id: project, id }, headers)
    for (const answer of [
      await strict('/call/read?freshness=strict'),
      await strict('/call/read', { 'x-callhouse-freshness': 'strict' }),
    ]) {
      expect([answer.status, JSON.parse(answer.text)]).toEqual([503, { reason: 'Earlier writes are not readable yet' }])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    release()
    await readFresh(id)
    expect((await strict('/call/read?freshness=strict')).status).toBe(200)
  })

  it('is told of staleness by whatever route its answer comes', async () => {
    const { id } = (await behind()).before
    const told = { status: 200, stale: expect.stringMatching(/^[1-9]\d*$/) }
    const paths: [path: string, more?: object][] = [
      ['/calls/stream_query'],
      ['/threads/stream_query'],
      ['/export/calls', { format: 'csv' }],
      ['/masking/preview', { call_ids: [id] }],
    ]
    let file = ''
    for (const [path, more] of paths) {
      const { status, headers, text } = await post(server.now().url, path, { project_id: project, ...more })
      expect({ path, status, stale: headers.get(stale) }).toEqual({ path, ...told })
      if (path === '/export/calls') file = (JSON.parse(text) as { url: string }).url
    }
    const { status, headers } = await fetch(file)
    expect({ status, stale: headers.get(stale) }).toEqual(told)
  })
})

it('counts and sums are refused rather than given without writes, but for who asks for any', async () => {
  const { id } = (await behind()).before
  const day = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' }
  const counting: [path: string, more?: object][] = [
    ['/calls/query_stats'],
    ['/calls/aggregate', { ...day, metrics: [{ field: 'calls', as: 'sum' }] }],
    ['/calls/stats', { ...day, call_metrics: [{ metric: 'call_count' }] }],
    ['/calls/usage', { call_ids: [id] }],
    ['/trace/usage', { filter: { trace_ids: [id] } }],
    ['/cost/explain', { call_id: id }],
    ['/calls/values', { fields: ['op_name'] }],
    ['/annotation_queues/stats', { queue_ids: [uuidv7()] }],
    ['/project/stats'],
  ]
  for (const [path, more] of counting) {
    const ask = (freshness: string) =>
      post(server.now().url, path, { project_id: project, ...more }, { 'x-callhouse-freshness': freshness })
    const { status, headers, text } = await ask('latest')
    expect([path, status, JSON.parse(text)]).toEqual([path, 503, { reason: 'Earlier writes are not readable yet' }])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect([path, (await ask('any')).status]).toEqual([path, 200])
  }
})

describe('writes over the bound of unapplied bytes', () => {
  it('are refused with Retry-After, lose nothing, and are taken again afterwards', async () => {
    const isBlocked = block()
    const taken = [await write()]
    await isBlocked
    const text = 'y'.repeat(100_000)
    let last = await write(text)
    while (last.status === 200) {
      taken.push(last)
      last = await write(text)
    }
    expect(last.status).toBe(429)
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(JSON.parse(last.body)).toEqual({ reason: expect.stringContaining('waiting to be applied') })
    // About a megabyte in writes of a tenth of it
    expect(taken.length).toBeGreaterThan(5)
    expect(taken.length).toBeLessThan(12)
    expect(server.now().log.health()).toMatchObject({ status: 'degraded' })
    // Other topics share the bound, reads go on.
    const object = { obj: { project_id: project, object_id: 'big', val: { text } } }
    expect((await post(server.now().url, '/obj/create', object)).status).toBe(429)
    expect((await read(taken[0]?.id as string)).isThere).toBe(false)
    const samples = await metrics()
    const refused = ['calls', 'objects'].map((topic) =>
      samples.value('callhouse_append_refused_total', { topic, status: '429' }),
    )
    expect(refused).toEqual([1, 1])
    expect(samples.value('callhouse_log_topic_unapplied_records', { topic: 'calls' })).toBe(taken.length)
    expect(samples.value('callhouse_log_partition_lag_seconds', { topic: 'calls', partition: '0' })).toBeGreaterThan(0)
    expect(samples.value('callhouse_log_unapplied_limit_bytes')).toBe(2 ** 20)

    release()
    const wanted = taken.at(-1)?.headers.get(position) as string
    expect(await readFresh(last.id, { [position]: wanted })).toBe(false)
    expect(await Promise.all(taken.map(({ id }) => readFresh(id)))).toEqual(taken.map(() => true))
    const again = await write(text)
    expect(again.status).toBe(200)
    expect(await readFresh(again.id)).toBe(true)
    expect(server.now().log.health().status).toBe('ok')
  })
})

describe('a server that ends while a batch is being applied', () => {
  it('finishes the batch first, and does not apply it again', async () => {
    const isBlocked = block()
    const { id } = await write()
    await isBlocked
    const end = (await server.now().log.end('calls'))[0]?.offset
    const restarting = server.restart()
    // New requests are refused as soon as the end has begun.
    const { status } = await fetch(`${server.now().url}/health`, { headers: { authorization: basicAuth() } }).catch(
      () => ({ status: 503 }),
    )
    expect(status).toBe(503)
    const before = server.lines.length
    release()
    await restarting
    const batches = server.lines
      .slice(before)
      .filter((line) => line.includes('"msg":"batch"') && line.includes('"topic":"calls"'))
    expect(batches).toHaveLength(1)
    expect((await server.now().log.committed('calls'))[0]?.offset).toBe(end)
    expect(await readFresh(id)).toBe(true)
  })
})
