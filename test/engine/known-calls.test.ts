// The known calls of this process: by the engine's own hashes, and never less than the tables hold.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../services/core/store/store.ts'
import { callsTopic } from '../../services/events/calls.ts'
import { createApplier } from '../../services/worker/apply-batch.ts'
import { keyOfTexts } from '../../services/worker/calls/call-rows.ts'
import { fingerprintFrom, fingerprintOf } from '../../services/worker/calls/fingerprints.ts'
import { createKnownCalls } from '../../services/worker/calls/known-calls.ts'
import { keyOfTrace } from '../../services/worker/calls/spans.ts'
import { createTestStore } from '../fixtures/store.ts'

let store: Store
let remove: () => Promise<void>
beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())

const run = (sql: string) => store.command({ name: 'test', sql, params: {} })
const project = 'known/calls'
const key = (id: string) => keyOfTexts(project, id)
const hour = 3_600_000_000

it('the worker computes the engine’s hashes of any text', async () => {
  const texts = ['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'Zoë 🐾', '\u0000\u007f', '"\\\n', 'x'.repeat(1_000)]
  for (let n = 0; n < 300; n++) texts.push(`${'é'.repeat(n % 7)}${n * 7919}${'-'.repeat(n % 5)}`)
  const rows = await store.rows<{ h3: number; h2: number }>({
    name: 'hashes',
    sql: 'SELECT murmurHash3_32(text) AS h3, murmurHash2_32(text) AS h2 FROM (SELECT arrayJoin({texts:Array(String)}) AS text)',
    params: { texts },
  })
  for (const [i, { h3, h2 }] of rows.entries())
    expect(fingerprintOf(Buffer.from(texts[i] as string).toString('latin1')), texts[i]).toEqual(
      fingerprintFrom(Number(h3) | 0, Number(h2) | 0),
    )
  expect(rows).toHaveLength(texts.length)
})

describe('calls that the tables hold', () => {
  beforeAll(async () => {
    await run(`INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, trace_id)
      SELECT 'complete', '${project}', concat('call-', toString(number)), number + 1,
        ${Date.UTC(2026, 1, 3) * 1000} + number * ${hour / 20}, 0, if(number = 7, repeat('a', 32), 't') FROM numbers(3000)`)
    await run(`INSERT INTO callhouse.calls_in (kind, project_id, id, clock, payload_us, ended_us)
      SELECT 'end', '${project}', concat('end-', toString(number)), number + 1, 1, 1 FROM numbers(500)`)
  })

  it('are known once they were read, those of fragments too', async () => {
    const known = createKnownCalls({ store })
    expect(known.isComplete()).toBe(false)
    await known.fill()
    expect(known.isComplete()).toBe(true)
    for (let n = 0; n < 3_000; n++) expect(known.add(key(`call-${n}`))).toBe(true)
    for (let n = 0; n < 500; n++) expect(known.add(key(`end-${n}`))).toBe(true)
    expect(known.add(keyOfTrace({ project, trace: 'a'.repeat(32) }))).toBe(true)
    expect(known.add(keyOfTrace({ project, trace: 'b'.repeat(32) }))).toBe(false)
    expect(Array.from({ length: 3_000 }, (_, n) => known.add(key(`other-${n}`))).filter(Boolean).length).toBeLessThan(5)
    expect(known.add(key('other-7'))).toBe(true)
  })

  it('are not known after something else has changed the tables, until they were read again', async () => {
    let onRead = () => {}
    const reading: Pick<Store, 'rows' | 'bytes'> = {
      ...store,
      bytes(query, format, options) {
        onRead()
        return store.bytes(query, format, options)
      },
    }
    const known = createKnownCalls({ store: reading })
    await known.fill()
    expect(known.isComplete()).toBe(true)
    known.forget()
    expect(known.isComplete()).toBe(false)
    onRead = () => known.forget()
    await known.fill()
    expect(known.isComplete()).toBe(false)
    onRead = () => {}
    await known.fill()
    expect(known.isComplete()).toBe(true)
  })

  it('are not known where there are too many, and not again after something could not be added', async () => {
    const reasons: string[] = []
    const onDisable = (reason: string) => void reasons.push(reason)
    const few = createKnownCalls({ store, maxSlots: 0, onDisable })
    await few.fill()
    expect(few.isComplete()).toBe(false)
    const known = createKnownCalls({ store, onDisable })
    await known.fill()
    known.disable('unknown row')
    known.disable('unknown row')
    // each is told once, for the log
    expect(reasons).toEqual(['too many calls', 'unknown row'])
    expect(known.isComplete()).toBe(false)
    await known.fill()
    expect(known.isComplete()).toBe(false)
  })

  it('are not known while an exchange of tables may have changed them', async () => {
    const known = createKnownCalls({ store })
    await known.fill()
    const applier = createApplier({
      store,
      log: { committed: async () => [] },
      deadLetters: { add: async () => {} },
      newCalls: { known },
    })
    await expect(applier.exclusive(() => Promise.reject(new Error('a test')))).rejects.toThrow('a test')
    expect(known.isComplete()).toBe(false)
  })
})

describe('calls that nothing is known of', () => {
  const rowOf = (id: string, more = {}) => ({
    text: Buffer.from(
      JSON.stringify({
        kind: 'complete',
        project_id: project,
        id,
        clock: 1e9,
        started_us: Date.UTC(2026, 1, 3) * 1000,
        ...more,
      }),
    ),
    partition: 0,
    offset: 1,
    rowIndex: 0,
  })
  const statements: string[] = []
  const apply = async (rows: ReturnType<typeof rowOf>[], refuses = false) => {
    const known = createKnownCalls({ store })
    await known.fill()
    statements.length = 0
    const letters: string[] = []
    const counted: Store = {
      ...store,
      rows(query, options) {
        statements.push(query.name)
        return store.rows(query, options)
      },
      command(query, options) {
        statements.push(query.name)
        return store.command(query, options)
      },
      async insert(topic, source) {
        statements.push(topic.landing)
        const { rowsRead } = await store.insert(topic, source)
        return { rowsRead: refuses && topic.landing !== 'calls_in' ? rowsRead - 1 : rowsRead }
      },
    }
    const applier = createApplier({
      store: counted,
      log: { committed: async () => [] },
      deadLetters: { add: async ({ row }) => void letters.push(row) },
      newCalls: { known },
    })
    const batch = {
      topic: 'calls',
      partition: 0,
      firstOffset: 1,
      lastOffset: 1,
      records: [],
      rowCount: rows.length,
      patchCount: 0,
      source: { bytes: [] },
      oldestMs: 0,
    }
    await applier.apply(batch, rows)
    return letters
  }
  const countOf = async (id: string) =>
    Number(
      (
        await store.rows<{ n: number }>({
          name: 'n',
          sql: 'SELECT count() AS n FROM callhouse.calls FINAL WHERE project_id = {project:String} AND id = {id:String}',
          params: { project, id },
        })
      )[0]?.n,
    )

  it('cost an insert and a mark, and no look into the tables', async () => {
    await apply([rowOf('begun', { kind: 'start' }), rowOf('finished')])
    expect(statements).toEqual(['dirty-buckets-of-new', 'begun_calls_in'])
    await apply([rowOf('begun too', { kind: 'start' }), rowOf('plain', { summary: {} })])
    expect(statements).toEqual(['dirty-buckets-of-new', 'unbilled_begun_calls_in'])
    await apply([rowOf('one', { summary: { usage: { m: { cached_tokens: 0 } } } })])
    expect(statements).toEqual(['dirty-buckets-of-new', 'unbilled_calls_in'])
    expect(await countOf('one')).toBe(1)
    await apply([rowOf('billed', { summary: { usage: { m: { input_tokens: 9, cached_tokens: 5 } } } }), rowOf('not')])
    expect(statements).toEqual(['dirty-buckets-of-new', 'finished_calls_in'])
  })

  it('have the payloads that every other way gives them', async () => {
    const sdk = (client_version: string, source = 'python-sdk') => ({
      attributes: { weave: { source, client_version } },
    })
    const summary = { usage: { m: { input_tokens: 9 } } }
    const cached = { usage: { m: { input_tokens: 9, cache_read_input_tokens: 5 } } }
    const starts = [{}, sdk('0.54.0'), sdk('0.53.9'), sdk('1.0'), sdk('0.54.0', 'js-sdk'), { otel_dump: { a: 1 } }]
    const batches = [
      starts.map((more) => ({ kind: 'start', ...more })),
      [...starts.map((more) => ({ kind: 'start', ...more })), { summary, ...sdk('0.54.0') }],
      [...starts.map((more) => ({ kind: 'start', ...more })), { summary: cached, ...sdk('0.54.0') }],
      starts.map((more) => ({ summary, ...more })),
      starts.map((more) => ({ summary: cached, ...more })),
    ]
    const rowsOf = (way: string) => batches.map((rows, b) => rows.map((more, n) => rowOf(`${way}-${b}-${n}`, more)))
    const landings: unknown[] = []
    for (const rows of rowsOf('new')) {
      await apply(rows)
      landings.push(statements[1])
    }
    expect(landings).toEqual([
      'unbilled_begun_calls_in',
      'unbilled_begun_calls_in',
      'begun_calls_in',
      'unbilled_calls_in',
      'finished_calls_in',
    ])
    for (const rows of rowsOf('merged'))
      await store.insert(callsTopic, { bytes: rows.flatMap(({ text }) => [text, Buffer.from('\n')]) })
    const payloads = (way: string) =>
      store.rows<{ counts_cached: number; billed_usage: unknown[] }>({
        name: 'payloads',
        sql: `SELECT * EXCEPT id, splitByChar('-', id)[2] AS b, splitByChar('-', id)[3] AS n FROM callhouse.payloads
          WHERE project_id = {project:String} AND startsWith(id, {way:String}) ORDER BY b, n`,
        params: { project, way: `${way}-` },
      })
    const found = await payloads('new')
    expect(found).toEqual(await payloads('merged'))
    expect(found).toHaveLength(batches.flat().length)
    expect(found.filter((row) => Number(row.counts_cached) === 1).length).toBe(3 * 3 + 1 + 3)
    expect(found.filter((row) => row.billed_usage.length > 0).length).toBe(1 + 6)
  })

  it('are merged where one is known, has a fragment in the batch or cannot be read', async () => {
    for (const rows of [
      [rowOf('call-7')],
      [rowOf('end-7')],
      [rowOf('two'), rowOf('two', { started_us: 1.7e15 })],
      [rowOf('other'), rowOf('begun')],
      [rowOf('lone', { kind: 'end' })],
      [rowOf('three', { named: 1 })],
      [rowOf('four"')],
    ]) {
      await apply(rows)
      expect(statements).toContain('calls_in')
      expect(statements.filter((name) => name.endsWith('_calls_in'))).toEqual([])
    }
  })

  it('take the other way when the engine counts other rows or refuses one, which is a dead letter', async () => {
    expect(await apply([rowOf('five')], true)).toEqual([])
    expect(statements).toContain('calls_in')
    const [letter] = await apply([rowOf('six'), rowOf('seven', { error_count: 'none' })])
    expect(letter).toContain('seven')
    expect([await countOf('five'), await countOf('six'), await countOf('seven')]).toEqual([1, 1, 0])
  })
})
