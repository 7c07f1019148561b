// `npm run bench growth`: what writes and reads of one project cost once it holds 1, 10 and 50 million calls.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fieldIndexRollup } from '../../services/content/field-paths.ts'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import type { Store } from '../../services/core/store/store.ts'
import { deduplicationRollup } from '../../services/derived/rollups/rollup-table.ts'
import { createRollups } from '../../services/derived/rollups/rollups.ts'
import {
  type BenchServer,
  createClient,
  median,
  type Post,
  quantile,
  startCallhouseServer,
  untilAtRest,
} from './process.ts'
import { createSmallCalls, load } from './sustained.ts'

const project = 'bench/growth'
/** Calls of one insert of the fill. */
const step = 1_000_000
/** The calls are spread over this time, the newest an hour ago. */
const spanDays = 100
/** The rows of the fill are no records: their dirty buckets lie in a partition that no log has. */
const fillPartition = 4_000_000_000
const loadMs = 15_000
const settleMs = 20_000
const memoryBytes = 8 * 2 ** 30
const lookUps = 40
const repetitions = 15

/** Every other id is ordered by time, as UUIDv7 is, the others are random. */
const idOf = (n: string, kind: string) =>
  `if(bitAnd(intDiv(${n}, 8), 1) = 0, concat('0190', leftPad(lower(hex(${n})), 12, '0'), '${kind}', substring(lower(hex(MD5(concat('${kind}', toString(${n}))))), 1, 15)), lower(hex(MD5(concat('${kind}', toString(${n}))))))`

type Key = { id: string; trace_id: string; parent_id: string }

const open = (dir: string): Promise<Store> =>
  createEmbeddedStore({ dir, memoryCapBytes: memoryBytes, queryTimeoutMs: 600_000, queryMemoryBytes: memoryBytes })

async function fill(store: Store, calls: number): Promise<void> {
  const firstUs = (Date.now() - 3_600_000 - spanDays * 86_400_000) * 1000
  const everyUs = Math.floor((spanDays * 86_400e6) / calls)
  const command = (sql: string, params: Record<string, unknown> = {}) =>
    store.command({ name: 'bench.fill', sql, params })
  let position = 0
  const rollups = createRollups({
    store,
    committed: async () => [{ topic: 'calls', partition: fillPartition, offset: position }],
    onError(error) {
      throw error
    },
  })
  // The index of fields of fifty million payloads would show the rate of `bench sustained`, not growth.
  for (const name of [fieldIndexRollup, deduplicationRollup])
    for (const [partition, covered] of [
      [0, 0],
      [fillPartition, 1e9],
    ])
      await command(
        `INSERT INTO callhouse.rollups (name, partition, position) SELECT {name:String}, {partition:UInt32}, {covered:UInt64}`,
        { name, partition, covered },
      )
  for (let n = 0; n < calls; n += step) {
    const count = Math.min(step, calls - n)
    position++
    await command(
      `INSERT INTO callhouse.unbilled_calls_in (* EXCEPT (mask, mask_hits))
SELECT '' AS _record, 'complete' AS kind, '${project}' AS project_id, ${idOf('n', '7')} AS id,
    1732718374832718374 + n * 1024 AS clock, {firstUs:Int64} + n * {everyUs:Int64} AS started_us,
    started_us + 1000 * (20 + cityHash64(n) % 900) AS ended_us, toInt64(0) AS payload_us,
    ${idOf('n - n % 8', '8')} AS trace_id, if(n % 8 = 0, '', ${idOf('n - n % 8', '7')}) AS parent_id,
    '' AS thread_id, '' AS turn_id, concat('op-', toString(n % 7)) AS op_name, 0 AS named, '' AS display_name,
    if(n % 50 = 7, 'ValueError: boom', '') AS exception, 'bench' AS user_id, '' AS run_id,
    -1 AS run_step, -1 AS run_step_end, [] AS input_refs, [] AS output_refs, 0 AS error_count,
    [] AS usage_model, [] AS usage_requests, [] AS usage_input, [] AS usage_output, [] AS usage_total,
    [] AS usage_cache_read, [] AS usage_cache_write, 20 AS start_bytes, 20 AS end_bytes, 0 AS odd,
    '{}' AS attributes, concat('{"q":', toString(n % 1000), '}') AS inputs,
    concat('{"r":', toString((cityHash64(n, 3) % 1000000) / 1000000), '}') AS output, '{}' AS summary, '' AS otel_dump
FROM (SELECT {from:UInt64} + number AS n FROM numbers({count:UInt64}))
SETTINGS max_partitions_per_insert_block = 0, max_block_size = 100000, min_insert_block_size_rows = 500000`,
      { from: n, count, firstUs, everyUs },
    )
    await command(
      `INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
        SELECT '${project}', {partition:UInt32}, {position:UInt64}, fromUnixTimestamp(intDiv({fromUs:Int64}, 60000000) * 60 + number * 60)
        FROM numbers({minutes:UInt64})`,
      {
        partition: fillPartition,
        position,
        fromUs: firstUs + n * everyUs,
        minutes: Math.ceil((count * everyUs) / 60e6) + 1,
      },
    )
    await rollups.refresh()
    process.stderr.write(`\rfilled ${n + count} of ${calls}`)
  }
  process.stderr.write('\n')
  // All of it is derived, and a log that is not there stays dirty for ever.
  for (const table of ['call_marks', 'rollups'])
    await command(`DELETE FROM callhouse.${table} WHERE partition = {partition:UInt32}`, { partition: fillPartition })
}

/** Calls from all over what is stored. */
const sample = (store: Store): Promise<Key[]> =>
  store.rows<Key>({
    name: 'bench.sample',
    sql: `SELECT id, trace_id, parent_id FROM callhouse.calls WHERE project_id = {project:String} AND parent_id != ''
      AND started_at IN (SELECT started_at FROM callhouse.calls WHERE project_id = {project:String} AND cityHash64(started_at) % intDiv((SELECT count() FROM callhouse.calls), 4000) = 0)
      ORDER BY cityHash64(id) LIMIT 4000`,
    params: { project },
  })

const isOrdered = ({ id }: Key) => id.startsWith('0190')

async function timed(send: Post, path: string, body: object, field = ''): Promise<number> {
  const {
    status,
    body: answer,
    ms,
  } = await send(`${path}?freshness=any`, JSON.stringify({ project_id: project, ...body }))
  if (status !== 200) throw new Error(`${path} answered ${status}: ${answer.toString().slice(0, 300)}`)
  if (field && !answer.toString().includes(field)) throw new Error(`${path} did not answer ${field}`)
  return ms
}

const columns = ['id', 'started_at', 'op_name']
const newest = [{ field: 'started_at', direction: 'desc' }]
const lookUp: Record<string, (key: Key) => [path: string, body: object, answers: string]> = {
  'call by id': ({ id }) => ['/call/read', { id }, id],
  trace: ({ id, trace_id }) => ['/calls/stream_query', { filter: { trace_ids: [trace_id] }, columns }, id],
  children: ({ id, parent_id }) => ['/calls/stream_query', { filter: { parent_ids: [parent_id] }, columns }, id],
}
const lists = (): Record<string, [path: string, body: object]> => ({
  'latest 50 roots': [
    '/calls/stream_query',
    { filter: { trace_roots_only: true }, columns, sort_by: newest, limit: 50 },
  ],
  'page at offset 10,000': ['/calls/stream_query', { columns, sort_by: newest, limit: 50, offset: 10_000 }],
  count: ['/calls/query_stats', {}],
  'calls and latency per hour, 30 days': [
    '/calls/stats',
    {
      start: new Date(Date.now() - 30 * 86_400_000).toISOString(),
      end: new Date().toISOString(),
      granularity: 3600,
      call_metrics: [{ metric: 'call_count' }, { metric: 'latency_ms', aggregations: ['avg', 'max'] }],
    },
  ],
})

type Figures = Map<string, number>

async function readAll(server: BenchServer, keys: Key[], figures: Figures): Promise<void> {
  const send = createClient(server.port, 1)
  for (const [kind, ofKind] of [
    ['random', keys.filter((key) => !isOrdered(key))],
    ['ordered', keys.filter(isOrdered)],
  ] as const)
    for (const [name, toRequest] of Object.entries(lookUp)) {
      // The first ones after the start find nothing in memory; those counted as warm ask for keys of their own.
      const cold = await Promise.all([timed(send, ...toRequest(ofKind[0] as Key))])
      const cpu = server.cpuSeconds()
      const warm: number[] = []
      for (const key of ofKind.slice(1, lookUps + 1)) warm.push(await timed(send, ...toRequest(key)))
      figures.set(`${name}, ${kind} ids: first, ms`, cold[0] as number)
      figures.set(`${name}, ${kind} ids: p50, ms`, median(warm))
      figures.set(`${name}, ${kind} ids: p95, ms`, quantile(warm, 0.95))
      figures.set(`${name}, ${kind} ids: CPU, ms`, ((server.cpuSeconds() - cpu) / warm.length) * 1000)
    }
  for (const [name, [path, body]] of Object.entries(lists())) {
    await timed(send, path, body)
    const all: number[] = []
    for (let n = 0; n < repetitions; n++) all.push(await timed(send, path, body))
    figures.set(`${name}: p50, ms`, median(all))
  }
}

/** Storage of the calls in the engine: number of parts, and bytes of each call in all tables. */
async function parts(store: Store, figures: Figures): Promise<void> {
  const [row] = await store.rows<{ parts: number; bytes: number; calls: number }>({
    name: 'bench.parts',
    sql: `SELECT toUInt32(count()) AS parts, toFloat64(sum(bytes_on_disk)) AS bytes,
        toFloat64((SELECT count() FROM callhouse.calls)) AS calls
      FROM system.parts WHERE active AND database = 'callhouse'`,
    params: {},
  })
  figures.set('parts of all tables', row?.parts ?? Number.NaN)
  figures.set('bytes on disk per call', (row?.bytes ?? Number.NaN) / (row?.calls ?? 1))
}

/** Fills a folder of its own, and measures a server on it. */
async function measureGrowth(size: number): Promise<Figures> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const figures: Figures = new Map()
  const bodyOf = createSmallCalls(() => project)
  try {
    const began = performance.now()
    const store = await open(dir)
    await store.migrate()
    await fill(store, size)
    const keys = await sample(store)
    await store.close()
    process.stderr.write(`${size} calls after ${((performance.now() - began) / 1000).toFixed(0)} s\n`)

    const startedMs = performance.now()
    const server = await startCallhouseServer(dir, {
      CALLHOUSE_MIN_FREE_BYTES: '0',
      CALLHOUSE_ADOPT_LOG: 'true',
      CALLHOUSE_MEMORY_CAP_BYTES: String(memoryBytes),
    })
    figures.set('start until it listens, ms', performance.now() - startedMs)
    await untilAtRest(server)
    await readAll(server, keys, figures)
    const send = createClient(server.port, 6)
    await load(send, bodyOf, 5_000)
    await timed(createClient(server.port, 1), '/calls/query_stats', {})
    const [cpu, atMs] = [server.cpuSeconds(), performance.now()]
    const { calls: sent } = await load(send, bodyOf, loadMs)
    await send('/calls/query_stats', JSON.stringify({ project_id: project }))
    figures.set('calls/s, readable', sent / ((performance.now() - atMs) / 1000))
    figures.set('CPU of a call until it is readable, us', ((server.cpuSeconds() - cpu) / sent) * 1e6)
    figures.set('resident MB', server.residentMb())
    const loadedCpu = server.cpuSeconds()
    await setTimeout(settleMs)
    figures.set(
      `CPU of a call in the ${settleMs / 1000} s after that (merges, deriving), us`,
      ((server.cpuSeconds() - loadedCpu) / sent) * 1e6,
    )
    await server.stop()
    const after = await open(dir)
    await parts(after, figures)
    await after.close()
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
  for (const [name, value] of figures) process.stderr.write(`${size}: ${name}: ${value.toFixed(1)}\n`)
  return figures
}

/** @param calls stored in the end; measured at 1, 10 and 50 million of them, as far as these are fewer, and at all */
export async function benchGrowth(calls: number): Promise<void> {
  const sizes = [...[1e6, 1e7, 5e7].filter((size) => size < calls), calls]
  const measured: Figures[] = []
  for (const size of sizes) measured.push(await measureGrowth(size))
  const write = (cells: string[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`)
  write(['calls in the project', ...sizes.map((size) => `${size / 1e6} M`), 'last / first'])
  write(sizes.concat(0, 0).map(() => '---'))
  for (const name of measured[0]?.keys() ?? []) {
    const values = measured.map((figures) => figures.get(name) ?? Number.NaN)
    write([
      name,
      ...values.map((value) => value.toFixed(value < 100 ? 1 : 0)),
      ((values.at(-1) ?? 0) / (values[0] ?? 1)).toFixed(2),
    ])
  }
}
