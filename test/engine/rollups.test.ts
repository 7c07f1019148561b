// Counters over a log with several partitions: exact whatever each partition has applied, recomputed or not.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { combined } from '../../services/core/log/combined-batch.ts'
import type { Batch, Position } from '../../services/core/log/log.ts'
import type { Store } from '../../services/core/store/store.ts'
import { createRollups } from '../../services/derived/rollups/rollups.ts'
import { countProject, createCountCache } from '../../services/query/calls/access/counts.ts'
import { createCallMaterializer } from '../../services/worker/calls/merge-fragments.ts'
import { createTestStore } from '../fixtures/store.ts'

const projectId = 'team/parts' as never
const committed: Position[] = [0, 1, 2].map((partition) => ({ topic: 'calls', partition, offset: 0 }))
const memory = createCountCache()
let store: Store
let remove: () => Promise<void>
let next = 0

/** Stores calls of one minute as a batch of a partition does: rows, marks, then the position. */
async function apply(partition: number, minute: number, calls: number): Promise<void> {
  const position = committed[partition] as Position
  const run = (sql: string) => store.command({ name: 'test', sql, params: {} })
  await run(`INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, trace_id)
    SELECT 'complete', '${projectId}', toString(${next} + number), 1, ${minute * 60_000_000}, ${minute * 60_000_000}, 't'
    FROM numbers(${calls})`)
  next += calls
  await run(`INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
    SELECT '${projectId}', ${partition}, ${position.offset + 1}, toDateTime(${minute * 60}, 'UTC')`)
  position.offset++
}
const count = () => countProject(store, projectId, 'calls', {}, memory)
const recomputer = (on: Store = store, seen: Position[] = committed) =>
  createRollups({
    store: on,
    committed: async () => seen.map((position) => ({ ...position })),
    onError(error) {
      throw error
    },
  })

beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())

it('a recompute counts dirty minutes of partitions that are behind others', async () => {
  for (let n = 0; n < 5; n++) await apply(0, 30_000_000 + n, 3)
  await recomputer().refresh()
  expect(await count()).toBe(15)
  // position 1 of a partition that lags far behind the covered position of another
  await apply(1, 30_000_002, 4)
  expect(await count()).toBe(19)
  await apply(2, 30_000_009, 1)
  expect(await count()).toBe(20)
})

it('a recompute goes on where another process stopped', async () => {
  const rollups = recomputer()
  await rollups.refresh()
  expect(await count()).toBe(20)
  const [row] = await store.rows<{ n: string }>({
    name: 'test',
    sql: `SELECT toString(sum(calls)) AS n FROM callhouse.call_counts FINAL WHERE project_id = '${projectId}'`,
    params: {},
  })
  expect(row?.n).toBe('20')
  await apply(1, 30_000_002, 2)
  await recomputer().refresh()
  expect(await count()).toBe(22)
})

it.each([
  ['call-counts', 30_700_020],
  ['call-stats', 30_700_080],
])(
  'a recompute sums an hour from all of its minutes when two workers recompute it at once (%s)',
  async (held, startOfHour) => {
    const hour = async () => {
      const [row] = await store.rows<Record<'counts' | 'stats', number>>({
        name: 'test',
        sql: `SELECT (SELECT toUInt32(sum(calls)) FROM callhouse.call_counts_hourly FINAL WHERE hour = h) AS counts,
        (SELECT toUInt32(sum(calls)) FROM callhouse.call_stats FINAL WHERE seconds = 3600 AND bucket = h) AS stats
        FROM (SELECT toDateTime(${startOfHour * 60}, 'UTC') AS h)`,
        params: {},
      })
      return row
    }
    await apply(0, startOfHour, 2)
    // Positions for the new worker, before one more partition is committed that only the old one sees.
    const seenByNew = committed.map((position) => ({ ...position }))
    await apply(1, startOfHour + 1, 1)
    const began = Promise.withResolvers<void>()
    const mayGoOn = Promise.withResolvers<void>()
    const slow: Store = {
      ...store,
      async command(query, options) {
        if (query.name === held) {
          began.resolve()
          await mayGoOn.promise
        }
        return store.command(query, options)
      },
    }
    const old = recomputer(slow).refresh()
    await began.promise
    await recomputer(store, seenByNew).refresh()
    expect(await hour()).toMatchObject({ stats: 2 })
    mayGoOn.resolve()
    await old
    expect(await hour()).toEqual({ counts: 3, stats: 3 })
  },
)

it('a recompute counts what begins within the last second of the last minute', async () => {
  const run = (sql: string) => store.command({ name: 'test', sql, params: {} })
  const [minute, before] = [30_800_000, await count()]
  // More than a minute is counted whole with.
  const calls = 8_000
  await run(`INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, trace_id)
    SELECT 'complete', '${projectId}', 'late' || toString(number), 1, ${(minute + 1) * 60_000_000 - 1_000_000} + 100 * number, 0, 't'
    FROM numbers(${calls})`)
  await run(`INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
    SELECT '${projectId}', 0, ${(committed[0] as Position).offset + 1}, toDateTime(${minute * 60}, 'UTC')`)
  expect(await count()).toBe(before + calls)
  ;(committed[0] as Position).offset++
  await recomputer().refresh()
  expect(await count()).toBe(before + calls)
  const [row] = await store.rows<{ n: number }>({
    name: 'test',
    sql: `SELECT toUInt32(sum(calls)) AS n FROM callhouse.call_stats FINAL
      WHERE seconds = 60 AND bucket = toDateTime(${minute * 60}, 'UTC')`,
    params: {},
  })
  expect(row?.n).toBe(calls)
})

it('a recompute counts only the dirty seconds of a minute with many calls, and all of them where nothing tells which', async () => {
  const minute = 30_900_000
  const run = (sql: string) => store.command({ name: 'test', sql, params: {} })
  const add = async (second: number, calls: number, seconds: number | null) => {
    await run(`INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, trace_id, parent_id)
      SELECT 'complete', '${projectId}', toString(${next} + number), 1, ${(minute * 60 + second) * 1_000_000 + 999_999},
        ${(minute * 60 + second + 1) * 1_000_000 + 999_999}, 't', if(number % 2 = 0, '', 'p')
      FROM numbers(${calls})`)
    next += calls
    if (seconds === null) return
    const position = committed[0] as Position
    await run(`INSERT INTO callhouse.call_marks (project_id, partition, position, minute, seconds)
      SELECT '${projectId}', 0, ${++position.offset}, toDateTime(${minute * 60}, 'UTC'), toUInt64(${seconds})`)
  }
  const recompute = () =>
    createRollups({
      store,
      committed: async () => committed.map((position) => ({ ...position })),
      bounds: { manyCalls: 10 },
      onError(error) {
        throw error
      },
    }).refresh()
  const stored = async () => {
    const [row] = await store.rows<Record<string, number>>({
      name: 'test',
      sql: `SELECT toUInt32(c.calls) AS calls, toUInt32(c.roots) AS roots, toUInt32(s.calls) AS in_stats, toUInt32(s.timed) AS timed
        FROM (SELECT calls, roots FROM callhouse.call_counts FINAL WHERE minute = toDateTime(${minute * 60}, 'UTC')) AS c,
          (SELECT sum(calls) AS calls, sum(length(latencies)) AS timed FROM callhouse.call_stats FINAL
            WHERE seconds = 60 AND bucket = toDateTime(${minute * 60}, 'UTC')) AS s`,
      params: {},
    })
    return row
  }
  const before = await count()
  await add(59, 20, 2 ** 59)
  expect(await count()).toBe(before + 20)
  await recompute()
  expect(await stored()).toEqual({ calls: 20, roots: 10, in_stats: 20, timed: 20 })
  // Statistics are made of seconds from the next recompute on.
  await add(7, 4, 2 ** 7)
  await recompute()
  expect(await stored()).toEqual({ calls: 24, roots: 12, in_stats: 24, timed: 24 })
  // Calls without a bucket are not seen.
  await add(30, 6, null)
  await add(8, 2, 2 ** 8)
  expect(await count()).toBe(before + 26)
  await recompute()
  expect(await stored()).toEqual({ calls: 26, roots: 13, in_stats: 26, timed: 26 })
  expect(await count()).toBe(before + 26)
  await add(8, 2, 0)
  expect(await count()).toBe(before + 34)
  await recompute()
  expect(await stored()).toEqual({ calls: 34, roots: 17, in_stats: 34, timed: 34 })
  await add(9, 2, 2 ** 9)
  await recompute()
  expect(await stored()).toEqual({ calls: 36, roots: 18, in_stats: 36, timed: 36 })
  expect(await count()).toBe(before + 36)
})

it('a new rollup counts the calls that were there before it', async () => {
  const rollups = createRollups({
    store,
    committed: async () => committed,
    onError() {},
    table: [{ name: 'late', recomputed: { due: 'call-counts-due', minutes: 'call-counts' } }],
  })
  for (const table of ['call_counts', 'call_marks'])
    await store.command({ name: 'test', sql: `TRUNCATE TABLE callhouse.${table}`, params: {} })
  await rollups.refresh()
  const [row] = await store.rows<{ n: string }>({
    name: 'test',
    sql: `SELECT toString(sum(calls)) AS n FROM callhouse.call_counts FINAL WHERE project_id = '${projectId}'`,
    params: {},
  })
  expect(Number(row?.n)).toBe(await count())
})

it('a recompute counts rows that are applied again at covered positions, once a worker has lowered these', async () => {
  const rollups = recomputer()
  await rollups.refresh()
  const before = await count()
  const run = (sql: string) => store.command({ name: 'test', sql, params: {} })
  await run('TRUNCATE TABLE callhouse.rollups')
  for (const { partition, offset } of committed)
    await run(`INSERT INTO callhouse.rollups (name, partition, position, revision)
      SELECT 'call_counts', ${partition}, ${Math.max(0, offset - 1)}, ${Date.now() * 1000}`)
  // Applied again, at the last position that was covered.
  const last = committed[0] as Position
  last.offset--
  await apply(0, 30_000_100, 7)
  expect(await count()).toBe(before + 7)
  // The process that covered it goes on.
  await apply(0, 30_000_200, 1)
  await rollups.refresh()
  expect(await count()).toBe(before + 8)
})

/** A batch of one partition with calls of these projects. */
const finished = (partition: number, lastOffset: number, projects: string[]): Batch => ({
  topic: 'calls',
  partition,
  firstOffset: lastOffset,
  lastOffset,
  records: [],
  oldestMs: 0,
  patchCount: 0,
  rowCount: projects.length,
  source: {
    bytes: projects.map((project) =>
      Buffer.from(`{"kind":"complete","project_id":${JSON.stringify(project)},"id":"1"}\n`),
    ),
  },
})

it('a combined batch makes minutes dirty for those partitions only that a project’s rows came from', async () => {
  const calls = createCallMaterializer(store)
  const odd = 'odd/"q\\ü,"id":'
  const whole = combined(finished(0, 901, ['many/one', odd]), [
    finished(2, 41, ['many/both']),
    finished(5, 7, [odd, 'many/both']),
  ])
  await calls.beforeInsert(whole)
  const minute = 30_600_000
  await store.command({
    name: 'test',
    sql: `INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, trace_id)
      SELECT 'complete', arrayJoin(['many/one', {odd:String}, 'many/both']) AS project, project, 1, ${minute * 60_000_000}, ${minute * 60_000_000}, 't'`,
    params: { odd },
  })
  // More rows than are looked up: the minutes are noted for the sweep too.
  await calls.afterInsert({ ...whole, rowCount: 3_000 })
  for (const table of ['call_marks', 'call_unswept'])
    expect(
      await store.rows({
        name: 'test',
        sql: `SELECT project_id, groupArray((partition, toUInt32(position))) AS at
          FROM (SELECT DISTINCT project_id, partition, position FROM callhouse.${table}
            WHERE minute = toDateTime(${minute * 60}, 'UTC') ORDER BY partition) GROUP BY project_id ORDER BY project_id`,
        params: {},
      }),
    ).toEqual([
      {
        project_id: 'many/both',
        at: [
          [2, 41],
          [5, 7],
        ],
      },
      { project_id: 'many/one', at: [[0, 901]] },
      {
        project_id: odd,
        at: [
          [0, 901],
          [5, 7],
        ],
      },
    ])
})

it('a combined batch without known projects makes minutes dirty for every partition, so that one of them may be covered elsewhere first', async () => {
  const calls = createCallMaterializer(store)
  const batch = (partition: number, lastOffset: number): Batch => ({
    topic: 'calls',
    partition,
    firstOffset: lastOffset,
    lastOffset,
    records: [],
    oldestMs: 0,
    rowCount: 1,
    patchCount: 0,
    source: { bytes: [] },
  })
  const whole = combined(batch(0, 900), [batch(2, 40)])
  await calls.beforeInsert(whole)
  const minute = 30_500_000
  await store.command({
    name: 'test',
    sql: `INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, trace_id)
      SELECT 'complete', '${projectId}', 'joined', 1, ${minute * 60_000_000}, ${minute * 60_000_000}, 't'`,
    params: {},
  })
  await calls.afterInsert(whole)
  const marks = await store.rows({
    name: 'test',
    sql: `SELECT DISTINCT partition, toUInt32(position) AS position FROM callhouse.call_marks
      WHERE minute = toDateTime(${minute * 60}, 'UTC') ORDER BY partition`,
    params: {},
  })
  expect(marks).toEqual([
    { partition: 0, position: 900 },
    { partition: 2, position: 40 },
  ])
})

it('the worker drops covered dirty buckets, with a statement for each million of positions that has some', async () => {
  const offset = 40_000_000
  for (const name of ['payload_leaves', 'call_sweep'])
    await store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.rollups (name, partition, position) VALUES ('${name}', 0, ${offset})`,
      params: {},
    })
  for (const position of [7_000_001, 39_999_999, offset])
    await store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.call_marks (project_id, position, minute) VALUES ('${projectId}', ${position}, 60)`,
      params: {},
    })
  const dropped: string[] = []
  const watched: Store = {
    ...store,
    async command(query, options) {
      if (query.name === 'rollups.drop-marks') dropped.push(query.sql)
      return store.command(query, options)
    },
  }
  await recomputer(watched, [{ topic: 'calls', partition: 0, offset }]).refresh()
  expect(dropped.map((sql) => Number(/call_marks DROP PARTITION (\d+)/.exec(sql)?.[1])).filter((n) => n > 0)).toEqual(
    expect.arrayContaining([7, 39]),
  )
  expect(dropped.length).toBeLessThan(6)
  const left = await store.rows<{ n: number }>({
    name: 'test',
    sql: 'SELECT toUInt32(position) AS n FROM callhouse.call_marks',
    params: {},
  })
  expect(left).toEqual([{ n: offset }])
})
