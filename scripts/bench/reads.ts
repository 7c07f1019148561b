// `npm run bench reads`: the read routes over HTTP against hand-written SQL on the same tables, taking turns in one run.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../services/app/config.ts'
import { startCallhouse } from '../../services/app/server.ts'
import { createLogger } from '../../services/core/process/logger.ts'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import type { Query, Store } from '../../services/core/store/store.ts'
import { createClient, median } from './process.ts'
import type { ReadCase } from './reads-case.ts'
import { headers as anyLight, deriveFieldIndex, fillParts, grouped, payloadCases, usualPage } from './reads-payloads.ts'
import { deriveStats, fillLargeTrace, usageCases } from './reads-usage.ts'

export const project = 'bench/half'
const other = 'bench/others'
const storeOptions = { memoryCapBytes: 6 * 2 ** 30, queryTimeoutMs: 600_000, queryMemoryBytes: 4 * 2 ** 30 }
const headers = 'id, trace_id, op_name, started_at, parent_id, display_name, ended_at, exception, user_id, thread_id'
const live = 'delete_ver = 0 AND moved = 0'
const final = 'SETTINGS do_not_merge_across_partitions_select_final = 1'

/** Seconds over which the calls are spread: thirty days, the newest an hour ago. */
const spanSeconds = 30 * 86_400

/** Fills the tables with calls in traces of eight, half of them in one project; about 2.2 KB of payload each. */
async function fill(store: Store, calls: number, withParts: boolean): Promise<void> {
  const words =
    "splitByChar(' ', 'order refund parcel late customer policy answer please where status account number today ship carrier address label window return credit')"
  const text = (seed: string, count: number) =>
    `arrayStringConcat(arrayMap(i -> ${words}[1 + (cityHash64(${seed}, i) % 20)], range(${count})), ' ')`
  const step = 50_000
  const firstUs = (Date.now() - 3_600_000 - spanSeconds * 1000) * 1000
  const everyUs = Math.floor((spanSeconds * 1e6) / calls)
  const idOf = (n: string) =>
    `lower(concat('019', substring(hex(MD5(concat('i', toString(${n})))), 1, 5), '-0000-7000-8000-', leftPad(hex(${n}), 12, '0')))`
  for (let from = 0; from < calls; from += step) {
    await store.command({ name: 'bench.truncate', sql: 'TRUNCATE TABLE callhouse.calls_batch', params: {} })
    await store.command({
      name: 'bench.fill',
      params: { from, count: Math.min(step, calls - from), firstUs, everyUs },
      sql: `INSERT INTO callhouse.calls_in (* EXCEPT (mask, mask_hits))
SELECT '' AS _record, 'complete' AS kind, if(intDiv(n, 8) % 2 = 0, '${project}', '${other}') AS project_id, ${idOf('n')} AS id,
    1832718374832718374 + n * 1024 AS clock, {firstUs:Int64} + n * {everyUs:Int64} AS started_us,
    started_us + 1000 * (20 + cityHash64(n) % if(n % 97 = 0, 30000, 900)) AS ended_us, toInt64(0) AS payload_us,
    lower(concat('018', substring(hex(MD5(concat('t', toString(intDiv(n, 8))))), 1, 5), '-0000-7000-8000-', leftPad(hex(intDiv(n, 8)), 12, '0'))) AS trace_id,
    if(n % 8 = 0, '', if(n % 8 < 5, ${idOf('n - n % 8')}, ${idOf('n - n % 8 + 1')})) AS parent_id,
    concat('thread-', toString(intDiv(n, 800))) AS thread_id, ${idOf('n - n % 8')} AS turn_id,
    concat('weave:///', project_id, '/op/step_', toString(n % 20), ':Fq3Fq3Fq3Fq3Fq3Fq3Fq3Fq3Fq3Fq3Fq3Fq3Fq3Fq3Fq3') AS op_name,
    0 AS named, '' AS display_name, if(n % 50 = 7, 'ValueError: boom', '') AS exception, 'bench' AS user_id, '' AS run_id,
    -1 AS run_step, -1 AS run_step_end, [] AS input_refs, [] AS output_refs, 0 AS error_count,
    if(n % 4 = 2, ['gpt-4o'], []) AS usage_model, if(n % 4 = 2, [1], []) AS usage_requests,
    if(n % 4 = 2, [300 + n % 400], []) AS usage_input, if(n % 4 = 2, [100 + n % 100], []) AS usage_output,
    if(n % 4 = 2, [400 + n % 500], []) AS usage_total, if(n % 4 = 2, [n % 100], []) AS usage_cache_read,
    if(n % 4 = 2, [0], []) AS usage_cache_write,
    length(inputs) + length(attributes) AS start_bytes, length(output) + length(summary) AS end_bytes, 0 AS odd,
    '{"env":"prod","weave":{"client_version":"0.54.0"}}' AS attributes,
    concat('{"customer":{"id":"c', toString(cityHash64(n) % 20000), '"},"temperature":', toString((cityHash64(n, 1) % 1000) / 1000), ',"query":"', ${text('n', 180)}, '"}') AS inputs,
    concat('{"label":"', if(cityHash64(n, 2) % 3 = 0, 'bad', 'good'), '","score":', toString((cityHash64(n, 3) % 1000) / 1000), ',"text":"', ${text('n + 1', 120)}, '"}') AS output,
    if(n % 4 = 2, '{"usage":{"gpt-4o":{"requests":1,"prompt_tokens":300,"completion_tokens":100,"total_tokens":400}}}', '{}') AS summary, '' AS otel_dump
FROM (SELECT {from:UInt64} + number AS n FROM numbers({count:UInt64}))
SETTINGS max_partitions_per_insert_block = 0`,
    })
    process.stderr.write(`\rfilled ${from + step} of ${calls}`)
  }
  process.stderr.write('\n')
  await fillLargeTrace(store, project, firstUs + (spanSeconds / 2) * 1e6)
  const upTo = 1
  await store.command({
    name: 'bench.mark',
    params: {},
    sql: `INSERT INTO callhouse.call_marks (project_id, position, minute) SELECT DISTINCT project_id, 1, toStartOfMinute(started_at) FROM callhouse.calls`,
  })
  const counts = `SELECT project_id, toStartOf{unit}(started_at), count(), countIf(parent_id = ''), ${upTo} FROM callhouse.calls FINAL WHERE ${live} GROUP BY 1, 2`
  await store.command({
    name: 'bench.minutes',
    params: {},
    sql: `INSERT INTO callhouse.call_counts (project_id, minute, calls, roots, position) ${counts.replace('{unit}', 'Minute')}`,
  })
  await store.command({
    name: 'bench.hours',
    params: {},
    sql: `INSERT INTO callhouse.call_counts_hourly (project_id, hour, calls, roots, position) ${counts.replace('{unit}', 'Hour')}`,
  })
  await store.command({
    name: 'bench.cover',
    params: {},
    sql: `INSERT INTO callhouse.rollups (name, position) SELECT 'call_counts', ${upTo}`,
  })
  if (withParts) await fillParts(store)
  process.stderr.write(`statistics: ${(await deriveStats(store)).toFixed(1)} us of CPU per call\n`)
  process.stderr.write(`leaves: ${(await deriveFieldIndex(store)).toFixed(1)} us of CPU per payload\n`)
  // The log of the server is empty: nothing is due, and all that is derived is derived up to its beginning.
  for (const sql of [
    'TRUNCATE TABLE callhouse.call_marks',
    'CREATE TABLE callhouse.bench_rollups ENGINE = Memory AS SELECT * REPLACE (0 AS position) FROM callhouse.rollups',
    'TRUNCATE TABLE callhouse.rollups',
    'INSERT INTO callhouse.rollups SELECT * FROM callhouse.bench_rollups',
    'DROP TABLE callhouse.bench_rollups',
  ])
    await store.command({ name: 'bench.covered', params: {}, sql })
  for (const table of ['calls', 'payloads', 'payload_leaves', 'call_keys', 'turns', 'call_stats'])
    await store.command({ name: 'bench.optimize', params: {}, sql: `OPTIMIZE TABLE callhouse.${table} FINAL` })
}

const q = (sql: string, params: Record<string, unknown> = {}): Query => ({
  name: 'bench',
  sql,
  params: { project, ...params },
})

/** The window that holds the rows from `offset` on, newest first, from the hourly counters. */
async function windowOf(
  store: Store,
  column: 'calls' | 'roots',
  offset: number,
  limit: number,
): Promise<{ from: number; before: number; skip: number }> {
  const hours = await store.rows<{ t: number; n: number }>(
    q(
      `SELECT toUnixTimestamp(hour) AS t, toUInt32(${column}) AS n FROM callhouse.call_counts_hourly FINAL WHERE project_id = {project:String} ORDER BY hour DESC`,
    ),
  )
  let seen = 0
  let before = 0
  let skip = 0
  for (const { t, n } of hours) {
    if (before === 0 && seen + Number(n) > offset) {
      before = Number(t) + 3600
      skip = offset - seen
    }
    seen += Number(n)
    if (seen >= offset + limit) return { from: Number(t), before, skip }
  }
  return { from: 0, before: before || 4102444800, skip }
}

const page = async (store: Store, where: string, column: 'calls' | 'roots', offset: number) => {
  const { from, before, skip } = await windowOf(store, column, offset, 50)
  return store.rows<{ id: string; started_at: string }>(
    q(
      `SELECT ${headers} FROM callhouse.calls FINAL WHERE project_id = {project:String} AND started_at >= fromUnixTimestamp64Micro({from:Int64} * 1000000, 'UTC') AND started_at < fromUnixTimestamp64Micro({before:Int64} * 1000000, 'UTC') AND ${where} AND ${live} ORDER BY started_at DESC, id DESC LIMIT 50 OFFSET {skip:UInt32} ${final}`,
      { from, before, skip },
    ),
  )
}

const withPayloads = async (store: Store, rows: { id: string; started_at: string }[]) =>
  store.rows(
    q(
      `SELECT id, attributes, inputs, output, summary FROM callhouse.payloads WHERE project_id = {project:String} AND at IN (arrayMap(t -> toDateTime64(t, 6, 'UTC'), {times:Array(String)})) AND id IN {ids:Array(String)}`,
      { times: rows.map((row) => row.started_at), ids: rows.map((row) => row.id) },
    ),
  )

const byKeys = (column: string, value: string) => (store: Store) =>
  store.rows<{ id: string; started_at: string }>(
    q(
      `SELECT ${headers} FROM callhouse.calls FINAL WHERE project_id = {project:String} AND started_at IN (SELECT started_at
        FROM callhouse.call_keys WHERE project_id = {project:String} AND kind = '${column}' AND key = {value:String})
      AND ${column} = {value:String} AND ${live} ORDER BY started_at, id ${final}`,
      { value },
    ),
  )

const usualCount = (having: string) => (store: Store) =>
  store.rows(
    q(`SELECT count() FROM (SELECT id FROM callhouse.bench_parts WHERE project_id = {project:String}
      GROUP BY project_id, id HAVING any(deleted) = 0 AND (${having}))`),
  )

const usualThreads = (store: Store) =>
  store.rows(
    q(`SELECT thread, count(), min(start), max(end) AS last, argMin(id, start), argMax(id, end), quantile(0.5)(took), quantile(0.99)(took)
      FROM (SELECT id, any(thread_id) AS thread, any(started_at) AS start, any(ended_at) AS end,
          toUnixTimestamp64Milli(end) - toUnixTimestamp64Milli(start) AS took FROM callhouse.bench_parts
        WHERE project_id = {project:String} GROUP BY project_id, id
        HAVING any(deleted) = 0 AND id = any(turn_id) AND thread != '')
      GROUP BY thread ORDER BY last DESC LIMIT 50`),
  )

async function cases(store: Store): Promise<ReadCase[]> {
  const [sample] = await store.rows<{ id: string; trace_id: string; parent_id: string; op_name: string }>(
    q(
      `SELECT id, trace_id, parent_id, op_name FROM callhouse.calls WHERE project_id = {project:String} AND parent_id != '' ORDER BY cityHash64(id) LIMIT 1`,
    ),
  )
  const { id, trace_id, parent_id, op_name } = sample as {
    id: string
    trace_id: string
    parent_id: string
    op_name: string
  }
  const columns = ['parent_id', 'display_name', 'ended_at', 'exception', 'thread_id']
  const sort_by = [{ field: 'started_at', direction: 'desc' }]
  const list = '/calls/stream_query'
  return [
    {
      name: 'latest 50 roots, light columns',
      goal: 25,
      usual: grouped(project, anyLight, `any(parent_id) = ''`, 'start DESC'),
      path: list,
      body: { filter: { trace_roots_only: true }, columns, sort_by, limit: 50 },
      sql: (s) => page(s, `parent_id = ''`, 'roots', 0),
    },
    {
      name: 'latest 50 roots, all columns',
      goal: 10,
      usual: usualPage(project, `any(parent_id) = ''`),
      path: list,
      body: { filter: { trace_roots_only: true }, sort_by, limit: 50 },
      sql: async (s) => withPayloads(s, await page(s, `parent_id = ''`, 'roots', 0)),
    },
    {
      name: 'page at offset 10,000',
      goal: 30,
      usual: grouped(project, anyLight, `any(parent_id) = ''`, 'start DESC', { offset: 10_000 }),
      path: list,
      body: { filter: { trace_roots_only: true }, columns, sort_by, limit: 50, offset: 10_000 },
      sql: (s) => page(s, `parent_id = ''`, 'roots', 10_000),
    },
    {
      name: 'count of a project',
      goal: 25,
      usual: usualCount('1'),
      path: '/calls/query_stats',
      body: {},
      sql: (s) =>
        s.rows(q('SELECT sum(calls) FROM callhouse.call_counts_hourly FINAL WHERE project_id = {project:String}')),
    },
    {
      name: 'count of roots',
      goal: 60,
      usual: usualCount(`any(parent_id) = ''`),
      path: '/calls/query_stats',
      body: { filter: { trace_roots_only: true } },
      sql: (s) =>
        s.rows(q('SELECT sum(roots) FROM callhouse.call_counts_hourly FINAL WHERE project_id = {project:String}')),
    },
    {
      name: 'operation, latest 50',
      goal: 15,
      usual: grouped(project, anyLight, `any(op_name) = '${op_name}'`, 'start DESC'),
      path: list,
      body: { filter: { op_names: [op_name] }, columns, sort_by, limit: 50 },
      sql: (s) => page(s, `op_name = '${op_name}'`, 'calls', 0),
    },
    {
      name: 'one trace, all columns',
      goal: 7,
      usual: usualPage(project, `any(trace_id) = '${trace_id}'`),
      path: list,
      body: { filter: { trace_ids: [trace_id] } },
      sql: async (s) => withPayloads(s, await byKeys('trace_id', trace_id)(s)),
    },
    {
      name: 'call by id',
      goal: 3,
      usual: usualPage(project, '1', `id = '${id}'`),
      path: '/call/read',
      body: { id },
      sql: async (s) => withPayloads(s, await byKeys('id', id)(s)),
    },
    {
      name: 'children',
      goal: 30,
      usual: grouped(project, anyLight, `any(parent_id) = '${parent_id}'`, 'start DESC'),
      path: list,
      body: { filter: { parent_ids: [parent_id] }, columns },
      sql: byKeys('parent_id', parent_id),
    },
    {
      name: 'status error and latency > 10 s',
      goal: 40,
      path: list,
      body: {
        columns,
        sort_by,
        limit: 50,
        query: {
          $expr: {
            $and: [
              { $eq: [{ $getField: 'summary.weave.status' }, { $literal: 'error' }] },
              { $gt: [{ $getField: 'summary.weave.latency_ms' }, { $literal: 10_000 }] },
            ],
          },
        },
      },
      usual: grouped(
        project,
        anyLight,
        `any(exception) != '' AND toUnixTimestamp64Milli(any(ended_at)) - toUnixTimestamp64Milli(any(started_at)) > 10000`,
        'start DESC',
      ),
    },
    {
      name: 'threads, latest 50',
      goal: 40,
      usual: usualThreads,
      path: '/threads/stream_query',
      body: { limit: 50 },
      sql: (s) =>
        s.rows(
          q(
            `SELECT thread_id, count(), min(started_at), max(ended_at) AS last, argMin(id, started_at), argMax(id, ended_at), quantileExactInclusive(0.5)(d), quantileExactInclusive(0.99)(d) FROM (SELECT thread_id, started_at, ended_at, id, toUnixTimestamp64Milli(ended_at) - toUnixTimestamp64Milli(started_at) AS d FROM callhouse.turns FINAL WHERE project_id = {project:String} AND hidden = 0) GROUP BY thread_id ORDER BY last DESC LIMIT 50`,
          ),
        ),
    },
  ]
}

/** A data folder with calls in its tables; `keep` is filled once and used again. @param withParts in the usual shape, too */
export async function filledFolder(calls: number, keep?: string, withParts = true): Promise<string> {
  const dir = keep ?? mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  mkdirSync(dir, { recursive: true })
  if (existsSync(join(dir, 'clickhouse', 'store'))) return dir
  const store = await createEmbeddedStore({ dir, ...storeOptions })
  await store.migrate()
  await fill(store, calls, withParts)
  await store.close()
  return dir
}

/** @param keep folder that keeps the filled tables for another run */
export async function benchReads(calls: number, repetitions: number, keep?: string): Promise<void> {
  const dir = await filledFolder(calls, keep)
  const loaded = loadConfig({
    env: {},
    argv: [
      '--port',
      '0',
      '--data-dir',
      dir,
      '--keys',
      'bench:bench-key',
      '--log-level',
      'warn',
      '--min-free-bytes',
      '0',
    ],
  })
  if (!loaded.ok) throw new Error(loaded.lines.join('\n'))
  const callhouse = await startCallhouse(loaded.config, createLogger({ level: 'warn' }))
  const { store } = callhouse
  const send = createClient(Number(new URL(callhouse.url).port), 4)
  process.stdout.write(
    '| query | route ms | same tables ms | usual shape ms | usual / route | goal |\n|---|---|---|---|---|---|\n',
  )
  const timed = async (work: (() => Promise<unknown>) | undefined, times: number[]): Promise<void> => {
    const began = performance.now()
    await work?.()
    times.push(performance.now() - began)
  }
  for (const one of [...(await cases(store)), ...(await payloadCases(store, project)), ...usageCases(project)]) {
    const [route, same, usual]: number[][] = [[], [], []]
    const ask = async (): Promise<void> => {
      const answer = await send(one.path, JSON.stringify({ project_id: project, ...one.body }))
      if (answer.status !== 200)
        throw new Error(`${one.name}: ${answer.status} ${answer.body.toString().slice(0, 300)}`)
    }
    const { sql, usual: usually } = one
    for (let n = 0; n < repetitions + 2; n++) {
      await timed(ask, route as number[])
      await timed(sql && (() => sql(store)), same as number[])
      // the slowest by far: few of them say enough
      if (n < 5) await timed(usually && (() => usually(store)), usual as number[])
    }
    const middle = (times: number[] | undefined, from: number) => median((times ?? []).slice(from))
    const [mine, theirs] = [middle(route, 2), middle(usual, 1)]
    const shown = (work: unknown, ms: number) => (work ? ms.toFixed(1) : '')
    process.stdout.write(
      `| ${one.name} | ${mine.toFixed(1)} | ${shown(sql, middle(same, 2))} | ${shown(usually, theirs)} | ${usually ? (theirs / mine).toFixed(1) : ''} | ${one.goal ?? ''} |\n`,
    )
  }
  await callhouse.shutdown.run('bench done')
  if (!keep) rmSync(dir, { recursive: true, force: true })
}
