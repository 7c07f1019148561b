// Batches of call writes: pairing, order, faults of single items, whole calls, and the routes with the project in the path.
import { describe, expect, test } from 'vitest'
import { overLimit } from '../../services/core/errors.ts'
import {
  aCall,
  anEnd,
  aStart,
  type CallsRow,
  callId,
  createCallsWrite,
  endItem,
  otherId,
  startItem,
  traceId,
} from '../fixtures/calls-write.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'

const detail = (json: unknown) => (json as { detail: { loc: unknown[]; type: string }[] }).detail
const ids = { id: callId, trace_id: traceId }
const error = { error: { reason: expect.any(String) } }

async function upsert(batch: unknown, options: { may?: (project: string) => boolean } = {}, deps = {}) {
  const edge = createCallsWrite(deps)
  const answer = await edge.post('/call/upsert_batch', { batch }, options)
  return { ...answer, edge, kinds: edge.rows().map(({ kind }) => kind) }
}

const increasing = (clocks: bigint[]) => clocks.every((clock, i) => i === 0 || clock > (clocks[i - 1] as bigint))

describe('/call/upsert_batch', () => {
  test('answers an empty batch without a write', async () => {
    const { status, json, headers, edge } = await upsert([])
    expect([status, json, headers, edge.log.appends()]).toEqual([200, { res: [] }, {}, 0])
  })

  test.each([
    ['start first', [startItem({ inputs: { q: 1 } }), endItem({ output: [2] })], [ids, {}]],
    ['end first', [endItem({ output: [2] }), startItem({ inputs: { q: 1 } })], [{}, ids]],
  ])('makes one row of a start and an end: %s', async (_, batch, res) => {
    const { json, edge, headers } = await upsert(batch)
    expect(json).toEqual({ res })
    expect(headers).toEqual({ 'X-Callhouse-Position': 'calls=1' })
    const rows = edge.rows()
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({
      kind: 'complete',
      id: callId,
      trace_id: traceId,
      started_us: Date.UTC(2026, 0, 2, 3, 4, 5) * 1000 + 678_901,
      ended_us: Date.UTC(2026, 0, 2, 3, 4, 6) * 1000,
      user_id: 'ada',
      start_bytes: 9,
      end_bytes: 5,
      inputs: { q: 1 },
      output: [2],
    })
    expect(rows[0]).not.toHaveProperty('payload_us')
  })

  test.each([
    ['two starts and an end', [startItem({ thread_id: 'a' }), startItem({ thread_id: 'b' }), endItem()]],
    ['a start and two ends', [endItem({ exception: 'a' }), startItem(), endItem({ exception: 'b' })]],
    ['two ends', [endItem({ exception: 'a' }), endItem({ exception: 'b' })]],
    ['two starts', [startItem({ thread_id: 'a' }), startItem({ thread_id: 'b' })]],
  ])('keeps %s apart, in list order with increasing clocks', async (_, batch) => {
    const { kinds, edge } = await upsert(batch)
    expect(kinds).toEqual(batch.map(({ mode }) => mode))
    expect(increasing(edge.clocks())).toBe(true)
    const marks = (list: CallsRow[]) => list.map((row) => [row.thread_id, row.exception])
    expect(marks(edge.rows())).toEqual(marks(batch.map(({ req }) => Object.values(req as CallsRow)[0] as CallsRow)))
  })

  test('keeps the same id of two projects apart', async () => {
    const { edge } = await upsert([
      startItem(),
      startItem({ project_id: 'e/q' }),
      endItem({ project_id: 'e/q', exception: 'q' }),
      endItem(),
      endItem({ project_id: 'e/r' }),
    ])
    expect(edge.rows().map(({ kind, project_id, exception }) => [kind, project_id, exception])).toEqual([
      ['complete', 'e/p', undefined],
      ['complete', 'e/q', 'q'],
      ['end', 'e/r', undefined],
    ])
  })

  test('generates ids for starts that have none', async () => {
    const { json } = await upsert([startItem({ id: null }), startItem({ id: null })])
    const [one, two] = (json as { res: { id: string }[] }).res
    expect(one?.id).not.toBe(two?.id)
  })

  test('decides by the shape when there is no mode', async () => {
    const { kinds, json } = await upsert([
      { req: { start: aStart() } },
      { mode: null, req: { end: anEnd({ id: otherId }) } },
    ])
    expect([kinds, json]).toEqual([['start', 'end'], { res: [ids, {}] }])
  })

  test.each([
    ['a mode that contradicts the shape', { mode: 'start', req: { end: anEnd() } }, 400],
    ['a mode that contradicts the shape', { mode: 'end', req: { start: aStart() } }, 400],
    ['an unknown mode', { mode: 'begin', req: { start: aStart() } }, 400],
    ['a mode that is no string', { mode: 5, req: { start: aStart() } }, 422],
    ['an item that is no object', 'x', 422],
    ['an item without req', {}, 422],
    ['an empty req', { req: {} }, 422],
    ['a bad id', endItem({ id: 'x' }), 400],
    ['a bad project', startItem({ project_id: 'x' }), 400],
    ['a time before 2000', startItem({ started_at: 1000 }), 400],
    ['no summary', endItem({ summary: null }), 422],
  ])('stores nothing when its only item has %s', async (_, item, expected) => {
    const { status, edge } = await upsert([item])
    expect([status, edge.rows()]).toEqual([expected, []])
  })

  test('names the place of every fault when no item is valid', async () => {
    const { status, json } = await upsert([
      startItem({ id: 'bad' }),
      startItem({ inputs: null }),
      { req: 5 },
      endItem({ summary: null }),
    ])
    expect(status).toBe(422)
    expect(detail(json).map(({ loc }) => loc)).toEqual([
      ['body', 'batch', 1, 'req', 'start', 'inputs'],
      ['body', 'batch', 2, 'req'],
      ['body', 'batch', 3, 'req', 'end', 'summary'],
    ])
  })

  test('stores the valid items, answers the others at their places and reports them', async () => {
    const reported: unknown[] = []
    const { status, json, edge } = await upsert(
      [startItem({ op_name: 5 }), endItem({ id: otherId }), 7, endItem({ id: 'bad' }), startItem()],
      {},
      { onRefused: (one: unknown) => reported.push(one) },
    )
    expect([status, json]).toEqual([200, { res: [error, {}, error, error, ids] }])
    expect((json as { res: { error: { reason: string } }[] }).res[0]?.error.reason).toContain('op_name')
    expect(edge.rows().map(({ kind, id }) => [kind, id])).toEqual([
      ['end', otherId],
      ['start', callId],
    ])
    expect(reported).toEqual([{ requestId: 'test', refused: 3, of: 5, places: [0, 2, 3] }])
  })

  test('checks the right on each project', async () => {
    const may = (project: string) => project === 'e/p'
    const mixed = await upsert([startItem(), startItem({ project_id: 'e/q' })], { may })
    expect([mixed.status, mixed.json]).toEqual([200, { res: [ids, error] }])
    expect(mixed.edge.rows()).toHaveLength(1)
    expect((await upsert([startItem({ project_id: 'e/q' })], { may })).status).toBe(403)
  })

  test.each([
    [undefined, 'missing'],
    [null, 'list_type'],
    [{}, 'list_type'],
  ])('answers 422 for batch = %j', async (batch, type) => {
    const { status, json } = await upsert(batch)
    expect([status, detail(json)[0]]).toMatchObject([422, { loc: ['body', 'batch'], type }])
  })

  test('takes payloads from the place that JSON.parse takes, for repeated keys at every level', async () => {
    const edge = createCallsWrite()
    const start = `"project_id":"e/p","id":"${callId}","op_name":"o","started_at":"2026-01-01","attributes":{}`
    const body = `{"batch":[{"req":{"start":{"inputs":{"n":"first batch"}}}}, 5],
      "batch":[
        {"req":7,"req":{"start":{"inputs":{"n":"first start"}},"start":{${start},"inputs":{"n":"first"},"inp\\u0075ts":{"n":1.0}}}}
      ]}`
    expect((await edge.post('/call/upsert_batch', body, { raw: true })).status).toBe(200)
    expect(edge.stored(0, 'inputs')).toBe('{"n":1.0}')
  })

  test('ignores payloads of the side that does not count', async () => {
    const { edge } = await upsert([
      {
        mode: 'end',
        req: { start: aStart({ inputs: { a: 1 }, output: 1 }), end: anEnd({ inputs: { b: 1 }, output: 2 }) },
      },
    ])
    expect(edge.rows()).toMatchObject([{ kind: 'end', output: '2' }])
    expect(edge.rows()[0]).not.toHaveProperty('inputs')
  })

  test('keeps the rows of a call in one partition of many', async () => {
    const batch = Array.from(
      { length: 40 },
      (_, n) => `0199aa00-0000-7000-8000-0000000001${String(n).padStart(2, '0')}`,
    ).flatMap((id) => [startItem({ id }), startItem({ id, thread_id: 'again' })])
    const { edge, headers } = await upsert(batch, {}, { split: { partitions: 4 } })
    expect(edge.log.appends()).toBe(4)
    expect(headers['X-Callhouse-Position']?.split(',')).toHaveLength(4)
    expect(edge.rows()).toHaveLength(80)
  })
})

describe('/v2/{entity}/{project}/calls/complete', () => {
  const complete = async (batch: unknown, path = '/v2/e/p/calls/complete', may = (_: string) => true) => {
    const edge = createCallsWrite()
    return { ...(await edge.post(path, { batch }, { may })), edge }
  }

  test('stores whole calls', async () => {
    const nulls = ['display_name', 'parent_id', 'thread_id', 'turn_id', 'exception', 'output', 'otel_dump', 'wb_run_id']
    const { status, json, headers, edge } = await complete([
      aCall({ inputs: { a: 1 }, output: 'x', ...Object.fromEntries(nulls.map((key) => [key, null])) }),
      aCall({ id: otherId, output: 1 }),
    ])
    expect([status, json, headers]).toEqual([200, {}, { 'X-Callhouse-Position': 'calls=1' }])
    expect(edge.rows()).toMatchObject([
      { kind: 'complete', id: callId, user_id: 'ada', inputs: { a: 1 }, output: 'null', summary: {} },
      { kind: 'complete', id: otherId, output: '1' },
    ])
  })

  test('answers an empty batch without a write', async () => {
    const { status, json, edge } = await complete([])
    expect([status, json, edge.log.appends()]).toEqual([200, {}, 0])
  })

  test('applies the same id twice in list order', async () => {
    const { edge } = await complete([aCall({ thread_id: 'a' }), aCall({ thread_id: 'b' })])
    expect(edge.rows().map(({ kind, thread_id }) => [kind, thread_id])).toEqual([
      ['complete', 'a'],
      ['complete', 'b'],
    ])
    expect(increasing(edge.clocks())).toBe(true)
  })

  test('stores nothing and names every bad item, also for faults that are 400 elsewhere', async () => {
    const { status, json, edge } = await complete([
      aCall(),
      aCall({ id: '' }),
      aCall({ trace_id: undefined }),
      aCall({ project_id: 'e/other' }),
      aCall({ started_at: '1990-01-01' }),
      5,
      aCall({ summary: { usage: { m: { requests: 3.5 } } } }),
    ])
    expect(status).toBe(422)
    expect(detail(json).map(({ loc, type }) => [...loc, type])).toEqual([
      ['body', 'batch', 1, 'value_error'],
      ['body', 'batch', 2, 'trace_id', 'missing'],
      ['body', 'batch', 3, 'value_error'],
      ['body', 'batch', 4, 'value_error'],
      ['body', 'batch', 5, 'dict_type'],
      ['body', 'batch', 6, 'summary', 'usage', 'm', 'requests', 'int_type'],
    ])
    expect(edge.rows()).toEqual([])
  })

  test('refuses a project that the key may not write', async () => {
    const { status, edge } = await complete([aCall()], '/v2/e/p/calls/complete', () => false)
    expect([status, edge.rows()]).toEqual([403, []])
  })
})

describe('/v2/{entity}/{project}/call/start and end', () => {
  test('store what the plain routes store', async () => {
    const edge = createCallsWrite()
    const started = await edge.post('/v2/e/p/call/start', { start: aStart() })
    const ended = await edge.post('/v2/e/p/call/end', {
      end: anEnd({ started_at: '2026-01-02T03:04:05Z', is_eval: true }),
    })
    expect([started.status, started.json, ended.status, ended.json]).toEqual([200, ids, 200, {}])
    expect(edge.rows().map(({ kind }) => kind)).toEqual(['start', 'end'])
  })

  test.each([
    ['start', { start: aStart({ project_id: 'e/q' }) }],
    ['end', { end: anEnd({ project_id: 'q/p' }) }],
  ])('answer 400 when the project differs: %s', async (side, body) => {
    const edge = createCallsWrite()
    expect((await edge.post(`/v2/e/p/call/${side}`, body)).status).toBe(400)
    expect(edge.rows()).toEqual([])
  })
})

test('a refusing log refuses the write', async () => {
  const edge = createCallsWrite()
  edge.log.refuse(new Error('closed'))
  await expect(edge.post('/call/start', { start: aStart() })).rejects.toThrow('closed')
})

describe('a long batch for a project of which the log takes no more', () => {
  const full = overLimit('log_share', 'Too many bytes of this project are waiting to be applied')
  /** A log that refuses more than 20 KB of one project, and counts how often it was asked. */
  const fullLog = () => {
    let asked = 0
    const refusal = (projects: ReadonlyMap<string, number>) => {
      asked++
      return (projects.get('e/p') ?? 0) > 20_000 ? full : null
    }
    return { log: Object.assign(createMemoryLog(), { refusal }), asked: () => asked }
  }
  const text = 'x'.repeat(70_000)

  test.each([
    ['a start', [startItem({ inputs: { text } })]],
    ['an end', [endItem({ output: text })]],
    ['items that are wrong', [startItem({ inputs: { text } }), 'wrong']],
  ])('is refused before its rows are made: %s', async (_, batch) => {
    const { log } = fullLog()
    const { status, json, headers, edge } = await upsert(batch, {}, { log })
    expect([status, json, headers]).toEqual([429, { reason: full.message }, { 'Retry-After': '1' }])
    expect(edge.log.appends()).toBe(0)
    const whole = await edge.post('/v2/e/p/calls/complete', { batch: [aCall({ inputs: { text } })] })
    expect([whole.status, edge.log.appends()]).toEqual([429, 0])
  })

  test.each([
    ['of another project', [startItem({ project_id: 'e/q', inputs: { text } })], {}],
    ['that names it in a payload alone', [startItem({ project_id: 'e/q', inputs: { text, like: startItem() } })], {}],
  ])('does not hold up one %s', async (_, batch, options) => {
    const { log } = fullLog()
    expect(await upsert(batch, options, { log })).toMatchObject({ status: 200, kinds: ['start'] })
  })

  test('tells who may not write there what is wrong with each item, and takes the others', async () => {
    const { log, asked } = fullLog()
    const batch = [startItem({ inputs: { text } }), startItem({ project_id: 'e/q', id: otherId })]
    const { json, kinds } = await upsert(batch, { may: (project) => project === 'e/q' }, { log })
    expect([json, kinds, asked()]).toEqual([{ res: [error, { ...ids, id: otherId }] }, ['start'], 0])
  })

  test('is told in its own time while it is short', async () => {
    const { log, asked } = fullLog()
    expect(await upsert([startItem()], {}, { log })).toMatchObject({ status: 200 })
    expect(asked()).toBe(0)
  })
})
