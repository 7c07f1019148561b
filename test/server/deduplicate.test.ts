// tier: deep slow
// Two finished calls of one id under two start times, in segments too large to be looked at row by row: one is left, soon.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMerges } from '../../services/derived/merges.ts'
import { lookupRows } from '../../services/worker/calls/merge-fragments.ts'
import type { Worker } from '../../services/worker/run.ts'
import { post } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project = 'two/times'
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer(['--query-rows', '50000'])
})
afterAll(() => server.remove())

it('of two finished calls under two start times one is left soon after the second batch', async () => {
  const size = lookupRows + 10
  for (const [clock, hour] of [
    [1_000, 10],
    [9_000_000, 11],
  ] as const) {
    const us = Date.UTC(2026, 3, 1, hour) * 1000
    const rows = Array.from({ length: size }, (_, n) =>
      JSON.stringify({
        kind: 'complete',
        project_id: project,
        id: idOf(n),
        clock: clock + n,
        started_us: us + n,
        ended_us: us + n,
        trace_id: idOf(n),
        op_name: 'o',
        inputs: { hour },
        summary: {},
      }),
    )
    const text = Buffer.from(`${rows.join('\n')}\n`)
    await server.now().log.append('calls', [{ rows: text, rowCount: size, patchCount: 0, clock: 1n, key: project }])
    await server.send('/calls/query_stats', { project_id: project })
  }
  const hours = async () =>
    (
      await server.list<{ inputs: { hour: number } }>('/calls/stream_query', {
        project_id: project,
        filter: { call_ids: [idOf(7)] },
      })
    ).map(({ inputs }) => inputs.hour)
  await eventually(async () => expect(await hours()).toEqual([11]), { withinMs: 60_000, everyMs: 100 })
  const count = async () => (await server.send<{ count: number }>('/calls/query_stats', { project_id: project })).count
  await eventually(async () => expect(await count()).toBe(size), { withinMs: 60_000, everyMs: 100 })
})

describe('counters beside work that is no batch', () => {
  const own = 'two/beside'
  const us = Date.UTC(2026, 4, 1, 10) * 1000
  const row = (id: string, startedUs: number, clock: number): Buffer =>
    Buffer.from(
      `${JSON.stringify({
        kind: 'complete',
        project_id: own,
        id,
        clock,
        started_us: startedUs,
        ended_us: startedUs,
        trace_id: id,
        op_name: 'o',
        inputs: {},
        summary: {},
      })}\n`,
    )
  const append = (rows: Buffer, rowCount: number) =>
    server.now().log.append('calls', [{ rows, rowCount, patchCount: 0, clock: 1n, key: own }])
  const count = async () => (await server.send<{ count: number }>('/calls/query_stats', { project_id: own })).count
  const end = async () => (await server.now().log.end('calls'))[0]?.offset
  const isCommitted = async (offset: number | undefined) =>
    expect((await server.now().log.committed('calls'))[0]?.offset).toBe(offset)

  /** Holds a method until it is let go; calls of it that are not held go on. */
  function held<Name extends 'commit' | 'command' | 'insert'>(
    of: Record<Name, (...args: never[]) => Promise<unknown>>,
    name: Name,
    isHeld: (...args: never[]) => boolean,
  ) {
    const before = of[name]
    const came = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    of[name] = async (...args) => {
      if (isHeld(...args)) {
        came.resolve()
        await gate.promise
      }
      return before(...args)
    }
    return {
      came: came.promise,
      release() {
        of[name] = before
        gate.resolve()
      },
    }
  }

  it('see calls that were merged between a batch and its commit', async () => {
    const { store, log, worker } = server.now()
    const size = lookupRows + 10
    // A minute for each, so that what is folded later marks none of what was folded before.
    const rows = (from: number, clock: number) =>
      Buffer.concat(Array.from({ length: size }, (_, n) => row(idOf(n), from + n * 60_000_000, clock + n)))
    await append(rows(us, 1_000), size)
    expect(await count()).toBe(size)
    const commit = held(log, 'commit', () => true)
    // Several records, so that the next position after what was committed lies within the batch.
    await Promise.all([
      append(rows(us + 4 * 86_400_000_000, 9_000_000), size),
      ...[1, 2].map((n) => append(row(idOf(n), us, 1_000 + n), 1)),
    ])
    await commit.came
    const fold = held(store, 'command', ({ name }: { name: string }) => name === 'calls-insert-merged')
    const swept = (worker as Worker).deduplicateAll()
    await fold.came
    commit.release()
    const last = await end()
    await eventually(() => isCommitted(last), { everyMs: 20 })
    await worker?.rollups.refresh()
    fold.release()
    await swept
    expect(await count()).toBe(size)
  })

  it('see rows that were applied again while others were committed', async () => {
    const { store, worker } = server.now()
    const before = await count()
    const isOfCalls = ({ name }: { name: string }) => name === 'calls'
    let inserts = 0
    const second = held(store, 'insert', (topic: { name: string }) => isOfCalls(topic) && ++inserts === 2)
    const first = held(store, 'insert', isOfCalls)
    await append(row(idOf(90_000), us, 5), 1)
    await first.came
    const text = row(idOf(90_001), us, 6)
    const again = worker?.reapply('calls', [{ partition: 0, offset: 1, rowIndex: 0, text }])
    first.release()
    await second.came
    const last = await end()
    await eventually(() => isCommitted(last), { everyMs: 20 })
    await worker?.rollups.refresh()
    second.release()
    await again
    expect(await count()).toBe(before + 2)
  })
})

describe('beside many other calls', () => {
  const many = 60_000
  const rows = <T>(sql: string) => server.now().store.rows<T>({ name: 'test.rows', sql, params: {} })
  const command = (sql: string) => server.now().store.command({ name: 'test.command', sql, params: {} })
  /** Rows that reads went through, of all that the engine has read since it began. */
  const rowsRead = async () =>
    Number(
      (await rows<{ n: number }>("SELECT toFloat64(value) AS n FROM system.events WHERE event = 'SelectedRows'"))[0]
        ?.n ?? 0,
    )
  const insert = (from: number, count: number, hour: string, clock: number) =>
    command(`INSERT INTO callhouse.calls (project_id, started_at, id, trace_id, op_name, ended_at, start_ver, end_ver, version)
      SELECT 'two/stored', toDateTime64('${hour}', 6, 'UTC') + number * 0.05 AS at,
        concat('00000000-0000-7000-8000-', leftPad(toString(${from} + number), 12, '0')), 'trace', 'o', at,
        ${clock}, ${clock}, ${2 * clock} FROM numbers(${count})`)
  const visible = () =>
    rows<{ n: number }>(`SELECT toUInt32(count()) AS n FROM callhouse.calls FINAL WHERE project_id = 'two/stored'
      AND moved = 0 AND delete_ver = 0`)

  it('deduplication reads what large batches brought, and finds a call under two start times', async () => {
    const worker = server.now().worker as Worker
    await insert(0, many, '2026-02-01 00:00:00', 1_000)
    await worker.deduplicateChanged()
    // A large batch: its minutes are marked, its calls were not looked up.
    await insert(many - 1, 200, '2026-03-01 00:00:00', 2_000)
    // With the next record, whichever partition that goes to.
    for (const { partition, offset } of await server.now().log.committed('calls'))
      await command(`INSERT INTO callhouse.call_unswept (project_id, partition, position, minute)
      SELECT DISTINCT 'two/stored', ${partition}, ${offset + 1}, toStartOfMinute(started_at) FROM callhouse.calls
      WHERE project_id = 'two/stored' AND started_at >= '2026-03-01 00:00:00'`)
    await server.send('/call/start', {
      start: { project_id: project, op_name: 'o', started_at: '2026-01-01T00:00:00Z', attributes: {}, inputs: {} },
    })
    await server.send('/calls/query_stats', { project_id: project })
    expect(await visible()).toEqual([{ n: many + 200 }])
    // Other reads in the background would count too.
    await worker.rollups.refresh()
    await worker.fieldIndexRollups.refresh()
    const before = await rowsRead()
    // It may have run by itself meanwhile.
    expect(await worker.deduplicateChanged()).toBeLessThanOrEqual(1)
    // A few granules of some tables, the fold included; all ids are sixty thousand.
    expect((await rowsRead()) - before).toBeLessThan(many)
    expect(await visible()).toEqual([{ n: many + 199 }])
    const again = await rowsRead()
    expect(await worker.deduplicateChanged()).toBe(0)
    expect((await rowsRead()) - again).toBeLessThan(1_000)
  })

  it('a query that would go through more rows than the setting allows is 400 with their number', async () => {
    const asked = (query: object) =>
      post(server.now().url, '/calls/query_stats', { project_id: 'two/stored', ...query })
    const refused = await asked({ filter: { op_names: ['o'] } })
    const [, rows] = /about (\d+) rows; one may read 50000/.exec(refused.text) ?? []
    expect([refused.status, Number(rows)]).toEqual([400, expect.closeTo(many, -4)])
    // Counters and keys lead to few.
    expect((await asked({ filter: { call_ids: [idOf(7)] } })).status).toBe(200)
    // Statements of no project, and those for stored calls, are not bounded by it.
    expect(await visible()).toEqual([{ n: many + 199 }])
  })

  it('a month is merged when a tenth of it has changed, and left alone before', async () => {
    const { store } = server.now()
    const parts = async () =>
      (
        await rows<{
          n: number
        }>(`SELECT toUInt32(rows) AS n FROM system.parts WHERE active AND database = currentDatabase()
          AND table = 'calls' AND partition = '202602' ORDER BY n DESC`)
      ).map(({ n }) => n)
    // Nothing is merged for its age alone.
    for (const { name, text } of await rows<{ name: string; text: string }>(
      "SELECT name, engine_full AS text FROM system.tables WHERE database = 'callhouse' AND engine LIKE '%MergeTree'",
    ))
      expect(Number(/min_age_to_force_merge_seconds = (\d+)/.exec(text)?.[1] ?? 0), name).toBe(0)
    const merges = createMerges({ store }, 0)
    await command("OPTIMIZE TABLE callhouse.calls PARTITION ID '202602' FINAL")
    expect(await parts()).toEqual([many])
    await insert(1, 1, '2026-02-02 12:00:00', 3_000)
    expect(await merges.run()).not.toContain('202602')
    expect(await parts()).toEqual([many, 1])
    await insert(2, 7_000, '2026-02-03 12:00:00', 4_000)
    expect(await merges.run()).toContain('202602')
    expect(await parts()).toEqual([many + 7_001])
  })
})
